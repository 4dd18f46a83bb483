"""The table of best values: a line per measure, a column per detector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecritic.tables import arrow, text_table

__all__ = ["best_table", "best_place"]


def best_table(
    measures: Sequence[str],
    better: Sequence[str],
    detectors: Sequence[str],
    values: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    *,
    width: int | None = None,
) -> str:
    """Return best values with their thresholds; a star marks the best detector, the first of equals.

    Parameters
    ----------
    measures, better, detectors : sequences of str
    values, thresholds : (detectors, measures) float arrays
    width : int, optional
        Columns of text: detectors that do not fit go into further tables below.

    Examples
    --------
    >>> values, thresholds = np.array([[2.5], [1]]), np.array([[0.1], [0]])
    >>> print(best_table(["sk"], ["lower"], ["sobel", "canny"], values, thresholds))
    measure    sobel     canny
    sk       ↓  2.5 @0.1  1*@0
    """
    rows = []
    for m, (measure, way) in enumerate(zip(measures, better, strict=True)):
        first = best_place(values[:, m], way)
        cells = [
            f"{value:.4g}{'*' if d == first else ' '}@{threshold:.3g}"
            for d, (value, threshold) in enumerate(zip(values[:, m], thresholds[:, m], strict=True))
        ]
        rows.append([measure, arrow(way), *cells])
    return text_table(rows, ["measure", "", *detectors], width=width, keep=2, rule="")


def best_place(column: NDArray[np.float64], way: str) -> int:
    """Return the place of the best of some values, the first of equals; NaN is the worst."""
    falling = way == "lower"
    order = np.nan_to_num(column, nan=np.inf if falling else -np.inf)
    return int(np.argmin(order) if falling else np.argmax(order))
