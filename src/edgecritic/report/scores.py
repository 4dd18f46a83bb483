"""The sections of the HTML report that hold scores, each a function from results to markup."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from edgecritic.report.markup import (
    detector_cell,
    level_text,
    plural,
    safe,
    scroll_table,
    section,
    swatch,
)
from edgecritic.report.view import (
    Results,
    all_series,
    ap_rule,
    clean,
    interval,
    nms_text,
    oracle_text,
    p_values,
    pixels_text,
    ranked,
    short,
    shorten,
    stars,
    tolerance_text,
)

__all__ = ["masthead", "leaderboard", "curves", "crispness", "rules", "tolerance_point", "tolerance", "pairs"]


def masthead(results: Results) -> str:
    """Return the title, the facts below it, and the leader's scores as tiles."""
    order = ranked(results)
    pictures = max((detector["images"] for detector in order), default=0)
    facts = [f"Truth <b>{safe(results['truth'])}</b>"] if results.get("truth") else []
    facts += [
        plural(pictures, "image"),
        plural(len(order), "detector"),
        f"protocol <b>{safe(results['protocol']['id'])}</b>",
        f"tolerance {safe(tolerance_text(results['protocol']))}",
    ]
    line = "".join(f"<li>{fact}</li>" for fact in facts)
    if not order:
        return (
            f'<h1>Boundary benchmark</h1>\n<ul class="facts">{line}</ul>\n<p>No detector was evaluated.</p>'
        )
    title = f"<h1>{safe(shorten(order[0]['name'], 60))}{' leads' if len(order) > 1 else ''}</h1>"
    verdict = f'<p class="verdict">{_verdict(results)}</p>'
    return f'{title}\n{verdict}\n<ul class="facts">{line}</ul>\n{_tiles(results)}'


def _verdict(results: Results) -> str:
    first, *others = ranked(results)
    pair = interval(first, "ods")
    sure = f" ({level_text(results)} interval {short(pair[0])} to {short(pair[1])})" if pair else ""
    text = f"ODS {short(first['ods']['f'])}{sure}"
    ps = p_values(results)
    known = [detector for detector in others if detector["name"] in ps]
    behind = sum(ps[detector["name"]] < 0.05 for detector in known)
    if len(known) == 1:
        word = "significantly" if behind else "not significantly"
        text += f", {word} ahead of {safe(known[0]['name'])}"
    elif known:
        share = "all" if behind == len(known) else str(behind) if behind else "none"
        text += f", significantly ahead of {share} of the {len(known)} others"
    human = results.get("human")
    if human:
        gap = first["ods"]["f"] - human["f"]
        text += f". People reach {short(human['f'])} on these images"
        text += f", {short(-gap)} more" if gap < -0.0005 else f", {short(gap)} less" if gap > 0.0005 else ""
    return text + "."


def _tiles(results: Results) -> str:
    first = ranked(results)[0]
    tiles = [
        ("ODS", first["ods"]["f"], "one threshold for all images", interval(first, "ods")),
        ("OIS", first["ois"]["f"], "best threshold per image", interval(first, "ois")),
        ("AP", first.get("ap"), f"rule {ap_rule(results)}", interval(first, "ap")),
        ("R50", first.get("r50"), "recall at precision one half", None),
    ]
    cells = []
    for name, value, words, pair in tiles:
        span = f"{short(pair[0])}–{short(pair[1])}" if pair else "&nbsp;"
        cells.append(
            f"<div><dt>{name} <small>{safe(words)}</small></dt>"
            f'<dd>{short(value)}<small class="range">{span}</small></dd></div>'
        )
    return f'<dl class="tiles" aria-label="Scores of {safe(first["name"])}">{"".join(cells)}</dl>'


