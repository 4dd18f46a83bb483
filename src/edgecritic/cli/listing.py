"""``edgecritic list``: what there is, with parameters and defaults."""

from __future__ import annotations

import argparse
import difflib
from typing import Any

from edgecritic.catalogue import KINDS, table_of
from edgecritic.cli._options import add_json

__all__ = ["add_parser", "run", "KINDS", "entries"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "list",
        help="show strategies, measures, detectors, protocols, NMS recipes, formats, layouts, published",
        description="Show what there is, with parameters and their defaults. With a NAME show all about it.",
    )
    parser.add_argument("kind", choices=list(KINDS), metavar="KIND", help=f"{', '.join(KINDS)}")
    parser.add_argument("name", nargs="?", metavar="NAME", help="show everything known of this one")
    parser.add_argument("--family", metavar="F", help="only this family (of measures)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list or one entry."""
    from edgecritic.cli._output import print_json
    from edgecritic.cli._wide import terminal_width

    found = _of_family(entries(args.kind), args.family, args.kind)
    if args.name is not None:
        found = [_one(found, args.name, args.kind)]
    if args.json:
        print_json({args.kind: found})
    elif args.name is not None:
        print("\n\n".join([_details(found[0]), *_about(args.kind, found[0]["name"])]))
    else:
        print(_overview(found, terminal_width()))
    return 0


def entries(kind: str) -> list[dict[str, Any]]:
    """Return what is known of every thing of a kind: name, parameters, summary and metadata.

    Examples
    --------
    >>> [entry["name"] for entry in entries("protocols")][:2]
    ['bsds', 'pdollar']
    """
    from edgecritic.registry import Registry

    source = table_of(kind)
    if isinstance(source, Registry):
        return [_of_entry(entry) for entry in source]
    return [_of_item(name, item) for name, item in source.items()]


def _of_entry(entry: Any) -> dict[str, Any]:
    import inspect

    parameters = {
        key: "required" if value is inspect.Parameter.empty else value
        for key, value in entry.parameters.items()
    }
    first = {"name": entry.name, "parameters": parameters, "summary": entry.summary}
    return {**first, **_fields(entry.info)}


def _of_item(name: str, item: Any) -> dict[str, Any]:
    """Describe an item of a plain table: a line of text, a recipe with its numbers, a protocol."""
    if isinstance(item, str):
        return {"name": name, "parameters": {}, "summary": item}
    if hasattr(item, "told"):
        return {"name": name, "parameters": {}, **item.told()}
    if hasattr(item, "source") and not hasattr(item, "title"):
        return {"name": name, "parameters": item.as_dict(), "summary": item.source}
    values = _fields(item)
    if values["judges"] == "regions":
        return {"name": name, "parameters": {}, "summary": values["title"], "judges": "regions"} | _kept(
            values
        )
    share, nms, rule = (values[key] for key in ("relative_tolerance", "nms", "ap_rule"))
    reach = f"{values['tolerance']:g} px or mm" if share is None else f"{share:g} of the diagonal"
    told = f"{values.pop('title')} (tolerance {reach}, NMS {nms}, AP {rule})"
    return {"name": name, "parameters": {}, "summary": told, **values}


def _kept(values: dict[str, Any]) -> dict[str, Any]:
    """Return what matters of a protocol that judges regions."""
    return {key: values[key] for key in ("id", "thresholds", "source", "notes")}


def _fields(value: Any) -> dict[str, Any]:
    import dataclasses

    if hasattr(value, "told"):
        return dict(value.told())
    if not dataclasses.is_dataclass(value):
        return {}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _of_family(found: list[dict[str, Any]], family: str | None, kind: str) -> list[dict[str, Any]]:
    from edgecritic.errors import UnknownNameError

    if family is None:
        return found
    kept = [entry for entry in found if entry.get("family") == family]
    if not kept:
        known = sorted({str(entry["family"]) for entry in found if "family" in entry})
        told = f"known: {', '.join(known)}" if known else f"{kind} have no families"
        raise UnknownNameError(f"unknown family {family!r} ({told})")
    return kept


def _one(found: list[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    from edgecritic.errors import UnknownNameError

    known = {entry["name"]: entry for entry in found}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(f"none of the {kind} is called {name!r}{hint}")


def _overview(found: list[dict[str, Any]], width: int | None) -> str:
    """Return one line per entry, under the name of its family if it has one; more in a narrow terminal."""
    families = list(dict.fromkeys(entry.get("family") for entry in found))
    blocks = []
    for family in families:
        group = [entry for entry in found if entry.get("family") == family]
        rows = [[_call(entry), *_marks(entry), entry["summary"]] for entry in group]
        title = f"{family}\n" if family else ""
        blocks.append(title + _fitted(rows, width))
    return "\n\n".join(blocks)


def _fitted(rows: list[list[str]], width: int | None) -> str:
    """Return a table, or where it is too wide each summary below its id."""
    import textwrap

    from edgecritic.tables import text_table

    whole = text_table(rows)
    if width is None or max(map(len, whole.splitlines())) <= width:
        return whole
    lines = []
    for *first, summary in rows:
        lines += textwrap.wrap("  ".join(first), width, subsequent_indent="    ")
        lines += textwrap.wrap(summary, width, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _call(entry: dict[str, Any]) -> str:
    from edgecritic.ids import Id

    return str(Id(entry["name"], tuple(entry["parameters"].items())))


def _marks(entry: dict[str, Any]) -> list[str]:
    """Return the symbol and the direction of a measure."""
    from edgecritic.tables import arrow

    if "better" not in entry:
        return []
    return [str(entry.get("symbol", "")), arrow(entry["better"])]


def _details(entry: dict[str, Any]) -> str:
    from edgecritic.tables import text_table

    rows = []
    for key, value in entry.items():
        if key == "parameters":
            rows += [[f"  {name}", f"default {_text(default)}"] for name, default in value.items()]
        elif value not in (None, ""):
            rows.append([key.replace("_", " "), _text(value)])
    return text_table(rows)


def _about(kind: str, name: str) -> list[str]:
    """Return what its documentation says after the summary: its own, and the conventions of its module."""
    import inspect
    import sys

    from edgecritic.registry import Registry

    source = table_of(kind)
    if not isinstance(source, Registry):
        return []
    function = inspect.unwrap(source.get(name).function)
    texts = [inspect.getdoc(function), inspect.getdoc(sys.modules[function.__module__])]
    rest = [(text or "").partition("\n")[2].partition("Examples\n--------")[0].strip() for text in texts]
    return [text for text in rest if text]


def _text(value: Any) -> str:
    """Return a value of the metadata as one line for people."""
    if isinstance(value, tuple | list):
        return ", ".join(_text(item) for item in value)
    inner = _fields(value)
    if "text" in inner:
        return str(inner["text"])
    if inner:
        return "; ".join(f"{key}: {_text(item)}" for key, item in inner.items())
    return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
