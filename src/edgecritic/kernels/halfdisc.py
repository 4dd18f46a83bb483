"""Differences between the two halves of a disc around every pixel, and filters of few taps.

The disc is cut into 16 sectors of π/8. Half number o is made of the sectors o … o + 7; the next one gains a
sector and loses one. Weights are whole numbers (2 inside a sector, 1 in each of two sectors for a point on
the ray between them), so that sector histograms can follow the disc along a row without rounding errors.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bytes, Float32s, Int16s, Int32s, Int64s

__all__ = ["ORIENTATIONS", "filter_plane", "half_disc_distances"]

ORIENTATIONS = 8
"""Directions of the diameter: o·π/8."""

Counts = Int16s | Int32s
"""Narrow numbers where the disc is small enough: twice as many are added at once."""

_TINY = np.float32(1e-30)  # added to denominators: far below any share of a pixel
_ROUNDING = np.float32(1e-12)  # distances below are those of equal histograms


@kernel
def half_disc_distances(
    labels: Bytes,
    margin: int,
    bins: int,
    places: Int64s,
    cells: Int64s,
    weights: Counts,
    moves: Int64s,
    move_cells: Int64s,
    move_weights: Counts,
    passes: int,
    scale: Float32s,
    out: Float32s,
) -> None:
    """Write ½ Σ (g − h)²/(g + h) of the normalised histograms g, h of the half-discs of every pixel.

    Parameters
    ----------
    labels : the bins 0 … `bins` − 1 of the pixels, within a frame of `margin` pixels of the value `bins`
    margin : 1 + the radius in whole pixels
    bins : a multiple of 8
    places, cells, weights : the disc: place of a point (relative to the corner of its frame, in pixels of
        `labels`), sector · (`bins` + 8), weight; pixels are counted in the type of the weights
    moves, move_cells, move_weights : what changes when the disc moves by one column, seen from its new place
    passes : k: histograms are smoothed by a box of 2^k bins, twice
    scale : what a count of each bin is multiplied with before smoothing
    out : (8, rows, columns)
    """
    rows, columns = labels.shape[0] - 2 * margin, labels.shape[1] - 2 * margin
    width = labels.shape[1]
    flat = labels.reshape(-1)
    reach = (1 << passes) - 1
    block = bins + 2 * reach
    counts = np.zeros((2 * ORIENTATIONS, bins + 8), weights.dtype)
    count = counts.reshape(-1)
    half, whole = np.zeros(bins, weights.dtype), np.zeros(bins, weights.dtype)
    apart, together = np.zeros(ORIENTATIONS * block, np.float32), np.zeros(ORIENTATIONS * block, np.float32)
    spare, found = np.zeros(ORIENTATIONS * block, np.float32), np.zeros(ORIENTATIONS, np.float32)
    full = 0
    for k in range(weights.size):
        full += weights[k]
    for y in range(rows):
        above = margin <= y + 1 <= rows - margin + 1
        for x in range(columns):
            here = flat[y * width + x :]
            if x == 0:
                count[:] = 0
                for k in range(places.size):
                    count[cells[k] + np.intp(here[places[k]])] += weights[k]
            else:
                for k in range(moves.size):
                    count[move_cells[k] + np.intp(here[moves[k]])] += move_weights[k]
            _add_sectors(counts, half, whole)
            if above and margin <= x + 1 <= columns - margin + 1:
                _inside(counts, half, whole, full, scale, passes, apart, together, spare, found)
            else:
                _at_frame(counts, half, whole, scale, passes, apart, together, spare, found)
            for o in range(ORIENTATIONS):
                out[o, y, x] = found[o] if found[o] > _ROUNDING else np.float32(0)


@kernel
def filter_plane(plane: Float32s, rows: Int64s, columns: Int64s, weights: Float32s, out: Float32s) -> None:
    """Write Σ weights[k] · plane[y + rows[k], x + columns[k]]; the plane has a margin at right and bottom."""
    out[:] = 0
    for y in range(out.shape[0]):
        to = out[y]
        for k in range(weights.size):
            weight = weights[k]
            source = plane[y + rows[k], columns[k] : columns[k] + to.size]
            for x in range(to.size):
                to[x] += weight * source[x]


@inlined
def _add_sectors(counts: Counts, half: Counts, whole: Counts) -> None:
    """Fill the first half-disc and the whole disc."""
    c = counts
    for b in range(half.size):
        half[b] = c[0, b] + c[1, b] + c[2, b] + c[3, b] + c[4, b] + c[5, b] + c[6, b] + c[7, b]
    for b in range(half.size):
        rest = c[8, b] + c[9, b] + c[10, b] + c[11, b] + c[12, b] + c[13, b] + c[14, b] + c[15, b]
        whole[b] = half[b] + rest


@inlined
def _mass(histogram: Counts) -> int:
    total = 0
    for b in range(histogram.size):
        total += histogram[b]
    return total


@inlined
def _turn(half: Counts, come: Counts, gone: Counts) -> None:
    """Turn the half-disc by one sector."""
    for b in range(half.size):
        half[b] += come[b] - gone[b]


@inlined
def _inside(
    counts: Counts,
    half: Counts,
    whole: Counts,
    mass: int,
    scale: Float32s,
    passes: int,
    apart: Float32s,
    together: Float32s,
    spare: Float32s,
    found: Float32s,
) -> None:
    """Compare the halves of a whole disc: all have half its mass, and g + h is the same for all of them."""
    bins = half.size
    reach = (1 << passes) - 1
    block = bins + 2 * reach
    if passes:
        apart[:] = 0
        together[:block] = 0
    sums = together[reach : reach + bins]
    for b in range(bins):
        sums[b] = np.float32(whole[b]) * scale[b]
    for o in range(ORIENTATIONS):
        if o > 0:
            _turn(half, counts[o + 7, :bins], counts[o - 1, :bins])
        to = apart[o * block + reach : o * block + reach + bins]
        for b in range(bins):
            to[b] = np.float32(2 * half[b] - whole[b]) * scale[b]
    if passes:
        _smooth(apart, spare, passes)
        _smooth(together[:block], spare[:block], passes)
    share = np.float32(1) / np.float32(mass)
    inverse = together[:bins]
    for b in range(bins):
        inverse[b] = share / (inverse[b] + _TINY)
    for o in range(ORIENTATIONS):
        found[o] = _sum_of_squares(apart[o * block : o * block + bins], inverse)


@inlined
def _at_frame(
    counts: Counts,
    half: Counts,
    whole: Counts,
    scale: Float32s,
    passes: int,
    apart: Float32s,
    together: Float32s,
    spare: Float32s,
    found: Float32s,
) -> None:
    """Compare the halves of a disc that the frame of the image cuts, each normalised by its own mass."""
    bins = half.size
    reach = (1 << passes) - 1
    block = bins + 2 * reach
    mass = _mass(whole)
    if passes:
        apart[:] = 0
        together[:] = 0
    for o in range(ORIENTATIONS):
        if o > 0:
            _turn(half, counts[o + 7, :bins], counts[o - 1, :bins])
        part = _mass(half)
        one, other = np.float32(0), np.float32(0)
        if 0 < part < mass:
            one, other = np.float32(0.5) / np.float32(part), np.float32(0.5) / np.float32(mass - part)
        at = o * block + reach
        difference, total = apart[at : at + bins], together[at : at + bins]
        for b in range(bins):
            g = np.float32(half[b]) * one * scale[b]
            h = np.float32(whole[b] - half[b]) * other * scale[b]
            difference[b] = g - h
            total[b] = g + h
    if passes:
        _smooth(apart, spare, passes)
        _smooth(together, spare, passes)
    for o in range(ORIENTATIONS):
        inverse = together[o * block : o * block + bins]
        for b in range(bins):
            inverse[b] = np.float32(1) / (inverse[b] + _TINY)
        found[o] = _sum_of_squares(apart[o * block : o * block + bins], inverse)


@inlined
def _smooth(line: Float32s, spare: Float32s, passes: int) -> None:
    """Add up boxes of 2^passes values twice, each value with those behind it; the result is in `line`.

    Two arrays take turns, because one that is changed while it is read would not be vectorised.
    """
    for _ in range(2):
        step = 1
        for _ in range(passes):
            count = line.size - step
            here, ahead, to = line[:count], line[step:], spare[:count]
            for i in range(count):
                to[i] = here[i] + ahead[i]
            for i in range(count, line.size):  # nothing is behind the end
                spare[i] = line[i]
            line, spare = spare, line
            step *= 2


@inlined
def _sum_of_squares(values: Float32s, weights: Float32s) -> np.float32:
    """Return Σ weights · values² of a multiple of 8 numbers, in eight sums side by side."""
    a = b = c = d = e = f = g = h = np.float32(0)
    for i in range(0, values.size, 8):
        a += values[i] * values[i] * weights[i]
        b += values[i + 1] * values[i + 1] * weights[i + 1]
        c += values[i + 2] * values[i + 2] * weights[i + 2]
        d += values[i + 3] * values[i + 3] * weights[i + 3]
        e += values[i + 4] * values[i + 4] * weights[i + 4]
        f += values[i + 5] * values[i + 5] * weights[i + 5]
        g += values[i + 6] * values[i + 6] * weights[i + 6]
        h += values[i + 7] * values[i + 7] * weights[i + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
