"""The study of pairing over images and volumes: accuracy, numbers of pairs, times."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import Case, find_cases
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.studies.claims import Claim
from edgecritic.studies.cuts import (
    Sample,
    brain_volumes,
    cut_samples,
    image_maps,
    point_sets,
    round_surface,
    surface_slabs,
    synthetic_samples,
    volume_maps,
)
from edgecritic.studies.pairing import (
    DENSE,
    METHODS,
    SIDES,
    PairCount,
    PairingAccuracy,
    PairingTime,
    accuracy,
    accuracy_of_samples,
    claims_of_accuracy,
    claims_of_pairs,
    claims_of_scores,
    count_pairs,
    time_methods,
)
from edgecritic.values import Value

__all__ = ["PairingExample", "PairingStudy", "run_pairing"]

RECORD_VERSION = 1
PAIRED = ("exact", "hungarian", "csa", "eps", "closest")
"""Methods whose pairs are counted."""


class PairingExample(Value):
    """A sub-image with the figures of merit of all methods.

    Attributes
    ----------
    data : str
    side : int
    candidate, truth : BoolArray
    scores : mapping of str to float
    why : str
        Why it is shown.
    """

    data: str
    side: int
    candidate: BoolArray
    truth: BoolArray
    scores: Mapping[str, float]
    why: str


class PairingStudy(Value):
    """Accuracy on each kind of data, sub-images to look at, numbers of pairs, and times.

    Attributes
    ----------
    accuracy : tuple of PairingAccuracy
    examples : tuple of PairingExample
    pairs : tuple of PairCount
    times : tuple of PairingTime
    left_out : tuple of str
        What was not timed because it takes too long.
    failures : tuple of Failure
    """

    accuracy: tuple[PairingAccuracy, ...]
    times: tuple[PairingTime, ...]
    examples: tuple[PairingExample, ...] = ()
    pairs: tuple[PairCount, ...] = ()
    left_out: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    def claims(self) -> list[Claim]:
        """Return what the paper says beside what was found, without times."""
        found = [one for each in self.accuracy for one in claims_of_accuracy(each)]
        return [*claims_of_scores(), *found, *claims_of_pairs(self.pairs)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the examples' pixels, ready for JSON."""
        return {
            "accuracy": [one.as_dict() for one in self.accuracy],
            "claims": [one.as_dict() for one in self.claims()],
            "pairs": [one.as_dict() for one in self.pairs],
            "times": [one.as_dict() for one in self.times],
            "failures": failure_rows(self.failures),
        }


