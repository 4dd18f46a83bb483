"""One class of one image of one detector, opened: what is judged of it at any threshold and tolerance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.class_cases import ClassCase
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray
from edgecritic.lazy import cached_property
from edgecritic.maps.suppression import suppress
from edgecritic.protocols.class_sweep import class_candidates, sweep_classes
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.classes import ClassJob, case_hashes, class_case_maps, class_strengths
from edgecritic.run.judge import Judged
from edgecritic.view.opened import State, View, asks_as_judged, view_of
from edgecritic.view.pictures import photo_of

__all__ = ["OpenedClass"]


class OpenedClass:
    """The maps of one class of one image, read once; as `edgecritic.view.opened.Opened`.

    The pictures show what is compared: maps at the scale of the protocol, without the frame that it cuts off.

    Parameters
    ----------
    case : ClassCase
    protocol : Protocol
    group : str
        The name of the class.
    resize : str or None
        How predictions of another size are resized, as in the run.
    judged : Judged, optional
        What the run has found.
    """

    segmentations: tuple[BoolArray, ...] = ()
    window = None
    spacing: Sizes | None = None
    sizes: Sizes = (1.0, 1.0)
    annotators = 1

    def __init__(
        self, case: ClassCase, protocol: Protocol, group: str, resize: str | None, judged: Judged | None
    ) -> None:
        if protocol.classes is None:
            raise InputError(f"protocol {protocol.id} has no classes")
        self.case, self.protocol, self.group, self.judged = case.read(), protocol, group, judged
        self.changed = judged is not None and any(
            judged.numbers.get(name) != value for name, value in case_hashes(self.case).items()
        )
        self._rules = protocol.classes.only([group])
        truths, self._labels = class_case_maps(self.case, self._rules)
        self._truth, self._mask = truths[group], self.case.load_mask()
        job = ClassJob("", self.case, protocol, self._rules, (), None, resize=resize)
        maps, failures = class_strengths(self.case, job, self._truth.shape)
        if group not in maps:
            raise InputError(failures[0].message)
        self._strength = maps[group]
        crop = self._rules.crop
        self._window = tuple(slice(crop, size - crop) for size in self._truth.shape)
        self.shape = self.extent = self._truth[self._window].shape

    @property
    def weight(self) -> int:
        """Bytes in memory, with some of what states will need."""
        files = sum(len(one.data) for one in self.case.contents.values())
        return 40 * self._truth.size + files

    def truths(self, _rule: str) -> tuple[BoolArray, ...]:
        """Return the boundaries of the class, as they are compared."""
        return (self._compared,)

    @cached_property
    def _compared(self) -> BoolArray:
        return self._maps(self.protocol, 1.0)[1]

    def strength(self, protocol: Protocol) -> FloatArray:
        """Return the map that thresholds cut: suppressed where the protocol says so."""
        whole = self._strength if protocol.nms == "none" else suppress(self._strength, protocol.nms)
        part: FloatArray = whole[self._window]
        return part

    def thresholds(self, protocol: Protocol) -> list[float]:
        """Return the thresholds that a benchmark looks at."""
        return [float(one) for one in protocol.threshold_values()]

    def view(self, state: State) -> View:
        """Match the candidate with the truth of the class."""
        candidate, truth = self._maps(state.rule, state.threshold)
        return view_of(candidate, (truth,), state, self.sizes, None)

    def curve(self, state: State) -> Counts:
        """Return the counts of the class at all thresholds; by the run's own rule what it has found."""
        if self.judged is not None and not self.changed and asks_as_judged(state, self.protocol, self.shape):
            return self.judged.counts["main"].group(self.group)
        rule = replace(state.rule, classes=self._rules)
        maps = {self.group: self._strength}, {self.group: self._truth}
        return sweep_classes(*maps, protocol=rule, labels=self._labels, mask=self._mask).counts.group(
            self.group
        )

    def photo(self) -> NDArray[np.uint8] | None:
        """Return the photo at the scale of the truth, without the frame that is cut off."""
        found = photo_of(self.case, self._truth.shape, resize=True)
        return None if found is None else found[self._window]

    def _maps(self, protocol: Protocol, threshold: float) -> tuple[BoolArray, BoolArray]:
        rule = replace(protocol, classes=self._rules)
        maps = {self.group: self._strength}, {self.group: self._truth}
        level = {self.group: threshold}
        return class_candidates(*maps, level, protocol=rule, labels=self._labels, mask=self._mask)[self.group]
