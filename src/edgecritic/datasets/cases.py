"""Cases: which prediction belongs to which truth, image and mask. Files are opened on use only."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.content import Content, PathLike, read_content
from edgecritic.datasets.files import (
    holds_segmentations,
    read_candidates,
    read_geometry,
    read_hierarchy,
    read_image,
    read_mask,
    read_segmentations,
    read_strength,
    read_truths,
)
from edgecritic.datasets.geometry import Grid, find_grid
from edgecritic.datasets.layouts.base import Listing, find_maps, find_truths, is_map, some
from edgecritic.datasets.names import natural_key, pair_by_role
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Resample, place
from edgecritic.inputs import BoolArray, FloatArray

__all__ = ["Case", "Dataset", "find_cases"]

_OF_A_CLASS = re.compile(r"(.*/)?class_[0-9]+/")


@dataclass(frozen=True, slots=True)
class Case:
    """One image: paths of its prediction, truths, photo and mask; the `load_` methods open them.

    Attributes
    ----------
    id : str
        The name that all files share: the file name without its ending.
    truths : tuple of Path
        Truth files; each may hold the maps of several annotators.
    prediction, image, mask : Path or None
        `mask` tells where pixels count; elsewhere they are left out.
    contents : mapping of Path to Content
        The bytes of the files that `read` has read.
    """

    id: str
    truths: tuple[Path, ...]
    prediction: Path | None = None
    image: Path | None = None
    mask: Path | None = None
    contents: Mapping[Path, Content] = field(default_factory=dict, compare=False, repr=False)

    def read(self, *, image: bool = False) -> Case:
        """Return this case with the bytes of its files, each read once; the photo only if asked for.

        The `load_` methods of the result decode these bytes, and `edgecritic.datasets.content.digest`
        hashes them: both tell of the same state of the files.
        """
        paths = [*self.truths, self.prediction, self.mask, self.image if image else None]
        contents = {path: read_content(path) for path in paths if path is not None}
        return Case(self.id, self.truths, self.prediction, self.image, self.mask, contents)

    def source(self, path: Path) -> Path | Content:
        """Return what readers take for a file of this case: its bytes where `read` has read them."""
        return self.contents.get(path, path)

    def load_strength(self) -> FloatArray:
        """Return the prediction with values in [0, 1]."""
        return read_strength(self._need(self.prediction, "prediction"))

    def load_candidates(self) -> list[BoolArray]:
        """Return the boundaries of each segmentation where the prediction is a file of them (`segs`)."""
        return read_candidates(self._need(self.prediction, "prediction"))

    def grid(self, *, spacing: Sizes | Literal["file"] | None = None, resample: Resample = None) -> Grid:
        """Say how the prediction comes onto the grid of the first truth; see `find_grid`."""
        prediction = self._need(self.prediction, "prediction")
        truths = [self.source(path) for path in self.truths]
        return find_grid(prediction, truths, spacing=spacing, resample=resample)

    def load_truths(self, *, binarize: float | None = None, rule: str = "given") -> list[BoolArray]:
        """Return one binary map per annotator, all of one shape and, where files tell it, on one grid.

        `rule` says what of a truth is its boundary, as for `read_truths`.
        """
        told = [read_geometry(self.source(path), verify=False) for path in self.truths]
        maps = []
        for path, geometry in zip(self.truths, told, strict=True):
            found = read_truths(self.source(path), binarize=binarize, rule=rule)
            if geometry is None and told[0] is None:
                maps += found
                continue
            placement = place(geometry, told[0], names=(path.name, self.truths[0].name))
            maps += [placement.bring(one) for one in found]
        shapes = sorted({found.shape for found in maps})
        if len(shapes) > 1:
            raise InputError(f"{self.id}: the annotators' maps differ in shape: {shapes}")
        return maps

    def truth_spacing(self) -> Sizes | None:
        """Return the voxel size of truths that are volumes, None of images and where no file tells one."""
        sources = [self.source(path) for path in self.truths]
        sizes = find_grid(sources[0], sources).spacing
        return sizes if sizes is not None and len(sizes) == 3 else None

    def load_labels(self) -> list[NDArray[np.integer[Any]]]:
        """Return one label map per annotator (`Segmentation` in BSDS files), all of one shape."""
        return [_whole(labels) for path in self.truths for labels in read_segmentations(self.source(path))]

    def load_regions(self) -> NDArray[Any] | list[NDArray[np.integer[Any]]]:
        """Return the prediction as a hierarchy (`ucm2`, an array), or as a list of label maps (`segs`)."""
        source = self._need(self.prediction, "prediction")
        if holds_segmentations(source):
            return [_whole(labels) for labels in read_segmentations(source)]
        return read_hierarchy(source)

    def load_image(self, *, colour: bool = False) -> NDArray[np.float64]:
        """Return the photo, as luminance unless `colour` is asked for; a scan on the grid of the truth."""
        source = self._need(self.image, "image")
        return self._placed(source, read_image(source, colour=colour))

    def load_mask(self) -> BoolArray | None:
        """Return where pixels count, or None where all of them do; on the grid of the truth."""
        if self.mask is None:
            return None
        return self._placed(self.source(self.mask), read_mask(self.source(self.mask)))

    def _placed(self, source: Path | Content, array: NDArray[Any]) -> NDArray[Any]:
        told = [read_geometry(one, verify=False) for one in (source, self.source(self.truths[0]))]
        path = source.path if isinstance(source, Content) else source
        return place(told[0], told[1], names=(path.name, self.truths[0].name)).bring(array)

    def _need(self, path: Path | None, what: str) -> Path | Content:
        if path is None:
            raise DataError(f"{self.id}: has no {what}")
        return self.source(path)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cases in natural order, and every name that could not become one.

    Attributes
    ----------
    cases : tuple of Case
    without_truth : tuple of str
        Predictions that have no truth.
    without_prediction : tuple of str
        Truths that have no prediction.
    without_image, without_mask : tuple of str
        Cases without a photo or mask though a folder of them was given.
    ignored : tuple of Path
        Files of a kind that is not known.
    layout : str
        How the truths were understood.
    by_role : tuple of (str, str)
        Names of predictions and truths that were paired though they differ, because they are the same without
        endings such as ``_seg`` or ``_gt``.
    """

    cases: tuple[Case, ...]
    without_truth: tuple[str, ...] = ()
    without_prediction: tuple[str, ...] = ()
    without_image: tuple[str, ...] = ()
    without_mask: tuple[str, ...] = ()
    ignored: tuple[Path, ...] = ()
    layout: str = ""
    by_role: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def problems(self) -> list[str]:
        """Say in one line each what does not fit together; empty if everything does."""
        lists = (
            (self.without_truth, "no truth for {} prediction(s)"),
            (self.without_prediction, "no prediction for {} truth(s)"),
            (self.without_image, "no image for {} case(s)"),
            (self.without_mask, "no mask for {} case(s)"),
        )
        return [f"{text.format(len(names))}: {some(names)}" for names, text in lists if names]

    def notes(self) -> list[str]:
        """Say in one line each what was decided about names."""
        if not self.by_role:
            return []
        pairs = some([f"{one} with {two}" for one, two in self.by_role], 3)
        return [f"paired by names without endings such as _seg or _gt: {pairs}"]

    def no_case(self) -> tuple[str, str]:
        """Say why there is no case at all, and what to do about it."""
        if not self.without_truth:
            return "there are no predictions", "give the folder that holds them"
        if not self.without_prediction:
            return "there are no truths", "give the folder that holds them"
        told = (
            "no prediction has the name of a truth: predictions are called "
            f"{some(self.without_truth, 2)}; truths {some(self.without_prediction, 2)}"
        )
        if all(_OF_A_CLASS.match(name) for name in self.without_truth):
            return told, (
                "the folders are those of classes: bench judges them by a protocol of classes, such as "
                "--protocol sbd, and tells what is wrong with their files"
            )
        last = {name.rpartition("/")[2] for name in self.without_truth if "/" in name}
        if not last.isdisjoint(self.without_prediction):
            return told, "give the folders of the predictions one by one, each is a detector"
        return told, "rename the files, or write down which belong together in a pair list (NAMES.lst)"


