"""The report of the study of choosing edge maps without truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.measures.unsupervised import line_patterns, window_likeness
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.studies.claims import count_claims
from edgecritic.studies.complexity import CHOOSERS, MEASURES, ComplexityStudy, ImageCurves, map_at
from edgecritic.values import Value

__all__ = ["Shown", "complexity_report"]

_PAPER = "Gimenez, Martinez & Flesia 2014"
_TABLE3 = "Table 3; the maps of BSDS500 are not the paper's, no way to draw them gives its H"


class Shown(Value):
    """An image that the report draws.

    Attributes
    ----------
    curves : ImageCurves
    photo : array
    truths : tuple of bool array
        Those that `curves` was judged against, in that order.
    reason : str
        Why it is this image.
    crop : (top, left, bottom, right), optional
        The part that is drawn once more, enlarged.
    """

    _hidden = ("photo", "truths")

    curves: ImageCurves
    photo: NDArray[np.float64]
    truths: tuple[BoolArray, ...]
    reason: str
    crop: tuple[int, int, int, int] | None = None


def complexity_report(
    study: ComplexityStudy,
    *,
    shown: Sequence[Shown] = (),
    patterns: NDArray[np.bool_] | None = None,
    problems: Sequence[str] = (),
) -> Report:
    """Make text, tables and figures of the study, those of single images for what is `shown`."""
    claims, table3 = study.claims(), study.table3()
    drawings = [_boxes(study)]
    for one in shown:
        drawings += [_curves(one), _choices(one)]
        if one.crop is not None:
            drawings.append(_choices(one, one.crop))
        if len(one.truths) > 1:
            drawings.append(_by_annotator(one))
    family = line_patterns(7) if patterns is None else patterns
    drawings.append(_patterns(family))
    if shown:
        drawings.append(_windows(shown[0], family))
    return study_report(
        "Choosing edge maps without truth",
        (*_findings(study), count_claims(claims)),
        facts=(
            ("images", str(len(study.images))),
            ("detectors", ", ".join(study.detectors)),
            ("patterns", f"{len(family)} of {family.shape[1]} × {family.shape[2]} pixels"),
        ),
        tables=(
            claims_table(claims, paper=_PAPER),
            *((claims_table(table3, paper=_TABLE3, name="table3"),) if table3 else ()),
            _means(study),
            *(_best(one) for one in shown),
            *(_annotator_table(one) for one in shown if len(one.truths) > 1),
            _truths(study),
        ),
        figures=tuple(drawings),
        problems=tuple(problems),
    )


def _findings(study: ComplexityStudy) -> list[str]:
    lines = []
    for name in CHOOSERS[1:]:
        lost = study.loss(name)
        best = study.chosen_values[:, :, CHOOSERS.index(name), MEASURES.index(name)]
        share = 1 - lost.sum() / best.sum() if best.sum() > 0 else float("nan")
        lines.append(
            f"The map that C chooses without truth has {share:.0%} of the best {name} of its detector; "
            f"it loses {np.median(lost):.3f} in the median."
        )
    lines.append(
        f"C is largest inside the grid of parameters, not at its ends, in {study.inside:.0%} of the cases."
    )
    detail = study.most_detailed_wins()
    if detail is not None:
        lines.append(f"The most detailed truth of an image has the largest C in {detail:.0%} of the images.")
    return lines


def _means(study: ComplexityStudy) -> Table:
    rows: list[tuple[Content, ...]] = []
    for d, detector in enumerate(study.detectors):
        for c, chooser in enumerate(CHOOSERS):
            thresholds = [one.thresholds[d][study.choices[i, d, c]] for i, one in enumerate(study.curves)]
            means = study.chosen_values[:, d, c].mean(axis=0)
            rows.append(
                (f"{detector}, chosen by {chooser}", float(np.mean(thresholds)), *(float(v) for v in means))
            )
    return Table(
        name="choices",
        title="What each score chooses, mean over images",
        header=("detector and chooser", "threshold", *MEASURES),
        body=tuple(rows),
    )


def _best(one: Shown) -> Table:
    """Return Tables 1 and 2 of the paper for an image."""
    curves = one.curves
    rows: list[tuple[Content, ...]] = []
    for d, detector in enumerate(curves.detectors):
        for chooser in CHOOSERS:
            place = curves.choice(d, chooser)
            values = (float(value) for value in curves.values[d, place])
            rows.append((detector, chooser, float(curves.thresholds[d, place]), *values))
    return Table(
        name=f"best-{curves.image}",
        title=f"Image {curves.image}: the best map of every detector",
        header=("detector", "chosen by", "threshold", *MEASURES),
        body=tuple(rows),
        align="llr",
        note="As Tables 1 and 2 of the paper. Canny's low threshold is 0.4 of the one given. "
        "PFoM and Q_B are the largest over the truths.",
    )


def _annotator_choices(one: Shown) -> list[tuple[str, int]]:
    """Return what each score chooses of Canny's maps with each collection of truths: places on the grid."""
    curves = one.curves
    canny = curves.detectors.index("canny")
    order = curves.detail
    found = [("C, no truth", curves.choice(canny, "C"))]
    found += [(f"PFoM, truth {place + 1}", curves.against([place]).choice(canny, "PFoM")) for place in order]
    found.append(("Q_B, all truths", curves.choice(canny, "Q_B")))
    rest = curves.against(sorted(order[1:]))
    found.append((f"Q_B, all but truth {order[0] + 1}", rest.choice(canny, "Q_B")))
    return found


