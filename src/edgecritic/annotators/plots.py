"""Figures of labels: their strength as colours, as shares, and over the output of a detector (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.figures import COLOURS, SHADES, axes_of

if TYPE_CHECKING:
    from edgecritic.annotators.perceptual import LabelStrength

__all__ = ["strength_colours", "share_bars", "output_bars"]

_OUTPUTS = ("#d7dce1", "#b9c6d2", "#93afc4", "#6394b4", "#2f78a2", "#f28e2b")


def strength_colours(found: LabelStrength, photo: Any = None) -> NDArray[np.float64]:
    """Colour every label by its strength, from dark violet (one annotator) to orange (all).

    Where labels of several annotators meet the strongest shows. The photo is shown faintly below.

    Returns
    -------
    (rows, columns, 3) float array in [0, 1]
    """
    shown = np.max(found.strengths, axis=0)
    paper = np.ones((*found.shape, 3))
    if photo is not None and np.shape(photo) == found.shape:
        paper *= 0.6 + 0.4 * np.clip(np.asarray(photo, dtype=np.float64), 0, 1)[..., None]
    palette = np.array([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for code in SHADES])
    places = np.linspace(1 / found.annotators, 1, len(SHADES))
    for channel in range(3):
        paper[..., channel] = np.where(
            shown > 0, np.interp(shown, places, palette[:, channel]), paper[..., channel]
        )
    return paper


def share_bars(ax: Any, shares: Mapping[str, Mapping[str, float]]) -> Any:
    """Draw the shares of the classes of strength as bars, one colour per kind of counting."""
    axes = axes_of(ax)
    names = list(next(iter(shares.values())))
    for number, (what, own) in enumerate(shares.items()):
        places = np.arange(len(names)) + (number - (len(shares) - 1) / 2) * 0.4
        axes.bar(places, [own[name] for name in names], 0.38, label=f"of {what}", color=COLOURS[number])
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("strength (share of annotators)")
    axes.set_ylabel("share")
    axes.legend(frameon=False)
    return axes


def output_bars(
    ax: Any, outputs: Sequence[float], shares: Sequence[Sequence[float] | None], levels: Sequence[str]
) -> Any:
    """Draw for every output of a detector how strong the labels are that it matches."""
    axes = axes_of(ax)
    heights = np.array([row if row is not None else [0.0] * len(levels) for row in shares])
    edges, bottom = np.array(outputs), np.zeros(len(heights))
    for column, (name, shade) in enumerate(zip(levels, _OUTPUTS, strict=True)):
        axes.bar(
            edges[:-1],
            heights[:, column],
            np.diff(edges) * 0.94,
            bottom,
            align="edge",
            color=shade,
            label=name,
        )
        bottom += heights[:, column]
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("output of the detector")
    axes.set_ylabel("share of matched labels")
    axes.legend(title="strength", bbox_to_anchor=(1.01, 1), loc="upper left", frameon=False)
    return axes
