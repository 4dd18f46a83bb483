"""Prewitt's gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.masks import masks
from edgecritic.detectors.operators import Operator

__all__ = ["prewitt"]


@detector("prewitt", ndim=(2, 3), reference="Prewitt 1970")
def prewitt(spacing: Sequence[float], /, *, style: str = "native") -> Operator:
    """Take differences [−1 0 1] along one axis, smoothed by [1 1 1] along the others.

    Parameters
    ----------
    spacing : one float per axis
    style : {"native", "matlab"}
        "matlab" divides the masks by 6, repeats border pixels, takes the luminance of colours and thins as
        MATLAB's ``edge`` does, see :func:`edgecritic.detectors.matlab.edge_matlab`.

    Notes
    -----
    The magnitude is the Euclidean length; an axis-parallel unit step gives 3 (9 in a volume).
    Colours are joined by Di Zenzo's tensor.

    References
    ----------
    .. [1] J. M. S. Prewitt, "Object enhancement and extraction", in Picture Processing and Psychopictorics,
       Academic Press, 1970.

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0, 0.0, 1.0, 1.0]] * 3, "prewitt")
    >>> found.strength[1], found.maximum
    (array([0., 1., 1., 0.]), 3.0)
    """
    return masks(spacing, np.array([1.0, 1, 1]), style)