def _annotator_table(one: Shown) -> Table:
    curves = one.curves
    canny = curves.detectors.index("canny")
    return Table(
        name=f"annotators-{curves.image}",
        title=f"Image {curves.image}: Canny's map chosen with each truth",
        header=("chosen by", "threshold", "edge pixels", "E", "H", "C"),
        body=tuple(
            (
                name,
                float(curves.thresholds[canny, place]),
                int(curves.sizes[canny, place]),
                *(float(value) for value in curves.alone[canny, place]),
            )
            for name, place in _annotator_choices(one)
        ),
        note="As the second experiment of the paper; truths from the most detailed to the least.",
    )


def _truths(study: ComplexityStudy) -> Table:
    rows: list[tuple[Content, ...]] = [
        (one.image, place, int(pixels), e, h, c)
        for one in study.curves
        for place, (e, h, c, pixels) in enumerate(one.truths.tolist(), start=1)
    ]
    return Table(
        name="truths",
        title="E, H and C of the truths themselves",
        header=("image", "truth", "edge pixels", "E", "H", "C"),
        body=tuple(rows),
        most=20,
        note="As Table 3 of the paper.",
    )


def _curves(one: Shown) -> Figure:
    curves = one.curves

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, len(curves.detectors), sharey=True, squeeze=False)[0]
        for d, axis in enumerate(axes):
            curves.plot(axis, detector=d)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        f"curves-{curves.image}",
        f"All measures over the grids, image {curves.image}",
        f"E, H and C = E·H need no truth; PFoM and Q_B do. Grey line: the choice of C. {one.reason}",
        paint,
        size=(12, 2.9),
    )


def _choices(one: Shown, crop: tuple[int, int, int, int] | None = None) -> Figure:
    curves = one.curves
    part = (slice(None), slice(None)) if crop is None else (slice(crop[0], crop[2]), slice(crop[1], crop[3]))

    def paint(figure: Any) -> None:
        axes = figure.subplots(len(CHOOSERS), 1 + len(curves.detectors), squeeze=False)
        most = one.truths[curves.detail[0]]
        axes[0, 0].imshow(np.clip(one.photo[part], 0, 1), cmap="gray")
        axes[0, 0].set_title(f"photo {curves.image}", fontsize=8)
        _ink(axes[1, 0], most[part], "the most detailed truth" if len(one.truths) > 1 else "truth")
        axes[2, 0].set_visible(False)
        for d, detector in enumerate(curves.detectors, start=1):
            for c, chooser in enumerate(CHOOSERS):
                place = curves.choice(d - 1, chooser)
                value = curves.values[d - 1, place, MEASURES.index(chooser)]
                title = f"{detector} {curves.thresholds[d - 1, place]:.3g}, {chooser} {value:.3f}"
                _ink(axes[c, d], map_at(one.photo, curves, d - 1, place)[part], title)
        _bare(axes)

    height, width = one.photo[part].shape[:2]
    return draw(
        f"choices-{curves.image}{'' if crop is None else '-crop'}",
        f"The maps that C, PFoM and Q_B choose, image {curves.image}"
        + ("" if crop is None else ", enlarged"),
        f"One row for each score that chooses; above each map its threshold and that score. {one.reason}",
        paint,
        size=(13, min(30.0, 3 * (2.1 * height / width + 0.25))),
        kinds=("png",),
    )


