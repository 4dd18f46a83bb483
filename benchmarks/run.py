"""All bars of the project in one table: what is measured, what it has to be, met or missed.

python benchmarks/run.py [--quick] [--against REV] [PART …]

A line appears as soon as it is measured. What needs something that is not there (a peer program, the real
data, PostgreSQL, Chromium) says so, and the rest goes on. Every number is kept in
bench-results/history.jsonl.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import against
from bars import CHECKS, Bar, Check, Given, data_root
from history import HISTORY, History
from table import Table, mark

PARTS = {
    "matching": ("matching",),
    "boundary": ("boundary", "whole_runs", "boundary_command"),
    "regions": ("regions",),
    "volumes": ("volumes",),
    "rasters": ("rasters",),
    "classes": ("classes",),
    "measures": ("measures", "meshes", "labels"),
    "detectors": ("detectors",),
    "learned": ("learned",),
    "annotators": ("annotators", "cluster"),
    "preference": ("preference",),
    "studio": ("studio",),
    "view": ("view",),
    "torch": ("training",),
    "files": ("damage",),
    "adoption": ("starting", "adoption"),
}
"""The modules of every part."""


def checks_of(parts: Sequence[str], only: str = "") -> list[Check]:
    """Import the parts and return their checks, in the order asked for; with ``only`` those that name it."""
    for module in (module for part in parts for module in PARTS[part]):
        importlib.import_module(module)
    chosen = [each for part in parts for each in CHECKS if each.part == part]
    return [each for each in chosen if any(re.search(only, what) for what, _ in each.rows)]


def known_part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"there is no part {name!r}; there are {', '.join(PARTS)}")
    return name


def load() -> str:
    """Return the load in words if others use the machine, where the system tells it."""
    cores = os.cpu_count() or 1
    now = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f"load {now:.1f} on {cores} cores" if now > 0.5 * cores else ""


@contextmanager
def announced(text: str) -> Iterator[None]:
    """Show on a terminal what is being measured, until it is."""
    if not sys.stderr.isatty():
        yield
        return
    sys.stderr.write(f"\r\033[K{text[:78]}")
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def measured(checks: Sequence[Check], given: Given) -> Iterator[Bar]:
    """Yield all bars, with progress on stderr."""
    total, done = sum(len(each.rows) for each in checks), 0
    for each in checks:
        lines, names = each.measure(given), iter(each.rows)
        while True:
            what, _ = next(names, ("", ""))
            start = time.monotonic()
            with announced(f"[{min(done + 1, total)}/{total}] {each.part}: {what} …"):
                bar = next(lines, None)
            if bar is None:
                break
            done += 1
            yield replace(bar, seconds=round(time.monotonic() - start, 1))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", type=known_part, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="fewer images and smaller sizes: some minutes")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only the checks whose names hold it")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is missed or fails")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON too, line by line")
    parser.add_argument(
        "--against",
        metavar="REV",
        help="measure this revision and the working tree in turn; exit with 1 if a row is slower by more\n"
        "than 5 %% beyond noise (the rule is told in benchmarks/against.py)",
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs a side with --against (3)")
    parser.add_argument(
        "--history",
        default=str(HISTORY),
        metavar="FILE",
        help="keep all numbers in this file, or in none (default: bench-results/history.jsonl)",
    )
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    start = time.monotonic()
    given = Given(data_root(), options.quick)
    history = History(None if options.history == "none" else Path(options.history), options.quick)
    if options.against:
        parts = options.parts or list(PARTS)
        checks = checks_of(parts, options.only)
        return against.main(
            checks,
            parts,
            options.against,
            rounds=max(1, options.rounds),
            quick=options.quick,
            only=options.only,
            history=history,
        )
    print(f"real data: {given.data or 'none (set EDGECRITIC_DATA)'}")
    if busy := load():
        print(f"this machine is busy ({busy}): times will be too long")
    print("--quick: less of everything than the names of the bars say\n" if given.quick else "")
    table, status = Table(), 0
    table.head()
    try:
        for bar in measured(checks_of(options.parts or list(PARTS), options.only), given):
            table.add(bar)
            history.add(bar)
            if options.json:
                rows = [asdict(each) for each in table.bars]
                text = json.dumps(rows, indent=1, ensure_ascii=False)
                options.json.write_text(f"{text}\n", encoding="utf-8")
    except KeyboardInterrupt:
        print("\ninterrupted")
        status = 130
    print(f"\n{table.foot()}; {(time.monotonic() - start) / 60:.1f} min")
    wrong = {mark(bar) for bar in table.bars} & {"MISSED", "ERROR"}
    return status or (1 if options.strict and wrong else 0)


if __name__ == "__main__":
    raise SystemExit(main())
