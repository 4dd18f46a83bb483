"""The report on the annotators of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.perceptual import LabelStrength, strength
from edgecritic.errors import EdgeCriticError
from edgecritic.report.document import Document, Drawing, Table, draw, write_document
from edgecritic.report.view import pixels_text
from edgecritic.run.annotators import AnnotatorsRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["annotators_document", "write_annotators", "strength_colours"]

SHOWN = 6
"""So many images are drawn, from the least agreement to the most."""

_COLOURS = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fd9a44")
_PUBLISHED = "BSDS300: orphan labels 29.40 %, consensus labels 28.99 % (Hou, Yuille & Koch 2013)"


def annotators_document(run: AnnotatorsRun, *, pictures: bool = True) -> Document:
    """Make text, tables and figures of an analysis.

    Parameters
    ----------
    run : AnnotatorsRun
    pictures : bool
        Whether images with labels coloured by strength are drawn.
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
    drawings: list[Drawing] = []
    if pictures:
        drawings = [_histogram(results), *_colour_pictures(run)]
    return Document(
        title=f"Annotators of {results['truth']}",
        findings=tuple(findings),
        facts=(
            ("images", str(results["images"])),
            ("maps", str(results["maps"])),
            ("labels", f"{results['labels']:,}"),
            ("tolerance", pixels_text(results["tolerance_pixels"])),
        ),
        tables=tuple(_tables(results)),
        drawings=tuple(drawings),
        problems=tuple(
            [f"{row['id']}: {row['message']}" for row in results["failures"]]
            + [f"{name}: has a single annotator, left out" for name in results["single"]]
        ),
    )


def write_annotators(folder: str | Path, run: AnnotatorsRun) -> tuple[Path, ...]:
    """Write ``report.html``, tables and figures beside ``annotators.json``."""
    return write_document(folder, annotators_document(run), name="annotators")


def strength_colours(found: LabelStrength, photo: Any = None) -> NDArray[np.float64]:
    """Colour every label by its strength, from dark violet (one annotator) to orange (all).

    Where labels of several annotators meet the strongest shows. The photo is shown faintly below.

    Returns
    -------
    (rows, columns, 3) float array in [0, 1]
    """
    shown = np.max(found.strengths, axis=0)
    paper = np.ones((*found.shape, 3))
    if photo is not None and np.shape(photo) == found.shape:
        paper *= 0.6 + 0.4 * np.clip(np.asarray(photo, dtype=np.float64), 0, 1)[..., None]
    palette = np.array([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for code in _COLOURS])
    places = np.linspace(1 / found.annotators, 1, len(_COLOURS))
    for channel in range(3):
        paper[..., channel] = np.where(
            shown > 0, np.interp(shown, places, palette[:, channel]), paper[..., channel]
        )
    return paper


def _tables(results: dict[str, Any]) -> list[Table]:
    per_label = results["per_label"]
    strengths = Table(
        name="strength",
        title="How strong labels are",
        header=("strength", "share of boundaries", "share of labels"),
        rows=(
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
        rows=tuple(
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
        rows=tuple(
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


def _histogram(results: dict[str, Any]) -> Drawing:
    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        names = list(results["strength"])
        both = (("boundaries", results["strength"]), ("labels", results["per_label"]["strength"]))
        for number, (what, shares) in enumerate(both):
            places = np.arange(len(names)) + (number - 0.5) * 0.4
            left.bar(places, [shares[name] for name in names], 0.38, label=f"of {what}")
        left.set_xticks(range(len(names)), names)
        left.set_xlabel("strength (share of annotators)")
        left.set_ylabel("share")
        left.legend(frameon=False)
        right.hist([row["agreement"] for row in results["per_image"]], bins=20, color="#2a788e")
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


def _colour_pictures(run: AnnotatorsRun) -> list[Drawing]:
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


def _panel(run: AnnotatorsRun, row: dict[str, Any]) -> tuple[str, NDArray[np.float64]] | None:
    case = run.cases[row["id"]]
    try:
        found = strength(
            case.load_truths(),
            tolerance=run.results["tolerance"],
            relative_tolerance=run.results["relative_tolerance"],
        )
        photo = None if case.image is None else case.load_image()
    except EdgeCriticError:
        return None
    if len(found.shape) != 2:
        return None
    return f"{row['id']}: F {row['agreement']:.2f}", strength_colours(found, photo)


def _paint_panels(figure: Figure, panels: Sequence[tuple[str, NDArray[np.float64]]]) -> None:
    columns = min(3, len(panels))
    axes = figure.subplots(-(-len(panels) // columns), columns, squeeze=False).ravel()
    for place, axis in enumerate(axes):
        axis.set_axis_off()
        if place < len(panels):
            title, picture = panels[place]
            axis.imshow(picture, interpolation="nearest")
            axis.set_title(title, fontsize=8)
