"""Every formula with its options, written out again over plain lists of distances."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from edgecritic.errors import InputError, MissingExtraError, UndefinedMeasureWarning
from edgecritic.maps.target import bounding_box
from edgecritic.measures import compare, curves, measures, score, score_alone
from edgecritic.measures.checks import check_between, check_positive, check_share

pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(21)


def pair(density, shape=(9, 11), spacing=(1.0, 1.0)):
    candidate, truth = RNG.random((2, *shape)) < density
    candidate.flat[[3, 40]] = truth.flat[[3, 77]] = True
    return candidate, truth, spacing


def apart():
    candidate, truth = np.zeros((2, 9, 11), dtype=bool)
    candidate[0, 2:5] = truth[6, 1:7] = True
    return candidate, truth, (1.0, 1.0)


PAIRS = [pair(0.08), pair(0.3, spacing=(0.5, 2.0)), pair(0.15, (4, 6, 5), (1.5, 1.0, 0.7)), apart()]


class Facts:
    """Counts and distances of a pair, all from the list of all pairs of pixels."""

    def __init__(self, candidate, truth, spacing):
        points = [np.argwhere(mask) * spacing for mask in (candidate, truth)]
        self.g, self.d = cdist(*points).min(axis=1), cdist(*points).min(axis=0)
        self.tp = int((candidate & truth).sum())
        self.fp, self.fn = int((candidate & ~truth).sum()), int((truth & ~candidate).sum())
        self.tn = int((~candidate & ~truth).sum())
        self.size, self.nc, self.nt = truth.size, len(self.g), len(self.d)
        grid = np.argwhere(np.ones_like(truth)) * spacing
        self.to_candidate, self.to_truth = (cdist(grid, each).min(axis=1) for each in points)
        hits = np.argwhere(candidate & truth) * spacing
        self.to_hits = cdist(points[1], hits).min(axis=1) if len(hits) else np.full(self.nt, math.inf)


def merit(distances, kappa=1 / 9):
    return (1 / (1 + kappa * distances**2)).sum()


def mean_power(values, k):
    return float((values**k).mean() ** (1 / k))


FORMULAS = {
    "performance_star": lambda x: 1 - x.tp / (x.tp + x.fp + x.fn),
    "phi": lambda x: x.tp / x.nt * x.tn / (x.tn + x.fp),
    "precision": lambda x: x.tp / x.nc,
    "recall": lambda x: x.tp / x.nt,
    "f": lambda x: 2 * x.tp / (x.nc + x.nt),
    "f(alpha=0.2)": lambda x: 1 / (0.2 * x.nc / x.tp + 0.8 * x.nt / x.tp) if x.tp else 0,
    "f(alpha=1)": lambda x: x.tp / x.nc,
    "f(alpha=0)": lambda x: x.tp / x.nt,
    "f_star(alpha=0)": lambda x: 1 - x.tp / x.nt,
    "jaccard": lambda x: x.tp / (x.tp + x.fp + x.fn),
    "dice": lambda x: 2 * x.tp / (2 * x.tp + x.fp + x.fn),
    "fom_star(kappa=0.5)": lambda x: 1 - merit(x.g, 0.5) / max(x.nc, x.nt),
    "fom(kappa=1)": lambda x: merit(x.g, 1) / max(x.nc, x.nt),
    "fom(kappa=0.5)": lambda x: merit(x.g, 0.5) / max(x.nc, x.nt),
    "fom_e(kappa=0.3)": lambda x: 1 - merit(x.g[x.g > 0], 0.3) / x.fp,
    "fom_revisited(beta=0)": lambda x: 1 - merit(x.d) / x.nt,
    "fom_revisited(kappa=0.2, beta=2.5)": lambda x: 1 - merit(x.d, 0.2) / (x.nt + 2.5 * x.fp),
    "d4(kappa=0.5)": lambda x: (
        math.dist(np.array([x.tp, x.fn, x.fp, merit(x.g, 0.5)]) / max(x.nc, x.nt), (1, 0, 0, 1)) / 2
    ),
    "sfom(kappa=0.5)": lambda x: 1 - (merit(x.g, 0.5) + merit(x.d, 0.5)) / 2 / max(x.nc, x.nt),
    "mfom(kappa=0.5)": lambda x: 1 - min(merit(x.g, 0.5), merit(x.d, 0.5)) / max(x.nc, x.nt),
    "dp(kappa=0.5)": lambda x: (
        (x.nc - merit(x.g, 0.5)) / (x.size - x.nt) / 2 + (x.nt - merit(x.to_hits, 0.5)) / x.nt / 2
    ),
    "dp(target=detected)": lambda x: (
        (x.nc - merit(x.g)) / (x.size - x.nt) / 2 + (x.nt - merit(x.d)) / x.nt / 2
    ),
    "dp(no_tp=ignore)": lambda x: (
        (x.nc - merit(x.g)) / (x.size - x.nt) / 2 + ((x.nt - merit(x.to_hits)) / x.nt / 2 if x.tp else 0)
    ),
    "yasnoff": lambda x: 100 / x.size * np.linalg.norm(x.g),
    "hausdorff": lambda x: max(x.g.max(), x.d.max()),
    "hausdorff(percent=100)": lambda x: max(x.g.min(), x.d.min()),
    "dk(k=3)": lambda x: (x.g**3).sum() ** (1 / 3) / x.nc,
    "dk(k=3, power_mean=True)": lambda x: mean_power(x.g, 3),
    "f2d6": lambda x: max(x.g.mean(), x.d.mean()),
    "theta(k=3, delta=2)": lambda x: ((x.g / 2) ** 3).sum() / x.fp,
    "omega(k=3, delta=2)": lambda x: ((x.d / 2) ** 3).sum() / x.fn,
    "baddeley(k=1)": lambda x: np.abs(x.to_truth - x.to_candidate).mean(),
    "baddeley(k=3, c=1.5)": lambda x: mean_power(
        np.abs(np.minimum(x.to_truth, 1.5) - np.minimum(x.to_candidate, 1.5)), 3
    ),
    "baddeley(w=log)": lambda x: mean_power(np.abs(np.log1p(x.to_truth) - np.log1p(x.to_candidate)), 2),
    "sk(k=3)": lambda x: (((x.g**3).sum() + (x.d**3).sum()) / (x.nc + x.nt - x.tp)) ** (1 / 3),
    "sk(k=2.5, denominator=sum)": lambda x: mean_power(np.concatenate([x.g, x.d]), 2.5),
    "gamma": lambda x: (x.fp + x.fn) / x.nt**2 * np.linalg.norm(x.g),
    "psi": lambda x: (x.fp + x.fn) / x.nt**2 * math.hypot(*x.g, *x.d),
}


@pytest.mark.parametrize("number", range(len(PAIRS)))
@pytest.mark.parametrize("text", FORMULAS)
def test_formula(text, number):
    candidate, truth, spacing = PAIRS[number]
    expected = FORMULAS[text](Facts(candidate, truth, spacing))
    assert score(candidate, truth, text, spacing=spacing)[text] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("percent", [3, 20, 50, 97])
@pytest.mark.parametrize("candidate, truth, spacing", PAIRS)
def test_mean_of_the_tail(candidate, truth, spacing, percent):
    facts = Facts(candidate, truth, spacing)
    tails = []
    for values in (np.sort(facts.g), np.sort(facts.d)):
        kept = math.ceil((100 - percent) * values.size / 100)
        tails.append(values[kept:].mean() if kept < values.size else values[-1])
    bound = measures.bind(f"hausdorff(percent={percent}, mode=tail_mean)")
    assert bound(compare(candidate, truth, spacing=spacing)) == pytest.approx(max(tails))


def test_merit_without_false_alarms():
    truth = np.eye(4, dtype=bool)
    fewer = truth.copy()
    fewer[0, 0] = False
    assert score(fewer, truth, "fom_e")["fom_e"] == 0
    assert measures.bind("fom_e(literal=True)")(compare(fewer, truth)) == 1
    assert measures.bind("d4(literal=True)")(compare(truth, truth)) == 0


FULL, PART = np.ones((2, 3), dtype=bool), np.array([[1, 1, 0], [0, 0, 0]], dtype=bool)


@pytest.mark.parametrize(
    ("name", "full_part", "part_full", "full_full"),
    [
        # TPR is 1, the specificity of a full candidate 0; against a full truth there are no negatives.
        ("phi", 0, 2 / 6, 1),
        ("chi2", 0, 0, 1),
        ("mcc", 0, 0, 1),
        ("kappa", 0, 0, 1),
        ("f", 2 * 2 / 8, 2 * 2 / 8, 1),
        # A full truth leaves no place for false alarms: the first half of D_p is 0.
        ("dp", (3 * 0.1 + 1 * (1 - 1 / (1 + 2 / 9))) / 4 / 2, (3 * 0.1 + (1 - 1 / (1 + 2 / 9))) / 6 / 2, 0),
        ("performance", 2 / 6, 2 / 6, 1),
    ],
)
def test_maps_that_fill_the_image(name, full_part, part_full, full_full):
    pairs = {(1, 0): full_part, (0, 1): part_full, (1, 1): full_full}
    for (first, second), value in pairs.items():
        masks = FULL if first else PART, FULL if second else PART
        assert score(*masks, name)[name] == pytest.approx(value, abs=1e-12)


def test_opposite_maps():
    assert score(PART, ~PART, "mcc")["mcc"] == pytest.approx(-1)
    assert score(PART, ~PART, "f(alpha=0.3)")["f(alpha=0.3)"] == 0
    assert score(PART, ~PART, "cldice")["cldice"] == 0


def test_rounding_does_not_leave_the_range():
    for size in (7, 12):
        for count in range(1, size):
            mask = np.arange(size)[None] < count
            assert -1 <= score(mask, ~mask, "mcc")["mcc"] <= score(mask, mask, "mcc")["mcc"] <= 1


def test_complements_that_no_tolerance_joins_have_no_true_negatives():
    mask = np.arange(12).reshape(3, 4) < 6
    text = "kappa(strategy=exact(tolerance=0.5))"
    assert score(mask, ~mask, text)[text] == pytest.approx(-1)


def three_pairs():
    """Pixels with one partner each, at the distances 0, 1 and √5."""
    candidate, truth = np.zeros((2, 3, 12), dtype=bool)
    candidate[1, [1, 5, 9]] = True
    truth[1, [1, 6]] = truth[0, 11] = True
    return candidate, truth


def test_merit_of_pairs_by_hand():
    text = "fom(kappa=0.5, strategy=exact(tolerance=3))"
    expected = (1 + 1 / 1.5 + 1 / 3.5) / 3
    assert measures.bind(text)(compare(*three_pairs())) == pytest.approx(expected)


def test_pixel_correspondence_by_hand():
    candidate, truth = three_pairs()
    # Pairs at 0, 1 and √5; of 6 pixels one is in both maps.
    cost = (0 + 1 + math.sqrt(5)) / 3
    found = score(candidate, truth, "pcm")["pcm"]
    assert found == pytest.approx(100 * (1 - cost / 5))
    # Within 1.5 the last two stay alone.
    near = score(candidate, truth, "pcm(tolerance=1.5)")["pcm(tolerance=1.5)"]
    assert near == pytest.approx(100 * (1 - (1 / 1.5 + 2) / 5))
    # Nothing is within reach.
    assert list(score(candidate, np.roll(candidate, 1, axis=0), "pcm", tolerance=0.5).values()) == [0]


def test_mean_displacement_by_hand():
    candidate, truth = three_pairs()
    assert list(score(candidate, truth, "mean_displacement").values()) == pytest.approx(
        [(1 + math.sqrt(5)) / 3]
    )
    # Within 1.5 two pairs are left; beyond reach of all, the tolerance stands for the mean.
    assert list(score(candidate, truth, "mean_displacement", tolerance=1.5).values()) == [0.5]
    far = np.roll(candidate, 1, axis=0)
    assert list(score(candidate, far, "mean_displacement", tolerance=0.5).values()) == [0.5]
    names = ["mean_displacement", "mean_displacement(tolerance=2)"]
    with pytest.warns(UndefinedMeasureWarning):
        assert list(score(np.zeros_like(candidate), truth, names).values()) == [3, 2]


@pytest.mark.parametrize("name", ["pcm", "fom", "mean_displacement"])
@pytest.mark.parametrize("strategy", ["distance", "area", "validation"])
def test_strategies_without_pairs_have_no_distances(name, strategy):
    text = f"{name}(strategy={strategy})"
    if text == "mean_displacement(strategy=validation)":
        return  # one to many is enough for a mean
    with pytest.raises(InputError, match=r"one-to-one|have pairs"):
        score(*PAIRS[0][:2], text)


@pytest.mark.parametrize("name", ["dice", "jaccard", "kappa", "mcc", "precision", "recall", "f"])
def test_counts_of_a_strategy(name):
    candidate, truth, _ = PAIRS[0]
    found = compare(candidate, truth).matching("exact(tolerance=2)")
    tp, fp, fn = found.tp, found.fp, found.fn
    tn = truth.size - tp - fp - fn
    pe = ((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / truth.size**2
    table = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [tp, fp, fn, tn], axis=0)
    expected = {
        "dice": 2 * tp / (2 * tp + fp + fn),
        "jaccard": tp / (tp + fp + fn),
        "kappa": ((tp + tn) / truth.size - pe) / (1 - pe),
        "mcc": np.corrcoef(table.T)[0, 1],
        "precision": tp / (tp + fp),
        "recall": tp / (tp + fn),
        "f": 2 * tp / (2 * tp + fp + fn),
    }
    assert tp > 2
    text = f"{name}(strategy=exact(tolerance=2))"
    assert measures.bind(text)(compare(candidate, truth)) == pytest.approx(expected[name])


@pytest.mark.parametrize(
    ("check", "allowed", "refused"),
    [
        (check_positive, [1e-9, 2, math.inf], [0, -1, math.nan, True, "1", None]),
        (check_share, [1e-9, 0.5, 1], [0, 1.0001, -0.5, math.nan, True, "1"]),
        (lambda name, value: check_between(name, value, 0, 7), [0, 3.5, 7], [-0.1, 7.1, math.nan, False]),
    ],
)
def test_limits_of_parameters(check, allowed, refused):
    for value in allowed:
        check("kappa", value)
    for value in refused:
        with pytest.raises(InputError, match="kappa must be a number"):
            check("kappa", value)


def test_box_of_an_empty_map_is_the_image():
    mask = np.zeros((4, 6, 5), dtype=bool)
    assert mask[bounding_box(mask)].shape == mask.shape
    mask[1, 2, 3] = mask[2, 2, 4] = True
    assert bounding_box(mask) == (slice(1, 3), slice(2, 3), slice(3, 5))


def test_curves_of_a_sweep():
    candidate, truth, _ = PAIRS[0]
    with pytest.warns(UndefinedMeasureWarning, match="the candidate has no edge pixels"):
        found = curves(candidate * 0.7, truth, "dice", thresholds=3)
    np.testing.assert_array_equal(found.thresholds, [0, 0.5, 1])
    dice = score(candidate, truth, "dice")["dice"]
    np.testing.assert_allclose(found["dice"], [dice, dice, 0])
    with pytest.raises(InputError, match="was not computed"):
        _ = found["fom"]
    with pytest.raises(InputError, match="no thresholds"):
        curves(candidate * 0.7, truth, "pri")


def test_skeletons_of_volumes_need_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.morphology", None)
    with pytest.raises(MissingExtraError, match=r"edgecritic\[volumes\]"):
        score(*PAIRS[2][:2], "cldice")


def test_a_comparison_in_words():
    candidate, truth, _ = apart()
    assert repr(compare(candidate, truth)) == "Comparison(3 candidate and 6 truth pixels of 99)"


def test_unknown_measures_of_a_single_map_are_refused():
    with pytest.raises(InputError, match="needs a truth"):
        score_alone(np.eye(5, dtype=bool), "dice")
