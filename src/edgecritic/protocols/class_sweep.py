"""The counts of one image for every class: a sweep of each, on the part of the image that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.ids import shown
from edgecritic.inputs import BoolArray, FloatArray, as_array, as_mask, as_strength
from edgecritic.maps.nearest import distance_map
from edgecritic.maps.suppression import suppress
from edgecritic.maps.target import bounding_box
from edgecritic.maps.walk import Walk
from edgecritic.matching.follow import follow
from edgecritic.protocols.counts import Counts, counted
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import Sweep, counts_with_all_on, pairs_in_place

__all__ = ["class_candidates", "sweep_classes"]


def sweep_classes(
    strength: Any,
    truth: Any,
    *,
    protocol: str | Protocol,
    groups: Sequence[str] | None = None,
    labels: Any = None,
    mask: Any = None,
) -> Sweep:
    """Count matches of the strength maps of several classes at all thresholds of a protocol.

    Parameters
    ----------
    strength : (classes, rows, columns) array_like, or mapping of name to map
        One strength map per class; of a mapping only those that are there are judged.
    truth : (classes, rows, columns) array_like, or mapping of name to map
        The boundaries of every class, as `edgecritic.protocols.classes.truth_maps` makes them of labels.
    protocol : str or Protocol
        Its `classes`, if any, say what is cropped, removed and skipped.
    groups : sequence of str, optional
        The names of the classes; those of the protocol if absent.
    labels : (rows, columns) array_like, optional
        The label image: protocols that remove internal pixels need it.
    mask : array_like, optional
        Where it is off nothing is counted.

    Returns
    -------
    Sweep
        Its counts have a group for every class; those of a class that is skipped are 0.

    Examples
    --------
    >>> truth = np.zeros((2, 20, 30), bool)
    >>> truth[0, 10, 5:25] = True
    >>> found = sweep_classes(0.8 * truth, truth, protocol="bsds", groups=("road", "car"))
    >>> found.counts.group("road").matched_truth[:3], found.counts.group("car").truth[:3]
    (array([20., 20., 20.]), array([0., 0., 0.]))
    """
    image, maps, truths = _prepared(strength, truth, protocol, groups, labels, mask)
    counts = {
        name: image.counts(name, maps[name], truths[name]) if name in maps else image.nothing
        for name in truths
    }
    return Sweep(
        protocol=image.protocol,
        shape=image.shape,
        tolerance=image.tolerance,
        annotators=1,
        counts=Counts.of_groups(counts),
    )


def class_candidates(
    strength: Any,
    truth: Any,
    thresholds: Mapping[str, float],
    *,
    protocol: str | Protocol,
    labels: Any = None,
    mask: Any = None,
) -> dict[str, tuple[BoolArray, BoolArray]]:
    """Return candidate and truth of every class as they are compared at the given threshold of each.

    Parameters
    ----------
    thresholds : mapping of name to float
        Of the classes that are wanted.
    strength, truth, protocol, labels, mask
        As in :func:`sweep_classes`.
    """
    image, maps, truths = _prepared(strength, truth, protocol, None, labels, mask)
    return {
        name: image.candidate(name, maps[name], truths[name], level)
        for name, level in thresholds.items()
        if name in maps
    }


def _prepared(
    strength: Any, truth: Any, protocol: str | Protocol, groups: Sequence[str] | None, labels: Any, mask: Any
) -> tuple[_Image, dict[str, Any], dict[str, Any]]:
    chosen = get_protocol(protocol)
    names = _as_names(groups or (tuple(chosen.classes.chosen) if chosen.classes else ()))
    if not names:
        raise InputError(
            f"protocol {chosen.id} names no classes", remedy="give their names: groups=('road', 'car')"
        )
    maps, truths = _by_name(strength, names, "strength"), _by_name(truth, names, "truth")
    if set(truths) != set(names):
        raise InputError(f"truths of all classes are needed; there is none of {_first(names, truths)}")
    shape = np.shape(truths[names[0]])
    inside = None if labels is None else as_array(labels, "labels")
    image = _Image(chosen, shape, None if mask is None else as_mask(mask, "mask"), inside, names)
    return image, maps, {name: truths[name] for name in names}


class _Image:
    """What all classes of one image have in common."""

    def __init__(
        self,
        protocol: Protocol,
        shape: tuple[int, ...],
        mask: BoolArray | None,
        labels: Any,
        names: Sequence[str],
    ) -> None:
        self.protocol = protocol
        self.rules = protocol.classes
        crop = self.rules.crop if self.rules else 0
        if len(shape) != 2 or min(shape) <= 2 * crop:
            raise InputError(
                f"maps of classes must have 2 dimensions and more than {2 * crop} pixels each way"
            )
        self.full = tuple(shape)
        self.window = tuple(slice(crop, size - crop) for size in shape)
        self.shape = tuple(size - 2 * crop for size in shape)
        self.tolerance = protocol.tolerance_for(self.shape)
        self.thresholds = protocol.threshold_values()
        self.steps = np.maximum(self.thresholds, protocol.threshold_floor)
        self.mask = None if mask is None else self._cut(mask, "mask")
        self.labels = None if labels is None else self._cut(labels, "labels")
        self.values = dict(zip(self.rules.names, self.rules.labels, strict=True)) if self.rules else {}
        self.removes = self.rules is not None and self.rules.internal == "remove"
        if self.removes and (self.labels is None or set(names) - set(self.values)):
            raise InputError(
                f"protocol {protocol.id} removes candidates inside of regions, but there is no label image",
                remedy="give labels=",
            )

    @property
    def nothing(self) -> Counts:
        """The counts of a class that is left out."""
        zeros = np.zeros((4, self.thresholds.size))
        return counted(self.thresholds, zeros, zero=(0, 0, 0, 0))

    def counts(self, name: str, strength: Any, truth: Any) -> Counts:
        """Return the counts of one class."""
        map_, real = self._maps(strength, truth)
        if not real.any() and self.rules is not None and self.rules.absent == "skip":
            return self.nothing
        # Outside of the box there is neither truth nor candidate: no pixel there finds a partner or is one.
        alone = pairs_in_place(self.protocol.strategy)
        box = bounding_box((map_ >= self.steps[0]) | real) if alone else (slice(None),) * map_.ndim
        walk = Walk(map_[box], self.steps, thin=self.protocol.thin, keep=self._kept(name, real, box))
        found = follow(walk, [real[box]], strategy=self.protocol.strategy, tolerance=self.tolerance)
        zero = counts_with_all_on(self.protocol, [real], found, self.mask, self.tolerance)
        return counted(self.thresholds, found.columns, zero=zero)

    def candidate(
        self, name: str, strength: Any, truth: Any, threshold: float
    ) -> tuple[BoolArray, BoolArray]:
        """Return candidate and truth of one class at one threshold."""
        map_, real = self._maps(strength, truth)
        level = np.array([max(threshold, self.protocol.threshold_floor)])
        whole = tuple(slice(0, size) for size in self.shape)
        walk = Walk(map_, level, thin=self.protocol.thin, keep=self._kept(name, real, whole))
        return walk.ever_on, real

    def _maps(self, strength: Any, truth: Any) -> tuple[FloatArray, BoolArray]:
        """Return strength and truth of one class: suppressed, cropped, masked if that comes first."""
        map_ = as_strength(strength)
        if self.protocol.nms != "none":
            map_ = suppress(map_, self.protocol.nms)
        map_, real = self._cut(map_, "strength"), self._cut(as_mask(truth, "truth"), "truth")
        if self.mask is not None:
            real = real & self.mask
            if self.protocol.mask == "before":
                map_ = np.where(self.mask, map_, -1.0)
        return map_, real

    def _kept(self, name: str, truth: BoolArray, box: tuple[slice, ...]) -> BoolArray | None:
        """Return where candidates may have pixels once they are thinned."""
        keep = None
        if self.mask is not None and self.protocol.mask == "after":
            keep = self.mask[box]
        if self.removes and self.labels is not None:
            near: BoolArray = np.not_equal(self.labels[box], self.values[name])
            if truth.any():
                near |= distance_map(truth[box], (1.0, 1.0)) <= self.tolerance
            keep = near if keep is None else keep & near
        return keep

    def _cut(self, array: Any, name: str) -> Any:
        if array.shape != self.full:
            raise InputError(f"{name} must have the shape of the truth {self.full}, got {array.shape}")
        return array[self.window]


def _by_name(maps: Any, names: tuple[str, ...], what: str) -> dict[str, Any]:
    if isinstance(maps, Mapping):
        odd = [str(name) for name in maps if name not in names]
        if odd or not maps:
            raise InputError(
                f"{what} must be maps of the classes {', '.join(names)}, got {', '.join(odd) or 'none'}"
            )
        return dict(maps)
    stack = as_array(maps, what)
    if stack.ndim != 3 or len(stack) != len(names):
        raise InputError(
            f"{what} must have the shape ({len(names)}, rows, columns), one map per class, got {stack.shape}"
        )
    return dict(zip(names, stack, strict=True))


def _as_names(groups: Any) -> tuple[str, ...]:
    names = () if isinstance(groups, str) else tuple(groups)
    if isinstance(groups, str) or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise InputError(f"groups must be different names such as ('road', 'car'), got {shown(groups)}")
    return names


def _first(names: Sequence[str], known: Mapping[str, Any]) -> str:
    return next(name for name in names if name not in known)
