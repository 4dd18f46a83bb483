"""What tables, figures and pages share: order, significance, short numbers, safe names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "LEVELS",
    "Series",
    "cells",
    "plain",
    "csv_cell",
    "clean",
    "short",
    "shorten",
    "ranked",
    "p_values",
    "stars",
    "interval",
    "pixels_text",
    "tolerance_text",
    "nms_text",
    "oracle_text",
    "ap_rule",
    "protocol_lines",
    "all_series",
]

Results = Mapping[str, Any]

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Significance levels and their marks, smallest first."""


_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str, *, escape: bool = False) -> str:
    r"""Return text of many lines that a terminal shows and does not obey.

    Control characters, direction overrides and bytes that were not text become ``�``, or with `escape`
    what JSON writes for them.

    Examples
    --------
    >>> print(plain("net\x1b[31m"), plain("\x9b", escape=True))
    net�[31m \u009b
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}" if escape else "�", text)


def csv_cell(cell: object) -> object:
    r"""Return a cell for a CSV file: text on one line, which no spreadsheet takes for a formula.

    Numbers and ``None`` stay as they are. Text that begins like a formula gets an apostrophe in front.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell(-0.5)
    ("'=1+1", '-0.5', -0.5)
    """
    if not isinstance(cell, str) or not cell:
        return cell
    text = clean(cell)
    return f"'{text}" if text[0] in "=+-@" and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def clean(text: object) -> str:
    r"""Return text on one line that every encoding, terminal and font call can take.

    Control characters, direction overrides and bytes that were not text become ``�``.

    Examples
    --------
    >>> clean("net\x1b[31m")
    'net�[31m'
    """
    return "".join(sign if sign.isprintable() else "�" for sign in str(text)) or "(no name)"


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


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> cells("edge"), cells("邊緣")
    (4, 4)
    """
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def shorten(text: str, most: int = 36) -> str:
    """Return text of at most `most` columns; its middle goes, because names of runs differ at their ends.

    Examples
    --------
    >>> shorten("network_epoch_0012", 12)
    'networ…_0012'
    """
    if cells(text) <= most:
        return text
    first, last = text[: len(text) // 2], text[len(text) // 2 :]
    while cells(first) + cells(last) > most - 1:
        first, last = (first[:-1], last) if cells(first) > cells(last) + 1 else (first, last[1:])
    return f"{first}…{last}"


def ranked(results: Results) -> list[Mapping[str, Any]]:
    """Return the detectors from the best ODS to the worst; equal ones keep their order."""
    return sorted(results["detectors"], key=lambda detector: -float(detector["ods"]["f"]))


def p_values(results: Results, score: str = "ods") -> dict[str, float]:
    """Return for every other detector that was compared with the leader how likely equality is."""
    order = ranked(results)
    found: dict[str, float] = {}
    for pair in results.get("comparisons") or ():
        names = {pair["first"], pair["second"]}
        if order and order[0]["name"] in names and len(names) == 2 and pair.get(score):
            (other,) = names - {order[0]["name"]}
            found[other] = float(pair[score]["p"])
    return found


def stars(p: float | None) -> str:
    """Return the mark of a p value, empty if it is not significant or not known."""
    return next((mark for level, mark in LEVELS if p is not None and p < level), "")


def interval(detector: Mapping[str, Any], score: str) -> tuple[float, float] | None:
    """Return the confidence interval of a score, if there is one."""
    pair = (detector.get("intervals") or {}).get(score)
    return (float(pair[0]), float(pair[1])) if pair else None


def pixels_text(pixels: float | Sequence[float] | None) -> str:
    """Return a distance or a range of distances in pixels.

    Examples
    --------
    >>> pixels_text(4.337), pixels_text([4.3371, 4.3374]), pixels_text([4.3, 7.73])
    ('4.34 px', '4.34 px', '4.30–7.73 px')
    """
    if pixels is None:
        return ""
    low, high = (pixels[0], pixels[1]) if isinstance(pixels, Sequence) else (pixels, pixels)
    first, last = f"{low:.2f}", f"{high:.2f}"
    return f"{first} px" if first == last else f"{first}–{last} px"


def tolerance_text(protocol: Mapping[str, Any]) -> str:
    """Return the tolerance in pixels, and as a share of the diagonal if it was given so."""
    pixels = protocol.get("tolerance_pixels")
    relative = protocol.get("relative_tolerance")
    inside = pixels_text(pixels if pixels is not None else protocol.get("tolerance"))
    if relative is None:
        return inside or "not recorded"
    share = f"{relative:g} of the diagonal"
    return f"{inside} ({share})" if inside else share


def nms_text(protocol: Mapping[str, Any]) -> str:
    """Return the recipe of non-maximum suppression in words."""
    return clean(protocol.get("nms") or "none")


def oracle_text(oracle: Mapping[str, Any]) -> str:
    """Say what the row of the oracle is."""
    return (
        f"{clean(oracle['label'])}: per image and threshold the prediction with the largest F, chosen with "
        "the truth in hand; no detector reaches it by itself"
    )


def ap_rule(results: Results) -> str:
    """Return the name of the AP rule that is printed."""
    named = results["protocol"].get("ap_rule")
    first = next((d["ap_rule"] for d in results["detectors"] if d.get("ap_rule")), None)
    return clean(named or first or "not recorded")


def protocol_lines(results: Results) -> list[str]:
    """Return what must be said with every number: protocol, tolerance, NMS, AP rule."""
    protocol = results["protocol"]
    title = f" ({clean(protocol['title'])})" if protocol.get("title") else ""
    thin = protocol.get("thin")
    thinning = "" if thin is None else f" · thinning {'on' if thin else 'off'}"
    return [
        f"protocol {clean(protocol['id'])}{title}",
        f"tolerance {tolerance_text(protocol)} · NMS {nms_text(protocol)}{thinning}",
        f"AP rule {ap_rule(results)} (APs of different rules must not be compared)",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
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


def all_series(results: Results) -> list[Series]:
    """Return the curves of detectors and competitors, best ODS first."""
    series = [
        Series(
            name=clean(detector["name"]),
            own=True,
            f=detector["ods"]["f"],
            recall=detector["ods"]["recall"],
            precision=detector["ods"]["precision"],
            threshold=detector["ods"].get("threshold"),
            curve=detector["curve"],
        )
        for detector in results["detectors"]
    ]
    series += [_competitor(curve) for curve in results.get("curves") or () if len(curve["f"])]
    return sorted(series, key=lambda one: -one.f)


def _competitor(curve: Mapping[str, Any]) -> Series:
    best = max(range(len(curve["f"])), key=lambda place: float(curve["f"][place]))
    thresholds = curve.get("threshold")
    return Series(
        name=clean(curve["name"]),
        own=False,
        f=curve["f"][best],
        recall=curve["recall"][best],
        precision=curve["precision"][best],
        threshold=None if thresholds is None else thresholds[best],
        curve=curve,
    )
