"""Pixelwise validation: which pixels of a source map a target map confirms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Float64s, Int64s, UInt16s
from edgecritic.kernels.grid import Grid, Neighbourhood

__all__ = ["Sight", "count_valid", "line_of_sight", "validate"]

_MARGIN = 0.25


class Sight(NamedTuple):
    """Tables over the offsets of a ball, without the zero offset, sorted by length.

    Attributes
    ----------
    steps : (n, ndim) int64
        Offsets in pixels.
    vectors : (n, ndim) float64
        Offsets in physical units.
    lengths : (n,) float64
    flat : (n,) int64
        Offsets as steps on the grid.
    direct : (n,) bool
        Whether the offset leads to a pixel that shares a side.
    start : (n + 1,) int64
    blockers : int64
        ``blockers[start[i] : start[i + 1]]`` are the steps to the pixels that must not hold a source
        pixel for offset i to be in sight.
    radii : (ndim,) int64
        Half the window in which the source is searched.
    corner : int64
        Steps to the neighbours, diagonal ones too, that are accepted at once; may be empty.
    """

    steps: Int64s
    vectors: Float64s
    lengths: Float64s
    flat: Int64s
    direct: Bools
    start: Int64s
    blockers: Int64s
    radii: Int64s
    corner: Int64s


def line_of_sight(grid: Grid, near: Neighbourhood, spacing: tuple[float, ...], corners: bool) -> Sight:
    """Make the tables for a grid whose margin is the window's half side.

    The line from p to q is sampled at whole steps s = 1, 2, … ≤ |q − p| − 1 in pixels; each sample blocks
    the pixels from round(z − ¼) to round(z + ¼) along each axis.
    """
    offsets = near.offsets[1:]
    ndim = offsets.shape[1]
    norms = np.sqrt((offsets.astype(np.float64) ** 2).sum(axis=1))
    owners, cells = [np.empty(0, np.int64)], [np.empty((0, ndim), np.int64)]
    choices = np.stack(np.meshgrid(*[[0, 1]] * ndim, indexing="ij"), axis=-1).reshape(-1, ndim)
    for s in range(1, int(norms.max(initial=0.0))):
        far = np.flatnonzero(s <= norms - 1)
        z = s * offsets[far] / norms[far, None]
        low, high = np.floor(z - _MARGIN + 0.5), np.floor(z + _MARGIN + 0.5)
        for choice in choices:
            own = ((high > low) | (choice == 0)).all(axis=1)
            owners.append(far[own])
            cells.append((low + choice)[own].astype(np.int64))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    around = np.stack(np.meshgrid(*[[-1, 0, 1]] * ndim, indexing="ij"), axis=-1).reshape(-1, ndim)
    return Sight(
        steps=np.ascontiguousarray(offsets),
        vectors=offsets.astype(np.float64) * np.asarray(spacing),
        lengths=near.distances[1:].copy(),
        flat=grid.flat_offsets(offsets),
        direct=norms == 1,
        start=np.searchsorted(owner[order], np.arange(norms.size + 1)).astype(np.int64),
        blockers=grid.flat_offsets(np.concatenate(cells)[order]),
        radii=np.asarray(grid.radii, dtype=np.int64),
        corner=grid.flat_offsets(around if corners else around[:0]),
    )


@kernel
def _blocked(source: Bools, p: int, cells: Int64s) -> bool:
    for cell in cells:  # noqa: SIM110
        if source[p + cell]:
            return True
    return False


@kernel
def _inside(sight: Sight, radii: Int64s, i: int | np.int64, j: int) -> bool:
    for axis in range(radii.size):  # noqa: SIM110
        if abs(sight.steps[i, axis] + sight.steps[j, axis]) > radii[axis]:
            return False
    return True


@kernel
def _same_side(
    sight: Sight, radii: Int64s, source: Bools, p: int, i: int | np.int64, lowest_cosine: float, begin: int
) -> bool:
    """Tell whether p or a source pixel on its side is a nearest source pixel of q = p + offset i.

    Source pixels are looked for in the window of half side `radii` around p; the offsets before `begin` lead
    from q to none.
    """
    lengths = sight.lengths
    q = p + sight.flat[i]
    nearest = lengths[i]
    for j in range(begin, lengths.size):
        if lengths[j] > nearest:
            break
        if _inside(sight, radii, i, j) and source[q + sight.flat[j]]:
            nearest = lengths[j]
            dot = 0.0
            for axis in range(radii.size):
                dot -= sight.vectors[i, axis] * sight.vectors[j, axis]
            if dot >= lowest_cosine * lengths[i] * lengths[j]:
                return True
    return bool(nearest == lengths[i])


@kernel
def validate(
    pixels: Int64s,
    source: Bools,
    target: Bools,
    sight: Sight,
    lowest_cosine: float,
) -> Int64s:
    """Return for each of the flat source `pixels` the target pixel that confirms it, or −1.

    `lowest_cosine` is the cosine of the largest angle, a little lower to allow for rounding.
    """
    partner = np.full(pixels.size, -1, dtype=np.int64)
    for k in range(pixels.size):
        p = pixels[k]
        if target[p]:
            partner[k] = p
            continue
        for step in sight.corner:
            if target[p + step]:
                partner[k] = p + step
                break
        if partner[k] >= 0:
            continue
        for i in range(sight.flat.size):
            if not target[p + sight.flat[i]]:
                continue
            cells = sight.blockers[sight.start[i] : sight.start[i + 1]]
            if sight.direct[i] or (
                not _blocked(source, p, cells)
                and _same_side(sight, sight.radii, source, p, i, lowest_cosine, 0)
            ):
                partner[k] = p + sight.flat[i]
                break
    return partner


@kernel
def count_valid(
    pixels: Int64s,
    ranks: UInt16s,
    source: Bools,
    source_ranks: UInt16s,
    target: Bools,
    sight: Sight,
    limits: Int64s,
    radii: Int64s,
    lowest_cosine: float,
) -> Int64s:
    """Return for several tolerances how many of the source `pixels` the target confirms.

    `sight` is that of the largest tolerance; tolerance k has its first limits[k] − 1 offsets, and the window
    radii[k]. The nearest target pixel of pixels[n] is at the offset of rank ranks[n], the zero offset being
    0, and the nearest source pixel of any cell at that of its rank in `source_ranks`.
    """
    counts = np.zeros(limits.size, dtype=np.int64)
    confirmed = np.empty(limits.size, dtype=np.bool_)
    for n in range(pixels.size):
        p = pixels[n]
        confirmed[:] = ranks[n] == 0
        i = np.int64(ranks[n]) - 1
        last = limits.size - 1 if ranks[n] > 0 else -1  # the largest tolerance that has not confirmed p
        while last >= 0 and i < limits[last] - 1:
            q = p + sight.flat[i]
            direct = sight.direct[i]
            if target[q] and (
                direct or not _blocked(source, p, sight.blockers[sight.start[i] : sight.start[i + 1]])
            ):
                begin = max(int(source_ranks[q]) - 1, 0)
                for k in range(last + 1):
                    if not confirmed[k] and i < limits[k] - 1:
                        confirmed[k] = direct or _same_side(
                            sight, radii[k], source, p, i, lowest_cosine, begin
                        )
                while last >= 0 and confirmed[last]:
                    last -= 1
            i += 1
        for k in range(limits.size):
            counts[k] += confirmed[k]
    return counts
