"""All bars in one table: what is measured, what it has to be, met or missed.

python benchmarks/run.py [--quick] [PART …]
"""

from __future__ import annotations

import argparse
import importlib
import json
from dataclasses import asdict
from pathlib import Path

from bars import Bar, data_root

PARTS = ("matching", "boundary", "measures", "detectors", "annotators")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="fewer images and smaller sizes")
    parser.add_argument("--json", type=Path, help="write the table as JSON too")
    options = parser.parse_args()
    data = data_root()
    table: list[Bar] = []
    for part in options.parts:
        for bar in importlib.import_module(part).bars(data, quick=options.quick):
            table.append(bar)
            mark = {True: "met   ", False: "MISSED", None: "–     "}[bar.met]
            print(f"{mark}  {bar.part}: {bar.what}\n        {bar.measured}   [bar: {bar.bar}]", flush=True)
    met = sum(bar.met is True for bar in table)
    print(f"\n{met} of {len(table)} bars met")
    if options.json:
        options.json.write_text(
            json.dumps([asdict(bar) for bar in table], indent=1, ensure_ascii=False, default=bool) + "\n"
        )


if __name__ == "__main__":
    main()
