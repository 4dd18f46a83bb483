"""The evidence that all measures of a pair share, computed lazily and once."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.grids import on_one_grid
from edgecritic.ids import Id, shown
from edgecritic.inputs import BoolArray, Spacing, as_pair, as_spacing
from edgecritic.lazy import cached_property
from edgecritic.maps.nearest import FloatMap, nearest_distances
from edgecritic.maps.target import Target, as_empty_distance, bounding_box
from edgecritic.matching import Matching, match, strategies
from edgecritic.values import Value

if TYPE_CHECKING:
    from edgecritic.measures.explain import Explanation

__all__ = ["Confusion", "Comparison", "Distances", "Judged", "OnDegenerate", "Single", "compare"]

OnDegenerate = Literal["value", "nan", "raise"]
Evidence = TypeVar("Evidence")


class Confusion(Value, kw_only=False):
    """Counts of pixels under strict overlap, without any tolerance."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def size(self) -> int:
        """Number of pixels of the image."""
        return self.tp + self.fp + self.fn + self.tn

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)


class Distances(Value, kw_only=False):
    """Distances of the pixels of each map to the nearest pixel of the other, in raster order."""

    to_truth: FloatMap
    to_candidate: FloatMap


class Judged:
    """What the evidence of pairs and of single maps has in common.

    Attributes
    ----------
    on_degenerate : "value", "nan" or "raise"
        What measures do where a map is empty.
    warned : bool
        Whether the warning about empty maps has been given.
    """

    def __init__(self, on_degenerate: OnDegenerate) -> None:
        self.on_degenerate = on_degenerate
        self.warned = False
        self._more: dict[str, Any] = {}

    @property
    def empty_side(self) -> str | None:
        """``"both"``, ``"candidate"``, ``"truth"``, or ``None`` if all maps have pixels."""
        raise NotImplementedError

    @property
    def nothing_to_judge(self) -> bool:
        """Whether all maps are empty, which ``on_degenerate="nan"`` leaves out: such a case tells nothing.

        A map that is empty beside one that is not is a miss or a false alarm, and keeps its value: left out
        of a mean, it would make that better.
        """
        return self.empty_side == "both"

    @property
    def empty_text(self) -> str:
        """The empty side in words."""
        side = self.empty_side
        return "both maps have no edge pixels" if side == "both" else f"the {side} has no edge pixels"

    def warn_empty(self) -> None:
        """Warn, once, that values come from the table of empty cases."""
        if not self.warned:
            self.warned = True
            text = f"{self.empty_text}: measures have the values of their table of empty cases"
            warnings.warn(text, UndefinedMeasureWarning, stacklevel=4)

    def cached(self, name: str, make: Callable[[Any], Evidence]) -> Evidence:
        """Return further evidence that a family of measures makes for itself, made once."""
        if name not in self._more:
            self._more[name] = make(self)
        found: Evidence = self._more[name]
        return found


