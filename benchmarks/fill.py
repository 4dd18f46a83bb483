"""Put measured figures into docs/explanation/compare.md.

make bench ARGS="--json bars.json"
python benchmarks/fill.py bars.json "name of the machine"

The text between the two marks is replaced; everything else stays.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "compare.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def table(bars: list[dict[str, object]], machine: str) -> str:
    """Return what was measured as tables of Markdown, one per part."""
    told = [bar for bar in bars if not str(bar["measured"]).startswith(("not measured", "error"))]
    judged = [bar["met"] for bar in told if bar["met"] is not None]
    words = {True: "met", False: "**missed**", None: ""}
    lines = [f"Measured on {machine}: {sum(map(bool, judged))} of {len(judged)} bars met."]
    for part, rows in itertools.groupby(told, key=lambda bar: bar["part"]):
        lines += ["", f"### {str(part).capitalize()}", "", "| what | measured | bar | |", "|---|---|---|---|"]
        lines += [
            f"| {row['what']} | {row['measured']} | {row['bar']} | {words[row['met']]} |" for row in rows
        ]
    return "\n".join(lines)


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
