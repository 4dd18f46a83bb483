"""Output against strength: the pooled rank correlation equals SciPy's on the listed pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from edgecritic.annotators import OutputStrength, output_strength, pool_output_strength, strength
from edgecritic.errors import InputError


def listed(result: OutputStrength) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(result.counts)
    times = result.counts[rows, columns]
    return np.repeat(rows, times), np.repeat(result.strengths[columns], times)


def test_rho_equals_scipy():
    rng = np.random.default_rng(0)
    parts = []
    for annotators in (2, 3, 5):
        counts = rng.poisson(0.4, (256, annotators)) * (rng.random((256, annotators)) < 0.2)
        parts.append(OutputStrength(counts=counts, strengths=np.arange(1, annotators + 1) / annotators))
    for part in (*parts, pool_output_strength(parts)):
        assert part.rho == pytest.approx(spearmanr(*listed(part)).statistic, abs=1e-12)
    pooled = pool_output_strength(parts)
    assert pooled.counts.sum() == sum(part.counts.sum() for part in parts)
    shares = pooled.table
    assert np.allclose(np.nansum(shares, axis=1)[~np.isnan(shares[:, 0])], 1)


def test_every_pair_is_counted_at_its_output_and_strength():
    both, one = np.zeros((9, 20), bool), np.zeros((9, 20), bool)
    both[2, :] = one[2, :] = True
    one[7, :5] = True
    output = np.zeros((9, 20))
    output[2, :] = 200 / 255
    output[7, :5] = 51 / 255
    found = output_strength(output, strength([both, one], tolerance=1))
    assert found.counts[200].tolist() == [0, 40]
    assert found.counts[51].tolist() == [5, 0]
    assert found.counts.sum() == 45
    assert found.as_dict()["shares"][4] == [0, 0, 1, 0, 0, 0]


def test_shapes_must_agree():
    line = np.eye(5, dtype=bool)
    with pytest.raises(InputError, match="same shape"):
        output_strength(np.zeros((4, 4)), strength([line, line]))
