"""The figure of an experiment: dataset risk per detector, hard and easy side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from edgecritic.annotators.votes import Risk

__all__ = ["risk_figure"]

_COLOURS = {"hard": "#c2410c", "easy": "#1d6fb8"}
_LEFT, _TOP, _HEIGHT, _GROUP, _BAR, _RIGHT = 56, 52, 240, 96, 30, 64


def risk_figure(rows: Sequence[Risk]) -> str:
    """Return an SVG: bars with Wilson intervals, the means of both modes, and the line of chance at ½.

    After Figure 3 of Hou, Yuille & Koch, "Boundary detection benchmarking: beyond F-measures", CVPR 2013.

    Examples
    --------
    >>> risk_figure([]).startswith("<svg")
    True
    """
    detectors = sorted({row.detector for row in rows})
    modes = [mode for mode in _COLOURS if any(row.mode == mode for row in rows)]
    width = _LEFT + max(len(detectors), 3) * _GROUP + _RIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="risk" role="img" '
        f'viewBox="0 0 {width} {_TOP + _HEIGHT + 34}" font-family="sans-serif" font-size="12">'
        f"<title>{escape(_words(rows))}</title>"
    )
    parts = [head]
    parts += [_tick(value, width) for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    for place, detector in enumerate(detectors):
        middle = _LEFT + place * _GROUP + _GROUP / 2
        for row in rows:
            if row.detector == detector:
                shift = (modes.index(row.mode) - (len(modes) - 1) / 2) * (_BAR + 4)
                parts.append(_bar(row, middle + shift))
        parts.append(
            f'<text class="name" x="{middle:.1f}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle" fill="#333">'
            f"{escape(_short(detector))}</text>"
        )
    chance = _y(0.5)
    parts.append(
        f'<line class="chance" x1="{_LEFT}" x2="{width - _RIGHT + 8}" y1="{chance}" y2="{chance}" '
        'stroke="#d00" '
        'stroke-width="1.5" stroke-dasharray="3 4"/>'
        f'<text class="chance-name" x="{width - _RIGHT + 14}" y="{chance + 4}" fill="#d00">'
        "chance</text>"
    )
    parts += [_legend(rows, mode, place) for place, mode in enumerate(modes)]
    parts.append(
        f'<text class="axis" transform="translate(14 {_TOP + _HEIGHT / 2}) rotate(-90)" text-anchor="middle" '
        'fill="#333">dataset risk</text></svg>'
    )
    return "".join(parts)


def _bar(row: Risk, middle: float) -> str:
    top, low, high = _y(row.risk), _y(row.low), _y(row.high)
    told = (
        f"{row.detector}, {row.mode}: {row.risk:.3f} ({row.low:.3f} to {row.high:.3f}), {row.trials} trials"
    )
    hatch = "" if row.mode == "hard" else ' fill-opacity="0.75"'
    return (
        f'<g class="{row.mode}"><title>{escape(told)}</title>'
        f'<rect x="{middle - _BAR / 2:.1f}" y="{top:.1f}" width="{_BAR}" height="{_y(0) - top:.1f}" '
        f'fill="{_COLOURS[row.mode]}"{hatch}/>'
        f'<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}M{middle - 5:.1f} {low:.1f}h10'
        f'M{middle - 5:.1f} {high:.1f}h10" stroke="#222" stroke-width="1.5" fill="none"/>'
        f'<text class="value" x="{middle:.1f}" y="{high - 6:.1f}" text-anchor="middle" fill="#333">'
        f"{row.risk:.2f}</text></g>"
    )


def _tick(value: float, width: int) -> str:
    y = _y(value)
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT + 8}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        f'<text class="tick" x="{_LEFT - 8}" y="{y + 4}" text-anchor="end" fill="#333">{value:.1f}</text>'
    )


def _legend(rows: Sequence[Risk], mode: str, place: int) -> str:
    mean = _mean(rows, mode)
    x = _LEFT + place * 150
    return (
        f'<g class="{mode}"><rect x="{x}" y="8" width="12" height="12" fill="{_COLOURS[mode]}"/>'
        f'<text class="name" x="{x + 18}" y="18" fill="#333">{mode}, mean {mean:.3f}</text></g>'
    )


def _mean(rows: Sequence[Risk], mode: str) -> float:
    chosen = [row.risk for row in rows if row.mode == mode]
    return sum(chosen) / len(chosen)


def _words(rows: Sequence[Risk]) -> str:
    if not rows:
        return "Dataset risk: no trial is decided yet"
    return "Dataset risk: " + "; ".join(f"{row.detector} {row.mode} {row.risk:.2f}" for row in rows)


def _y(value: float) -> float:
    return round(_TOP + _HEIGHT * (1 - value), 1)


def _short(name: str) -> str:
    return name if len(name) <= 15 else name[:14] + "…"
