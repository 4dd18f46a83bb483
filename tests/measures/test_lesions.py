"""Lesions: the values of small phantoms, a literal twin of the challenge's rule, and numbers of panoptica."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.errors import InputError
from edgecritic.measures import compare, measures
from edgecritic.measures.lesions import RULES, evaluate

FACES_AND_EDGES = ndimage.generate_binary_structure(3, 2)
ALL_26 = np.ones((3, 3, 3))


def cubes(*corners, side=5, shape=(40, 40, 40)):
    mask = np.zeros(shape, bool)
    for corner in corners:
        mask[tuple(slice(at, at + side) for at in corner)] = True
    return mask


NOTHING = cubes()
A = cubes((5, 5, 5))
FAR = (25, 25, 25)
BAR = NOTHING.copy()
BAR[5:10, 5:10, 5:35] = True
TWO = cubes((5, 5, 5), (5, 5, 30))
UNITS = {
    # candidate, truth, (TP, FP, FN), Dice and HD95 of BraTS GLI, (tp, fp, fn), PQ of panoptica 1.3.3
    "perfect": (A, A, (1, 0, 0), 1, 0, (1, 0, 0), 1),
    "a false one": (A | cubes(FAR, side=3), A, (1, 1, 0), 0.5, 187, (1, 1, 0), 2 / 3),
    "one of two missed": (A, A | cubes(FAR), (1, 0, 1), 0.5, 187, (1, 0, 1), 2 / 3),
    "two pieces, 4 apart": (A, cubes((5, 5, 5), (5, 5, 14)), (1, 0, 0), 2 / 3, 9, (1, 0, 1), 2 / 3),
    "a small one missed": (NOTHING, cubes(FAR, side=3), (0, 0, 0), 1, 0, (0, 0, 1), 0),
    "both empty": (NOTHING, NOTHING, (0, 0, 0), 1, 0, (0, 0, 0), math.nan),
    "truth empty": (A, NOTHING, (0, 1, 0), 0, 374, (0, 1, 0), 0),
    "candidate empty": (NOTHING, A, (0, 0, 1), 0, 374, (0, 0, 1), 0),
    "shifted by 2": (cubes((7, 5, 5)), A, (1, 0, 0), 0.6, 2, (0, 1, 1), 0),
    "a bar over two": (BAR, TWO, (2, 0, 0), None, None, (0, 1, 2), 0),
    "2 pixels beside": (cubes((12, 5, 5)), A, (1, 0, 0), 0, 7, (0, 1, 1), 0),
}


@pytest.mark.parametrize("name", UNITS)
def test_unit_values(name):
    candidate, truth, counts, dice, hd95, paired, quality = UNITS[name]
    found = evaluate(candidate, truth, rule="brats-gli")
    assert (found.tp, found.fp, found.fn) == counts
    if dice is not None:
        assert (found.dice, found.hd95) == pytest.approx((dice, hd95))
    other = evaluate(candidate, truth, rule="panoptica")
    assert (other.tp, other.fp, other.fn) == paired
    assert other.pq == pytest.approx(quality, nan_ok=True)


def test_what_is_as_small_as_the_rule_says_is_left_out():
    """The challenge leaves out lesions of up to 50 mm³."""
    slab = NOTHING.copy()
    slab[5:7, 5:10, 5:10] = True
    larger = slab.copy()
    larger[7, 5, 5] = True
    assert [evaluate(NOTHING, one, rule="brats-gli").fn for one in (slab, larger)] == [0, 1]
    assert [evaluate(NOTHING, one, rule="brats-gli").lesions[0].kind for one in (slab, larger)] == [
        "left out",
        "miss",
    ]


def test_one_component_may_serve_several_lesions():
    """A bar of 25 over two cubes of 5, 15 apart: each has Dice 2·5 / (5 + 25) and HD95 20."""
    bar = NOTHING.copy()
    bar[5:10, 5:10, 5:30] = True
    found = evaluate(bar, cubes((5, 5, 5), (5, 5, 25)), rule="brats-gli")
    assert (found.tp, found.fp, found.fn) == (2, 0, 0)
    assert (found.dice, found.hd95) == pytest.approx((1 / 3, 20))


def phantom(seed, lesions, shape=(112, 128, 128)):
    """Boxes of all sizes in a truth and, moved, grown, missed and invented, in a candidate."""
    rng = np.random.default_rng(seed)
    truth, candidate = np.zeros((2, *shape), bool)
    for number in range(lesions):
        sides = rng.integers(2, 9, 3)
        corner = [rng.integers(0, n - side) for n, side in zip(shape, sides, strict=True)]
        box = tuple(slice(at, at + side) for at, side in zip(corner, sides, strict=True))
        if number % 10 != 0:
            truth[box] = True
        if number % 7 != 0:
            moved = [max(0, at + step) for at, step in zip(corner, rng.integers(-1, 1, 3), strict=True)]
            wider = sides + rng.integers(0, 2, 3)
            candidate[tuple(slice(at, at + side) for at, side in zip(moved, wider, strict=True))] = True
    return candidate, truth


def brats_twin(candidate, truth, steps, smallest, spacing):
    """The rule of the challenge, word by word, without any box."""
    parts, n_parts = ndimage.label(candidate, ALL_26)
    pieces, _ = ndimage.label(truth, ALL_26)
    wide = ndimage.binary_dilation(truth, FACES_AND_EDGES, iterations=steps)
    groups, n_groups = ndimage.label(wide, ALL_26)
    touched, dices, distances, counts = set(), [], [], [0, 0, 0]
    for group in range(1, n_groups + 1):
        lesion = (pieces > 0) & (groups == group)
        near = ndimage.binary_dilation(lesion, FACES_AND_EDGES, iterations=steps)
        partners = set(np.unique(parts[near])) - {0}
        touched |= partners
        if lesion.sum() * math.prod(spacing) <= smallest:
            continue
        if not partners:
            dices.append(0.0)
            distances.append(374.0)
            counts[2] += 1
            continue
        partner = np.isin(parts, list(partners))
        dices.append(2 * (partner & lesion).sum() / (partner.sum() + lesion.sum()))
        distances.append(measures.get("hd95").function(partner, lesion, compat="deepmind", spacing=spacing))
        counts[0] += 1
    counts[1] = n_parts - len(touched)
    total = len(dices) + counts[1]
    return counts, sum(dices) / total, (sum(distances) + 374 * counts[1]) / total


@pytest.mark.parametrize(
    ("rule", "steps", "smallest", "lesions", "shape"),
    [
        ("gli", 3, 50, 260, (112, 128, 128)),  # some touch: about 200 are left
        ("men", 1, 50, 60, (64, 96, 96)),
        ("met", 1, 2, 60, (64, 96, 96)),
    ],
)
def test_many_lesions_by_the_rule_of_the_challenge(rule, steps, smallest, lesions, shape):
    spacing = (2.0, 1.0, 1.0)
    candidate, truth = phantom(1, lesions, shape)
    counts, dice, distance = brats_twin(candidate, truth, steps, smallest, spacing)
    found = evaluate(candidate, truth, rule=f"brats-{rule}", spacing=spacing)
    assert [found.tp, found.fp, found.fn] == counts
    assert min(counts) > 0
    assert (found.dice, found.hd95) == pytest.approx((dice, distance))


PANOPTICA = (
    *(109, 88, 99, 0.6459658229702179, 0.5382716049382716, 0.3477050602654506),
    *(0.7783538405932351, 1.227055778310752),
)
"""tp, fp, fn, sq, rq, pq, sq_dsc and sq_hd95 that panoptica 1.3.3 prints of `phantom(5, 260)`.

