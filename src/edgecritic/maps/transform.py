"""The exact Euclidean distance transform."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import Spacing, as_mask, as_spacing
from edgecritic.kernels.edt import envelopes, squares_along_first

__all__ = ["distance_transform"]


def distance_transform(mask: Any, spacing: Spacing = None) -> NDArray[np.float64]:
    """Return at every pixel the distance to the nearest pixel of `mask`.

    Exact in 2-D and 3-D, in time proportional to the number of pixels: distances along the first axis,
    then lower envelopes of parabolas along the others.

    Parameters
    ----------
    mask : array_like, 2-D or 3-D
        Booleans, 0/1 or 0/255.
    spacing : float or one per axis, optional
        Pixel sizes; distances are in their unit.

    Returns
    -------
    float64 array
        0 on the mask; infinite everywhere if the mask is empty.

    References
    ----------
    P. F. Felzenszwalb, D. P. Huttenlocher: Distance transforms of sampled functions. Theory of Computing 8,
    2012. A. Meijster, J. B. T. M. Roerdink, W. H. Hesselink: A general algorithm for computing distance
    transforms in linear time. Mathematical Morphology and its Applications, 2000.

    Examples
    --------
    >>> distance_transform([[1, 0, 0], [0, 0, 0]])
    array([[0.        , 1.        , 2.        ],
           [1.        , 1.41421356, 2.23606798]])
    """
    array = as_mask(mask)
    sizes = as_spacing(spacing, array.ndim)
    out = np.empty(array.shape)
    planes = array.reshape(array.shape[0], -1)
    squares_along_first(planes.view(np.uint8), sizes[0], out.reshape(planes.shape))
    for axis in range(1, array.ndim):
        outer, inner = array.shape[:axis], array.shape[axis + 1 :]
        lines = out.reshape(int(np.prod(outer)), array.shape[axis], int(np.prod(inner)))
        envelopes(lines, sizes[axis], axis == array.ndim - 1)
    return out
