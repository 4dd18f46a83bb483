"""Differences between the two halves of a disc around every pixel, and filters of few taps.

The disc is cut into 16 sectors of π/8. Half number o is made of the sectors o … o + 7; the next one gains a
sector and loses one. Weights are whole numbers (2 inside a sector, 1 in each of two sectors for a point on
the ray between them), so that sector histograms can follow the disc along a row without rounding errors.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bytes, Float32s, Int32s, Int64s

__all__ = ["ORIENTATIONS", "filter_plane", "half_disc_distances"]

ORIENTATIONS = 8
"""Directions of the diameter: o·π/8."""

_TINY = np.float32(1e-30)  # added to denominators: far below any share of a pixel
_ROUNDING = np.float32(1e-12)  # distances below are those of equal histograms


@kernel
def half_disc_distances(
    labels: Bytes,
    margin: int,
    bins: int,
    places: Int64s,
    cells: Int64s,
    weights: Int32s,
    moves: Int64s,
    move_cells: Int64s,
    move_weights: Int32s,
    passes: int,
    scale: Float32s,
    out: Float32s,
) -> None:
    """Write ½ Σ (g − h)²/(g + h) of the normalised histograms g, h of the half-discs of every pixel.

    Parameters
    ----------
    labels : the bins 0 … `bins` − 1 of the pixels, within a frame of `margin` pixels of the value `bins`
    margin : more than the radius
    bins : a multiple of 8
    places, cells, weights : the disc: place of a point (relative to the corner of its frame, in pixels of
        `labels`), sector · (`bins` + 8), weight
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
    counts = np.zeros((2 * ORIENTATIONS, bins + 8), np.int32)
    count = counts.reshape(-1)
    half, whole = np.zeros(bins, np.int32), np.zeros(bins, np.int32)
    first, second = np.zeros(ORIENTATIONS * block, np.float32), np.zeros(ORIENTATIONS * block, np.float32)
    spare, terms = np.zeros(ORIENTATIONS * block, np.float32), np.zeros(ORIENTATIONS * block, np.float32)
    for y in range(rows):
        for x in range(columns):
            here = flat[y * width + x :]
            if x == 0:
                count[:] = 0
                for k in range(places.size):
                    count[cells[k] + np.intp(here[places[k]])] += weights[k]
            else:
                for k in range(moves.size):
                    count[move_cells[k] + np.intp(here[moves[k]])] += move_weights[k]
            mass = _add_sectors(counts, half, whole)
            if passes:
                first[:] = 0
                second[:] = 0
            part = 0
            for o in range(ORIENTATIONS):
                if o == 0:
                    part = _mass(half)
                else:
                    part = _turn(half, counts[o + 7, :bins], counts[o - 1, :bins])
                one, other = np.float32(0), np.float32(0)
                if 0 < part < mass:
                    one, other = np.float32(0.5) / np.float32(part), np.float32(0.5) / np.float32(mass - part)
                at = o * block + reach
                _densities(half, whole, scale, one, other, first[at : at + bins], second[at : at + bins])
            if passes:
                _smooth(first, spare, passes)
                _smooth(second, spare, passes)
            _distances(first, second, terms)
            for o in range(ORIENTATIONS):
                found = _sum(terms[o * block : o * block + bins])
                out[o, y, x] = found if found > _ROUNDING else np.float32(0)


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
def _add_sectors(counts: Int32s, half: Int32s, whole: Int32s) -> int:
    """Fill the first half-disc and the whole disc; return the mass of the disc."""
    c = counts
    for b in range(half.size):
        half[b] = c[0, b] + c[1, b] + c[2, b] + c[3, b] + c[4, b] + c[5, b] + c[6, b] + c[7, b]
    for b in range(half.size):
        rest = c[8, b] + c[9, b] + c[10, b] + c[11, b] + c[12, b] + c[13, b] + c[14, b] + c[15, b]
        whole[b] = half[b] + rest
    return _mass(whole)


@inlined
def _mass(histogram: Int32s) -> int:
    total = 0
    for b in range(histogram.size):
        total += histogram[b]
    return total


@inlined
def _turn(half: Int32s, come: Int32s, gone: Int32s) -> int:
    """Turn the half-disc by one sector and return its mass."""
    total = 0
    for b in range(half.size):
        half[b] += come[b] - gone[b]
        total += half[b]
    return total


@inlined
def _densities(
    half: Int32s,
    whole: Int32s,
    scale: Float32s,
    one: np.float32,
    other: np.float32,
    first: Float32s,
    second: Float32s,
) -> None:
    for b in range(half.size):
        first[b] = np.float32(half[b]) * (scale[b] * one)
        second[b] = np.float32(whole[b] - half[b]) * (scale[b] * other)


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
            spare[count:] = line[count:]  # nothing is behind the end
            line, spare = spare, line
            step *= 2


@inlined
def _distances(first: Float32s, second: Float32s, terms: Float32s) -> None:
    for i in range(terms.size):
        apart = first[i] - second[i]
        terms[i] = apart * apart / (first[i] + second[i] + _TINY)


@inlined
def _sum(terms: Float32s) -> np.float32:
    """Return the sum of a multiple of 8 numbers, in eight sums that do not wait for each other."""
    a = b = c = d = e = f = g = h = np.float32(0)
    for i in range(0, terms.size, 8):
        a += terms[i]
        b += terms[i + 1]
        c += terms[i + 2]
        d += terms[i + 3]
        e += terms[i + 4]
        f += terms[i + 5]
        g += terms[i + 6]
        h += terms[i + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
