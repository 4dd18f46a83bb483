"""The folders of the Berkeley segmentation data sets: splits, and `images` beside `groundTruth`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from edgecritic.datasets.folder import Listing, scan
from edgecritic.errors import DataError

__all__ = ["SPLITS", "find_root", "images_beside", "split_folders", "choose_splits"]

SPLITS = ("train", "val", "test")
_TRUTH, _IMAGES = "groundTruth", "images"


def find_root(folder: Path) -> Path:
    """Return the `groundTruth` folder below `folder` or its `data` or `BSDS500/data`, else `folder`."""
    for below in ("", "data", "BSDS500/data"):
        truth = folder / below / _TRUTH
        if truth.is_dir():
            return truth
    return folder


def images_beside(truth: Path) -> Path | None:
    """Return the folder of photos that belongs to a `groundTruth` folder (or to one of its splits)."""
    for place, below in ((truth, ""), (truth.parent, truth.name)):
        images = place.parent / _IMAGES / below
        if place.name == _TRUTH and images.is_dir():
            return images
    return None


def split_folders(folder: Path) -> dict[str, Path]:
    """Return the folders `train`, `val`, `test` of a folder that holds nothing else of use."""
    files, folders, _ = scan(folder)
    if files or not folders or not set(folders) <= set(SPLITS):
        return {}
    return {name: folder / name for name in folders}


def choose_splits(
    listings: dict[str, Listing], split: str | None, wanted: Collection[str] | None
) -> dict[str, Listing]:
    """Return the listings of `split`, or of the splits that know at least one of the wanted names."""
    if split is not None:
        if split not in listings:
            raise DataError(f"there is no split {split!r} (found: {', '.join(listings)})")
        return {split: listings[split]}
    if wanted is None:
        return listings
    names = set(wanted)
    touched = {name: listing for name, listing in listings.items() if not names.isdisjoint(listing.files)}
    return touched or listings
