"""The counts of one image at every threshold, by one matching that follows the falling threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray, as_mask, as_masks, as_strength, check_shapes
from edgecritic.maps.suppression import suppress
from edgecritic.maps.thinning import thin
from edgecritic.maps.walk import Walk
from edgecritic.matching.follow import follow
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import Protocol, get_protocol
from edgecritic.values import Value

__all__ = ["Sweep", "sweep", "sweep_maps", "candidate_at", "as_truths"]


class Sweep(Value):
    """Counts of one image.

    Attributes
    ----------
    protocol : Protocol
    shape : tuple of int
    tolerance : float
        Largest distance of a match, in pixels.
    annotators : int
    counts : Counts
        At every threshold of the protocol, and at 0 with every pixel on, not thinned: all truth pixels are
        then matched with themselves.
    """

    protocol: Protocol
    shape: tuple[int, ...]
    tolerance: float
    annotators: int
    counts: Counts

    def rows(self) -> list[dict[str, Any]]:
        """Return the counts, a row per threshold."""
        return self.counts.rows()

    def __repr__(self) -> str:
        return f"<Sweep: {self._about()}, {self.counts.thresholds.size} thresholds>"

    def __str__(self) -> str:
        return f"{self._about()}; {self.counts}"

    def _about(self) -> str:
        size = " × ".join(map(str, self.shape))
        people = f"{self.annotators} annotator{'s' * (self.annotators != 1)}"
        return f"{size} pixels, {people}, protocol {self.protocol.id}"


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
    >>> result.counts.matched_truth[[0, 50, 98]], result.counts.candidate[[0, 50, 98]]
    (array([40., 40.,  0.]), array([20., 20.,  0.]))
    """
    chosen = get_protocol(protocol)
    map_, maps, counted = _prepared(strength, truths, chosen, mask)
    thresholds = chosen.threshold_values()
    walk = Walk(map_, np.maximum(thresholds, chosen.threshold_floor), thin=chosen.thin)
    return _counted(chosen, walk, maps, thresholds, counted)


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
    numbers = np.arange(1.0, len(judged) + 1)
    return _counted(chosen, Walk.through(judged, numbers), maps, numbers, int(np.count_nonzero(on)))


def _counted(
    protocol: Protocol, walk: Walk, truths: list[BoolArray], thresholds: NDArray[np.float64], pixels: int
) -> Sweep:
    shape = truths[0].shape
    tolerance = protocol.tolerance_for(shape)
    found = follow(walk, truths, strategy=protocol.strategy, tolerance=tolerance)
    total = sum(int(np.count_nonzero(one)) for one in truths)
    union = np.count_nonzero(np.any(truths, axis=0))
    return Sweep(
        protocol=protocol,
        shape=shape,
        tolerance=tolerance,
        annotators=len(truths),
        counts=Counts(
            thresholds=thresholds,
            matched_truth=found.truth.astype(np.float64),
            truth=np.full(thresholds.size, total, dtype=np.float64),
            matched_candidate=found.candidate.astype(np.float64),
            candidate=walk.sizes.astype(np.float64),
            zero=Counts.of_one((total, total, union, pixels), threshold=0.0),
        ),
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
