"""Measures without any truth: how much an edge map looks like thin lines, and how spread out it is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.maps.walk import Changes, Walk
from edgecritic.measures.base import Empty, MeasureInfo, measure
from edgecritic.measures.checks import check_choice
from edgecritic.measures.evidence import Single
from edgecritic.registry import Bound

__all__ = [
    "equilibrium",
    "entropy",
    "complexity",
    "follow_evidence",
    "line_patterns",
    "pattern_equilibrium",
]

FAMILY = "without truth"
REFERENCE = "Gimenez, Martinez & Flesia 2014, Computer Vision and Image Understanding"
ZERO = Empty(both=0.0, candidate=0.0, truth=0.0)
WINDOWS = (3, 5, 7, 9, 11)


@measure(
    "equilibrium",
    symbol="E",
    family=FAMILY,
    reference=REFERENCE,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="neither",
    empty=ZERO,
    needs="candidate",
)
def equilibrium(single: Single, /, *, window: int = 7, border: str = "zero") -> float:
    """Return the mean likeness of the edge map to thin straight lines; 2-D only.

    The likeness at an edge pixel is the best |pattern ∩ window| / √(side · |window|) over all digital
    straight lines through the centre of the window: 140 of them for the 7×7 window (12, 52, 300, 540 for
    side 3, 5, 9, 11). Outside of the image nothing is set; ``border="valid"`` leaves out the pixels whose
    window reaches outside (0 if none is left).

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((21, 21), bool)
    >>> line[10] = True
    >>> equilibrium(line, border="valid")
    1.0
    """
    check_choice("window", window, WINDOWS)
    check_choice("border", border, ("zero", "valid"))
    return single.cached(_equilibrium_name(window, border), lambda own: _likeness(own, window, border))


@measure(
    "entropy",
    symbol="H",
    family=FAMILY,
    reference=REFERENCE,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="neither",
    empty=ZERO,
    needs="candidate",
)
def entropy(single: Single, /) -> float:
    """Return H = 1 − D, with D the Kolmogorov–Smirnov distance of the edge pixels from evenly spread.

    Pixel i (from 1) of n has the coordinate (2i − 1)/(2n) along its axis. D is the exact supremum of
    |F_b − F| over the unit square (cube in 3-D), F_b the share of pixels before a point along all axes
    and F the product of its coordinates. Rows count from the top and columns from the left; a
    flipped map has another value.

    Examples
    --------
    >>> import numpy as np
    >>> point = np.zeros((21, 21), bool)
    >>> point[10, 10] = True
    >>> entropy(point)
    0.25
    """
    return single.cached("entropy", _evenness)


@measure(
    "complexity",
    symbol="C",
    family=FAMILY,
    reference=REFERENCE,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="neither",
    empty=ZERO,
    needs="candidate",
)
def complexity(single: Single, /, *, window: int = 7, border: str = "zero") -> float:
    """Return the statistical complexity C = `equilibrium` · `entropy`; 2-D only.

    Examples
    --------
    >>> import numpy as np
    >>> point = np.zeros((21, 21), bool)
    >>> point[10, 10] = True
    >>> complexity(point)
    0.0944911
    """
    line_like: float = equilibrium(single, window=window, border=border)
    spread: float = entropy(single)
    return line_like * spread


def pattern_equilibrium(candidate: Any, patterns: Any, *, border: str = "zero") -> float:
    """Return the equilibrium E of an edge map with respect to a family of patterns of one's own.

    As `equilibrium`, with the best |pattern ∩ window| / √(|pattern| · |window|) over the given patterns at
    every edge pixel; E is their mean, 0 for an empty map.

    Parameters
    ----------
    candidate : array_like, 2-D
    patterns : (n, side, side) array_like
        Binary; the side is odd, and no pattern is empty.
    border : {"zero", "valid"}
        Nothing is set outside of the image; ``valid`` leaves out pixels whose window reaches outside.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((21, 21), bool)
    >>> line[10] = True
    >>> round(pattern_equilibrium(line, line_patterns(7)), 6), round(equilibrium(line), 6)
    (0.954943, 0.954943)
    """
    check_choice("border", border, ("zero", "valid"))
    family = as_patterns(patterns)
    plane = Single(as_mask(candidate, "candidate")).plane("equilibrium")
    side = family.shape[1]
    half = side // 2
    pixels = np.argwhere(plane)
    if border == "valid":
        pixels = pixels[((pixels >= half) & (pixels < np.array(plane.shape) - half)).all(axis=1)]
    if not len(pixels):
        return 0.0
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(plane, half), (side, side))
    total = 0.0
    for part in np.array_split(pixels, -(-len(pixels) // 4096)):
        total += float(window_likeness(windows[part[:, 0], part[:, 1]], family).sum())
    return total / len(pixels)


def window_likeness(windows: NDArray[np.bool_], patterns: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return Q_B of every window: the best cosine with a pattern; windows must not be empty."""
    flat = patterns.reshape(len(patterns), -1).astype(np.float64)
    seen = windows.reshape(len(windows), -1).astype(np.float64)
    best = ((seen @ flat.T) / np.sqrt(flat.sum(axis=1))).max(axis=1)
    likeness: NDArray[np.float64] = best / np.sqrt(seen.sum(axis=1))
    return likeness


