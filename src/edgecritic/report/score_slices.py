"""A candidate beside its truth: slices of a volume, or a plane, with surfaces coloured by distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.figures import FALSE_ALARM, MISS
from edgecritic.inputs import BoolArray
from edgecritic.measures.evidence import Comparison
from edgecritic.report.sections import Figure, draw

__all__ = ["draw_slices"]

_MARGIN = 6
_BOTH = (222, 222, 222)


def draw_slices(pair: Comparison, *, name: str, title: str, caption: str) -> Figure:
    """Draw slices through the place that is farthest from the other surface, along every axis of a volume."""
    distances, at = _painted(pair)
    ndim = len(at)
    cuts = [axis for axis in range(ndim) if pair.truth.shape[axis] > 1] if ndim == 3 else [None]
    if ndim == 3 and len(cuts) < 3:
        cuts = [next(axis for axis in range(3) if pair.truth.shape[axis] == 1)]
    far = float(np.nanmax(distances, initial=0.0))

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, len(cuts), squeeze=False)[0]
        shown = None
        for axes, cut in zip(panels, cuts, strict=True):
            shown = _panel(axes, pair, distances, at, cut, far)
        if shown is not None and far > 0:
            figure.colorbar(shown, ax=list(panels), shrink=0.8, label="distance to the other surface")

    size = (8.0, 3.0) if len(cuts) > 1 else (6.0, 4.5)
    return draw(name, title, caption, paint, size=size, kinds=("png",), dpi=130)


def _panel(
    axes: Any,
    pair: Comparison,
    distances: NDArray[np.float64],
    at: tuple[int, ...],
    cut: int | None,
    far: float,
) -> Any:
    """Draw one slice within the box of both maps."""
    window = [slice(max(0, side.start - _MARGIN), side.stop + _MARGIN) for side in pair.window]
    place: tuple[Any, ...] = tuple(at[axis] if axis == cut else window[axis] for axis in range(len(at)))
    candidate, truth, painted = pair.candidate[place], pair.truth[place], distances[place]
    colours = np.full((*candidate.shape, 3), 255, dtype=np.uint8)
    colours[candidate & truth] = _BOTH
    colours[candidate & ~truth] = _pale(FALSE_ALARM)
    colours[truth & ~candidate] = _pale(MISS)
    rest = [axis for axis in range(len(at)) if axis != cut]
    aspect = pair.spacing[rest[0]] / pair.spacing[rest[1]]
    axes.imshow(colours, aspect=aspect, interpolation="nearest")
    shown = axes.imshow(
        np.ma.masked_invalid(painted),
        aspect=aspect,
        interpolation="nearest",
        cmap="viridis",
        vmin=0,
        vmax=far or 1,
    )
    axes.set_xticks([])
    axes.set_yticks([])
    if cut is not None:
        axes.set_title(f"axis {cut + 1}, slice {at[cut] + 1}", fontsize=8)
    return shown


def _painted(pair: Comparison) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Return the distance of every surface pixel (NaN elsewhere), and where it is greatest."""
    distances = np.full(pair.truth.shape, np.nan)
    first, second = (target.border for target in pair.targets)
    if pair.empty_side is None:
        found = pair.surface
        distances[second] = found.to_candidate
        distances[first] = np.fmax(found.to_truth, np.nan_to_num(distances[first]))
        place = int(np.nanargmax(distances))
    else:
        place = int(np.argmax(_middle(first | second)))
    return distances, tuple(int(index) for index in np.unravel_index(place, pair.truth.shape))


def _middle(mask: BoolArray) -> BoolArray:
    """Return a mask with the one set pixel that comes in the middle of the raster order."""
    places = np.flatnonzero(mask)
    chosen = np.zeros_like(mask)
    chosen.flat[places[places.size // 2] if places.size else 0] = True
    return chosen


def _pale(colour: tuple[int, int, int]) -> tuple[int, ...]:
    return tuple((part + 2 * 255) // 3 for part in colour)