class Comparison(Judged):
    """A candidate, a truth, and everything that measures of the two have in common.

    Nothing is computed before it is asked for, and nothing twice: all measures of a pair cost two
    distance transforms. Make one with `compare`.

    Attributes
    ----------
    candidate, truth : bool arrays of one shape
    spacing : tuple of float
        Pixel size along each axis.
    empty_distance : float
        What stands for the distance to a map without pixels.
    on_degenerate : "value", "nan" or "raise"
        What measures do where a map is empty; `compare` explains the words.
    targets : tuple of two Target
        What belongs to the candidate alone and to the truth alone.
    shape : tuple of int
        Shape of the image; the maps may be cut out of it.
    size : int
        Number of pixels of the image that count.
    """

    def __init__(
        self,
        candidate: Target,
        truth: Target,
        *,
        on_degenerate: OnDegenerate = "value",
        shape: tuple[int, ...] | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__(on_degenerate)
        self.shape = truth.mask.shape if shape is None else shape
        self.size = math.prod(self.shape) if size is None else size
        self.targets = self._candidate, self._truth = candidate, truth
        self._matchings: dict[str, Matching] = {}
        self._sums: dict[tuple[str, float], tuple[float, float]] = {}

    @property
    def candidate(self) -> BoolArray:
        """The map that is judged."""
        return self._candidate.mask

    @property
    def truth(self) -> BoolArray:
        """The map it is judged by."""
        return self._truth.mask

    @property
    def spacing(self) -> tuple[float, ...]:
        """Pixel size along each axis."""
        return self._truth.spacing

    @property
    def empty_distance(self) -> float:
        """What stands for the distance to a map without pixels."""
        return self._truth.empty_distance

    @property
    def n_candidate(self) -> int:
        """Number of candidate pixels."""
        return self._candidate.count

    @property
    def n_truth(self) -> int:
        """Number of truth pixels."""
        return self._truth.count

    @property
    def thin(self) -> bool:
        """Whether all pixels of both maps are border pixels."""
        return not (self._candidate.solid or self._truth.solid)

    @property
    def empty_side(self) -> str | None:
        """``"both"``, ``"candidate"``, ``"truth"``, or ``None`` if both maps have pixels."""
        if self.n_candidate and self.n_truth:
            return None
        if self.n_candidate or self.n_truth:
            return "truth" if self.n_candidate else "candidate"
        return "both"

    @cached_property
    def confusion(self) -> Confusion:
        """Counts of hits, false alarms, misses and true negatives under strict overlap."""
        tp = int(np.count_nonzero(self.candidate & self.truth))
        fp, fn = self.n_candidate - tp, self.n_truth - tp
        return Confusion(tp, fp, fn, self.size - tp - fp - fn)

    @property
    def transforms(self) -> tuple[FloatMap, FloatMap]:
        """Distance of every pixel of the image to the candidate and to the truth."""
        return self._candidate.to_mask, self._truth.to_mask

    @cached_property
    def window(self) -> tuple[slice, ...]:
        """The smallest box that holds all pixels of both maps."""
        return bounding_box(self.candidate | self.truth)

    @cached_property
    def distances(self) -> Distances:
        """Distances of the pixels of each map to the other map."""
        return self._distances(border=False)

    @cached_property
    def surface(self) -> Distances:
        """Distances of the border pixels of each map to the border of the other."""
        if self.thin:
            return self.distances
        return self._distances(border=True)

    @cached_property
    def to_hits(self) -> FloatMap:
        """Distances of the truth pixels to the nearest pixel that is in both maps; inf if there is none."""
        hits = (self.candidate & self.truth)[self.window]
        if not hits.any():
            return np.full(self.n_truth, math.inf)
        return nearest_distances(self.truth[self.window], hits, self.spacing)

    def power_sums(self, k: float) -> tuple[float, float]:
        """Return Σ d_G(p)ᵏ over the candidate and Σ d_D(p)ᵏ over the truth."""
        key = ("power", float(k))
        if key not in self._sums:
            self._sums[key] = _power(self.distances.to_truth, k), _power(self.distances.to_candidate, k)
        return self._sums[key]

    def merit_sums(self, kappa: float) -> tuple[float, float]:
        """Return Σ 1/(1 + κ·d_G²) over the candidate and Σ 1/(1 + κ·d_D²) over the truth."""
        key = ("merit", float(kappa))
        if key not in self._sums:
            self._sums[key] = (
                float((1 / (1 + kappa * self.distances.to_truth**2)).sum()),
                float((1 / (1 + kappa * self.distances.to_candidate**2)).sum()),
            )
        return self._sums[key]

    def matching(self, strategy: str | Id) -> Matching:
        """Return the matching of the two maps by a strategy such as ``eps(window=5)``."""
        key = str(strategy)
        if key not in self._matchings:
            self._matchings[key] = match(self.candidate, self.truth, strategy=strategy, spacing=self.spacing)
        return self._matchings[key]

    def pair_distances(self, strategy: str | Id) -> FloatMap:
        """Return the distances of the pairs of a one-to-one strategy."""
        distances = self.matching(strategy).distances
        if distances is None or not strategies.get(Id.parse(strategy).name).info.one_to_one:
            raise InputError(f"strategy must be one-to-one to have distances of pairs, got {strategy}")
        return distances

    def explain(self, *, tolerance: float | None = None) -> Explanation:
        """Say in words what the maps have in common and what measures punish, as `explain` does."""
        from edgecritic.measures.explain import explain

        return explain(self, tolerance=tolerance)

    def plot(self, ax: Any = None, *, tolerance: float | None = None) -> Any:
        """Draw hits, false alarms and misses as `Matching.plot` does; return the axes."""
        return match(self.candidate, self.truth, tolerance=tolerance, spacing=self.spacing).plot(ax)

    def _repr_html_(self) -> str:
        """Return what notebooks show: that of the matching."""
        return match(self.candidate, self.truth, spacing=self.spacing)._repr_html_()

    def __repr__(self) -> str:
        return f"Comparison({self.n_candidate} candidate and {self.n_truth} truth pixels of {self.size})"

    def _distances(self, *, border: bool) -> Distances:
        return Distances(
            self._truth.distances_from(self._candidate, self.window, border=border),
            self._candidate.distances_from(self._truth, self.window, border=border),
        )


class Single(Judged):
    """A candidate alone, as the measures without truth are given it.

    Attributes
    ----------
    candidate : bool array
    on_degenerate : "value", "nan" or "raise"
        What measures do if it is empty.
    """

    def __init__(self, candidate: BoolArray, *, on_degenerate: OnDegenerate = "value") -> None:
        super().__init__(on_degenerate)
        self.candidate = candidate
        self.count = int(np.count_nonzero(candidate))

    @property
    def empty_side(self) -> str | None:
        """``"candidate"`` if it has no pixels."""
        return None if self.count else "candidate"

    @property
    def nothing_to_judge(self) -> bool:
        """Whether the only map is empty."""
        return self.count == 0

    def keep(self, known: Mapping[str, Any]) -> None:
        """Take further evidence that is known already, by the names of `cached`."""
        self._more.update(known)

    @property
    def squeezed(self) -> BoolArray:
        """The map, as a plane if it is a volume of one plane."""
        shape = self.candidate.shape
        if len(shape) == 3 and 1 in shape:
            return np.squeeze(self.candidate, axis=shape.index(1))
        return self.candidate

    def plane(self, name: str) -> BoolArray:
        """Return the map if it is a plane, or say that `name` is for planes only."""
        if self.squeezed.ndim != 2:
            raise InputError(f"{name} is defined in 2 dimensions only, got shape {self.candidate.shape}")
        return np.ascontiguousarray(self.squeezed)


def compare(
    candidate: Any,
    truth: Any,
    *,
    spacing: Spacing = None,
    empty_distance: float | None = None,
    on_degenerate: OnDegenerate = "value",
) -> Comparison:
    """Put a candidate and a truth side by side: the evidence of all measures, computed lazily.

    Parameters
    ----------
    candidate, truth : array_like, 2-D or 3-D; or images of nibabel or SimpleITK
        Binary maps of one shape: booleans, 0/1 or 0/255. Three axes are a volume, never a batch. Images come
        with their geometry: axes are brought into the truth's order, other grids are refused.
    spacing : float or one per axis, optional
        Pixel sizes; distances are in their unit. By default those that images tell.
    empty_distance : float, optional
        What stands for the distance to a map without pixels; the image diagonal if not given.
    on_degenerate : "value", "nan" or "raise"
        What a measure returns where a map is empty: the value of its table (with one warning); the same,
        but NaN where both maps are empty; or an error. An object that was missed, or found where there is
        none, is never NaN: left out of a mean, it would make that better.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((10, 12), bool)
    >>> truth[4, 2:10] = True
    >>> found = compare(np.roll(truth, 1, axis=0), truth)
    >>> found.confusion
    Confusion(tp=0, fp=8, fn=8, tn=104)
    >>> float(found.distances.to_truth.max())
    1.0
    """
    candidate, (truth,), spacing, _ = on_one_grid(candidate, [truth], spacing)
    first, second = as_pair(candidate, truth)
    sizes = as_spacing(spacing, first.ndim)
    far = as_empty_distance(empty_distance, first.shape, sizes)
    check_policy(on_degenerate)
    return Comparison(Target(first, sizes, far), Target(second, sizes, far), on_degenerate=on_degenerate)


def check_policy(on_degenerate: str) -> None:
    """Refuse an unknown word for what to do with empty maps."""
    if not isinstance(on_degenerate, str) or on_degenerate not in get_args(OnDegenerate):
        raise InputError(f'on_degenerate must be "value", "nan" or "raise", got {shown(on_degenerate)}')


def _power(distances: FloatMap, k: float) -> float:
    if k == 1:
        return float(distances.sum())
    if k == 2:
        return float((distances * distances).sum())
    return float((distances**k).sum())