def run_pairing(
    data: str | Path | None = None,
    *,
    images: str | Path | None = None,
    split: str | None = None,
    predictions: Mapping[str, str | Path] | None = None,
    most: int | None = None,
    planes: int = 8,
    samples: int = 200,
    sides: Sequence[int] = SIDES,
    points: Sequence[float] = (300, 1000, 3000, 10000, 30000),
    slabs: Sequence[float] = (1, 2, 4, 8),
    most_slow: int = 3000,
    limit: float = 30.0,
    detector: str = "sobel",
    seed: int = 0,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> PairingStudy:
    """Compare pairing strategies with the Hungarian method, count their pairs, and time them.

    Parameters
    ----------
    data : path, optional
        Truths in any layout, of images or of volumes (masks or surfaces), or the folder of the MNI152
        template: real sub-images beside the synthetic ones.
    images : path, optional
        Photos or scans, if they are not beside the truths; `detector` is run on them.
    split : str, optional
    predictions : mapping of name to folder, optional
        Edge maps to use in place of a detector's; soft ones are cut at the best F.
    most : int, optional
        Use the first so many images or volumes.
    planes : int
        Planes along each axis of a volume.
    samples : int
        Sub-images of each side, at least two.
    points : sequence of whole numbers
        Sizes of the point sets that are timed (on this machine, one after the other); the dense
        Hungarian method up to `most_slow` only.
    slabs : sequence of whole numbers
        Planes of the slabs of a surface that are timed: that of the first volume, or of a generated one.
    limit : float
        A method that has needed so many seconds is not run on larger sets.
    out : path, optional
        Where the scores of sub-images are kept; `fresh` computes them anew.
    """
    if samples < 2:
        raise InputError(f"a correlation needs at least 2 samples of each side, got {samples}")
    for name, given in (("points", points), ("slabs", slabs)):
        if not all(1 <= number < np.inf and number == int(number) for number in given):
            raise InputError(f"{name} must be whole numbers of at least 1, got {list(given)}")
    families = {"synthetic": {side: list(synthetic_samples(side, samples, seed=seed)) for side in sides}}
    mask: BoolArray | None = None
    failures: list[Failure] = []
    if data is not None:
        maps, mask, failures = _real(data, images, split, predictions, most, planes, detector, jobs, cluster)
        for name, each in maps.items():
            families[name] = cut_samples(each, sides, samples, seed=seed)
    home = absolute(out)
    records = None if home is None else home / RECORDS / "@pairing"
    work = [
        (name, side, cut, records, fresh) for name, family in families.items() for side, cut in family.items()
    ]
    scored = {
        (name, side): rows
        for name, side, rows in run_tasks(_score, work, jobs=jobs, cluster=cluster, progress=progress)
    }
    tables = {name: {side: scored[name, side] for side in sides} for name in families}
    scenes = _scenes(points, slabs, round_surface() if mask is None else mask, seed)
    times, pairs, left_out = _timed(scenes, most_slow, limit)
    return PairingStudy(
        accuracy=tuple(accuracy(name, table) for name, table in tables.items()),
        examples=tuple(one for name in families for one in _examples(name, families[name], tables[name])),
        pairs=tuple(pairs),
        times=tuple(times),
        left_out=tuple(left_out),
        failures=tuple(failures),
    )


def _score(task: tuple[str, int, list[Sample], Path | None, bool]) -> tuple[str, int, list[dict[str, float]]]:
    name, side, cut, folder, fresh = task
    pixels = hashlib.sha256()
    for pair in cut:
        for map_ in pair:
            pixels.update(np.packbits(map_).tobytes())
    key = record_key([RECORD_VERSION, METHODS, side, len(cut), pixels.hexdigest()])
    content = kept(folder, f"{name}-{side}", key, lambda: {"rows": accuracy_of_samples(cut)}, fresh=fresh)
    return name, side, content["rows"]


def _real(
    data: str | Path,
    images: str | Path | None,
    split: str | None,
    predictions: Mapping[str, str | Path] | None,
    most: int | None,
    planes: int,
    detector: str,
    jobs: int | None,
    cluster: str | None,
) -> tuple[dict[str, list[Sample]], BoolArray | None, list[Failure]]:
    """Return pairs of maps by the name of their data, the mask of the first volume, and failures."""
    place = Path(data)
    if place.is_dir() and any(place.glob("*t1*.nii*")) and any(place.glob("*wm*.nii*")):
        scan, mask = brain_volumes(place)
        return {"mni152": volume_maps(scan, mask, detector, planes=planes)}, mask, []
    maps: dict[str, list[Sample]] = {}
    volume: BoolArray | None = None
    failures: list[Failure] = []
    chosen: Mapping[str, str | Path | None] = predictions or {detector: None}
    for name, folder in chosen.items():
        cases = find_cases(folder, place, images=images, split=split).cases[:most]
        work = [(case, detector, planes) for case in cases]
        made = dict(run_tasks(_used, work, jobs=jobs, cluster=cluster))
        failures += [one for case in cases if isinstance(one := made[case.id], Failure)]
        good = [one for case in cases if not isinstance(one := made[case.id], Failure)]
        maps[name] = [sample for samples, _ in good for sample in samples]
        volume = next((mask for _, mask in good if mask is not None), volume)
        if not maps[name]:
            told = f": {failures[0].message}" if failures else ""
            raise DataError(f"no image of {place} could be used with {name}{told}")
    return maps, volume, failures


def _used(task: tuple[Case, str, int]) -> tuple[str, tuple[list[Sample], BoolArray | None] | Failure]:
    case = task[0]
    return case.id, attempt(
        lambda: _maps_of(*task),
        lambda message: Failure(id=case.id, path=str(case.truths[0]), message=message),
    )


def _maps_of(case: Case, detector: str, planes: int) -> tuple[list[Sample], BoolArray | None]:
    """Return candidate and truth of an image, or of the planes of a volume with its mask."""
    truth = case.load_truths(binarize=0.5)[0]
    own = case.prediction is not None
    if not own and case.image is None:
        raise DataError("has no photo", remedy="give their folder with --images, or maps with --predictions")
    source = case.load_strength() if own else case.load_image()
    if source.shape != truth.shape:
        raise DataError(f"the truth has the shape {truth.shape}, the image {source.shape}")
    name = "" if own else detector
    if truth.ndim == 3:
        return volume_maps(source, truth, name, planes=planes), truth
    return [image_maps(source, truth, name)], None


def _scenes(
    points: Sequence[float], slabs: Sequence[float], mask: BoolArray, seed: int
) -> dict[str, list[Sample]]:
    numbers = sorted({int(number) for number in points})
    planes = sorted({min(int(number), mask.shape[0]) for number in slabs})
    scenes = {f"points, {ndim}-D": [point_sets(ndim, number, seed) for number in numbers] for ndim in (2, 3)}
    scenes["surface"] = [sample for _, sample in surface_slabs(mask, planes)]
    return {name: samples for name, samples in scenes.items() if samples}


def _timed(
    scenes: Mapping[str, Sequence[Sample]], most_slow: int, limit: float
) -> tuple[list[PairingTime], list[PairCount], list[str]]:
    times: list[PairingTime] = []
    pairs: list[PairCount] = []
    left_out: list[str] = []
    for scene, samples in scenes.items():
        methods = [name for name in (*METHODS, "exact", DENSE) if name != "closest, shared"]
        for sample in samples:
            points = int(np.count_nonzero(sample[1]))
            if points > most_slow and DENSE in methods:
                methods.remove(DENSE)
                left_out.append(f"{scene}: {DENSE} is not run on more than {most_slow:,} points.")
            now = time_methods(scene, sample, methods, limit=limit)
            times += now
            pairs += count_pairs(scene, sample, [name for name in PAIRED if name in methods])
            for one in now:
                if one.seconds > limit:
                    methods.remove(one.method)
                    left_out.append(
                        f"{scene}: {one.method} needed {one.seconds:.0f} s for {points:,} points and is not "
                        "run on more."
                    )
    return times, pairs, left_out


def _examples(
    name: str, family: Mapping[int, list[Sample]], table: Mapping[int, list[dict[str, float]]]
) -> list[PairingExample]:
    """Choose, of three sides, the sub-image on which Pratt's figure of merit is most above the optimum."""
    found = []
    sides = sorted(family)
    for side in dict.fromkeys((sides[0], sides[len(sides) // 2], sides[-1])):
        used = [sample for sample in family[side] if sample[0].any() or sample[1].any()]
        place = int(np.argmax([row["fom"] - row["hungarian"] for row in table[side]]))
        candidate, truth = used[place]
        found.append(
            PairingExample(
                data=name,
                side=side,
                candidate=candidate,
                truth=truth,
                scores=table[side][place],
                why=f"the one of {len(used)} on which PFOM is most above the optimum",
            )
        )
    return found
