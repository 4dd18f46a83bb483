"""The matching strategies and thinning beside other programs on the same input, in the same run.

python benchmarks/matching.py [--quick]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import edgecritic
from bars import Bar, best, boundaries, child, data_root, seconds, ucm
from edgecritic.kernels.links import Links
from edgecritic.matching.base import Pair
from edgecritic.matching.csa import assign_by_cost_scaling, cost_scaling_solver
from edgecritic.matching.exact import salt, solved
from edgecritic.matching.graph import Graph, build_graph
from growth import DENSITY, fitted_exponents
from surfaces import noisy_twins

PART = "matching"
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def real_pairs(data: Path, images: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Thinned maps of a real detector at several thresholds, with each annotator."""
    for path in sorted((data / "bsds500/ucm2/val").iterdir())[:images]:
        strength = ucm(path)
        for threshold in THRESHOLDS:
            candidate = edgecritic.thin(strength >= threshold)
            for truth in boundaries(data / "bsds500/groundTruth/val" / path.name):
                yield candidate, truth


def against_reference(data: Path, images: int) -> Iterator[Bar]:
    try:
        from pyEdgeEval._lib.correspond_pixels import correspond_pixels
    except ImportError:
        yield Bar(PART, "exact against the reference C++ matcher", "pyEdgeEval is missing", "≥ 30×", None)
        return
    ratios, fewer, pairs = [], 0, 0
    for candidate, truth in real_pairs(data, images):
        ours = best(lambda c=candidate, t=truth: edgecritic.match(c, t), 2)
        found = edgecritic.match(candidate, truth)
        matched: list[np.ndarray] = []
        theirs = seconds(
            lambda c=candidate, t=truth, m=matched: m.append(
                correspond_pixels(c.astype(float), t.astype(float), 0.0075)[0]
            )
        )
        ratios.append(theirs / ours)
        fewer += found.tp < np.count_nonzero(matched[0])
        pairs += 1
    median = statistics.median(ratios)
    yield Bar(
        PART,
        f"exact against the reference C++ matcher, {pairs} pairs",
        f"median {median:.0f}× (from {min(ratios):.0f}× to {max(ratios):.0f}×), fewer matches in {fewer}",
        "median ≥ 30×, never fewer matches",
        median >= 30 and fewer == 0,
    )


def against_solvers(data: Path, images: int) -> Iterator[Bar]:
    """SciPy's sparse and OR-Tools' assignment on the same graph, whose making is counted for nobody.

    Each solver has the dummies in the form that it needs: ours none, OR-Tools' a mirrored graph in which a
    perfect assignment exists, SciPy's one for every pixel of one side, of the two the one where it is faster.
    """
    ratios: dict[str, list[float]] = {"SciPy": [], "OR-Tools": []}
    for at, (candidate, truth) in enumerate(real_pairs(data, images)):
        if at % 3:
            continue
        tolerance = edgecritic.match(candidate, truth).tolerance
        graph = build_graph(Pair(candidate, truth, (1.0, 1.0), tolerance))
        if graph.candidates.size == 0:
            continue
        swapped = graph.truths.size < graph.candidates.size
        problem = (sorted_links(graph, swapped), truth.size, graph.candidates, graph.truths)
        costs = (graph.outlier_cost, salt(graph.truths))
        ours = best(lambda p=problem, c=costs, s=swapped: solved(*p, *c, swapped=s), 3)
        matrices = [sparse_costs(graph, side) for side in (False, True)]
        scipys = min(seconds(lambda m=matrix: min_weight_full_bipartite_matching(m)) for matrix in matrices)
        solver = cost_scaling_solver()
        ratios["SciPy"].append(scipys / ours)
        ratios["OR-Tools"].append(seconds(lambda g=graph, s=solver: assign_by_cost_scaling(g, s)) / ours)
    for key, name, bar in (
        ("SciPy", "SciPy min_weight_full_bipartite_matching", 25),
        ("OR-Tools", "OR-Tools", 10),
    ):
        median = statistics.median(ratios[key])
        yield Bar(
            PART, f"exact against {name}, same graph", f"median {median:.0f}×", f"≥ {bar}×", median >= bar
        )


def sides(graph: Graph, swapped: bool) -> tuple[int, np.ndarray, int, np.ndarray]:
    """Return number and link ends of the rows, then of the columns; the rows are the truths if `swapped`."""
    candidates, truths = (graph.candidates.size, graph.rows), (graph.truths.size, graph.columns)
    return (*truths, *candidates) if swapped else (*candidates, *truths)


def sorted_links(graph: Graph, swapped: bool) -> Links:
    """Return the graph in the form of our solver: the links of every row, cheapest first."""
    count, rows, _, columns = sides(graph, swapped)
    order = np.lexsort((graph.costs, rows))
    start = np.searchsorted(rows[order], np.arange(count + 1))
    return Links(start, columns[order].astype(np.int32), graph.costs[order].astype(np.int32))


def sparse_costs(graph: Graph, swapped: bool) -> csr_array:
    """Costs plus 1 (SciPy takes 0 for no link), with one dummy column per row."""
    n, row_ends, m, column_ends = sides(graph, swapped)
    rows = np.concatenate([row_ends, np.arange(n)])
    columns = np.concatenate([column_ends, m + np.arange(n)])
    costs = np.concatenate([graph.costs + 1, np.full(n, graph.outlier_cost + 1)])
    return coo_array((costs, (rows, columns)), shape=(n, n + m)).tocsr()


