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
    from edgecritic.run.score import score_folder as score_folder
    from edgecritic.run.score_files import ScoreSettings as ScoreSettings
    from edgecritic.run.score_results import ScoreRun as ScoreRun
    from edgecritic.run.score_results import compare_runs as compare_runs
    from edgecritic.run.strength import run_strength as run_strength
    from edgecritic.run.summary import read_summary as read_summary
    from edgecritic.run.tune import tune_folder as tune_folder

__all__ = [
    *("Failure", "ScoreRun", "ScoreSettings", "compare_runs", "detect_folder", "read_summary"),
    *("run_annotators", "run_bench", "run_regions", "run_strength", "score_folder", "tune_folder"),
]

_HOMES = {
    "Failure": "results",
    "ScoreRun": "score_results",
    "ScoreSettings": "score_files",
    "compare_runs": "score_results",
    "detect_folder": "detect",
    "read_summary": "summary",
    "run_annotators": "annotators",
    "run_bench": "bench",
    "run_regions": "regions",
    "run_strength": "strength",
    "score_folder": "score",
    "tune_folder": "tune",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
