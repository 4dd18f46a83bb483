"""Central differences: the plainest gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.gradients import separable_gradient
from edgecritic.detectors.operators import Operator

__all__ = ["central"]


@detector("central", ndim=(2, 3), reference="Abdulrahman, Magnier & Montesinos, WSCG 2017")
def central(spacing: Sequence[float], /) -> Operator:
    """Take differences with the weights [−1 0 1] along every axis, without any smoothing.

    The magnitude is the length of the vector of differences; a unit step that passes through a pixel of
    half its height gives 1 there. Colours are joined by Di Zenzo's tensor.

    References
    ----------
    .. [1] H. Abdulrahman, B. Magnier and P. Montesinos, "From contours to ground truth: how to evaluate edge
       detectors by filtering", Journal of WSCG 25, 2017.

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> detect([[0, 0, 4, 8, 8]] * 3, "central").strength[1]
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    ndim = len(spacing)
    return separable_gradient([np.array([-1.0, 0, 1])] * ndim, [np.ones(1)] * ndim, spacing)