def leaderboard(results: Results) -> str:
    """Return the ranking with intervals as bars and marks of significance."""
    order = ranked(results)
    if not order:
        return ""
    ps = p_values(results)
    low, high = _bar_range(results)
    crisp = any(detector.get("crispness") for detector in order)
    level = level_text(results)
    heads = ["#", "Detector", "ODS", f"{level} interval", "OIS", "AP", "R50", *(["AC"] if crisp else [])]
    heads += ["p", "Images"]
    rows = []
    for rank, detector in enumerate(order, start=1):
        name, p = detector["name"], ps.get(detector["name"])
        row = [
            str(rank),
            detector_cell(results, name),
            f'<b>{short(detector["ods"]["f"])}</b><sup class="stars">{stars(p)}</sup>',
            _bar(detector, low, high, results.get("human")),
            _with_range(detector["ois"]["f"], interval(detector, "ois")),
            _with_range(detector.get("ap"), interval(detector, "ap")),
            short(detector.get("r50")),
        ]
        if crisp:
            row.append(short((detector.get("crispness") or {}).get("mean")))
        rows.append([*row, _p_text(p) if rank > 1 else "", str(detector["images"])])
    human = results.get("human")
    if human:
        measured = "" if human.get("images") is None else str(human["images"])
        dot = '<i class="dot" aria-hidden="true"></i>'
        rows.append(
            [
                "",
                f'<span class="name brief">{dot}<span>Human, measured</span></span>',
                f"<b>{short(human['f'])}</b>",
                f"P {short(human['precision'])} · R {short(human['recall'])}",
                *[""] * (len(heads) - 5),
                measured,
            ]
        )
    oracle = results.get("oracle")
    if oracle:
        best = oracle["ods"]
        rows.append(
            [
                "",
                '<span class="name brief"><span>Oracle, upper bound</span></span>',
                f"<b>{short(best['f'])}</b>",
                f"P {short(best['precision'])} · R {short(best['recall'])}",
                short(oracle["ois"]["f"]),
                *[""] * (len(heads) - 6),
                str(oracle["images"]),
            ]
        )
    notes = [
        f"AP by the rule <b>{safe(ap_rule(results))}</b>; APs of other rules must not be compared with it.",
        f"Non-maximum suppression: <b>{safe(nms_text(results['protocol']))}</b>.",
    ]
    if oracle:
        notes.append(f"{safe(oracle_text(oracle))}.")
    if ps:
        notes.append(
            "p: how likely such a gap to the leader’s ODS is if the two are equal (paired bootstrap over "
            "images, not corrected for many comparisons); * p &lt; .05, ** p &lt; .01, *** p &lt; .001."
        )
    if human:
        notes.append("The dashed line in the bars is the human level: each annotator against the others.")
    table = scroll_table("Detectors from the best ODS to the worst", heads, rows, "scores", row_head=1)
    return section("leaderboard", f'{table}\n<p class="note">{" ".join(notes)}</p>')


def _with_range(value: float | None, pair: tuple[float, float] | None) -> str:
    span = f'<small class="range">{short(pair[0])}–{short(pair[1])}</small>' if pair else ""
    return f"{short(value)}{span}"


def _p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "&lt; .001" if p < 0.001 else short(p)


def _bar_range(results: Results) -> tuple[float, float]:
    """Return the limits of the interval bars: all intervals and the human level, in steps of .05."""
    values = [detector["ods"]["f"] for detector in results["detectors"]]
    for detector in results["detectors"]:
        values += interval(detector, "ods") or ()
    if results.get("human"):
        values.append(results["human"]["f"])
    low = max(0.0, math.floor((min(values) - 0.005) * 20) / 20)
    high = min(1.0, math.ceil((max(values) + 0.005) * 20) / 20)
    return low, max(high, low + 0.05)


