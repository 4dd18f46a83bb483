"""The report of the displacement study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from edgecritic.report.document import Document, Drawing, Table, draw
from edgecritic.studies.displacement import Displacement, family_order, normalised

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["displacement_document", "displacement_drawing"]


def displacement_document(study: Displacement, *, figure: bool = True) -> Document:
    """Make text, table and, if wanted, the figure of the displacement study."""
    last = int(study.shifts[-1])
    return Document(
        title="How measures grow with displacement",
        findings=_findings(study),
        facts=(
            ("lines", f"one that is found, one 0 to {last} pixels beside it"),
            ("…_star", "complements of similarities, 0 at best, as the paper prints them"),
        ),
        tables=(
            Table(
                name="values",
                title=f"Values at 0, 1 and {last} pixels; the moved line is false (FP) or missed (FN)",
                header=("measure", *(f"{kind} {shift}" for kind in ("FP", "FN") for shift in (0, 1, last))),
                rows=tuple(
                    (name, *(float(curve[place]) for curve in study.curves(name) for place in (0, 1, -1)))
                    for name in study.measures
                ),
            ),
        ),
        drawings=(displacement_drawing(study),) if figure else (),
    )


def displacement_drawing(study: Displacement) -> Drawing:
    """Draw the normalised curves of all measures, one row of panels per family."""
    return draw(
        "displacement",
        "Values over the displacement",
        "Left: the moved line is a false alarm. Right: it is missed. Curves are brought to one scale.",
        lambda figure: _paint(figure, study),
        size=(10, 3.2 * len(family_order(study))),
    )


def _findings(study: Displacement) -> tuple[str, ...]:
    flat, blind = [], []
    for name in study.measures:
        moved = [curve[1:] for curve in study.curves(name)]
        if any(np.allclose(curve, curve[0]) for curve in study.curves(name)):
            blind.append(name)
        elif all(np.allclose(curve, curve[0]) for curve in moved):
            flat.append(name)
    rising = len(study.measures) - len(flat) - len(blind)
    return (
        f"{rising} of {len(study.measures)} measures see how far false alarms or misses are away.",
        f"Count only, flat after the first pixel: {', '.join(flat) or 'none'}.",
        f"Blind to false alarms or to misses: {', '.join(blind) or 'none'}.",
    )


def _alike(study: Displacement, names: Sequence[str]) -> list[list[str]]:
    """Return the names in groups that have the same curves: one of them would hide the others."""
    groups: list[list[str]] = []
    for name in names:
        mine = normalised(*study.curves(name))
        for group in groups:
            if np.allclose(mine, normalised(*study.curves(group[0])), atol=1e-3):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _paint(figure: Figure, study: Displacement) -> None:
    families = family_order(study)
    panels = figure.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(panels, families, strict=True):
        names = [name for name, own in zip(study.measures, study.families, strict=True) if own == family]
        for index, alike in enumerate(_alike(study, names)):
            # Gaps of the later curves show what lies below them.
            style = ("--", "-.", ":")[index % 3] if index else "-"
            label = ",\n".join(alike)
            for panel, curve in zip(row, normalised(*study.curves(alike[0])), strict=True):
                panel.plot(study.shifts, curve, style, color=f"C{index % 10}", label=label, linewidth=2)
        row[0].set_ylabel("normalised value")
        row[0].set_title(f"{family}: false alarms")
        row[1].set_title(f"{family}: misses")
        row[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    for panel in panels[-1]:
        panel.set_xlabel("displacement (pixels)")
