"""EdgeCritic says how good an edge map is.

The public names below are loaded on first use, so that ``import edgecritic`` is quick and loads
neither Numba nor SciPy nor matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.catalogue import available as available
    from edgecritic.detectors import Detection as Detection
    from edgecritic.detectors import detect as detect
    from edgecritic.errors import EdgeCriticError as EdgeCriticError
    from edgecritic.maps.suppression import suppress as suppress
    from edgecritic.maps.thinning import thin as thin
    from edgecritic.matching import Matching as Matching
    from edgecritic.matching import match as match
    from edgecritic.measures import Comparison as Comparison
    from edgecritic.measures import Scores as Scores
    from edgecritic.measures import compare as compare
    from edgecritic.measures import score as score
    from edgecritic.measures import score_alone as score_alone
    from edgecritic.measures.labels import CaseScores as CaseScores
    from edgecritic.measures.labels import score_labels as score_labels
    from edgecritic.protocols.benchmark import Benchmark as Benchmark
    from edgecritic.protocols.benchmark import BenchmarkResult as BenchmarkResult
    from edgecritic.protocols.counts import Counts as Counts
    from edgecritic.protocols.presets import get_protocol as get_protocol
    from edgecritic.protocols.protocol import Protocol as Protocol
    from edgecritic.protocols.sweep import Sweep as Sweep
    from edgecritic.protocols.sweep import sweep as sweep
    from edgecritic.tuning.result import Tuning as Tuning
    from edgecritic.tuning.tune import tune as tune

__version__ = "0.2.0"

_HOMES = {
    "match": "matching",
    "Matching": "matching",
    "compare": "measures",
    "Comparison": "measures",
    "score": "measures",
    "Scores": "measures",
    "score_alone": "measures",
    "score_labels": "measures.labels",
    "CaseScores": "measures.labels",
    "detect": "detectors",
    "Detection": "detectors",
    "tune": "tuning.tune",
    "Tuning": "tuning.result",
    "thin": "maps.thinning",
    "suppress": "maps.suppression",
    "sweep": "protocols.sweep",
    "Sweep": "protocols.sweep",
    "Counts": "protocols.counts",
    "Benchmark": "protocols.benchmark",
    "BenchmarkResult": "protocols.benchmark",
    "Protocol": "protocols.protocol",
    "get_protocol": "protocols.presets",
    "available": "catalogue",
    "EdgeCriticError": "errors",
}
_ROOMS = (
    *("annotators", "datasets", "detectors", "errors", "learned", "maps", "matching", "measures"),
    *("protocols", "studies", "training", "tuning"),
)

__all__ = ["__version__", *_HOMES]

__getattr__, __dir__ = attach(__name__, {"__version__": "", **_HOMES, **dict.fromkeys(_ROOMS, "")})
