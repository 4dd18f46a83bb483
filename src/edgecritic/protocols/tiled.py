"""The counts of maps too large for memory at every threshold, found in bands of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import Indices, Spacing, as_spacing
from edgecritic.maps.bands import thin_levels
from edgecritic.matching.tiled import match_pixels
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import Sweep

__all__ = ["level_thresholds", "sweep_levels"]


def level_thresholds(protocol: str | Protocol) -> NDArray[np.float64]:
    """Return the thresholds of a protocol, ascending, with its floor; refuse what is not done in tiles."""
    chosen = get_protocol(protocol)
    wrong = [
        (chosen.classes is not None, "judges classes"),
        (chosen.nms != "none", f"suppresses by {chosen.nms}"),
        (chosen.strategy != "exact", f"matches by {chosen.strategy}"),
        (chosen.truth != "given", "takes boundaries of objects"),
        (chosen.annotators != "each", "joins the maps of annotators"),
    ]
    for refused, told in wrong:
        if refused:
            raise InputError(
                f"protocol {chosen.id} {told}, which is not done in tiles",
                remedy="suppress before, give boundaries, and match exactly, such as by bsds(tolerance=3)",
            )
    return np.maximum(chosen.threshold_values(), chosen.threshold_floor)


def sweep_levels(
    levels: NDArray[np.uint8],
    truths: Sequence[Indices],
    *,
    protocol: str | Protocol = "bsds",
    spacing: Spacing = None,
    rows: int | None = None,
) -> Sweep:
    """Count matches at every threshold, with the result of `edgecritic.sweep` on whole maps.

    Parameters
    ----------
    levels : (rows, columns) uint8 array
        How many of the thresholds (`level_thresholds`) the strength of each pixel reaches.
    truths : sequence of int64 arrays
        Raster indices of the pixels of each annotator, ascending.
    protocol, spacing
        As for `edgecritic.sweep`.
    rows : int, optional
        Rows of a band.

    Notes
    -----
    Every candidate is thinned and matched anew, in bands, where thresholds change it.

    Examples
    --------
    >>> truth = np.zeros((20, 30), bool)
    >>> truth[10, 5:25] = True
    >>> strength = np.where(truth, 0.8, 0.0)
    >>> levels = (strength[..., None] >= level_thresholds("bsds")).sum(axis=-1).astype(np.uint8)
    >>> sweep_levels(levels, [np.flatnonzero(truth)]).counts.matched_truth[[0, 50, 98]]
    array([20., 20.,  0.])
    """
    chosen = get_protocol(protocol)
    steps = level_thresholds(chosen)
    sizes = None if spacing is None else as_spacing(spacing, 2)
    shape = levels.shape[0], levels.shape[1]
    tolerance = chosen.tolerance_for(shape, sizes)
    total = sum(one.size for one in truths)
    pixels_of = np.bincount(levels.ravel(), minlength=steps.size + 1)
    found = np.zeros((steps.size, 3), dtype=np.int64)  # matched truth, matched candidate, candidate
    for place in range(steps.size - 1, -1, -1):
        if place + 1 < steps.size and pixels_of[place + 1] == 0:
            found[place] = found[place + 1]
            continue
        candidate = _candidate(levels, place + 1, thin=chosen.thin, rows=rows)
        found[place] = *_matched(candidate, truths, shape, tolerance, sizes, rows), candidate.size
    union = np.unique(np.concatenate(truths)).size
    return Sweep(
        protocol=chosen,
        shape=shape,
        tolerance=tolerance,
        annotators=len(truths),
        counts=Counts(
            thresholds=chosen.threshold_values(),
            matched_truth=found[:, 0].astype(np.float64),
            truth=np.full(steps.size, float(total)),
            matched_candidate=found[:, 1].astype(np.float64),
            candidate=found[:, 2].astype(np.float64),
            zero=Counts.of_one((total, total, union, levels.size), threshold=0.0),
        ),
        spacing=sizes,
    )


def _candidate(levels: NDArray[np.uint8], least: int, *, thin: bool, rows: int | None) -> Indices:
    if thin:
        return thin_levels(levels, least, rows=rows)
    return np.flatnonzero(levels.ravel() >= least)


def _matched(
    candidate: Indices,
    truths: Sequence[Indices],
    shape: tuple[int, int],
    tolerance: float,
    spacing: tuple[float, ...] | None,
    rows: int | None,
) -> tuple[int, int]:
    """Return matched truth pixels over all truths, and candidate pixels that any truth matches."""
    hits, matched = 0, [np.zeros(0, dtype=np.int64)]
    for truth in truths:
        one = match_pixels(candidate, truth, shape, tolerance=tolerance, spacing=spacing, rows=rows)
        hits += one.tp
        matched.append(one.pairs[:, 0])
    return hits, int(np.unique(np.concatenate(matched)).size)
