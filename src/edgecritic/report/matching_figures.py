"""The figures of the matching study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.datasets.files import read_image
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS
from edgecritic.inputs import BoolArray
from edgecritic.matching import Matching
from edgecritic.report.sections import Figure, draw
from edgecritic.studies.blocks import Source
from edgecritic.studies.matching import STRATEGY_PAIRS, MatchingStudy
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.triplets import Triplet, disputed_areas, judge_triplet

__all__ = ["TITLES", "WHERE", "find_triplet", "matching_figures", "panel_figure", "triplet_figures"]

TITLES = {
    "human": "human maps",
    "canny": "human against Canny maps",
    "own": "your maps against the truths",
}
WHERE = {"intra": "within images", "inter": "across images"}

VALIDATED, UNMATCHED, TRUTH = (0, 158, 115), (204, 60, 140), (0, 114, 178)
"""Green, pink and blue, as the survey's Fig. 7 has them."""


def matching_figures(studies: Sequence[MatchingStudy]) -> list[Figure]:
    """Draw correlations, Equal-Sorting Ratios and Sorting Margins (Figs. 1, 2, 4 and 5)."""
    return [
        _lines(studies, "pearson", "Pearson's r", "Correlation of F between strategies"),
        _lines(studies, "esr", "Equal-Sorting Ratio", "How often two strategies sort alike"),
        *(
            _margins(study, kind)
            for study in studies
            for kind in WHERE
            if any(key[3] == kind and one["triplets"] for key, one in study.margins.items())
        ),
    ]


def panel_figure(cases: Sequence[Case], *, most: int = 4) -> Figure | None:
    """Draw photo, truth and two Canny maps of the first images that have a photo, as Fig. 3 of the survey."""
    shown = [case for case in cases if case.image is not None][:most]
    if not shown:
        return None
    settings = ("canny(1,1)", "canny(2,2)")

    def paint(figure: Any) -> None:
        axes = figure.subplots(2 + len(settings), len(shown), squeeze=False)
        for column, case in zip(axes.T, shown, strict=True):
            human = next(iter(case.load_truths()))
            canny = Source.of(case, kind="canny").load()
            maps = [canny[f"{case.id}#{name}"] for name in settings]
            column[0].imshow(_photo(case, human.shape), cmap="gray")
            column[0].set_title(case.id, fontsize=8)
            for axis, one in zip(column[1:], (human, *maps), strict=True):
                axis.imshow(_upright(one, human.shape), cmap="gray_r", interpolation="nearest")
        for axis, label in zip(axes[:, 0], ("photo", "annotator 1", *settings), strict=True):
            axis.set_ylabel(label, fontsize=8)
        for axis in axes.flat:
            axis.set_xticks([])
            axis.set_yticks([])

    return draw(
        "panels",
        "Photo, truth and Canny maps",
        f"As Fig. 3 of the survey: the first {len(shown)} images that have a photo, the map of their first "
        "annotator, and Canny maps with two scales (of smoothing, of differentiation).",
        paint,
        size=(2.6 * len(shown) + 0.4, 7.2),
        kinds=("png",),
    )


def find_triplet(
    cases: Sequence[Case], reference: str, candidates: Sequence[str], *, tolerance: float
) -> Triplet:
    """Load three maps, named ``image#number`` or ``image#canny(1,2)``, and match them."""
    first, second = candidates
    return judge_triplet(
        (reference, _map(cases, reference)),
        [(first, _map(cases, first)), (second, _map(cases, second))],
        tolerance=tolerance,
    )


def triplet_figures(cases: Sequence[Case], triplet: Triplet, *, name: str, why: str) -> list[Figure]:
    """Draw a triplet as Figs. 6 and 7 of the survey; `why` says why it is this one."""
    return [_triplet_maps(cases, triplet, name, why), _triplet_matchings(triplet, name, why)]


def _triplet_maps(cases: Sequence[Case], triplet: Triplet, name: str, why: str) -> Figure:
    one, two = next(iter(triplet.matchings.values()))
    case = next(case for case in cases if case.id == triplet.reference.rpartition("#")[0])

    def paint(figure: Any) -> None:
        pictures = [(triplet.reference, one.truth)]
        pictures += list(zip(triplet.candidates, (one.candidate, two.candidate), strict=True))
        photo = None if case.image is None else _photo(case, one.truth.shape)
        axes = figure.subplots(1, len(pictures) + (photo is not None), squeeze=False)[0]
        if photo is not None:
            axes[0].imshow(photo, cmap="gray")
            axes[0].set_title("photo", fontsize=8)
        for axis, (label, mask) in zip(axes[photo is not None :], pictures, strict=True):
            axis.imshow(mask, cmap="gray_r", interpolation="nearest")
            axis.set_title(label, fontsize=8)
        for axis in axes:
            axis.set_xticks([])
            axis.set_yticks([])

    return draw(
        f"{name}-maps",
        f"A reference and two candidates: {triplet.reference}",
        f"As Fig. 6 of the survey: {why}.",
        paint,
        size=(11, 2.3),
        kinds=("png",),
    )


