"""Is a strength of 0.7 drawn by 70 % of the annotators? Reliability of a detector's output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pixel_lists import PixelMatcher
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.inputs import Spacing, as_masks, as_spacing, as_strength, as_tolerance
from edgecritic.maps.thinning import thin
from edgecritic.values import Value

__all__ = ["BINS", "Reliability", "pool_reliability", "reliability"]

Array = NDArray[np.float64]
BINS = 10


class Reliability(Value):
    """The pixels of thinned maps by strength, and how many annotators drew them. Sums, which add over images.

    Attributes
    ----------
    pixels : (bins,) int array
        Pixels whose strength p lies in each of the equally wide bins: k ≤ bins·p < k + 1, the last
        one p = 1 too.
    strength, drawn, any_drawn : (bins,) float arrays
        Sums over these pixels of p, of the share y of annotators who drew them, and of y > 0.
    squares : float
        Σ (p − y)² over all pixels.
    """

    pixels: NDArray[np.int64]
    strength: Array
    drawn: Array
    any_drawn: Array
    squares: float

    @property
    def means(self) -> tuple[Array, Array]:
        """Mean strength and mean share of annotators of every bin; NaN where it is empty."""
        return _divided(self.strength, self.pixels), _divided(self.drawn, self.pixels)

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ n_b/n·|mean p − mean y|; NaN without pixels."""
        return _error(self.strength, self.drawn, self.pixels)

    @property
    def any_error(self) -> float:
        """The same against "any annotator drew it", by which benchmarks count precision."""
        return _error(self.strength, self.any_drawn, self.pixels)

    @property
    def gaps(self) -> Array:
        """|mean p − mean y| of the bins that are not empty."""
        first, second = self.means
        found: Array = np.abs(first - second)[self.pixels > 0]
        return found

    @property
    def brier(self) -> float:
        """Brier's score, the mean of (p − y)²; NaN without pixels."""
        total = int(self.pixels.sum())
        return self.squares / total if total else float("nan")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per bin: its ends, pixels, mean strength and mean share of annotators."""
        count = len(self.pixels)
        first, second = self.means
        return [
            {
                "from": at / count,
                "to": (at + 1) / count,
                "pixels": int(self.pixels[at]),
                "strength": None if np.isnan(first[at]) else float(first[at]),
                "drawn": None if np.isnan(second[at]) else float(second[at]),
            }
            for at in range(count)
        ]

    def summary(self) -> dict[str, Any]:
        """Return the errors in a few numbers, and the bins, ready for JSON."""
        gaps = self.gaps
        numbers = {
            "expected_error": self.expected_error,
            "largest_error": float(gaps.max()) if gaps.size else float("nan"),
            "mean_error": float(gaps.mean()) if gaps.size else float("nan"),
            "any_error": self.any_error,
            "brier": self.brier,
        }
        plain = {name: None if np.isnan(value) else value for name, value in numbers.items()}
        return {"pixels": int(self.pixels.sum()), **plain, "bins": self.rows()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reliability:
        """Make it of what `as_dict` returned."""
        sums = {name: np.array(values[name], np.float64) for name in ("strength", "drawn", "any_drawn")}
        pixels = np.array(values["pixels"], dtype=np.int64)
        return cls(pixels=pixels, squares=float(values["squares"]), **sums)

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax, (4.6, 4.2))
        first, second = self.means
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="dashed", label="calibrated")
        axes.plot(first, second, "o-", color=COLOURS[0], label=f"error {self.expected_error:.3f}")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="strength", ylabel="share of annotators who drew it")
        axes.legend(frameon=False, loc="upper left")
        return axes


def reliability(
    strength: Any,
    truths: Sequence[Any],
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
    bins: int = BINS,
    thinned: bool = True,
) -> Reliability:
    """Compare the strength of every pixel of a map with the share of annotators who drew it.

    Pixels are those of the thinned map of strength > 0; an annotator drew one if an exact one-to-one matching
    with his map pairs it within the tolerance.

    Parameters
    ----------
    strength : array_like
    truths : sequence of array_like
        The maps of one or more annotators.
    tolerance, relative_tolerance, spacing
        As for :func:`edgecritic.match`; 0.0075 of the diagonal by default.
    bins : int
        Number of equally wide bins of strength.
    thinned : bool
        Whether the pixels are thinned before.

    Examples
    --------
    >>> import numpy as np
    >>> both, one = np.zeros((9, 12), bool), np.zeros((9, 12), bool)
    >>> both[2, :] = one[2, :] = one[7, :] = True
    >>> found = reliability(0.95 * both + 0.45 * (one & ~both), [both, one], tolerance=1)
    >>> [round(value, 4) for value in (found.expected_error, found.brier)]
    [0.05, 0.0025]
    """
    values = as_strength(strength)
    maps = as_masks(truths, "truth", values.ndim)
    if not maps or any(one.shape != values.shape for one in maps):
        raise InputError("strength and truths must have one shape, and there must be a truth")
    if not isinstance(bins, int) or bins < 1:
        raise InputError(f"bins must be a whole number ≥ 1, got {bins!r}")
    sizes = as_spacing(spacing, values.ndim)
    reach = as_tolerance(values.shape, sizes, tolerance, relative_tolerance)
    on = values > 0
    raster = np.flatnonzero(thin(on) if thinned else on)
    matcher = PixelMatcher(values.shape, reach, sizes)
    found = matcher.place(raster)
    drawn = np.zeros(raster.size)
    for one in maps:
        drawn += matcher.match(found, matcher.place(np.flatnonzero(one)))[0]
    share = drawn / len(maps)
    p = values.reshape(-1)[raster].astype(np.float64)
    where = np.minimum(np.floor(bins * p), bins - 1).astype(np.int64)

    def sums(weights: Array) -> Array:
        return np.bincount(where, weights, minlength=bins).astype(np.float64)

    return Reliability(
        pixels=np.bincount(where, minlength=bins).astype(np.int64),
        strength=sums(p),
        drawn=sums(share),
        any_drawn=sums((share > 0).astype(np.float64)),
        squares=float(((p - share) ** 2).sum()),
    )


def pool_reliability(parts: Iterable[Reliability]) -> Reliability:
    """Add the pixels of many images."""
    found = list(parts)
    if not found or len({len(one.pixels) for one in found}) > 1:
        raise InputError("give the reliability of one image or more, all with the same bins")
    names = ("pixels", "strength", "drawn", "any_drawn", "squares")
    return Reliability(**{name: sum(getattr(one, name) for one in found) for name in names})


def _divided(sums: Array, counts: NDArray[np.int64]) -> Array:
    means: Array = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _error(first: Array, second: Array, counts: NDArray[np.int64]) -> float:
    total = int(counts.sum())
    return float(np.abs(first - second).sum() / total) if total else float("nan")
