"""The report of a benchmark: one file per section, found by itself.

A module has ``ORDER``, a number that says where its section stands, and ``section(view)``, which returns the
section or ``None`` where there is nothing to say.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from types import ModuleType

from edgecritic.report.sections import Report, Section
from edgecritic.report.view import View, interval, plural, short, span
from edgecritic.tables import clean, shorten

__all__ = ["benchmark_report", "section_modules"]


@cache
def section_modules() -> tuple[ModuleType, ...]:
    """Return the modules of this package, in the order of their sections."""
    found = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    return tuple(sorted(found, key=lambda module: (module.ORDER, module.__name__)))


def benchmark_report(view: View, more: Sequence[tuple[int, Section]] = (), *, refresh: int = 0) -> Report:
    """Return the report of a benchmark; `more` are sections of other work with their places.

    The page of a run that goes on is loaded anew every `refresh` seconds.
    """
    placed = [(module.ORDER, module.section(view)) for module in section_modules()]
    placed = sorted([*placed, *more], key=lambda pair: pair[0])
    first = view.ranked[0] if view.ranked else None
    name = "Boundary benchmark" if first is None else shorten(clean(first["name"]), 60)
    return Report(
        title=f"{name} leads" if len(view.ranked) > 1 else name,
        brand="Boundary benchmark",
        verdict="No detector was evaluated." if first is None else _verdict(view),
        facts=_facts(view),
        tiles=() if first is None else _tiles(view),
        sections=tuple(section for _, section in placed if section is not None),
        version=clean(view.results["versions"].get("edgecritic") or ""),
        refresh=refresh,
    )


def _facts(view: View) -> tuple[tuple[str, str], ...]:
    images = max((detector["images"] for detector in view.ranked), default=0)
    truth = view.results.get("truth")
    return (
        *((("truth", clean(truth)),) if truth else ()),
        ("", plural(images, "image")),
        ("", plural(len(view.ranked), "detector")),
        *((("", f"{len(view.classes)} class{'es' * (len(view.classes) != 1)}"),) if view.classes else ()),
        ("protocol", clean(view.protocol["id"])),
        ("tolerance", view.tolerance),
    )


def _verdict(view: View) -> str:
    first, *others = view.ranked
    pair = interval(first, "ods")
    sure = f" ({100 * (view.level or 0.95):g} % interval {span(pair, ' to ')})" if pair else ""
    text = f"{view.named('ODS')} {short(first['ods']['f'])}{sure}"
    known = [detector["name"] for detector in others if detector["name"] in view.p_values]
    behind = sum(view.p_values[name] < 0.05 for name in known)
    if len(known) == 1:
        text += f", {'significantly' if behind else 'not significantly'} ahead of {clean(known[0])}"
    elif known:
        share = "all" if behind == len(known) else str(behind) if behind else "none"
        text += f", significantly ahead of {share} of the {len(known)} others"
    if view.human:
        gap = first["ods"]["f"] - view.human["f"]
        text += f". People reach {short(view.human['f'])} on these images"
        text += f", {short(-gap)} more" if gap < -0.0005 else f", {short(gap)} less" if gap > 0.0005 else ""
    return text + "."


def _tiles(view: View) -> tuple[tuple[str, str, str, str], ...]:
    first = view.ranked[0]
    tiles = (
        (view.named("ODS"), "one threshold for all images", first["ods"]["f"], interval(first, "ods")),
        (view.named("OIS"), "best threshold per image", first["ois"]["f"], interval(first, "ois")),
        (view.named("AP"), f"rule {view.ap_rule}", first.get("ap"), interval(first, "ap")),
        (view.named("R50"), "recall at precision one half", first.get("r50"), None),
    )
    return tuple((name, words, short(value), span(pair)) for name, words, value, pair in tiles)
