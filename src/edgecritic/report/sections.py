"""The sections of the HTML report, each a function from results to markup.

Every piece of text that comes from outside goes through `_t`, which cleans and escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from edgecritic.report.pictures import RANKS, Picture
from edgecritic.report.view import (
    all_series,
    ap_rule,
    clean,
    interval,
    nms_text,
    p_values,
    pixels_text,
    ranked,
    short,
    shorten,
    stars,
    tolerance_text,
)

__all__ = [
    "masthead",
    "contents",
    "leaderboard",
    "curves",
    "crispness",
    "rules",
    "tolerance",
    "pairs",
    "images",
    "picture_groups",
    "problems",
    "protocol",
    "data_files",
    "tolerance_point",
]

Results = Mapping[str, Any]

TITLES = {
    "leaderboard": "Leaderboard",
    "curves": "Precision and recall",
    "crispness": "Crispness",
    "rules": "Average precision",
    "tolerance": "Tolerance",
    "pairs": "Pairs",
    "images": "Images",
    "pictures": "Pictures",
    "problems": "Failures and notes",
    "protocol": "Protocol",
    "data": "Data",
}

CLASSIC_FILES = ("eval_bdry.txt", "eval_bdry_thr.txt", "eval_bdry_img.txt")
REPORT_FILES = {
    "results.json": "everything on this page, for programs",
    "table.csv": "the leaderboard for spreadsheets",
    "table.tex": "the leaderboard for LaTeX (booktabs)",
    "pr.svg": "precision-recall figure",
    "pr.pdf": "the same for papers",
    "pr.png": "the same for slides",
}

BRIEF = 22
"""Names of so many signs stay on one line."""

PROTOCOL_WORDS = {
    "id": "Name",
    "title": "Title",
    "relative_tolerance": "Tolerance, share of the diagonal",
    "tolerance": "Tolerance, px",
    "tolerance_pixels": "Tolerance on these images",
    "thresholds": "Thresholds",
    "threshold_floor": "Threshold floor",
    "zero_threshold": "Extra threshold 0",
    "thin": "Thinning",
    "nms": "Non-maximum suppression",
    "ap_rule": "AP rule",
    "duplicates": "Points of equal recall",
    "source": "Source",
    "notes": "Notes",
    "digest": "Digest",
}


def _t(text: object) -> str:
    return escape(clean(text))


def _section(key: str, body: str, lead: str = "") -> str:
    intro = f'<p class="lead">{lead}</p>\n' if lead else ""
    head = f'<h2 id="{key}-title">{TITLES[key]}</h2>\n'
    return f'<section id="{key}" aria-labelledby="{key}-title">\n{head}{intro}{body}\n</section>'


def _table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", *, row_head: int = 0
) -> str:
    """Return a table in a box of its own that scrolls; cells are markup, numbers align by class."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    lines = []
    for row in rows:
        cells = [
            f'<th scope="row">{cell}</th>' if place == row_head else f"<td>{cell}</td>"
            for place, cell in enumerate(row)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{caption}">\n'
        f'<table class="{kind}"><caption class="hush">{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def _swatch(style: int | None) -> str:
    return "" if style is None else f'<i class="swatch s{style % 7} d{style % 4}" aria-hidden="true"></i>'


def _styles(results: Results) -> dict[str, int]:
    """Return the place of every detector among all curves: it says colour and line style."""
    return {one.name: rank for rank, one in enumerate(all_series(results)) if one.own}


def _detector_cell(results: Results, name: str) -> str:
    kind = "name brief" if len(name) <= BRIEF else "name"
    return f'<span class="{kind}">{_swatch(_styles(results).get(clean(name)))}<span>{_t(name)}</span></span>'


def _level(results: Results) -> str:
    level = next((d["intervals"]["level"] for d in results["detectors"] if d.get("intervals")), 0.95)
    return f"{100 * level:g} %"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def masthead(results: Results) -> str:
    """Return the title, the facts below it, and the leader's scores as tiles."""
    order = ranked(results)
    pictures = max((detector["images"] for detector in order), default=0)
    facts = [f"Truth <b>{_t(results['truth'])}</b>"] if results.get("truth") else []
    facts += [
        _plural(pictures, "image"),
        _plural(len(order), "detector"),
        f"protocol <b>{_t(results['protocol']['id'])}</b>",
        f"tolerance {_t(tolerance_text(results['protocol']))}",
    ]
    line = "".join(f"<li>{fact}</li>" for fact in facts)
    if not order:
        return (
            f'<h1>Boundary benchmark</h1>\n<ul class="facts">{line}</ul>\n<p>No detector was evaluated.</p>'
        )
    title = f"<h1>{_t(shorten(order[0]['name'], 60))}{' leads' if len(order) > 1 else ''}</h1>"
    return f'{title}\n<p class="verdict">{_verdict(results)}</p>\n<ul class="facts">{line}</ul>\n{_tiles(results)}'


def _verdict(results: Results) -> str:
    first, *others = ranked(results)
    pair = interval(first, "ods")
    sure = f" ({_level(results)} interval {short(pair[0])} to {short(pair[1])})" if pair else ""
    text = f"ODS {short(first['ods']['f'])}{sure}"
    ps = p_values(results)
    known = [detector for detector in others if detector["name"] in ps]
    behind = sum(ps[detector["name"]] < 0.05 for detector in known)
    if len(known) == 1:
        word = "significantly" if behind else "not significantly"
        text += f", {word} ahead of {_t(known[0]['name'])}"
    elif known:
        share = "all" if behind == len(known) else f"{behind} of the" if behind else "none of the"
        text += f", significantly ahead of {share} {len(known)} other detectors"
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
            f"<div><dt>{name} <small>{_t(words)}</small></dt>"
            f'<dd>{short(value)}<small class="range">{span}</small></dd></div>'
        )
    return f'<dl class="tiles" aria-label="Scores of {_t(first["name"])}">{"".join(cells)}</dl>'


