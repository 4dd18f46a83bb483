"""The work on one image of a benchmark that does not fit in memory: read and judged in bands of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest_files
from edgecritic.datasets.rasters import is_large, raster_levels, raster_pixels
from edgecritic.errors import DataError, InputError
from edgecritic.protocols.counts import packed
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.tiled import level_thresholds, sweep_levels
from edgecritic.run.rasters import common_grid

__all__ = ["in_tiles", "measure_in_tiles", "raster_hashes"]


def in_tiles(case: Case) -> bool:
    """Tell whether a file of a case is too large to be read as a whole."""
    return any(is_large(path) for path in (case.prediction, *case.truths) if path is not None)


def raster_hashes(case: Case) -> dict[str, str]:
    """Return the hashes of the files, by what they hold."""
    return {"truth_hash": digest_files(case.truths), "prediction_hash": digest_files([_prediction(case)])}


def measure_in_tiles(case: Case, protocol: Protocol, extras: tuple[str, ...], reading: Any) -> dict[str, Any]:
    """Return the record of one image: its counts under the protocol, and single numbers.

    `reading` is a `edgecritic.run.judge.Reading`. What is measured beside the protocol needs whole maps.
    """
    if case.mask is not None:
        raise InputError("masks are not applied in tiles", remedy="leave out --masks, or cut the maps before")
    prediction, thresholds = _prediction(case), level_thresholds(protocol)
    _, told, notes = common_grid(prediction, case.truths, spacing=reading.spacing, resample=reading.resample)
    spacing = None if reading.spacing is None else told
    truths = [raster_pixels(path, binarize=reading.binarize)[0] for path in case.truths]
    swept = sweep_levels(raster_levels(prediction, thresholds), truths, protocol=protocol, spacing=spacing)
    left_out = [name for name in extras if name != "regions"]
    told_of = ["judged in tiles, with the result of the whole"]
    if left_out:
        told_of.append(f"{', '.join(left_out)} needs whole maps and is left out")
    return {
        "counts": {"main": packed(swept.counts)},
        "numbers": {
            "notes": [f"{case.id}: {note}" for note in (*told_of, *notes)],
            "annotators": swept.annotators,
            "tolerance": swept.tolerance,
            "shape": list(swept.shape),
            "spacing": None if swept.spacing is None else list(swept.spacing),
        },
    }


def _prediction(case: Case) -> Path:
    if case.prediction is None:
        raise DataError(f"{case.id}: has no prediction")
    return case.prediction
