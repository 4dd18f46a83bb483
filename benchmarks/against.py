"""Two revisions in one run: every row of the table, measured with the package of each in turn.

make bench ARGS="--against REV [--rounds N] [--quick] [--only PATTERN] [PART …]"

The scripts of this folder measure both: the package of the working tree and that of REV, which is unpacked
into a temporary folder. Each check runs in processes of its own, N times a side, in turn, with the same
Python and with caches of kernels and of truths that belong to one side alone. The best of the runs of a side
counts. The ratio is how many times slower (or larger) the working tree is; the noise is how far the median of
the runs of a side is from their best, on the noisier side. A row is slower if ratio > 1.05 + noise, and then
the exit status is 1.
"""

from __future__ import annotations

import io
import json
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bars import ROOT, Bar, Check, surroundings
from history import History
from table import Table

LIMIT = 0.05
"""So much slower may a row be, beyond the noise."""

_LIST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import run
parts = [part for part in sys.argv[2:] if part in run.PARTS]
print(json.dumps([[each.part, what] for each in run.checks_of(parts) for what, _ in each.rows]))
"""


@dataclass(frozen=True)
class Side:
    """A package to measure, and a folder for its caches."""

    name: str
    source: Path
    home: Path

    def surroundings(self) -> dict[str, str]:
        """Return the environment in which the scripts import this package."""
        return surroundings(
            self.source,
            EDGECRITIC_BENCH_SOURCE=str(self.source),
            EDGECRITIC_CACHE=str(self.home / "truths"),
            NUMBA_CACHE_DIR=str(self.home / "kernels"),
        )

    def measure(self, each: Check, quick: bool = False) -> list[Bar]:
        """Run one check in a new process and return its bars."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bars.json"
            words = [each.part, "--only", f"^{re.escape(each.rows[0][0])}$", "--json", str(file)]
            words += ["--history", "none", *(["--quick"] if quick else [])]
            done = subprocess.run(
                [sys.executable, str(Path(__file__).with_name("run.py")), *words],
                env=self.surroundings(),
                capture_output=True,
                text=True,
                check=False,
            )
            if file.exists():
                return [Bar(**row) for row in json.loads(file.read_text(encoding="utf-8"))]
        said = (done.stderr or done.stdout).strip().splitlines()
        reason = f"error: {said[-1] if said else f'status {done.returncode}'}"
        return [Bar(each.part, what, reason, bar, None, failed=True) for what, bar in each.rows]

    def rows(self, parts: Sequence[str]) -> list[tuple[str, str]]:
        """Return part and name of every row that the scripts beside this package have; none without any."""
        done = subprocess.run(
            [sys.executable, "-c", _LIST, str(self.source.parent / "benchmarks"), *parts],
            env=self.surroundings(),
            capture_output=True,
            text=True,
            check=False,
        )
        return [(part, what) for part, what in json.loads(done.stdout)] if done.returncode == 0 else []


@contextmanager
def both_sides(revision: str) -> Iterator[tuple[Side, Side]]:
    """Unpack a revision; give it and the working tree, with new folders for their caches."""
    archive = ["git", "-C", str(ROOT), "archive", "--format=tar", revision, "src", "benchmarks"]
    done = subprocess.run(archive, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"--against {revision}: {done.stderr.decode(errors='replace').strip()}")
    with tempfile.TemporaryDirectory(prefix="against-") as name:
        home = Path(name)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
            packed.extractall(home / "base", filter="data")
        sides = (
            Side(revision, home / "base/src", home / "caches-base"),
            Side("now", ROOT / "src", home / "caches"),
        )
        for side in sides:
            side.home.mkdir()
        yield sides


@dataclass(frozen=True)
class Compared:
    """One row of both sides: the best of each, how many times worse it is now, and the noise."""

    base: float
    now: float
    ratio: float
    noise: float

    @property
    def slower(self) -> bool:
        """Whether it is worse than noise and the limit explain."""
        return self.ratio > 1 + LIMIT + self.noise


