"""What every registered measure promises, and proof that each check fails on a broken measure."""

from __future__ import annotations

import dataclasses
import math
import warnings

import numpy as np
import pytest

from edgecritic.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from edgecritic.ids import Id
from edgecritic.matching import strategies
from edgecritic.measures import Empty, Special, compare, measures, score
from edgecritic.measures.base import MeasureInfo, guard
from edgecritic.registry import Bound, Entry

VARIANTS = [
    "hausdorff(percent=5)",
    "hausdorff(percent=20, mode=tail_mean)",
    "dk(k=2)",
    "dk(k=2, power_mean=True)",
    "theta(k=2, delta=3)",
    "omega(k=2, delta=3)",
    "baddeley(k=1)",
    "baddeley(k=3, c=5)",
    "baddeley(w=log)",
    "sk(k=2)",
    "sk(denominator=sum)",
    "dp(target=detected)",
    "fom_revisited(beta=2)",
    "hd95(percentile=pooled)",
    "hd95(surface=subvoxel)",
    "hd95(surface=subvoxel, weights=area)",
    "assd(compat=deepmind)",
    "nsd(tolerance=2)",
    "nsd(compat=monai)",
    "nsd(compat=panoptica)",
    "hd95(compat=metricsreloaded)",
    "boundary_iou(dilation=0.1)",
    "boundary_iou(distance=2)",
    "cldice(skeleton=thin)",
    "f(strategy=hungarian)",
    "jaccard(strategy=hungarian)",
    "fom(strategy=hungarian)",
    "f_star(strategy=hungarian)",
    "fom(strategy=eps(window=5))",
    "fom(strategy=exact)",
    "pcm(strategy=hungarian)",
]
# What depends on the size of the image, not only on the two maps.
SEES_SIZE = {
    "phi",
    "phi_star",
    "chi2",
    "chi2_star",
    "kappa",
    "mcc",
    "yasnoff",
    "baddeley",
    "dp",
    "specificity",
    "boundary_iou(dilation=0.1)",
    "lesion_hd95",
}


def pixel_measures():
    names = [entry.name for entry in measures if entry.info.needs not in ("candidate", "segmentation")]
    return [*names, *VARIANTS]


def subject(text):
    parsed = Id.parse(text)
    needed = parsed.options.get("strategy", "exact" if parsed.name in ("pcm", "mean_displacement") else None)
    if needed is not None:
        try:
            strategies.bind(str(needed))
        except UnknownNameError:
            pytest.skip(f"no strategy {needed}")
    return measures.bind(text)


def draw_pairs():
    rng = np.random.default_rng(7)
    pairs = []
    for density in (0.05, 0.2, 0.5):
        for _ in range(3):
            first, second = rng.random((2, 12, 15)) < density
            first[3, 4] = second[8, 9] = True
            pairs.append((first, second))
    truth = np.zeros((12, 15), dtype=bool)
    truth[5, 2:13] = True
    pairs.append((np.roll(truth, 1, axis=0), truth))
    block = np.zeros((12, 15), dtype=bool)
    block[2:9, 3:11] = True
    pairs.append((block, np.roll(block, (2, 1), axis=(0, 1))))
    return pairs


PAIRS = draw_pairs()


def value(bound, candidate, truth, **options):
    return bound(compare(candidate, truth, **options))


def same(first, second):
    return (math.isnan(first) and math.isnan(second)) or first == pytest.approx(second, rel=1e-9, abs=1e-12)


def perfect(info):
    return info.range[0] if info.better == "lower" else info.range[1]


def worse(info, bad, good):
    return bad > good + 1e-12 if info.better == "lower" else bad < good - 1e-12


# ---------------------------------------------------------------------------------------- the checks


def check_identical_maps_are_best(bound):
    for pair in PAIRS:
        for mask in pair:
            assert same(value(bound, mask, mask), perfect(bound.entry.info))


def check_never_better_than_best(bound):
    for first, second in PAIRS:
        assert not worse(bound.entry.info, perfect(bound.entry.info), value(bound, first, second))


def check_sees_what_it_says(bound):
    truth = np.zeros((20, 24), dtype=bool)
    truth[5, 2:20] = True
    extra, fewer = truth.copy(), truth.copy()
    extra[16, 8:16] = True
    fewer[5, 9:20] = False
    info = bound.entry.info
    best = value(bound, truth, truth)
    assert worse(info, value(bound, extra, truth), best) == (info.sees in ("false alarms", "both"))
    assert worse(info, value(bound, fewer, truth), best) == (info.sees in ("misses", "both"))


def check_stays_in_range(bound):
    low, high = bound.entry.info.range
    for first, second in PAIRS:
        assert low - 1e-12 <= value(bound, first, second) <= high + 1e-12


