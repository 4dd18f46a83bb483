"""The counts of one image at every threshold, by one matching that follows the falling threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.dynamic import ExactState
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray, Indices, as_mask, as_masks, as_strength, check_shapes
from edgecritic.maps.suppression import suppress
from edgecritic.maps.thinning import ThinningSweep, pixels_by_threshold, thin
from edgecritic.protocols.presets import Protocol, get_protocol

__all__ = ["Sweep", "sweep", "sweep_maps", "candidate_at", "as_truths"]

Steps = list[tuple[Indices, Indices]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sweep:
    """Counts of one image.

    Attributes
    ----------
    protocol : Protocol
    shape : tuple of int
    tolerance : float
        Largest distance of a match, in pixels.
    annotators : int
    counts : (K, 5) float64 array
        One row per threshold, ascending: threshold, cntR (matched truth pixels, summed over annotators),
        sumR (truth pixels), cntP (candidate pixels matched by any annotator), sumP (candidate pixels).
    zero : (4,) float64 array
        The counts with every pixel on, not thinned: all truth pixels are then matched with themselves.
    """

    protocol: Protocol
    shape: tuple[int, ...]
    tolerance: float
    annotators: int
    counts: NDArray[np.float64]
    zero: NDArray[np.float64]

    def __repr__(self) -> str:
        size = " × ".join(map(str, self.shape))
        return (
            f"<Sweep: {size} pixels, {self.annotators} annotator{'s' * (self.annotators != 1)}, "
            f"{len(self.counts)} thresholds, protocol {self.protocol.id}>"
        )


def sweep(strength: Any, truths: Any, *, protocol: str | Protocol = "bsds", mask: Any = None) -> Sweep:
    """Count matches of a strength map at all thresholds of a protocol.

    Falling thresholds add pixels to the candidate and, because of thinning, take some away. Thin map and
    matchings follow every change instead of being made anew, and are exact at every threshold: the
    counts equal those of `edgecritic.match` on each thresholded, thinned map.

    Parameters
    ----------
    strength : array_like, 2-D
        Values in [0, 1], or 8- or 16-bit integers.
    truths : array_like, or list or stack of array_like
        The maps of one or several annotators.
    protocol : str or Protocol
    mask : array_like, optional
        Where it is off nothing is counted.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((20, 30), bool)
    >>> truth[10, 5:25] = True
    >>> result = sweep(np.where(truth, 0.8, 0.0), [truth, truth])
    >>> result.counts[[0, 50, 98], 1:].astype(int).tolist()
    [[40, 40, 20, 20], [40, 40, 20, 20], [0, 40, 0, 0]]
    """
    chosen = get_protocol(protocol)
    map_, maps, counted = _prepared(strength, truths, chosen, mask)
    thresholds = chosen.threshold_values()
    steps = _steps(map_, np.maximum(thresholds, chosen.threshold_floor), chosen.thin)
    result = _counted(chosen, steps, maps, thresholds[::-1], counted)
    return replace(result, counts=result.counts[::-1].copy())


def sweep_maps(
    candidates: Sequence[Any], truths: Any, *, protocol: str | Protocol = "bsds", mask: Any = None
) -> Sweep:
    """Count matches of given binary maps, such as the boundaries of segmentations at several levels.

    The maps stand in place of thresholds and are numbered 1, 2, … in the counts. They are thinned if the
    protocol thins.
    """
    chosen = get_protocol(protocol)
    if len(candidates) == 0:
        raise InputError("give at least one candidate map, got none")
    given = as_masks(list(candidates), "candidate")
    shape = given[0].shape
    maps = as_truths(truths, shape)
    on = np.ones(shape, dtype=np.bool_) if mask is None else _as_valid(mask, shape)
    judged = [one & on for one in given]
    judged = [thin(one) if chosen.thin else one for one in judged]
    maps = [one & on for one in maps]
    before = [np.zeros_like(on), *judged[:-1]]
    steps = [
        (np.flatnonzero(now & ~old), np.flatnonzero(old & ~now))
        for old, now in zip(before, judged, strict=True)
    ]
    return _counted(chosen, steps, maps, np.arange(1.0, len(judged) + 1), int(np.count_nonzero(on)))


def _counted(
    protocol: Protocol,
    steps: Steps,
    truths: list[BoolArray],
    thresholds: NDArray[np.float64],
    pixels: int,
) -> Sweep:
    """Run through the steps, one per threshold."""
    shape = truths[0].shape
    tolerance = protocol.tolerance_for(shape)
    state = ExactState(truths, tolerance=tolerance, universe=_ever_on(steps, shape))
    found = state.sweep(steps)
    sizes = np.cumsum([gained.size - lost.size for gained, lost in steps])
    total = sum(int(np.count_nonzero(one)) for one in truths)
    columns = [thresholds, found[:, 0], np.full(thresholds.size, total), found[:, 1], sizes]
    union = np.count_nonzero(np.any(truths, axis=0))
    return Sweep(
        protocol=protocol,
        shape=shape,
        tolerance=tolerance,
        annotators=len(truths),
        counts=np.stack(columns, axis=1).astype(np.float64),
        zero=np.array([total, total, union, pixels], dtype=np.float64),
    )


def candidate_at(
    strength: Any, threshold: float, *, protocol: str | Protocol = "bsds", mask: Any = None
) -> BoolArray:
    """Return the candidate that a protocol judges at one threshold: suppressed, thresholded, thinned."""
    chosen = get_protocol(protocol)
    map_ = _suppressed(as_strength(strength), chosen)
    # An array, not a number: NumPy 1 would round a number to the precision of the map.
    on: BoolArray = map_ >= np.array([max(threshold, chosen.threshold_floor)], dtype=np.float64)
    if mask is not None:
        on = on & _as_valid(mask, on.shape)
    return thin(on) if chosen.thin else on


def as_truths(truths: Any, shape: tuple[int, ...]) -> list[BoolArray]:
    """Return the maps of one or several annotators as masks of the given shape."""
    maps = as_masks(truths, "truth", len(shape))
    check_shapes(shape, maps[0].shape, "strength")
    return maps


def _as_valid(mask: Any, shape: tuple[int, ...]) -> BoolArray:
    on = as_mask(mask, "mask")
    if on.shape != shape:
        raise InputError(f"mask must have the shape of the strength map {shape}, got {on.shape}")
    return on


def _prepared(
    strength: Any, truths: Any, protocol: Protocol, mask: Any
) -> tuple[FloatArray, list[BoolArray], int]:
    map_ = as_strength(strength)
    maps = as_truths(truths, map_.shape)
    if map_.ndim != 2:
        raise InputError(
            f"the benchmark takes 2-D maps, got shape {map_.shape}; edgecritic.score judges volumes"
        )
    map_ = _suppressed(map_, protocol)
    if mask is None:
        return map_, maps, map_.size
    on = _as_valid(mask, map_.shape)
    return np.where(on, map_, -1.0), [one & on for one in maps], int(np.count_nonzero(on))


def _suppressed(strength: FloatArray, protocol: Protocol) -> FloatArray:
    return strength if protocol.nms == "none" else suppress(strength, protocol.nms)


def _steps(strength: FloatArray, thresholds: NDArray[np.float64], thinned: bool) -> Steps:
    """Return what the candidate gains and loses at every threshold, from the highest down."""
    pixels, bounds = pixels_by_threshold(strength, thresholds)
    added = [pixels[bounds[k] : bounds[k + 1]] for k in range(thresholds.size)]
    if not thinned:
        nothing = np.zeros(0, dtype=np.int64)
        return [(pixels, nothing) for pixels in added]
    growing = ThinningSweep((strength.shape[0], strength.shape[1]))
    return [growing.grow(pixels) for pixels in added]


def _ever_on(steps: Steps, shape: tuple[int, ...]) -> BoolArray:
    on = np.zeros(shape, dtype=np.bool_)
    for gained, _ in steps:
        on.reshape(-1)[gained] = True
    return on
