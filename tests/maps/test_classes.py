"""Boundaries of label images: against a twin that looks at all pairs of pixels, and known pixel counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import loadmat

from edgecritic.errors import InputError
from edgecritic.maps.classes import class_boundaries, unpack_classes
from edgecritic.maps.thinning import thin

CLASSES = (1, 4, 9)
PERSON = 15

SEAL = [("raw", (2811, 5711)), ("raw instances", (4257, 5737))]
"""Pixels of SEAL's raw truths of two images of SBD, counted with its rules elsewhere."""

FRAMED = [(2.0, False, (2528, 5711)), (1.0, True, (630, 1417))]
"""Radius, thinning, and the pixels of pyEdgeEval's truths, which ignore a frame of five pixels."""


def twin(labels, instances, classes, radius, ignored, frame):
    """Look at all pairs of pixels, class by class."""
    rows, columns = labels.shape
    known = ~np.isin(labels, ignored)
    if frame:
        inner = np.zeros_like(known)
        inner[frame:-frame, frame:-frame] = True
        known &= inner
    places = [(r, c) for r in range(rows) for c in range(columns)]
    found = np.zeros((len(classes), rows, columns), dtype=bool)
    for number, label in enumerate(classes):
        own = np.where(labels == label, instances + 1, 0)
        for p in places:
            for q in places:
                near = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 <= radius**2
                if near and known[p] and known[q] and own[p] != own[q]:
                    found[(number, *p)] = True
    return found


@given(st.integers(0, 10_000), st.sampled_from([1.0, 1.5, 2.0, 2.9]), st.booleans(), st.integers(0, 1))
def test_equals_the_twin(seed, radius, apart, frame):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(3, 7, 2))
    labels = rng.choice([0, 1, 4, 9, 7], shape, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    instances = rng.integers(0, 3, shape) if apart else np.zeros(shape, int)
    found = class_boundaries(
        labels, CLASSES, instances=instances if apart else None, radius=radius, ignored=[7], frame=frame
    )
    assert np.array_equal(found, twin(labels, instances, CLASSES, radius, [7], frame))


def test_far_labels_and_read_only_maps():
    labels = np.array([[0, 70_000, -5, -5]])
    labels.flags.writeable = False
    near = class_boundaries(labels, [-5], radius=1)
    assert near.astype(int).tolist() == [[[0, 1, 1, 0]]]


def test_thinned_class_by_class():
    labels = np.kron(np.array([[0, 1], [2, 1]]), np.ones((9, 9), int))
    thick = class_boundaries(labels, [1, 2])
    assert np.array_equal(class_boundaries(labels, [1, 2], thin=True), [thin(one) for one in thick])


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_bits_come_back(seed, classes):
    maps = np.random.default_rng(seed).random((classes, 3, 4)) < 0.5
    bits = sum(one.astype(np.uint64) << np.uint64(place) for place, one in enumerate(maps))
    assert np.array_equal(unpack_classes(bits, classes), maps)


@pytest.mark.parametrize(
    "given",
    [
        {"classes": []},
        {"classes": [1, 1]},
        {"classes": range(65)},
        {"classes": [1], "radius": 0.5},
        {"classes": [1], "frame": 2},
        {"classes": [1], "ignored": [1]},
        {"classes": [1], "instances": np.zeros((2, 2), int)},
        {"classes": [1], "labels": np.zeros((4, 4))},
        {"classes": [1], "labels": np.zeros((4, 4, 4), int)},
        {"classes": [1], "labels": np.zeros((0, 4), int)},
    ],
)
def test_refusals(given):
    with pytest.raises(InputError):
        class_boundaries(**{"labels": np.zeros((4, 4), int), **given})


def sbd(data, folder):
    for path in sorted((data / "sbd_bench" / "datadir" / folder).glob("*.mat")):
        yield loadmat(path)["GTcls" if folder == "cls" else "GTinst"][0, 0]["Segmentation"]


@pytest.mark.parametrize(("rule", "pixels"), SEAL)
def test_pixels_of_seal(data, rule, pixels):
    objects = sbd(data, "inst") if "instances" in rule else (None, None)
    found = [
        class_boundaries(labels, [PERSON], instances=own)
        for labels, own in zip(sbd(data, "cls"), objects, strict=True)
    ]
    assert tuple(int(one.sum()) for one in found) == pixels


@pytest.mark.parametrize(("radius", "slim", "pixels"), FRAMED)
def test_pixels_within_a_frame(data, radius, slim, pixels):
    found = [class_boundaries(one, [PERSON], radius=radius, thin=slim, frame=5) for one in sbd(data, "cls")]
    assert tuple(int(one.sum()) for one in found) == pixels
