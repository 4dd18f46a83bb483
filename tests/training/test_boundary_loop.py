"""The benchmark of batches equals the benchmark of images."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import edgecritic
from edgecritic.datasets import synthetic
from edgecritic.errors import InputError, ProtocolMismatchError
from edgecritic.maps.classes import class_boundaries
from edgecritic.training import BoundaryBenchmark

CASES = synthetic.dataset(5, size=(48, 60), annotator_count=3)
STRENGTHS = np.stack([synthetic.detect(case.image, "good") for case in CASES])
TRUTHS = np.stack([np.stack(case.truths) for case in CASES])
IDS = [case.id for case in CASES]


def by_image(protocol="bsds", strengths=STRENGTHS, truths=TRUTHS, ids=IDS, **options):
    benchmark = edgecritic.Benchmark(protocol)
    for name, strength, truth in zip(ids, strengths, truths, strict=True):
        benchmark.update(strength, truth, id=name, **options)
    return benchmark.result(draws=50)


def fed(loop, *, size=2, strengths=STRENGTHS, truths=TRUTHS, ids=IDS):
    for start in range(0, len(strengths), size):
        part = slice(start, start + size)
        loop.update(strengths[part], truths[part], ids=None if ids is None else ids[part])
    return loop


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_equals_the_benchmark_of_images(workers, size):
    expected = by_image()
    loop = fed(BoundaryBenchmark(workers=workers), size=size)
    assert loop.result(draws=50) == expected
    assert loop.compute() == {
        "ODS": expected.ods.f,
        "OIS": expected.ois.f,
        "AP": expected.ap,
        "R50": expected.r50,
        "threshold": expected.ods.threshold,
    }


def test_float16_and_logits():
    half = STRENGTHS.astype(np.float16)
    assert fed(BoundaryBenchmark(), strengths=half).result(draws=50) == by_image(strengths=half)
    logits = np.log(np.clip(STRENGTHS, 1e-6, 1 - 1e-6) / (1 - np.clip(STRENGTHS, 1e-6, 1 - 1e-6)))
    found = fed(BoundaryBenchmark(from_logits=True), strengths=logits).compute()
    assert found["ODS"] == pytest.approx(by_image().ods.f, abs=1e-3)  # a rounded value may pass a threshold


def test_ignored_pixels_count_nowhere():
    ignored = np.zeros(STRENGTHS.shape[1:], bool)
    ignored[:, 40:] = True
    truths = np.where(ignored, 255, TRUTHS).astype(np.uint8)
    found = fed(BoundaryBenchmark(ignore_index=255), truths=truths).result(draws=50)
    assert found == by_image(mask=~ignored)
    assert found != by_image()


def test_order_and_division_change_nothing():
    whole = fed(BoundaryBenchmark(), ids=None)
    first, second = BoundaryBenchmark(workers=1), BoundaryBenchmark(workers=2)
    fed(first, strengths=STRENGTHS[3:], truths=TRUTHS[3:], ids=None)
    fed(second, strengths=STRENGTHS[:3], truths=TRUTHS[:3], ids=None)
    merged = pickle.loads(pickle.dumps(first)).merge(second)
    assert merged.result(draws=50) == whole.result(draws=50)
    assert len(merged) == len(whole) == 5


def test_an_image_that_comes_twice_is_counted_once_if_it_has_a_name():
    loop = fed(BoundaryBenchmark())
    loop.update(STRENGTHS[:1], TRUTHS[:1], ids=IDS[:1])
    assert loop.result(draws=50) == by_image()
    nameless = fed(BoundaryBenchmark(), ids=None)
    nameless.update(STRENGTHS[:1], TRUTHS[:1])
    assert len(nameless.result(draws=0).counts) == 6


def test_one_name_for_two_images_is_refused():
    loop = BoundaryBenchmark()
    loop.update(STRENGTHS[:2], TRUTHS[:2], ids=["a", "a"])
    with pytest.raises(InputError, match="'a' was judged twice"):
        loop.compute()


def test_other_settings_are_not_merged():
    with pytest.raises(ProtocolMismatchError, match="cannot be merged"):
        BoundaryBenchmark("bsds").merge(BoundaryBenchmark("nyud"))
    with pytest.raises(InputError, match="expected another BoundaryBenchmark"):
        BoundaryBenchmark("bsds").merge(edgecritic.training.EdgeScores("fom"))


def test_nothing_yet_and_nothing_any_more():
    loop = BoundaryBenchmark()
    assert all(math.isnan(value) for value in loop.compute().values())
    with pytest.raises(InputError, match="no image was judged yet"):
        loop.result()
    fed(loop).reset()
    assert len(loop) == 0
    assert math.isnan(loop.compute()["ODS"])
    assert repr(loop).startswith("<BoundaryBenchmark: 0 images, protocol bsds (")


def test_a_copy_is_another_one():
    loop = fed(BoundaryBenchmark())
    other = copy.deepcopy(loop)
    loop.reset()
    assert other.result(draws=50) == by_image()


@pytest.mark.parametrize("workers", [0, 2])
def test_bad_values_are_told_with_the_name_of_their_image(workers):
    loop = BoundaryBenchmark(workers=workers)

    def epoch():
        for name, value in (("a", 0.0), ("b", np.nan)):
            loop.update(np.full((1, 8, 9), value), np.zeros((1, 8, 9)), ids=[name])
        loop.compute()

    with pytest.raises(InputError, match=r"image b: .*holds NaN"):
        epoch()


def test_fast_has_fewer_thresholds_and_says_so():
    found = fed(BoundaryBenchmark(fast=True)).result(draws=0)
    protocol = found.summary.protocol
    assert protocol.id == "bsds-fast"
    assert len(protocol.threshold_values()) == 14
    assert found.ods.f == pytest.approx(by_image(protocol).ods.f)
    assert BoundaryBenchmark("bsds(thresholds=9)", fast=True).protocol.id == "bsds-thresholds-9"


def test_union_of_annotators():
    joined = np.any(TRUTHS, axis=1)
    found = fed(BoundaryBenchmark("bsds(annotators=union)")).result(draws=50)
    assert found.counts == by_image(truths=joined).counts
    assert found.summary.protocol.digest != edgecritic.get_protocol("bsds").digest
    with pytest.raises(ProtocolMismatchError):
        found.against(by_image())


def test_classes_as_channels_and_as_labels():
    labels = np.zeros((2, 40, 44), int)
    labels[:, 10:30, 8:20], labels[:, 5:20, 25:40] = 7, 8
    maps = np.stack([class_boundaries(one, [7, 8]) for one in labels])
    strengths = np.stack([np.roll(one, 1, axis=-1) * 0.8 for one in maps])
    expected = by_image("ceval", strengths, maps, ("a", "b"), groups=("road", "sidewalk"))
    loop = BoundaryBenchmark("ceval", classes=("road", "sidewalk"))
    loop.update(strengths, maps, ids=("a", "b"))
    assert loop.result(draws=50) == expected
    numbers = loop.compute()
    assert numbers["ODS"] == expected.mf_ods
    assert numbers["ODS/road"] == expected.groups["road"].ods.f
    rules = {"names": ("road", "sidewalk"), "labels": (7, 8), "others": (0,)}
    protocol = edgecritic.get_protocol("ceval").with_changes("two", classes=rules)
    labelled = BoundaryBenchmark(protocol)
    labelled.update(strengths, labels, ids=("a", "b"))
    assert labelled.result(draws=50).counts == expected.counts
    unknown = labels.copy()
    unknown[:, :, :4] = 255
    ignoring = BoundaryBenchmark(protocol, ignore_index=255)
    ignoring.update(strengths, unknown, ids=("a", "b"))
    assert ignoring.compute()["ODS"] == pytest.approx(expected.mf_ods)


def test_channels_without_classes_are_refused():
    loop = BoundaryBenchmark("bsds", workers=0)
    with pytest.raises(InputError, match="has 3 channels, but protocol bsds has no classes"):
        loop.update(np.zeros((1, 3, 8, 9)), np.zeros((1, 8, 9)))
    with pytest.raises(InputError, match="in pixels"):
        BoundaryBenchmark("ceval", classes=("a",), workers=0, spacing=2.0).update(
            np.zeros((1, 1, 8, 9)), np.zeros((1, 8, 9))
        )


def test_volumes():
    box = np.zeros((1, 9, 14, 15), bool)
    box[:, 2:7, 4:10, 4:11] = True
    found = np.where(np.roll(box, 1, axis=3), 0.8, 0.0)
    loop = BoundaryBenchmark("volume(tolerance=1)", spacing=(3, 1, 1))
    loop.update(found[:, None], box)
    expected = edgecritic.sweep(found[0], box[0], protocol="volume(tolerance=1)", spacing=(3, 1, 1)).counts
    (counts,) = loop.result(draws=0).counts.values()
    assert counts == expected
