"""Semi-automatic truths of many photos: proposals, lists of edits, and what they make of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.content import read_text
from edgecritic.datasets.files import read_mask, read_truths
from edgecritic.datasets.layouts import find_maps
from edgecritic.datasets.names import split_name
from edgecritic.datasets.write import write_map
from edgecritic.detectors.proposals import propose
from edgecritic.errors import DataError, InputError
from edgecritic.maps.editing import edits_document, listed_edits, read_document, replay, simulated_edits
from edgecritic.maps.fold import Edit
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.files import write_text
from edgecritic.run.images import list_images, load_image
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.values import Value

__all__ = ["ProposeRun", "ProposedTruth", "propose_folder"]

_MOST_BYTES = 2**27  # of one list of edits


class ProposedTruth(Value):
    """A truth that was written.

    Attributes
    ----------
    image, map, edits : str
        The files: the photo, the truth, and the edits that make it of the proposal.
    level : int
        The threshold to begin with.
    proposed, deleted, added, pixels : int
        Pixels of the proposal at that level, those that the truth does not have, those that only it has, and
        all of the truth.
    """

    image: str
    map: str
    edits: str
    level: int
    proposed: int
    deleted: int
    added: int
    pixels: int


class ProposeRun(Value):
    """The truths that were written, and the photos that could not be used."""

    images: tuple[ProposedTruth, ...]
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"images": [one.as_dict() for one in self.images], "failures": failure_rows(self.failures)}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per photo."""
        return [one.as_dict() for one in self.images]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    name: str
    file: Path
    out: Path
    level: int | None
    edits: Path | None
    lists: Mapping[str, Path] = field(default_factory=dict)
    truth: tuple[Path, ...] = ()
    radius: float


def propose_folder(
    images: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    level: int | None = None,
    edits: str | Path | None = None,
    accept: str | Path | None = None,
    delete: str | Path | None = None,
    add: str | Path | None = None,
    like: str | Path | None = None,
    radius: float = 3.0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ProposeRun:
    """Propose truths of photos and apply edits: ``maps/NAME.png`` and ``edits/NAME.json`` for each.

    Parameters
    ----------
    images : path or paths
        Photos, or folders of them.
    out : path
    level : int, optional
        The threshold to begin with, 1 to 256; that of `edits`, or the studio's own choice, if not given.
    edits : path, optional
        A list of edits, or a folder with one ``NAME.json`` per photo, as this function and the studio write
        them; they are replayed.
    accept, delete, add : path, optional
        Maps of the pixels that are kept of the proposal, taken from it and added to it, called like the
        photos. They come after `edits`.
    like : path, optional
        Hand-made truths in any layout: a simulated editor works towards the first annotator's, see
        :func:`edgecritic.maps.editing.simulated_edits`.
    radius : float
        How far the simulated editor looks, in pixels.
    """
    if like is not None and any(one is not None for one in (edits, accept, delete, add)):
        raise InputError(
            "--like lets a simulated editor work: it goes without --edits, --accept, --delete, --add"
        )
    if radius < 0:
        raise InputError(f"radius must be 0 or more, got {radius:g}")
    files = list_images([images] if isinstance(images, str | Path) else images)
    names = {split_name(file.name)[0]: file for file in files}
    given = {"accept": accept, "delete": delete, "add": add}
    lists = {what: find_maps(Path(place)).files for what, place in given.items() if place is not None}
    truths = {} if like is None else {case.id: case.truths for case in find_cases(None, like)}
    work = [
        _Job(
            name=name,
            file=file,
            out=Path(out),
            level=level,
            edits=_edits_file(edits, name, len(names)),
            lists={what: found[name][0] for what, found in lists.items() if name in found},
            truth=truths.get(name, ()),
            radius=radius,
        )
        for name, file in names.items()
    ]
    if like is not None:
        missing = [job.name for job in work if not job.truth]
        if missing:
            raise DataError(f"holds no truth for {', '.join(missing[:5])}; names must be the same", path=like)
    done = dict(run_tasks(_proposed, work, jobs=jobs, progress=progress))
    ordered = [done[name] for name in names]
    return ProposeRun(
        images=tuple(one for one in ordered if isinstance(one, ProposedTruth)),
        failures=tuple(one for one in ordered if isinstance(one, Failure)),
    )


def _edits_file(place: str | Path | None, name: str, photos: int) -> Path | None:
    """Return the list of edits of a photo; a folder need not have one for each."""
    if place is None:
        return None
    path = Path(place)
    if path.is_dir():
        file = path / f"{name}.json"
        return file if file.is_file() else None
    if photos != 1:
        raise InputError(f"--edits {path} is one file for {photos} photos", remedy="give a folder")
    return path


def _proposed(job: _Job) -> tuple[str, ProposedTruth | Failure]:
    return job.name, attempt(
        lambda: _written(job), lambda message: Failure(id=job.name, path=str(job.file), message=message)
    )


def _written(job: _Job) -> ProposedTruth:
    image, kind = load_image(job.file, grey=False)
    if kind == "volume":
        raise DataError("is a volume; truths are proposed for photos")
    found = propose(image)
    shape = (found.levels.shape[0], found.levels.shape[1])
    level, edits = _edits(job, found.level, shape)
    shown = found.levels >= max(level, 1)
    if job.truth:
        edits = simulated_edits(
            found.levels, read_truths(job.truth[0], binarize=0.5)[0], level=level, radius=job.radius
        )
    if job.lists:
        masks = {what: read_mask(path, binarize=0.5) for what, path in job.lists.items()}
        edits = [*edits, *listed_edits(replay(found.levels, level, edits), **masks)]
    result = replay(found.levels, level, edits)
    target, notes = job.out / "maps" / f"{job.name}.png", job.out / "edits" / f"{job.name}.json"
    write_map(target, result)
    notes.parent.mkdir(parents=True, exist_ok=True)
    write_text(notes, json.dumps(edits_document(level, edits), separators=(",", ":")) + "\n")
    return ProposedTruth(
        image=str(job.file),
        map=str(target),
        edits=str(notes),
        level=level,
        proposed=int(np.count_nonzero(shown)),
        deleted=int(np.count_nonzero(shown & ~result)),
        added=int(np.count_nonzero(result & ~shown)),
        pixels=int(np.count_nonzero(result)),
    )


def _edits(job: _Job, level: int, shape: tuple[int, int]) -> tuple[int, list[Edit]]:
    if job.edits is None:
        return job.level or level, []
    try:
        document = json.loads(read_text(job.edits, limit=_MOST_BYTES))
    except ValueError as error:
        raise DataError(f"is no JSON: {error}", path=job.edits) from error
    told, edits = read_document(document, shape)
    return job.level or told, edits
