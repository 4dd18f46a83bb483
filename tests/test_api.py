"""The public API: what tests/api.txt lists, with signatures; a change there is a change for users.

``python tests/test_api.py`` writes the list anew.
"""

from __future__ import annotations

import importlib
import inspect
import types
from pathlib import Path

LIST = Path(__file__).with_name("api.txt")
ROOMS = (
    "edgecritic",
    *(f"edgecritic.{name}" for name in ("errors", "annotators", "datasets", "detectors", "matching")),
    *(f"edgecritic.{name}" for name in ("measures", "protocols", "training")),
)
"""Packages whose names users may import; everything else may change at any time."""


def signature(thing: object) -> str:
    """Return the parameters, without annotations."""
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
        return ""
    found = inspect.signature(thing)
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def members(thing: type) -> list[str]:
    """Return the public methods and properties that a class of this project adds."""
    names = {
        name for base in thing.__mro__ if base.__module__.startswith("edgecritic") for name in vars(base)
    }
    fields = getattr(thing, "__dataclass_fields__", {})
    public = sorted(name for name in names - set(fields) if not name.startswith("_"))
    return [f"{name}{signature(getattr(thing, name))}" for name in public]


def public_api() -> list[str]:
    lines: list[str] = []
    seen: list[object] = []
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            again = any(thing is each for each in seen)
            seen.append(thing)
            lines.append(f"{room}.{name}{'' if again else signature(thing)}")
            if inspect.isclass(thing) and not again:
                lines += [f"{room}.{name}.{member}" for member in members(thing)]
    return lines


def test_nothing_leaks_or_vanishes_unnoticed():
    known = LIST.read_text(encoding="utf-8").splitlines()
    found = public_api()
    lost, new = sorted(set(known) - set(found)), sorted(set(found) - set(known))
    assert (lost, new) == ([], []), (
        "the public API changed: tell users in CHANGELOG.md, then run `python tests/test_api.py`\n"
        f"lost: {lost}\nnew: {new}"
    )


def test_rooms_show_only_their_own_names():
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            assert not isinstance(getattr(module, name), types.ModuleType)
        assert sorted(module.__all__) == sorted(set(module.__all__))


def test_every_public_thing_explains_itself():
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                assert inspect.getdoc(thing), f"{room}.{name}"


if __name__ == "__main__":
    LIST.write_text("\n".join(public_api()) + "\n", encoding="utf-8")