def check_symmetry(bound):
    differ = [not same(value(bound, first, second), value(bound, second, first)) for first, second in PAIRS]
    assert any(differ) != bound.entry.info.symmetric


def check_flips_and_transposes_do_not_matter(bound):
    for first, second in PAIRS[::2]:
        known = value(bound, first, second)
        for turn in (np.flipud, np.fliplr, np.transpose):
            assert same(value(bound, turn(first), turn(second)), known)


def check_padding(bound):
    differ = []
    for first, second in PAIRS:
        wide = (np.pad(mask, ((3, 30), (0, 40))) for mask in (first, second))
        differ.append(not same(value(bound, *wide), value(bound, first, second)))
    assert any(differ) == bool({bound.entry.name, str(bound)} & SEES_SIZE)


def check_one_plane_is_an_image(bound):
    for first, second in PAIRS[::3]:
        known = value(bound, first, second)
        assert same(value(bound, first[None], second[None]), known)
        assert same(value(bound, first[..., None], second[..., None]), known)


def check_empty_maps_have_the_table_s_values(bound):
    truth = PAIRS[0][0]
    nothing = np.zeros_like(truth)
    cases = {"both": (nothing, nothing), "candidate": (nothing, truth), "truth": (truth, nothing)}
    if str(bound) == "nsd(compat=panoptica)":
        with pytest.raises(InputError, match="compat=panoptica refuses this"):
            value(bound, *cases["both"])
        return
    for side, pair in cases.items():
        entry = getattr(bound.entry.info.empty, side)
        with pytest.warns(UndefinedMeasureWarning):
            got = value(bound, *pair)
        known = "compat" in str(bound) or (str(bound), side) == ("pq", "both")
        assert not math.isnan(got) or known
        if not isinstance(entry, Special):
            assert got == entry
        with warnings.catch_warnings(action="ignore"):
            left_out = value(bound, *pair, on_degenerate="nan")
        assert same(left_out, math.nan if side == "both" else got)
        with pytest.raises(InputError, match="no edge pixels"):
            value(bound, *pair, on_degenerate="raise")


def check_id_round_trips(bound):
    again = measures.bind(str(bound))
    assert str(again) == str(bound)
    assert Id.parse(str(bound)) == bound.id


def check_inputs_stay_unchanged(bound):
    first, second = (mask.copy() for mask in PAIRS[1])
    before = first.copy(), second.copy()
    first.flags.writeable = second.flags.writeable = False
    known = value(bound, first, second)
    assert np.array_equal(first, before[0])
    assert np.array_equal(second, before[1])
    assert same(value(bound, first.astype(np.uint8) * 255, second.astype(np.float64)), known)
    assert same(value(bound, np.asfortranarray(first), second[:, ::-1][:, ::-1]), known)


