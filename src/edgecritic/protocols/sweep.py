"""The counts of one image at every threshold, by one matching that follows the falling threshold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment import dynamic
from edgecritic.errors import InputError
from edgecritic.ids import Id, shown
from edgecritic.inputs import (
    BoolArray,
    FloatArray,
    Spacing,
    as_array,
    as_mask,
    as_masks,
    as_spacing,
    as_strength,
    check_shapes,
)
from edgecritic.kernels._jit import is_started, plainly
from edgecritic.maps import thinning
from edgecritic.maps.boundaries import truth_boundary
from edgecritic.maps.suppression import crests_of
from edgecritic.maps.thinning import thin
from edgecritic.maps.walk import Walk
from edgecritic.matching.base import strategies
from edgecritic.matching.follow import Followed, follow
from edgecritic.protocols.counts import Counts, counted
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.values import Value

__all__ = [
    "Sweep",
    "as_truths",
    "candidate_at",
    "counts_with_all_on",
    "pairs_in_place",
    "sweep",
    "sweep_checked",
    "sweep_maps",
]

_STEPS_OF_PIXEL = 200  # of thinning, and of the matching with one truth, about
_PLACES_OF_STEP = 10  # of a map, that are looked through in the time of a step


class Sweep(Value):
    """Counts of one image.

    Attributes
    ----------
    protocol : Protocol
    shape : tuple of int
    tolerance : float
        Largest distance of a match, in pixels or in units of the spacing.
    annotators : int
    counts : Counts
        At every threshold of the protocol, and at 0 with every pixel on, not thinned: all truth pixels are
        then matched, by one-to-one strategies with themselves.
    spacing : tuple of float or None
        The pixel size that was given.
    """

    protocol: Protocol
    shape: tuple[int, ...]
    tolerance: float
    annotators: int
    counts: Counts
    spacing: tuple[float, ...] | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return the counts, a row per threshold."""
        return self.counts.rows()

    def plot(self, ax: Any = None, *, label: str = "") -> Any:
        """Draw precision over recall as `Summary.plot` does; return the axes."""
        from edgecritic.protocols.summary import summarise

        return summarise([self.counts], protocol=self.protocol).plot(ax, label=label)

    def __repr__(self) -> str:
        return f"<Sweep: {self._about()}, {self.counts.thresholds.size} thresholds>"

    def __str__(self) -> str:
        return f"{self._about()}; {self.counts}"

    def _about(self) -> str:
        size = " × ".join(map(str, self.shape))
        unit = "pixels" if len(self.shape) == 2 else "voxels"
        people = f"{self.annotators} annotator{'s' * (self.annotators != 1)}"
        return f"{size} {unit}, {people}, protocol {self.protocol.id}"


def sweep(
    strength: Any,
    truths: Any,
    *,
    protocol: str | Protocol = "bsds",
    mask: Any = None,
    spacing: Spacing = None,
) -> Sweep:
    """Count matches of a strength map or volume at all thresholds of a protocol.

    Falling thresholds add pixels to the candidate and, because of thinning, take some away. Thin map and
    matchings follow every change instead of being made anew, and are exact at every threshold: the
    counts equal those of `edgecritic.match` on each thresholded, thinned map.

    Parameters
    ----------
    strength : array_like, 2-D or 3-D
        Values in [0, 1], or 8- or 16-bit integers.
    truths : array_like, or list or stack of array_like
        The maps of one or several annotators; where the protocol takes inner boundaries, objects or labels.
    protocol : str or Protocol
        Volumes need one that does not thin, such as ``volume``.
    mask : array_like, optional
        Where it is off nothing is counted; the protocol's `mask` says whether it acts before or after
        thinning.
    spacing : float or sequence of float, optional
        Pixel size, one number or one per axis; the tolerance is in its unit.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((20, 30), bool)
    >>> truth[10, 5:25] = True
    >>> result = sweep(np.where(truth, 0.8, 0.0), [truth, truth])
    >>> result.counts.matched_truth[[0, 50, 98]], result.counts.candidate[[0, 50, 98]]
    (array([40., 40.,  0.]), array([20., 20.,  0.]))

    Of a volume with voxels of 3 × 1 × 1 mm, the surface of a box found 1 mm beside it:

    >>> box = np.zeros((9, 20, 20), bool)
    >>> box[2:7, 5:15, 5:15] = True
    >>> found = np.where(np.roll(box, 1, axis=2), 0.8, 0.0)
    >>> result = sweep(found, box, protocol="volume(tolerance=1)", spacing=(3, 1, 1))
    >>> bool(result.counts.recall[50] == 1)
    True
    """
    return sweep_checked(as_strength(strength), truths, protocol=protocol, mask=mask, spacing=spacing)


