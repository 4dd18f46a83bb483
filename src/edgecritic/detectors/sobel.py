"""Sobel's gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.masks import masks
from edgecritic.detectors.operators import Operator

__all__ = ["sobel"]


@detector("sobel", ndim=(2, 3), reference="Sobel & Feldman 1968")
def sobel(spacing: Sequence[float], /, *, style: str = "native") -> Operator:
    """Take differences [−1 0 1] along one axis, smoothed by [1 2 1] along the others.

    Parameters
    ----------
    spacing : one float per axis
    style : {"native", "matlab"}
        "matlab" divides the masks by 8, repeats border pixels, takes the luminance of colours and thins as
        MATLAB's ``edge`` does, see :func:`edgecritic.detectors.matlab.edge_matlab`.

    Notes
    -----
    The magnitude is the Euclidean length; an axis-parallel unit step gives 4 (16 in a volume).
    Colours are joined by Di Zenzo's tensor.

    References
    ----------
    .. [1] I. Sobel and G. Feldman, "A 3×3 isotropic gradient operator for image processing", Stanford
       Artificial Intelligence Project, 1968.

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0, 0.0, 1.0, 1.0]] * 3, "sobel")
    >>> found.strength[1], found.maximum
    (array([0., 1., 1., 0.]), 4.0)
    """
    return masks(spacing, np.array([1.0, 2, 1]), style)
