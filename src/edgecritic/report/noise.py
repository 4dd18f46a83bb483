"""The figure of the noise study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecritic.detectors import detect
from edgecritic.report.tuning import COLOURS, new_figure
from edgecritic.run.files import write_text
from edgecritic.studies.noise import NoiseStudy, noisy_scene

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["draw_noise", "write_noise"]

_SHOWN = ("sobel", "canny", "steerable(order=5", "anisotropic", "half_gaussian")


def draw_noise(
    study: NoiseStudy, path: str | PathLike[str], *, snr: float | None = None, measure: str = "sk"
) -> None:
    """Draw mean ranks over noise levels, ranks by every measure at one level, and best maps there.

    Parameters
    ----------
    study : NoiseStudy
    path : path
        The ending says the format: ``.png``, ``.svg``, ``.pdf``.
    snr : float, optional
        The level of the ranks and maps; 4 dB if it was studied, else the middle one.
    measure : str
        The measure that chooses the maps; the first one if it was not computed.
    """
    level = snr if snr is not None else _level(study)
    chooser = measure if measure in study.measures else study.measures[0]
    figure = new_figure(12, 9.5)
    top, bottom = figure.subfigures(2, 1, height_ratios=(3.2, 1))
    left, right = top.subplots(1, 2, width_ratios=(1, 1.25))
    _draw_levels(left, study)
    _draw_ranks(top, right, study, level)
    _draw_maps(bottom, study, level, chooser)
    figure.savefig(path, dpi=150)


def _level(study: NoiseStudy) -> float:
    return 4.0 if 4.0 in study.ratios else study.ratios[len(study.ratios) // 2]


def _draw_levels(panel: Any, study: NoiseStudy) -> None:
    means = study.mean_ranks()
    order = np.argsort(means.mean(axis=0), kind="stable")
    for place in order:
        style = "-" if place < len(COLOURS) else "--"
        colour = COLOURS[place % len(COLOURS)]
        panel.plot(study.ratios, means[:, place], style, marker="o", ms=3, color=colour)
        panel.annotate(
            study.detectors[place],
            (study.ratios[-1], means[-1, place]),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=colour,
        )
    panel.invert_yaxis()
    panel.margins(x=0.05)
    panel.spines[["top", "right"]].set_visible(False)
    panel.set(xlabel="signal-to-noise ratio (dB)", ylabel="mean rank (1 is best)")
    panel.set_title(f"{len(study.judges)} measures, {len(study.seeds)} scenes", fontsize="medium")


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
    panel.set_title(f"rank at {level:g} dB by every measure, mean of the scenes", fontsize="medium")
    figure.colorbar(image, ax=panel, fraction=0.03)


def _draw_maps(figure: Any, study: NoiseStudy, level: float, measure: str) -> None:
    names = [name for name in study.detectors if name.startswith(_SHOWN)] or list(study.detectors[:5])
    drawn = noisy_scene(level, study.seeds[0], study.size)
    panels = figure.subplots(1, len(names) + 2, squeeze=False)[0]
    panels[0].imshow(drawn.image, cmap="gray")
    panels[0].set_title(f"scene at {level:g} dB", fontsize=7)
    panels[1].imshow(~drawn.truth, cmap="gray", vmin=0, vmax=1)
    panels[1].set_title("truth", fontsize=7)
    ratio, column = study.ratios.index(level), study.measures.index(measure)
    for panel, name in zip(panels[2:], names, strict=True):
        place = study.detectors.index(name)
        threshold = float(study.thresholds[ratio, 0, place, column])
        value = study.values[ratio, 0, place, column]
        panel.imshow(~detect(name, drawn.image).binary(threshold), cmap="gray", vmin=0, vmax=1)
        panel.set_title(f"{name}\n{measure} {value:.3g} at {threshold:.2g}", fontsize=7)
    for panel in panels:
        panel.set_xticks([])
        panel.set_yticks([])


def write_noise(study: NoiseStudy, folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Write ``noise.txt`` (tables and findings), ``noise.csv`` (all best values) and ``noise.png``."""
    import csv
    import io

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    rows = study.as_dict()["best"]
    table = io.StringIO()
    writer = csv.DictWriter(table, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    findings = "\n".join(f"- {line}" for line in study.findings())
    write_text(home / "noise.txt", f"{study}\n\n{findings}\n")
    write_text(home / "noise.csv", table.getvalue())
    draw_noise(study, home / "noise.png")
    return home / "noise.txt", home / "noise.csv", home / "noise.png"
