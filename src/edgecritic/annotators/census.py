"""Which share of the labels of a data set is an orphan, which is a consensus."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.perceptual import SLACK, LabelStrength
from edgecritic.annotators.plots import share_bars
from edgecritic.errors import InputError
from edgecritic.values import Value

__all__ = ["Census", "Shares", "shares", "LEVELS", "level_names"]

Weight = Literal["distinct", "label"]

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Lower ends of the classes of strength; the last holds 1 alone."""


class Census(Value):
    """The labels of one image counted by the number of others who drew them.

    Attributes
    ----------
    counts : tuple of int
        counts[M] label pixels are matched with M others; M = 0 … N − 1.
    """

    counts: tuple[int, ...]

    @classmethod
    def of(cls, found: LabelStrength) -> Census:
        """Count the labels of an image."""
        everyone = np.concatenate(found.partners)
        return cls(counts=tuple(np.bincount(everyone, minlength=found.annotators).tolist()))


class Shares(Value):
    """How the labels of a data set divide.

    Attributes
    ----------
    orphan : float
        Share that only one annotator drew.
    consensus : float
        Share that all annotators of the image drew.
    levels : tuple of float
        Shares of the strengths [0, .2), [.2, .4), [.4, .6), [.6, .8), [.8, 1) and 1.
    weight : "distinct" or "label"
    images, labels : int
        Number of images and of label pixels.
    """

    orphan: float
    consensus: float
    levels: tuple[float, ...]
    weight: str
    images: int
    labels: int

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {
            "orphan": self.orphan,
            "consensus": self.consensus,
            "levels": dict(zip(level_names(), self.levels, strict=True)),
            "weight": self.weight,
            "images": self.images,
            "labels": self.labels,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares of the strengths into `ax`, or into a new figure; return the axes."""
        what = "boundaries" if self.weight == "distinct" else "labels"
        return share_bars(ax, {what: self.as_dict()["levels"]})


def shares(images: Iterable[Census | LabelStrength], *, weight: Weight = "distinct") -> Shares:
    """Pool the labels of many images and divide them by strength.

    Share = Σ w over the class / Σ w over all labels of all images.

    Parameters
    ----------
    images : iterable of Census or LabelStrength
        With at least two annotators each.
    weight : "distinct" or "label"
        ``distinct``: w = 1/(M + 1), so that a boundary which M + 1 annotators drew counts once, as in the
        paper. ``label``: w = 1, every label pixel counts.

    Examples
    --------
    >>> found = shares([Census(counts=(30, 0, 60))])
    >>> found.orphan, found.consensus
    (0.6, 0.4)
    >>> round(shares([Census(counts=(30, 0, 60))], weight="label").consensus, 4)
    0.6667
    """
    if weight not in ("distinct", "label"):
        raise InputError(f"weight must be 'distinct' or 'label', got {weight!r}")
    orphan = consensus = total = 0.0
    classes = np.zeros(len(LEVELS))
    number = labels = 0
    for one in images:
        counts = np.array((one if isinstance(one, Census) else Census.of(one)).counts, dtype=np.float64)
        if counts.size < 2:
            raise InputError("shares need at least two annotators per image", remedy="leave the others out")
        drawn = np.arange(1, counts.size + 1)
        weighted = counts / drawn if weight == "distinct" else counts
        orphan += weighted[0]
        consensus += weighted[-1]
        total += weighted.sum()
        np.add.at(classes, _class_of(drawn / counts.size), weighted)
        number += 1
        labels += int(counts.sum())
    if number == 0:
        raise InputError("no image was given; shares need at least one with two annotators")
    whole = total if total > 0 else np.nan
    return Shares(
        orphan=float(orphan / whole),
        consensus=float(consensus / whole),
        levels=tuple(float(value) for value in classes / whole),
        weight=weight,
        images=number,
        labels=labels,
    )


def level_names() -> list[str]:
    """Return the classes of strength in words.

    Examples
    --------
    >>> level_names()
    ['0–.2', '.2–.4', '.4–.6', '.6–.8', '.8–1', '1']
    """
    ends = [f"{level:g}".removeprefix("0") or "0" for level in LEVELS]
    return [*(f"{low}–{high}" for low, high in pairwise(ends)), ends[-1]]


def _class_of(strengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class of each strength."""
    return np.searchsorted(np.array(LEVELS) - SLACK, strengths, side="right") - 1