def _bar(detector: Mapping[str, Any], low: float, high: float, human: Mapping[str, Any] | None) -> str:
    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    pair = interval(detector, "ods")
    begin, end = (place(pair[0]), place(pair[1])) if pair else (0.0, 0.0)
    text = f"{short(pair[0])}–{short(pair[1])}" if pair else "–"
    goal = f'<i class="goal" style="left:{place(human["f"]):.1f}%"></i>' if human else ""
    return (
        f'<span class="ci"><span class="track" aria-hidden="true">{goal}'
        f'<i class="span" style="left:{begin:.1f}%;width:{end - begin:.1f}%"></i>'
        f'<i class="mean" style="left:{place(detector["ods"]["f"]):.1f}%"></i></span>'
        f'<small class="range">{text}</small></span>'
    )


def curves(results: Results) -> str:
    """Return the place where the script draws the curves, and the legend that switches them."""
    series = all_series(results)
    if not series:
        return ""
    entries = []
    for rank, one in enumerate(series):
        given = "" if one.own else " <small>given curve</small>"
        entries.append(
            f'<li><button type="button" aria-pressed="true" data-series="{rank}">{swatch(rank)}'
            f'<span class="f">{short(one.f)}</span><span>{escape(one.name)}{given}</span></button></li>'
        )
    human = results.get("human")
    if human:
        entries.append(
            f'<li class="fixed"><i class="dot" aria-hidden="true"></i><span class="f">{short(human["f"])}'
            "</span><span>Human, measured</span></li>"
        )
    body = f"""<div class="chart-row">
<div class="chart" id="pr-chart" tabindex="0" role="application" aria-roledescription="chart"
 aria-label="Precision over recall" aria-describedby="pr-help"></div>
<div class="legend" role="group" aria-label="Curves">
<p class="legend-head">F at ODS
<button type="button" class="small" id="pr-zoom" aria-pressed="false">Zoom in</button></p>
<ul>{"".join(entries)}</ul>
<p class="readout" id="pr-readout" role="status">&nbsp;</p>
</div></div>
<noscript><p class="note">The plot is drawn by the script of this page; see
<a href="pr.svg">pr.svg</a> instead.</p></noscript>
<p class="note" id="pr-help">Point at the plot, tap it, or focus it and use the arrow keys (← → along a curve,
↑ ↓ between curves) to read threshold, precision, recall and F. Pale lines join points of equal F; dots mark
each detector’s ODS point.</p>"""
    return section("curves", body)


def crispness(results: Results) -> str:
    """Return S-Eval and C-Eval side by side with average crispness, if they were measured."""
    order = [d for d in ranked(results) if d.get("ceval") or d.get("crispness")]
    if not order:
        return ""
    both = any(detector.get("ceval") for detector in order)
    compared = ["S-Eval ODS", "OIS", "AP", "C-Eval ODS", "OIS", "AP", "Loss of ODS"] if both else []
    rows = []
    for detector in order:
        crisp = detector.get("crispness") or {}
        span = f"{short(crisp['min'])}–{short(crisp['max'])}" if crisp.get("min") is not None else "–"
        name = detector_cell(results, detector["name"])
        rows.append([name, *(_seval_ceval(detector) if both else ()), short(crisp.get("mean")), span])
    lead = "AC, the average crispness, is the share of strength that survives suppression."
    if both:
        lead = (
            "S-Eval is the protocol of this report. C-Eval leaves out suppression and thinning, so thick "
            f"edges cost precision. {lead}"
        )
    caption = "S-Eval, C-Eval and average crispness" if both else "Average crispness"
    table = scroll_table(caption, ["Detector", *compared, "AC", "AC range"], rows, "scores")
    return section("crispness", table, lead)


def _seval_ceval(detector: Mapping[str, Any]) -> list[str]:
    """Return ODS, OIS and AP under the protocol and without suppression and thinning, and what ODS loses."""
    ceval = detector.get("ceval") or {}
    ods = (ceval.get("ods") or {}).get("f")
    return [
        short(detector["ods"]["f"]),
        short(detector["ois"]["f"]),
        short(detector.get("ap")),
        short(ods),
        short((ceval.get("ois") or {}).get("f")),
        short(ceval.get("ap")),
        short(None if ods is None else detector["ods"]["f"] - ods),
    ]