def contents(parts: Mapping[str, str]) -> str:
    """Return the list of links to the sections that are there."""
    links = (f'<li><a href="#{key}">{TITLES[key]}</a></li>' for key, part in parts.items() if part)
    return f"<ul>{''.join(links)}</ul>"


def leaderboard(results: Results) -> str:
    """Return the ranking with intervals as bars and marks of significance."""
    order = ranked(results)
    if not order:
        return ""
    ps = p_values(results)
    low, high = _bar_range(results)
    crisp = any(detector.get("crispness") for detector in order)
    level = _level(results)
    heads = ["#", "Detector", "ODS", f"{level} interval", "OIS", "AP", "R50", *(["AC"] if crisp else [])]
    heads += ["p", "Images"]
    rows = []
    for rank, detector in enumerate(order, start=1):
        name, p = detector["name"], ps.get(detector["name"])
        row = [
            str(rank),
            _detector_cell(results, name),
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
        rows.append(
            [
                "",
                '<span class="name brief"><i class="dot" aria-hidden="true"></i><span>Human, measured</span></span>',
            ]
            + [f"<b>{short(human['f'])}</b>", f"P {short(human['precision'])} · R {short(human['recall'])}"]
            + [""] * (len(heads) - 5)
            + [measured]
        )
    notes = [
        f"AP by the rule <b>{_t(ap_rule(results))}</b>; APs of other rules must not be compared with it.",
        f"Non-maximum suppression: <b>{_t(nms_text(results['protocol']))}</b>.",
    ]
    if ps:
        notes.append(
            "p: how likely such a gap to the leader’s ODS is if the two are equal (paired bootstrap over "
            "images, not corrected for many comparisons); * p &lt; .05, ** p &lt; .01, *** p &lt; .001."
        )
    if human:
        notes.append("The dashed line in the bars is the human level: each annotator against the others.")
    table = _table("Detectors from the best ODS to the worst", heads, rows, "scores", row_head=1)
    return _section("leaderboard", f'{table}\n<p class="note">{" ".join(notes)}</p>')


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
            f'<li><button type="button" aria-pressed="true" data-series="{rank}">{_swatch(rank)}'
            f'<span class="f">{short(one.f, 2)}</span><span>{escape(one.name)}{given}</span></button></li>'
        )
    human = results.get("human")
    if human:
        entries.append(
            f'<li class="fixed"><i class="dot" aria-hidden="true"></i><span class="f">{short(human["f"], 2)}'
            "</span><span>Human, measured</span></li>"
        )
    body = f"""<div class="chart-row">
<div class="chart" id="pr-chart" tabindex="0" role="application" aria-roledescription="chart"
 aria-label="Precision over recall" aria-describedby="pr-help"></div>
<div class="legend" role="group" aria-label="Curves">
<p class="legend-head">F at ODS <button type="button" class="small" id="pr-zoom" aria-pressed="false">Zoom in</button></p>
<ul>{"".join(entries)}</ul>
<p class="readout" id="pr-readout" role="status">&nbsp;</p>
</div></div>
<noscript><p class="note">The plot is drawn by the script of this page; see
<a href="pr.svg">pr.svg</a> instead.</p></noscript>
<p class="note" id="pr-help">Point at the plot, tap it, or focus it and use the arrow keys (← → along a curve,
↑ ↓ between curves) to read threshold, precision, recall and F. Pale lines join points of equal F; dots mark
each detector’s ODS point.</p>"""
    return _section("curves", body)


