"""ODS, OIS and AP by every strategy of matching, and whether the ranking depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from edgecritic.report.sections import Cell, Content, Section, Table
from edgecritic.report.view import View, short
from edgecritic.tables import clean

__all__ = ["ORDER", "ranking_sentence", "section"]

ORDER = 52

_LEVEL = 5e-7
_MOST_PAIRS = 3

_NOTE = (
    "exact, eps and closest match pixels one to one; distance, area and validation let one pixel stand for "
    "several. eps and closest search a window as wide as the tolerance, area compares dilated maps. The "
    "protocol’s own strategy comes first."
)


def section(view: View) -> Section | None:
    """Return the scores by every strategy, if they were measured."""
    order = [detector for detector in view.ranked if detector.get("strategies")]
    if not order:
        return None
    names = [row["strategy"] for row in order[0]["strategies"]]
    rows: tuple[tuple[Content, ...], ...] = tuple(
        (view.name(detector["name"]), *(_cell(_row(detector, name)) for name in names)) for detector in order
    )
    tables = [
        Table(name="strategies", title="ODS by strategy", header=("Detector", *names), body=rows, note=_NOTE)
    ]
    for key in ("ois", "ap"):
        scores: tuple[tuple[Content, ...], ...] = tuple(
            (view.name(one["name"]), *(short(_score(_row(one, name), key)) for name in names))
            for one in order
        )
        title = f"{key.upper()} by strategy"
        header = ("Detector", *names)
        tables.append(Table(name=f"strategies-{key}", title=title, header=header, body=scores))
    lead = ranking_sentence(order)
    return Section(key="strategies", title="Strategies", lead=lead, blocks=tuple(tables))


def ranking_sentence(detectors: Sequence[Mapping[str, Any]]) -> str:
    """Say whether the order of the detectors by ODS depends on the strategy.

    Two detectors change places if the strategy puts first the one that the protocol's own strategy puts last,
    or if just one of the two strategies has them level (they differ by less than 5·10⁻⁷).

    Examples
    --------
    >>> def detector(name, **ods):
    ...     return {"name": name, "strategies": [{"strategy": s, "ods": {"f": f}} for s, f in ods.items()]}
    >>> ranking_sentence([detector("a", exact=0.7, eps=0.6), detector("b", exact=0.6, eps=0.5)])
    'The ranking does not depend on the strategy: all 2 put a before b by ODS.'
    """
    own, *others = (row["strategy"] for row in detectors[0]["strategies"])
    if len(detectors) == 1:
        found = {row["strategy"]: row["ods"]["f"] for row in detectors[0]["strategies"]}
        low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        return (
            f"The ODS of {clean(detectors[0]['name'])} lies between {short(found[low])} ({low}) and "
            f"{short(found[high])} ({high}); with one detector there is no ranking."
        )
    changes = []
    for first, second in combinations(detectors, 2):
        usual = _order(first, second, own)
        where = [name for name in others if _order(first, second, name) != usual]
        if where:
            changes.append(_change(first, second, own, usual, where))
    if not changes:
        ranked = sorted(detectors, key=lambda one: -_ods(one, own))
        names = _chain(ranked, own)
        return f"The ranking does not depend on the strategy: all {1 + len(others)} put {names} by ODS."
    more = len(changes) - _MOST_PAIRS
    rest = f" {more} more pairs change places." if more > 0 else ""
    return f"The ranking depends on the strategy: {'; '.join(changes[:_MOST_PAIRS])}.{rest}"


def _chain(ranked: Sequence[Mapping[str, Any]], strategy: str) -> str:
    text = clean(ranked[0]["name"])
    for before, one in pairwise(ranked):
        text += " before " if _order(before, one, strategy) else " level with "
        text += clean(one["name"])
    return text


def _change(
    first: Mapping[str, Any], second: Mapping[str, Any], own: str, usual: int, where: Sequence[str]
) -> str:
    one, other = clean(first["name"]), clean(second["name"])
    said = {
        1: f"puts {one} before {other}",
        -1: f"puts {other} before {one}",
        0: f"has {one} and {other} level",
    }
    return f"{own} {said[usual]}, {' and '.join(where)} {'does' if len(where) == 1 else 'do'} not"


def _order(first: Mapping[str, Any], second: Mapping[str, Any], strategy: str) -> int:
    """Return 1 if the first is ahead, −1 if the second is, 0 if they are level."""
    gap = _ods(first, strategy) - _ods(second, strategy)
    return 0 if abs(gap) < _LEVEL else 1 if gap > 0 else -1


def _row(detector: Mapping[str, Any], strategy: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(row for row in detector["strategies"] if row["strategy"] == strategy)
    return found


def _score(row: Mapping[str, Any], key: str) -> float | None:
    return row.get("ap") if key == "ap" else row[key]["f"]


def _ods(detector: Mapping[str, Any], strategy: str) -> float:
    return float(_row(detector, strategy)["ods"]["f"])


def _cell(row: Mapping[str, Any]) -> Cell:
    ods = row["ods"]
    return Cell(
        text=short(ods["f"]), strong=True, note=f"P {short(ods['precision'])} R {short(ods['recall'])}"
    )
