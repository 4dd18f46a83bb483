"""Work over folders of many images: in parallel, on clusters, resumable.

The functions take folders and return values; `run.failures` says what could not be worked on.
"""

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.run.annotators import run_annotators as run_annotators
    from edgecritic.run.bench import run_bench as run_bench
    from edgecritic.run.detect import detect_folder as detect_folder
    from edgecritic.run.regions import run_regions as run_regions
    from edgecritic.run.results import Failure as Failure
    from edgecritic.run.score import ScoreSettings as ScoreSettings
    from edgecritic.run.score import score_folder as score_folder
    from edgecritic.run.strength import run_strength as run_strength
    from edgecritic.run.tune import tune_folder as tune_folder

__all__ = [
    *("Failure", "ScoreSettings", "detect_folder", "run_annotators", "run_bench", "run_regions"),
    *("run_strength", "score_folder", "tune_folder"),
]

_HOMES = {
    "Failure": "results",
    "ScoreSettings": "score",
    "detect_folder": "detect",
    "run_annotators": "annotators",
    "run_bench": "bench",
    "run_regions": "regions",
    "run_strength": "strength",
    "score_folder": "score",
    "tune_folder": "tune",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
