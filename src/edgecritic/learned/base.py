"""What detectors that learn have in common: photos with marks, stages of learning, models as values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.picture import LUMINANCE, Picture
from edgecritic.inputs import BoolArray
from edgecritic.registry import Registry
from edgecritic.values import Value

__all__ = ["Arrays", "Marks", "Model", "Stage", "Trainable", "photo_hash", "trainable", "trainables"]

Arrays = dict[str, NDArray[Any]]
Function = TypeVar("Function", bound=Callable[..., "tuple[Stage, ...]"])

DIGITS = 12
"""So many hexadecimal digits of a model's digest stand in the id of its detector."""


class Marks(NamedTuple):
    """What is learned from one photo: pixels that are boundaries, those that are neither nor, and weights.

    Attributes
    ----------
    boundary : bool array
    unsure : bool array or None
        Labels that are left out: neither boundary nor background, nor is anything near them.
    weight : float array or None
        How much each boundary pixel counts; all alike if None.
    """

    boundary: BoolArray
    unsure: BoolArray | None = None
    weight: NDArray[np.float64] | None = None


class Model(Value):
    """What a detector has learned.

    Attributes
    ----------
    detector : str
        Which detector it is for: ``pb``.
    parameters : dict
        What was learned, as lists, words and numbers.
    labels : str
        Which labels it was learned from.
    seed : int
    photos : dict of str
        The photos by name, with a hash of their pixels (`photo_hash`).
    """

    _hidden = ("photos",)

    detector: str
    parameters: dict[str, Any]
    labels: str
    seed: int
    photos: dict[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 of everything the model holds, hexadecimal."""
        return hashlib.sha256(_canonical(self.content())).hexdigest()

    def content(self) -> dict[str, Any]:
        """Return everything the model holds, ready for JSON."""
        return {
            "detector": self.detector,
            "labels": self.labels,
            "seed": self.seed,
            "parameters": self.parameters,
            "photos": self.photos,
        }

    def knows(self, picture: Picture) -> str | None:
        """Return the name of the training photo that a picture is, or None."""
        wanted = photo_hash(picture)
        return next((name for name, one in self.photos.items() if one == wanted), None)

    def as_dict(self) -> dict[str, Any]:
        """Return what is said of the model: detector, labels, seed, number of photos, digest."""
        told = {"detector": self.detector, "labels": self.labels, "seed": self.seed}
        return {**told, "photos": len(self.photos), "digest": self.digest}

    def __str__(self) -> str:
        count = len(self.photos)
        return f"{self.detector} from {count} photos, labels {self.labels}, digest {self.digest[:DIGITS]}"


class Stage(NamedTuple):
    """A step of learning: something is taken out of every photo, then all of it is put together.

    Attributes
    ----------
    name : str
    extract : callable
        ``(picture, marks, known, seed) -> arrays``: `marks` by label scheme, `known` is what the stages
        before found, `seed` belongs to this photo.
    join : callable
        ``(parts, schemes, known, seed) -> known``: the arrays of all photos in the order of their names. What
        the last stage returns are the model's parameters by label scheme.
    """

    name: str
    extract: Callable[[Picture, Mapping[str, Marks], Any, int], Arrays]
    join: Callable[[Sequence[Arrays], Sequence[str], Any, int], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainable:
    """What is known of a detector that learns: where it is defined."""

    reference: str


trainables: Registry[Trainable] = Registry("trainable detector", "edgecritic.learned", "edgecritic.learned")


def trainable(name: str, *, reference: str) -> Callable[[Function], Function]:
    """Register a function ``(*, options) -> tuple of Stage`` that says how the detector `name` learns."""

    def register(function: Function) -> Function:
        trainables.add(name, function, Trainable(reference=reference))
        return function

    return register


def photo_hash(picture: Picture) -> str:
    """Return a hash of the luminance of a photo, in 256 steps: the same for its copy in grey or at 16 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.detectors.picture import as_picture
    >>> photo = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    >>> photo_hash(as_picture(photo)) == photo_hash(as_picture(photo / 255))
    True
    """
    planes = [np.asarray(one, np.float64) * picture.scale for one in picture.channels]
    if len(planes) == 3:
        planes = [LUMINANCE[0] * planes[0] + LUMINANCE[1] * planes[1] + LUMINANCE[2] * planes[2]]
    # Luminances of 8-bit colours are multiples of 1/1000: none is near the places where these steps begin.
    steps = np.clip(np.floor(255 * planes[0] + 0.5002), 0, 255).astype(np.uint8)
    return hashlib.sha256(f"{steps.shape}".encode() + steps.tobytes()).hexdigest()[:16]


def _canonical(content: Any) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")
