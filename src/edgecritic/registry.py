"""Registries: one decorated function is one entry; commands, docs, tests and reports read them."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.ids import Id

__all__ = ["Entry", "Bound", "Registry"]

Info = TypeVar("Info")


@dataclass(frozen=True)
class Entry(Generic[Info]):
    """One registered function: its name, its keyword parameters with defaults, its metadata."""

    name: str
    function: Callable[..., Any]
    info: Info
    parameters: MappingProxyType[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def summary(self) -> str:
        """What the metadata call the summary, else the first line of the function's docstring."""
        told = getattr(self.info, "summary", "")
        return str(told) or (inspect.getdoc(self.function) or "").partition("\n")[0]


@dataclass(frozen=True)
class Bound(Generic[Info]):
    """An entry with parameter values: what an id such as ``eps(window=7)`` stands for."""

    entry: Entry[Info]
    id: Id

    def __str__(self) -> str:
        return str(self.id)

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Call the function with the id's parameters (`more` wins over them)."""
        return self.entry.function(*args, **{**self.id.options, **more})


class Registry(Generic[Info]):
    """Names to entries of one kind, found in one package on first use and in entry points.

    Parameters
    ----------
    kind : str
        What an entry is, in the singular: ``"strategy"``.
    package : str
        The package whose modules register entries when imported.
    group : str
        The entry-point group through which other distributions add theirs.
    """

    def __init__(self, kind: str, package: str, group: str) -> None:
        self.kind = kind
        self._package = package
        self._group = group
        self._entries: dict[str, Entry[Info]] = {}
        self._discovered = False
        self._ordered: tuple[dict[str, Entry[Info]], tuple[Entry[Info], ...]] = ({}, ())

    def add(self, name: str, function: Callable[..., Any], info: Info) -> None:
        """Register `function` under `name`; its keyword-only parameters become the id's parameters."""
        known = self._entries.get(name)
        if known is not None and _home(known.function) != _home(function):
            raise InputError(f"the {self.kind} {name!r} is registered already, choose another name")
        parameters = {
            key: parameter.default
            for key, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        self._entries[name] = Entry(name, function, info, MappingProxyType(parameters))

    def __iter__(self) -> Iterator[Entry[Info]]:
        return iter(self.all())

    def all(self) -> tuple[Entry[Info], ...]:
        """All entries, by name: the same tuple until another one is registered."""
        self._discover()
        known, ordered = self._ordered
        if known != self._entries:
            known, ordered = (
                dict(self._entries),
                tuple(sorted(self._entries.values(), key=attrgetter("name"))),
            )
            self._ordered = known, ordered
        return ordered

    def names(self) -> list[str]:
        """All names, sorted."""
        return [entry.name for entry in self]

    def get(self, name: str) -> Entry[Info]:
        """Return the entry called `name`, or say which name comes near."""
        self._discover()
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(self._unknown(name)) from None

    def bind(self, text: str | Id) -> Bound[Info]:
        """Read an id; the printed form has the function's order and leaves defaults out."""
        parsed = Id.parse(text)
        entry = self.get(parsed.name)
        for key, _ in parsed.params:
            if key not in entry.parameters:
                known = ", ".join(entry.parameters) or "none"
                near = difflib.get_close_matches(key, entry.parameters, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise InputError(
                    f"{self.kind} {entry.name!r} has no parameter {key!r}{hint} (its parameters: {known})"
                )
        given = parsed.options
        for key, default in entry.parameters.items():
            if default is inspect.Parameter.empty and key not in given:
                raise InputError(f"{self.kind} {entry.name!r} needs a value: {entry.name}({key}=…)")
        kept = tuple(
            (key, given[key])
            for key, default in entry.parameters.items()
            if given.get(key, default) != default
        )
        return Bound(entry, Id(entry.name, kept))

    def _unknown(self, name: str) -> str:
        near = self._near(name)
        hint = f"; did you mean {near!r}?" if near else ""
        return f"unknown {self.kind} {name!r}{hint} (known: {', '.join(sorted(self._entries))})"

    def _near(self, name: str) -> str | None:
        """Return the name that may be meant: in other letters, spelt alike, or named in the summary."""
        wanted = name.lower()
        if wanted in self._entries:
            return wanted
        told = [entry.name for entry in self if re.search(rf"\b{re.escape(wanted)}\b", entry.summary.lower())]
        alike = difflib.get_close_matches(wanted, self._entries, 1, 0.6) or told[:1]
        alike = alike or difflib.get_close_matches(wanted, self._entries, 1, 0.5)
        return alike[0] if alike else None

    def _discover(self) -> None:
        if self._discovered:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        for point in _entry_points().select(group=self._group):
            point.load()
        # Only now: another thread must not take a half-filled registry for the whole one.
        self._discovered = True


@functools.cache
def _entry_points() -> Any:
    """Return those of all distributions, which are looked for once for all registries."""
    return importlib.metadata.entry_points()


def _home(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__
