"""The report of the displacement study."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.report.sections import Figure, Report, Table, draw, study_report
from edgecritic.studies.displacement import Displacement, family_order

__all__ = ["displacement_report", "displacement_figure"]


def displacement_report(study: Displacement, *, figure: bool = True) -> Report:
    """Make text, table and, if wanted, the figure of the displacement study."""
    last = int(study.shifts[-1])
    return study_report(
        "How measures grow with displacement",
        _findings(study),
        facts=(
            ("lines", f"one that is found, one 0 to {last} pixels beside it"),
            ("…_star", "complements of similarities, 0 at best, as the paper prints them"),
        ),
        tables=(
            Table(
                name="values",
                title=f"Values at 0, 1 and {last} pixels; the moved line is false (FP) or missed (FN)",
                header=("measure", *(f"{kind} {shift}" for kind in ("FP", "FN") for shift in (0, 1, last))),
                body=tuple(
                    (name, *(float(curve[place]) for curve in study.curves(name) for place in (0, 1, -1)))
                    for name in study.measures
                ),
            ),
        ),
        figures=(displacement_figure(study),) if figure else (),
    )


def displacement_figure(study: Displacement) -> Figure:
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


def _paint(figure: Any, study: Displacement) -> None:
    families = family_order(study)
    panels = figure.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(panels, families, strict=True):
        study.plot(row[0], family=family, kind="false alarms")
        study.plot(row[1], family=family, kind="misses")
        for panel in row:
            panel.label_outer()
        row[0].get_legend().remove()
