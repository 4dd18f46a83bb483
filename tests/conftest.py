"""Shared fixtures: where the real data is, and Hypothesis profiles."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")


def data_root() -> Path | None:
    """Folder of the real data: $EDGECRITIC_DATA, else ../shared/data beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for place in (os.environ.get("EDGECRITIC_DATA"), beside):
        if place and Path(place).is_dir():
            return Path(place)
    return None


@pytest.fixture(scope="session")
def data() -> Path:
    """The real data; the test is skipped where it is absent."""
    root = data_root()
    if root is None:
        pytest.skip("real data not found; set EDGECRITIC_DATA")
    return root


@pytest.fixture
def worked_example() -> tuple[np.ndarray, np.ndarray]:
    """A 10×12 pair whose values under every measure and strategy were computed independently."""
    candidate, truth = np.zeros((10, 12), bool), np.zeros((10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth
