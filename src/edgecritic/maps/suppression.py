"""Non-maximum suppression: thick strength maps become thin ones, by named recipes.

Published scores depend on the recipe (search radius, border fade, leniency, smoothing), and papers rarely
name it. Here a recipe has a name or is written out, and results carry it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import field, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.ids import Id
from edgecritic.inputs import FloatArray, Spacing, as_strength
from edgecritic.kernels import suppression as kernels
from edgecritic.maps.crests import SurfaceRecipe, keep_surfaces
from edgecritic.values import Value

__all__ = ["Recipe", "RECIPES", "crests_of", "get_recipe", "suppress", "triangle_filter", "edge_orientation"]

Float32Array = NDArray[np.float32]

ORIENTATION_RADIUS = 4
"""Radius of the triangle filter before the second derivatives are taken."""

MOST_STEPS = 100


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: object, name: str, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_STEPS:
        raise InputError(f"{name} must be a whole number from {least} to {MOST_STEPS}, got {value!r}")


class Recipe(Value):
    """The steps of one non-maximum suppression.

    Attributes
    ----------
    radius : int
        How many steps across the ridge are looked at on each side; 0 means no suppression at all.
    border : int
        Width in pixels of the ramp that fades the map towards its frame; 0 leaves the frame alone.
    lenient : float
        A pixel survives if `lenient` times its strength is not below its neighbours.
    smooth : float
        Radius of the triangle filter that is applied first; 0 means none.
    normalise : bool
        Whether the map is first divided by its maximum.
    source : str
        Where the recipe is used.
    """

    _hidden = ("source",)

    radius: int = 1
    border: int = 5
    lenient: float = 1.01
    smooth: float = 1
    normalise: bool = False
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole(self.radius, "radius", 0)
        _whole(self.border, "border", 0)
        if not (_number(self.lenient) and self.lenient > 0):
            raise InputError(f"lenient must be a number > 0, got {self.lenient!r}")
        if not (_number(self.smooth) and 0 <= self.smooth <= MOST_STEPS):
            raise InputError(f"smooth must be a radius from 0 to {MOST_STEPS}, got {self.smooth!r}")
        if self.smooth > 1 and self.smooth != int(self.smooth):
            raise InputError(f"smooth above 1 must be a whole number, got {self.smooth!r}")
        if not isinstance(self.normalise, bool):
            raise InputError(f"normalise must be True or False, got {self.normalise!r}")

    def __str__(self) -> str:
        if self.radius == 0:
            return "none"
        parts = (
            f"radius={self.radius}, border={self.border}, lenient={self.lenient:g}, smooth={self.smooth:g}"
        )
        return f"nms({parts}, normalise=True)" if self.normalise else f"nms({parts})"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of the recipe, ready for JSON."""
        return {**super().as_dict(), "lenient": float(self.lenient), "smooth": float(self.smooth)}


RECIPES: Mapping[str, Recipe | SurfaceRecipe] = MappingProxyType(
    {
        "none": Recipe(radius=0, border=0, lenient=1.0, smooth=0, source="maps are taken as they are"),
        "nms": Recipe(source="the default numbers, to be changed one by one"),
        "hed": Recipe(source="HED in PyTorch, EDTER on BSDS500, RINDNet"),
        "rcf": Recipe(radius=2, smooth=0, source="RCF on BSDS500 and Multicue"),
        "rcf_nyud": Recipe(radius=4, smooth=0, source="RCF on NYUDv2"),
        "cats": Recipe(border=4, source="CATS"),
        "cats_nyud": Recipe(radius=4, border=4, source="CATS on NYUDv2"),
        "edter_nyud": Recipe(radius=2, source="EDTER on NYUDv2"),
        "dexined": Recipe(lenient=1.03, source="DexiNed; whether it smooths first is not documented"),
        "teed": Recipe(lenient=1.04, source="TEED; whether it smooths first is not documented"),
        "sdped": Recipe(smooth=0, normalise=True, source="SDPED"),
        "pyedgeeval": Recipe(source="pyEdgeEval, optional there; its orientation formula differs slightly"),
        "crispness": Recipe(radius=2, smooth=0, source="average crispness, Ye et al. 2023"),
        "opencv": Recipe(
            radius=2, border=0, lenient=1.0, smooth=0, source="OpenCV ximgproc edgesNms, defaults"
        ),
        "surface": SurfaceRecipe(source="volumes: across the surface, found by the structure tensor"),
    }
)
"""Named recipes; see :func:`get_recipe`."""


