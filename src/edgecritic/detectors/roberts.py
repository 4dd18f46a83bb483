"""Roberts' cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.gradients import join_channels
from edgecritic.detectors.matlab import STYLES, thin_diagonal
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import choice
from edgecritic.detectors.picture import FloatMap
from edgecritic.errors import InputError

__all__ = ["roberts"]


@detector("roberts", ndim=(2,), reference="Roberts 1963")
def roberts(spacing: Sequence[float], /, *, style: str = "native") -> Operator:
    """Take the two diagonal differences of every 2×2 square.

    Parameters
    ----------
    spacing : one float per axis
        Must be equal along both axes.
    style : {"native", "matlab"}
        "matlab" halves the masks, repeats border pixels, takes the luminance of colours and thins as
        MATLAB's ``edge`` does, see :func:`edgecritic.detectors.matlab.edge_matlab`.

    Notes
    -----
    d₁ = I(r, c) − I(r+1, c+1), d₂ = I(r, c+1) − I(r+1, c); the magnitude is sqrt(d₁² + d₂²), so a unit step
    gives √2. The value at (r, c) belongs to the corner point (r + ½, c + ½). Colours are joined by
    Di Zenzo's tensor.

    References
    ----------
    .. [1] L. G. Roberts, "Machine perception of three-dimensional solids", MIT Lincoln Laboratory, 1963.

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> detect([[0.0, 0.0, 1.0, 1.0]] * 3, "roberts").strength[1]
    array([0., 1., 0., 0.])
    """
    choice("style", style, STYLES)
    if spacing[0] != spacing[1]:
        raise InputError(f"roberts needs square pixels, got spacing {tuple(spacing)}")
    factor = (1.0 if style == "native" else 0.5) / spacing[0]

    def respond(planes: Sequence[FloatMap]) -> Edges:
        gradients = []
        for plane in planes:
            fall = (plane[1:-1, 1:-1] - plane[2:, 2:]) * factor
            rise = (plane[1:-1, 2:] - plane[2:, 1:-1]) * factor
            gradients.append(((-fall - rise) * np.sqrt(0.5), (rise - fall) * np.sqrt(0.5)))
        return join_channels(gradients)

    if style == "native":
        return Operator(reach=(1, 1), respond=respond)
    return Operator(reach=(1, 1), respond=respond, thin=thin_diagonal, border="repeat", colour="luminance")
