"""Values: what every public result has in common.

A result is made once, complete, and never changes. Results of one class are equal if their contents are. They
can be pickled and copied, say in one line what they are, and become JSON, rows of a table and data frames.
"""

from __future__ import annotations

import dataclasses
import hashlib
import html
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from edgecritic import figures
from edgecritic.errors import InputError, MissingExtraError, needs_extra

__all__ = ["Value", "plain", "plain_number", "plain_numbers", "rows_of"]

_LONGEST = 60
_MOST_ROWS = 12


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
class Value:
    """Base of results: a subclass that names its fields is a frozen dataclass with keyword arguments.

    Arrays become read-only views. Equality and hash are by content; NaN equals NaN. A subclass may say more:
    ``__str__`` for people, ``rows`` for tables, ``as_dict`` for JSON, ``plot`` for a figure.

    Examples
    --------
    >>> import numpy as np
    >>> class Curve(Value):
    ...     name: str
    ...     heights: np.ndarray
    >>> one, two = Curve(name="a", heights=np.arange(3)), Curve(name="a", heights=np.arange(3))
    >>> one == two, one
    (True, Curve(name='a', heights=<int64 3>))
    >>> one.as_dict()
    {'name': 'a', 'heights': [0, 1, 2]}
    """

    _hidden: ClassVar[tuple[str, ...]] = ()
    """Fields that are left out of ``as_dict``, ``rows`` and so of all files: large arrays, for example."""

    _field_names: ClassVar[tuple[str, ...]] = ()
    _compared_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kw_only: bool = True, **more: Any) -> None:
        super().__init_subclass__(**more)
        dataclasses.dataclass(frozen=True, kw_only=kw_only, eq=False, repr=False)(cls)
        found = dataclasses.fields(cls)  # type: ignore[arg-type]
        cls._field_names = tuple(each.name for each in found)
        cls._compared_names = tuple(each.name for each in found if each.compare)

    def __post_init__(self) -> None:
        for name, content in list(vars(self).items()):
            if isinstance(content, np.ndarray) and content.flags.writeable:
                view = content.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def _contents(self, *, compared: bool = False) -> list[tuple[str, Any]]:
        return [
            (name, getattr(self, name)) for name in (self._compared_names if compared else self._field_names)
        ]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        theirs = dict(other._contents())
        return all(_same(content, theirs[name]) for name, content in self._contents(compared=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(_key(content) for _, content in self._contents(compared=True))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), [content for _, content in self._contents()])

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_brief(content)}" for name, content in self._contents())
        return f"{type(self).__name__}({shown})"

    def as_dict(self) -> dict[str, Any]:
        """Return the contents as plain lists, dicts, words and numbers, ready for JSON."""
        return {name: plain(content) for name, content in self._contents() if name not in self._hidden}

    def rows(self) -> list[dict[str, Any]]:
        """Return the contents as rows of a table, one dict of plain numbers and words each."""
        return [_flat(self.as_dict())]

    def to_pandas(self) -> Any:
        """Return `rows` as a pandas DataFrame; needs pandas."""
        with needs_extra("a data frame", "pandas"):
            import pandas as pd
        return pd.DataFrame(self.rows())

    def to_polars(self) -> Any:
        """Return `rows` as a polars DataFrame; needs polars."""
        with needs_extra("a data frame", "polars"):
            import polars as pl
        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def _repr_html_(self) -> str:
        """Return what notebooks show: one line, the figure if there is one, and the first rows."""
        told = str(self)
        line = html.escape(repr(self) if "\n" in told else told)
        return f"<div><p>{line}</p>{self._picture()}{_table(self.rows())}</div>"

    def _picture(self) -> str:
        """Return the figure of `plot` as an HTML image; nothing where there is none or nothing to draw it."""
        plot = getattr(self, "plot", None)
        if plot is None:
            return ""
        try:
            return figures.small_image(lambda: plot().figure)
        except MissingExtraError:
            return ""


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table; of many, the first ones and how many there are."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = ""
    for row in rows[:_MOST_ROWS]:
        cells = "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names)
        body += f"<tr>{cells}</tr>"
    more = f"<p>… {len(rows)} rows in all</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def plain(content: Any) -> Any:
    """Return a content as JSON can hold it: NaN is ``None``, infinity a word, arrays are lists.

    Examples
    --------
    >>> plain({"a": (1, float("nan")), "b": np.float32(0.5)})
    {'a': [1, None], 'b': 0.5}
    """
    if isinstance(content, Value):
        return content.as_dict()
    if content is None or isinstance(content, bool | str | int):
        return content
    if isinstance(content, float):
        return plain_number(content)
    if isinstance(content, np.ndarray | np.generic):
        known = content.dtype.kind in "biu" or (content.dtype.kind == "f" and np.isfinite(content).all())
        return content.tolist() if known else plain(content.tolist())
    if isinstance(content, Mapping):
        return {str(key): plain(item) for key, item in content.items()}
    if isinstance(content, Sequence | set | frozenset):
        return [plain(item) for item in (content if isinstance(content, Sequence) else sorted(content))]
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        return {field.name: plain(getattr(content, field.name)) for field in dataclasses.fields(content)}
    return str(content)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a data frame of pandas or polars, or of a list of rows, one dict each.

    Examples
    --------
    >>> rows_of([{"a": 1}])
    [{'a': 1}]
    """
    if hasattr(frame, "to_dicts"):  # polars
        return list(frame.to_dicts())
    if hasattr(frame, "to_dict"):  # pandas
        return list(frame.to_dict("records"))
    rows = list(frame) if isinstance(frame, Sequence) and not isinstance(frame, str | bytes) else None
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            f"a table must be a data frame of pandas or polars, or a list of rows, got {type(frame).__name__}"
        )
    return [dict(row) for row in rows]


def plain_number(value: float) -> float | str | None:
    """Return a number as JSON can hold it: NaN is ``None``, infinity a word."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def plain_numbers(values: Mapping[str, float]) -> dict[str, float | str | None]:
    """Return named numbers as JSON can hold them."""
    return {name: plain_number(value) for name, value in values.items()}


