"""Non-maximum suppression along the gradient: edges become one pixel wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["crests"]


def crests(
    magnitude: Any,
    direction: Sequence[Any],
    *,
    neighbours: Literal["interpolated", "nearest"] = "interpolated",
    ties: Literal["one", "both"] = "one",
    slack: float = 0.0,
) -> BoolArray:
    """Mark the pixels whose magnitude is a maximum along their gradient direction.

    Parameters
    ----------
    magnitude : array_like, 2-D or 3-D
    direction : sequence of array_like
        The components of the gradient direction along each axis, (plane,) row, column. Only their ratio
        and their signs count.
    neighbours : {"interpolated", "nearest"}
        The values one step ahead and behind: interpolated linearly between the two nearest of the 8
        neighbours (bilinearly between four of 26 in a volume), or taken from the nearest sector of 45°.
    ties : {"one", "both"}
        "one" keeps a pixel if it is > the value behind and ≥ the value ahead, so that one of two equal
        crest pixels stays; "both" asks for ≥ on both sides.
    slack : float
        Values that differ by no more count as equal; magnitudes up to it are never kept.

    Returns
    -------
    bool array
        The frame of the image is never marked.

    Notes
    -----
    With d the largest component in absolute value, the step ahead ends on the face of the 3×3(×3) cube at
    the point direction / abs(d); the values at the corners around it are mixed by their distance.

    References
    ----------
    .. [1] A. Rosenfeld and M. Thurston, "Edge and curve detection for visual scene analysis", IEEE
       Transactions on Computers C-20, 1971. https://doi.org/10.1109/T-C.1971.223290

    Examples
    --------
    >>> import numpy as np
    >>> ridge = np.tile([0.0, 0.2, 0.9, 0.9, 0.1], (3, 1))
    >>> crests(ridge, (np.zeros((3, 5)), np.ones((3, 5)))).astype(int)
    array([[0, 0, 0, 0, 0],
           [0, 0, 1, 0, 0],
           [0, 0, 0, 0, 0]])
    """
    from edgecritic.kernels import directional as kernels

    values = np.require(magnitude, np.float64, ["C", "W"])
    parts = [np.require(part, np.float64, ["C", "W"]) for part in direction]
    if values.ndim not in (2, 3) or len(parts) != values.ndim:
        raise InputError(
            f"magnitude must have 2 or 3 dimensions and direction one array for each, "
            f"got shape {values.shape} and {len(parts)} arrays"
        )
    if any(part.shape != values.shape for part in parts):
        raise InputError("magnitude and direction must have the same shape")
    if neighbours not in ("interpolated", "nearest"):
        raise InputError(f'neighbours must be "interpolated" or "nearest", got {neighbours!r}')
    if ties not in ("one", "both"):
        raise InputError(f'ties must be "one" or "both", got {ties!r}')
    strict, snap = ties == "one", neighbours == "nearest"
    if values.ndim == 2:
        return kernels.keep_crests_of_plane(values, parts[0], parts[1], float(slack), strict, snap)
    return kernels.keep_crests_of_volume(values, parts[0], parts[1], parts[2], float(slack), strict, snap)
