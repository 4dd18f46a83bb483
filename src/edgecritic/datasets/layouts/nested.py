"""Folders within folders: they are part of the names."""

from __future__ import annotations

from edgecritic.datasets.layouts.base import Listing, Place, layout

__all__ = ["nested"]


@layout("nested", title="the folders of the predictions", example="scene/NAME.png", rank=40, whole=True)
def nested(place: Place) -> Listing | None:
    """Folders within folders, as those of the predictions: scene/NAME.png belongs to scene/NAME.mat."""
    if not any("/" in name for name in place.wanted):
        return None
    found = place.tree()
    return None if place.wanted.isdisjoint(found.files) else found