def sweep_checked(
    strength: FloatArray,
    truths: Any,
    *,
    protocol: str | Protocol = "bsds",
    mask: Any = None,
    spacing: Spacing = None,
) -> Sweep:
    """Do what `sweep` does with a map that `as_strength` has checked."""
    chosen = _without_classes(protocol)
    _check_thinning(chosen, strength.shape)
    sizes = None if spacing is None else as_spacing(spacing, strength.ndim)
    map_, maps, on = _prepared(strength, truths, chosen, mask, sizes)
    thresholds = chosen.threshold_values()
    steps = np.maximum(thresholds, chosen.threshold_floor)
    with plainly(0 if is_started() else _effort(chosen, map_, steps.min(), len(maps), sizes)):
        if chosen.thin and Id.parse(chosen.strategy).name == "exact" and thinning.compile_beside():
            dynamic.compile_here()  # which takes this process longer than the thinning the other one
        walk = Walk(map_, steps, thin=chosen.thin, keep=on if chosen.mask == "after" else None)
        return _counted(chosen, walk, maps, thresholds, on, sizes)


def _effort(
    protocol: Protocol, map_: FloatArray, lowest: float, truths: int, spacing: tuple[float, ...] | None
) -> int:
    """Return how many steps plain Python takes for a sweep, about; without end for other strategies."""
    if Id.parse(protocol.strategy).name != "exact":
        return sys.maxsize
    radius = protocol.tolerance_for(map_.shape, spacing) / min(spacing or (1.0,))
    pixels = int(np.count_nonzero(map_ >= lowest))
    each = int(_STEPS_OF_PIXEL * (1 + truths) + truths * (2 * radius + 1) ** map_.ndim)
    return pixels * each + map_.size * (3 + truths) // _PLACES_OF_STEP


def sweep_maps(
    candidates: Sequence[Any],
    truths: Any,
    *,
    protocol: str | Protocol = "bsds",
    mask: Any = None,
    thresholds: Sequence[float] | None = None,
    spacing: Spacing = None,
) -> Sweep:
    """Count matches of given binary maps, such as the boundaries of segmentations at several levels.

    The maps are thinned if the protocol thins.

    Parameters
    ----------
    candidates : sequence of array_like
    truths, protocol, mask, spacing
        As in :func:`sweep`; the thresholds of the protocol are not used.
    thresholds : sequence of float, optional
        The threshold of each map, different numbers in any order: the counts have them in ascending order.
        Without them the maps are numbered 1, 2, …

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(9, dtype=bool)
    >>> sweep_maps([truth & False, truth], truth, thresholds=[0.9, 0.1]).counts.table()[:, :2].tolist()
    [[0.1, 9.0], [0.9, 0.0]]
    """
    chosen = _without_classes(protocol)
    if len(candidates) == 0:
        raise InputError("give at least one candidate map, got none")
    given = as_masks(list(candidates), "candidate")
    shape = given[0].shape
    _check_thinning(chosen, shape)
    sizes = None if spacing is None else as_spacing(spacing, len(shape))
    maps = _truths(truths, shape, chosen)
    on = np.ones(shape, dtype=np.bool_) if mask is None else _as_valid(mask, shape)
    numbers = _as_thresholds(thresholds, len(given))
    order = np.argsort(numbers)
    judged = [_judged(given[place], on, chosen) for place in order]
    maps = [one & on for one in maps]
    ascending = numbers[order]
    return _counted(chosen, Walk.through(judged, ascending), maps, ascending, on, sizes)


def _without_classes(protocol: str | Protocol) -> Protocol:
    chosen = get_protocol(protocol)
    if chosen.classes is not None:
        raise InputError(
            f"protocol {chosen.id} judges classes, but there is one map without a class",
            remedy="use edgecritic.protocols.sweep_classes or Benchmark.update, with a map for each class",
        )
    return chosen


def _check_thinning(protocol: Protocol, shape: tuple[int, ...]) -> None:
    if protocol.thin and len(shape) == 3:
        raise InputError(
            f"protocol {protocol.id} thins candidates, which is done to 2-D maps only, got a volume of shape "
            f"{shape}",
            remedy="take the protocol volume, or one with thin=False, such as bsds(thin=False)",
        )


def _counted(
    protocol: Protocol,
    walk: Walk,
    truths: list[BoolArray],
    thresholds: NDArray[np.float64],
    on: BoolArray | None,
    spacing: tuple[float, ...] | None,
) -> Sweep:
    shape = truths[0].shape
    tolerance = protocol.tolerance_for(shape, spacing)
    found = follow(walk, truths, strategy=protocol.strategy, tolerance=tolerance, spacing=spacing)
    zero = counts_with_all_on(protocol, truths, found, on, tolerance, spacing)
    return Sweep(
        protocol=protocol,
        shape=shape,
        tolerance=tolerance,
        annotators=len(truths),
        counts=counted(thresholds, found.columns, zero=zero),
        spacing=spacing,
    )


