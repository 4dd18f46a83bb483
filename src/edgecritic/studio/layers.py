"""Maps as lists of pixels, which the pages draw over the photo at every zoom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from edgecritic.inputs import BoolArray
from edgecritic.studio.large import packed

if TYPE_CHECKING:
    from edgecritic.matching import Matching

__all__ = ["AGREEMENT", "MATCHING", "PEOPLE", "agreement_layer", "layer_of", "matching_layer", "send_layer"]

MATCHING = ("#000000", "#009e73", "#e69f00", "#56b4e9")
"""Colours of nothing, of what is in both maps, only in the first, and only in the second."""

AGREEMENT = ("#000000", "#c7b300", "#e67a00", "#d62f1f", "#8f0f5a", "#4b0082", "#26004d", "#000000")
"""Colours of pixels that 1, 2, … people drew; the darker the more."""

PEOPLE = ("#d81b60", "#1e88e5", "#f57f17", "#00897b", "#8e24aa", "#6d4c41", "#43a047", "#3949ab")
_CLASS = 28
_MOST = 7


def layer_of(classes: NDArray[np.integer[Any]]) -> bytes:
    """Return the pixels of a map of classes from 1 to 7, packed: class·2²⁸ + place, four bytes each."""
    flat = np.ascontiguousarray(classes).ravel()
    places = np.flatnonzero(flat).astype(np.uint32)
    words = places | np.minimum(flat[places], _MOST).astype(np.uint32) << np.uint32(_CLASS)
    return packed(words.astype("<u4"))


def matching_layer(found: Matching) -> bytes:
    """Return a matching: hits of the first map 1, its other pixels 2, misses of the second 3."""
    classes = np.zeros(found.candidate.shape, dtype=np.uint8)
    classes[found.truth & ~found.matched_truth] = 3
    classes[found.candidate] = 2
    classes[found.candidate & found.matched_candidate] = 1
    return layer_of(classes)


def send_layer(content: bytes) -> Response:
    """Return the reply with a layer, which browsers unpack by themselves."""
    return Response(content, media_type="application/octet-stream", headers={"content-encoding": "gzip"})


def agreement_layer(maps: Sequence[BoolArray]) -> bytes:
    """Return for every labelled pixel how many people drew it, at most 7."""
    from edgecritic.annotators import strength

    if len(maps) < 2:
        return layer_of(maps[0].astype(np.uint8))
    found = strength(maps)
    people = np.rint(np.max(found.strengths, axis=0) * len(maps)).astype(np.uint8)
    return layer_of(people)
