"""The figure of the noise study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgecritic.detectors import detect
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.studies.claims import count_claims
from edgecritic.studies.noise import NoiseStudy, published
from edgecritic.studies.noise_scenes import NoiseTask, degraded

__all__ = ["noise_report"]

_SHOWN = ("sobel", "canny", "steerable(order=5", "anisotropic", "half_gaussian")


def noise_report(study: NoiseStudy, *, figure: bool = True, tasks: Sequence[NoiseTask] = ()) -> Report:
    """Make text, tables and, if wanted, the figure of the noise study; `tasks` are those that were judged."""
    claims = published(study)
    level = _level(study)
    order = np.argsort(study.mean_ranks().mean(axis=0), kind="stable")
    means: list[tuple[Content, ...]] = [
        (study.detectors[place], *map(float, study.mean_ranks()[:, place])) for place in order
    ]
    ratios = list(study.paper_ratios) or [level]
    ends: list[tuple[Content, ...]] = [
        (name, *(end for snr in ratios for end in study.ends(name, snr))) for name in study.judges
    ]
    column = study.ratios.index(level)
    best: list[tuple[Content, ...]] = [
        (name, *map(float, study.values[column].mean(axis=0)[:, place]))
        for place, name in enumerate(study.measures)
    ]
    return study_report(
        "Detectors in noise" if study.kind == "noise" else "Detectors and blur",
        (*study.findings(), *([count_claims(claims)] if claims else [])),
        facts=(
            ("photos", ", ".join(study.photos))
            if study.photos
            else ("scenes", f"{len(study.seeds)} of {study.size[0]}×{study.size[1]} pixels per level"),
            ("judges", f"{len(study.judges)} measures that see false alarms and misses and differ"),
            ("noise", "white, Gaussian; dB = 10·log₁₀(variance of the clean image / of the noise)")
            if study.kind == "noise"
            else ("blur", "Gaussian, σ in pixels"),
        ),
        tables=(
            *([claims_table(claims, paper="Abdulrahman, Magnier and Montesinos 2017")] if claims else []),
            Table(
                name="ranks",
                title=f"Mean rank over {len(study.judges)} measures (1 is best)",
                header=("detector", *map(study.level, study.ratios)),
                body=tuple(means),
                digits=2,
            ),
            Table(
                name="winners",
                title="First and last detector by every measure",
                header=(
                    "measure",
                    *(f"{end}, {study.level(snr)}" for snr in ratios for end in ("first", "last")),
                ),
                body=tuple(ends),
                note="several: equally good or bad.",
            ),
            Table(
                name="best",
                title=f"Mean best values at {study.level(level)}",
                header=("measure", *study.detectors),
                body=tuple(best),
            ),
            _errors(study, level),
        ),
        figures=(_figure(study, level, tasks),) if figure else (),
    )


def _errors(study: NoiseStudy, level: float) -> Table:
    """False alarms and misses of the best maps, on which the paper's words on Φ*, d4, D_p and Δᵏ rest."""
    row = study.ratios.index(level)
    alarms, misses = (table[row].mean(axis=0) for table in (study.false_alarms, study.misses))
    return Table(
        name="errors",
        title=f"False alarms and misses of the best maps at {study.level(level)}",
        header=("measure", *(f"{name}, {what}" for name in study.detectors for what in ("FP", "FN"))),
        body=tuple(
            (name, *(float(table[d, m]) for d in range(len(study.detectors)) for table in (alarms, misses)))
            for m, name in enumerate(study.measures)
        ),
        digits=0,
        note="Pixels under strict overlap, mean over the scenes.",
    )


def _figure(study: NoiseStudy, level: float, tasks: Sequence[NoiseTask]) -> Figure:
    return draw(
        "noise",
        "Ranks and maps",
        f"Left: mean ranks over the levels. Right: ranks at {study.level(level)} by every measure, the best "
        f"in bold. Below: the first {'photo' if study.photos else 'scene'} and the maps that one measure "
        "likes best.",
        lambda figure: _paint(figure, study, level, tasks),
        size=(12, 9.5),
    )


def _paint(figure: Any, study: NoiseStudy, level: float, tasks: Sequence[NoiseTask]) -> None:
    chooser = "sk" if "sk" in study.measures else study.measures[0]
    top, bottom = figure.subfigures(2, 1, height_ratios=(3.2, 1))
    left, right = top.subplots(1, 2, width_ratios=(1, 1.25))
    study.plot(left)
    _draw_ranks(top, right, study, level)
    shown = [task for task in tasks if (task.snr, task.seed) == (level, study.seeds[0])]
    if shown:
        _draw_maps(bottom, study, shown[0], chooser)


def _level(study: NoiseStudy) -> float:
    return 4.0 if 4.0 in study.paper_ratios else study.ratios[len(study.ratios) // 2]


def _draw_ranks(figure: Any, panel: Any, study: NoiseStudy, level: float) -> None:
    judges = study.judges
    columns = [study.measures.index(name) for name in judges]
    ranks = study.ranks()[study.ratios.index(level)].mean(axis=0)[:, columns]
    order = np.argsort(ranks.mean(axis=1), kind="stable")
    shown = ranks[order].T
    image = panel.imshow(shown, cmap="viridis_r", vmin=1, vmax=len(study.detectors), aspect="auto")
    for row, column in np.ndindex(*shown.shape):
        dark = shown[row, column] > len(study.detectors) / 2
        best = shown[row, column] == shown[row].min()
        panel.text(
            column,
            row,
            f"{shown[row, column]:.1f}",
            ha="center",
            va="center",
            fontsize=6,
            weight="bold" if best else "normal",
            color="white" if dark else "black",
        )
    names = [study.detectors[place] for place in order]
    panel.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=6)
    panel.set_yticks(range(len(judges)), judges, fontsize=7)
    panel.set_title(f"rank at {study.level(level)} by every measure, mean of the scenes", fontsize="medium")
    figure.colorbar(image, ax=panel, fraction=0.03)


def _draw_maps(figure: Any, study: NoiseStudy, task: NoiseTask, measure: str) -> None:
    level = task.snr
    names = [name for name in study.detectors if name.startswith(_SHOWN)] or list(study.detectors[:5])
    drawn = degraded(task)
    panels = figure.subplots(1, len(names) + 2, squeeze=False)[0]
    panels[0].imshow(np.clip(drawn.image, 0, 1) if drawn.image.ndim == 3 else drawn.image, cmap="gray")
    panels[0].set_title(f"{(study.photos or ('scene',))[0]} at {study.level(level)}", fontsize=7)
    panels[1].imshow(~drawn.truth, cmap="gray", vmin=0, vmax=1)
    panels[1].set_title("truth", fontsize=7)
    ratio, column = study.ratios.index(level), study.measures.index(measure)
    for panel, name in zip(panels[2:], names, strict=True):
        place = study.detectors.index(name)
        threshold = float(study.thresholds[ratio, 0, place, column])
        value = study.values[ratio, 0, place, column]
        panel.imshow(~detect(drawn.image, name).binary(threshold), cmap="gray", vmin=0, vmax=1)
        panel.set_title(f"{name}\n{measure} {value:.3g} at {threshold:.2g}", fontsize=7)
    for panel in panels:
        panel.set_xticks([])
        panel.set_yticks([])