def _by_annotator(one: Shown) -> Figure:
    curves = one.curves
    canny = curves.detectors.index("canny")
    chosen = _annotator_choices(one)
    columns = max(len(chosen), len(one.truths))

    def paint(figure: Any) -> None:
        axes = figure.subplots(2, columns, squeeze=False)
        for axis, (name, place) in zip(axes[0], chosen, strict=False):
            title = f"{name}\nT {curves.thresholds[canny, place]:.2f}"
            _ink(axis, map_at(one.photo, curves, canny, place), title)
        for axis, place in zip(axes[1], curves.detail, strict=False):
            _ink(axis, one.truths[place], f"truth {place + 1}\nC {curves.truths[place, 2]:.3f}")
        for axis in (*axes[0, len(chosen) :], *axes[1, len(one.truths) :]):
            axis.set_visible(False)
        _bare(axes)

    height, width = one.photo.shape[:2]
    return draw(
        f"annotators-{curves.image}",
        f"Canny's maps chosen with each truth, image {curves.image}",
        f"Above the maps, below the truths from the most detailed to the least, with their C. {one.reason}",
        paint,
        size=(2.1 * columns, 2 * (2.1 * height / width + 0.5)),
        kinds=("png",),
    )


def _boxes(study: ComplexityStudy) -> Figure:
    def paint(figure: Any) -> None:
        for axis, name in zip(figure.subplots(1, 3), CHOOSERS, strict=True):
            study.plot(axis, measure=name)

    return draw(
        "boxes",
        "Best values over the data set",
        "Left: the largest C of each detector. Middle and right: PFoM and Q_B of the map that C chooses, "
        "beside the best that the grid offers.",
        paint,
        size=(11, 3.4),
    )


def _patterns(family: NDArray[np.bool_]) -> Figure:
    side = family.shape[1]
    columns = min(20, len(family))
    rows = -(-len(family) // columns)

    def paint(figure: Any) -> None:
        sheet = np.full((rows * (side + 2) + 2, columns * (side + 2) + 2), 0.75)
        for number, pattern in enumerate(family):
            y, x = (2 + (side + 2) * place for place in divmod(number, columns))
            sheet[y : y + side, x : x + side] = ~pattern
        axis = figure.subplots()
        axis.imshow(sheet, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
        axis.set_axis_off()

    return draw(
        "patterns",
        f"The {len(family)} patterns of the equilibrium",
        f"Windows of {side} × {side} pixels; the likeness of a window is its best cosine with one of these.",
        paint,
        size=(9, max(0.8, 9 * rows / columns)),
        kinds=("png",),
    )


def _windows(one: Shown, family: NDArray[np.bool_], number: int = 10) -> Figure:
    """Draw windows of Sobel's map at the choice of C, from the least to the best likeness."""
    curves, half = one.curves, family.shape[1] // 2
    sobel = curves.detectors.index("sobel")
    edges = map_at(one.photo, curves, sobel, curves.choice(sobel, "C"))
    seen = np.lib.stride_tricks.sliding_window_view(np.pad(edges, half), family.shape[1:])
    places = np.argwhere(edges)
    windows = seen[places[:, 0], places[:, 1]]
    likeness = window_likeness(windows, family)
    order = np.argsort(likeness, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, number).round().astype(int)] if len(order) else order

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, max(1, len(chosen)), squeeze=False)
        for axis, place in zip(axes[0], chosen, strict=False):
            _ink(axis, windows[place], f"{likeness[place]:.3f}")
        _bare(axes)

    return draw(
        "windows",
        f"Windows of Sobel's map of image {curves.image} and their Q_B",
        "Around edge pixels, at even ranks from the least likeness to the best; E is the mean over all.",
        paint,
        size=(10, 1.4),
        kinds=("png",),
    )


def _ink(axis: Any, edges: BoolArray, title: str) -> None:
    axis.imshow(~edges, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
    axis.set_title(title, fontsize=8)


def _bare(axes: Any) -> None:
    for axis in axes.ravel():
        axis.set_xticks([])
        axis.set_yticks([])
