"""One folder per annotator, or one per image; the names of the predictions tell them apart."""

from __future__ import annotations

from edgecritic.datasets.layouts.base import Listing, Place, layout

__all__ = ["per_annotator", "per_image"]


@layout("annotators", title="one folder per annotator", example="anna/NAME.png, bert/NAME.png", rank=70)
def per_annotator(place: Place) -> Listing:
    """One folder per annotator with one file per image."""
    result = Listing()
    for name, folder in list(place.folders.items()):
        if name not in place.wanted and not place.wanted.isdisjoint(folder.files):
            result.join(_taken(place, name))
    return result


@layout("folders", title="one folder per image", example="NAME/1.png, NAME/2.png", rank=80)
def per_image(place: Place) -> Listing:
    """One folder per image with one file per annotator."""
    result = Listing()
    for name in list(place.folders):
        found = _taken(place, name)
        result.ignored += found.ignored
        for paths in found.files.values():
            result.add(name, *paths)
    return result


def _taken(place: Place, name: str) -> Listing:
    folder = place.folders.pop(name)
    return Listing({stem: (path,) for stem, path in folder.files.items()}, ignored=folder.others)
