"""Pieces of markup that the sections of the HTML report share.

Every piece of text that comes from outside goes through `safe`, which cleans and escapes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from edgecritic.report.view import Results, all_series, clean

__all__ = [
    "TITLES",
    "safe",
    "plural",
    "section",
    "scroll_table",
    "swatch",
    "detector_cell",
    "level_text",
]


TITLES = {
    "leaderboard": "Leaderboard",
    "curves": "Precision and recall",
    "crispness": "Crispness",
    "rules": "Average precision",
    "tolerance": "Tolerance",
    "pairs": "Pairs",
    "tuning": "Best thresholds",
    "images": "Images",
    "pictures": "Pictures",
    "problems": "Failures and notes",
    "protocol": "Protocol",
    "data": "Data",
}

BRIEF = 22
"""Names of so many signs stay on one line."""


def safe(value: object) -> str:
    """Return text from outside, cleaned and escaped for markup and attributes."""
    return escape(clean(value))


def section(key: str, body: str, lead: str = "") -> str:
    """Return a section with its heading; the lead is markup."""
    intro = f'<p class="lead">{lead}</p>\n' if lead else ""
    head = f'<h2 id="{key}-title">{TITLES[key]}</h2>\n'
    return f'<section id="{key}" aria-labelledby="{key}-title">\n{head}{intro}{body}\n</section>'


def scroll_table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", *, row_head: int = 0
) -> str:
    """Return a table in a box of its own that scrolls; cells are markup, numbers align by class."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    lines = []
    for row in rows:
        cells = [
            f'<th scope="row">{cell}</th>' if place == row_head else f"<td>{cell}</td>"
            for place, cell in enumerate(row)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{caption}">\n'
        f'<table class="{kind}"><caption class="hush">{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def swatch(style: int | None) -> str:
    """Return a sample of the line of a curve; its place says colour and style."""
    return "" if style is None else f'<i class="swatch s{style % 7} d{style % 4}" aria-hidden="true"></i>'


def curve_places(results: Results) -> dict[str, int]:
    """Return the place of every detector among all curves: it says colour and line style."""
    return {one.name: rank for rank, one in enumerate(all_series(results)) if one.own}


def detector_cell(results: Results, name: str) -> str:
    """Return the name of a detector with the sample of its curve."""
    kind = "name brief" if len(name) <= BRIEF else "name"
    sample = swatch(curve_places(results).get(clean(name)))
    whole = f' title="{safe(name)}"' if len(name) > BRIEF else ""
    return f'<span class="{kind}"{whole}>{sample}<span>{safe(name)}</span></span>'


def level_text(results: Results) -> str:
    """Return the level of the confidence intervals."""
    level = next((d["intervals"]["level"] for d in results["detectors"] if d.get("intervals")), 0.95)
    return f"{100 * level:g} %"


def plural(count: int, word: str) -> str:
    """Return a count with its word."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
