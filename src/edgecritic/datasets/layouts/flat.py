"""The files of one folder: one per image, or one per image and annotator."""

from __future__ import annotations

import re

from edgecritic.datasets.layouts.base import Listing, Place, layout

__all__ = ["folder", "numbered"]

_NUMBERED = re.compile(r"(.+)\.([0-9]+)")


@layout("numbered", title="one numbered file per annotator", example="NAME.1.png, NAME.2.png", rank=50)
def numbered(place: Place) -> Listing:
    """Annotators by number in one folder, before the ending; a prediction of the whole name goes first."""
    result = Listing()
    for stem in list(place.files):
        found = _NUMBERED.fullmatch(stem)
        if found and stem not in place.wanted:
            result.add(found[1], place.files.pop(stem))
    return result


@layout("folder", title="one file per image", example="NAME.png", rank=60)
def folder(place: Place) -> Listing:
    """One file per image with equal names; a .mat or .npz file may hold the maps of several annotators."""
    result = Listing()
    for stem in list(place.files):
        result.add(stem, place.files.pop(stem))
    return result