def _remade(kind: type[Value], contents: list[Any]) -> Value:
    made = object.__new__(kind)
    for field, content in zip(dataclasses.fields(kind), contents, strict=True):  # type: ignore[arg-type]
        object.__setattr__(made, field.name, content)
    Value.__post_init__(made)
    return made


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype):
            return False
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, Mapping) and isinstance(other, Mapping) and not isinstance(one, Value):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _key(content: Any) -> Any:
    """Return something that can be hashed and is the same for equal contents."""
    if isinstance(content, np.ndarray):
        zeroless = content + 0.0 if content.dtype.kind in "fc" else content  # −0 equals 0
        return content.shape, hashlib.blake2b(np.ascontiguousarray(zeroless).tobytes()).digest()
    if isinstance(content, Mapping) and not isinstance(content, Value):
        return frozenset((key, _key(item)) for key, item in content.items())
    if isinstance(content, list | tuple):
        return tuple(map(_key, content))
    if isinstance(content, float) and math.isnan(content):
        return "nan"
    try:
        return hash(content)
    except TypeError:
        return type(content).__name__


def _brief(content: Any) -> str:
    if isinstance(content, np.ndarray):
        return f"<{content.dtype} {'×'.join(map(str, content.shape)) or 'scalar'}>"
    if isinstance(content, Value):
        return f"<{type(content).__name__}>"
    if isinstance(content, Mapping) and len(content) > 3:
        return f"<{len(content)} entries>"
    if isinstance(content, list | tuple) and (
        len(content) > 8
        or any(isinstance(item, Value | np.ndarray | Mapping | list | tuple) for item in content)
    ):
        return f"<{len(content)} items>"
    shown = " ".join((os.fspath(content) if isinstance(content, os.PathLike) else repr(content)).split())
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _flat(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested dicts as one, with dotted names; lists are left out."""
    flat: dict[str, Any] = {}
    for name, item in tree.items():
        if isinstance(item, Mapping):
            flat |= _flat(item, f"{before}{name}.")
        elif not isinstance(item, list):
            flat[f"{before}{name}"] = item
    return flat


def _cell(content: Any) -> str:
    if content is None:
        return ""
    return f"{content:.6g}" if isinstance(content, float) else str(content)
