"""Perceptual strength: how many annotators of an image drew the same boundary.

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.plots import strength_colours
from edgecritic.assignment.pixel_lists import PixelMatcher
from edgecritic.errors import InputError
from edgecritic.figures import axes_of
from edgecritic.inputs import BoolArray, Spacing, as_mask, as_spacing, as_tolerance, mask_of
from edgecritic.protocols.counts import Counts, counted
from edgecritic.values import Value

__all__ = ["LabelStrength", "strength", "agreement_matrix", "SLACK"]

SLACK = 1e-9
"""Strengths are compared with levels less this, so that rounding never decides."""


class LabelStrength(Value):
    """How many others agree with every label pixel of every annotator.

    Attributes
    ----------
    shape : tuple of int
    tolerance : float
        Largest distance of a match, in pixels (or in units of the spacing).
    pixels : tuple of int64 arrays
        For each annotator the raster indices of the labels.
    partners : tuple of int64 arrays
        M: for each label with how many of the others it is matched.
    matches : (N, N) int64 array
        Matched pairs between annotators; on the diagonal the number of labels.
    """

    _hidden = ("pixels", "partners")

    shape: tuple[int, ...]
    tolerance: float
    pixels: tuple[NDArray[np.int64], ...]
    partners: tuple[NDArray[np.int64], ...]
    matches: NDArray[np.int64]

    @property
    def annotators(self) -> int:
        """Number of annotators N."""
        return len(self.pixels)

    @property
    def maps(self) -> list[BoolArray]:
        """The annotators' maps as they were given."""
        return [mask_of(pixels, self.shape) for pixels in self.pixels]

    @property
    def strengths(self) -> list[NDArray[np.float64]]:
        """For each annotator the map of (M + 1)/N, 0 where there is no label."""
        found = []
        for pixels, partners in zip(self.pixels, self.partners, strict=True):
            values = np.zeros(self.shape)
            values.reshape(-1)[pixels] = (partners + 1) / self.annotators
            found.append(values)
        return found

    def at_least(self, level: float) -> list[BoolArray]:
        """Return each annotator's labels of strength ≥ `level`; 0 keeps all, 1 those of all annotators."""
        if not 0 <= level <= 1:
            raise InputError(f"a strength lies in [0, 1], got {level!r}")
        least = level * self.annotators - 1 - SLACK
        return self._kept([partners >= least for partners in self.partners])

    def consensus(self, of: int | None = None) -> list[BoolArray]:
        """Return each annotator's labels that at least `of` annotators drew, all of them by default."""
        wanted = self.annotators if of is None else of
        if not 1 <= wanted <= self.annotators:
            raise InputError(f"of must lie in 1 … {self.annotators}, the number of annotators, got {of!r}")
        return self._kept([partners + 1 >= wanted for partners in self.partners])

    def orphans(self) -> list[BoolArray]:
        """Return each annotator's labels that nobody else drew."""
        return self._kept([partners == 0 for partners in self.partners])

    @property
    def agreement(self) -> NDArray[np.float64]:
        """The F of every two annotators, 2·matches / (labels of both); 1 where both maps are empty."""
        return agreement_matrix(self.matches)

    def human_counts(self) -> Counts:
        """Return the counts of all annotators as candidates against the others.

        The same as :func:`edgecritic.protocols.human.human_counts`, without matching anew.
        """
        return counts_of_labels(self.matches, self.partners)

    def plot(self, ax: Any = None, *, photo: Any = None) -> Any:
        """Draw the labels coloured by strength into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax)
        axes.imshow(strength_colours(self, photo), interpolation="nearest")
        axes.set_axis_off()
        return axes

    def _kept(self, keep: Sequence[BoolArray]) -> list[BoolArray]:
        return [mask_of(pixels[chosen], self.shape) for pixels, chosen in zip(self.pixels, keep, strict=True)]


def counts_of_labels(matches: NDArray[np.int64], partners: Sequence[NDArray[Any]]) -> Counts:
    """Return what `LabelStrength.human_counts` does, of the fields of the same names."""
    sizes = int(np.trace(matches))
    hit = int(matches.sum()) - sizes
    seen = sum(int(np.count_nonzero(one)) for one in partners)
    return counted([1.0], [[hit], [(len(partners) - 1) * sizes], [seen], [sizes]])


def agreement_matrix(matches: Any) -> NDArray[np.float64]:
    """Return the F of every two annotators from the numbers of matched pairs; the diagonal holds the sizes.

    Examples
    --------
    >>> agreement_matrix([[10, 4], [4, 6]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    counts = np.asarray(matches, dtype=np.float64)
    both = np.diag(counts)[:, None] + np.diag(counts)[None, :]
    f: NDArray[np.float64] = np.ones(both.shape)
    np.divide(2.0 * counts, both, out=f, where=both > 0)
    return f


def strength(
    truths: Sequence[Any],
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
) -> LabelStrength:
    """Find how strong every label of every annotator is.

    Every two maps are matched exactly, one to one, once; one matching serves both sides. A label that is
    matched with M of the other N − 1 annotators has the strength (M + 1)/N. Orphan labels have M = 0,
    consensus labels M = N − 1.

    Parameters
    ----------
    truths : sequence of array_like of one shape, 2-D or 3-D
        The maps of at least two annotators; a map may be empty.
    tolerance, relative_tolerance, spacing
        As for :func:`edgecritic.match`; 0.0075 of the diagonal by default.

    Returns
    -------
    LabelStrength

    Raises
    ------
    InputError
        For fewer than two maps, or maps of different shapes.

    Examples
    --------
    >>> import numpy as np
    >>> long, short = np.zeros((8, 12), bool), np.zeros((8, 12), bool)
    >>> long[2, 1:11] = True
    >>> short[3, 1:5] = True
    >>> found = strength([long, short], tolerance=1)
    >>> [int(one.sum()) for one in found.consensus()], [int(one.sum()) for one in found.orphans()]
    ([4, 4], [6, 0])
    >>> float(found.agreement[0, 1].round(4))
    0.5714
    """
    maps = _as_maps(truths)
    shape = maps[0].shape
    sizes = as_spacing(spacing, len(shape))
    reach = as_tolerance(shape, sizes, tolerance, relative_tolerance)
    rasters = [np.flatnonzero(one) for one in maps]
    partners = [np.zeros(raster.size, dtype=np.int64) for raster in rasters]
    matches = np.diag([raster.size for raster in rasters]).astype(np.int64)
    matcher = PixelMatcher(shape, reach, sizes)
    placed = [matcher.place(raster) for raster in rasters]
    for j in range(len(maps) - 1):
        for i in range(j + 1, len(maps)):
            first, second = matcher.match(placed[i], placed[j])
            partners[i] += first
            partners[j] += second
            matches[i, j] = matches[j, i] = np.count_nonzero(first)
    return LabelStrength(
        shape=shape,
        tolerance=reach,
        pixels=tuple(rasters),
        partners=tuple(partners),
        matches=matches,
    )


def _as_maps(truths: Sequence[Any]) -> list[BoolArray]:
    if len(truths) < 2:
        raise InputError(
            f"strength compares annotators: give the maps of at least two, got {len(truths)}; "
            "the labels of one annotator alone cannot be weighed"
        )
    maps = [as_mask(one, f"map {number}") for number, one in enumerate(truths, start=1)]
    shapes = sorted({one.shape for one in maps})
    if len(shapes) > 1:
        raise InputError(
            f"the annotators' maps must have one shape, got {shapes}; are all of the same image?"
        )
    return maps
