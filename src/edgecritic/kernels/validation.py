"""Pixelwise validation: which pixels of a source map a target map confirms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bools, Float64s, Int64s
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.kernels.ranks import Ranks

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


@inlined
def _blocked(source: Bools, p: int, blockers: Int64s, begin: int | np.int64, end: int | np.int64) -> bool:
    """Tell whether a source pixel lies on the cells blockers[begin] … blockers[end − 1] around p."""
    for at in range(begin, end):  # noqa: SIM110
        if source[p + blockers[at]]:
            return True
    return False


@inlined
def _same_side(
    source: Bools,
    p: int,
    i: int | np.int64,
    begin: int | np.int64,
    radii: Int64s,
    lowest_cosine: float,
    steps: Int64s,
    vectors: Float64s,
    lengths: Float64s,
    flat: Int64s,
) -> bool:
    """Tell whether p or a source pixel on its side is a nearest source pixel of q = p + offset i.

    Source pixels are looked for in the window of half side `radii` around p; the offsets before `begin` lead
    from q to none. The tables are those of `Sight`.
    """
    q = p + flat[i]
    nearest = lengths[i]
    for j in range(begin, lengths.size):
        if lengths[j] > nearest:
            break
        if not source[q + flat[j]]:
            continue
        inside = True
        dot = 0.0
        for axis in range(radii.size):
            inside &= abs(steps[i, axis] + steps[j, axis]) <= radii[axis]
            dot -= vectors[i, axis] * vectors[j, axis]
        if inside:
            nearest = lengths[j]
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
    steps, vectors, lengths, flat, direct, start, blockers, radii, corner = sight
    partner = np.full(pixels.size, -1, dtype=np.int64)
    for k in range(pixels.size):
        p = pixels[k]
        if target[p]:
            partner[k] = p
            continue
        for step in corner:
            if target[p + step]:
                partner[k] = p + step
                break
        if partner[k] >= 0:
            continue
        for i in range(flat.size):
            if not target[p + flat[i]]:
                continue
            if direct[i] or (
                not _blocked(source, p, blockers, start[i], start[i + 1])
                and _same_side(source, p, i, 0, radii, lowest_cosine, steps, vectors, lengths, flat)
            ):
                partner[k] = p + flat[i]
                break
    return partner


@kernel
def count_valid(
    pixels: Int64s,
    ranks: Int64s,
    source: Bools,
    source_ranks: Ranks,
    target: Bools,
    sight: Sight,
    limits: Int64s,
    radii: Int64s,
    lowest_cosine: float,
) -> Int64s:
    """Return for several tolerances how many of the source `pixels`, all within reach, the target confirms.

    `sight` is that of the largest tolerance; tolerance k has its first limits[k] − 1 offsets, and the window
    radii[k]. The nearest target pixel of pixels[n] is at the offset of rank ranks[n], the zero offset being
    0, and the nearest source pixel of any cell at that of its rank in `source_ranks`.
    """
    steps, vectors, lengths, flat, direct, start, blockers, _, _ = sight
    top = limits.size - 1
    counts = np.zeros(limits.size, dtype=np.int64)
    confirmed = np.empty(limits.size, dtype=np.bool_)
    for n in range(pixels.size):
        p = pixels[n]
        i = ranks[n] - 1
        for k in range(limits.size):
            confirmed[k] = i < 0
        last = top  # the largest tolerance that has not confirmed p
        stop = limits[top] - 1 if i >= 0 else i
        while i < stop:
            if target[p + flat[i]] and (
                direct[i] or not _blocked(source, p, blockers, start[i], start[i + 1])
            ):
                begin = max(int(source_ranks[p + flat[i]]) - 1, 0)
                for k in range(last + 1):
                    if not confirmed[k] and i < limits[k] - 1:
                        confirmed[k] = direct[i] or _same_side(
                            source, p, i, begin, radii[k], lowest_cosine, steps, vectors, lengths, flat
                        )
                while last >= 0 and confirmed[last]:
                    last -= 1
                stop = limits[last] - 1 if last >= 0 else i
            i += 1
        for k in range(limits.size):
            counts[k] += confirmed[k]
    return counts
