"""Where the maps of a benchmark come from and where its results go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Dataset, find_cases
from edgecritic.errors import DataError, InputError
from edgecritic.run.executor import absolute
from edgecritic.run.results import Failure

__all__ = ["check_places", "data_sets", "without_prediction"]


def data_sets(detectors: Mapping[str, str | Path], truth: str | Path, **options: Any) -> dict[str, Dataset]:
    """Find the cases of every detector; one without any is refused. `options` are those of `find_cases`."""
    return {name: _cases(place, truth, **options) for name, place in detectors.items()}


def check_places(detectors: Mapping[str, str | Path], truth: str | Path, out: str | Path | None) -> None:
    """Refuse results among the maps, and the files of a folder given in its place."""
    if out is not None and any(
        Path(out).resolve() == Path(one).resolve() for one in (*detectors.values(), truth)
    ):
        raise InputError(f"{out}: holds maps that are judged; write the results to another folder")
    files = [Path(place) for place in detectors.values() if Path(place).is_file()]
    if len(files) > 1 and Path(truth).is_dir():
        raise InputError(
            f"{files[0]} and {len(files) - 1} more are files, but a detector is a folder of predictions; "
            f"give {files[0].parent}"
        )


def without_prediction(sets: Mapping[str, Dataset]) -> list[Failure]:
    """Return a failure for every truth that has no prediction."""
    return [
        Failure(id=missing, message="has a truth but no prediction", detector=name)
        for name, found in sets.items()
        for missing in found.without_prediction
    ]


def _cases(place: str | Path, truth: str | Path, **options: Any) -> Dataset:
    found = find_cases(absolute(place), Path(truth).absolute(), roles=True, **options)
    if not found.cases:
        raise DataError(f"{place}: {'; '.join(found.no_case())}")
    return found
