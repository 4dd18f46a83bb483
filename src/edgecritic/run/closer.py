"""The matching study on the user's own maps, and its closer look at maps of all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from edgecritic.datasets.cases import Case
from edgecritic.datasets.layouts.base import find_maps
from edgecritic.errors import DataError, InputError
from edgecritic.run.executor import Progress, absolute
from edgecritic.run.files import with_tuples
from edgecritic.run.matching import StudyPart, Task, keep_block, run_blocks, with_photo
from edgecritic.run.results import Failure
from edgecritic.studies.blocks import OwnMaps, closer_blocks, own_blocks
from edgecritic.studies.closer import CloserLook, PairLook, look_at_block, middle, summarise_looks
from edgecritic.studies.pairs import TOLERANCES

__all__ = ["DEFAULT_CLOSER", "own_parts", "closer_parts", "run_closer"]

DEFAULT_CLOSER = 8
"""At so many images the study looks closer, unless told otherwise."""


def own_parts(
    cases: Sequence[Case],
    folders: Mapping[str, str | Path],
    *,
    tolerances: Sequence[float] = TOLERANCES,
    images: int | None = None,
    threshold: float = 0.5,
) -> tuple[list[Case], OwnMaps, list[StudyPart], list[Failure]]:
    """Return the work of the study on the user's own maps.

    Parameters
    ----------
    cases : sequence of Case
        With the truths.
    folders : mapping of name to folder
        Two detectors or more; soft maps are cut at `threshold`.
    tolerances, images
        As of `study_parts`.

    Returns
    -------
    (cases, maps, parts, failures)
        The images that all folders have, their maps by detector and image, the work, and what is missing.
    """
    if len(folders) < 2:
        raise InputError(f"a ranking needs at least two folders of maps, got {len(folders)}")
    if not 0 < threshold <= 1:
        raise InputError(f"the threshold must lie in (0, 1], got {threshold!r}")
    listed = {name: find_maps(Path(place).absolute()).files for name, place in folders.items()}
    failures = [
        Failure(id=case.id, message="has no map", detector=name)
        for name, files in listed.items()
        for case in cases
        if case.id not in files
    ]
    missing = {one.id for one in failures}
    chosen = [case for case in cases if case.id not in missing][:images]
    if not chosen:
        raise DataError(
            "no image has a map in every folder", remedy="their names must be those of the truths"
        )
    maps = {name: {case.id: files[case.id][0] for case in chosen} for name, files in listed.items()}
    blocks = own_blocks(chosen, maps, tolerances, threshold=threshold)
    part = StudyPart(maps="own", blocks=tuple(blocks), symmetric=False)
    return chosen, maps, [part], failures


def closer_parts(
    cases: Sequence[Case],
    parts: Sequence[StudyPart],
    *,
    tolerances: Sequence[float] = TOLERANCES,
    most: int | None = DEFAULT_CLOSER,
    maps: OwnMaps = MappingProxyType({}),
    threshold: float = 0.5,
) -> list[StudyPart]:
    """Return the work of the closer look: the first `most` images, for every kind of maps of `parts`."""
    found = []
    for part in parts:
        seen = (with_photo(cases) if part.maps == "canny" else list(cases))[:most]
        blocks = closer_blocks(seen, tolerances, kind=part.maps, maps=maps, threshold=threshold)
        found.append(StudyPart(maps=part.maps, blocks=tuple(blocks), symmetric=False))
    return found


def run_closer(
    parts: Sequence[StudyPart],
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> tuple[list[CloserLook], list[Failure]]:
    """Look closer at maps, kind by kind; arguments as of `run_parts`. Kinds without a pair are left out."""
    folder = absolute(out)
    work = [Task(block, folder, fresh) for part in parts for block in part.blocks]
    found, failures = run_blocks(_look, work, jobs=jobs, cluster=cluster, progress=progress)
    looks = []
    for part in parts:
        seen = [one for block in part.blocks for one in found.get(block.name, [])]
        if seen:
            tolerance = middle(part.blocks[0].tolerances)
            looks.append(summarise_looks(seen, maps=part.maps, tolerance=tolerance))
    return looks, failures


def _look(task: Task) -> tuple[str, list[PairLook] | Failure]:
    """Look closer at one block, or take what was seen from the store."""
    found = keep_block(
        task,
        "@closer",
        lambda block, contents: {"looks": [one.as_dict() for one in look_at_block(block, contents)]},
    )
    if isinstance(found, Failure):
        return task.block.name, found
    return task.block.name, [PairLook(**with_tuples(row)) for row in found["looks"]]
