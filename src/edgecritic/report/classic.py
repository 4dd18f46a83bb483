"""The text files of the classic boundary benchmarks, read and written.

==========================  =============================================================
``eval_bdry.txt``           T R P F (ODS), R P F (OIS), AP; ``<Name>_bdry.txt`` has no T
``eval_bdry_thr.txt``       rows T R P F; ``<Name>_bdry_thr.txt`` has no T
``eval_bdry_img.txt``       rows i T R P F, one per image, i from 1
``<image>_ev1.txt``         rows T cntR sumR cntP sumP
==========================  =============================================================

Numbers have six significant digits and a width of ten (``%10g``), separated by a space.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.content import PathLike, read_text
from edgecritic.errors import DataError, InputError
from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.curves import Array, f_measure
from edgecritic.protocols.summary import BestPoint, CountTable, Summary
from edgecritic.run.files import write_text

__all__ = [
    "CLASSIC_FILES",
    "REGION_FILES",
    "REGION_IMAGE_FILES",
    "ClassicSummary",
    "ClassicCurve",
    "read_summary",
    "read_curve",
    "read_image_scores",
    "read_counts",
    "write_summary",
    "write_curve",
    "write_image_scores",
    "write_counts",
    "write_all",
    "read_table",
    "write_table",
]


CLASSIC_FILES = ("eval_bdry.txt", "eval_bdry_thr.txt", "eval_bdry_img.txt")
"""The files that sum up a run."""

REGION_FILES = (
    "eval_cover.txt",
    "eval_cover_th.txt",
    "eval_cover_img.txt",
    "eval_RI_VOI.txt",
    "eval_RI_VOI_thr.txt",
)
"""Those that sum up a run of regions (`edgecritic.report.classic_regions`)."""

REGION_IMAGE_FILES = ("ev2", "ev3", "ev4")
"""What the names of an image's files about regions end with."""

MOST_AP = 1.01
"""The classic AP sums 101 terms over 100."""

_SIX_DIGITS = 1e6  # whole numbers below it are written in full

