"""The complexity study against the measures themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import convolve

from edgecritic.datasets.synthetic import annotators, scene
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.errors import InputError
from edgecritic.measures import score, score_alone
from edgecritic.measures.unsupervised import line_patterns, pattern_equilibrium, window_likeness
from edgecritic.studies.complexity import MEASURES, curves_of_image, map_at, summarise_curves


@pytest.fixture(scope="module")
def studied():
    drawn = scene(3, (60, 80), count=5, snr=12.0, grey=True)
    truths = annotators(drawn.truth, 2, seed=1)
    return drawn.image, truths, curves_of_image(drawn.image, truths, name="one")


@pytest.mark.parametrize(("detector", "place"), [("sobel", 20), ("canny", 30), ("roberts", 98), ("log", 10)])
def test_curves_hold_the_measures_of_the_maps(studied, detector, place):
    image, truths, curves = studied
    d = curves.detectors.index(detector)
    threshold = float(curves.thresholds[d, place])
    sigma = {"sigma": 2**0.5} if detector == "log" else {}
    edges = edge_matlab(image, detector, threshold, **sigma).edges
    alone = score_alone(edges, ["equilibrium", "entropy", "complexity"]).mean
    known = [score(edges, truth, ["fom", "cosine"]).mean for truth in truths]
    expected = [*alone.values(), max(one["fom"] for one in known), max(one["cosine"] for one in known)]
    assert curves.values[d, place] == pytest.approx(expected, abs=1e-12)


def test_choices_are_the_best_of_the_grid(studied):
    image, _, curves = studied
    study = summarise_curves([curves])
    for c, chooser in enumerate(("C", "PFoM", "Q_B")):
        column = MEASURES.index(chooser)
        best = curves.values[:, :, column].max(axis=1)
        assert study.chosen_values[0, :, c, column] == pytest.approx(best)
    assert (study.loss("PFoM") >= 0).all()
    assert len(study.as_dict()["rows"]) == 5
    assert int(map_at(image, curves, 4, 30).sum()) == curves.sizes[4, 30]


def test_every_truth_is_kept_and_can_be_chosen(studied):
    """Q_B over a collection is the largest of the cosines against its members."""
    _, truths, curves = studied
    alone = [curves.against([place]) for place in range(len(truths))]
    assert np.array_equal(curves.values[..., 3:], np.maximum(*(one.values[..., 3:] for one in alone)))
    assert not np.array_equal(alone[0].values[..., 3:], alone[1].values[..., 3:])
    for place, truth in enumerate(truths):
        expected = score_alone(truth, ["equilibrium", "entropy", "complexity"]).mean
        assert curves.truths[place, :3] == pytest.approx(list(expected.values()), abs=1e-12)
        assert curves.truths[place, 3] == truth.sum()
    assert [int(curves.truths[place, 3]) for place in curves.detail] == sorted(
        (int(truth.sum()) for truth in truths), reverse=True
    )
    with pytest.raises(InputError, match="has 2 truths, asked for 3"):
        curves.against([2])


def test_patterns_of_the_user_take_the_place_of_lines(studied):
    image, truths, curves = studied
    same = curves_of_image(image, truths, patterns=line_patterns(7))
    assert same.alone == pytest.approx(curves.alone, abs=1e-12)
    dot = np.zeros((1, 3, 3), bool)
    dot[0, 1, 1] = True
    other = curves_of_image(image, truths, patterns=dot)
    edges = edge_matlab(image, "sobel", float(curves.thresholds[0, 20])).edges
    inside = convolve(edges.astype(int), np.ones((3, 3)), mode="constant")[edges]
    assert other.alone[0, 20, 0] == pytest.approx(np.mean(1 / np.sqrt(inside)), abs=1e-12)
    assert other.alone[0, 20, 2] == pytest.approx(other.alone[0, 20, 0] * curves.alone[0, 20, 1])
    for wrong in (np.ones((3, 3)), np.ones((1, 4, 4)), np.zeros((1, 3, 3))):
        with pytest.raises(InputError, match="pattern"):
            pattern_equilibrium(edges, wrong)


def test_printed_windows_have_the_printed_likeness():
    """The values of the paper's Fig. 4 that follow from its words: thin, two and three pixels thick, full."""
    lines = line_patterns(7)
    for thick, printed in ((1, 1.0), (2, 0.707), (3, 0.577), (7, 0.378)):
        window = np.zeros((1, 7, 7), bool)
        first = max(0, 3 - thick // 2)
        window[0, first : first + thick] = True
        assert window_likeness(window, lines)[0] == pytest.approx(printed, abs=1e-3)


def test_claims_follow_from_the_numbers(studied):
    """On data made to contradict the paper every verdict turns."""
    _, _, curves = studied

    def made(detailed, first, second, pfom):
        truths = np.array([[0.9, 0.9, 0.9 if detailed else 0.1, 500.0], [0.5, 0.5, 0.5, 100.0]])
        alone = np.full(curves.alone.shape, 0.3)
        alone[:, first, 2] = 0.6
        alone[4, first, 1:] = 0.9 if detailed else 0.1
        alone[3, first, 0] = 0.9 if detailed else 0.1
        alone[4, first, 2] = 0.9 if detailed else 0.4
        known = np.full(curves.known.shape, 0.1)
        known[:, first] = known[:, second] = pfom
        known[:, second] += 0.01
        return replace(curves, truths=truths, alone=alone, known=known)

    good = summarise_curves([made(True, 30, 60, 0.5)]).claims()
    assert [one.agrees for one in good] == [True] * len(good)
    bad = summarise_curves([made(False, 98, 60, 0.2)]).claims()
    assert [one.agrees for one in bad] == [False] * len(bad)
    assert all("agrees" not in one.verdict and one.verdict != "holds" for one in bad)


def test_an_image_without_truth_is_refused():
    with pytest.raises(InputError, match="no truth"):
        curves_of_image(np.zeros((20, 20)), [])
    with pytest.raises(InputError, match="no image"):
        summarise_curves([])
