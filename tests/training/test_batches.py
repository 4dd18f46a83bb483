"""Batches of all shapes and libraries are taken apart into images."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.training.batches import left_out, probabilities, split

RNG = np.random.default_rng(0)


class OnlyDlpack:
    """An array of a library that speaks DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **more):
        return self._array.__dlpack__(**more)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize(
    ("prediction", "target", "channels", "maps"),
    [
        ((2, 4, 5), (2, 4, 5), (1, 4, 5), 1),
        ((2, 1, 4, 5), (2, 4, 5), (1, 4, 5), 1),
        ((2, 1, 4, 5), (2, 1, 4, 5), (1, 4, 5), 1),
        ((2, 4, 5), (2, 3, 4, 5), (1, 4, 5), 3),
        ((2, 3, 4, 5), (2, 3, 4, 5), (3, 4, 5), 3),
        ((2, 3, 4, 5), (2, 4, 5), (3, 4, 5), 1),
        ((2, 1, 6, 4, 5), (2, 6, 4, 5), (1, 6, 4, 5), 1),
        ((2, 1, 6, 4, 5), (2, 2, 6, 4, 5), (1, 6, 4, 5), 2),
    ],
)
def test_shapes(prediction, target, channels, maps):
    values, truths = RNG.random(prediction), RNG.random(target)
    found = split(values, truths, spacing=2.0)
    assert [one.prediction.shape for one in found] == [channels] * 2
    assert [len(one.targets) for one in found] == [maps] * 2
    for place, one in enumerate(found):
        assert np.array_equal(one.prediction.ravel(), values[place].ravel())
        assert np.array_equal(np.stack(one.targets).ravel(), truths[place].ravel())
        assert (one.id, one.spacing) == (None, 2.0)


def test_lists_may_differ_in_size_and_annotators():
    predictions = [np.zeros((4, 5)), np.zeros((1, 7, 3))]
    targets = [[np.zeros((4, 5))] * 3, [np.zeros((1, 7, 3))]]
    found = split(predictions, targets, ids=[7, "b"])
    assert [one.prediction.shape for one in found] == [(1, 4, 5), (1, 7, 3)]
    assert [[map_.shape for map_ in one.targets] for one in found] == [[(4, 5)] * 3, [(7, 3)]]
    assert [one.id for one in found] == ["7", "b"]


def test_any_library_by_dlpack():
    array = RNG.random((2, 4, 5)).astype(np.float32)
    (one, _) = split(OnlyDlpack(array), array)
    assert np.array_equal(one.prediction[0], array[0])


@pytest.mark.parametrize("copy", [False, True])
def test_the_callers_memory_may_be_used_again(copy):
    array = np.ones((1, 4, 5))
    (one,) = split(array, array, copy=copy)
    array[:] = 0
    assert bool(one.prediction.all()) is copy
    assert bool(one.targets[0].all()) is copy


@pytest.mark.parametrize(
    ("prediction", "target", "told"),
    [
        (np.zeros((4, 5)), np.zeros((4, 5)), r"prediction\[None\]"),
        (np.zeros((2, 4, 5)), np.zeros((3, 4, 5)), "as many targets, got 3"),
        (np.zeros((2, 4, 5)), np.zeros((2, 5, 4)), r"size of the prediction \(4, 5\), got \(5, 4\)"),
        (np.zeros((2, 4, 5)), np.zeros((2, 1, 1, 4, 5)), "size of the prediction"),
        (np.zeros((2, 4, 5, 1)), np.zeros((2, 4, 5)), r"moveaxis\(prediction, -1, 1\)"),
        (np.zeros((2, 6, 4, 5, 1)), np.zeros((2, 6, 4, 5)), r"moveaxis\(prediction, -1, 1\)"),
        (np.zeros((1, 2, 3, 4, 5, 6)), np.zeros((1, 4, 5, 6)), r"\(N, C, D, H, W\)"),
        ([np.zeros(3)], [np.zeros(3)], "an image of shape"),
        ([np.zeros((4, 5))], [[]], "no map for an image"),
        ([[np.zeros((4, 5))]], [np.zeros((4, 5))], "predictions must have"),
        ("text", np.zeros((1, 4, 5)), "batch of images"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(prediction, target, told):
    with pytest.raises(InputError, match=told):
        split(prediction, target)


def test_names_must_be_as_many():
    with pytest.raises(InputError, match="as many ids, got 1"):
        split(np.zeros((2, 4, 5)), np.zeros((2, 4, 5)), ["a"])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_logits_become_probabilities(kind):
    logits = np.array([-1000, -2, 0, 3, 1000]).astype(kind)
    found = probabilities(logits, from_logits=True)
    assert np.allclose(found, [0, 1 / (1 + np.exp(2)), 0.5, 1 / (1 + np.exp(-3)), 1], rtol=1e-6)
    assert probabilities(logits, from_logits=False) is logits


def test_a_pixel_that_anybody_ignores_counts_nowhere():
    maps = [np.array([[1, 255, 1, 0]]), np.array([[1, 1, 255, 0]])]
    truths, valid = left_out(maps, 255)
    assert valid.tolist() == [[True, False, False, True]]
    assert [one.tolist() for one in truths] == [[[1, 0, 0, 0]]] * 2
    assert left_out(maps, None) == (maps, None)
