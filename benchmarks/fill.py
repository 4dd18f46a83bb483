"""Put measured figures into the table of docs/compare.md.

make bench ARGS="--json docs/bars.json"
python benchmarks/fill.py docs/bars.json

The text between the two marks is replaced; everything else stays.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "compare.md"
PEER = re.compile(r"against|distance transform|edt call")
"""Words of figures that compare with another program; the others are the project's own bars."""
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def table(bars: list[dict[str, object]], machine: str) -> str:
    """Return the figures that compare with another program as a table of Markdown."""
    rows = [
        f"| {bar['what']} | {bar['measured']} |"
        for bar in bars
        if bar["met"] is not None and PEER.search(f"{bar['what']} {bar['measured']}")
    ]
    head = ["| what | measured |", "|---|---|"]
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
