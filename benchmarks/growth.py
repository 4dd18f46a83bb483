"""How time and memory of the matching strategies grow with the number of pairs.

The timing experiment of the EPS paper at constant density: N truth points, and for each a detection at a
random place in its window, so that a perfect pairing exists. Example::

    python benchmarks/growth.py eps closest "csa(window=5)" --ndim 3 --largest 1e5

Each number of pairs is measured in a process of its own, after a warm-up; time is the best of some
repeats, peak memory is that of the whole process (the second column is what it had before matching), which
keeps no result while it makes the next.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from bars import compile_all

DENSITY = 0.02
"""Share of edge pixels in real maps: both the truths of BSDS500 and the surface of mni152 have 0.020."""


def timing_pairs(
    n: int, ndim: int, window: int = 5, seed: int = 0, density: float = DENSITY
) -> tuple[np.ndarray, np.ndarray]:
    """Return (candidate, truth), `n` pixels each, every detection inside the window of its own truth pixel.

    The maps grow with `n` such that `density` is the share of truth pixels.

    Examples
    --------
    >>> candidate, truth = timing_pairs(1000, ndim=3)
    >>> int(candidate.sum()), int(truth.sum())
    (1000, 1000)
    """
    rng = np.random.default_rng(seed)
    radius = window // 2
    inner = math.ceil((n / density) ** (1 / ndim))
    shape = (inner + 2 * radius,) * ndim
    chosen = rng.choice(inner**ndim, size=n, replace=False)
    points = np.stack(np.unravel_index(chosen, (inner,) * ndim), axis=1) + radius
    truth, candidate = np.zeros((2, *shape), dtype=bool)
    truth[tuple(points.T)] = True
    while len(points):
        drawn = points + rng.integers(-radius, radius + 1, size=points.shape)
        flat = np.ravel_multi_index(tuple(drawn.T), shape)
        placed = np.zeros(len(flat), dtype=bool)
        placed[np.unique(flat, return_index=True)[1]] = True
        placed &= ~candidate.reshape(-1)[flat]
        candidate.reshape(-1)[flat[placed]] = True
        points = points[~placed]
    return candidate, truth


def measure(strategy: str, n: int, ndim: int, window: int, repeats: int, density: float) -> dict[str, float]:
    """Time one strategy in this process and return seconds, hits and peak memory in bytes."""
    from edgecritic import match

    compile_all()
    match(*timing_pairs(50, ndim, window, seed=1), strategy=strategy, **reach(strategy, ndim, window))
    candidate, truth = timing_pairs(n, ndim, window, density=density)
    before = peak_memory()
    seconds = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        hits = match(candidate, truth, strategy=strategy, **reach(strategy, ndim, window)).tp
        seconds = min(seconds, time.perf_counter() - start)
    return {"n": n, "seconds": seconds, "hits": hits, "before": before, "peak": peak_memory()}


def reach(strategy: str, ndim: int, window: int) -> dict[str, float]:
    """Strategies without a window get the ball around it as tolerance."""
    from edgecritic.ids import Id
    from edgecritic.matching import strategies

    bound = strategies.bind(strategy)
    windowed = bound.entry.info.reach == "window" or Id.parse(strategy).options.get("window") is not None
    return {} if windowed else {"tolerance": window // 2 * math.sqrt(ndim)}


def peak_memory() -> int:
    """Peak resident memory of this process in bytes.

    Where /proc tells it, that is better than getrusage, which begins with the peak of the parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Slope of log(seconds) over log(sizes)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure_apart(*job_arguments: object) -> dict[str, float]:
    """Run `measure` in a child process, so that peaks do not mix."""
    job = json.dumps(job_arguments)
    child = subprocess.run([sys.executable, __file__, "--job", job], check=True, stdout=subprocess.PIPE)
    result: dict[str, float] = json.loads(child.stdout)
    return result


def fitted_exponents(
    strategy: str, ndim: int, largest: int, density: float = DENSITY, repeats: int = 3
) -> tuple[float, float]:
    """Return the exponent fitted from 10³ to `largest` pairs and the peak memory at `largest` in bytes."""
    sizes = [round(n) for n in np.geomspace(1e3, largest, 2 * round(math.log10(largest / 1e3)) + 1)]
    rows = [measure_apart(strategy, n, ndim, 5, repeats, density) for n in sizes]
    return exponent(sizes, [row["seconds"] for row in rows]), rows[-1]["peak"]


def show_growth(
    strategy: str, ndim: int, window: int, sizes: list[int], repeats: int, density: float
) -> None:
    """Print one table."""
    print(f"\n{strategy}, {ndim}-D, window {window}, density {density}")
    print(f"{'pairs':>9} {'hits':>9} {'seconds':>10} {'µs/pair':>8} {'MiB before':>10} {'peak MiB':>9}")
    rows = []
    for n in sizes:
        row = measure_apart(strategy, n, ndim, window, repeats, density)
        rows.append(row)
        print(
            f"{n:9d} {row['hits']:9d} {row['seconds']:10.5f} {row['seconds'] / n * 1e6:8.3f}"
            f" {row['before'] / 2**20:10.0f} {row['peak'] / 2**20:9.0f}",
            flush=True,
        )
    if len(rows) > 1:
        half = len(rows) // 2
        n, seconds = [row["n"] for row in rows], [row["seconds"] for row in rows]
        print(f"exponent {exponent(n, seconds):.3f}", end="")
        print(f" (upper half {exponent(n[half:], seconds[half:]):.3f})" if len(rows) > 3 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=["eps", "closest"], help="strategy ids")
    parser.add_argument("--ndim", type=int, nargs="+", default=[2, 3], choices=[2, 3])
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--smallest", type=float, default=1e3)
    parser.add_argument("--largest", type=float, default=1e6)
    parser.add_argument("--per-decade", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--density", type=float, default=DENSITY, help="share of truth pixels")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(measure(*json.loads(options.job))))
        return
    decades = math.log10(options.largest / options.smallest)
    count = round(decades * options.per_decade) + 1
    sizes = [round(n) for n in np.geomspace(options.smallest, options.largest, count)]
    for ndim in options.ndim:
        for strategy in options.strategies:
            show_growth(strategy, ndim, options.window, sizes, options.repeats, options.density)


if __name__ == "__main__":
    main()
