"""Average crispness: how much of a strength map survives non-maximum suppression."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import FloatArray, as_strength
from edgecritic.maps.suppression import Recipe, crests_of
from edgecritic.values import Value

__all__ = ["Crispness", "average_crispness", "crispness_of", "summarise_crispness"]


class Crispness(Value):
    """Crispness of a set of images.

    Attributes
    ----------
    mean, least, most : float
        Over the images that are not empty; NaN if all are.
    images : int
        Number of images, empty ones included.
    empty : int
        Number of images without any strength, which have no crispness.
    """

    mean: float
    least: float
    most: float
    images: int
    empty: int

    def __str__(self) -> str:
        text = f"AC {self.mean:.3f} (from {self.least:.3f} to {self.most:.3f}) over {self.images} images"
        return f"{text}, {self.empty} of them empty and left out" if self.empty else text


def average_crispness(strength: Any, *, recipe: str | Recipe = "crispness", empty: float = math.nan) -> float:
    """Return Σ NMS(E) / Σ E of one strength map: 1 is as crisp as can be.

    Parameters
    ----------
    strength : (rows, columns) array_like
        Values in [0, 1], edges bright.
    recipe : str
        The suppression; the measure is defined with radius 2, border 5, leniency 1.01, no smoothing.
    empty : float
        The value of a map without any strength.

    Notes
    -----
    The border fade of the recipe keeps the value of even a perfectly thin map below 1 where edges come
    near the frame.

    References
    ----------
    .. [1] Y. Ye et al., "Delving into crispness: guided label refinement for crisp edge detection", IEEE
       Transactions on Image Processing 32, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> ridge = np.zeros((40, 40))
    >>> ridge[:, 18:23] = [0.2, 0.6, 0.9, 0.6, 0.2]
    >>> round(average_crispness(ridge), 3)
    0.306
    """
    return crispness_of(as_strength(strength), recipe=recipe, empty=empty)


def crispness_of(
    strength: FloatArray, *, recipe: str | Recipe = "crispness", empty: float = math.nan
) -> float:
    """Do what `average_crispness` does with a map that `as_strength` has checked."""
    whole = float(strength.sum(dtype=np.float64))
    if whole == 0:
        return empty
    crests = crests_of(strength, recipe).astype(np.float64)  # if there is no cast NumPy sums without the lock
    return float(crests.sum()) / whole


def summarise_crispness(values: Iterable[float]) -> Crispness:
    """Return mean and range of the crispness of single images, leaving out those that are NaN."""
    numbers = np.asarray(list(values), dtype=np.float64)
    if numbers.size == 0:
        raise InputError("give the crispness of at least one image, got none")
    known = numbers[~np.isnan(numbers)]
    mean, least, most = (known.mean(), known.min(), known.max()) if known.size else (math.nan,) * 3
    return Crispness(
        mean=float(mean),
        least=float(least),
        most=float(most),
        images=numbers.size,
        empty=numbers.size - known.size,
    )
