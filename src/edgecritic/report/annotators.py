"""The report on the annotators of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.annotators.perceptual import LabelStrength, strength
from edgecritic.annotators.plots import share_bars
from edgecritic.errors import EdgeCriticError
from edgecritic.figures import SHADES
from edgecritic.report.sections import Figure, Report, Table, draw, study_report
from edgecritic.report.view import pixels_text
from edgecritic.report.write import write_report
from edgecritic.run.annotators import AnnotatorsRun

__all__ = ["annotators_report", "write_annotators"]

SHOWN = 6
"""So many images are drawn, from the least agreement to the most."""

_PUBLISHED = "BSDS300: orphan labels 29.40 %, consensus labels 28.99 % (Hou, Yuille & Koch 2013)"


def annotators_report(run: AnnotatorsRun, *, pictures: bool = True) -> Report:
    """Make text, tables and figures of an analysis.

    Parameters
    ----------
    run : AnnotatorsRun
    pictures : bool
        Whether figures are drawn and single images listed.
    """
    results = run.results
    human = results["human"]
    agreement = results["agreement"]
    orphans = (
        f"{results['orphan_share']:.2%} of the boundaries were drawn by one annotator only (orphans), "
        f"{results['consensus_share']:.2%} by all annotators of their image."
    )
    pairs = (
        f"Two annotators of one image agree with a mean F of {agreement['mean']:.3f}; between images it goes "
        f"from {agreement['least']:.3f} to {agreement['most']:.3f}."
    )
    findings = [orphans, pairs]
    if human is not None:
        findings.append(
            f"An annotator judged like a detector by the others reaches F {human['f']:.3f} "
            f"(precision {human['precision']:.3f}, recall {human['recall']:.3f})."
        )
    strengths, reached, images = _tables(results)
    figures = [_histogram(results), *_colour_pictures(run)] if pictures else []
    return study_report(
        f"Annotators of {results['truth']}",
        tuple(findings),
        facts=(
            ("images", str(results["images"])),
            ("maps", str(results["maps"])),
            ("labels", f"{results['labels']:,}"),
            ("tolerance", pixels_text(results["tolerance_pixels"], results["tolerance_unit"])),
        ),
        tables=(strengths, reached, *((images,) if pictures else ())),
        figures=figures,
        problems=tuple(
            [f"{row['id']}: {row['message']}" for row in results["failures"]]
            + [f"{name}: has a single annotator, left out" for name in results["single"]]
        ),
    )


def write_annotators(folder: str | Path, run: AnnotatorsRun) -> tuple[Path, ...]:
    """Write ``report.html``, tables and figures beside ``annotators.json``."""
    return write_report(folder, annotators_report(run), name="annotators")


def _tables(results: dict[str, Any]) -> list[Table]:
    per_label = results["per_label"]
    strengths = Table(
        name="strength",
        title="How strong labels are",
        header=("strength", "share of boundaries", "share of labels"),
        body=(
            *((name, results["strength"][name], per_label["strength"][name]) for name in results["strength"]),
            ("orphan (one annotator)", results["orphan_share"], per_label["orphan_share"]),
            ("consensus (all)", results["consensus_share"], per_label["consensus_share"]),
        ),
        note="Strength: share of the annotators who drew it. A boundary counts once (weight 1/(M + 1)), "
        "however many drew it; a label counts once per annotator. Published: " + _PUBLISHED + ".",
    )
    most = max(row["annotators"] for row in results["consensus_at"])
    reached = Table(
        name="consensus",
        title="Boundaries that at least k annotators drew",
        header=("annotators", "images", *(f"k = {k}" for k in range(1, most + 1))),
        body=tuple(
            (
                row["annotators"],
                row["images"],
                *row["at_least"],
                *([None] * (most - row["annotators"])),
            )
            for row in results["consensus_at"]
        ),
    )
    images = Table(
        name="images",
        title="Images, least agreement first",
        header=("image", "annotators", "labels", "orphans", "consensus", "agreement (mean F)"),
        body=tuple(
            (
                row["id"],
                row["annotators"],
                row["labels"],
                row["orphan_share"],
                row["consensus_share"],
                row["agreement"],
            )
            for row in sorted(results["per_image"], key=lambda row: (row["agreement"], row["id"]))
        ),
    )
    return [strengths, reached, images]


def _histogram(results: dict[str, Any]) -> Figure:
    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        share_bars(left, {"boundaries": results["strength"], "labels": results["per_label"]["strength"]})
        right.hist([row["agreement"] for row in results["per_image"]], bins=20, color=SHADES[2])
        right.set_xlabel("mean F between annotators")
        right.set_ylabel("images")
        right.locator_params(axis="y", integer=True)

    return draw(
        "strength",
        "Strength of labels and agreement of annotators",
        "Left: how many of an image's annotators drew a boundary. Right: mean F between the annotators of "
        "each image.",
        paint,
        size=(9, 3.4),
    )


def _colour_pictures(run: AnnotatorsRun) -> list[Figure]:
    rows = sorted(run.results["per_image"], key=lambda row: (row["agreement"], row["id"]))
    chosen = [rows[place] for place in np.unique(np.linspace(0, len(rows) - 1, SHOWN).round().astype(int))]
    panels = [panel for panel in (_panel(run, row) for row in chosen) if panel is not None]
    if not panels:
        return []
    return [
        draw(
            "labels",
            "Labels coloured by strength",
            "From dark violet (drawn by one annotator) to orange (drawn by all); from the image with the "
            "least agreement to that with the most.",
            lambda figure: _paint_panels(figure, panels),
            size=(9, 2.25 * ((len(panels) + 2) // 3)),
            kinds=("png",),
        )
    ]


def _panel(run: AnnotatorsRun, row: dict[str, Any]) -> tuple[str, LabelStrength, Any] | None:
    case = run.cases[row["id"]]
    if run.results["tolerance_unit"] != "px":  # labels of volumes are not drawn
        return None
    try:
        found = strength(
            case.load_truths(rule=run.results["surface"]),
            tolerance=run.results["tolerance"],
            relative_tolerance=run.results["relative_tolerance"],
        )
        photo = None if case.image is None else case.load_image()
    except EdgeCriticError:
        return None
    if len(found.shape) != 2:
        return None
    return f"{row['id']}: F {row['agreement']:.2f}", found, photo


def _paint_panels(figure: Any, panels: Sequence[tuple[str, LabelStrength, Any]]) -> None:
    columns = min(3, len(panels))
    axes = figure.subplots(-(-len(panels) // columns), columns, squeeze=False).ravel()
    for place, axis in enumerate(axes):
        axis.set_axis_off()
        if place < len(panels):
            title, found, photo = panels[place]
            found.plot(axis, photo=photo)
            axis.set_title(title, fontsize=8)
