"""Shared fixtures: where the real data is, and Hypothesis profiles."""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
def make_results() -> Callable[..., dict[str, Any]]:
    """Return the maker of realistic benchmark results in report_results.py beside this file."""
    place = Path(__file__).with_name("report_results.py")
    return runpy.run_path(str(place))["make_results"]