def get_recipe(recipe: str | Id | Recipe | SurfaceRecipe) -> Recipe | SurfaceRecipe:
    """Return the recipe of a name or id such as ``rcf``, ``hed(radius=2)`` or ``nms(border=0)``.

    Raises
    ------
    UnknownNameError
        If no recipe has this name.
    InputError
        If a parameter is unknown or out of range.

    Examples
    --------
    >>> print(get_recipe("rcf(border=0)"))
    nms(radius=2, border=0, lenient=1.01, smooth=0)
    """
    if isinstance(recipe, Recipe | SurfaceRecipe):
        return recipe
    return _named(recipe) if isinstance(recipe, str) else _recipe(recipe)


@lru_cache(maxsize=64)  # every image of a run asks for the same one
def _named(text: str) -> Recipe | SurfaceRecipe:
    return _recipe(Id.parse(text))


def _recipe(given: Id) -> Recipe | SurfaceRecipe:
    parsed = Id.parse(given)
    if parsed.name not in RECIPES:
        near = difflib.get_close_matches(parsed.name, RECIPES, 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownNameError(f"unknown NMS recipe {parsed.name!r}{hint} (known: {', '.join(RECIPES)})")
    known = RECIPES[parsed.name]
    values = {one.name: getattr(known, one.name) for one in fields(known) if one.name != "source"}
    for key in parsed.options:
        if key not in values:
            raise InputError(f"an NMS recipe has no parameter {key!r} (its parameters: {', '.join(values)})")
    if parsed.name == "none" and parsed.params:
        raise InputError(f"the recipe 'none' has no parameters, got {parsed}", remedy="use nms(…) instead")
    return type(known)(**{**values, **parsed.options, "source": known.source})


def suppress(
    strength: Any,
    recipe: str | Id | Recipe | SurfaceRecipe = "hed",
    *,
    orientation: Any = None,
    spacing: Spacing = None,
) -> NDArray[np.float32]:
    """Keep the crests of a strength map and set everything else to 0.

    Parameters
    ----------
    strength : (rows, columns) array_like
        Values in [0, 1], or unsigned integers, which are divided by their largest value. The recipe
        ``surface`` takes volumes, see :func:`edgecritic.maps.crests.keep_surfaces`.
    recipe : str or Recipe
        A name of :data:`RECIPES` or an id: ``"nms(radius=1, border=5, lenient=1.01, smooth=1)"``.
    orientation : (rows, columns) array_like, optional
        The direction across the ridge at every pixel, in radians from the column axis towards growing
        rows. By default :func:`edge_orientation` of the (smoothed) map.
    spacing : float or sequence of float, optional
        Voxel size, for the recipe ``surface``; the others work in pixels.

    Returns
    -------
    (rows, columns) float32 array
        The strengths of the surviving pixels, smoothed and faded as the recipe says.

    Notes
    -----
    In this order, all in float32: division by the maximum (if `normalise`); triangle filter of radius
    `smooth`; orientation; a pixel E(p) survives if `lenient`·E(p) ≥ E at (x + d·cos O, y + d·sin O) for
    d = ±1 … ±`radius`, looked up bilinearly in the unsuppressed map with x clamped to
    [0, columns − 1.001] and y likewise; the columns and rows x < `border` steps from the frame are
    multiplied by x / `border` (`border` is reduced to half the size of small images).

    References
    ----------
    .. [1] P. Dollár and C. L. Zitnick, "Fast edge detection using structured forests", IEEE TPAMI 37,
       2015. https://doi.org/10.1109/TPAMI.2014.2377715

    Examples
    --------
    >>> import numpy as np
    >>> ridge = np.tile(np.float32([0, 0.2, 0.5, 0.9, 0.5, 0.2, 0]), (5, 1))
    >>> suppress(ridge, "nms(border=0, smooth=0)")[2]
    array([0. , 0. , 0. , 0.9, 0. , 0. , 0. ], dtype=float32)
    """
    return crests_of(as_strength(strength), recipe, orientation=orientation, spacing=spacing)


def crests_of(
    strength: FloatArray,
    recipe: str | Id | Recipe | SurfaceRecipe,
    *,
    orientation: Any = None,
    spacing: Spacing = None,
) -> NDArray[np.float32]:
    """Do what `suppress` does to a map that `as_strength` has checked."""
    chosen = get_recipe(recipe)
    if isinstance(chosen, SurfaceRecipe):
        return keep_surfaces(strength, smooth=chosen.smooth, spacing=spacing)
    crests = _as_float32(strength)
    if chosen.radius == 0:
        return crests.copy()
    if chosen.normalise and crests.max() > 0:
        crests = crests / crests.max()
    reach, lenient, border = int(chosen.radius), np.float32(chosen.lenient), int(chosen.border)
    result: Float32Array
    if orientation is None:
        across = _triangle(ORIENTATION_RADIUS)
        result = kernels.keep_crests(crests, _triangle(chosen.smooth), across, reach, lenient, border)
    else:
        crests = triangle_filter(crests, chosen.smooth)
        result = kernels.keep_maxima(crests, *_steps(orientation, crests.shape), reach, lenient)
        kernels.fade_border(result, border)
    return result


def triangle_filter(image: Any, radius: float) -> NDArray[np.float32]:
    """Smooth with the separable triangle filter of the given radius, in float32.

    Parameters
    ----------
    image : (rows, columns) array_like of float
    radius : float
        r. Above 1 a whole number: weights [1 … r, r+1, r … 1] / (r+1)². From 0 to 1:
        [1, p, 1] / (2 + p) with p = 12 / (r·(r+2)) − 2. 0 returns the image. The image is continued by
        mirroring with its border pixels repeated.

    Examples
    --------
    >>> triangle_filter([[0, 0, 1, 0, 0]], 1)
    array([[0. , 0.25, 0.5 , 0.25, 0. ]], dtype=float32)
    """
    array = np.require(image, dtype=np.float32, requirements=["C", "W"])
    if array.ndim != 2:
        raise InputError(f"image must have 2 dimensions, got shape {array.shape}")
    if radius == 0:
        return array.copy()
    result: Float32Array = kernels.convolve(array, _triangle(radius))
    return result


@lru_cache(maxsize=64)
def _triangle(radius: float) -> Float32Array:
    """Return the weights of the filter, none for a radius of 0; nobody writes to them."""
    if radius == 0:
        return np.zeros(0, dtype=np.float32)
    if radius <= 1:
        middle = 12 / (radius * (radius + 2)) - 2
        weights = np.array([1, middle, 1]) / (2 + middle)
    else:
        ramp = np.arange(1, radius + 1)
        weights = np.concatenate([ramp, [radius + 1], ramp[::-1]]) / (radius + 1) ** 2
    return weights.astype(np.float32)


def edge_orientation(strength: Any, *, smooth: float = ORIENTATION_RADIUS) -> NDArray[np.float32]:
    """Return the direction across the ridges of a strength map, in radians from 0 to π.

    O = mod(atan(Oyy·sign(−Oxy) / (Oxx + 1e-5)), π) from second central differences of the map after a
    triangle filter of radius `smooth`; 0 points along the columns' axis (to the right), π/2 along the rows'
    axis (down).

    Notes
    -----
    The formula is the field's, kept as it is: for a straight ridge at angle θ it gives ±atan(tan²θ), which
    is exact for vertical and diagonal ridges. A ridge that runs exactly along a row has Oxy = 0 and gets
    O = 0, so suppression leaves it thick; thinning after the threshold takes care of it.

    Examples
    --------
    >>> import numpy as np
    >>> diagonal = np.eye(21)
    >>> round(float(edge_orientation(diagonal)[10, 10]) / np.pi, 3)
    0.75
    """
    cosine, sine = kernels.direction(triangle_filter(_as_float32(as_strength(strength)), smooth))
    flip = np.where(sine < 0, np.float32(-1), np.float32(1))
    angle: Float32Array = np.arctan2(sine * flip, cosine * flip)
    return angle


def _as_float32(strength: FloatArray) -> Float32Array:
    if strength.ndim != 2:
        raise InputError(
            f"non-maximum suppression works on 2-D maps, got shape {strength.shape}",
            remedy="volumes have the recipe surface, or none",
        )
    array: Float32Array = strength.astype(np.float32, copy=False)
    return array if array.flags.writeable else array.copy()


def _steps(orientation: Any, shape: tuple[int, ...]) -> tuple[Float32Array, Float32Array]:
    angles = np.ascontiguousarray(orientation, dtype=np.float32)
    if angles.shape != shape:
        raise InputError(f"orientation must have the strength map's shape {shape}, got {angles.shape}")
    if not np.isfinite(angles).all():
        raise InputError("orientation holds NaN or infinite values", remedy="give angles in radians")
    return np.cos(angles), np.sin(angles)
