"""Hysteresis: weak edge pixels stay if they hang together with a strong one."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_array, as_mask
from edgecritic.kernels.grid import Grid, box

__all__ = ["hysteresis", "connected_to"]


def hysteresis(thin: Any, low: float, high: float) -> BoolArray:
    """Return the weak pixels that are connected with a strong one.

    Parameters
    ----------
    thin : array_like, 2-D or 3-D
        Edge strength, usually after non-maximum suppression.
    low, high : float
        Pixels > `low` are weak, pixels ≥ `high` (and > 0) are strong; `low` ≤ `high`.

    Returns
    -------
    bool array
        Neighbours are the 8 (26 in a volume) pixels around a pixel.

    Examples
    --------
    >>> hysteresis([[0.3, 0.6, 0.0, 0.3]], 0.2, 0.5).astype(int)
    array([[1, 1, 0, 0]])
    """
    values = as_array(thin, "thin")
    if values.ndim not in (2, 3) or values.dtype.kind not in "biuf":
        raise InputError(
            f"thin must be a 2-D or 3-D array of numbers, got {values.dtype} of shape {values.shape}"
        )
    if not low <= high:
        raise InputError(f"low must not exceed high, got low={low!r} and high={high!r}")
    strong = (values >= high) & (values > 0)
    return connected_to((values > low) | strong, strong)


def connected_to(weak: Any, strong: Any) -> BoolArray:
    """Return the pixels of `weak` that are connected with a pixel set in both maps.

    Examples
    --------
    >>> connected_to([[1, 1, 0, 1]], [[0, 1, 0, 0]]).astype(int)
    array([[1, 1, 0, 0]])
    """
    from edgecritic.kernels.directional import spread

    through, seeds = as_mask(weak, "weak"), as_mask(strong, "strong")
    if through.shape != seeds.shape:
        raise InputError(f"weak and strong must have the same shape, got {through.shape} and {seeds.shape}")
    hood = box(3, (1.0,) * through.ndim)
    grid = Grid.around(through.shape, hood.radii)
    state = np.pad(through, 1).astype(np.uint8).reshape(-1)
    spread(state, grid.locate(through & seeds), grid.flat_offsets(hood.offsets[1:]))
    inner = (slice(1, -1),) * through.ndim
    return np.ascontiguousarray((state == 2).reshape(grid.padded)[inner])
