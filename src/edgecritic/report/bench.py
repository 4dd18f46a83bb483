"""What a benchmark run leaves for readers: report, tables, figures, pictures and the classic files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.assignment.dynamic import match_truths
from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import PathLike, digest, read_text
from edgecritic.errors import DataError, EdgeCriticError, MissingExtraError
from edgecritic.figures import leave_out
from edgecritic.protocols.summary import count_table
from edgecritic.protocols.sweep import candidate_at
from edgecritic.report.benchmark import benchmark_report
from edgecritic.report.benchmark.leaderboard import leaderboard_csv, leaderboard_tex, paper_rows_tex
from edgecritic.report.beside import Artist
from edgecritic.report.class_files import illustrate_classes, write_classes
from edgecritic.report.classic import CLASSIC_FILES, read_curve, write_all
from edgecritic.report.pictures import RANKS, matching_picture, ranked_picture
from edgecritic.report.regions import write_classic_regions
from edgecritic.report.schema import check_results
from edgecritic.report.sections import Picture, Section
from edgecritic.report.slices import worst_slices
from edgecritic.report.view import View
from edgecritic.report.write import write_pages
from edgecritic.run.bench import BenchRun
from edgecritic.run.bench_results import detector_folder
from edgecritic.run.files import write_text
from edgecritic.run.finished import keep_pictures
from edgecritic.run.judge import Loaded
from edgecritic.run.judge_tiles import in_tiles

_TABLES = {"table.csv": leaderboard_csv, "table.tex": leaderboard_tex, "rows.tex": paper_rows_tex}

__all__ = ["load_results", "write_benchmark", "write_run", "illustrate", "read_curves"]


def load_results(path: PathLike) -> dict[str, Any]:
    """Read ``results.json`` (or the folder that holds it) and check its layout.

    Raises
    ------
    DataError
        If it cannot be read, is no JSON, or has another layout; the message names the place.
    """
    file = Path(path)
    if file.is_dir():
        file = file / "results.json"
    try:
        results: dict[str, Any] = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON: {error}", path=file) from error
    try:
        check_results(results)
    except DataError as error:
        raise DataError(f"{error}", path=file) from error
    return results


def write_benchmark(
    folder: PathLike,
    results: Mapping[str, Any],
    pictures: Sequence[Picture] = (),
    *,
    more: Sequence[tuple[int, Section]] = (),
    refresh: int = 0,
    artist: Artist | None = None,
) -> tuple[Path, ...]:
    """Write ``report.html``, ``report.md``, the tables and ``pr.svg``, ``pr.pdf``, ``pr.png``.

    The tables are ``table.csv``, ``table.tex``, and ``rows.tex`` with rows in the forms that papers use.

    Parameters
    ----------
    folder : path
        Where ``results.json`` is; made if it does not exist.
    results : mapping
        What that file holds.
    pictures : sequence of Picture
        Shown in the page, by detector in the given order.
    more : sequence of (int, Section)
        Other sections of the page with their places.
    refresh : int
        Seconds after which the page of a run that goes on is loaded anew; 0 if it is complete.
    artist : Artist, optional
        Who draws the figures of these results, and may have begun already.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    DataError
        If the results have another layout, or a file cannot be written.

    Warns
    -----
    UserWarning
        If matplotlib or Jinja2 is not installed: the figures or the page are left out then.
    """
    home, view = Path(folder), View(results, pictures)
    artist = artist or Artist()
    artist.begin(results, home)
    written = [
        *write_pages(home, benchmark_report(view, more, refresh=refresh)),
        *(home / name for name in _TABLES),
    ]
    for name, render in _TABLES.items():
        write_text(home / name, render(view))
    try:
        written += artist.finish()
    except MissingExtraError as missing:
        leave_out("the figures are", str(missing))
    return tuple(written)


def write_run(
    folder: str | Path,
    run: BenchRun,
    *,
    more: Sequence[tuple[int, Section]] = (),
    artist: Artist | None = None,
) -> tuple[Path, ...]:
    """Write everything beside ``results.json``; return the files.

    Each detector has a folder of its name with ``eval_bdry.txt``, ``eval_bdry_thr.txt``,
    ``eval_bdry_img.txt`` and the counts of every image, and where regions were judged with the files of
    `edgecritic.report.classic_regions`; those that sum up a single detector are beside
    ``results.json`` as well, where the plotting programs look for them. Pictures are drawn, and kept
    beside the records, if the run has none yet; `more` are other sections of the page with their places.
    An `artist` draws the figures meanwhile (`edgecritic.report.beside.artist_beside`).
    """
    home = Path(folder)
    if artist is not None:
        artist.begin(run.results, home)
    written: list[Path] = []
    for name, result in run.details.items():
        place = home / detector_folder(name)
        place.mkdir(parents=True, exist_ok=True)
        if run.protocol.classes is not None:
            written += write_classes(place, result, run.protocol.classes)
            continue
        files = write_all(place, result.summary, count_table(result.counts))
        for left in set(place.rglob("*_ev1.txt")) - set(files):  # of images that are no longer there
            left.unlink(missing_ok=True)
        written += files
        if len(run.details) == 1:
            written += write_all(home, result.summary)
    if len(run.details) != 1 or run.protocol.classes is not None:
        for name in CLASSIC_FILES:  # left by an earlier run with one detector
            (home / name).unlink(missing_ok=True)
    written += write_classic_regions(home, run.regions)
    if run.pictures is None:
        pictures = list(illustrate(run))
        for name in run.details:
            mine = [one.as_dict() | {"png": one.png} for one in pictures if one.group == name]
            keep_pictures(home, name, mine)
    else:
        pictures = [Picture(**one) for one in run.pictures]
    return (*written, *write_benchmark(home, run.results, pictures, more=more, artist=artist))


def illustrate(run: BenchRun) -> Iterator[Picture]:
    """Draw for every detector its best, median and worst image at the threshold of its ODS.

    Of a volume the slices with the most errors are drawn, one along each axis.
    """
    if run.protocol.classes is not None:
        yield from illustrate_classes(run)
        return
    for entry in run.results["detectors"]:
        rows = sorted(entry["per_image"], key=lambda row: (row["f"], row["id"]))
        places = (len(rows) - 1, len(rows) // 2, 0)
        drawn: set[str] = set()
        for rank, place in zip(RANKS, places, strict=True):
            row = rows[place]
            if row["id"] in drawn:
                continue
            drawn.add(row["id"])
            case = _as_judged(run.cases[entry["name"]][row["id"]], row)
            if case is None:
                continue
            for where, png in _draw(case, run, float(entry["ods"]["threshold"])):
                yield ranked_picture(entry["name"], row["id"], row["f"], rank, png, where=where)


def read_curves(curves: dict[str, str | Path]) -> list[dict[str, Any]]:
    """Read competitors' curves (``eval_bdry_thr.txt``, with or without thresholds) for the report."""
    found = []
    for name, path in curves.items():
        curve = read_curve(path)
        found.append(
            {
                "name": name,
                "threshold": None if curve.thresholds is None else _plain(curve.thresholds),
                "recall": _plain(curve.recall),
                "precision": _plain(curve.precision),
                "f": _plain(curve.f),
            }
        )
    return found


