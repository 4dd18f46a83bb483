"""The text files of the classic region benchmark, read and written.

==========================  =============================================================
``eval_cover.txt``          covering: T ODS OIS best
``eval_cover_th.txt``       rows T covering
``eval_cover_img.txt``      rows i T R P, one per image, i from 1
``eval_RI_VOI.txt``         T ODS OIS of PRI, then of VOI
``eval_RI_VOI_thr.txt``     rows T PRI VOI
``<image>_ev2.txt``         rows T cntR sumR cntP sumP
``<image>_ev3.txt``         cntR sumR of every region at its best threshold
``<image>_ev4.txt``         rows T PRI VOI
==========================  =============================================================

Numbers have six significant digits (``%10g``), those of images too; the others are made of these, as in the
original program. So they may differ in the last digit from ``results.json``, which rounds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.content import PathLike
from edgecritic.errors import DataError
from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.curves import Array
from edgecritic.protocols.region_summary import RegionScore, RegionSummary, summarise_regions
from edgecritic.protocols.regions import Regions
from edgecritic.report.classic import REGION_FILES, REGION_IMAGE_FILES, read_table, write_table

__all__ = ["read_regions", "read_image_regions", "write_regions"]


def write_regions(folder: PathLike, images: Mapping[str, Regions], *, each: bool = True) -> tuple[Path, ...]:
    """Write the summary files into a folder, and with `each` the three files of every image.

    Images are numbered in the order of their names.

    Returns
    -------
    tuple of Path
        The files that were written. The folder is made if it does not exist.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    found = {name: _six_digits(images[name]) for name in sorted(images)}
    files = _write_summary(home, summarise_regions(found))
    for name, one in found.items() if each else ():
        files += _write_image(home, name, one)
    return tuple(files)


def read_regions(folder: PathLike) -> RegionSummary:
    """Read the summary files of a folder; images have numbers in place of names, and no PRI and VOI.

    Raises
    ------
    DataError
        If a file is missing, has other columns or impossible values, or two files differ in thresholds.
    """
    cover, curve, images, both, rates = (Path(folder) / name for name in REGION_FILES)
    t, ods, ois, best = _one_row(cover, 4)
    _check_shares(cover, np.array([[ods, ois, best]]))
    pri_t, pri, pri_ois, voi_t, voi, voi_ois = _one_row(both, 6)
    _check_shares(both, np.array([[pri, pri_ois]]))
    covering, scores = _rows(curve, 2), _rows(rates, 3)
    _check_shares(curve, covering[:, 1:])
    _check_shares(rates, scores[:, 1:2])
    if not np.array_equal(covering[:, 0], scores[:, 0]):
        raise DataError(f"has other thresholds than {curve.name}", path=rates)
    return RegionSummary(
        covering=RegionScore(ods=ods, ois=ois, threshold=t, best=best),
        pri=RegionScore(ods=pri, ois=pri_ois, threshold=pri_t),
        voi=RegionScore(ods=voi, ois=voi_ois, threshold=voi_t),
        thresholds=covering[:, 0],
        covering_curve=covering[:, 1],
        pri_curve=scores[:, 1],
        voi_curve=scores[:, 2],
        images=_read_images(images),
    )


def read_image_regions(folder: PathLike, name: str) -> Regions:
    """Read the three files of one image.

    Raises
    ------
    DataError
        If a file is missing, has other columns or impossible values.
    """
    counts, best, scores = (Path(folder) / f"{name}_{ending}.txt" for ending in REGION_IMAGE_FILES)
    table, rates = _rows(counts, 5), _rows(scores, 3)
    if not np.array_equal(table[:, 0], rates[:, 0]):
        raise DataError(f"has other thresholds than {counts.name}", path=scores)
    covered, _ = _one_row(best, 2)
    return Regions(
        counts=Counts.from_rows(table),
        best=covered,
        pri=rates[:, 1].copy(),
        voi=rates[:, 2].copy(),
        annotators=round(table[0, 2] / table[0, 4]),
    )


def _write_summary(home: Path, summary: RegionSummary) -> list[Path]:
    covering, pri, voi = summary.covering, summary.pri, summary.voi
    rows: dict[str, Any] = {
        "eval_cover.txt": [[covering.threshold, covering.ods, covering.ois, covering.best]],
        "eval_cover_th.txt": np.column_stack([summary.thresholds, summary.covering_curve]),
        "eval_cover_img.txt": [
            [number, one["threshold"], one["recall"], one["precision"]]
            for number, one in enumerate(summary.images, start=1)
        ],
        "eval_RI_VOI.txt": [[pri.threshold, pri.ods, pri.ois, voi.threshold, voi.ods, voi.ois]],
        "eval_RI_VOI_thr.txt": np.column_stack([summary.thresholds, summary.pri_curve, summary.voi_curve]),
    }
    for name in REGION_FILES:
        write_table(home / name, rows[name])
    return [home / name for name in REGION_FILES]


def _write_image(home: Path, name: str, found: Regions) -> list[Path]:
    thresholds = found.counts.thresholds
    tables: tuple[Any, ...] = (
        found.counts.table(),
        [[found.best, found.counts.truth[0]]],
        np.column_stack([thresholds, found.pri, found.voi]),
    )
    files = [home / f"{name}_{ending}.txt" for ending in REGION_IMAGE_FILES]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    for file, table in zip(files, tables, strict=True):
        write_table(file, table)
    return files


def _six_digits(found: Regions) -> Regions:
    """Return what the files of an image hold."""
    counts: dict[str, Any] = {name: _rounded(getattr(found.counts, name)) for name in COLUMNS}
    return Regions(
        counts=Counts(thresholds=found.counts.thresholds, **counts),
        best=float(_rounded(np.array([found.best]))[0]),
        pri=_rounded(found.pri),
        voi=_rounded(found.voi),
        annotators=found.annotators,
    )


def _rounded(numbers: Array) -> Array:
    return np.array([float(f"{number:g}") for number in numbers])


def _read_images(path: Path) -> tuple[dict[str, Any], ...]:
    table = _rows(path, 4)
    if not np.array_equal(table[:, 0], np.arange(1, len(table) + 1)):
        raise DataError(f"must number its images 1 to {len(table)}, in this order", path=path)
    _check_shares(path, table[:, 2:])
    return tuple(
        {"name": f"{number:g}", "threshold": threshold, "recall": recall, "precision": precision}
        for number, threshold, recall, precision in table.tolist()
    )


def _one_row(path: Path, columns: int) -> list[float]:
    table = _rows(path, columns)
    if len(table) != 1:
        raise DataError(f"must hold one row of {columns} numbers, got {len(table)} rows", path=path)
    row: list[float] = table[0].tolist()
    return row


def _rows(path: Path, columns: int) -> Array:
    return read_table(path, (columns,))[1]


def _check_shares(path: Path, values: Array) -> None:
    if ((values < 0) | (values > 1)).any():
        raise DataError("must hold covering and PRI in [0, 1], which it does not", path=path)
