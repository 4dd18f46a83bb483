"""The oracle over granularities against plain loops."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.granularity import granularity_oracle
from edgecritic.protocols.summary import summarise


def random_counts(seed, granularities=4, images=5, steps=6):
    rng = np.random.default_rng(seed)
    shape = (granularities, images, steps)
    truth = np.broadcast_to(rng.integers(50, 90, (1, images, 1)), shape)
    found = rng.integers(1, 100, shape)
    hits = [rng.binomial(truth, rng.random(shape)), truth, rng.binomial(found, rng.random(shape)), found]
    steps_up = np.broadcast_to(np.arange(1, steps + 1) / 10, shape)
    return np.stack([steps_up, *hits], axis=-1).astype(float)


def counted(tables, zeros=None):
    zeros = [None] * len(tables) if zeros is None else zeros
    return [Counts.from_rows(rows, zero=zero) for rows, zero in zip(tables, zeros, strict=True)]


def oracle(counts, zeros=None, **options):
    return granularity_oracle([counted(each, zeros) for each in counts], **options)


def f_of(row):
    r = row[1] / row[2]
    p = row[3] / row[4]
    return 2 * p * r / (p + r) if p + r else 0.0


@pytest.mark.parametrize("seed", range(5))
def test_best_choices_by_loops(seed):
    counts = random_counts(seed)
    granularities, images, steps, _ = counts.shape
    per_threshold = [
        [max((counts[g, i, k] for g in range(granularities)), key=f_of) for k in range(steps)]
        for i in range(images)
    ]
    per_image = [
        max((counts[g, i, k] for k in range(steps) for g in range(granularities)), key=f_of)
        for i in range(images)
    ]
    found = oracle(counts)
    assert found.ods == summarise(counted(per_threshold)).ods
    total = np.sum(per_image, axis=0)
    assert (found.ois.recall, found.ois.precision) == (total[1] / total[2], total[3] / total[4])
    assert (found.granularities, found.images) == (granularities, images)


def test_never_below_a_single_granularity():
    counts = random_counts(7)
    best = oracle(counts)
    one = oracle(counts[:1])
    assert one.ods == summarise(counted(counts[0])).ods
    assert one.ois == summarise(counted(counts[0])).ois
    assert best.ois.f >= one.ois.f


def test_the_label_says_oracle():
    found = oracle(random_counts(1))
    assert "oracle" in str(found)
    assert "oracle" in json.loads(json.dumps(found.as_dict()))["label"]


def test_zero_threshold():
    counts = random_counts(2, images=2)
    zero = [(counts[0, i, 0, 2], counts[0, i, 0, 2], 60, 4000) for i in range(2)]
    assert oracle(counts, zero, protocol="edter").ods.f > 0


def test_bad_input_is_refused():
    counts = random_counts(1)
    with pytest.raises(InputError, match="at least one granularity"):
        granularity_oracle([])
    with pytest.raises(InputError, match="same images"):
        oracle([counts[0], counts[1][:3]])
    with pytest.raises(InputError, match="same images"):
        oracle([counts[0], counts[1][:, :3]])


def test_one_pixel_of_truth_is_enough_to_choose_by():
    poor, good = Counts.from_rows([(0.5, 0, 1, 0, 5)]), Counts.from_rows([(0.5, 1, 1, 1, 1)])
    assert granularity_oracle([[poor], [good]]).ods.f == granularity_oracle([[good], [poor]]).ods.f == 1