CHECKS = [found for name, found in list(globals().items()) if name.startswith("check_")]
EXEMPT = {
    # A one-to-one matching has the same pairs both ways.
    ("fom(strategy=hungarian)", check_symmetry),
    ("fom(strategy=exact)", check_symmetry),
    # A greedy matching breaks ties in raster order.
    ("fom(strategy=eps(window=5))", check_flips_and_transposes_do_not_matter),
    # Thinning is not symmetric under flips: skeletons of a flipped object are other skeletons.
    ("cldice", check_flips_and_transposes_do_not_matter),
    ("cldice(skeleton=thin)", check_flips_and_transposes_do_not_matter),
    # Between voxels one plane is a slab with two faces, as in the library that is reproduced.
    ("hd95(surface=subvoxel)", check_one_plane_is_an_image),
    ("hd95(surface=subvoxel, weights=area)", check_one_plane_is_an_image),
    ("assd(compat=deepmind)", check_one_plane_is_an_image),
    # All voxels of one plane are its surface, as in the libraries that are reproduced.
    ("nsd(compat=monai)", check_one_plane_is_an_image),
    ("nsd(compat=panoptica)", check_one_plane_is_an_image),
    ("hd95(compat=metricsreloaded)", check_one_plane_is_an_image),
    # A lesion of which a part is found is found.
    ("lesion_f1", check_sees_what_it_says),
    # The distance of a miss is the diagonal of the image, which a plane makes longer.
    ("lesion_hd95", check_one_plane_is_an_image),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("text", pixel_measures())
def test_contract(text, check):
    bound = subject(text)
    if (str(bound), check) in EXEMPT:
        pytest.skip("declared exception")
    check(bound)


# ------------------------------------------------------------------------- proof that checks can fail

GOOD = MeasureInfo(
    symbol="x",
    family="test",
    reference="",
    better="lower",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=Empty(both=0.0, candidate=1.0, truth=1.0),
    needs="confusion",
)


def good(comparison, /):
    counts = comparison.confusion
    return 1 - counts.tp / (counts.tp + counts.fp + counts.fn)


def spoil(mask):
    mask.flags.writeable = True
    mask[0, 0] ^= True


BROKEN = {
    "check_identical_maps_are_best": (lambda c: 0.1 + 0.9 * good(c), {}),
    "check_never_better_than_best": (lambda c: good(c) - c.confusion.fp, {}),
    "check_sees_what_it_says": (lambda c: c.confusion.fp / c.n_candidate, {}),
    "check_stays_in_range": (lambda c: 3 * good(c), {}),
    "check_symmetry": (lambda c: c.confusion.fp / c.n_candidate, {}),
    "check_flips_and_transposes_do_not_matter": (lambda c: good(c) * (0.5 + 0.5 * c.candidate[0].mean()), {}),
    "check_padding": (lambda c: c.confusion.fp / c.size, {}),
    "check_one_plane_is_an_image": (lambda c: good(c) / c.candidate.ndim, {}),
    "check_empty_maps_have_the_table_s_values": (
        good,
        {"empty": Empty(both=0.0, candidate=math.nan, truth=1.0)},
    ),
    "check_id_round_trips": (good, {}),
    "check_inputs_stay_unchanged": (lambda c: spoil(c.candidate) or good(c), {}),
}


def make(function, changes):
    info = dataclasses.replace(GOOD, **changes)
    return Bound(Entry("broken", guard("broken", info, function), info), Id("broken"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_check_passes_on_a_good_measure(check, monkeypatch):
    entry = make(good, {}).entry
    monkeypatch.setitem(measures._entries, "broken", entry)
    check(make(good, {}))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_check_fails_on_a_broken_measure(check):
    function, changes = BROKEN[check.__name__]
    expected = (
        UnknownNameError if check is check_id_round_trips else (AssertionError, ValueError)
    )  # a measure that writes may be stopped by NumPy
    with pytest.raises(expected):
        check(make(function, changes))


def test_declared_asymmetry_is_checked():
    with pytest.raises(AssertionError):
        check_symmetry(make(good, {"symmetric": False}))


def test_wrong_direction_is_found():
    with pytest.raises(AssertionError):
        check_identical_maps_are_best(make(good, {"better": "higher"}))


# ------------------------------------------------------------------------------ empty maps in numbers


def test_values_far_from_an_empty_map():
    truth = np.zeros((6, 8), dtype=bool)
    truth[2, 1:5] = True
    nothing = np.zeros_like(truth)
    diagonal, n, size = 10.0, 4, 48
    ids = ["hausdorff", "f2d6", "sk(k=2)", "psi", "omega(k=2, delta=2)", "hd95", "assd", "masd"]
    with pytest.warns(UndefinedMeasureWarning):
        misses = score(nothing, truth, ids)
    assert misses["hausdorff"] == misses["f2d6"] == misses["hd95"] == misses["assd"] == diagonal
    assert misses["masd"] == misses["sk(k=2)"] == diagonal
    assert misses["psi"] == pytest.approx(diagonal / math.sqrt(n))
    assert misses["omega(k=2, delta=2)"] == pytest.approx(25)
    with pytest.warns(UndefinedMeasureWarning):
        alarms = score(truth, nothing, ["yasnoff", "dk(k=2)", "theta", "dp", "gamma", "baddeley(c=3)"])
    assert alarms["yasnoff"] == pytest.approx(100 / size * math.sqrt(n) * diagonal)
    assert alarms["dk(k=2)"] == pytest.approx(diagonal / math.sqrt(n))
    assert alarms["theta"] == diagonal
    assert alarms["dp"] == pytest.approx(n / size / 2)
    assert alarms["gamma"] == math.inf
    assert alarms["baddeley(c=3)"] <= 3


def test_empty_distance_is_the_caller_s_choice():
    truth = np.eye(6, dtype=bool)
    with pytest.warns(UndefinedMeasureWarning):
        assert (
            score(np.zeros_like(truth), truth, "hausdorff", empty_distance=math.inf)["hausdorff"] == math.inf
        )


def test_one_warning_for_all_measures_and_truths():
    truth = np.eye(6, dtype=bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score(np.zeros_like(truth), [truth, truth])
    assert [item.category for item in caught] == [UndefinedMeasureWarning]


def test_a_new_measure_is_computed_unless_it_says_otherwise():
    assert GOOD.default
    assert GOOD.units == ""


def test_metadata_is_complete():
    for entry in measures:
        info = entry.info
        assert entry.summary.startswith("Return ")
        assert info.symbol
        assert info.reference
        assert info.range[0] < info.range[1]
        assert (info.empty is None) == (info.needs == "segmentation")