def volumes(data: Path) -> Iterator[Bar]:
    candidate, truth = noisy_twins(data / "mni152")
    for strategy, bar in (("exact(window=5)", 1.2), ("eps", 0.3)):
        edgecritic.match(candidate[:9], truth[:9], strategy=strategy)
        runs = [
            (
                seconds(lambda s=strategy: edgecritic.match(candidate, truth, strategy=s)),
                seconds(lambda: ndimage.distance_transform_edt(~truth)),
            )
            for _ in range(5)
        ]
        ours, transform = (statistics.median(column) for column in zip(*runs, strict=True))
        yield Bar(
            PART,
            f"{strategy} on two surfaces of {np.count_nonzero(truth):,} voxels",
            f"{ours:.2f} s, {ours / transform:.2f} of SciPy's distance transform",
            f"≤ {bar}",
            ours <= bar * transform,
        )


def growth(largest: int) -> Iterator[Bar]:
    for strategy, bar in (("eps", 1.05), ("exact(window=5)", 1.2)):
        for ndim in (2, 3):
            exponent, peak = fitted_exponents(strategy, ndim, largest)
            yield Bar(
                PART,
                f"growth of {strategy}, 10³ to {largest:.0e} pairs, {ndim}-D, density {DENSITY}",
                f"exponent {exponent:.2f}, peak {peak / 2**20:.0f} MiB",
                f"exponent ≤ {bar}, peak ≤ 1536 MiB",
                exponent <= bar and peak <= 1.5 * 2**30,
            )
    exponent, peak = fitted_exponents("exact(window=5)", 3, largest, density=0.05)
    yield Bar(
        PART,
        f"growth of exact(window=5), 10³ to {largest:.0e} pairs, 3-D, density 0.05, for information",
        f"exponent {exponent:.2f}, peak {peak / 2**20:.0f} MiB",
        "none",
        None,
    )


def thinning(data: Path, images: int) -> Iterator[Bar]:
    from skimage.morphology import thin

    ratios = []
    for path in sorted((data / "bsds500/ucm2/val").iterdir())[:images]:
        for threshold in (0.05, 0.2):
            mask = ucm(path) >= threshold
            ratios.append(best(lambda m=mask: thin(m), 2) / best(lambda m=mask: edgecritic.thin(m), 5))
    median = statistics.median(ratios)
    yield Bar(PART, "thin against skimage.morphology.thin", f"median {median:.0f}×", "≥ 8×", median >= 8)


def areas(data: Path) -> Iterator[Bar]:
    try:
        import edt
    except ImportError:
        yield Bar(PART, "area and distance against edt", "edt is missing", "≤ 3×", None)
        return
    candidate, truth = boundaries(data / "bsds_bench/groundTruth/2018.mat")[:2]
    transform = best(lambda: edt.edt(~truth), 15)
    for strategy in ("area", "distance"):
        ours = best(lambda s=strategy: edgecritic.match(candidate, truth, strategy=s), 15)
        yield Bar(
            PART,
            f"{strategy} on one 481×321 pair",
            f"{ours * 1e3:.2f} ms, {ours / transform:.2f} of one edt call",
            "≤ 3",
            ours <= 3 * transform,
        )


def compilation() -> Iterator[Bar]:
    """Start from an empty cache: one command, everything, and the second start."""
    small = (
        "import numpy as np; m = np.zeros((40, 50), bool); m[20, 5:45] = 1;"
        "np.save('{0}/a.npy', m); np.save('{0}/b.npy', np.roll(m, 1, 0))"
    )
    run = "import sys; from edgecritic.cli.main import main; sys.exit(main({}))"
    with tempfile.TemporaryDirectory() as folder:
        child(small.format(folder))
        command = run.format([*("match", f"{folder}/a.npy", f"{folder}/b.npy", "--json")])
        empty = f"{folder}/one"
        first, _, _ = child(command, NUMBA_CACHE_DIR=empty)
        second = min(child(command, NUMBA_CACHE_DIR=empty)[0] for _ in range(3))
        whole, _, _ = child(run.format(["warmup"]), NUMBA_CACHE_DIR=f"{folder}/all")
        sweep = (
            "import numpy as np, edgecritic; m = np.zeros((40, 50)); m[20] = .5;"
            "edgecritic.Benchmark().update(m, [m > 0])"
        )
        bench, _, _ = child(sweep, NUMBA_CACHE_DIR=f"{folder}/bench")
    one = max(first, bench)
    yield Bar(PART, "kernels of one command, empty cache", f"{one:.1f} s", "≤ 15 s", one <= 15)
    yield Bar(PART, "all kernels, empty cache", f"{whole:.1f} s", "≤ 40 s", whole <= 40)
    yield Bar(PART, "second start of edgecritic match", f"{second:.2f} s", "≤ 1.5 s", second <= 1.5)


def bars(data: Path, *, quick: bool = False) -> Iterator[Bar]:
    images = 3 if quick else 12
    yield from against_reference(data, images)
    yield from against_solvers(data, images)
    yield from volumes(data)
    yield from growth(10**5 if quick else 10**6)
    yield from thinning(data, images)
    yield from areas(data)
    yield from compilation()


if __name__ == "__main__":
    for bar in bars(data_root(), quick="--quick" in sys.argv):
        print(bar)
