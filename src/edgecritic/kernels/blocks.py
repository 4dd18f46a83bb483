"""The order in which the pixels of a volume are kept: block by block.

Searches run over neighbouring pixels; in blocks these are neighbours in memory too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int32s, Int64s

__all__ = ["block_by_block", "blocks_of"]

_SIDE_BITS = 4
"""A block has 2⁴ = 16 cells on every side."""

Sizes = tuple[int, ...]


def block_by_block(raster: Int64s, shape: Sizes, radii: Sizes, strides: Sizes) -> tuple[Int64s, Int64s]:
    """Put pixels in the order of the blocks of their padded grid, those of a block in raster order.

    Parameters
    ----------
    raster : (n,) int64
        Raster indices of pixels of a volume, rising.
    shape, radii, strides
        The volume's shape, the grid's margin on every side, and its strides (`edgecritic.kernels.grid`).

    Returns
    -------
    raster, flat : (n,) int64
        The raster indices, and those of the padded grid, in the new order.
    """
    blocks = blocks_of(shape, radii)
    in_blocks, flat = np.empty_like(raster), np.empty_like(raster)
    begin, block_of = np.zeros(math.prod(blocks) + 1, dtype=np.int64), np.empty(raster.size, dtype=np.int32)
    _place_in_blocks(raster, shape, radii, strides, blocks, begin, block_of, in_blocks, flat)
    return in_blocks, flat


def blocks_of(shape: Sizes, radii: Sizes) -> Sizes:
    """Return how many blocks a volume with the margin before it has along every axis.

    Examples
    --------
    >>> blocks_of((16, 1, 40), (0, 0, 0)), blocks_of((16, 1, 40), (1, 0, 9))
    ((1, 1, 3), (2, 1, 4))
    """
    return tuple(((size + radius - 1) >> _SIDE_BITS) + 1 for size, radius in zip(shape, radii, strict=True))


@kernel
def _find_line(raster: np.int64, shape: Sizes, radii: Sizes) -> tuple[Any, Any, Any]:
    """Return where the line of a pixel begins, and its layer and row in the padded grid."""
    line = raster // shape[2]
    return line * shape[2], line // shape[1] + radii[0], line % shape[1] + radii[1]


@kernel
def _place_in_blocks(
    raster: Int64s,
    shape: Sizes,
    radii: Sizes,
    strides: Sizes,
    blocks: Sizes,
    begin: Int64s,
    block_of: Int32s,
    in_blocks: Int64s,
    flat: Int64s,
) -> None:
    """Count the pixels of every block, then give each pixel its place.

    `begin`, all 0, and `block_of` are work space.
    """
    width, margin = shape[2], radii[2]
    first_block = line_start = 0
    line_end = -1
    for at in range(raster.size):
        if raster[at] >= line_end:
            line_start, layer, row = _find_line(raster[at], shape, radii)
            line_end = line_start + width
            first_block = ((layer >> _SIDE_BITS) * blocks[1] + (row >> _SIDE_BITS)) * blocks[2]
        block_of[at] = first_block + ((raster[at] - line_start + margin) >> _SIDE_BITS)
        begin[block_of[at] + 1] += 1
    for block in range(begin.size - 1):
        begin[block + 1] += begin[block]
    shift = 0
    line_end = -1
    for at in range(raster.size):
        if raster[at] >= line_end:
            line_start, layer, row = _find_line(raster[at], shape, radii)
            line_end = line_start + width
            shift = layer * strides[0] + row * strides[1] + margin - line_start
        place = begin[block_of[at]]
        begin[block_of[at]] = place + 1
        in_blocks[place] = raster[at]
        flat[place] = raster[at] + shift
