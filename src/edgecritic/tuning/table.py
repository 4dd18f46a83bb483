"""The table of best values: a line per measure, a column per detector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_table"]


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
    sk      ↓  2.5 @0.1  1*@0
    """
    names = [f"{name:<{max(map(len, ('measure', *measures)))}}" for name in ("measure", *measures)]
    arrows = [" ", *("↓" if way == "lower" else "↑" for way in better)]
    heads = [f"{name} {arrow}  " for name, arrow in zip(names, arrows, strict=True)]
    firsts = [_first(values[:, m], way) for m, way in enumerate(better)]
    tables: list[list[str]] = [list(heads)]
    for d, detector in enumerate(detectors):
        marks = ["*" if d == first else " " for first in firsts]
        cells = [
            f"{value:.4g}{mark}@{threshold:.3g}"
            for value, mark, threshold in zip(values[d], marks, thresholds[d], strict=True)
        ]
        wide = max(len(detector), *map(len, cells)) + 2
        if width is not None and tables[-1] != heads and len(tables[-1][0]) + wide - 2 > width:
            tables.append(list(heads))
        tables[-1] = [
            line + f"{cell:<{wide}}" for line, cell in zip(tables[-1], (detector, *cells), strict=True)
        ]
    return "\n\n".join("\n".join(line.rstrip() for line in lines) for lines in tables)


def _first(column: NDArray[np.float64], way: str) -> int:
    falling = way == "lower"
    order = np.nan_to_num(column, nan=np.inf if falling else -np.inf)
    return int(np.argmin(order) if falling else np.argmax(order))