def _triplet_matchings(triplet: Triplet, name: str, why: str) -> Figure:
    both = [[found[k] for found in triplet.matchings.values()] for k in (0, 1)]
    areas = [disputed_areas(found) for found in both]

    def paint(figure: Any) -> None:
        rows = [(k, area) for k in (0, 1) for area in (None, *areas[k])]
        axes = figure.subplots(len(rows), len(triplet.matchings), squeeze=False)
        for line, (k, area) in zip(axes, rows, strict=True):
            for axis, strategy, found in zip(line, triplet.matchings, both[k], strict=True):
                picture = _coloured(found)
                axis.imshow(picture if area is None else picture[area], interpolation="nearest")
                axis.set_xticks([])
                axis.set_yticks([])
                if area is None:
                    axis.set_title(f"{strategy}: F {found.f():.3f}", fontsize=8)
                    _frames(axis, areas[k])
            line[0].set_ylabel(triplet.candidates[k] if area is None else _place(area), fontsize=7)

    (first, second), least = min(triplet.margins.items(), key=lambda item: item[1])
    zooms = sum(len(found) for found in areas)
    return draw(
        name,
        f"Two candidates against {triplet.reference} under all strategies",
        f"As Fig. 7 of the survey, tolerance {triplet.tolerance:g} px; {why}. Pixels of the candidate are "
        "green where they are validated and pink where not, the truth is blue. The least Sorting Margin is "
        f"{least:.4f} ({first}–{second}). "
        + (
            f"Frames, enlarged below, hold most pixels on which strategies differ ({zooms})." if zooms else ""
        ),
        paint,
        size=(11, 2.0 * 2 + 2.4 * zooms + 0.3),
        kinds=("png",),
    )


def _coloured(found: Matching) -> NDArray[np.uint8]:
    picture = np.full((*found.truth.shape, 3), 255, dtype=np.uint8)
    picture[found.truth] = TRUTH
    picture[found.candidate & ~found.matched_candidate] = UNMATCHED
    picture[found.matched_candidate] = VALIDATED
    return picture


def _frames(axis: Any, areas: Sequence[tuple[slice, slice]]) -> None:
    for rows, columns in areas:
        xs = np.array([columns.start, columns.stop, columns.stop, columns.start, columns.start]) - 0.5
        ys = np.array([rows.start, rows.start, rows.stop, rows.stop, rows.start]) - 0.5
        axis.plot(xs, ys, color="black", linewidth=0.8)


def _place(area: tuple[slice, slice]) -> str:
    rows, columns = area
    return f"rows {rows.start}–{rows.stop - 1}, columns {columns.start}–{columns.stop - 1}"


def _photo(case: Case, shape: tuple[int, ...]) -> NDArray[np.float64]:
    if case.image is None:
        raise InputError(f"{case.id} has no photo")
    return _upright(read_image(case.image), shape)


def _upright(picture: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Turn what was laid on its side for comparisons back, or a photo beside maps that were."""
    return picture if picture.shape == shape else picture.T


def _lines(studies: Sequence[MatchingStudy], key: str, label: str, title: str) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots(1, 2 * len(studies), sharey=True, squeeze=False)[0]
        for place, axis in enumerate(axes):
            study, kind = studies[place // 2], ("intra", "inter")[place % 2]
            study.plot(axis, what=key, kind=kind)
        axes[0].set_ylabel(label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        key,
        title,
        f"{label} for all pairs of strategies over the tolerance.",
        paint,
        size=(3.2 * len(studies) + 5.2, 3.4),
    )


def _margins(study: MatchingStudy, kind: str) -> Figure:
    def paint(figure: Any) -> None:
        tolerances = sorted({row.tolerance for row in study.results})
        axes = figure.subplots(1, len(tolerances), sharey=True, squeeze=False)[0]
        for axis, tolerance in zip(axes, tolerances, strict=True):
            for number, (i, j) in enumerate(STRATEGY_PAIRS):
                found = study.margins[STRATEGIES[i], STRATEGIES[j], tolerance, kind]
                counts = np.array([*found["counts"], 0], dtype=float) / max(found["triplets"], 1)
                edges = -found["bin"] * np.arange(counts.size + 1)
                label = f"{STRATEGIES[i]}–{STRATEGIES[j]}"
                axis.stairs(counts[::-1], edges[::-1], color=COLOURS[number], label=label, linewidth=1.4)
            axis.set_title(f"t = {tolerance:g}", fontsize=9)
            axis.set_xlabel("sorting margin")
            axis.set_yscale("symlog", linthresh=1e-3)
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.minorticks_off()
        axes[0].set_ylabel("share of triplets")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        f"margins-{study.maps}" + ("" if kind == "intra" else "-inter"),
        f"Sorting margins below 0, {TITLES[study.maps]}, {kind}-class",
        f"Triplets {WHERE[kind]} that two strategies sort oppositely, by the size of the disagreement, as "
        "Fig. 5 of the survey.",
        paint,
        size=(10.5, 3.2),
    )


def _map(cases: Sequence[Case], name: str) -> BoolArray:
    image, _, number = name.rpartition("#")
    case = next((one for one in cases if one.id == image), None)
    if case is None:
        raise InputError(f"no image is called {image!r}; maps are named IMAGE#NUMBER or IMAGE#canny(1,2)")
    maps = Source.of(case, kind="canny" if number.startswith("canny") else "human").load()
    if name not in maps:
        raise InputError(f"{image} has no map {number!r}; it has {', '.join(maps)}")
    return maps[name]