It has 208 lesions, and 197 components in the candidate. They were given as instances with numbers above 1000:
with smaller ones it keeps labels in 8 bits, and those that it gives to components without a partner run over
(tp 129, sq .52)."""


def test_many_lesions_have_the_numbers_of_panoptica():
    found = evaluate(*phantom(5, 260), rule="panoptica")
    assert (found.tp, found.fp, found.fn) == PANOPTICA[:3]
    assert (found.sq, found.rq, found.pq, found.dice, found.hd95) == pytest.approx(PANOPTICA[3:], rel=1e-12)


def test_many_lesions_beside_panoptica():
    peer = pytest.importorskip("panoptica", exc_type=ImportError)
    candidate, truth = phantom(6, 120, (64, 80, 80))
    instances = [
        np.where(mask, ndimage.label(mask, ALL_26)[0] + 1000, 0).astype(np.uint32)
        for mask in (candidate, truth)
    ]
    evaluator = peer.Panoptica_Evaluator(
        expected_input=peer.InputType.UNMATCHED_INSTANCE,
        instance_matcher=peer.NaiveThresholdMatching(),
        instance_metrics=[peer.Metric.IOU, peer.Metric.DSC, peer.Metric.HD95],
    )
    theirs = evaluator.evaluate(*instances, verbose=False)["ungrouped"]
    found = evaluate(candidate, truth, rule="panoptica")
    assert (found.tp, found.fp, found.fn) == (theirs.tp, theirs.fp, theirs.fn)
    expected = (theirs.sq, theirs.rq, theirs.pq, theirs.sq_dsc, theirs.sq_hd95)
    assert (found.sq, found.rq, found.pq, found.dice, found.hd95) == pytest.approx(expected)


def test_components_of_planes_touch_by_sides_for_panoptica_only():
    diagonal = np.eye(4, dtype=bool)
    assert evaluate(diagonal, diagonal, rule="panoptica").tp == 4
    assert evaluate(diagonal, diagonal, rule="overlap").tp == 1


def test_strata_of_volume():
    truth = cubes((2, 2, 2)) | cubes(FAR, side=2)
    candidate = cubes((2, 2, 2)) | cubes((30, 2, 2), side=3)
    found = evaluate(candidate, truth, rule="overlap", spacing=(2, 1, 1))
    strata = found.by_volume([20, 100])
    counts = {name: (part.tp, part.fp, part.fn) for name, part in strata.items()}
    assert counts == {"< 20": (0, 0, 1), "20 … 100": (0, 1, 0), "≥ 100": (1, 0, 0)}
    assert [one.volume for one in found.lesions] == [250, 16, 54]
    assert found.lesions[2].centre == (31, 3, 3)
    assert [one.parts for one in found.lesions] == [1, 0, 1]  # of the candidate: that it hits, or is
    assert "1 found, 1 missed, 1 false alarms" in str(found)
    with pytest.raises(InputError, match="rising order"):
        found.by_volume([2, 1])


def test_where_there_is_nothing_everything_is_right_or_nothing_is_known():
    best = {"rq": 1, "f1": 1, "sq": 1, "pq": 1, "dice": 1, "nsd": 1, "hd95": 0}
    for rule in RULES:
        found = evaluate(NOTHING, NOTHING, rule=rule)
        expected = dict.fromkeys(best, math.nan) if rule == "panoptica" else best
        assert {name: getattr(found, name) for name in best} == pytest.approx(expected, nan_ok=True), rule
        assert str(found).startswith(f"{rule}: 0 found, 0 missed, 0 false alarms")
        missed = evaluate(NOTHING, A, rule=rule)
        assert (missed.rq, missed.sq, missed.pq, missed.dice, missed.nsd) == (0, 0, 0, 0, 0)


def test_the_table_has_the_largest_lesion_first():
    truth = cubes(FAR, side=2) | cubes((2, 2, 2))
    found = evaluate(cubes((2, 2, 2)) | cubes((30, 2, 2), side=3), truth, rule="overlap")
    lines = str(found).splitlines()[1:]
    assert [line.split()[0] for line in lines if line[:1].isalpha()] == ["kind", "hit", "false", "miss"]
    assert found.rows()[0]["centre"] == " ".join(f"{at:.1f}" for at in found.lesions[0].centre)
    document = found.as_dict()
    assert (document["tp"], document["fp"], document["fn"]) == (1, 1, 1)
    assert document["f1"] == document["rq"] == 0.5
    assert document["pq"] == document["sq"] / 2 == 0.5
    assert len(document["lesions"]) == 3


def test_measures_are_the_numbers_of_the_evaluation():
    pair = compare(*phantom(2, 40, (40, 48, 48)), spacing=(1, 1, 2))
    for rule in RULES:
        found = evaluate(pair, rule=rule, tolerance=2)
        values = (found.f1, found.dice, found.hd95, found.pq, found.nsd)
        ids = [f"{name}(rule={rule})" for name in ("lesion_f1", "lesion_dice", "lesion_hd95", "pq")]
        ids.append(f"lesion_nsd(rule={rule}, tolerance=2)")
        assert [measures.bind(text)(pair) for text in ids] == pytest.approx(list(values)), rule
    with pytest.raises(InputError, match="rule"):
        evaluate(pair, rule="brats")


def test_without_pairs_the_distance_is_the_diagonal():
    first, second = cubes((0, 0, 0)), cubes((30, 30, 30))
    assert evaluate(first, second, rule="panoptica").hd95 == math.inf
    assert measures.bind("lesion_hd95(rule=panoptica)")(compare(first, second)) == pytest.approx(
        compare(first, second).empty_distance
    )