def crispness(results: Results) -> str:
    """Return S-Eval and C-Eval side by side with average crispness, if they were measured."""
    order = [d for d in ranked(results) if d.get("ceval") or d.get("crispness")]
    if not order:
        return ""
    heads = [
        "Detector",
        "S-Eval ODS",
        "OIS",
        "AP",
        "C-Eval ODS",
        "OIS",
        "AP",
        "Loss of ODS",
        "AC",
        "AC range",
    ]
    rows = []
    for detector in order:
        ceval, crisp = detector.get("ceval") or {}, detector.get("crispness") or {}
        ods = (ceval.get("ods") or {}).get("f")
        loss = None if ods is None else detector["ods"]["f"] - ods
        span = f"{short(crisp['min'])}–{short(crisp['max'])}" if crisp.get("min") is not None else "–"
        rows.append(
            [
                _detector_cell(results, detector["name"]),
                short(detector["ods"]["f"]),
                short(detector["ois"]["f"]),
                short(detector.get("ap")),
                short(ods),
                short((ceval.get("ois") or {}).get("f")),
                short(ceval.get("ap")),
                short(loss),
                short(crisp.get("mean")),
                span,
            ]
        )
    lead = (
        "S-Eval is the protocol of this report. C-Eval leaves out suppression and thinning, so thick edges "
        "cost precision. AC, the average crispness, is the share of strength that survives suppression."
    )
    return _section("crispness", _table("S-Eval, C-Eval and average crispness", heads, rows, "scores"), lead)