def rules(results: Results) -> str:
    """Return the average precision by every rule, the protocol's own marked."""
    order = [detector for detector in ranked(results) if detector.get("ap_rules")]
    names = list(dict.fromkeys(rule for detector in order for rule in detector["ap_rules"]))
    if not names:
        return ""
    own = ap_rule(results)
    heads = [
        "Detector",
        *(
            f"<b>{safe(name)}</b> <small>printed</small>" if clean(name) == own else safe(name)
            for name in names
        ),
    ]
    rows = [
        [detector_cell(results, d["name"]), *(short(d["ap_rules"].get(name), 4) for name in names)]
        for d in order
    ]
    lead = "Four rules are in circulation, and papers seldom say which they used. Compare like with like."
    return section("rules", scroll_table("Average precision by rule", heads, rows, "scores"), lead)


def tolerance_point(row: Mapping[str, Any]) -> list[float | None]:
    """Return (pixels, share of the diagonal, ODS, OIS); of a range of pixels the middle."""
    pixels = row.get("pixels")
    middle = sum(pixels) / 2 if isinstance(pixels, Sequence) else pixels
    return [middle, row.get("relative_tolerance"), row["ods"], row["ois"]]


def tolerance(results: Results) -> str:
    """Return ODS and OIS over the tolerance as a plot and as numbers, if they were measured."""
    order = [detector for detector in ranked(results) if detector.get("tolerances")]
    if not order:
        return ""
    heads = ["Detector", "Tolerance", "Share of diagonal", "ODS", "OIS"]
    rows = []
    for detector in order:
        for row in sorted(detector["tolerances"], key=lambda one: -(tolerance_point(one)[0] or 0)):
            share = row.get("relative_tolerance")
            rows.append(
                [
                    detector_cell(results, detector["name"]),
                    pixels_text(row.get("pixels")) or "–",
                    "–" if share is None else f"{share:g}",
                    short(row["ods"]),
                    short(row["ois"]),
                ]
            )
    lead = "How the scores fall when edges must lie closer to the truth. Thick lines: ODS; thin lines: OIS."
    table = scroll_table("ODS and OIS by tolerance", heads, rows, "scores")
    body = (
        '<div class="chart wide" id="tolerance-chart" role="img" '
        'aria-label="ODS and OIS over tolerance; the numbers are in the table below"></div>\n'
        f"<details><summary>Numbers</summary>{table}</details>"
    )
    return section("tolerance", body, lead)


def pairs(results: Results) -> str:
    """Return all paired comparisons."""
    scores = ("ods", "ois", "ap")
    found = [pair for pair in results.get("comparisons") or () if any(pair.get(score) for score in scores)]
    if not found:
        return ""
    heads = [
        "First",
        "Second",
        *(f"Δ {score.upper()}" for score in scores),
        *(f"p {s.upper()}" for s in scores),
    ]
    rows = []
    for pair in found:
        gaps = [_gap(pair.get(score)) for score in scores]
        ps = [_p_text((pair.get(score) or {}).get("p")) for score in scores]
        rows.append(
            [detector_cell(results, pair["first"]), detector_cell(results, pair["second"]), *gaps, *ps]
        )
    lead = (
        "First minus second on the same images, with its interval. "
        "Where an interval holds 0, these images cannot tell the two apart."
    )
    return section("pairs", scroll_table("Paired comparisons", heads, rows, "scores two"), lead)


def _gap(difference: Mapping[str, Any] | None) -> str:
    if not difference:
        return "–"
    sign = "+" if difference["difference"] > 0 else ""
    low, high = short(difference["low"]), short(difference["high"])
    return f'{sign}{short(difference["difference"])}<small class="range">{low} … {high}</small>'
