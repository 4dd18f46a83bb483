"""Banks of oriented kernels: one Fourier transform of the image, one product and inverse per kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from edgecritic.detectors.operators import Edges, Operator, strongest
from edgecritic.detectors.picture import FloatMap
from edgecritic.errors import InputError

__all__ = ["responses", "bank_operator", "rotated_grid", "square_pixels"]

TRUNCATE = 4.0
"""Kernels end at this many times their longer scale."""


def rotated_grid(scale: float, angle: float) -> tuple[FloatMap, FloatMap]:
    """Return the coordinates across (u) and along (v) an edge whose gradient has the given angle.

    u = x·cos θ + y·sin θ and v = −x·sin θ + y·cos θ on a square of radius ceil(4·scale), with x to the right
    and y down.
    """
    radius = int(np.ceil(TRUNCATE * scale))
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(np.float64)
    cosine, sine = np.cos(angle), np.sin(angle)
    return x * cosine + y * sine, y * cosine - x * sine


def responses(plane: FloatMap, kernels: Sequence[FloatMap]) -> Iterator[FloatMap]:
    """Yield the convolutions of an image with square kernels, without the margin.

    Parameters
    ----------
    plane : 2-D array
        With a margin of half the side of the kernels.
    kernels : sequence of 2-D arrays
        Of one odd side, each with sum 0.
    """
    from scipy import fft

    side = kernels[0].shape[0]
    shape = tuple(fft.next_fast_len(n, real=True) for n in plane.shape)
    # An offset does not count, because the kernels have sum 0; without it less is lost to rounding.
    spectrum = fft.rfft2(plane - plane.mean(), s=shape)
    # The first side − 1 rows and columns of the cyclic convolution are wrapped around.
    valid = tuple(slice(side - 1, n) for n in plane.shape)
    for kernel in kernels:
        rows = fft.rfft(kernel, n=shape[1], axis=1)
        transfer = fft.fft(rows, n=shape[0], axis=0)
        transfer *= spectrum
        yield fft.irfft2(transfer, s=shape, overwrite_x=True)[valid]


def bank_operator(radius: int, find: Callable[[FloatMap], Edges]) -> Operator:
    """Return the operator that takes the strongest channel of what `find` sees in each."""

    def respond(planes: Sequence[FloatMap]) -> Edges:
        return strongest([find(plane) for plane in planes])

    return Operator(reach=(radius, radius), respond=respond)


def square_pixels(name: str, spacing: Sequence[float]) -> None:
    """Refuse pixels that are not square."""
    if spacing[0] != spacing[1]:
        raise InputError(f"{name} needs square pixels, got spacing {tuple(spacing)}")
