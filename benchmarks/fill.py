"""Put measured figures into the table of docs/compare.md.

make bench ARGS="--json docs/bars.json"
python benchmarks/fill.py docs/bars.json

The text between the two marks is replaced; everything else stays.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "compare.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def table(bars: list[dict[str, object]], machine: str) -> str:
    """Return the figures as a table of Markdown."""
    marks = {True: "met", False: "missed", None: "–"}
    rows = [
        f"| {bar['part']} | {bar['what']} | {bar['measured']} | {bar['bar']} | {marks[bar['met']]} |"  # type: ignore[index]
        for bar in bars
    ]
    head = ["| part | what | measured | has to be | |", "|---|---|---|---|---|"]
    return "\n".join([f"Measured on {machine}.", "", *head, *rows])


def filled(page: str, text: str) -> str:
    """Return the page with the text between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} has lost its marks {BEGIN} and {END}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def main() -> None:
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    machine = sys.argv[2] if len(sys.argv) == 3 else f"{platform.system()}, {platform.machine()}"
    bars = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), table(bars, machine)), encoding="utf-8")


if __name__ == "__main__":
    main()