def find_cases(
    predictions: PathLike | None,
    truth: PathLike,
    *,
    images: PathLike | None = None,
    masks: PathLike | None = None,
    split: str | None = None,
    roles: bool = False,
) -> Dataset:
    """Find which files belong together; no map is opened.

    Names match by stem: ``12.png`` belongs to ``12.mat``, and ``scene/12.png`` to ``scene/12.mat``.
    With `roles`, names that have no partner then match without endings such as ``_seg`` or ``_gt``
    (:func:`edgecritic.datasets.names.pair_by_role`); such a case has the name of the truth.
    Order is natural (``im2`` before ``im10``).

    Parameters
    ----------
    predictions : path or None
        Folder with one file per image, or one file; None for a study of truths alone.
    truth : path
        Folder or file in any layout; ``edgecritic list layouts`` shows them, `find_truths` finds them.
    images, masks : path, optional
        Folders of photos, and of maps that are 1 where pixels count. BSDS photos and those of pair
        lists are found by themselves.
    split : str, optional
        Which split of a BSDS folder; without it, the splits that know a prediction.
    roles : bool
        Whether names may differ in such an ending; `Dataset.by_role` tells which did.

    Returns
    -------
    Dataset
        The cases and every name that is missing on one side.
    """
    predicted = None if predictions is None else find_maps(predictions, split=split)
    wanted = None if predicted is None else predicted.files
    truths = find_truths(truth, wanted or (), split=split)
    if wanted is not None and is_map(Path(truth)) and is_map(Path(str(predictions))):
        truths.files = dict(zip(wanted, truths.files.values(), strict=True))
    by_role = pair_by_role(wanted, truths.files) if roles and wanted is not None else {}
    if wanted is not None:
        wanted = {by_role.get(name, name): paths for name, paths in wanted.items()}
    photos = truths.images
    if images is not None:
        photos = {name: paths[0] for name, paths in find_maps(images, split=split).files.items()}
    valid = Listing() if masks is None else find_maps(masks, split=split)
    names = [name for name in truths.files if wanted is None or name in wanted]
    cases = tuple(
        Case(
            name,
            truths.files[name],
            prediction=wanted[name][0] if wanted is not None else None,
            image=photos.get(name),
            mask=valid.files.get(name, (None,))[0],
        )
        for name in sorted(names, key=natural_key)
    )
    ignored = [*(predicted.ignored if predicted else ()), *truths.ignored]
    return Dataset(
        cases,
        without_truth=not_among(wanted or (), truths.files),
        without_prediction=() if wanted is None else not_among(truths.files, wanted),
        without_image=not_among(names, photos) if images is not None else (),
        without_mask=not_among(names, valid.files) if masks is not None else (),
        ignored=tuple(ignored),
        layout=", ".join(sorted(truths.layouts)),
        by_role=tuple(by_role.items()),
    )


def _whole(labels: NDArray[Any]) -> NDArray[np.integer[Any]]:
    """Return labels that a file holds as whole floating-point numbers as integers."""
    if labels.dtype.kind != "f":
        return labels
    if not (
        np.isfinite(labels).all() and (np.abs(labels) < 2**53).all() and (labels == np.rint(labels)).all()
    ):
        raise InputError("labels of segments must be whole numbers, got others")
    return labels.astype(np.int64)


def not_among(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not among the known ones, in natural order."""
    return tuple(sorted((name for name in names if name not in known), key=natural_key))
