"""The reports of the study of pairing."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.figures import COLOURS
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.run.studies import PairingStudy

__all__ = ["pairing_report", "pairing_times_report"]


def pairing_report(study: PairingStudy) -> Report:
    """Make text, tables and figures of the pairing study, without its times."""
    findings = []
    tables = []
    for one in study.accuracy:
        r = {name: [row[place] for row in one.pearson] for place, name in enumerate(one.methods)}
        eps = [value for value in r["eps"] if value is not None]
        smallest = ", ".join(
            f"{name} {values[0]:.3f}" for name, values in r.items() if values and values[0] is not None
        )
        findings.append(
            f"{one.data}: EPS correlates with the Hungarian method by {min(eps):.3f} to {max(eps):.3f}"
            + (f"; at side {one.sides[0]}: {smallest}." if smallest else ".")
            if eps
            else f"{one.data}: the figures of merit do not vary, there is no correlation to tell."
        )
        rows: list[tuple[Content, ...]] = [
            (side, number, *line)
            for side, number, line in zip(one.sides, one.samples, one.pearson, strict=True)
        ]
        tables.append(
            Table(
                name=f"accuracy-{one.data}",
                title=f"Pearson's r with the Hungarian figure of merit, {one.data}",
                header=("side", "sub-images", *one.methods),
                body=tuple(rows),
            )
        )
    return study_report(
        "How good is cheap pairing?",
        tuple(findings),
        facts=(("window", "5"), ("figure of merit", "Σ 1/(1 + d²/9) / max(|G|, |D|)")),
        tables=tuple(tables),
        figures=(_accuracy(study),),
    )


def pairing_times_report(study: PairingStudy) -> Report:
    """Make text, table and figure of what the pairing study has timed; no two runs give the same."""
    slopes = _slopes(study)
    text = ", ".join(f"{name} {ndim}-D {slope:.2f}" for (name, ndim), slope in slopes.items())
    table = Table(
        name="times",
        title="Time of one matching",
        header=("method", "dimensions", "points", "milliseconds"),
        body=tuple((one.method, one.ndim, one.points, 1000 * one.seconds) for one in study.times),
    )
    return study_report(
        "How fast is pairing on this machine?",
        (f"Growth of time with the number of points (exponent): {text}.",) if slopes else (),
        tables=(table,),
        figures=(_times(study),),
    )


def _slopes(study: PairingStudy) -> dict[tuple[str, int], float]:
    """Return the exponents of time over points in the upper half of the sizes."""
    found = {}
    for key in dict.fromkeys((one.method, one.ndim) for one in study.times):
        points = [(one.points, one.seconds) for one in study.times if (one.method, one.ndim) == key]
        upper = points[len(points) // 2 - 1 :] if len(points) > 2 else points
        if len(upper) > 1:
            x, y = np.log([n for n, _ in upper]), np.log([max(s, 1e-9) for _, s in upper])
            found[key] = float(np.polyfit(x, y, 1)[0])
    return found


def _accuracy(study: PairingStudy) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots(1, len(study.accuracy), sharey=True, squeeze=False)[0]
        for axis, one in zip(axes, study.accuracy, strict=True):
            one.plot(axis)
        axes[0].set_ylabel("Pearson's r with Hungarian")
        axes[-1].legend(frameon=False, loc="lower right")

    return draw(
        "accuracy",
        "Agreement with the optimal assignment",
        "Correlation of each figure of merit with that of the Hungarian method over the sub-images.",
        paint,
        size=(4.4 * len(study.accuracy) + 1, 3.6),
    )


def _times(study: PairingStudy) -> Figure:
    names = list(dict.fromkeys(one.method for one in study.times))

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, ndim in zip(axes, (2, 3), strict=True):
            for number, name in enumerate(names):
                rows = [one for one in study.times if one.method == name and one.ndim == ndim]
                if rows:
                    xs, ys = [one.points for one in rows], [one.seconds for one in rows]
                    axis.loglog(xs, ys, "o-", ms=4, color=COLOURS[number % len(COLOURS)], label=name)
            axis.set_title(f"{ndim}-D", fontsize=9)
            axis.set_xlabel("points")
            axis.grid(color="#dddddd", linewidth=0.6)
            axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axis.yaxis.set_major_formatter(lambda value, _: f"{1000 * value:g}")
            axis.minorticks_off()
        axes[0].set_ylabel("milliseconds")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        "times",
        "Time over the number of correspondences",
        "Point sets with a perfect pairing inside a window of 5, at constant density. fom pairs nothing, "
        "it looks for the nearest truth pixel; hungarian works group by group of connected pixels, "
        "dense on all at once.",
        paint,
        size=(10, 3.8),
    )
