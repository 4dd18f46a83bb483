"""Precision over recall as papers draw it: the frame with iso-F lines, and curves inside (matplotlib)."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.figures import GREY, look

__all__ = ["recall_frame", "recall_curve"]

ISO_F = tuple(tenths / 10 for tenths in range(1, 10))
ISO_COLOUR = "#b9cdbb"
ISO_TEXT = "#5d7a60"


def recall_frame(axes: Any) -> None:
    """Draw axes from 0 to 1 and the iso-F lines F = .1 … .9 with their values at the right border."""
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = np.linspace(0, 1, 11)
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.tick_params(length=3, color=GREY)
    axes.set_xlabel("Recall")
    axes.set_ylabel("Precision")
    for side in axes.spines.values():
        side.set_color(GREY)
    for f in ISO_F:
        even = np.linspace(f / (2 - f), 1, 100)
        recall = np.sort(np.concatenate([even, f * even / (2 * even - f)]))
        axes.plot(recall, f * recall / (2 * recall - f), color=ISO_COLOUR, linewidth=0.7, zorder=1)
        text, place = f"{f:.1f}".removeprefix("0"), (1, f / (2 - f))
        axes.annotate(
            text, place, (4, 0), textcoords="offset points", va="center", color=ISO_TEXT, fontsize=7.5
        )


def recall_curve(
    axes: Any,
    curve: tuple[Any, Any],
    best: tuple[float, float],
    *,
    number: int = 0,
    level: int = 10,
    **line: Any,
) -> Any:
    """Draw one curve (recall, precision) and its marked best point; return the line for a legend."""
    style = look(number)
    (drawn,) = axes.plot(*curve, zorder=level, **{"linewidth": 1.9, **style, **line})
    axes.plot(
        *best,
        "o",
        ms=5,
        zorder=level,
        markerfacecolor=style["color"],
        markeredgecolor="white",
        markeredgewidth=0.8,
    )
    return drawn
