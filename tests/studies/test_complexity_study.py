"""The complexity study against the measures themselves."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.datasets.synthetic import annotators, scene
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.errors import InputError
from edgecritic.measures import score, score_alone
from edgecritic.studies.complexity import MEASURES, best_maps, curves_of_image, summarise_curves


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
    assert all(one.shape == image.shape[:2] for one in best_maps(image, curves).values())


def test_an_image_without_truth_is_refused():
    with pytest.raises(InputError, match="no truth"):
        curves_of_image(np.zeros((20, 20)), [])
    with pytest.raises(InputError, match="no image"):
        summarise_curves([])
