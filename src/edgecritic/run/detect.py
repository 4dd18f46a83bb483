"""A detector on the images of folders: one written map each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from edgecritic.datasets.names import split_name
from edgecritic.datasets.write import write_map
from edgecritic.detectors.base import Detection, bind, detect, detectors
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.detectors.thresholds import AUTOMATIC, automatic_threshold
from edgecritic.errors import InputError
from edgecritic.geometry import Geometry, size_text
from edgecritic.ids import Id
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.images import list_images, load_geometry, load_image
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.seen import SEEN, list_seen, name_in_model
from edgecritic.values import Value

__all__ = ["DetectRun", "DetectedMap", "detect_folder"]


class DetectedMap(Value):
    """A map that was written: of which image, where, its edge pixels, and the strongest response.

    Attributes
    ----------
    image, map : str
        The files.
    pixels : int
    maximum : float
    spacing : tuple of float or None
        The pixel size that the detector used; ``None`` if it worked in pixels.
    notes : tuple of str
        What is to be said of the pixel size, if the file tells one, and of the way the map was made.
    learned_from : bool
        Whether the detector has learned from this photo.
    """

    image: str
    map: str
    pixels: int
    maximum: float
    spacing: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()
    learned_from: bool = False


class DetectRun(Value):
    """The maps that a detector found, and the images that could not be used."""

    detector: str
    images: tuple[DetectedMap, ...]
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        images = [one.as_dict() for one in self.images]
        return {"detector": self.detector, "images": images, "failures": failure_rows(self.failures)}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per map."""
        return [{**one.as_dict(), "notes": "; ".join(one.notes)} for one in self.images]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    file: Path
    detector: Any
    out: Path
    thin: bool
    threshold: float | str | None
    grey: bool
    ending: str | None
    bits: Literal[8, 16]
    seen: bool


def detect_folder(
    images: str | Path | Sequence[str | Path],
    detector: str,
    out: str | Path,
    *,
    style: Literal["native", "matlab"] | None = None,
    thin: bool = False,
    threshold: float | Literal["auto", "rosin", "otsu"] | None = None,
    grey: bool = False,
    ending: Literal["png", "npy", "nii", "nii.gz"] | None = None,
    bits: Literal[8, 16] = 8,
    seen: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> DetectRun:
    """Run a detector on images and write one map each, called like the image.

    Pixel sizes that a file tells (NIfTI and others) are used by detectors that know any: scales such as sigma
    are then in their unit, and gradients are per unit. The others work in pixels, and the result says so.

    Parameters
    ----------
    images : path or paths
        Images, volumes, or folders of them.
    detector : str
        An id such as ``canny``.
    out : path
        The folder of the maps.
    style : {"native", "matlab"}, optional
        Rules of scaling and thinning.
    thin : bool
        Write crests only.
    threshold : float, "auto", "rosin" or "otsu", optional
        Write binary maps: crests of at least this share of the strongest. "auto" takes hysteresis with two
        thresholds by the image, "rosin" and "otsu" one
        (:func:`edgecritic.detectors.thresholds.automatic_threshold`).
    grey : bool
        Use the luminance of colour images.
    ending : {"png", "npy", "nii", "nii.gz"}, optional
        By default png; npy for volumes, nii.gz for those whose file tells where their voxels lie. NIfTI files
        keep that.
    bits : {8, 16}
        Depth of .png files.
    seen : bool
        Take photos that the model of a detector that learns was fitted to, too. By default they are failures:
        a benchmark on them tells nothing about new photos. Their maps are listed in ``learned-from.json``
        beside them, and `bench` refuses these.
    jobs, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    """
    if isinstance(threshold, float) and not 0 <= threshold <= 1:
        raise InputError(f"a threshold is a share of the strongest edge, from 0 to 1, got {threshold:g}")
    bound = bind(detector, **({"style": style} if style else {}))
    files = list_images([images] if isinstance(images, str | Path) else images)
    work = [
        _Job(
            file=file,
            detector=bound.id,
            out=Path(out),
            thin=thin,
            threshold=threshold,
            grey=grey,
            ending=ending,
            bits=bits,
            seen=seen,
        )
        for file in files
    ]
    found = dict(run_tasks(_detected, work, jobs=jobs, progress=progress))
    ordered = [found[file] for file in files]
    maps = {split_name(Path(one.map).name)[0]: one for one in ordered if isinstance(one, DetectedMap)}
    list_seen(Path(out), maps, {name: str(bound) for name, one in maps.items() if one.learned_from})
    return DetectRun(
        detector=str(bound),
        images=tuple(one for one in ordered if isinstance(one, DetectedMap)),
        failures=tuple(one for one in ordered if isinstance(one, Failure)),
    )


def _detected(job: _Job) -> tuple[Path, DetectedMap | Failure]:
    """Write the map of one image; a bad file becomes a failure."""
    name = split_name(job.file.name)[0]
    return job.file, attempt(
        lambda: _written(job, name), lambda message: Failure(id=name, path=str(job.file), message=message)
    )


def _written(job: _Job, name: str) -> DetectedMap:
    image, kind = load_image(job.file, grey=job.grey)
    known = name_in_model(job.detector, image, kind)
    if known is not None and not job.seen:
        raise InputError(
            f"{job.detector.name} has learned from this photo (as {known}): {SEEN}",
            remedy="use other photos, another model, or say --seen",
        )
    geometry = load_geometry(job.file)
    spacing, told = _spacing(geometry, job)
    found = detect(image, job.detector, kind=kind, spacing=spacing)
    edges = _chosen(found, image, job)
    usual = "png" if kind != "volume" else "npy" if geometry is None else "nii.gz"
    target = job.out / f"{name}.{job.ending or usual}"
    if target.suffix in (".nii", ".gz") and edges.dtype != np.bool_:
        edges = edges.astype(np.float32)
    write_map(target, edges, bits=job.bits, geometry=geometry)
    pixels = int(np.count_nonzero(found.thin if job.threshold is None else edges))
    return DetectedMap(
        image=str(job.file),
        map=str(target),
        pixels=pixels,
        maximum=found.maximum,
        spacing=spacing,
        notes=(*told, *found.notes, *([] if known is None else [f"was learned from (as {known}); {SEEN}"])),
        learned_from=known is not None,
    )


def _spacing(geometry: Geometry | None, job: _Job) -> tuple[tuple[float, ...] | None, tuple[str, ...]]:
    """Return the pixel size that the detector is to use, and what is said of it."""
    if geometry is None:
        return None, ()
    told = size_text(geometry.spacing)
    if job.detector.options.get("style") == "matlab" or 3 not in detectors.get(job.detector.name).info.ndim:
        return None, (f"voxel size {told} is not used: {job.detector} works in pixels",)
    return geometry.spacing, (f"voxel size {told} is used: scales are in its unit",)


def _chosen(found: Detection, image: Any, job: _Job) -> Any:
    level = job.threshold
    if level is None:
        return found.thin if job.thin else found.strength
    if level in AUTOMATIC:
        return found.binary(automatic_threshold(found.strength, str(level)))
    parsed = Id.parse(found.detector)
    if parsed.options.get("style") == "matlab":
        sigma = cast("float | None", parsed.options.get("sigma"))
        method = cast("Any", parsed.name)
        return edge_matlab(image, method, None if isinstance(level, str) else level, sigma=sigma).edges
    return found.hysteresis() if isinstance(level, str) else found.binary(level)