def _plain(values: Any) -> list[float]:
    return [float(value) for value in np.asarray(values)]


def _as_judged(case: Case, row: Mapping[str, Any]) -> Case | None:
    """Return the case with the bytes of its files if they still are those that were judged.

    What was judged in tiles because it does not fit in memory is not drawn.
    """
    if case.prediction is None or in_tiles(case):
        return None
    try:
        read = case.read()
        truths, prediction = [read.contents[path] for path in case.truths], read.contents[case.prediction]
        if (digest(truths), digest([prediction])) == (row["truth_hash"], row["prediction_hash"]):
            return read
    except EdgeCriticError:
        pass  # gone, which is a change too
    warnings.warn(
        f"{case.id}: its files have changed since they were judged; no picture is drawn", stacklevel=2
    )
    return None


def _draw(case: Case, run: BenchRun, threshold: float) -> Iterator[tuple[str, bytes]]:
    """Return pictures with what they show of the image, which is all of it if nothing is said."""
    loaded = Loaded(case, run.protocol, run.reading)
    if loaded.segmented:
        return
    mask, truths, spacing = loaded.mask, loaded.truths, loaded.spacing
    if mask is not None:
        truths = [truth & mask for truth in truths]
    candidate = candidate_at(loaded.strength, threshold, protocol=run.protocol, mask=mask, spacing=spacing)
    reach = run.protocol.tolerance_for(candidate.shape, spacing)
    hit, found = match_truths(candidate, truths, tolerance=reach, spacing=spacing)
    missed = [truth & ~matched for truth, matched in zip(truths, found, strict=True)]
    maps = candidate, hit, truths, missed, _background(case, candidate.shape)
    if candidate.ndim == 2:
        yield "", matching_picture(*maps)
        return
    for one in worst_slices(*maps, spacing=spacing):
        yield one.words, one.png


def _background(case: Case, shape: Sequence[int]) -> Any:
    """Return the photo if there is one of the right size; a scan with values from 0 to 1."""
    if case.image is None:
        return None
    try:
        image = case.load_image()
    except EdgeCriticError:
        return None
    if image.shape != tuple(shape):
        return None
    return image if image.ndim == 2 else (image - image.min()) / max(float(np.ptp(image)), 1e-12)