def counts_with_all_on(
    protocol: Protocol,
    truths: list[BoolArray],
    found: Followed,
    on: BoolArray | None,
    tolerance: float,
    spacing: tuple[float, ...] | None = None,
) -> tuple[int, ...]:
    """Return the counts of a candidate with every pixel on, of those that a mask leaves if there is one.

    `found` is what the strategy counted of other candidates.
    """
    if pairs_in_place(protocol.strategy):  # each truth pixel is matched with itself
        total = int(found.truth_total[0])
        pixels = truths[0].size if on is None else np.count_nonzero(on)
        return total, total, found.places, int(pixels)
    whole = np.ones(truths[0].shape, dtype=np.bool_) if on is None else on
    walk = Walk.through([whole], np.zeros(1))
    counts = follow(walk, truths, strategy=protocol.strategy, tolerance=tolerance, spacing=spacing)
    return tuple(int(column[0]) for column in counts.columns)


def pairs_in_place(strategy: str) -> bool:
    """Tell whether a strategy gives every pixel one partner at most, and first the one in its own place.

    ``coherent`` lets the neighbours decide as well, and ``closest(farthest=True)`` begins far away.
    """
    parsed = Id.parse(strategy)
    if parsed.name == "coherent" or dict(parsed.params).get("farthest"):
        return False
    return parsed.name == "exact" or strategies.get(parsed.name).info.one_to_one


def candidate_at(
    strength: Any,
    threshold: float,
    *,
    protocol: str | Protocol = "bsds",
    mask: Any = None,
    spacing: Spacing = None,
) -> BoolArray:
    """Return the candidate that a protocol judges at one threshold: suppressed, thresholded, thinned."""
    chosen = get_protocol(protocol)
    map_ = as_strength(strength)
    _check_thinning(chosen, map_.shape)
    map_ = _suppressed(map_, chosen, spacing)
    # An array, not a number: NumPy 1 would round a number to the precision of the map.
    on: BoolArray = map_ >= np.array([max(threshold, chosen.threshold_floor)], dtype=np.float64)
    return _judged(on, None if mask is None else _as_valid(mask, on.shape), chosen)


def as_truths(truths: Any, shape: tuple[int, ...], *, rule: str = "given") -> list[BoolArray]:
    """Return the boundaries of one or several annotators as masks of the given shape.

    `rule` says what of a truth is its boundary, see :data:`edgecritic.maps.boundaries.TRUTH_RULES`.
    """
    if rule != "given":
        truths = [truth_boundary(one, rule) for one in _each(truths, len(shape))]
    maps = as_masks(truths, "truth", len(shape))
    check_shapes(shape, maps[0].shape, "strength")
    return maps


def _truths(truths: Any, shape: tuple[int, ...], protocol: Protocol) -> list[BoolArray]:
    """Return the maps that a protocol matches with."""
    maps = as_truths(truths, shape, rule=protocol.truth)
    return [np.any(maps, axis=0)] if protocol.annotators == "union" else maps


def _each(truths: Any, ndim: int) -> list[Any]:
    """Return the maps of one or several annotators one by one."""
    if isinstance(truths, list | tuple) and truths and as_array(truths[0], "truth").ndim == ndim:
        return list(truths)
    array = as_array(truths, "truth")
    return list(array) if array.ndim == ndim + 1 else [array]


def _judged(map_: BoolArray, valid: BoolArray | None, protocol: Protocol) -> BoolArray:
    """Return what a protocol judges of a binary map: thinned, and without what the mask takes away."""
    first = map_ & valid if valid is not None and protocol.mask == "before" else map_
    slim = thin(first) if protocol.thin else first
    return slim & valid if valid is not None and protocol.mask == "after" else slim


def _as_thresholds(thresholds: Sequence[float] | None, maps: int) -> NDArray[np.float64]:
    if thresholds is None:
        return np.arange(1.0, maps + 1)
    try:
        numbers = np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"thresholds must be numbers, got {shown(thresholds)}") from error
    if numbers.shape != (maps,) or not np.isfinite(numbers).all() or np.unique(numbers).size != maps:
        raise InputError(
            f"thresholds must be {maps} different finite numbers, one for each map, got {shown(thresholds)}"
        )
    return numbers


def _as_valid(mask: Any, shape: tuple[int, ...]) -> BoolArray:
    on = as_mask(mask, "mask")
    if on.shape != shape:
        raise InputError(f"mask must have the shape of the strength map {shape}, got {on.shape}")
    return on


def _prepared(
    strength: FloatArray, truths: Any, protocol: Protocol, mask: Any, spacing: tuple[float, ...] | None
) -> tuple[FloatArray, list[BoolArray], BoolArray | None]:
    maps = _truths(truths, strength.shape, protocol)
    map_ = _suppressed(strength, protocol, spacing)
    if mask is None:
        return map_, maps, None
    on = _as_valid(mask, map_.shape)
    seen = np.where(on, map_, -1.0) if protocol.mask == "before" else map_
    return seen, [one & on for one in maps], on


def _suppressed(strength: FloatArray, protocol: Protocol, spacing: Spacing) -> FloatArray:
    return strength if protocol.nms == "none" else crests_of(strength, protocol.nms, spacing=spacing)
