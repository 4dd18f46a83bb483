"""What measures declare of themselves: the ends of their ranges are reached, and symmetry is what it says."""

from __future__ import annotations

import doctest
import itertools
import math
import warnings

import numpy as np
import pytest

from edgecritic.measures import FAR, Empty, compare, describe, measures, score
from edgecritic.measures.base import plain_number
from edgecritic.measures.regions import covering, pri, voi
from edgecritic.measures.scoring import default_measures

LENGTH = 4000


def line(*places):
    """A row of pixels, set at some places."""
    mask = np.zeros((1, LENGTH), dtype=bool)
    mask[0, list(places)] = True
    return mask


HALF = line(*range(LENGTH // 2))
EXTREMES = [
    (line(0), line(0)),
    (line(0), line(LENGTH - 1)),
    (HALF, ~HALF),
    (HALF, line(*range(0, LENGTH, 2))),
    (~line(0), line(0)),
]
BOUNDED = [
    entry.name
    for entry in measures
    if entry.info.needs not in ("candidate", "segmentation") and math.isfinite(sum(entry.info.range))
]


@pytest.mark.parametrize("name", BOUNDED)
def test_both_ends_of_the_range_are_reached(name):
    bound = measures.bind(name)
    values = [bound(compare(*pair)) for pair in EXTREMES]
    if name == "dp":
        # Only a candidate that is everywhere far from the truth comes near the worst.
        values.append(measures.bind("dp(kappa=1)")(compare(*EXTREMES[-1])))
    low, high = bound.entry.info.range
    assert min(values) == pytest.approx(low, abs=2e-3)
    assert max(values) == pytest.approx(high, abs=2e-3)


@pytest.mark.parametrize("entry", [e for e in measures if not math.isfinite(sum(e.info.range))])
def test_ranges_without_end(entry):
    assert entry.info.range == (0, math.inf)


def test_ranges_of_measures_of_regions_and_of_single_maps():
    one, each = np.zeros((4, 4), dtype=int), np.arange(16).reshape(4, 4)
    for function in (pri, covering):
        # Against single pixels one region covers 1/16 and has no pair right.
        assert measures.get(function.__name__).info.range == (0, 1)
        assert function(each, each) == 1
    assert pri(one, each) == 0
    assert covering(one, each) == pytest.approx(1 / 16)
    assert voi(each, each) == 0
    for entry in measures:
        if entry.info.needs == "candidate":
            assert (entry.info.range, entry.info.symmetric, entry.info.sees) == ((0, 1), False, "neither")
            assert entry.info.empty == Empty(both=0.0, candidate=0.0, truth=0.0)


@pytest.mark.parametrize("name", [name for name in measures.names() if name.endswith("_star")])
def test_complements_explain_themselves(name):
    own, plain = measures.get(name), measures.get(name.removesuffix("_star"))
    assert (own.info.better, plain.info.better) == ("lower", "higher")
    assert own.parameters == plain.parameters
    assert own.info.symbol == f"{plain.info.symbol}*"
    examples = doctest.DocTestFinder().find(own.function, name, globs={})
    assert doctest.DocTestRunner().run(examples[0]) == (0, 2)


@pytest.mark.parametrize("name", ["pri", "voi", "covering"])
def test_symmetry_of_measures_of_regions(name):
    maps = np.random.default_rng(4).integers(0, 4, (6, 5, 6))
    bound = measures.bind(name)
    same = [math.isclose(bound(a, b), bound(b, a)) for a, b in itertools.combinations(maps, 2)]
    assert all(same) == bound.entry.info.symmetric


def test_metadata_for_readers():
    shown = {name: describe(measures.get(name)) for name in ("jaccard", "hausdorff", "gamma", "dp", "pri")}
    assert shown["jaccard"]["empty"] == {"both": 1, "candidate": 0, "truth": 0}
    assert shown["hausdorff"]["empty"]["truth"] == FAR.text
    assert shown["gamma"]["empty"] == {"both": 0, "candidate": 0, "truth": "inf"}
    assert shown["hausdorff"]["range"] == [0, "inf"]
    assert "share of the image" in shown["dp"]["empty"]["truth"]
    assert shown["pri"]["empty"] is None
    assert {measures.get(name).info.arrow for name in ("dice", "pri")} == {"↑"}
    assert {measures.get(name).info.arrow for name in ("gamma", "hausdorff")} == {"↓"}
    assert [plain_number(x) for x in (0.5, math.inf, -math.inf, math.nan)] == [0.5, "inf", "-inf", None]


def test_what_is_left_out_unless_named():
    # A matching and skeletons take long, hd is a case of hd95, sensitivity of recall, asd a half of masd, a
    # star is the complement of another measure; volumes and the background say little of edges; the others do
    # not compare two binary maps.
    left_out = {entry.name for entry in measures} - set(default_measures())
    on_demand = {
        "pcm",
        "mean_displacement",
        "cldice",
        "hd",
        "f_star",
        "performance_star",
        "phi_star",
        "chi2_star",
        "fom_star",
    }
    on_demand |= {"asd", "sensitivity", "specificity"}
    on_demand |= {"volume_difference", "relative_volume_difference", "volume_similarity"}
    on_demand |= {"lesion_f1", "lesion_dice", "lesion_hd95", "lesion_nsd", "pq"}
    of_others = {"pri", "voi", "covering", "equilibrium", "entropy", "complexity", "kitchen_rosenfeld"}
    assert left_out == on_demand | of_others
    assert {entry.name for entry in measures if not entry.info.default} == on_demand


@pytest.mark.parametrize(
    ("values", "names"),
    [
        # both maps empty, only the candidate, only the truth
        ((0, 1, 1), "performance_star phi_star chi2_star f_star fom_star fom_revisited sfom mfom"),
        ((1, 0, 0), "performance phi chi2 f fom precision recall jaccard dice kappa mcc cosine"),
        ((1, 0, 0), "nsd boundary_iou cldice sensitivity volume_similarity"),
        # the map that is not empty has 3 of 96 pixels of 0.5 × 1
        ((1, 1, 93 / 96), "specificity"),
        ((0, 1.5, 1.5), "volume_difference"),
        ((0, 1, math.inf), "relative_volume_difference"),
        ((100, 0, 0), "pcm"),
        # where nothing is matched: the tolerance, the largest distance of a pair
        ((0, 3, 3), "mean_displacement"),
        ((0, 0, 1), "fom_e"),
        ((0, math.sqrt(3) / 2, math.sqrt(3) / 2), "d4"),
        ((0, 0.5, 3 / 96 / 2), "dp"),
        # far is the diagonal, 10 for this spacing; the map that is not empty has 3 of 96 pixels
        ((0, 10, 10), "hausdorff f2d6 sk hd hd95 asd assd masd"),
        ((0, 0, 10), "dk theta"),
        ((0, 10, 0), "omega"),
        ((0, 0, 100 / 96 * math.sqrt(300)), "yasnoff"),
        ((0, 0, math.inf), "gamma"),
        ((0, 3 / 9 * math.sqrt(300), math.inf), "psi"),
    ],
)
def test_table_of_empty_maps(values, names):
    nothing, some = np.zeros((2, 12, 8), dtype=bool)
    some[3, 2:5] = True
    for name in names.split():
        for pair, value in zip([(nothing, nothing), (nothing, some), (some, nothing)], values, strict=True):
            with warnings.catch_warnings(action="ignore"):
                found = score(*pair, name, spacing=(0.5, 1))
            assert found[name] == pytest.approx(value), name
