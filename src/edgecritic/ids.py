"""Ids: text such as ``baddeley(k=2)`` that names a thing with its parameters and round-trips."""

from __future__ import annotations

import ast
import keyword
import math
from dataclasses import dataclass
from functools import lru_cache

from edgecritic.errors import InputError

__all__ = ["Id", "shown"]


@dataclass(frozen=True, slots=True)
class Id:
    """A name with keyword parameters, in the order in which they were written.

    Parameters
    ----------
    name : str
        An identifier such as ``exact``.
    params : tuple of (str, value)
        Values are numbers, words (also with hyphens), ``True``, ``False``, ``None``, tuples of these, or ids.

    Examples
    --------
    >>> Id.parse("fom(strategy=eps(window=5), kappa=0.1)")
    Id('fom(strategy=eps(window=5), kappa=0.1)')
    >>> str(Id.parse("exact( tolerance = 4.30 )"))
    'exact(tolerance=4.3)'
    """

    name: str
    params: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={_show(value)}' for key, value in self.params)})"

    def __repr__(self) -> str:
        return f"Id({str(self)!r})"

    @property
    def options(self) -> dict[str, object]:
        """The parameters as a new dict."""
        return dict(self.params)

    def with_default(self, key: str, value: object) -> Id:
        """Return the id with a parameter, unless it names that already."""
        return self if key in self.options else Id(self.name, (*self.params, (key, value)))

    @classmethod
    def parse(cls, text: str | Id) -> Id:
        """Read an id from its text; nothing is evaluated.

        Raises
        ------
        InputError
            If the text is not ``name`` or ``name(key=value, …)``.
        """
        if isinstance(text, Id):
            return text
        try:
            return _parsed(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, AttributeError, TypeError):
            told = f"an id has the form name or name(key=value, …), got {shown(text)}"
            raise InputError(told) from None


@lru_cache(maxsize=1024)  # the same few ids are read again for every image
def _parsed(text: str) -> Id:
    tree = ast.parse(text.strip(), mode="eval").body
    parsed = Id(tree.id) if isinstance(tree, ast.Name) else _value(tree)
    if not isinstance(parsed, Id):
        raise TypeError("a value, not an id")
    return parsed


def shown(value: object) -> str:
    """Return a value that was refused as one short line.

    Examples
    --------
    >>> shown(["f", "fom"]), shown(memoryview(b"abc"))
    ("['f', 'fom']", 'an array of shape (3,)')
    """
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}…"


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str | None):
        return node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Name):
        begin = _value(node.left)
        if isinstance(begin, str) and not isinstance(node.left, ast.Constant):
            return f"{begin}-{node.right.id}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        names = [keyword.arg for keyword in node.keywords]
        if None not in names and len(set(names)) == len(names):
            pairs = tuple((str(keyword.arg), _value(keyword.value)) for keyword in node.keywords)
            return Id(node.func.id, pairs)
    raise ValueError("not an id")


def _show(value: object) -> str:
    if isinstance(value, Id):
        return str(value)
    if isinstance(value, str):
        words = value.split("-")
        plain = all(word.isidentifier() and not keyword.iskeyword(word) for word in words)
        return value if plain and value.isascii() else repr(value)
    if isinstance(value, tuple):
        inner = ", ".join(_show(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if hasattr(value, "item"):
        return _show(value.item())
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value)