def as_patterns(patterns: Any) -> NDArray[np.bool_]:
    """Return a family of patterns as a boolean array, or say what is wrong with it."""
    family = np.asarray(patterns)
    if family.ndim != 3 or not len(family) or family.shape[1] != family.shape[2] or family.shape[1] % 2 == 0:
        raise InputError(f"patterns are squares of one odd side, one or more, got the shape {family.shape}")
    binary = family.astype(np.bool_)
    if not binary.any(axis=(1, 2)).all():
        raise InputError("a pattern is empty")
    return binary


def follow_evidence(walk: Walk, chosen: Sequence[Bound[MeasureInfo]]) -> dict[str, NDArray[np.float64]]:
    """Return what the measures without truth have in common, at every threshold of a walk.

    The values are those of each map alone, bit by bit; windows without a change are not looked at anew. They
    are found by the names under which a `Single` keeps them. Volumes have none.
    """
    if len(walk.shape) != 2:
        return {}
    found = {}
    for bound in chosen:
        if bound.entry.name in ("equilibrium", "complexity"):
            window = int(str(bound.id.options.get("window", 7)))
            border = str(bound.id.options.get("border", "zero"))
            name = _equilibrium_name(window, border)
            if name not in found:
                steps = _likeness_steps(walk.shape, walk.gained, walk.lost, window, border)
                found[name] = walk.at_thresholds(steps)
    return found


def _equilibrium_name(window: int, border: str) -> str:
    return f"equilibrium {window} {border}"


def _likeness(single: Single, window: int, border: str) -> float:
    plane = single.plane("equilibrium")
    whole, nothing = Changes.of([np.flatnonzero(plane)]), Changes.of([np.zeros(0, dtype=np.int64)])
    return float(_likeness_steps(plane.shape, whole, nothing, window, border)[0])


def _likeness_steps(
    shape: tuple[int, ...], gained: Changes, lost: Changes, window: int, border: str
) -> NDArray[np.float64]:
    """Return the mean likeness after every step, 0 where no pixel is left."""
    from edgecritic.kernels.grid import Grid
    from edgecritic.kernels.patterns import likeness_steps

    half = window // 2
    grid = Grid.around(shape, (half, half))
    steps = np.array(list(itertools.product(range(-half, half + 1), repeat=2)), dtype=np.int64)
    judged = np.ones(shape, dtype=np.bool_)
    if border == "valid":
        judged[:] = False
        judged[tuple(slice(half, max(n - half, half)) for n in shape)] = True
    sums, counts = likeness_steps(
        grid.embed(judged),
        gained.start,
        grid.flatten(gained.pixels),
        lost.start,
        grid.flatten(lost.pixels),
        grid.flat_offsets(steps),
        _cover(window),
        window,
    )
    mean: NDArray[np.float64] = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return mean


def _evenness(single: Single) -> float:
    from edgecritic.kernels.patterns import widest_gap

    mask = np.ascontiguousarray(single.squeezed)
    (low_rows, low_columns), (high_rows, high_columns) = zip(
        *map(_edges_of_cells, mask.shape[-2:]), strict=True
    )
    before = np.zeros((low_rows.size, low_columns.size), dtype=np.int64)
    if mask.ndim == 2:
        return 1 - widest_gap(mask, before, single.count, low_rows, high_rows, low_columns, high_columns)
    planes = [np.zeros(mask.shape[1:], dtype=np.bool_), *mask]
    gaps = [
        widest_gap(plane, before, single.count, low * low_rows, high * high_rows, low_columns, high_columns)
        for plane, low, high in zip(planes, *_edges_of_cells(mask.shape[0]), strict=True)
    ]
    return 1 - max(gaps)


def _edges_of_cells(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the cells between the n pixels of an axis begin, and where they end."""
    steps = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    return steps[:-1].copy(), steps[1:].copy()


@lru_cache(maxsize=len(WINDOWS))
def line_patterns(window: int) -> NDArray[np.bool_]:
    """Return all digital straight lines through the centre of a square window.

    Slopes from 0 to 1 are the balanced words of `window` − 1 steps: sums of any two stretches of one
    length differ by 1 at most. Mirrored and transposed they are all slopes.

    Returns
    -------
    (n, window, window) bool array

    Examples
    --------
    >>> [len(line_patterns(side)) for side in (3, 5, 7, 9, 11)]
    [12, 52, 140, 300, 540]
    """
    half = window // 2
    found: dict[bytes, BoolArray] = {}
    for word in itertools.product((0, 1), repeat=window - 1):
        heights = np.concatenate([[0], np.cumsum(word)])
        if not _balanced(heights):
            continue
        for sign in (1, -1):
            pattern = np.zeros((window, window), dtype=np.bool_)
            pattern[half + sign * (heights - heights[half]), np.arange(window)] = True
            for way in (pattern, pattern.T.copy()):
                found[way.tobytes()] = way
    return np.array(list(found.values()))


def _balanced(heights: NDArray[np.int64]) -> bool:
    return all(np.ptp(heights[length:] - heights[:-length]) <= 1 for length in range(1, heights.size))


@lru_cache(maxsize=len(WINDOWS))
def _cover(window: int) -> NDArray[np.uint64]:
    """Which patterns contain each pixel of the window: one bit per pattern, 64 to a word."""
    patterns = line_patterns(window).reshape(-1, window * window)
    bits = np.pad(patterns.T, ((0, 0), (0, -len(patterns) % 64)))
    packed = np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little"))
    return packed.view("<u8").astype(np.uint64)
