"""Pictures of what was matched on one image: hits, false alarms, and misses by strength."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import FALSE_ALARM, HIT, MISS
from edgecritic.inputs import as_array, as_mask
from edgecritic.report.sections import Picture
from edgecritic.report.view import short
from edgecritic.tables import clean

__all__ = ["ranked_picture", "matching_picture", "RANKS"]

RANKS = ("best", "median", "worst")

MOST_STRENGTHS = 12
"""Shares of annotators are shown in at most so many steps."""

MOST_GREYS = 16
PAPER = 255.0
INK = 0.2
"""How dark the background image may make the paper: black becomes 255·(1 − INK)."""

FAINTEST = 0.4
"""Opacity of a miss that hardly anybody drew; below, single annotators would be invisible."""


def ranked_picture(detector: str, image: str, f: float, rank: str, png: bytes, *, where: str = "") -> Picture:
    """Return the picture of an image of a detector for the report; `rank` is one of `RANKS`.

    `where` says which slice of a volume it shows.
    """
    place = f", {where}" if where else ""
    words = (
        f"{rank} {'volume' if where else 'image'} of {clean(detector)}: {clean(image)}, F {short(f)}{place}"
    )
    return Picture(
        group=detector,
        title=rank.capitalize(),
        name=clean(image),
        note=f"F {short(f)}{place}",
        words=words,
        png=png,
    )


def matching_picture(
    candidate: Any,
    matched_candidate: Any,
    truths: Sequence[Any],
    missed_truth_masks: Sequence[Any],
    background: Any = None,
) -> bytes:
    """Draw a candidate against several annotators as a small PNG with a palette.

    Candidate pixels that are matched to any annotator are hits (green), the others false alarms (orange).
    Truth pixels that stayed unmatched are misses (blue); their opacity grows linearly with the share s of
    all annotators who drew the pixel and were not matched there, 0.4 + 0.6·s. Candidate pixels lie above
    misses.

    Parameters
    ----------
    candidate, matched_candidate : 2-D binary maps
        The thinned candidate and those of its pixels that were matched.
    truths : sequence of binary maps
        One per annotator.
    missed_truth_masks : sequence of binary maps
        The unmatched pixels of each truth, in the same order.
    background : 2-D array, or with colours in a third axis, optional
        The image, in [0, 1] or 0 … 255; it is shown faintly in grey.

    Returns
    -------
    bytes
        A PNG file of one pixel per pixel; enlarge it without smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(8, dtype=bool)
    >>> nothing = np.zeros_like(truth)
    >>> matching_picture(nothing, nothing, [truth], [truth])[1:4]
    b'PNG'
    """
    found, matched = as_mask(candidate, "candidate"), as_mask(matched_candidate, "matched_candidate")
    if found.ndim != 2:
        raise InputError(
            f"pictures are made of 2-D maps, got {found.ndim} dimensions", remedy="take one plane"
        )
    missed = _missed_counts(found.shape, truths, missed_truth_masks)
    if matched.shape != found.shape:
        raise InputError(f"matched_candidate must have the shape {found.shape}, got {matched.shape}")
    strengths, opacity = _strengths(missed, len(truths))
    greys = 1 if background is None else min(MOST_GREYS, 254 // len(opacity))
    paper = _paper(background, found.shape, greys)
    index = strengths * greys + paper
    hit = len(opacity) * greys
    index[found] = hit + 1
    index[found & matched] = hit
    shades = PAPER if background is None else PAPER * (1 - INK * (1 - np.linspace(0, 1, greys)))
    palette = [
        np.rint(alpha * np.asarray(MISS) + (1 - alpha) * shade)
        for alpha in opacity
        for shade in np.atleast_1d(shades)
    ]
    return _png(index.astype(np.uint8), np.array([*palette, HIT, FALSE_ALARM], dtype=np.uint8))


def _missed_counts(shape: tuple[int, ...], truths: Sequence[Any], missed: Sequence[Any]) -> NDArray[np.int64]:
    if len(truths) != len(missed) or not truths:
        raise InputError(
            f"expected one missed mask for each of at least one truth, got {len(missed)} for {len(truths)}"
        )
    counts = np.zeros(shape, dtype=np.int64)
    for number, (truth, mask) in enumerate(zip(truths, missed, strict=True)):
        drawn, lost = as_mask(truth, f"truths[{number}]"), as_mask(mask, f"missed_truth_masks[{number}]")
        if drawn.shape != shape or lost.shape != shape:
            raise InputError(
                f"truths[{number}] and its missed mask must have the shape {shape}, "
                f"got {drawn.shape} and {lost.shape}"
            )
        counts += lost & drawn
    return counts


def _strengths(missed: NDArray[np.int64], annotators: int) -> tuple[NDArray[np.int64], list[float]]:
    """Return for every pixel the step of its miss (0: none), and the opacity of every step."""
    steps = min(annotators, MOST_STRENGTHS)
    step = -(-missed * steps // annotators)
    return step, [0.0, *(FAINTEST + (1 - FAINTEST) * number / steps for number in range(1, steps + 1))]


def _paper(background: Any, shape: tuple[int, ...], greys: int) -> NDArray[np.int64]:
    if background is None:
        return np.zeros(shape, dtype=np.int64)
    image = as_array(background, "background")
    whole = np.issubdtype(image.dtype, np.integer)
    grey = image.astype(np.float64)
    if grey.ndim == 3 and grey.shape[2] in (3, 4):
        grey = grey[..., :3] @ np.array([0.299, 0.587, 0.114])
    if grey.shape != shape or not np.isfinite(grey).all():
        raise InputError(f"background must be finite and of the shape {shape}, got {image.shape}")
    if whole or grey.max(initial=0) > 1:
        grey = grey / 255
    levels: NDArray[np.int64] = np.rint(np.clip(grey, 0, 1) * (greys - 1)).astype(np.int64)
    return levels


def _png(index: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    picture = Image.frombytes("P", index.shape[::-1], np.ascontiguousarray(index).tobytes())
    picture.putpalette(palette.tobytes())
    out = io.BytesIO()
    picture.save(out, format="PNG")  # the best compression makes it a tenth smaller in eight times the time
    return out.getvalue()
