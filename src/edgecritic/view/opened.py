"""One image of one detector, opened: what is judged of it at any threshold, tolerance, strategy, protocol."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.cores import usable_cores
from edgecritic.datasets.rasters import Window
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray, diagonal
from edgecritic.lazy import cached_property
from edgecritic.maps.suppression import suppress
from edgecritic.matching.base import match, within_tolerance
from edgecritic.matching.follow import pool_matchings
from edgecritic.matching.result import Matching
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import candidate_at, sweep, sweep_maps
from edgecritic.run.judge import Judged, Loaded
from edgecritic.view.pictures import photo_of
from edgecritic.view.windows import LoadedWindow

__all__ = ["Opened", "State", "View", "asks_as_judged", "most_tolerance", "plane_of", "view_of"]

_FARTHEST = 4.0
_LEAST_REACH = 8.0
_matching = ThreadPoolExecutor(max_workers=usable_cores(), thread_name_prefix="match")


@dataclass(frozen=True, slots=True)
class State:
    """How a map is looked at.

    Attributes
    ----------
    threshold : float
        Of a file of segmentations the number of the segmentation, from 1.
    tolerance : float
        In pixels, or in units of the pixel size where it is known.
    strategy : str
    protocol : Protocol
        Says what is suppressed and thinned, and what of a truth is its boundary.
    group : str or None
        The class that is looked at, where classes are judged.
    window : (row, column) or None
        Where the part of a raster begins that is looked at, where the whole is too large to be shown.
    """

    threshold: float
    tolerance: float
    strategy: str
    protocol: Protocol
    group: str | None = None
    window: tuple[int, int] | None = None

    @property
    def rule(self) -> Protocol:
        """The protocol that has this tolerance and strategy."""
        same = self.protocol.strategy == self.strategy
        return self.protocol.with_changes(
            "shown", tolerance=self.tolerance, **({} if same else {"strategy": self.strategy})
        )


@dataclass(frozen=True, slots=True)
class View:
    """What is seen of a map in a state.

    Attributes
    ----------
    candidate : bool array
    matchings : tuple of Matching
        With each annotator: those of `edgecritic.match`.
    counts : Counts
        Of all annotators together, as benchmarks count: truth pixels are summed over annotators, a candidate
        pixel is matched if any annotator matches it.
    """

    candidate: BoolArray
    matchings: tuple[Matching, ...]
    counts: Counts


class Opened:
    """The maps of one image, or of a window of it, read once.

    Parameters
    ----------
    loaded : Loaded or LoadedWindow
        By the protocol of the run, whose rule of truths and mask count.
    judged : Judged, optional
        What the run has found of the same maps.
    """

    def __init__(self, loaded: Loaded | LoadedWindow, judged: Judged | None) -> None:
        case, protocol = loaded.case, loaded.protocol
        self.loaded, self.judged = loaded, judged
        self.window: Window | None = None
        if isinstance(loaded, LoadedWindow):
            self.changed, self.window = loaded.whole.changed, loaded.window
        else:
            self.changed = judged is not None and any(
                judged.numbers.get(name) != value for name, value in loaded.hashes.items()
            )
        self.spacing: Sizes | None = self.loaded.spacing
        self.mask = self.loaded.mask
        self.segmentations = tuple(self.loaded.case.load_candidates()) if self.loaded.segmented else ()
        self._strength = None if self.segmentations else self.loaded.strength
        self.shape = self.loaded.truths[0].shape
        self.extent = loaded.whole.shape if isinstance(loaded, LoadedWindow) else self.shape
        first = self.segmentations[0] if self._strength is None else self._strength
        if first.shape != self.shape:
            raise InputError(
                f"{case.id}: prediction and truth differ in size: {first.shape} and {self.shape}"
            )
        self.annotators = len(self.loaded.truths)
        self._truths = {protocol.truth: self._masked(self.loaded.truths)}
        self._suppressed: tuple[str, FloatArray] = "", np.zeros(0)

    def _masked(self, truths: Sequence[BoolArray]) -> tuple[BoolArray, ...]:
        return tuple(truths if self.mask is None else (one & self.mask for one in truths))

    @property
    def weight(self) -> int:
        """Bytes in memory, with some of what states will need."""
        pixels = int(np.prod(self.shape))
        maps = 2 * self.annotators + len(self.segmentations)
        files = sum(len(one.data) for one in self.loaded.case.contents.values())
        return pixels * (maps + 24) + files

    @cached_property
    def sizes(self) -> Sizes:
        """Pixel size, 1 where it is not known."""
        return self.spacing or (1.0,) * len(self.shape)

    def truths(self, rule: str) -> tuple[BoolArray, ...]:
        """Return the boundaries of each annotator by a rule of a protocol."""
        found = self._truths.get(rule)
        if found is None:
            found = self._truths[rule] = self._masked(self.loaded.truths_by(rule))
        return found

    def strength(self, protocol: Protocol) -> FloatArray:
        """Return the map that thresholds cut: suppressed, where the protocol says so."""
        if self._strength is None:
            raise DataError("this prediction holds segmentations and has no strength")
        if protocol.nms == "none":
            return self._strength
        recipe, found = self._suppressed
        if recipe != protocol.nms:
            found = suppress(self._strength, protocol.nms, spacing=self.spacing)
            self._suppressed = protocol.nms, found
        return found

    def photo(self) -> NDArray[np.uint8] | None:
        """Return the photo (or scan), if there is one of the size of the maps; of windows none is shown."""
        return None if self.window is not None else photo_of(self.loaded.case, self.shape)

    def thresholds(self, protocol: Protocol) -> list[float]:
        """Return the thresholds that a benchmark looks at."""
        if self.segmentations:
            return [float(number + 1) for number in range(len(self.segmentations))]
        return [float(one) for one in protocol.threshold_values()]

    def candidate(self, state: State) -> BoolArray:
        """Return the binary map that is judged at a threshold."""
        plain = _without_nms(state.protocol)
        if self.segmentations:
            level = round(state.threshold)
            if not 1 <= level <= len(self.segmentations):
                raise InputError(f"there are segmentations 1 … {len(self.segmentations)}, got {level}")
            return candidate_at(
                self.segmentations[level - 1].astype(float), 0.5, protocol=plain, mask=self.mask
            )
        return candidate_at(
            self.strength(state.protocol),
            state.threshold,
            protocol=plain,
            mask=self.mask,
            spacing=self.spacing,
        )

    def view(self, state: State) -> View:
        """Match the candidate with every annotator."""
        truths = self.truths(state.protocol.truth)
        return view_of(self.candidate(state), truths, state, self.sizes, self.spacing)

    def curve(self, state: State) -> Counts:
        """Return the counts at all thresholds of the protocol; of the run's own rule what it has found."""
        own = asks_as_judged(state, self.loaded.protocol, self.shape, self.spacing)
        if own and self.judged is not None and not self.changed:
            return self.judged.counts["main"]
        options: dict[str, Any] = {"protocol": state.rule, "mask": self.mask, "spacing": self.spacing}
        truths = list(self.truths(state.protocol.truth))
        if self.segmentations:
            return sweep_maps(self.segmentations, truths, **options).counts
        return sweep(self.loaded.strength, truths, **options).counts


