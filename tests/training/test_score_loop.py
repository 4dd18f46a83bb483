"""Measures of batches are means of those of images."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import directed_hausdorff

import edgecritic
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.training import EdgeScores, SurfaceScores

RNG = np.random.default_rng(3)


def blobs(count, shape, channels=()):
    """Return noisy boxes as probabilities, and the boxes."""
    truths = np.zeros((count, *channels, *shape), bool)
    for one in truths.reshape(-1, *shape):
        corner = [int(RNG.integers(1, size // 2)) for size in shape]
        one[tuple(slice(start, start + size // 3) for start, size in zip(corner, shape, strict=True))] = True
    noise = RNG.random(truths.shape)
    return np.where(truths, 0.3 + 0.7 * noise, 0.6 * noise), truths


def means(rows):
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


@pytest.mark.parametrize("workers", [0, 2])
def test_hausdorff_is_that_of_scipy(workers):
    found, truths = blobs(4, (20, 24))
    loop = EdgeScores("hausdorff", workers=workers)
    loop.update(found[:3], truths[:3])
    loop.update(found[3:], truths[3:])
    pairs = [(np.argwhere(one >= 0.5), np.argwhere(truth)) for one, truth in zip(found, truths, strict=True)]
    expected = [max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) for a, b in pairs]
    assert loop.compute() == {"hausdorff": pytest.approx(np.mean(expected))}


def test_edge_maps_are_suppressed_thresholded_and_thinned():
    found, truths = blobs(3, (30, 34))
    loop = EdgeScores(["fom", "f"], threshold=0.4, nms="hed", thin=True, strategy="exact", tolerance=2)
    loop.update(found[:, None], truths[:, None])
    expected = [
        edgecritic.score(
            edgecritic.thin(edgecritic.suppress(one, "hed") >= 0.4),
            truth,
            ["fom", "f"],
            strategy="exact",
            tolerance=2,
        )
        for one, truth in zip(found, truths, strict=True)
    ]
    assert loop.compute() == pytest.approx(means(expected))


def test_several_annotators():
    found, truths = blobs(2, (20, 24))
    people = np.stack([truths, np.roll(truths, 2, axis=2)], axis=1)
    loop = EdgeScores(["fom", "hausdorff"])
    loop.update(found, people, ids=["a", "b"])
    scores = [
        edgecritic.score(one >= 0.5, list(two), ["fom", "hausdorff"])
        for one, two in zip(found, people, strict=True)
    ]
    assert loop.compute() == pytest.approx(means(scores))
    run = loop.result()
    assert run.cases["b"].maps[0].scores == scores[1]
    assert [row["case"] for row in run.rows()] == ["a", "b"]


def test_volumes_in_millimetres():
    found, truths = blobs(2, (8, 16, 18))
    loop = SurfaceScores(spacing=(3, 1, 1))
    loop.update(found[:, None], truths)
    names = ["dice", "nsd", "hd95", "assd"]
    expected = [
        edgecritic.score(one >= 0.5, truth, names, spacing=(3, 1, 1))
        for one, truth in zip(found, truths, strict=True)
    ]
    assert loop.compute() == pytest.approx(means(expected))
    other = SurfaceScores()
    other.update(found[:, None], truths, spacing=(3, 1, 1))
    assert other.compute() == loop.compute()


def test_classes_by_the_largest_channel():
    probabilities = RNG.random((3, 4, 20, 22))
    labels = RNG.integers(0, 4, (3, 5, 11)).repeat(4, axis=1).repeat(2, axis=2)
    loop = SurfaceScores("dice", labels=("left", "middle", "right"), from_logits=True)
    loop.update(probabilities, labels)
    chosen = probabilities.argmax(axis=1)
    dice = np.array(
        [
            [
                2 * np.sum((one == k) & (truth == k)) / (np.sum(one == k) + np.sum(truth == k))
                for one, truth in zip(chosen, labels, strict=True)
            ]
            for k in (1, 2, 3)
        ]
    )
    assert loop.compute() == pytest.approx(
        {
            "dice": dice.mean(),
            "dice/left": dice[0].mean(),
            "dice/middle": dice[1].mean(),
            "dice/right": dice[2].mean(),
        }
    )
    maps = SurfaceScores("dice", labels={"left": 1, "middle": 2, "right": 3})
    maps.update(chosen, labels)
    assert maps.compute() == loop.compute()


def test_channels_that_overlap():
    found, truths = blobs(3, (20, 22), channels=(2,))
    loop = SurfaceScores("dice", labels=("organ", "tumour"))
    loop.update(found, truths)
    on = found >= 0.5
    dice = 2 * (on & truths).sum(axis=(2, 3)) / (on.sum(axis=(2, 3)) + truths.sum(axis=(2, 3)))
    assert loop.compute() == pytest.approx(
        {"dice": dice.mean(), "dice/organ": dice[:, 0].mean(), "dice/tumour": dice[:, 1].mean()}
    )


@pytest.mark.parametrize("kind", [EdgeScores, SurfaceScores])
def test_ignored_pixels_count_nowhere(kind):
    found, truths = blobs(2, (20, 22))
    targets = truths.astype(np.uint8)
    targets[:, :, 16:] = 255
    loop = kind(["dice", "hausdorff"], ignore_index=255)
    loop.update(found, targets)
    cut, left = found.copy(), truths.copy()
    cut[:, :, 16:] = left[:, :, 16:] = 0
    plain = kind(["dice", "hausdorff"])
    plain.update(cut, left)
    assert loop.compute() == pytest.approx(plain.compute())


def test_images_without_anything_are_left_out_of_means():
    found, truths = blobs(1, (20, 22))
    empty = np.zeros_like(found)
    loop = SurfaceScores("dice")
    loop.update(found, truths)
    alone = loop.compute()
    loop.update(empty, empty)
    assert loop.compute() == alone
    assert math.isnan(SurfaceScores("dice").compute()["dice"])
    counted = SurfaceScores("dice", on_degenerate="value", workers=0)
    with pytest.warns(UndefinedMeasureWarning):
        counted.update(empty, empty)
    assert counted.compute() == {"dice": 1.0}


def test_parts_are_pickled_and_merged():
    found, truths = blobs(4, (20, 22))
    whole, first, second = (SurfaceScores(["dice", "hd95"]) for _ in range(3))
    whole.update(found, truths)
    first.update(found[:1], truths[:1])
    second.update(found[1:], truths[1:])
    merged = pickle.loads(pickle.dumps(second)).merge(first)
    assert merged.result() == whole.result()
    assert "dice, hd95 at 0.5" in repr(whole)


def test_what_does_not_fit_is_refused():
    zeros = np.zeros((1, 8, 9))
    with pytest.raises(InputError, match="does not compare"):
        EdgeScores("entropy")
    with pytest.raises(InputError, match="2 channels and target 3 maps"):
        EdgeScores("fom", workers=0).update(np.zeros((1, 2, 8, 9)), np.zeros((1, 3, 8, 9)))
    with pytest.raises(InputError, match="name the 2 channels"):
        SurfaceScores("dice", labels=("a",), workers=0).update(np.zeros((1, 2, 8, 9)), np.zeros((1, 2, 8, 9)))
    with pytest.raises(InputError, match="sigmoid"):
        SurfaceScores("dice", workers=0).update(zeros - 1, zeros)
    with pytest.raises(edgecritic.EdgeCriticError, match="unknown"):
        EdgeScores("fom", nms="no_such_recipe")
