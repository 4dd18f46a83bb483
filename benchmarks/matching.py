"""The matching strategies and thinning beside other programs on the same input, in the same run."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import edgecritic
from bars import Figure, Given, annotated_pair, beside, best, boundaries, check, child, seconds, ucm
from edgecritic.assignment.graph import Graph, build_graph
from edgecritic.assignment.solver import salt, solved
from edgecritic.kernels.links import Links
from edgecritic.matching.base import Pair
from edgecritic.matching.csa import assign_by_cost_scaling, cost_scaling_solver
from growth import DENSITY, fitted_exponents
from surfaces import beside_transform, noisy_twins

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


@check(
    PART,
    ("exact against the reference C++ matcher, ucm2/val maps", "median ≥ 30×, never fewer matches"),
    needs=("bsds500", "pyEdgeEval"),
)
def against_reference(given: Given) -> Iterator[Figure]:
    from pyEdgeEval._lib.correspond_pixels import correspond_pixels

    ratios, fewer = [], 0
    for candidate, truth in real_pairs(given.data, given.size(3, 12)):
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
    median = statistics.median(ratios)
    text = f"median {median:.0f}× (from {min(ratios):.0f}× to {max(ratios):.0f}×)"
    yield Figure(f"{text}, fewer matches in {fewer} of {len(ratios)} pairs", median >= 30 and fewer == 0)


@check(
    PART,
    ("exact against SciPy min_weight_full_bipartite_matching, same graph", "≥ 25×"),
    ("the same where SciPy may choose its side", "≥ 35×"),
    ("exact against OR-Tools, same graph", "≥ 10×"),
    needs=("bsds500", "ortools"),
)
def solvers(given: Given) -> Iterator[Figure]:
    median = against_solvers(given.data, given.size(3, 12))
    for name, bar in (("SciPy", 25), ("either", 35), ("OR-Tools", 10)):
        yield Figure(f"median {median[name]:.0f}×", median[name] >= bar)


def against_solvers(data: Path, images: int) -> dict[str, float]:
    """SciPy's sparse and OR-Tools' assignment on the same graph, whose making is counted for nobody.

    Staying alone costs a candidate something and a truth nothing. Each solver has that in the form that it
    needs: ours without dummies, SciPy's with one per candidate, OR-Tools' in a mirrored graph with a perfect
    assignment. As we look from the scarcer side, SciPy is also tried from both.
    Runs of ours and SciPy's alternate, so that a slow moment of the machine meets both; the best count.
    """
    ratios: dict[str, list[float]] = {"SciPy": [], "either": [], "OR-Tools": []}
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
        matrices = {side: sparse_costs(graph, side) for side in (False, True)}
        ours = float("inf")
        scipys = dict.fromkeys(matrices, float("inf"))
        for side in (False, True, False, True):
            ours = min(ours, best(lambda p=problem, c=costs, s=swapped: solved(*p, *c, swapped=s), 2))
            spent = seconds(lambda m=matrices[side]: min_weight_full_bipartite_matching(m))
            scipys[side] = min(scipys[side], spent)
        solver = cost_scaling_solver()
        ratios["SciPy"].append(scipys[False] / ours)
        ratios["either"].append(min(scipys.values()) / ours)
        ratios["OR-Tools"].append(seconds(lambda g=graph, s=solver: assign_by_cost_scaling(g, s)) / ours)
    return {key: statistics.median(values) for key, values in ratios.items()}


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


SURFACES = (("exact(window=5)", 0.6), ("eps", 0.3))


@check(
    PART,
    *(
        (f"{strategy} on two white-matter surfaces, 5×5×5 window", f"≤ {bar} of SciPy's distance transform")
        for strategy, bar in SURFACES
    ),
    needs=("mni152", "nibabel"),
)
def volumes(given: Given) -> Iterator[Figure]:
    candidate, truth = noisy_twins(given.data / "mni152")
    for strategy, bar in SURFACES:
        ours, transform = beside_transform(candidate, truth, strategy, 5)
        text = f"{ours:.2f} s, {ours / transform:.2f} of the transform, {np.count_nonzero(truth):,} voxels"
        yield Figure(text, ours <= bar * transform)


@check(
    PART,
    (
        "exact on two thick shells in a volume, as far apart as the tolerance, against SciPy",
        "≥ 10×, same cost",
    ),
)
def thick_shells(given: Given) -> Iterator[Figure]:
    """Long chains of voxels drive each other out; all have partners, so that SciPy's graph needs no dummies.

    Our time includes the links, SciPy's does not.
    """
    side, reach = given.size(40, 60), 3.0
    radius = side // 3
    places = np.indices((side, side, side)) - side / 2
    shells = []
    for shift in (0.0, reach):
        moved = places - np.reshape([shift, 0, 0], (3, 1, 1, 1))
        shells.append(np.abs(np.linalg.norm(moved, axis=0) - radius) < radius / 5)
    ours = best(lambda: edgecritic.match(*shells, tolerance=reach), 3)
    found = edgecritic.match(*shells, tolerance=reach)
    graph = build_graph(Pair(*shells, (1.0, 1.0, 1.0), reach))
    costs = coo_array((graph.costs + 1.0, (graph.rows, graph.columns))).tocsr()
    mates: list[tuple[np.ndarray, np.ndarray]] = []
    theirs = seconds(lambda: mates.append(min_weight_full_bipartite_matching(costs)))
    paid = costs[mates[0]].sum() - found.tp
    same = np.rint(100 * found.distances).sum() == paid and found.fp == found.fn == 0
    text = f"{theirs / ours:.0f}× ({ours:.2f} s and {theirs:.1f} s), {found.tp:,} voxels"
    yield Figure(f"{text}, {'same' if same else 'other'} cost", theirs >= 10 * ours and same)


GROWTH = (
    ("eps", 2, DENSITY, 1.05, 1536),
    ("eps", 3, DENSITY, 1.05, 1536),
    ("exact(window=5)", 2, DENSITY, 1.2, 1536),
    ("exact(window=5)", 3, DENSITY, 1.2, 500),
    ("exact(window=5)", 3, 0.05, 1.2, 500),
)
"""Strategy, dimensions, density of the maps, and the bars: exponent, and peak memory in MiB."""


@check(
    PART,
    *(
        (
            f"growth of {strategy} with the number of pairs, {ndim}-D, density {density}",
            f"exponent ≤ {bar}, peak ≤ {most} MiB",
        )
        for strategy, ndim, density, bar, most in GROWTH
    ),
)
def growth(given: Given) -> Iterator[Figure]:
    largest = given.size(10**5, 10**6)
    for strategy, ndim, density, bar, most in GROWTH:
        exponent, peak = fitted_exponents(strategy, ndim, largest, density=density)
        text = f"exponent {exponent:.2f}, peak {peak / 2**20:.0f} MiB; 10³ to {largest:,} pairs"
        yield Figure(text, exponent <= bar and peak <= most * 2**20)


@check(
    PART,
    ("exact(window=5) on surfaces of 5 million voxels each", "≤ 60 s, ≤ 6 GiB"),
    needs=("time",),
)
def millions(given: Given) -> Iterator[Figure]:
    del given
    found = json.loads(child(str(Path(__file__).with_name("surfaces.py")), "--millions", "5")[1])
    spent, peak = found["seconds"], found["peak"] / 2**30
    text = f"{spent:.1f} s, {peak:.1f} GiB; {found['candidate']:,} and {found['truth']:,} voxels"
    yield Figure(f"{text}, {found['hits']:,} pairs", spent <= 60 and peak <= 6)


@check(
    PART,
    ("thin against skimage.morphology.thin, ucm2/val maps", "≥ 8×"),
    needs=("bsds500", "skimage"),
)
def thinning(given: Given) -> Iterator[Figure]:
    from skimage.morphology import thin

    ratios = []
    for path in sorted((given.data / "bsds500/ucm2/val").iterdir())[: given.size(3, 12)]:
        for threshold in (0.05, 0.2):
            mask = ucm(path) >= threshold
            ours, theirs = beside(lambda m=mask: edgecritic.thin(m), lambda m=mask: thin(m), 3)
            ratios.append(theirs / ours)
    median = statistics.median(ratios)
    yield Figure(f"median {median:.0f}× (from {min(ratios):.0f}×)", median >= 8)


@check(
    PART,
    *((f"{strategy} on one 481×321 pair", "≤ 3 calls of edt") for strategy in ("area", "distance")),
    needs=("edt",),
)
def areas(given: Given) -> Iterator[Figure]:
    import edt

    candidate, truth = annotated_pair(given.data)
    for strategy in ("area", "distance"):
        ours, transform = beside(
            lambda s=strategy: edgecritic.match(candidate, truth, strategy=s), lambda: edt.edt(~truth), 15
        )
        yield Figure(f"{ours * 1e3:.2f} ms, {ours / transform:.2f} of one call", ours <= 3 * transform)
