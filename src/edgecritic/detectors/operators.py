"""Operators: what a detector does to an image, and the engine that does it block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.nms import crests
from edgecritic.detectors.picture import Block, Border, FloatMap, Picture
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["Edges", "Operator", "Outcome", "WholeImage", "apply", "strongest"]

MOST_REACH = 2000
ROUNDING = 1e-12
"""Responses below this share of the largest pixel value are rounding errors and count as 0."""


class Edges(NamedTuple):
    """Edge strength and direction of a block.

    Attributes
    ----------
    magnitude : float array
    direction : tuple of float arrays
        Components of the gradient direction along each axis, (plane,) row, column, of any length.
    """

    magnitude: FloatMap
    direction: tuple[FloatMap, ...]


Thinner = Callable[[Edges, float], BoolArray]


def _along_direction(edges: Edges, slack: float) -> BoolArray:
    return crests(edges.magnitude, edges.direction, slack=slack)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What a detector does.

    Attributes
    ----------
    reach : tuple of int
        How many pixels it looks at beyond a pixel, along each axis.
    respond : callable
        Takes the channels with a margin of `reach`, returns :class:`Edges` without it.
    thin : callable
        Takes edges and the size of rounding errors, returns which pixels survive.
    border : {"mirror", "repeat"}
        How the image goes on beyond its frame.
    colour : {"joint", "luminance"}
        Whether `respond` takes all channels or one mixed from them.
    """

    reach: tuple[int, ...]
    respond: Callable[[Sequence[FloatMap]], Edges]
    thin: Thinner = field(default=_along_direction)
    border: Border = "mirror"
    colour: Literal["joint", "luminance"] = "joint"

    def __post_init__(self) -> None:
        if max(self.reach) > MOST_REACH:
            raise InputError(
                f"the filter reaches {max(self.reach)} pixels, more than the {MOST_REACH} allowed",
                remedy="choose a smaller scale, or shrink the image",
            )


class Outcome(NamedTuple):
    """Results of an operator on a whole image: unscaled, or in [0, 1] where there is a posterior."""

    magnitude: FloatMap
    thin: FloatMap
    orientation: NDArray[np.float32]
    posterior: FloatMap | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeImage:
    """What a detector does that needs the image as a whole, with the units of its values.

    Attributes
    ----------
    run : callable
        Takes the picture and whether colours are to be mixed into one channel; returns an :class:`Outcome`.
    colour : {"joint", "luminance"}
    """

    run: Callable[[Picture, bool], Outcome]
    colour: Literal["joint", "luminance"] = "joint"


def apply(operator: Operator | WholeImage, picture: Picture, *, side: int | None = None) -> Outcome:
    """Run an operator over a picture; only the results of one that works in blocks are as large as it."""
    if isinstance(operator, WholeImage):
        return operator.run(picture, operator.colour == "luminance")
    shape = picture.shape
    magnitude, thin = np.empty(shape), np.empty(shape)
    vector = () if len(shape) == 2 else (len(shape),)
    orientation = np.empty((*vector, *shape), dtype=np.float32)
    slack = ROUNDING * picture.peak
    for block in picture.blocks(side):
        wide = tuple(
            slice(max(part.start - 1, 0), min(part.stop + 1, n)) for part, n in zip(block, shape, strict=True)
        )
        planes = picture.cut(wide, operator.reach, operator.border, operator.colour == "luminance")
        edges = operator.respond(planes)
        edges.magnitude[edges.magnitude <= slack] = 0
        survivors = operator.thin(edges, slack)
        inner = _relative(block, wide)
        magnitude[block] = edges.magnitude[inner]
        np.multiply(edges.magnitude[inner], survivors[inner], out=thin[block])
        _orient(orientation, block, tuple(part[inner] for part in edges.direction))
    return Outcome(magnitude, thin, orientation)


def strongest(choices: Sequence[Edges]) -> Edges:
    """Return at every pixel the edges of the channel with the largest magnitude, the first of equals."""
    best = choices[0]
    for other in choices[1:]:
        wins = other.magnitude > best.magnitude
        best = Edges(
            np.where(wins, other.magnitude, best.magnitude),
            tuple(np.where(wins, a, b) for a, b in zip(other.direction, best.direction, strict=True)),
        )
    return best


def _relative(block: Block, wide: Block) -> Block:
    return tuple(
        slice(part.start - outer.start, part.stop - outer.start)
        for part, outer in zip(block, wide, strict=True)
    )


def _orient(orientation: NDArray[np.float32], block: Block, direction: tuple[FloatMap, ...]) -> None:
    if len(direction) == 2:
        orientation[block] = np.arctan2(direction[0], direction[1])
        return
    length: Any = np.sqrt(sum(part * part for part in direction))
    length[length == 0] = 1
    for axis, part in enumerate(direction):
        orientation[axis][block] = part / length
