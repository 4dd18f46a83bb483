"""JSON schemas of what ``--json`` prints: one file for every command and every study.

The dialect is JSON Schema 2020-12. A schema names the keys that are always there and the types of others;
more keys may come in later versions. An infinite number is the word ``"inf"`` or ``"-inf"``.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any

from edgecritic.errors import UnknownNameError

__all__ = ["schema_names", "schema_of"]

_COMMON = "_common"


@lru_cache(maxsize=1)
def schema_names() -> tuple[str, ...]:
    """Return the names of all schemas: commands such as ``match``, studies such as ``study-noise``.

    Examples
    --------
    >>> "match" in schema_names(), "study-noise" in schema_names()
    (True, True)
    """
    found = (one.name.removesuffix(".json") for one in resources.files(__name__).iterdir())
    return tuple(sorted(name for name in found if not name.startswith("_")))


def schema_of(name: str) -> dict[str, Any]:
    """Return the schema of the output of a command, complete in itself.

    Parameters
    ----------
    name : str
        One of `schema_names`.

    Raises
    ------
    UnknownNameError
        If there is none of this name.

    Examples
    --------
    >>> schema_of("match")["title"]
    'edgecritic match --json'
    """
    if name not in schema_names():
        raise UnknownNameError(f"no schema {name!r} ({', '.join(schema_names())})")
    own, common = _read(name), _read(_COMMON)
    kept = _referred(own, common["$defs"])
    return {**own, **common, "$defs": {each: common["$defs"][each] for each in sorted(kept)}}


def _referred(part: Any, known: dict[str, Any]) -> set[str]:
    """Return the names of all definitions that a part of a schema needs, those of definitions too."""
    found: set[str] = set()
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(known[name])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _read(name: str) -> dict[str, Any]:
    text = (resources.files(__name__) / f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
