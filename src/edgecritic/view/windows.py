"""Rasters too large to be shown: a small picture of the whole, and windows that are judged as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.datasets.rasters import Window, mask_window, raster_overview, strength_window
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray
from edgecritic.lazy import cached_property
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.judge import Judged, Reading
from edgecritic.run.judge_tiles import raster_hashes
from edgecritic.run.rasters import common_grid

__all__ = ["SIDE", "LoadedWindow", "Whole"]

SIDE = 1024
"""Rows and columns of a window."""

_OVERVIEW = 480


class Whole:
    """A raster that is too large to be shown as a whole.

    Attributes
    ----------
    case : Case
    prediction : Path
    shape : (rows, columns)
    spacing : tuple of float or None
    changed : bool
        Whether its files have changed since they were judged.
    overview : float array
        The prediction at reduced size: the largest strength of every block.
    """

    def __init__(self, case: Case, protocol: Protocol, reading: Reading, judged: Judged | None) -> None:
        if case.prediction is None:
            raise DataError(f"{case.id}: has no prediction")
        if case.mask is not None:
            raise InputError("masks are not applied in tiles", remedy="leave out --masks")
        shape, told, _ = common_grid(
            case.prediction, case.truths, spacing=reading.spacing, resample=reading.resample
        )
        self.case, self.protocol, self.reading = case, protocol, reading
        self.prediction = case.prediction
        self.shape = shape
        self.spacing: Sizes | None = None if reading.spacing is None else told
        self.changed = judged is not None and any(
            judged.numbers.get(name) != value for name, value in raster_hashes(case).items()
        )
        self.overview: NDArray[np.float32] = raster_overview(case.prediction, _OVERVIEW)

    def window(self, middle: tuple[float, float] | None) -> Window:
        """Return the window around a place, or around the middle; at the border it is moved inwards."""
        wanted = [size / 2 for size in self.shape] if middle is None else middle
        firsts = [
            int(min(max(place - SIDE / 2, 0), max(size - SIDE, 0)))
            for place, size in zip(wanted, self.shape, strict=True)
        ]
        rows, columns = (
            slice(first, min(first + SIDE, size)) for first, size in zip(firsts, self.shape, strict=True)
        )
        return rows, columns


@dataclass(frozen=True)
class LoadedWindow:
    """The maps of a window of a raster, as `edgecritic.run.judge.Loaded` has those of a case."""

    whole: Whole
    window: Window

    segmented = False
    mask = None

    @property
    def case(self) -> Case:
        """The files."""
        return self.whole.case

    @property
    def protocol(self) -> Protocol:
        """That of the run."""
        return self.whole.protocol

    @property
    def spacing(self) -> Sizes | None:
        """The pixel size."""
        return self.whole.spacing

    @cached_property
    def strength(self) -> FloatArray:
        """The prediction."""
        return strength_window(self.whole.prediction, self.window)

    @cached_property
    def truths(self) -> list[BoolArray]:
        """The pixels of each annotator."""
        binarize = self.whole.reading.binarize
        return [mask_window(path, self.window, binarize=binarize) for path in self.case.truths]

    def truths_by(self, rule: str) -> list[BoolArray]:
        """Return the truths by a rule of a protocol, of which tiles have one."""
        if rule != self.protocol.truth:
            raise InputError("a protocol that takes boundaries of objects is not used in tiles")
        return self.truths
