"""One truth file."""

from __future__ import annotations

from edgecritic.datasets.layouts.base import Listing, Place, find_maps, is_map, layout

__all__ = ["single"]


@layout("file", title="one file", example="truth.mat", rank=10, whole=True)
def single(place: Place) -> Listing | None:
    """One file for one image; a .mat or .npz file may hold the maps of several annotators."""
    return find_maps(place.path) if is_map(place.path) else None
