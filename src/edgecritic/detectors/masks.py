"""What Sobel's and Prewitt's masks share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edgecritic.detectors.gradients import Weights, separable_gradient
from edgecritic.detectors.matlab import STYLES, thin_across
from edgecritic.detectors.operators import Operator
from edgecritic.detectors.options import choice
from edgecritic.errors import InputError

__all__ = ["masks"]


def masks(spacing: Sequence[float], smooth: Weights, style: str) -> Operator:
    """Return the operator with [−1 0 1] along one axis and `smooth` along the others."""
    choice("style", style, STYLES)
    ndim = len(spacing)
    slope = np.array([-1.0, 0, 1])
    if style == "native":
        return separable_gradient([slope] * ndim, [smooth] * ndim, spacing)
    if ndim != 2:
        raise InputError(
            f"style='matlab' works on images, got {ndim} dimensions", remedy="use style='native'"
        )
    # The factor that makes a unit step give ½.
    operator = separable_gradient([slope / 2] * 2, [smooth / smooth.sum()] * 2, spacing)
    return replace(operator, thin=thin_across, border="repeat", colour="luminance")