def compared(base: Sequence[float], now: Sequence[float], better: str) -> Compared:
    """Compare the numbers of some runs of each side.

    Examples
    --------
    >>> compared([2.0, 2.1, 2.0], [2.4, 2.2, 2.3], "lower").slower
    False
    >>> compared([20, 21], [10, 10], "higher").ratio
    2.1
    """
    best: Callable[[Sequence[float]], float] = min if better == "lower" else max
    one, other = best(base), best(now)
    worse, good = (other, one) if better == "lower" else (one, other)
    ratio = worse / good if good else (1.0 if worse == good else float("inf"))
    noise = max(_apart(statistics.median(runs), best(runs)) for runs in (base, now))
    return Compared(one, other, ratio, noise)


def _apart(first: float, second: float) -> float:
    low, high = sorted((first, second))
    return high / low - 1 if low else 0.0


def compare(
    checks: Sequence[Check],
    sides: tuple[Side, Side],
    *,
    rounds: int,
    quick: bool,
    table: Table,
    history: History,
) -> tuple[list[str], list[str]]:
    """Measure all checks on both sides and add a line for every row to the table.

    Returns the rows that are slower, or cannot be measured any more, and those that one side alone has.
    """
    slower, single = [], []
    for each in checks:
        runs: tuple[list[list[Bar]], list[list[Bar]]] = ([], [])
        for number in range(rounds):
            for place in (0, 1) if number % 2 == 0 else (1, 0):
                runs[place].append(sides[place].measure(each, quick))
        for row in range(len(each.rows)):
            bars = [[run[row] for run in one if row < len(run)] for one in runs]
            numbers = [[bar.number for bar in one if bar.number is not None] for one in bars]
            shown, known = bars[1][-1], [bool(one) for one in numbers]
            name = f"{each.part}: {shown.what}"
            if not all(known):
                if any(known):
                    there, missing = (sides[0].name, bars[1]) if known[0] else ("here", bars[0])
                    single.append(f"{name} (only {there}; {missing[-1].measured})")
                    slower += [name] if known[0] else []
                table.add(
                    _line(shown, "no number to compare" if not any(known) else "only on one side", None)
                )
                continue
            found = compared(numbers[0], numbers[1], shown.better)
            text = f"base {found.base:.4g}, now {found.now:.4g}: {found.ratio:.3f}"
            table.add(_line(shown, text, not found.slower, f"≤ {1 + LIMIT:g} + noise {found.noise:.3f}"))
            best = next(bar for bar in bars[1] if bar.number == found.now)
            history.add(best, base=sides[0].name, ratio=round(found.ratio, 4), noise=round(found.noise, 4))
            slower += [name] if found.slower else []
    return slower, single


def _line(bar: Bar, measured: str, met: bool | None, limit: str = "–") -> Bar:
    return replace(bar, measured=measured, bar=limit, met=met, failed=False)


def main(
    checks: Sequence[Check],
    parts: Sequence[str],
    revision: str,
    *,
    rounds: int,
    quick: bool,
    only: str,
    history: History,
) -> int:
    """Compare the working tree with a revision; return the exit status."""
    table = Table()
    with both_sides(revision) as sides:
        print(f"base {revision}, now the working tree; the best of {rounds} run(s) a side, in turn\n")
        here = {(each.part, what) for each in checks for what, _ in each.rows}
        gone = [row for row in sides[0].rows(parts) if re.search(only, row[1]) and row not in here]
        table.head()
        slower, single = compare(checks, sides, rounds=rounds, quick=quick, table=table, history=history)
    single += [f"{part}: {what} (only {revision})" for part, what in gone]
    for title, names in (("only on one side", single), ("slower, or lost", slower)):
        if names:
            print("\n".join([f"\n{title}:", *(f"  {name}" for name in names)]))
    print(f"\n{len(table.bars)} rows; {len(slower)} slower by more than {LIMIT:.0%} beyond noise")
    return 1 if slower else 0