def view_of(
    candidate: BoolArray, truths: Sequence[BoolArray], state: State, sizes: Sizes, spacing: Sizes | None
) -> View:
    """Match a candidate with the truth of every annotator."""
    chosen = within_tolerance(state.strategy, state.tolerance, sizes)

    def one(truth: BoolArray) -> Matching:
        return match(candidate, truth, strategy=chosen, spacing=spacing)

    matchings = tuple(_matching.map(one, truths))
    counted = pool_matchings(matchings, candidate, truths, strategy=chosen, spacing=spacing)
    return View(candidate, matchings, Counts.of_one(counted, threshold=state.threshold))


def asks_as_judged(
    state: State, protocol: Protocol, shape: Sequence[int], spacing: Sizes | None = None
) -> bool:
    """Tell whether a state asks for what a run by this protocol has found."""
    same = state.protocol.digest == protocol.digest and state.strategy == protocol.strategy
    return same and state.tolerance == protocol.tolerance_for(tuple(shape), spacing)


def plane_of(array: Any, ndim: int, axis: int, index: int) -> Any:
    """Return plane `index` along an axis of a volume; an image is its own and only plane."""
    if ndim == 2:
        if (axis, index) != (0, 0):
            raise InputError("an image has no further planes")
        return array
    if not 0 <= axis < 3 or not 0 <= index < array.shape[axis]:
        raise InputError(f"a plane must lie within {array.shape}, got axis {axis}, index {index}")
    return np.take(array, index, axis=axis)


def most_tolerance(own: float, shape: Sequence[int], sizes: Sequence[float]) -> float:
    """Return the largest tolerance that is looked at: some times that of the protocol, or some pixels.

    Examples
    --------
    >>> most_tolerance(4.0, (321, 481), (1, 1)), most_tolerance(0.5, (321, 481), (1, 1))
    (16.0, 8.0)
    """
    return min(max(_FARTHEST * own, _LEAST_REACH * min(sizes)), diagonal(tuple(shape), tuple(sizes)))


@lru_cache(maxsize=32)
def _without_nms(protocol: Protocol) -> Protocol:
    return replace(protocol, nms="none")