ROUNDING = 0.002
"""How far F may be from what R and P say: some programs write three digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicSummary:
    """What ``eval_bdry.txt`` holds; the threshold of `ods` is ``None`` in the 7-column form."""

    ods: BestPoint
    ois: BestPoint
    ap: float

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"ods": self.ods.as_dict(), "ois": self.ois.as_dict(), "ap": self.ap}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassicCurve:
    """What ``eval_bdry_thr.txt`` holds, in the order of the file.

    Some programs write every threshold in ascending order, others drop points of equal recall and write
    the rest from the lowest threshold on. `thresholds` is ``None`` in the 3-column form.
    """

    thresholds: Array | None
    recall: Array
    precision: Array
    f: Array

    def __len__(self) -> int:
        return len(self.recall)


def read_summary(path: PathLike) -> ClassicSummary:
    """Read ``eval_bdry.txt`` (8 numbers) or ``<Name>_bdry.txt`` (7 numbers, no threshold).

    Raises
    ------
    DataError
        If the file does not hold one such row; the message names file and line.
    """
    lines, table = read_table(path, (7, 8))
    if len(table) != 1:
        raise DataError(
            f"{_name(path)}, line {lines[1]}: expected one row of 7 or 8 numbers, got {len(table)} rows"
        )
    row = table[0]
    threshold = float(row[0]) if row.size == 8 else None
    r, p, f, ois_r, ois_p, ois_f, ap = (float(value) for value in row[-7:])
    _check_points(path, lines, table[:, -7:-4])
    _check_points(path, lines, table[:, -4:-1])
    if not 0 <= ap <= MOST_AP:
        raise DataError(f"{_name(path)}, line {lines[0]}: AP must lie in [0, {MOST_AP}], got {ap:g}")
    return ClassicSummary(
        ods=BestPoint(threshold=threshold, recall=r, precision=p, f=f),
        ois=BestPoint(recall=ois_r, precision=ois_p, f=ois_f),
        ap=ap,
    )


def read_curve(path: PathLike) -> ClassicCurve:
    """Read ``eval_bdry_thr.txt`` (T R P F) or ``<Name>_bdry_thr.txt`` (R P F).

    Raises
    ------
    DataError
        If a row has another number of columns or impossible values; the message names file and line.
    """
    lines, table = read_table(path, (3, 4))
    _check_points(path, lines, table[:, -3:])
    recall, precision, f = table[:, -3:].T
    thresholds = table[:, 0].copy() if table.shape[1] == 4 else None
    return ClassicCurve(thresholds=thresholds, recall=recall.copy(), precision=precision.copy(), f=f.copy())


def read_image_scores(path: PathLike) -> tuple[BestPoint, ...]:
    """Read ``eval_bdry_img.txt``: the best point of every image, in the order of its number.

    Raises
    ------
    DataError
        If the numbers are not 1 … n or a row is impossible; the message names file and line.
    """
    lines, table = read_table(path, (5,))
    _check_points(path, lines, table[:, -3:])
    table_order = np.argsort(table[:, 0], kind="stable")
    for place, row in enumerate(table_order):
        if table[row, 0] != place + 1:
            raise DataError(
                f"{_name(path)}, line {lines[row]}: images must be numbered 1 to {len(table)}, each once, "
                f"got {table[row, 0]:g}"
            )
    return tuple(
        BestPoint(threshold=float(t), recall=float(r), precision=float(p), f=float(f))
        for _, t, r, p, f in table[table_order]
    )


def read_counts(path: PathLike) -> Counts:
    """Read ``<image>_ev1.txt``, which has rows (threshold, cntR, sumR, cntP, sumP) in any order.

    Raises
    ------
    DataError
        If a row is impossible (negative, cnt above sum, …) or a threshold repeats.
    """
    lines, table = read_table(path, (5,))
    counts = table[:, 1:]
    wrong = (counts < 0).any(axis=1) | (counts[:, 0] > counts[:, 1]) | (counts[:, 2] > counts[:, 3])
    if wrong.any():
        raise DataError(
            f"{_name(path)}, line {lines[int(wrong.argmax())]}: expected threshold cntR sumR cntP sumP with "
            "0 ≤ cntR ≤ sumR and 0 ≤ cntP ≤ sumP"
        )
    order = np.argsort(table[:, 0], kind="stable")
    ordered: Array = table[order]
    repeated = np.flatnonzero(np.diff(ordered[:, 0]) == 0)
    if repeated.size:
        raise DataError(
            f"{_name(path)}, line {lines[int(order[repeated[0] + 1])]}: the threshold "
            f"{ordered[repeated[0], 0]:g} comes twice"
        )
    return Counts.from_rows(ordered)


def write_summary(path: PathLike, summary: Summary | ClassicSummary, *, threshold: bool = True) -> None:
    """Write ``eval_bdry.txt``, or without the threshold ``<Name>_bdry.txt``.

    AP is the one of the summary's protocol; it must have a value.
    """
    if summary.ap is None:
        raise InputError(
            "AP has no value by the protocol's rule (no counts at threshold 0); nothing to write"
        )
    ods, ois = summary.ods, summary.ois
    row = [ods.recall, ods.precision, ods.f, ois.recall, ois.precision, ois.f, summary.ap]
    if threshold:
        if ods.threshold is None:
            raise InputError(
                "the threshold of ODS is not known", remedy="write the 7-column form with threshold=False"
            )
        row.insert(0, ods.threshold)
    write_table(path, [row])


def write_curve(path: PathLike, curve: Summary | ClassicCurve, *, threshold: bool = True) -> None:
    """Write ``eval_bdry_thr.txt``, or without thresholds ``<Name>_bdry_thr.txt``."""
    columns = [curve.recall, curve.precision, curve.f]
    if threshold:
        if curve.thresholds is None:
            raise InputError(
                "thresholds are not known", remedy="write the 3-column form with threshold=False"
            )
        columns.insert(0, curve.thresholds)
    write_table(path, np.stack(columns, axis=1).tolist())


def write_image_scores(path: PathLike, scores: Summary | Sequence[BestPoint]) -> None:
    """Write ``eval_bdry_img.txt`` in the order of the images."""
    points = [image.best for image in scores.images] if isinstance(scores, Summary) else scores
    rows = []
    for number, point in enumerate(points, start=1):
        if point.threshold is None:
            raise InputError(f"the threshold of image {number} is not known; the file needs it")
        rows.append([number, point.threshold, point.recall, point.precision, point.f])
    write_table(path, rows)


def write_counts(path: PathLike, counts: Counts) -> None:
    """Write ``<image>_ev1.txt``: rows (threshold, cntR, sumR, cntP, sumP).

    Counts that six digits cannot hold are written in full.
    """
    _write_counts(path, counts.table())


def _write_counts(path: PathLike, table: Array) -> None:
    numbers = table[:, 1:]
    if ((numbers < _SIX_DIGITS) & (numbers == np.floor(numbers))).all():
        rows = _rows_to_fill(tuple(table[:, 0].tolist()))
        write_text(path, rows % tuple(numbers.astype(np.int64).ravel().tolist()))
    else:
        write_table(path, table.tolist(), exact_from=1)


@lru_cache(maxsize=4)  # all images of a run have the same thresholds
def _rows_to_fill(thresholds: tuple[float, ...]) -> str:
    """Return rows with thresholds, and places for whole numbers, which look as `%10g` writes them."""
    return "".join(f"{one:10g}{' %10d' * len(COLUMNS)}\n" for one in thresholds)


def write_all(folder: PathLike, summary: Summary, counts: CountTable | None = None) -> tuple[Path, ...]:
    """Write the three summary files into a folder, and one ``<image>_ev1.txt`` per image of `counts`.

    Returns
    -------
    tuple of Path
        The files that were written. The folder is made if it does not exist.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    files = [home / name for name in CLASSIC_FILES]
    write_summary(files[0], summary)
    write_curve(files[1], summary)
    write_image_scores(files[2], summary)
    if counts is not None:
        columns = [getattr(counts.counts, name) for name in COLUMNS]
        thresholds = np.broadcast_to(counts.counts.thresholds, columns[0].shape)
        for name, table in zip(counts.names, np.stack([thresholds, *columns], axis=-1), strict=True):
            files.append(home / f"{name}_ev1.txt")
            _write_counts(files[-1], table)
    return tuple(files)


