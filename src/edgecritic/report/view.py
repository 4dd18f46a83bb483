"""What all sections of a benchmark read of ``results.json``: order, significance, short numbers, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edgecritic.errors import DataError
from edgecritic.lazy import cached_property
from edgecritic.report.schema import check_results
from edgecritic.report.sections import Cell, Picture
from edgecritic.tables import clean
from edgecritic.values import Value

__all__ = ["Series", "View", "short", "span", "stars", "interval", "pixels_text", "plural", "STARS_TEXT"]

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Significance levels and their marks, smallest first."""

STARS_TEXT = "* p < .05, ** p < .01, *** p < .001: ODS differs from the leader's (paired test)"


class Series(Value):
    """One curve of the precision-recall plot.

    Attributes
    ----------
    name : str
    own : bool
        Whether it was measured in this run; else it was given as a file.
    f, recall, precision : float
        Of the marked best point.
    threshold : float or None
        Of the marked best point.
    curve : mapping
        Columns threshold (may be ``None``), recall, precision, f.
    """

    name: str
    own: bool
    f: float
    recall: float
    precision: float
    threshold: float | None
    curve: Mapping[str, Any]


class View:
    """The results of a benchmark as its sections read them.

    Parameters
    ----------
    results : mapping
        What ``results.json`` holds.
    pictures : sequence of Picture
        Of single images; their groups are names of detectors.

    Raises
    ------
    DataError
        If the results have another layout.
    """

    def __init__(self, results: Mapping[str, Any], pictures: Sequence[Picture] = ()) -> None:
        check_results(results)
        if any("ods" not in detector for detector in results["detectors"]):
            raise DataError(
                "these are results of regions alone, without a boundary benchmark",
                remedy="show them with edgecritic.report.regions",
            )
        self.results = results
        self.pictures = tuple(pictures)
        self.protocol: Mapping[str, Any] = results["protocol"]
        self.human: Mapping[str, Any] | None = results.get("human")

    @cached_property
    def ranked(self) -> list[Mapping[str, Any]]:
        """The detectors from the best ODS to the worst; equal ones keep their order."""
        return sorted(self.results["detectors"], key=lambda detector: -float(detector["ods"]["f"]))

    @cached_property
    def series(self) -> list[Series]:
        """The curves of detectors and competitors, best ODS first."""
        own = [
            _series(detector["name"], detector["curve"], detector["ods"], own=True)
            for detector in self.results["detectors"]
        ]
        given = [_competitor(curve) for curve in self.results.get("curves") or () if len(curve["f"])]
        return sorted([*own, *given], key=lambda one: -one.f)

    @cached_property
    def published(self) -> list[Mapping[str, Any]]:
        """The published curves of other methods, best ODS first; they enter no test."""
        found = [curve for curve in self.results.get("curves") or () if curve.get("published")]
        return sorted(found, key=lambda curve: -float(curve["published"]["ods"]["f"]))

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of every detector among all curves: it says colour and dashes."""
        return {one.name: rank for rank, one in enumerate(self.series) if one.own}

    @cached_property
    def p_values(self) -> dict[str, float]:
        """For every other detector that was compared with the leader: how likely equality is."""
        found: dict[str, float] = {}
        for pair in self.results.get("comparisons") or ():
            names = {pair["first"], pair["second"]}
            if self.ranked and self.ranked[0]["name"] in names and len(names) == 2 and pair.get("ods"):
                (other,) = names - {self.ranked[0]["name"]}
                found[other] = float(pair["ods"]["p"])
        return found

    @property
    def level(self) -> float | None:
        """The level of the confidence intervals, if there are any."""
        return next((d["intervals"]["level"] for d in self.ranked if d.get("intervals")), None)

    @cached_property
    def classes(self) -> list[str]:
        """The names of all classes that were judged; none if there are no classes."""
        return list(dict.fromkeys(name for d in self.results["detectors"] for name in d.get("classes") or {}))

    def named(self, score: str) -> str:
        """Return what a score is called: with classes it is a mean over them.

        Those of ODS are known as MF(ODS).
        """
        if not self.classes:
            return score
        return f"MF({score})" if score in ("ODS", "OIS") else f"mean {score}"

    @property
    def ap_rule(self) -> str:
        """The name of the AP rule that is printed."""
        first = next((d["ap_rule"] for d in self.results["detectors"] if d.get("ap_rule")), None)
        return clean(self.protocol.get("ap_rule") or first or "not recorded")

    @property
    def nms(self) -> str:
        """The recipe of non-maximum suppression."""
        return clean(self.protocol.get("nms") or "none")

    @property
    def unit(self) -> str:
        """The unit of distances: px, or in volumes mm or voxels."""
        return clean(self.protocol.get("tolerance_unit") or "px")

    @property
    def tolerance(self) -> str:
        """The tolerance in pixels or millimetres, and as a share of the diagonal if it was given so."""
        pixels, relative = self.protocol.get("tolerance_pixels"), self.protocol.get("relative_tolerance")
        inside = pixels_text(pixels if pixels is not None else self.protocol.get("tolerance"), self.unit)
        if relative is None:
            return inside or "not recorded"
        share = f"{relative:g} of the diagonal"
        return f"{inside} ({share})" if inside else share

    def name(self, detector: str) -> Cell:
        """Return the name of a detector with the sample of its curve."""
        return Cell(text=clean(detector), swatch=self.places.get(clean(detector)))

    def protocol_lines(self) -> list[str]:
        """Return what must be said with every number: protocol, tolerance, NMS, AP rule."""
        title = f" ({clean(self.protocol['title'])})" if self.protocol.get("title") else ""
        thin = self.protocol.get("thin")
        thinning = "" if thin is None else f" · thinning {'on' if thin else 'off'}"
        return [
            f"protocol {clean(self.protocol['id'])}{title}",
            f"tolerance {self.tolerance} · NMS {self.nms}{thinning}",
            f"AP rule {self.ap_rule} (APs of different rules must not be compared)",
        ]


def _series(name: str, curve: Mapping[str, Any], best: Mapping[str, Any], *, own: bool) -> Series:
    numbers = {key: best[key] for key in ("f", "recall", "precision")}
    return Series(name=clean(name), own=own, curve=curve, threshold=best.get("threshold"), **numbers)


def _competitor(curve: Mapping[str, Any]) -> Series:
    if curve.get("published"):
        return _series(
            f"{curve['name']} ({curve['published']['year']})", curve, curve["published"]["ods"], own=False
        )
    place = max(range(len(curve["f"])), key=lambda number: float(curve["f"][number]))
    columns = ("f", "recall", "precision", "threshold")
    best = {key: curve[key][place] for key in columns if curve.get(key) is not None}
    return _series(curve["name"], curve, best, own=False)


def short(value: float | None, digits: int = 3) -> str:
    """Return a score as papers print it: no leading zero; a dash if there is none.

    Examples
    --------
    >>> short(0.7423), short(1), short(-0.0314), short(None)
    ('.742', '1.000', '−.031', '–')
    """
    if value is None:
        return "–"
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


def span(pair: tuple[float, float] | None, between: str = "–") -> str:
    """Return an interval of scores, empty if there is none."""
    return "" if pair is None else f"{short(pair[0])}{between}{short(pair[1])}"


def stars(p: float | None) -> str:
    """Return the mark of a p value, empty if it is not significant or not known."""
    return next((mark for level, mark in LEVELS if p is not None and p < level), "")


def p_text(p: float | None) -> str:
    """Return a p value as it is printed."""
    return "< .001" if p is not None and p < 0.001 else short(p)


def interval(detector: Mapping[str, Any], score: str) -> tuple[float, float] | None:
    """Return the confidence interval of a score, if there is one."""
    pair = (detector.get("intervals") or {}).get(score)
    return (float(pair[0]), float(pair[1])) if pair else None


def pixels_text(pixels: float | Sequence[float] | None, unit: str = "px") -> str:
    """Return a distance or a range of distances in pixels, or in another unit.

    Examples
    --------
    >>> pixels_text(4.337), pixels_text([4.3371, 4.3374]), pixels_text([4.3, 7.73])
    ('4.34 px', '4.34 px', '4.30–7.73 px')
    """
    if pixels is None:
        return ""
    low, high = (pixels[0], pixels[1]) if isinstance(pixels, Sequence) else (pixels, pixels)
    first, last = f"{low:.2f}", f"{high:.2f}"
    return f"{first} {unit}" if first == last else f"{first}–{last} {unit}"


def plural(count: int, word: str) -> str:
    """Return a count with its word."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
