"""Learning from folders of photos and truths: resumable, several photos at a time."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import digest
from edgecritic.detectors.picture import Picture, as_picture
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray
from edgecritic.learned.base import Arrays, Marks, Model, Stage, photo_hash, trainables
from edgecritic.learned.fitting import learn, photo_seed
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.images import load_image
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import kept, record_key
from edgecritic.values import Value

__all__ = ["FitRun", "Labels", "Weak", "fit_folder", "photo_cases"]

RECORD_VERSION = 2
NEAR = 0.0075
"""Labels of two annotators are the same within this share of the diagonal."""

Weak = Literal["negative", "ignore"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Which labels are boundaries.

    Attributes
    ----------
    level : float
        Labels of at least this strength: 0 for all, 1 for those that all annotators drew.
    weak : {"negative", "ignore"}
        Whether the other labels are background, or left out.
    weighted : bool
        Whether a label counts as much as its strength, the share of annotators who drew it.

    Examples
    --------
    >>> str(Labels.parse("consensus")), str(Labels.parse("0.6", "ignore")), str(Labels.parse("weighted"))
    ('consensus', 'strength ≥ 0.6, weak left out', 'weighted by strength')
    """

    level: float = 0.0
    weak: Weak = "negative"
    weighted: bool = False

    @classmethod
    def parse(cls, text: str | float, weak: Weak = "negative") -> Labels:
        """Read ``all``, ``consensus``, ``weighted`` or a strength from 0 to 1."""
        words = {"all": 0.0, "consensus": 1.0, "weighted": 0.0}
        try:
            level = words[text] if isinstance(text, str) and text in words else float(text)
        except ValueError:
            level = math.nan
        if not 0 <= level <= 1:
            raise InputError(
                f"labels must be all, consensus, weighted, or a strength from 0 to 1, got {text!r}"
            )
        if weak not in ("negative", "ignore"):
            raise InputError(f'weak must be "negative" or "ignore", got {weak!r}')
        return cls(level, weak, text == "weighted")

    def __str__(self) -> str:
        if self.level == 0:
            return "weighted by strength" if self.weighted else "all"
        name = "consensus" if self.level == 1 else f"strength ≥ {self.level:g}"
        return name if self.weak == "negative" else f"{name}, weak left out"

    def marks(self, truths: Sequence[BoolArray], *, cache: Path | None = None) -> Marks:
        """Return what is to be learned from the maps of one photo."""
        every = reduce(or_, truths)
        if self.level == 0 and not self.weighted:
            return Marks(every)
        found = weigh_labels(truths, tolerance=NEAR * math.hypot(*every.shape), cache=cache)
        if self.weighted:
            return Marks(every, weight=np.max(found.strengths, axis=0))
        strong = reduce(or_, found.at_least(self.level))
        return Marks(strong, every & ~strong if self.weak == "ignore" else None)