def read_table(path: PathLike, columns: tuple[int, ...]) -> tuple[list[int], Array]:
    """Return the line numbers and the table of a file whose rows all have one of the given widths."""
    text = read_text(path)
    lines: list[int] = []
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words:
            lines.append(number)
            rows.append(_numbers(path, number, words, columns))
            if len(words) != len(rows[0]):
                raise DataError(
                    f"{_name(path)}, line {number}: expected {len(rows[0])} numbers as in the lines above, "
                    f"got {len(words)}"
                )
    if not rows:
        raise DataError(f"{_name(path)}: the file is empty")
    return lines, np.asarray(rows, dtype=np.float64)


def _numbers(path: PathLike, number: int, words: list[str], columns: tuple[int, ...]) -> list[float]:
    if len(words) not in columns:
        wanted = " or ".join(str(width) for width in columns)
        raise DataError(f"{_name(path)}, line {number}: expected {wanted} numbers, got {len(words)}")
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(f"{_name(path)}, line {number}: expected a finite number, got {word!r}")
        values.append(value)
    return values


def _check_points(path: PathLike, lines: list[int], points: Array) -> None:
    """Refuse rows (R, P, F) that no curve can have: other files of the benchmark have as many columns."""
    outside = np.any((points < 0) | (points > 1), axis=1)
    wrong = outside | (np.abs(f_measure(points[:, 0], points[:, 1]) - points[:, 2]) > ROUNDING)
    if wrong.any():
        row = int(wrong.argmax())
        shown = " ".join(f"{value:g}" for value in points[row])
        what = "lie in [0, 1]" if outside[row] else "fulfil F = 2PR / (P + R)"
        raise DataError(f"{_name(path)}, line {lines[row]}: R, P and F must {what}, got {shown}")


def write_table(path: PathLike, rows: Iterable[Sequence[float]], exact_from: int | None = None) -> None:
    """Write rows of numbers; those from a column on in full where six digits cannot hold them."""
    if exact_from is None:
        table = [tuple(row) for row in rows]
        line = " ".join(["%10g"] * len(table[0])) + "\n" if table else ""
        write_text(path, line * len(table) % tuple(itertools.chain.from_iterable(table)))
        return
    write_text(path, "".join(f"{_line(row, exact_from)}\n" for row in rows))


def _line(row: Sequence[float], exact_from: int) -> str:
    return " ".join(
        f"{value:10g}" if place < exact_from else _exact(value) for place, value in enumerate(row)
    )


def _exact(value: float) -> str:
    text = f"{value:10g}"
    if float(text) == value:
        return text
    return f"{int(value):10d}" if value.is_integer() else f"{value!r:>10}"


def _name(path: PathLike) -> str:
    return os.fspath(path)
