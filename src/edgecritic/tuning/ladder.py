"""The candidates of a detector: its response to an image, and the thresholds at which that is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.base import bind, detect
from edgecritic.detectors.matlab import GRIDS, MatlabResponse, matlab_response
from edgecritic.detectors.picture import Kind
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray, FloatArray, Spacing
from edgecritic.maps.walk import Walk
from edgecritic.measures.curves import positive_walk, threshold_levels

__all__ = ["Ladder", "Detector", "Thresholds", "ladder_of"]

Detector = str | Id | Callable[[Any], Any]
Thresholds = int | Sequence[float] | Literal["matlab"]

_MATLAB_STEPS = 99


class Ladder(NamedTuple):
    """The candidates of one detector over its thresholds."""

    detector: str
    thresholds: NDArray[np.float64]
    response: FloatArray | MatlabResponse

    def within(self, on: BoolArray | None) -> Ladder:
        """Return the same without what lies where `on` is off."""
        if on is None:
            return self
        if isinstance(self.response, MatlabResponse):
            raise InputError('a mask does not go with thresholds="matlab"')
        if on.shape != self.response.shape:
            raise InputError(f"mask must have the shape of the image {self.response.shape}, got {on.shape}")
        kept = self.response.copy()
        kept[~on] = 0
        return self._replace(response=kept)

    def cut(self, threshold: float) -> BoolArray:
        """Return the candidate at a threshold."""
        if isinstance(self.response, MatlabResponse):
            return self.response.cut(threshold).edges
        result: BoolArray = (self.response >= threshold) & (self.response > 0)
        return result

    def walk(self) -> Walk:
        """Return the walk of the candidate over the thresholds."""
        if isinstance(self.response, MatlabResponse):
            return Walk.through((self.cut(float(level)) for level in self.thresholds), self.thresholds)
        return positive_walk(self.response, self.thresholds)


def ladder_of(
    detector: Detector, image: Any, thresholds: Thresholds, kind: Kind, spacing: Spacing, name: str | None
) -> Ladder:
    """Run a detector on an image; see :func:`edgecritic.tuning.tune.tune` for the arguments."""
    if isinstance(thresholds, str):
        return _matlab_of(detector, image, thresholds)
    found = detect(image, detector, kind=kind, spacing=spacing, name=name)
    return Ladder(found.detector, threshold_levels(thresholds), found.thin)


def _matlab_of(detector: Detector, image: Any, thresholds: str) -> Ladder:
    if thresholds != "matlab":
        raise InputError(f'thresholds must be a number of them, a list, or "matlab", got {thresholds!r}')
    if not isinstance(detector, str | Id) or Id.parse(detector).name not in GRIDS:
        raise InputError(f'thresholds="matlab" goes with the detectors {", ".join(GRIDS)}, got {detector}')
    parsed = Id.parse(detector)
    rest = {key: value for key, value in parsed.params if key != "style"}
    bound = bind(parsed.name, **rest, style="matlab")
    sigma: Any = rest.pop("sigma", None)
    if rest:
        raise InputError(f'thresholds="matlab" knows the parameter sigma only, got {parsed}')
    method: Any = parsed.name
    levels: NDArray[np.float64] = GRIDS[parsed.name] * np.arange(1, _MATLAB_STEPS + 1, dtype=np.float64)
    return Ladder(str(bound), levels, matlab_response(image, method, sigma=sigma))
