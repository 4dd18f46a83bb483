"""Truth estimated from the maps of several detectors, over folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.files import read_strength
from edgecritic.datasets.layouts.base import find_maps
from edgecritic.datasets.write import write_map
from edgecritic.errors import DataError, InputError
from edgecritic.measures.coherence import edge_coherence
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.studies.consensus import DISTANCE, consensus
from edgecritic.values import Value

__all__ = ["ConsensusRun", "run_consensus"]


class ConsensusRun(Value):
    """The estimated truths of all images.

    Attributes
    ----------
    detectors : tuple of str
    method : str
    images : list of dict
        For every image: its level or the chosen detector, the pixels of the estimate, and for every
        detector χ² against it and the edge coherence.
    failures : tuple of Failure
    """

    detectors: tuple[str, ...]
    method: str
    images: list[dict[str, Any]]
    failures: tuple[Failure, ...]

    def ranking(self) -> list[tuple[str, float, float, int]]:
        """Return (detector, mean χ², mean edge coherence, images where it is best), the best first."""
        found = []
        for name in self.detectors:
            merits = [row["chi2"][name] for row in self.images]
            firsts = sum(row["best"] == name for row in self.images)
            coherence = float(np.mean([row["coherence"][name] for row in self.images]))
            found.append((name, float(np.mean(merits)), coherence, firsts))
        return sorted(found, key=lambda row: (-row[1], row[0]))

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the maps, ready for JSON."""
        names = ("detector", "chi2", "coherence", "best")
        return {
            "method": self.method,
            "ranking": [dict(zip(names, row, strict=True)) for row in self.ranking()],
            "images": self.images,
            "failures": failure_rows(self.failures),
        }


@dataclass(frozen=True, slots=True)
class _Job:
    image: str
    files: Mapping[str, Path]
    method: str
    distance: str
    threshold: float
    tolerance: float | None
    folder: Path | None


def run_consensus(
    detectors: Mapping[str, str | Path],
    *,
    method: str = "chi2",
    distance: str = DISTANCE,
    threshold: float = 0.5,
    tolerance: float | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ConsensusRun:
    """Estimate the truth of every image that all folders of maps hold, and rank the folders by it.

    Parameters
    ----------
    detectors : mapping of name to folder
        At least two: detectors, or one with several parameters. Soft maps are cut at `threshold`.
    method, distance, tolerance
        See :func:`edgecritic.studies.consensus.consensus`.
    out : path, optional
        The estimates become ``truth/NAME.png`` there, which any command takes as truths.
    """
    if len(detectors) < 2:
        raise InputError(f"a consensus needs at least two folders of maps, got {len(detectors)}")
    if not 0 < threshold <= 1:
        raise InputError(f"the threshold must lie in (0, 1], got {threshold!r}")
    listed = {name: find_maps(Path(place).absolute()).files for name, place in detectors.items()}
    common = sorted(set.intersection(*(set(files) for files in listed.values())))
    if not common:
        raise DataError("no image has a map in every folder", remedy="their names must be the same")
    folder = absolute(out)
    home = None if folder is None else folder / "truth"
    work = [
        _Job(
            image,
            {name: files[image][0] for name, files in listed.items()},
            method,
            distance,
            threshold,
            tolerance,
            home,
        )
        for image in common
    ]
    finished = list(run_tasks(_estimate, work, jobs=jobs, progress=progress))
    rows = sorted((one for one in finished if isinstance(one, dict)), key=lambda one: one["image"])
    failures = [one for one in finished if isinstance(one, Failure)]
    for name, files in listed.items():
        failures += [
            Failure(id=image, message="has no map in every folder", path=path[0].name, detector=name)
            for image, path in files.items()
            if image not in common
        ]
    if not rows:
        raise DataError(f"no image could be used: {failures[0]}")
    ordered = tuple(sorted(failures, key=lambda one: (one.detector, one.id)))
    return ConsensusRun(detectors=tuple(detectors), method=method, images=rows, failures=ordered)


def _estimate(job: _Job) -> dict[str, Any] | Failure:
    return attempt(lambda: _estimated(job), lambda message: Failure(id=job.image, message=message))


def _estimated(job: _Job) -> dict[str, Any]:
    maps = {name: read_strength(path) >= job.threshold for name, path in job.files.items()}
    found = consensus(list(maps.values()), method=job.method, distance=job.distance, tolerance=job.tolerance)
    if job.folder is not None:
        write_map(job.folder / f"{job.image}.png", found.truth)
    names = list(maps)
    return {
        "image": job.image,
        "level": found.level,
        "chosen": None if found.chosen is None else names[found.chosen],
        "pixels": int(found.truth.sum()),
        "best": names[found.best],
        "chi2": dict(zip(names, found.scores.tolist(), strict=True)),
        "coherence": {name: edge_coherence(one).value for name, one in maps.items()},
    }
