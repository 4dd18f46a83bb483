"""The cues of Pb: smoothed gradients of brightness, colour and texture at eight orientations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.picture import LUMINANCE, Picture
from edgecritic.errors import InputError
from edgecritic.learned.colours import bins_of, lab
from edgecritic.learned.gradients import half_disc_gradient, smooth_across
from edgecritic.learned.textons import filter_responses, nearest

__all__ = ["CUES", "GREY", "Scales", "cue_maps", "planes_of", "scales_of", "texton_vectors"]

Floats = NDArray[np.float32]

CUES = ("brightness", "colour", "texture")
GREY = ("brightness", "texture")
"""The cues that an image without colours has."""

TEXTONS = 64
_BINS = 32
_FINE, _COARSE, _FILTER = 0.01, 0.02, 0.0035  # shares of the diagonal
_LEAST_RADIUS, _LEAST_FILTER = 1.5, 0.5


class Scales(NamedTuple):
    """Sizes in pixels: radius of brightness, radius of colour and texture, width of the texture filters."""

    fine: float
    coarse: float
    filter: float


def scales_of(shape: tuple[int, ...], largest: float = math.inf) -> Scales:
    """Return the sizes for an image: shares of its diagonal, of `largest` pixels at most.

    Examples
    --------
    >>> [round(one, 2) for one in scales_of((321, 481))]
    [5.78, 11.57, 2.02]
    """
    diagonal = min(math.hypot(*shape), largest)
    return Scales(
        max(_FINE * diagonal, _LEAST_RADIUS),
        max(_COARSE * diagonal, _LEAST_RADIUS),
        max(_FILTER * diagonal, _LEAST_FILTER),
    )


def planes_of(picture: Picture, *, grey: bool = False) -> list[Floats]:
    """Return the planes L*, a*, b* of a colour picture, L* alone of a grey one (or where `grey` is asked).

    Raises
    ------
    InputError
        If values that are no unsigned integers lie outside [0, 1].
    """
    if picture.scale == 1.0 and (picture.peak > 1 or any(float(one.min()) < 0 for one in picture.channels)):
        raise InputError(
            f"photos are expected as unsigned integers of 8 or 16 bits or as numbers from 0 to 1, got "
            f"{picture.channels[0].dtype} up to {picture.peak:g}",
            remedy="divide them by their largest possible value",
        )
    channels = [np.asarray(one, np.float32) * np.float32(picture.scale) for one in picture.channels]
    if grey and len(channels) == 3:
        red, green, blue = channels
        channels = [np.float32(LUMINANCE[0]) * red + np.float32(LUMINANCE[1]) * green]
        channels[0] += np.float32(LUMINANCE[2]) * blue
    return lab(channels)


def texton_vectors(planes: Sequence[Floats], scales: Scales) -> Floats:
    """Return the filter responses of L*, (rows, columns, 13)."""
    return filter_responses(planes[0] / np.float32(100), scales.filter)


def cue_maps(
    planes: Sequence[Floats], scales: Scales, cues: Sequence[str], centres: Any
) -> dict[str, Floats]:
    """Return for each cue its gradients, smoothed along each orientation, (8, rows, columns).

    Parameters
    ----------
    planes : as `planes_of` gives them
    scales : Scales
    cues : any of "brightness", "colour", "texture"
    centres : (64, 13) float array
        The textons.
    """
    found = {}
    for cue in cues:
        if cue == "brightness":
            bins = bins_of(planes[0], 0, 100, _BINS)
            raw, radius = half_disc_gradient(bins, scales.fine, _BINS, smooth=3), scales.fine
        elif cue == "colour":
            radius = scales.coarse
            sides = [bins_of(plane, -80, 80, _BINS) for plane in planes[1:]]
            first, second = (half_disc_gradient(bins, radius, _BINS, smooth=1) for bins in sides)
            raw = np.add(first, second, out=first)
        else:
            radius = scales.coarse
            bins = nearest(texton_vectors(planes, scales), np.asarray(centres, np.float32))
            raw = half_disc_gradient(bins, radius, TEXTONS)
        found[cue] = smooth_across(raw, radius)
    return found
