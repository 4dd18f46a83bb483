"""The reports of the pairing study: what does not change from run to run, and what was timed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.figures import COLOURS
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.run.pairing import PairingStudy
from edgecritic.studies.claims import count_claims
from edgecritic.studies.cuts import point_sets
from edgecritic.studies.pairing import SIDES, TABLE_1, PairCount, PairingAccuracy, claims_of_times, growth
from edgecritic.studies.walkthrough import Walkthrough, Zone, paper_example, walk_through

__all__ = ["pairing_report", "pairing_times_report", "walkthrough_figure"]

PAPER = "Smith and Williams 2020"
_OPEN_MISS, _PAIRED_MISS, _PAIRED_DETECTION, _ZONE, _INK = (
    "#c0392b",
    "#2e8b57",
    "#9a9a9a",
    "#2f6fb3",
    "#222222",
)


def pairing_report(study: PairingStudy, *, figure: bool = True) -> Report:
    """Make text, tables and figures of the pairing study, without its times."""
    claims = study.claims()
    findings = [_accuracy_text(one) for one in study.accuracy]
    findings += [
        f"{one.scene}, {one.points:,} points: {one.method} makes {one.pairs:,} of {one.possible:,} pairs."
        for one in _largest(study)
        if one.pairs is not None and one.method in ("exact", "eps", "closest")
    ]
    findings.append(count_claims(claims))
    tables = [claims_table(claims, paper=PAPER)]
    tables += [table for one in study.accuracy for table in _accuracy_tables(one)]
    if study.pairs:
        tables.append(
            Table(
                name="pairs",
                title="Number of pairs",
                header=("method", "scene", "points", "possible", "pairs"),
                body=tuple(
                    (one.method, one.scene, one.points, one.possible, one.pairs) for one in study.pairs
                ),
                align="llr",
                note="Possible is the largest number of pairs in a window of 5, found by exact.",
            )
        )
    figures = [_accuracy(study)]
    if figure:
        figures += [walkthrough_figure(walk_through(*paper_example())), _points()]
        figures += [_examples(study)] if study.examples else []
    return study_report(
        "How good is cheap pairing?",
        findings,
        facts=(("window", "5"), ("figure of merit", "Σ 1/(1 + d²/9) / max(|G|, |D|)")),
        tables=tables,
        figures=figures,
        problems=[f"{one.id}: {one.message}" for one in study.failures],
    )


def pairing_times_report(study: PairingStudy) -> Report:
    """Make text, table and figure of what the pairing study has timed; no two runs give the same."""
    claims = claims_of_times(study.times)
    pairs = {(one.method, one.scene, one.points): one.pairs for one in study.pairs}
    table = Table(
        name="times",
        title="Time of one matching, and the number of its pairs",
        header=("method", "scene", "points", "milliseconds", "pairs"),
        body=tuple(
            (
                one.method,
                one.scene,
                one.points,
                1000 * one.seconds,
                pairs.get((one.method, one.scene, one.points)),
            )
            for one in study.times
        ),
        align="llr",
    )
    slopes = ", ".join(
        f"{name} ({scene}) {slope:.2f}" for (name, scene), slope in growth(study.times).items()
    )
    findings = [f"Growth of time with the number of points (exponent): {slopes}."] if slopes else []
    return study_report(
        "How fast is pairing on this machine?",
        [*findings, *study.left_out, count_claims(claims)],
        tables=(claims_table(claims, paper=PAPER), table),
        figures=(_times(study),) if study.times else (),
    )


def walkthrough_figure(walk: Walkthrough) -> Figure:
    """Draw the maps, and every zone in which something can still be paired."""
    shown = [zone for zone in walk.zones if len(zone.misses)]

    def paint(figure: Any) -> None:
        panels = figure.subplots(2, max(4, len(shown)), squeeze=False)
        hits = walk.candidate & walk.truth
        steps = {
            "(a) truth": (walk.truth, _INK),
            "(b) result of a filter": (walk.candidate, _INK),
            "(c) hits, which are removed": (hits, "#7a9cc6"),
            "(d) misses": (walk.truth & ~hits, _OPEN_MISS),
        }
        for panel, (title, (map_, colour)) in zip(panels[0], steps.items(), strict=False):
            _squares(panel, np.argwhere(map_), colour)
            _frame(panel, title, walk.truth.shape)
        before = np.zeros((0, 2, 2), dtype=np.int64)
        for number, (panel, zone) in enumerate(zip(panels[1], shown, strict=False), start=1):
            _paint_zone(panel, zone, before)
            counts = ", ".join(map(str, zone.candidates))
            title = f"zone {number}, distance {zone.length:.2f}\ncandidates of the misses: {counts}"
            _frame(panel, title, walk.truth.shape)
            before = np.concatenate([before, zone.pairs])
        for panel in (*panels[0][4:], *panels[1][len(shown) :]):
            panel.set_visible(False)

    lengths = ", ".join(f"{length:.2f}" for length in walk.distances)
    return draw(
        "worked-example",
        "The worked example, zone by zone",
        "After Figs. 4 and 5: open misses are red with the number of their candidates in this zone, open "
        "detections white, pairs green lines, the zone blue; pairs of earlier zones are green and grey. "
        f"Distances of the pairs: [{lengths}]. The paper prints these numbers, not the pixels.",
        paint,
        size=(10, 5.6),
    )


def _accuracy_text(one: PairingAccuracy) -> str:
    r = {name: [row[place] for row in one.pearson] for place, name in enumerate(one.methods)}
    eps = [value for value in r["eps"] if value is not None]
    if not eps:
        return f"{one.data}: the figures of merit do not vary, there is no correlation to tell."
    smallest = ", ".join(
        f"{name} {values[0]:.3f}" for name, values in r.items() if values and values[0] is not None
    )
    told = f"{one.data}: EPS correlates with the Hungarian method by {min(eps):.3f} to {max(eps):.3f}"
    return f"{told}; at side {one.sides[0]}: {smallest}."


def _accuracy_tables(one: PairingAccuracy) -> list[Table]:
    """Return the correlations beside those of Table 1, and the p-values with the mean scores."""
    header: list[str] = ["side", "sub-images"]
    for name in one.methods:
        header += [name, f"{name}, paper"] if name in TABLE_1 else [name]
    body: list[tuple[Content, ...]] = []
    for side, number, line in zip(one.sides, one.samples, one.pearson, strict=True):
        row: list[Content] = [side, number]
        for name, value in zip(one.methods, line, strict=True):
            row.append(value)
            if name in TABLE_1:
                row.append(TABLE_1[name][SIDES.index(side)] if side in SIDES else None)
        body.append(tuple(row))
    more = [
        (side, *ps, *means, best)
        for side, ps, means, best in zip(one.sides, one.p, one.mean, one.best, strict=True)
    ]
    return [
        Table(
            name=f"accuracy-{one.data}",
            title=f"Pearson's r with the Hungarian figure of merit, {one.data}",
            header=tuple(header),
            body=tuple(body),
            note="closest is the paper's CDM, fom its PFOM; Table 1 of the paper is on BRATS volumes.",
        ),
        Table(
            name=f"scores-{one.data}",
            title=f"p-values and mean figures of merit, {one.data}",
            header=(
                "side",
                *(f"p, {name}" for name in one.methods),
                *(f"mean, {name}" for name in (*one.methods, "hungarian")),
            ),
            body=tuple(
                (row[0], *(None if p is None else f"{p:.2g}" for p in row[1 : len(one.methods) + 1]), *rest)
                for row in more
                for rest in [row[len(one.methods) + 1 :]]
            ),
            folded=True,
        ),
    ]


def _largest(study: PairingStudy) -> list[PairCount]:
    most: dict[str, int] = {}
    for one in study.pairs:
        most[one.scene] = max(one.points, most.get(one.scene, 0))
    return [one for one in study.pairs if one.points == most[one.scene]]


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


def _examples(study: PairingStudy) -> Figure:
    """Draw sub-images of three sides of each kind of data with their scores (Figs. 6 and 7)."""
    rows = list(dict.fromkeys(one.data for one in study.examples))

    def paint(figure: Any) -> None:
        panels = figure.subplots(len(rows), 3, squeeze=False)
        for line, name in zip(panels, rows, strict=True):
            shown = [one for one in study.examples if one.data == name]
            for panel in line[len(shown) :]:
                panel.set_visible(False)
            for panel, one in zip(line, shown, strict=False):
                _pair_panel(panel, one.candidate, one.truth)
                scores = "\n".join(f"{value:.4f} {method}" for method, value in one.scores.items())
                panel.set_title(f"{one.data}, side {one.side}", fontsize=9)
                panel.set_xlabel(scores, fontsize=7, ha="left", x=0.0)

    why = "; ".join(dict.fromkeys(one.why for one in study.examples))
    return draw(
        "examples",
        "Sub-images and their scores",
        f"Black: found and true. Blue: missed. Red: found only. Shown of each side (Figs. 6, 7): {why}.",
        paint,
        size=(8, 3.9 * len(rows)),
    )


def _points() -> Figure:
    """Draw the point sets that are timed, with 100 correspondences (Fig. 10)."""
    candidate, truth = point_sets(2, 100, 0)

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, 3)
        for panel, map_, title in zip(panels, (truth, candidate), ("truth", "detections"), strict=False):
            panel.imshow(~map_, cmap="gray", interpolation="nearest")
            panel.set_title(title, fontsize=9)
        _pair_panel(panels[2], candidate, truth)
        panels[2].set_title("both", fontsize=9)
        for panel in panels:
            panel.set_xticks([])
            panel.set_yticks([])

    return draw(
        "points",
        "Point sets with 100 possible correspondences",
        "As in Fig. 10: every detection lies in the window of its truth point. Black: found and true, blue: "
        "truth, red: detection.",
        paint,
        size=(9, 3.4),
    )


def _times(study: PairingStudy) -> Figure:
    names = list(dict.fromkeys(one.method for one in study.times))
    scenes = list(dict.fromkeys(one.scene for one in study.times))

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, len(scenes), sharey=True, squeeze=False)[0]
        for axis, scene in zip(axes, scenes, strict=True):
            for number, name in enumerate(names):
                rows = [one for one in study.times if one.method == name and one.scene == scene]
                xs, ys = [one.points for one in rows], [one.seconds for one in rows]
                axis.loglog(xs, ys, "o-", ms=4, color=COLOURS[number % len(COLOURS)], label=name)
            axis.set_title(scene, fontsize=9)
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
        "Points: sets with a perfect pairing inside a window of 5, at constant density (Figs. 8 and 9). "
        "Surface: slabs of the surface of an object and of one a voxel outside of it. fom pairs nothing, "
        "it looks for the nearest truth pixel; hungarian works group by group of connected pixels, dense on "
        "all at once.",
        paint,
        size=(4 * len(scenes) + 2, 3.8),
    )


def _pair_panel(panel: Any, candidate: Any, truth: Any) -> None:
    colours = np.ones((*truth.shape, 3))
    colours[truth & candidate] = (0.13, 0.13, 0.13)
    colours[truth & ~candidate] = (0.18, 0.44, 0.70)
    colours[candidate & ~truth] = (0.75, 0.22, 0.17)
    panel.imshow(colours, interpolation="nearest")
    panel.set_xticks([])
    panel.set_yticks([])


def _paint_zone(panel: Any, zone: Zone, before: NDArray[np.int64]) -> None:
    for miss in zone.misses:
        _squares(panel, miss + zone.offsets, "none", edge=_ZONE)
    _squares(panel, before[:, 0], _PAIRED_DETECTION)
    _squares(panel, before[:, 1], _PAIRED_MISS)
    _squares(panel, zone.detections, "white", edge=_INK)
    _squares(panel, zone.misses, _OPEN_MISS)
    for found, wanted in zone.pairs:
        panel.plot([found[1], wanted[1]], [found[0], wanted[0]], color=_PAIRED_MISS, linewidth=2.5)
    for (row, column), count in zip(zone.misses, zone.candidates, strict=True):
        panel.text(column, row, str(count), color="white", ha="center", va="center", fontsize=8)


def _squares(panel: Any, places: NDArray[np.int64], colour: str, *, edge: str = "none") -> None:
    from matplotlib.patches import Rectangle

    for row, column in places:
        corner = (column - 0.45, row - 0.45)
        panel.add_patch(Rectangle(corner, 0.9, 0.9, facecolor=colour, edgecolor=edge, linewidth=1.2))


def _frame(panel: Any, title: str, shape: tuple[int, ...]) -> None:
    panel.set(xlim=(-0.6, shape[1] - 0.4), ylim=(shape[0] - 0.4, -0.6), aspect="equal", facecolor="#f1f1f1")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_title(title, fontsize=8)
