"""Truth files of the labels that enough annotators drew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgecritic.annotators.perceptual import LabelStrength
from edgecritic.datasets.cases import Case
from edgecritic.datasets.files import read_geometry
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_spacing, as_tolerance
from edgecritic.run.annotators import AnnotatorsRun
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.results import Failure, attempt
from edgecritic.values import Value

__all__ = ["Kept", "WrittenLabels", "write_labels"]

_SPOKEN = re.compile(r"k=(?P<k>[0-9]+)|(?P<level>[0-9]*\.?[0-9]+)|consensus|orphans")


class Kept(Value):
    """Which labels of every annotator are kept.

    Attributes
    ----------
    name : str
        Of the folder: ``consensus``, ``orphans``, ``strength-0.6`` or ``drawn-by-3``.
    level : float, optional
        Labels of at least this strength.
    number : int, optional
        Labels that at least so many annotators drew, however many there are.
    """

    name: str
    level: float | None = None
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> Kept:
        """Read ``consensus``, ``orphans``, a strength from 0 to 1, or ``k=3``.

        Examples
        --------
        >>> Kept.parse("0.6").name, Kept.parse("k=3").name
        ('strength-0.6', 'drawn-by-3')
        """
        read = _SPOKEN.fullmatch(text.strip())
        if read is None or (read["k"] and int(read["k"]) < 1) or (read["level"] and float(read["level"]) > 1):
            raise InputError(
                f"labels to write are consensus, orphans, a strength from 0 to 1, or k=3, got {text!r}"
            )
        if read["k"]:
            return cls(name=f"drawn-by-{int(read['k'])}", number=int(read["k"]))
        if read["level"]:
            return cls(name=f"strength-{float(read['level']):g}", level=float(read["level"]))
        return cls(name=read[0])

    def maps(self, found: LabelStrength) -> list[BoolArray]:
        """Return what is kept of the map of every annotator; maps may become empty."""
        if self.name == "orphans":
            return found.orphans()
        if self.level is not None:
            return found.at_least(self.level)
        return found.consensus(self.number)


class WrittenLabels(Value):
    """The folders of truths that were written, and images that could not be.

    Attributes
    ----------
    folders : dict of Path
    files, left_out : dict of int
        How many images each holds, and how many have too few annotators for it.
    failures : tuple of Failure
    """

    folders: dict[str, Path]
    files: dict[str, int]
    left_out: dict[str, int]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    case: Case
    kept: Kept
    folder: Path
    tolerance: float | None
    relative_tolerance: float | None
    surface: str
    cache: Path | None


def write_labels(
    run: AnnotatorsRun,
    kept: Sequence[Kept],
    out: str | Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> WrittenLabels:
    """Write the labels of an analysed data set that are strong enough as truths of their own.

    Each choice becomes a folder below `out` that any command takes as truths: an image is a BSDS file
    ``NAME.mat``, a volume a folder of ``NAME/1.nii.gz`` and so on, each with the maps of all annotators,
    in the order of the data set. Images of a single annotator, and those with fewer than ``k``, are left out.
    """
    home = Path(out).absolute()
    settings = {name: run.results[name] for name in ("tolerance", "relative_tolerance", "surface")}
    rows = run.results["per_image"]
    folders = {one.name: home / one.name for one in kept}
    files, left_out = dict.fromkeys(folders, 0), dict.fromkeys(folders, 0)
    failures = []
    with open_cache(cache) as known:
        work = []
        for one in kept:
            enough = [row["id"] for row in rows if row["annotators"] >= (one.number or 2)]
            left_out[one.name] = len(rows) - len(enough)
            work += [
                _Job(case=run.cases[name], kept=one, folder=folders[one.name], cache=known, **settings)
                for name in enough
            ]
        for done in run_tasks(_write, work, jobs=jobs, cluster=cluster, progress=progress):
            if isinstance(done, Failure):
                failures.append(done)
            else:
                files[done] += 1
    ordered = tuple(sorted(failures, key=lambda one: (one.detector or "", one.id)))
    return WrittenLabels(folders=folders, files=files, left_out=left_out, failures=ordered)


def _write(job: _Job) -> str | Failure:
    return attempt(
        lambda: _written(job), lambda message: Failure.of_case(job.case, message, detector=job.kept.name)
    )


def _written(job: _Job) -> str:
    case = job.case.read()
    truths = case.load_truths(rule=job.surface)
    shape, spacing = truths[0].shape, case.truth_spacing()
    reach = as_tolerance(shape, as_spacing(spacing, len(shape)), job.tolerance, job.relative_tolerance)
    maps = job.kept.maps(weigh_labels(truths, tolerance=reach, spacing=spacing, cache=job.cache))
    if len(shape) == 2:
        write_bsds_mat(job.folder / f"{case.id}.mat", maps)
    else:
        place = read_geometry(case.source(case.truths[0]))
        for number, one in enumerate(maps, start=1):
            write_map(job.folder / case.id / f"{number}.nii.gz", one, geometry=place)
    return job.kept.name
