"""The report of the displacement study."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Figure, Report, Table, draw, study_report
from edgecritic.studies.claims import count_claims
from edgecritic.studies.displacement import Displacement, family_order, published

__all__ = ["displacement_report", "displacement_figure"]


def displacement_report(study: Displacement, *, figure: bool = True) -> Report:
    """Make text, table and, if wanted, the figure of the displacement study."""
    last = int(study.shifts[-1])
    claims = published(study)
    curves = study.rows()
    return study_report(
        "How measures grow with displacement",
        (*_findings(study), count_claims(claims)),
        facts=(
            ("lines", f"one that is found, one 0 to {last} pixels beside it"),
            ("…_star", "complements of similarities, 0 at best, as the paper prints them"),
        ),
        tables=(
            claims_table(claims, paper="the paper on ground truth and measures"),
            Table(
                name="values",
                title=f"Values at 0, 1 and {last} pixels; the moved line is false (FP) or missed (FN)",
                header=("measure", *(f"{kind} {shift}" for kind in ("FP", "FN") for shift in (0, 1, last))),
                body=tuple(
                    (name, *(float(curve[place]) for curve in study.curves(name) for place in (0, 1, -1)))
                    for name in study.measures
                ),
            ),
            Table.of_rows(curves, name="curves", title="All curves", most=6, folded=True),
        ),
        figures=tuple(displacement_figure(study, printed=printed) for printed in (False, True))
        if figure
        else (),
    )


def displacement_figure(study: Displacement, *, printed: bool = False) -> Figure:
    """Draw the normalised curves of all measures, one row of panels per family.

    With `printed` curves are normalised by equation (5) to the letter; those in pixels grow beyond 1 then.
    """
    scale = "by equation (5) to the letter: curves in pixels are left as they are" if printed else "to [0, 1]"
    return draw(
        "displacement-printed" if printed else "displacement",
        f"Values over the displacement{', normalised as printed' if printed else ''}",
        f"Left: the moved line is a false alarm. Right: it is missed. Curves are normalised {scale}.",
        lambda figure: _paint(figure, study, printed),
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


def _paint(figure: Any, study: Displacement, printed: bool) -> None:
    families = family_order(study)
    shared = "row" if printed else True
    panels = figure.subplots(len(families), 2, sharex=True, sharey=shared, squeeze=False)
    for row, family in zip(panels, families, strict=True):
        study.plot(row[0], family=family, kind="false alarms", printed=printed)
        study.plot(row[1], family=family, kind="misses", printed=printed)
        for panel in row:
            panel.label_outer()
        row[0].get_legend().remove()
