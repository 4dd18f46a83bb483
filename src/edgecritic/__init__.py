"""EdgeCritic says how good an edge map is.

The public names below are loaded on first use, so that ``import edgecritic`` is quick and loads
neither Numba nor SciPy nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.assignment.dynamic import ExactState as ExactState
    from edgecritic.detectors import Detection as Detection
    from edgecritic.detectors import detect as detect
    from edgecritic.errors import EdgeCriticError as EdgeCriticError
    from edgecritic.maps.suppression import suppress as suppress
    from edgecritic.maps.thinning import thin as thin
    from edgecritic.matching import Matching as Matching
    from edgecritic.matching import match as match
    from edgecritic.measures import Comparison as Comparison
    from edgecritic.measures import Scores as Scores
    from edgecritic.measures import assess as assess
    from edgecritic.measures import compare as compare
    from edgecritic.measures import score as score
    from edgecritic.protocols.benchmark import Benchmark as Benchmark
    from edgecritic.protocols.benchmark import BenchmarkResult as BenchmarkResult
    from edgecritic.protocols.crispness import average_crispness as average_crispness
    from edgecritic.protocols.human import human_counts as human_counts
    from edgecritic.protocols.human import human_level as human_level
    from edgecritic.protocols.presets import Protocol as Protocol
    from edgecritic.protocols.presets import get_protocol as get_protocol
    from edgecritic.protocols.sweep import Sweep as Sweep
    from edgecritic.protocols.sweep import sweep as sweep
    from edgecritic.tuning.result import Tuning as Tuning
    from edgecritic.tuning.tune import tune as tune

__version__ = "0.1.0"

_HOMES = {
    "match": "edgecritic.matching",
    "Matching": "edgecritic.matching",
    "ExactState": "edgecritic.assignment.dynamic",
    "compare": "edgecritic.measures",
    "Comparison": "edgecritic.measures",
    "score": "edgecritic.measures",
    "Scores": "edgecritic.measures",
    "assess": "edgecritic.measures",
    "detect": "edgecritic.detectors",
    "Detection": "edgecritic.detectors",
    "tune": "edgecritic.tuning.tune",
    "Tuning": "edgecritic.tuning.result",
    "thin": "edgecritic.maps.thinning",
    "suppress": "edgecritic.maps.suppression",
    "sweep": "edgecritic.protocols.sweep",
    "Sweep": "edgecritic.protocols.sweep",
    "Benchmark": "edgecritic.protocols.benchmark",
    "BenchmarkResult": "edgecritic.protocols.benchmark",
    "Protocol": "edgecritic.protocols.presets",
    "get_protocol": "edgecritic.protocols.presets",
    "average_crispness": "edgecritic.protocols.crispness",
    "human_counts": "edgecritic.protocols.human",
    "human_level": "edgecritic.protocols.human",
    "EdgeCriticError": "edgecritic.errors",
}

__all__ = ["__version__", *_HOMES]


_ROOMS = {"annotators", "datasets", "detectors", "matching", "measures", "protocols", "studies"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"edgecritic.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'edgecritic' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
