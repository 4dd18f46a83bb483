"""Tuning against scoring one threshold after the other."""

from __future__ import annotations

import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage as ndi

from edgecritic.detectors import detect
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.matching import match
from edgecritic.measures import score, score_alone
from edgecritic.tuning.result import matched_measures
from edgecritic.tuning.summary import TuningSummary, summarise_tunings
from edgecritic.tuning.table import best_place, best_table
from edgecritic.tuning.tune import tune

RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def scene() -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.mgrid[:48, :52]
    disk = (rows - 23) ** 2 + (columns - 26) ** 2 < 14**2
    rim = ndi.binary_dilation(disk) & ~disk
    return disk + 0.5 * rim + RNG.normal(0, 0.15, disk.shape), rim


def test_values_are_those_of_score(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    measures = ["sk", "fom", "performance", "baddeley", "hausdorff", "jaccard"]
    levels = [0.05, 0.2, 0.5, 0.8]
    found = tune(image, truth, detectors=["sobel", "canny(sigma=2)"], measures=measures, thresholds=levels)
    assert found.detectors == ("sobel", "canny(sigma=2)")
    for d, name in enumerate(found.detectors):
        thin = detect(image, name).thin
        for t, level in enumerate(levels):
            candidate = thin >= level
            assert found.counts[d, t] == candidate.sum()
            expected = score(candidate, truth, measures).mean
            for m, measure in enumerate(measures):
                assert found.values[d, t, m] == pytest.approx(expected[measure], rel=1e-12)
            tp, fp, fn, tn = found.confusion[d, t]
            assert (tp, fp) == ((candidate & truth).sum(), (candidate & ~truth).sum())
            assert (fn, tn) == ((~candidate & truth).sum(), (~candidate & ~truth).sum())
            false, true = (rates[t] for rates in found.roc(name))
            assert (false, true) == pytest.approx((fp / (~truth).sum(), tp / truth.sum()))


def test_what_does_not_respond_is_never_an_edge() -> None:
    image = np.zeros((12, 12))
    image[:, 6:] = 1
    found = tune(image, image > 0, detectors="sobel", measures="f", thresholds=[0.0])
    thin = detect(image, "sobel").thin
    assert 0 < np.count_nonzero(thin) < thin.size
    assert found.counts.item() == np.count_nonzero(thin)
    np.testing.assert_array_equal(found.best_map("sobel", "f"), thin > 0)


def test_measures_that_nobody_names_are_those_of_the_paper(scene: tuple[np.ndarray, np.ndarray]) -> None:
    """It prints complements such as 1 − F in place of similarities."""
    found = tune(*scene, detectors="sobel", thresholds=2)
    assert {"f_star", "hausdorff"} < set(found.measures)
    assert "f" not in found.measures


def test_best_is_the_extreme_of_the_curve(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    found = tune(image, truth, detectors=["canny", "roberts"], measures=["sk", "jaccard"])
    assert found.thresholds.shape == (2, 101)
    for name in found.detectors:
        low, high = found.best(name, "sk"), found.best(name, "jaccard")
        assert low.value == found.curve(name, "sk").min()
        assert high.value == found.curve(name, "jaccard").max()
        assert 0 < low.threshold < 1
        expected = detect(image, name).binary(low.threshold)
        np.testing.assert_array_equal(found.best_map(name, "sk"), expected)
    assert found.winner("sk") == "canny"
    assert found.winner("jaccard") == "canny"
    assert "canny" in str(found)
    document = json.loads(json.dumps(found.as_dict()))
    assert document["measures"][0]["winner"] == "canny"


def test_rates_of_a_perfect_detector(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    found = tune(image, truth, detectors=[lambda _: truth], measures="sk", thresholds=[0.5, 1.0])
    false_alarms, hits = found.roc("<lambda>")
    assert false_alarms.tolist() == [0, 0]
    assert hits.tolist() == [1, 1]
    assert found.best("<lambda>", "sk").value == 0


def test_several_truths_give_the_mean(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    others = [truth, np.roll(truth, 2, axis=0)]
    both = tune(image, others, detectors=["sobel"], measures=["sk", "f"], thresholds=5)
    single = [tune(image, t, detectors=["sobel"], measures=["sk", "f"], thresholds=5).values for t in others]
    np.testing.assert_allclose(both.values, np.mean(single, axis=0))
    assert both.truths == 2
    for truths in (others, others[:1]):
        found = tune(image, truths, detectors=["sobel"], measures=["sk"], thresholds=5)
        best = found.best_map("sobel", "sk")
        counts = np.mean([((best & ~one).sum(), (one & ~best).sum()) for one in truths], axis=0)
        assert found.errors("sobel", "sk") == tuple(counts)


def test_without_truth_complexity_chooses(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, _ = scene
    found = tune(image, detectors=["sobel"], thresholds=[0.2, 0.6])
    assert found.measures == ("complexity", "equilibrium", "entropy")
    for t, level in enumerate((0.2, 0.6)):
        expected = score_alone(detect(image, "sobel").binary(level)).mean
        for m, measure in enumerate(found.measures):
            assert found.values[0, t, m] == pytest.approx(expected[measure])
    np.testing.assert_allclose(found.values[..., 0], found.values[..., 1] * found.values[..., 2])
    told = found.as_dict()["measures"][0]["best"]["sobel"]
    assert set(told) == {"value", "threshold"}  # without a truth there are no errors


def test_the_grids_of_the_complexity_paper(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image = np.clip(scene[0], 0, 1)
    found = tune(image, thresholds="matlab")
    assert found.thresholds.shape == (5, 99)
    np.testing.assert_allclose(found.thresholds[:, -1], [0.396, 0.396, 0.396, 0.0396, 0.99])
    for d, method in enumerate(("sobel", "prewitt", "roberts", "log", "canny")):
        sigma = np.sqrt(2) if method == "log" else None
        for t in (0, 20, 70):
            edges = edge_matlab(image, method, float(found.thresholds[d, t]), sigma=sigma).edges
            assert found.counts[d, t] == edges.sum()
            expected = score_alone(edges, "complexity", on_degenerate="nan").mean["complexity"]
            assert found.values[d, t, 0] == pytest.approx(np.nan_to_num(expected))


def test_progress_and_repeated_detectors(scene: tuple[np.ndarray, np.ndarray]) -> None:
    steps: list[tuple[int, int]] = []
    found = tune(
        *scene,
        detectors=["sobel", "sobel"],
        measures="sk",
        thresholds=3,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(1, 2), (2, 2)]
    assert found.detectors == ("sobel", "sobel #2")


def test_volumes_are_tuned() -> None:
    ball = np.sum((np.indices((14, 15, 16)) - 7) ** 2, axis=0) < 20
    rim = ndi.binary_dilation(ball) & ~ball
    found = tune(ball + 0.5 * rim, rim, detectors=["central"], measures=["sk", "nsd"], thresholds=11)
    assert found.best("central", "sk").value < 0.5


@pytest.mark.parametrize(
    "options, message",
    [
        ({"thresholds": 1}, "thresholds"),
        ({"thresholds": []}, "thresholds"),
        ({"thresholds": "many"}, "matlab"),
        ({"thresholds": "matlab", "detectors": ["anisotropic"]}, "goes with"),
        ({"thresholds": "matlab", "detectors": ["canny(kernel=odd)"]}, "sigma only"),
        ({"detectors": []}, "detectors is empty"),
        ({"measures": ["pri"]}, "cannot judge an edge map over thresholds"),
        ({"truths": None, "measures": ["sk"]}, "without a truth"),
    ],
)
def test_wrong_questions(
    scene: tuple[np.ndarray, np.ndarray], options: dict[str, object], message: str
) -> None:
    image, truth = scene
    with pytest.raises(InputError, match=message):
        tune(image, **{"truths": truth, **options})  # type: ignore[arg-type]


def test_unknown_names_in_a_result(scene: tuple[np.ndarray, np.ndarray]) -> None:
    found = tune(*scene, detectors=["sobel"], measures="sk", thresholds=2)
    with pytest.raises(InputError, match="was not run"):
        found.best("canny", "sk")
    with pytest.raises(InputError, match="was not computed"):
        found.best("sobel", "fom")


def test_a_data_set_is_summarised(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    names = ["canny", "roberts"]
    tunings = {
        str(seed): tune(
            image + np.random.default_rng(seed).normal(0, 0.1, image.shape),
            truth,
            detectors=names,
            measures=["sk", "jaccard"],
            thresholds=21,
        )
        for seed in range(3)
    }
    found = summarise_tunings(tunings)
    assert found.values.shape == found.thresholds.shape == (3, 2, 2)
    for i, each in enumerate(tunings.values()):
        assert found.values[i, 1, 0] == each.best("roberts", "sk").value
        assert found.thresholds[i, 0, 1] == each.best("canny", "jaccard").threshold
    assert found.wins.sum(axis=0).tolist() == [3, 3]
    assert found.wins[0].tolist() == [3, 3]
    rows = found.rows()
    assert [row["detector"] for row in rows] == names * 2
    assert rows[0]["value"] == pytest.approx(np.mean([t.best("canny", "sk").value for t in tunings.values()]))
    assert "3 images" in str(found)
    with pytest.raises(InputError, match="empty"):
        summarise_tunings({})
    other = tune(image, truth, detectors=["sobel"], measures="sk", thresholds=2)
    with pytest.raises(InputError, match="other detectors or measures"):
        summarise_tunings({**tunings, "odd": other})


@pytest.mark.parametrize(
    ("values", "lowest", "highest"),
    [
        ([2, 1, 3], 1, 2),
        ([1, 3, 1, 3], 0, 1),
        ([np.nan, 2, 1, np.nan], 2, 1),
        ([np.nan, np.inf], 1, 1),
        ([np.nan, -np.inf], 1, 1),
        ([np.nan, np.nan], 0, 0),
    ],
)
def test_the_first_of_equals_is_best_and_nan_is_worst(values: list[float], lowest: int, highest: int) -> None:
    assert best_place(np.array(values), "lower") == lowest
    assert best_place(np.array(values), "higher") == highest


def test_a_table_that_is_too_wide_goes_on_below_with_its_measures() -> None:
    names = [f"detector{number}" for number in range(4)]
    values = np.array([[0.1, 4], [0.3, 2], [0.2, 2], [0.3, np.nan]])
    text = best_table(["f", "sk"], ["higher", "lower"], names, values, values / 4, width=40)
    assert max(map(len, text.splitlines())) <= 40
    lines = [line for line in text.splitlines() if line]
    heads = [line.split() for line in lines if line.startswith("measure")]
    assert [name for head in heads for name in head if name.startswith("detector")] == names
    assert [line.split()[:2] for line in lines if line[:2] in ("f ", "sk")] == [
        ["f", "↑"],
        ["sk", "↓"],
    ] * len(heads)
    assert "0.3*@0.075" in text
    assert "2*@0.5" in text
    assert text.count("*") == 2


def test_an_image_is_won_by_the_detector_with_its_best_value() -> None:
    values = np.random.default_rng(3).random((20, 3, 2))
    found = TuningSummary(
        images=tuple(map(str, range(20))),
        detectors=("sobel", "canny", "roberts"),
        measures=("f", "sk"),
        better=("higher", "lower"),
        values=values,
        thresholds=values,
    )
    for d in range(3):
        most = sum(image[d, 0] == max(image[:, 0]) for image in values)
        least = sum(image[d, 1] == min(image[:, 1]) for image in values)
        assert found.wins[d].tolist() == [most, least]


def test_boxes_are_the_quartiles_of_the_best_values() -> None:
    values = np.random.default_rng(2).random((9, 3, 2))
    values[0, 1, 1] = np.inf
    found = TuningSummary(
        images=tuple("abcdefghi"),
        detectors=("sobel", "canny(sigma=2)", "roberts"),
        measures=("f", "sk"),
        better=("higher", "lower"),
        values=values,
        thresholds=values,
    )
    axes = found.plot(measure="sk")
    assert axes.get_title() == "sk ↓"
    assert found.plot().get_title() == "f ↑"
    assert [box.get_label() for box in axes.patches] == ["sobel", "canny(sigma=2)", "roberts"]
    assert len({box.get_facecolor() for box in axes.patches}) == 3
    assert not any(box.get_hatch() for box in axes.patches)
    assert list(axes.get_xticks()) == []
    for box, column in zip(axes.patches, values[:, :, 1].T, strict=True):
        drawn = box.get_path().vertices[:, 1]
        quartiles = np.percentile(column[np.isfinite(column)], [25, 75])
        assert (drawn.min(), drawn.max()) == pytest.approx(tuple(quartiles))


def test_boxes_of_one_colour_differ_in_their_hatches() -> None:
    names = tuple(f"detector{number}" for number in range(22))
    values = np.zeros((2, 22, 1))
    boxes = TuningSummary(
        images=("a", "b"),
        detectors=names,
        measures=("f",),
        better=("higher",),
        values=values,
        thresholds=values,
    ).plot()
    assert [box.get_hatch() or "" for box in boxes.patches] == [""] * 7 + ["//"] * 7 + ["xx"] * 7 + [""]


def test_peaks_of_empty_maps_do_not_squeeze_a_curve() -> None:
    """Where one value in ten is 40 times the others the axis ends above the others; even values stay."""
    image = np.repeat([[0.0, 0.0, 1.0, 1.0]], 4, axis=0)
    truth = np.repeat([[0, 1, 0, 0]], 4, axis=0).astype(bool)
    found = tune(image, truth, detectors=["sobel"], measures="sk", thresholds=10)
    even = np.linspace(1, 2, 10)
    peak = np.append(even[:-1], 40.0)
    low, high = replace(found, values=peak[None, :, None]).plot().get_ylim()
    assert 0.9 < low < 1
    assert peak[:-1].max() < high < 2.5
    assert replace(found, values=even[None, :, None]).plot().get_ylim()[1] > 2
    flat = np.append(np.ones(9), 40.0)
    assert replace(found, values=flat[None, :, None]).plot().get_ylim()[1] > 40
    assert replace(found, values=np.full((1, 10, 1), np.nan)).plot().get_title().startswith("sk")


def test_rates_under_a_strategy_are_those_of_its_matching(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    names = matched_measures("exact(tolerance=2)")
    found = tune(image, truth, detectors=["canny"], measures=names, thresholds=[0.1, 0.4])
    rates = found.rates("canny", "exact(tolerance=2)")
    for place, level in enumerate((0.1, 0.4)):
        matching = match(detect(image, "canny").binary(level), truth, tolerance=2)
        assert rates.true_positive[place] == pytest.approx(matching.tp / truth.sum())
        assert rates.precision[place] == pytest.approx(matching.tp / (matching.tp + matching.fp))
        assert rates.false_positive[place] == pytest.approx(matching.fp / (~truth).sum())
    strict = found.rates("canny")
    np.testing.assert_array_equal(strict.false_positive, found.roc("canny")[0])
    assert (strict.true_positive <= rates.true_positive).all()
    smaller = found.without_maps()
    assert smaller.ladders == ()
    assert smaller.best("canny", names[0]) == found.best("canny", names[0])


def test_rates_under_a_strategy_are_means_over_the_truths(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    truths = [truth, np.roll(truth, 3, axis=1) & (np.arange(52) < 40)]
    found = tune(image, truths, detectors=["canny"], measures=matched_measures("exact"), thresholds=[0.3])
    rates = found.rates("canny", "exact")
    candidate = detect(image, "canny").binary(0.3)
    matchings = [match(candidate, one) for one in truths]
    false = np.mean([one.fp for one in matchings]) / np.mean([(~one).sum() for one in truths])
    assert rates.false_positive == pytest.approx([false])
    recalls = [one.tp / one_truth.sum() for one, one_truth in zip(matchings, truths, strict=True)]
    assert rates.true_positive == pytest.approx([np.mean(recalls)])


def test_thresholds_are_drawn_as_they_are_where_detectors_have_the_same() -> None:
    image = np.repeat([[0.0, 0.1, 0.9, 1.0, 0.4, 0.0]], 6, axis=0)
    truth = np.repeat([[0, 0, 1, 0, 0, 0]], 6, axis=0).astype(bool)
    same = tune(image, truth, detectors=["sobel", "roberts"], measures=["sk", "f"], thresholds=[0.2, 0.5])
    axes = same.plot(measure="f")
    assert (axes.get_xlabel(), axes.get_title()[0]) == ("threshold", "f")
    curves, points = axes.lines[::2], axes.lines[1::2]
    for name, curve, point in zip(same.detectors, curves, points, strict=True):
        assert curve.get_xdata().tolist() == [0.2, 0.5]
        assert curve.get_ydata().tolist() == same.curve(name, "f").tolist()
        best = same.best(name, "f")
        assert point.get_xydata().tolist() == [[best.threshold, best.value]]
    assert same.plot().get_title().startswith("sk")
    grids = tune(image, truth, measures="f", thresholds="matlab").plot()
    assert grids.get_xlabel() == "threshold / largest threshold of the detector"
    assert all(line.get_xdata()[-1] == 1 for line in grids.lines[::2])


@pytest.mark.parametrize("strategy", ["exact", "exact(tolerance=1.5)", "exact(window=5)", "eps(window=5)"])
def test_a_sweep_under_a_strategy_has_the_values_of_score(
    scene: tuple[np.ndarray, np.ndarray], strategy: str
) -> None:
    image, truth = scene
    truths = [truth, np.roll(truth, 2, axis=1)]
    names = ["sk", *matched_measures(strategy), f"f(strategy={strategy})"]
    levels = [0.6, 0.05, 1.1, 0.3]
    found = tune(image, truths, detectors=["canny"], measures=names, thresholds=levels)
    for place, level in enumerate(levels):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            expected = score(detect(image, "canny").binary(level), truths, names).mean
        for name in found.measures:
            assert found.curve("canny", name)[place] == pytest.approx(expected[name]), (level, name)


def test_a_truth_without_edges_is_judged_by_the_tables(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, truth = scene
    names = matched_measures("exact(tolerance=2)")
    found = tune(image, [truth, ~truth & False], detectors=["canny"], measures=names, thresholds=[0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        expected = score(detect(image, "canny").binary(0.2), [truth, ~truth & False], names).mean
    for name in names:
        assert found.curve("canny", name)[0] == pytest.approx(expected[name])


def test_tuning_in_threads_leaves_the_warning_filters_alone():
    """Filters belong to the whole process: what one thread hides and restores, another loses."""
    image = np.zeros((16, 16))
    image[:, 8:] = 1
    truth = np.zeros((16, 16), bool)
    truth[:, 8] = True
    seen = set()

    def one(_):
        found = tune(image, truth, detectors=["sobel"], measures=["fom", "f"], thresholds=[0.5, 1.5])
        seen.add(tuple(warnings.filters))
        return found

    before = tuple(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(16)))
    assert seen == {before}
    assert tuple(warnings.filters) == before
    assert "catch_warnings" not in Path(sys.modules[tune.__module__].__file__).read_text()


def test_rows_are_the_curves():
    found = tune(
        np.eye(12), np.eye(12, dtype=bool), detectors=["sobel", "canny"], measures=["sk", "f"], thresholds=5
    )
    rows = found.rows()
    assert len(rows) == 10
    for place, row in enumerate(rows):
        d, k = divmod(place, 5)
        assert (row["detector"], row["threshold"]) == (found.detectors[d], found.thresholds[d, k])
        assert row["pixels"] == found.counts[d, k]
        assert (row["sk"], row["f"]) == tuple(found.values[d, k])


def test_one_detector_needs_no_list():
    image = np.zeros((12, 12))
    image[:, 6:] = 1
    found = [
        tune(image, image > 0, detectors=one, measures="sk", thresholds=5) for one in ("sobel", ["sobel"])
    ]
    assert found[0] == found[1]
