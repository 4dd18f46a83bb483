"""Measures of one map, or of two: how the files are read, and what judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import Content
from edgecritic.datasets.files import read_array, read_geometry, read_segmentations, read_truths
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.geometry import find_grid
from edgecritic.datasets.meshes import is_mesh, read_mesh
from edgecritic.datasets.rasters import is_large
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError, NotBinaryError
from edgecritic.geometry import Geometry, Resample
from edgecritic.inputs import BoolArray, as_spacing, diagonal
from edgecritic.measures import measures, score, score_alone
from edgecritic.measures.evidence import Comparison, Single, compare
from edgecritic.measures.label_maps import Label, LabelMap, Labels
from edgecritic.measures.labels import Absent, CaseScores, ScoredMap, score_labels, worst_labels
from edgecritic.measures.scoring import as_scores, choose, default_measures, worst_values
from edgecritic.measures.tiled import score_pixels
from edgecritic.run.rasters import read_pixels
from edgecritic.values import Value

__all__ = [
    *("ScoreSettings", "check_measures", "in_tiles", "read_pair", "score_files", "score_in_tiles"),
    "worst_scores",
]

Missing = Literal["fail", "worst", "skip"]


class ScoreSettings(Value):
    """How maps are read and judged.

    Attributes
    ----------
    measures : tuple of str or None
        Ids; all if not given.
    strategy : str or None
        How all measures match that match pixels.
    tolerance : float or None
        Of all measures that have a tolerance.
    spacing : tuple of float, "file" or None
        As for `edgecritic.datasets.geometry.find_grid`.
    resample : {"nearest", "stored"} or None
        What is done where the grids of the files differ, as for `edgecritic.geometry.place`.
    empty : {"value", "nan", "raise"}
        What measures do with empty maps, `on_degenerate` of :func:`edgecritic.measures.score`.
    binarize : float or None
        Where grey maps are cut; without it they are refused.
    labels : Labels or None
        The objects of label maps that are judged; `edgecritic.measures.label_maps.as_labels` makes it of
        "all", numbers, or names with numbers.
    absent : {"skip", "value"}
        What a label is worth that is in neither map, as for `edgecritic.score_labels`.
    missing : {"fail", "worst", "skip"}
        Truths without a prediction: left out, and the run has failed; counted as the worst value of every
        measure; or left out.
    level : int or None
        Which map of a candidate's file that holds several, from 1.
    tiles : bool
        Judge maps in bands of rows, as those are that do not fit in memory.
    """

    measures: tuple[str, ...] | None = None
    strategy: str | None = None
    tolerance: float | None = None
    spacing: Sizes | Literal["file"] | None = None
    resample: Resample = None
    empty: Literal["value", "nan", "raise"] = "value"
    binarize: float | None = None
    labels: Labels | None = None
    absent: Absent = "skip"
    missing: Missing = "fail"
    level: int | None = None
    tiles: bool = False


def score_files(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> CaseScores:
    """Read a candidate and its truths and compute the measures; without truths those that need none."""
    ids = settings.measures
    if any(is_mesh(_path(source)) for source in (candidate, *truths)):
        return _score_meshes(candidate, truths, settings)
    if in_tiles((candidate, *truths), settings):
        return score_in_tiles(candidate, truths, settings)
    if settings.labels is not None:
        return _score_labels(candidate, truths, settings)
    if _judges_regions(ids):
        grid = find_grid(candidate, truths, resample=settings.resample)
        labels = [grid.bring(truth, found) for truth in truths for found in _label_maps(truth)]
        chosen = grid.bring(candidate, _choose(_label_maps(candidate), settings.level, candidate))
        return CaseScores(maps=(ScoredMap(scores=score(chosen, labels, ids)),), notes=grid.notes)
    held = _masks(candidate, settings)
    if not truths:
        some = held if settings.level is None else [_choose(held, settings.level, candidate)]
        found = [score_alone(one, ids, on_degenerate=settings.empty) for one in some]
        values = np.concatenate([one.annotators for one in found])
        return CaseScores(maps=(ScoredMap(scores=replace(found[0], annotators=values)),))
    grid = find_grid(candidate, truths, spacing=settings.spacing, resample=settings.resample)
    mask = grid.bring(candidate, _choose(held, settings.level, candidate))
    maps = [grid.bring(truth, found) for truth in truths for found in _masks(truth, settings)]
    scores = score(
        mask,
        maps,
        ids,
        strategy=settings.strategy,
        tolerance=settings.tolerance,
        spacing=grid.spacing,
        on_degenerate=settings.empty,
    )
    one = ScoredMap(scores=scores, empty=_empty_sides(mask, maps))
    return CaseScores(maps=(one,), spacing=scores.spacing, notes=grid.notes)


def in_tiles(sources: Sequence[Path | Content | None], settings: ScoreSettings) -> bool:
    """Whether maps are judged in bands of rows: because it is wished, or because they are large files."""
    return settings.tiles or any(isinstance(one, Path) and is_large(one) for one in sources)


def score_in_tiles(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> CaseScores:
    """Score maps that are read in bands of rows."""
    if settings.labels is not None or settings.level is not None or not truths:
        raise InputError("labels, several maps in a file, and maps without truth are not judged in tiles")
    given = read_pixels(
        _path(candidate),
        [_path(truth) for truth in truths],
        binarize=settings.binarize,
        spacing=settings.spacing,
        resample=settings.resample,
    )
    scores = score_pixels(
        given.candidate,
        given.truths,
        given.shape,
        settings.measures,
        strategy=settings.strategy,
        tolerance=settings.tolerance,
        spacing=given.spacing,
        on_degenerate=settings.empty,
    )
    sides = [one.size == 0 for one in (given.candidate, *given.truths)]
    one = ScoredMap(scores=replace(scores, notes=()), empty=_empty_text(sides[0], any(sides[1:])))
    notes = ("judged in tiles, with the values of whole maps", *scores.notes, *given.notes)
    return CaseScores(maps=(one,), spacing=scores.spacing, notes=notes)


def _score_meshes(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> CaseScores:
    """Judge meshes by meshes, or by a volume whose file tells where it lies."""
    sources = (candidate, *truths)
    if not truths:
        raise InputError("measures of a mesh need a truth", remedy="leave out --alone")
    volumes = [source for source in sources if not is_mesh(_path(source))]
    told = [read_geometry(source, verify=False) for source in volumes]
    alone = len(truths) == 1 or (candidate in volumes and len(volumes) == 1) or not volumes
    if len(volumes) > 1 or not alone or any(one is None or not one.placed for one in told):
        raise InputError(
            "meshes are judged by meshes, or by one volume whose file tells where it lies, "
            f"got {', '.join(_path(source).name for source in volumes)}",
            remedy="save the volume as NIfTI, NRRD or MetaImage with its position",
        )
    for option in ("labels", "spacing", "resample", *(() if volumes else ("binarize", "level"))):
        if getattr(settings, option) is not None:
            name = "candidate-annotator" if option == "level" else option
            raise InputError(f"--{name} is for pixels, and a mesh has none; leave it out")
    grid = told[0] if told else None
    sides = [_surface(source, grid, settings) for source in sources]
    scores = score(
        sides[0],
        sides[1] if len(truths) == 1 else sides[1:],
        settings.measures,
        tolerance=settings.tolerance,
        spacing=None if grid is None else grid.spacing,
        on_degenerate=settings.empty,
    )
    notes = () if grid is None else ("coordinates of meshes are taken as millimetres RAS, those of NIfTI",)
    return CaseScores(maps=(ScoredMap(scores=scores),), notes=notes)


def _surface(source: Path | Content, grid: Geometry | None, settings: ScoreSettings) -> Any:
    if not is_mesh(_path(source)):
        return _choose(_masks(source, settings), settings.level, source)
    mesh = read_mesh(source)
    return mesh if grid is None else mesh.on_grid(grid.affine)


def _score_labels(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> CaseScores:
    if not truths:
        raise InputError("labels are judged against a truth; measures without truth take binary maps")
    grid = find_grid(candidate, truths, spacing=settings.spacing, resample=settings.resample)
    found = score_labels(
        grid.bring(candidate, _choose(_label_maps(candidate), settings.level, candidate)),
        [grid.bring(truth, found) for truth in truths for found in _label_maps(truth)],
        settings.measures,
        labels=settings.labels,
        strategy=settings.strategy,
        tolerance=settings.tolerance,
        spacing=grid.spacing,
        on_degenerate=settings.empty,
        absent=settings.absent,
    )
    return replace(found, notes=grid.notes)


def worst_scores(truths: Sequence[Content], settings: ScoreSettings) -> CaseScores:
    """Return the worst values of a case without a prediction; of labels, of those that the truth has."""
    labels = settings.labels
    own = labels is not None and labels.own_tolerances
    chosen = choose(
        settings.measures,
        default_measures(),
        strategy=settings.strategy,
        tolerance=None if own else settings.tolerance,
    )
    spacing = find_grid(truths[0], truths, spacing=settings.spacing, resample=settings.resample).spacing
    if labels is None:
        regions = _judges_regions(settings.measures)
        shape = (_label_maps(truths[0]) if regions else _masks(truths[0], settings))[0].shape
        bad = as_scores(chosen, [worst_values(chosen, diagonal(shape, as_spacing(spacing, len(shape))))])
        return CaseScores(maps=(ScoredMap(scores=bad, empty="candidate"),), spacing=spacing, missing=True)
    maps = [each for truth in truths for each in _label_maps(truth)]
    return worst_labels(maps, chosen, labels=labels, spacing=spacing)


def read_pair(
    case: Case, settings: ScoreSettings, label: Label | None, *, spacing: Sizes | None
) -> Comparison:
    """Read the candidate and the first truth of a case again: one label of them, or the binary maps."""
    if case.prediction is None:
        raise DataError(f"{case.id}: has no prediction")
    grid = find_grid(case.prediction, case.truths, spacing=settings.spacing, resample=settings.resample)
    read = _masks if label is None else _read_labels
    arrays = [
        grid.bring(
            case.prediction, _choose(read(case.prediction, settings), settings.level, case.prediction)
        ),
        grid.bring(case.truths[0], read(case.truths[0], settings)[0]),
    ]
    if label is None:
        return compare(*arrays, spacing=spacing)
    candidate, truth = (
        LabelMap(array, name) for array, name in zip(arrays, ("candidate", "truth"), strict=True)
    )
    whole = tuple(slice(0, n) for n in truth.array.shape)
    counted = truth.array != (settings.labels.ignore if settings.labels else None)
    masks = [each.mask(label, whole) & counted for each in (candidate, truth)]
    return compare(*masks, spacing=spacing)


def _read_labels(source: Path | Content, settings: ScoreSettings) -> list[Any]:
    del settings  # labels are read as they are
    return _label_maps(source)


def check_measures(settings: ScoreSettings) -> None:
    """Refuse unknown ids and bad parameters before any file is read."""
    ids, strategy, tolerance = settings.measures, settings.strategy, settings.tolerance
    if not ids and strategy is None and tolerance is None:
        return
    line = np.zeros((16, 16), dtype=np.bool_)
    line[8, 2:14] = True
    for bound in choose(ids, default_measures(), strategy=strategy, tolerance=tolerance):
        if bound.entry.info.needs == "candidate":
            bound(Single(line))
        elif bound.entry.info.needs != "segmentation":
            bound(compare(line, line))


def _masks(source: Path | Content, settings: ScoreSettings) -> list[BoolArray]:
    try:
        return read_truths(source, binarize=settings.binarize)
    except NotBinaryError as error:
        remedy = f"{error.remedy}; of label maps --labels all or --labels 1,2 judges each object"
        raise NotBinaryError(error.message, path=error.path, remedy=remedy) from error


def _empty_sides(candidate: BoolArray, maps: Sequence[BoolArray]) -> str:
    return _empty_text(not candidate.any(), not all(one.any() for one in maps))


def _empty_text(nothing: bool, no_truth: bool) -> str:
    return "both" if nothing and no_truth else "candidate" if nothing else "truth" if no_truth else ""


def _judges_regions(ids: Sequence[str] | None) -> bool:
    return bool(ids) and all(measures.bind(text).entry.info.needs == "segmentation" for text in ids or ())


def _path(source: Path | Content) -> Path:
    return source.path if isinstance(source, Content) else source


def _label_maps(source: Path | Content) -> list[Any]:
    found = find_format(_path(source))
    if found is not None and found.info.labels is not None:
        return list(read_segmentations(source))
    array = read_array(source)
    if found is not None and found.info.picture and array.ndim == 3:
        raise InputError(
            "is a picture in colours where numbers of labels were expected",
            path=_path(source),
            remedy="save the labels as grey values: PNG of 8 or 16 bits, or .npy",
        )
    return [array]


def _choose(maps: list[Any], number: int | None, source: Path | Content) -> Any:
    if number is None and len(maps) == 1:
        return maps[0]
    if number is None or not 1 <= number <= len(maps):
        raise InputError(
            f"{_path(source)}: holds {len(maps)} maps; choose one with --candidate-annotator 1 … {len(maps)}"
        )
    return maps[number - 1]