def rules(results: Results) -> str:
    """Return the average precision by every rule, the protocol's own marked."""
    order = [detector for detector in ranked(results) if detector.get("ap_rules")]
    names = list(dict.fromkeys(rule for detector in order for rule in detector["ap_rules"]))
    if not names:
        return ""
    own = ap_rule(results)
    heads = [
        "Detector",
        *(f"<b>{_t(name)}</b> <small>printed</small>" if clean(name) == own else _t(name) for name in names),
    ]
    rows = [
        [_detector_cell(results, d["name"]), *(short(d["ap_rules"].get(name), 4) for name in names)]
        for d in order
    ]
    lead = "Four rules are in circulation, and papers seldom say which they used. Compare like with like."
    return _section("rules", _table("Average precision by rule", heads, rows, "scores"), lead)


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
                    _detector_cell(results, detector["name"]),
                    pixels_text(row.get("pixels")) or "–",
                    "–" if share is None else f"{share:g}",
                    short(row["ods"]),
                    short(row["ois"]),
                ]
            )
    lead = "How the scores fall when edges must lie closer to the truth. Thick lines: ODS; thin lines: OIS."
    table = _table("ODS and OIS by tolerance", heads, rows, "scores")
    body = (
        '<div class="chart wide" id="tolerance-chart" role="img" '
        'aria-label="ODS and OIS over tolerance; the numbers are in the table below"></div>\n'
        f"<details><summary>Numbers</summary>{table}</details>"
    )
    return _section("tolerance", body, lead)


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
            [_detector_cell(results, pair["first"]), _detector_cell(results, pair["second"]), *gaps, *ps]
        )
    lead = "First minus second on the same images, with its interval. An interval that holds 0 shows no difference."
    return _section("pairs", _table("Paired comparisons", heads, rows, "scores two"), lead)


def _gap(difference: Mapping[str, Any] | None) -> str:
    if not difference:
        return "–"
    sign = "+" if difference["difference"] > 0 else ""
    low, high = short(difference["low"]), short(difference["high"])
    return f'{sign}{short(difference["difference"])}<small class="range">{low} … {high}</small>'


def images(results: Results) -> str:
    """Return one row per detector and image; the script sorts and filters them."""
    order = ranked(results)
    rows = []
    for detector in order:
        cell = _detector_cell(results, detector["name"])
        for image in detector["per_image"]:
            values = (image["f"], image["precision"], image["recall"], image.get("threshold"))
            annotators = image.get("annotators")
            numbers = [short(value) for value in values]
            numbers[0] = f'<span class="fbar" style="--f:{100 * image["f"]:.0f}%">{numbers[0]}</span>'
            count = "–" if annotators is None else str(annotators)
            rows.append([_t(image["id"]), cell, *numbers, count])
    if not rows:
        return ""
    heads = ["Image", "Detector", "F", "Precision", "Recall", "Threshold", "Annotators"]
    options = "".join(f"<option>{_t(detector['name'])}</option>" for detector in order)
    tools = f"""<div class="tools" id="image-tools" hidden>
<label>Find <input type="search" id="image-find" placeholder="image or detector" autocomplete="off"></label>
<label>Detector <select id="image-detector"><option value="">all</option>{options}</select></label>
<span class="count" id="image-count" role="status">{len(rows)} rows</span></div>"""
    table = _table("Scores of every image at its own best threshold", heads, rows, "scores sortable tall two")
    lead = "Each image at its own best threshold. Choose a heading to sort."
    return _section("images", f"{tools}\n{table}", lead)


def picture_groups(results: Results, pictures: Sequence[Picture]) -> str:
    """Return the best, median and worst images of each detector."""
    if not pictures:
        return ""
    places = {detector["name"]: place for place, detector in enumerate(ranked(results))}
    names = sorted(
        dict.fromkeys(one.detector for one in pictures), key=lambda name: places.get(name, 1 << 30)
    )
    groups = []
    for name in names:
        own = sorted((one for one in pictures if one.detector == name), key=lambda one: RANKS.index(one.rank))
        shown = "\n".join(_picture(one) for one in own)
        groups.append(f'<h3>{_detector_cell(results, name)}</h3>\n<div class="pictures">{shown}</div>')
    legend = (
        '<ul class="keys"><li><i class="key hit"></i>hit: a detected edge that people drew</li>'
        '<li><i class="key alarm"></i>false alarm: a detected edge that nobody drew</li>'
        '<li><i class="key miss"></i>miss: the stronger the blue, the more annotators drew it</li></ul>'
    )
    close = '<button type="button" class="small" id="zoom-close">Close</button>'
    dialog = (
        '<dialog id="zoom" aria-labelledby="zoom-text"><div class="zoom-head"><p id="zoom-text"></p>'
        f'{close}</div><div class="zoom-box"><img id="zoom-picture" alt=""></div></dialog>'
    )
    return _section("pictures", legend + "\n".join(groups) + dialog)


