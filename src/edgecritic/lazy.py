"""What is made on first use: public names of packages, so that importing is quick, and values of objects."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

__all__ = ["attach", "cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - takes the place of that one
        """As `functools.cached_property` is from Python 3.12 on: no object waits for another one's value.

        Before, all objects of a class share a lock, so threads would read files and transform maps in turn.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the value, made and kept if this is the first time; threads may make it twice."""
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value


def attach(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live in modules of it.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping
        From a public name to the module, below the package, that has it; an empty text for a module itself.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if not home:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{home}"), name)

    return get, lambda: sorted(homes)
