"""The folders of the Berkeley segmentation data sets: splits, and `images` beside `groundTruth`."""

from __future__ import annotations

from pathlib import Path

from edgecritic.datasets.layouts.base import Listing, Place, find_maps, join_splits, layout, search
from edgecritic.errors import DataError

__all__ = ["bsds"]

_TRUTH, _IMAGES = "groundTruth", "images"
_RANK = 30


@layout(
    "bsds",
    title="BSDS",
    example="groundTruth/SPLIT/NAME.mat, images/SPLIT/NAME.jpg",
    rank=_RANK,
    whole=True,
)
def bsds(place: Place) -> Listing | None:
    """BSDS500 or BSDS300: truths in groundTruth, photos in images beside it, both in splits or not."""
    root = _find_root(place.path)
    splits = Place(root).splits() if root.is_dir() else {}
    if not splits and place.split is not None and place.path.name != place.split:
        raise DataError(
            f"has no folders train, val or test, so no split {place.split!r}",
            path=place.path,
            remedy="leave split out",
        )
    images = _images_beside(root)
    if not splits and images is None and root == place.path:
        return None
    if splits:
        parts = {name: search(Place(part.path, place.wanted), beyond=_RANK) for name, part in splits.items()}
        result = join_splits(parts, place.split, place.wanted)
    else:
        result = search(Place(root, place.wanted), beyond=_RANK)
    if images is not None:
        result.images = {name: paths[0] for name, paths in find_maps(images).files.items()}
    return result


def _find_root(folder: Path) -> Path:
    """Return the `groundTruth` folder below `folder` or its `data` or `BSDS500/data`, else `folder`."""
    for below in ("", "data", "BSDS500/data"):
        truth = folder / below / _TRUTH
        if truth.is_dir():
            return truth
    return folder


def _images_beside(truth: Path) -> Path | None:
    """Return the folder of photos that belongs to a `groundTruth` folder (or to one of its splits)."""
    for place, below in ((truth, ""), (truth.parent, truth.name)):
        images = place.parent / _IMAGES / below
        if place.name == _TRUTH and images.is_dir():
            return images
    return None