class FitRun(Value):
    """What was learned: a model for each choice of labels, and photos that could not be used."""

    models: dict[str, Model]
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return what is told of the models, ready for JSON."""
        models = [model.as_dict() for model in self.models.values()]
        return {"models": models, "failures": failure_rows(self.failures)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    case: Case
    stage: Stage
    detector: str
    known: Any
    labels: tuple[Labels, ...]
    seed: int
    folder: Path | None
    fresh: bool
    binarize: float | None
    cache: Path | None


def photo_cases(photos: str | Path | None, truth: str | Path, *, split: str | None = None) -> list[Case]:
    """Return the cases of photos that have truths; the photo is `image` of each.

    Raises
    ------
    DataError
        If there is none.
    """
    place = None if photos is None else Path(photos).absolute()
    found = find_cases(None, Path(truth).absolute(), images=place, split=split)
    cases = [case for case in found if case.image is not None]
    if not cases:
        raise DataError(
            "there is no photo with the name of a truth", path=photos or truth, remedy="give both folders"
        )
    return cases


def fit_folder(
    photos: str | Path | None,
    truth: str | Path,
    detector: str = "pb",
    *,
    labels: Sequence[Labels] = (Labels(),),
    seed: int = 0,
    split: str | None = None,
    only: Sequence[str] | None = None,
    binarize: float | None = None,
    records: str | Path | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> FitRun:
    """Let a detector learn from folders.

    Parameters
    ----------
    photos, truth : path
        Folders; names of files tell which truth belongs to a photo. Photos of BSDS are found beside its
        truths if `photos` is None.
    detector : str
        An id such as ``pb``.
    labels : sequence of Labels
        A model is learned from each choice; what is the same for all is computed once.
    seed : int
    split : str, optional
        Of a BSDS folder.
    only : sequence of str, optional
        Only the photos of these names.
    binarize : float, optional
        Where grey truths are cut.
    records : path, optional
        Folder in which what was taken out of each photo is kept: started again, only what is missing is
        computed.
    jobs, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    fresh : bool
        Compute everything anew.
    cache : bool
        Keep the strengths of labels across runs.
    """
    bound = trainables.bind(detector)
    names = [str(one) for one in labels]
    if not names or len(set(names)) < len(names):
        raise InputError(f"give each choice of labels once, got {', '.join(names) or 'none'}")
    cases = photo_cases(photos, truth, split=split)
    left = {case.id: case for case in cases if only is None or case.id in only}
    if not left:
        raise DataError("holds none of the photos that were asked for", path=truth)
    hashes: dict[str, str] = {}
    failures: list[Failure] = []
    stages = [stage.name for stage in bound()]

    def each(stage: Stage, known: Any) -> list[Arrays]:
        work = [
            _Job(
                case=case,
                stage=stage,
                detector=str(bound),
                known=known,
                labels=tuple(labels),
                seed=seed,
                folder=None if records is None else Path(records).absolute() / stage.name,
                fresh=fresh,
                binarize=binarize,
                cache=known_labels,
            )
            for case in left.values()
        ]
        begin, total = stages.index(stage.name) * len(left), len(stages) * len(left)
        step = None if progress is None else _step(progress, begin, total)
        found: dict[str, Arrays] = {}
        for done in run_tasks(_extract, work, jobs=jobs, progress=step):
            if isinstance(done, Failure):
                failures.append(done)
                left.pop(done.id)
            else:
                name, hashes[name], found[name] = done
        if not found:
            raise DataError(f"nothing can be learned: {failures[0].message}")
        return [found[name] for name in left]

    with open_cache(cache) as known_labels:
        models = learn(bound, each, names, hashes, seed)
    used = {name: hashes[name] for name in left}
    if len(used) < len(hashes):
        models = {name: _with_photos(model, used) for name, model in models.items()}
    return FitRun(models=models, failures=tuple(failures))


def _with_photos(model: Model, photos: Mapping[str, str]) -> Model:
    return Model(
        detector=model.detector,
        parameters=model.parameters,
        labels=model.labels,
        seed=model.seed,
        photos={name: photos[name] for name in sorted(photos)},
    )


def _step(progress: Progress, begin: int, total: int) -> Progress:
    return lambda done, _: progress(begin + done, total)


def _extract(job: _Job) -> tuple[str, str, Arrays] | Failure:
    """Take out of one photo what a stage needs, or find it in the store; a bad file becomes a failure."""
    return attempt(lambda: _extracted(job), lambda message: Failure.of_case(job.case, message))


def _extracted(job: _Job) -> tuple[str, str, Arrays]:
    case = job.case.read(image=True)
    known = hashlib.sha256(json.dumps(job.known, sort_keys=True).encode()).hexdigest()
    labels = [[one.level, one.weak, one.weighted] for one in job.labels]
    settings = [job.detector, job.stage.name, known, labels, job.seed, job.binarize]
    key = record_key([RECORD_VERSION, settings, digest(case.contents.values())])

    def compute() -> dict[str, Any]:
        picture = case_picture(case)
        hashed = photo_hash(picture)
        marks = _marks(job, case, picture)
        arrays = job.stage.extract(picture, marks, job.known, photo_seed(job.seed, hashed))
        return {"hash": hashed, "arrays": {name: _packed(one) for name, one in arrays.items()}}

    content = kept(job.folder, case.id, key, compute, fresh=job.fresh)
    return case.id, content["hash"], {name: _unpacked(one) for name, one in content["arrays"].items()}


def case_picture(case: Case) -> Picture:
    """Return the photo of a case, with its colours."""
    if case.image is None:
        raise DataError("has no photo")
    image, kind = load_image(case.source(case.image), grey=False)
    return as_picture(image, kind)


def _marks(job: _Job, case: Case, picture: Picture) -> dict[str, Marks]:
    truths = case.load_truths(binarize=job.binarize)
    if truths[0].shape != picture.shape:
        raise InputError(f"the photo has shape {picture.shape}, its truth {truths[0].shape}")
    return {str(one): one.marks(truths, cache=job.cache) for one in job.labels}


def _packed(array: Any) -> list[Any]:
    flat = np.ascontiguousarray(array)
    return [flat.dtype.str, list(flat.shape), base64.b64encode(flat.tobytes()).decode("ascii")]


def _unpacked(packed: Sequence[Any]) -> Any:
    kind, shape, data = packed
    return np.frombuffer(base64.b64decode(data), dtype=kind).reshape(shape)