def _picture(one: Picture) -> str:
    width, height = one.size
    words = f"{one.rank} image of {clean(one.detector)}: {clean(one.id)}, F {short(one.f)}"
    return (
        f'<figure><button type="button" class="enlarge" aria-label="Enlarge {escape(words)}">'
        f'<img src="{one.data_uri}" width="{width}" height="{height}" alt="Matching on the {escape(words)}">'
        f"</button><figcaption><b>{one.rank.capitalize()}</b> {_t(one.id)}"
        f'<span class="f">F {short(one.f)}</span></figcaption></figure>'
    )


def problems(results: Results) -> str:
    """Return failures and notes in plain words."""
    failures, notes = results.get("failures") or (), results.get("notes") or ()
    parts = []
    if failures:
        words = (
            "It is left out of every score above; it does"
            if len(failures) == 1
            else ("They are left out of every score above; they do")
        )
        count = _plural(len(failures), "file")
        parts.append(f'<p class="warn"><b>{count} could not be evaluated.</b> {words} not count as zero.</p>')
        rows = [
            [
                _t(one.get("id") or "–"),
                _t(one.get("detector") or "–"),
                f'<span class="long">{_t(one["message"])}</span>',
            ]
            for one in failures
        ]
        parts.append(_table("Files that failed", ["Image", "Detector", "What happened"], rows, "words"))
    if notes:
        parts.append(f'<ul class="notes">{"".join(f"<li>{_t(note)}</li>" for note in notes)}</ul>')
    return _section("problems", "\n".join(parts)) if parts else ""


def protocol(results: Results) -> str:
    """Return every choice that the numbers depend on."""
    record = results["protocol"]
    keys = [key for key in PROTOCOL_WORDS if record.get(key) not in (None, "")]
    keys += [key for key in record if key not in PROTOCOL_WORDS and record[key] not in (None, "")]
    items = "".join(
        f"<div><dt>{_t(PROTOCOL_WORDS.get(key, key))}</dt><dd>{_value(key, record[key])}</dd></div>"
        for key in keys
    )
    lead = "The choices these numbers depend on. Numbers of another protocol must not be mixed with them."
    return _section("protocol", f'<dl class="record">{items}</dl>', lead)


def _value(key: str, value: Any) -> str:
    if key == "tolerance_pixels":
        return _t(pixels_text(value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return _t(", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value))
    if isinstance(value, float):
        return f"{value:g}"
    return f'<code class="long">{_t(value)}</code>' if key == "digest" else _t(value)


def data_files(results: Results) -> str:
    """Return relative links to the files beside the report, and the versions that made them."""
    links = "".join(f'<li><a href="{name}">{name}</a> {words}</li>' for name, words in REPORT_FILES.items())
    groups = []
    for detector in ranked(results):
        folder = "./" + quote(
            str(detector.get("folder") or detector["name"]).encode("utf-8", "replace"), safe=""
        )
        found = " ".join(f'<a href="{folder}/{name}">{name}</a>' for name in CLASSIC_FILES)
        groups.append(f"<li>{_detector_cell(results, detector['name'])} {found}</li>")
    classic = f'<h3>Classic text files</h3><ul class="files">{"".join(groups)}</ul>' if groups else ""
    versions = "".join(
        f"<div><dt>{_t(name)}</dt><dd>{_t(version)}</dd></div>"
        for name, version in results["versions"].items()
        if version is not None
    )
    return _section(
        "data",
        f'<ul class="files">{links}</ul>{classic}<h3>Versions</h3><dl class="record versions">{versions}</dl>',
    )
