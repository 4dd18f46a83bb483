"""Cases: which prediction belongs to which truth, image and mask. Files are opened on use only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets import bsds
from edgecritic.datasets.content import Content, PathLike, read_content
from edgecritic.datasets.files import (
    read_candidates,
    read_image,
    read_mask,
    read_strength,
    read_truths,
)
from edgecritic.datasets.folder import Listing, list_maps, list_truths
from edgecritic.datasets.names import MAP_SUFFIXES, natural_key, split_name
from edgecritic.datasets.pairs import LIST_SUFFIXES, list_pairs
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray

__all__ = ["Case", "Dataset", "find_cases"]


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
        return replace(self, contents={path: read_content(path) for path in paths if path is not None})

    def source(self, path: Path) -> Path | Content:
        """Return what readers take for a file of this case: its bytes where `read` has read them."""
        return self.contents.get(path, path)

    def load_strength(self) -> FloatArray:
        """Return the prediction with values in [0, 1]."""
        return read_strength(self._need(self.prediction, "prediction"))

    def load_candidates(self) -> list[BoolArray]:
        """Return the boundaries of each segmentation where the prediction is a file of them (`segs`)."""
        return read_candidates(self._need(self.prediction, "prediction"))

    def load_truths(self, *, binarize: float | None = None) -> list[BoolArray]:
        """Return one binary map per annotator, all of one shape."""
        maps = [found for path in self.truths for found in read_truths(self.source(path), binarize=binarize)]
        shapes = sorted({found.shape for found in maps})
        if len(shapes) > 1:
            raise InputError(f"{self.id}: the annotators' maps differ in shape: {shapes}")
        return maps

    def load_image(self, *, colour: bool = False) -> NDArray[np.float64]:
        """Return the photo, as luminance unless `colour` is asked for."""
        return read_image(self._need(self.image, "image"), colour=colour)

    def load_mask(self) -> BoolArray | None:
        """Return where pixels count, or None where all of them do."""
        return None if self.mask is None else read_mask(self.source(self.mask))

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
    """

    cases: tuple[Case, ...]
    without_truth: tuple[str, ...] = ()
    without_prediction: tuple[str, ...] = ()
    without_image: tuple[str, ...] = ()
    without_mask: tuple[str, ...] = ()
    ignored: tuple[Path, ...] = ()
    layout: str = ""

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
        return [f"{text.format(len(names))}: {_some(names)}" for names, text in lists if names]

    def no_case(self) -> tuple[str, str]:
        """Say why there is no case at all, and what to do about it."""
        if not self.without_truth:
            return "there are no predictions", "give the folder that holds them"
        if not self.without_prediction:
            return "there are no truths", "give the folder that holds them"
        told = (
            "no prediction has the name of a truth: predictions are called "
            f"{_some(self.without_truth, 2)}; truths {_some(self.without_prediction, 2)}"
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
) -> Dataset:
    """Find which files belong together; no map is opened.

    Names match by stem: ``12.png`` belongs to ``12.mat``, and ``scene/12.png`` to ``scene/12.mat``.
    Order is natural (``im2`` before ``im10``).

    Parameters
    ----------
    predictions : path or None
        Folder with one file per image, or one file; None for a study of truths alone.
    truth : path
        Folder in one of the layouts of `edgecritic.datasets.folder`, a BSDS folder (``groundTruth``,
        with or without ``train``, ``val``, ``test``), a pair list (``.lst``, ``.txt``, ``.json``), or
        one file.
    images, masks : path, optional
        Folders of photos, and of maps that are 1 where pixels count. BSDS photos and those of pair
        lists are found by themselves.
    split : str, optional
        Which split of a BSDS folder; without it, the splits that know a prediction.

    Returns
    -------
    Dataset
        The cases and every name that is missing on one side.
    """
    predicted = None if predictions is None else _one_file_each(Path(predictions), split)
    wanted = None if predicted is None else predicted.files
    if predicted is not None and _is_one_pair(Path(str(predictions)), Path(truth)):
        name = next(iter(predicted.files))
        truths = Listing({name: (Path(truth),)}, layouts={"one file"})
    else:
        truths = _truths(Path(truth), wanted, split)
    photos = _photos(None if images is None else Path(images), Path(truth), truths, split)
    valid = Listing() if masks is None else _one_file_each(Path(masks), split)
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
        without_truth=_missing(wanted or (), truths.files),
        without_prediction=() if wanted is None else _missing(truths.files, wanted),
        without_image=_missing(names, photos) if images is not None else (),
        without_mask=_missing(names, valid.files) if masks is not None else (),
        ignored=tuple(ignored),
        layout=", ".join(sorted(truths.layouts)),
    )


def _one_file_each(place: Path, split: str | None) -> Listing:
    if _is_map(place):
        return Listing({split_name(place.name)[0]: (place,)})
    splits = bsds.split_folders(place)
    if not splits:
        return list_maps(place)
    return _joined(bsds.choose_splits({name: list_maps(path) for name, path in splits.items()}, split, None))


def _truths(place: Path, wanted: Collection[str] | None, split: str | None) -> Listing:
    if _is_map(place):
        return Listing({split_name(place.name)[0]: (place,)}, layouts={"one file"})
    if place.is_file() and split_name(place.name)[1] in LIST_SUFFIXES:
        return list_pairs(place)
    folder = bsds.find_root(place)
    splits = bsds.split_folders(folder)
    if not splits and split is not None and place.name != split:
        raise DataError(
            f"has no folders train, val or test, so no split {split!r}", path=place, remedy="leave split out"
        )
    if not splits:
        return list_truths(folder, wanted)
    listings = {name: list_truths(path, wanted) for name, path in splits.items()}
    chosen = bsds.choose_splits(listings, split, wanted)
    result = _joined(chosen)
    result.layouts.add(f"split {'+'.join(chosen)}")
    return result


def _photos(images: Path | None, truth: Path, truths: Listing, split: str | None) -> dict[str, Path]:
    if images is not None:
        return {name: paths[0] for name, paths in _one_file_each(images, split).files.items()}
    if truths.images:
        return truths.images
    beside = bsds.images_beside(bsds.find_root(truth))
    if beside is None:
        return {}
    return {name: paths[0] for name, paths in _one_file_each(beside, None).files.items()}


def _joined(listings: dict[str, Listing]) -> Listing:
    result = Listing()
    for part in listings.values():
        repeated = sorted(set(result.files) & set(part.files), key=natural_key)
        if repeated:
            raise DataError(
                f"several splits hold the name(s) {_some(repeated)}", remedy="choose one with split (--split)"
            )
        result.files |= part.files
        result.ignored += part.ignored
        result.layouts |= part.layouts
    return result


def _is_map(place: Path) -> bool:
    return split_name(place.name)[1] in MAP_SUFFIXES and place.is_file()


def _is_one_pair(predictions: Path, truth: Path) -> bool:
    return _is_map(predictions) and _is_map(truth)


def _missing(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted((name for name in names if name not in known), key=natural_key))


def _some(names: Collection[str], most: int = 8) -> str:
    listed = list(names)
    return ", ".join(listed[:most]) + (f", … ({len(listed)} in all)" if len(listed) > most else "")
