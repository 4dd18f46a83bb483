"""The order in which the pixels of a volume are kept: block by block.

Searches run over neighbouring pixels; in blocks these are neighbours in memory too.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int32s, Int64s

__all__ = ["block_by_block"]

_SIDE_BITS = 4
"""A block has 2⁴ = 16 cells on every side."""

Sizes = tuple[int, ...]


def block_by_block(raster: Int64s, shape: Sizes, radii: Sizes, strides: Sizes) -> tuple[Int64s, Int64s]:
    """Put pixels in the order of the blocks of their padded grid, each in raster order.

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
    in_blocks, flat = np.empty_like(raster), np.empty_like(raster)  # by NumPy, which asks for large pages
    _sort(raster, shape, radii, strides, np.empty(raster.size, dtype=np.int32), flat, in_blocks)
    return in_blocks, flat


@kernel
def _sort(
    raster: Int64s,
    shape: Sizes,
    radii: Sizes,
    strides: Sizes,
    block_of: Int32s,
    flat: Int64s,
    in_blocks: Int64s,
) -> None:
    """Count the pixels of every block, then give each pixel its place; `block_of` is work space."""
    height, width, margin = shape[1], shape[2], radii[2]
    across = ((width + margin) >> _SIDE_BITS) + 1
    down = ((height + radii[1]) >> _SIDE_BITS) + 1
    begin = np.zeros((((shape[0] + radii[0]) >> _SIDE_BITS) + 1) * down * across + 1, dtype=np.int64)
    first_block = line_start = line_end = 0
    for at in range(raster.size):
        if raster[at] >= line_end:
            line = raster[at] // width
            line_start, line_end = line * width - margin, (line + 1) * width
            layer, row = line // height + radii[0], line % height + radii[1]
            first_block = ((layer >> _SIDE_BITS) * down + (row >> _SIDE_BITS)) * across
        block_of[at] = first_block + ((raster[at] - line_start) >> _SIDE_BITS)
        begin[block_of[at] + 1] += 1
    for block in range(begin.size - 1):
        begin[block + 1] += begin[block]
    shift = line_end = 0
    for at in range(raster.size):
        if raster[at] >= line_end:
            line = raster[at] // width
            line_end = (line + 1) * width
            layer, row = line // height + radii[0], line % height + radii[1]
            shift = layer * strides[0] + row * strides[1] + margin - line * width
        place = begin[block_of[at]]
        begin[block_of[at]] = place + 1
        in_blocks[place] = raster[at]
        flat[place] = raster[at] + shift
