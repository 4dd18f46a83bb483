"""The ranking: on the page with intervals as bars, in the terminal, as CSV and as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from edgecritic.report.benchmark.classes import class_text
from edgecritic.report.sections import Bar, Cell, Content, Section, Table
from edgecritic.report.text import table_csv as csv_of
from edgecritic.report.text import table_tex, table_text, tex_escape, wrapped
from edgecritic.report.view import STARS_TEXT, View, interval, p_text, plural, short, span, stars
from edgecritic.tables import clean

__all__ = ["ORDER", "section", "leaderboard_text", "leaderboard_csv", "leaderboard_tex", "paper_rows_tex"]

ORDER = 10
WIDTH = 80

PUBLISHED_TEXT = (
    "Rows marked published are quoted from others and were not judged here; no test compares them. Their "
    "AP is that of their curve by this run’s rule."
)

Detector = Mapping[str, Any]

_CSV: dict[str, Callable[[View, Detector], Any]] = {
    "name": lambda _, d: d["name"],
    "images": lambda _, d: d["images"],
    "ods_f": lambda _, d: d["ods"]["f"],
    "ods_low": lambda _, d: _end(d, "ods", 0),
    "ods_high": lambda _, d: _end(d, "ods", 1),
    "ods_precision": lambda _, d: d["ods"]["precision"],
    "ods_recall": lambda _, d: d["ods"]["recall"],
    "ods_threshold": lambda _, d: d["ods"].get("threshold"),
    "ods_p_against_leader": lambda view, d: view.p_values.get(d["name"]),
    "ois_f": lambda _, d: d["ois"]["f"],
    "ois_low": lambda _, d: _end(d, "ois", 0),
    "ois_high": lambda _, d: _end(d, "ois", 1),
    "ois_precision": lambda _, d: d["ois"]["precision"],
    "ois_recall": lambda _, d: d["ois"]["recall"],
    "ap": lambda _, d: d.get("ap"),
    "ap_low": lambda _, d: _end(d, "ap", 0),
    "ap_high": lambda _, d: _end(d, "ap", 1),
    "ap_rule": lambda view, d: d.get("ap_rule") or view.ap_rule,
    "r50": lambda _, d: d.get("r50"),
    "crispness": lambda _, d: _crispness(d),
    "ceval_ods": lambda _, d: _ceval(d, "ods").get("f"),
    "ceval_ois": lambda _, d: _ceval(d, "ois").get("f"),
    "ceval_ap": lambda _, d: (d.get("ceval") or {}).get("ap"),
    "protocol": lambda view, _: view.protocol["id"],
    "tolerance_pixels_min": lambda view, _: _pixels(view)[0],
    "tolerance_pixels_max": lambda view, _: _pixels(view)[1],
    "tolerance_unit": lambda view, _: view.unit,
    "nms": lambda view, _: view.nms,
}


def section(view: View) -> Section | None:
    """Return the ranking with intervals as bars and marks of significance."""
    if not view.ranked:
        return None
    crisp = any(detector.get("crispness") for detector in view.ranked)
    scores = [view.named(score) for score in ("OIS", "AP", "R50")]
    header = ["#", "Detector", view.named("ODS"), f"{100 * (view.level or 0.95):g} % interval", *scores]
    header += [*(["AC"] if crisp else []), "p", "Images"]
    table = Table(
        name="leaderboard",
        title="Detectors from the best ODS to the worst",
        header=tuple(header),
        body=(*_ranked_rows(view, crisp), *_other_rows(view, len(header))),
        note=" ".join(_notes(view)),
        align="rlrlr",
        row_head=1,
    )
    blocks = (table, _sources(view)) if view.published else (table,)
    return Section(key="leaderboard", title="Leaderboard", blocks=blocks)


def _ranked_rows(view: View, crisp: bool) -> Iterator[tuple[Content, ...]]:
    """Yield the row of every detector that was judged, with its crispness if that is known of one."""
    low, high = _bar_range(view)
    for rank, detector in enumerate(view.ranked, start=1):
        p = view.p_values.get(detector["name"])
        yield (
            rank,
            view.name(detector["name"]),
            Cell(text=short(detector["ods"]["f"]), strong=True, mark=stars(p)),
            _bar(view, detector, low, high),
            Cell(text=short(detector["ois"]["f"]), note=span(interval(detector, "ois"))),
            Cell(text=short(detector.get("ap")), note=span(interval(detector, "ap"))),
            short(detector.get("r50")),
            *((short(_crispness(detector)),) if crisp else ()),
            p_text(p) if rank > 1 else "",
            detector["images"],
        )


def _other_rows(view: View, columns: int) -> Iterator[tuple[Content, ...]]:
    """Yield the rows of what is not ranked: annotators, the oracle, published curves."""
    if view.human:
        images = view.human.get("images")
        yield (
            "",
            Cell(text="Human, measured", dot=True),
            Cell(text=short(view.human["f"]), strong=True),
            f"P {short(view.human['precision'])} · R {short(view.human['recall'])}",
            *[""] * (columns - 5),
            "" if images is None else images,
        )
    oracle = view.results.get("oracle")
    if oracle:
        yield (
            "",
            "Oracle, upper bound",
            Cell(text=short(oracle["ods"]["f"]), strong=True),
            f"P {short(oracle['ods']['precision'])} · R {short(oracle['ods']['recall'])}",
            short(oracle["ois"]["f"]),
            *[""] * (columns - 6),
            oracle["images"],
        )
    for curve in view.published:
        yield _published_row(curve, columns)


def _notes(view: View) -> Iterator[str]:
    """Yield what must be known to read the table."""
    yield f"AP by the rule {view.ap_rule}; APs of other rules must not be compared with it."
    yield f"Non-maximum suppression: {view.nms}."
    if view.p_values:
        yield (
            "p: how likely such a gap to the leader’s ODS is if the two are equal (paired bootstrap over "
            "images, not corrected for many comparisons); * p < .05, ** p < .01, *** p < .001."
        )
    if view.human:
        yield "The dashed line in the bars is the human level: each annotator against the others."
    if oracle := view.results.get("oracle"):
        yield f"{_oracle_text(oracle)}."
    if view.published:
        yield PUBLISHED_TEXT


def _published_row(curve: Mapping[str, Any], width: int) -> tuple[Content, ...]:
    """Return the row of a method whose numbers others published."""
    about = curve["published"]
    scores = (about["ods"]["f"], about["ois"]["f"], about.get("ap_by_rule"))
    ods, ois, ap = (short(value) for value in scores)
    name = Cell(text=clean(curve["name"]), note=f"published {about['year']}")
    return ("", name, ods, "", ois, ap, *[""] * (width - 6))


def _sources(view: View) -> Table:
    """Return where the published numbers come from, and what of them does not follow from the curve."""
    rows = tuple(
        (
            clean(curve["name"]),
            about["year"],
            clean(about["title"]),
            f"{about['relative_tolerance']:g}",
            short(about["ap"]),
            ", ".join(part.upper() for part in about["quoted"]),
            clean(about["source"]),
        )
        for curve in view.published
        for about in (curve["published"],)
    )
    return Table(
        name="published",
        title="Published numbers of others",
        header=("Method", "Year", "Data set", "Tolerance", "AP as published", "Quoted", "Source"),
        body=rows,
        note="Quoted numbers do not follow from the published curve; all others do, to three digits.",
        align="lrlrrll",
    )


def leaderboard_text(results: Mapping[str, Any], *, width: int = WIDTH) -> str:
    """Return the leaderboard for a terminal, best ODS first.

    Below the table stand protocol, tolerance in pixels, NMS recipe and AP rule, the meaning of the
    significance marks, and how many files failed. Long names of detectors lose their middle to fit into
    `width` columns, down to 8 signs.
    """
    view = View(results)
    below = view.protocol_lines()
    if view.p_values:
        below.append(STARS_TEXT)
    if results.get("oracle"):
        below.append(_oracle_text(results["oracle"]))
    if view.published:
        below.append(PUBLISHED_TEXT)
    failures = len(results.get("failures") or ())
    if failures:
        below.append(f"{plural(failures, 'file')} failed")
    shown = "No detector was evaluated."
    if view.ranked:
        table = _terminal(view)
        keep = [n for n in range(len(table.header)) if any(row[n] not in ("", "–") for row in table.body)]
        narrow = _only(table, keep)
        shown = table_text(narrow, width=width, shortened=1) + "\n"
    if view.classes:
        shown += f"\n{class_text(view, width=width)}\n"
    return "\n".join([shown, *(wrapped(line, width, "  ") for line in below)]) + "\n"


def _terminal(view: View) -> Table:
    ods = view.named("ODS") if view.level is None else f"{view.named('ODS')} [{100 * view.level:g} %]"
    rows: list[tuple[Content, ...]] = []
    for rank, detector in enumerate(view.ranked, start=1):
        pair = interval(detector, "ods")
        rows.append(
            (
                rank,
                clean(detector["name"]),
                short(detector["ods"]["f"]) + (f" [{span(pair, ', ')}]" if pair else ""),
                stars(view.p_values.get(detector["name"])),
                *(short(value) for value in _scores(detector)[1:]),
                detector["images"],
            )
        )
    if view.human:
        count = view.human.get("images")
        rows.append(("", "human (measured)", short(view.human["f"]), "", *["–"] * 4, count))
    oracle = view.results.get("oracle")
    if oracle:
        best = (short(oracle["ods"]["f"]), "", short(oracle["ois"]["f"]))
        rows.append(("", "oracle (upper bound)", *best, "–", "–", "–", oracle["images"]))
    for curve in view.published:
        about = curve["published"]
        scores = (short(about["ods"]["f"]), "", short(about["ois"]["f"]), short(about.get("ap_by_rule")))
        rows.append(("", f"{clean(curve['name'])} (published {about['year']})", *scores, "–", "–", ""))
    header = ("", "detector", ods, "", *(view.named(score) for score in ("OIS", "AP", "R50")), "AC", "images")
    return Table(name="table", title="", header=header, body=tuple(rows), align="rllr")


def _only(table: Table, keep: list[int]) -> Table:
    rows = tuple(tuple(row[place] for place in keep) for row in table.body)
    align = "".join(table.align[min(place, len(table.align) - 1)] for place in keep)
    header = tuple(table.header[place] for place in keep)
    return Table(name=table.name, title=table.title, header=header, body=rows, align=align)


def leaderboard_csv(view: View) -> str:
    """Return one row per detector with every score, its interval, and the protocol; best ODS first.

    Numbers are written in full (they round-trip); what is not known is empty.
    """
    rows = tuple(tuple(read(view, detector) for read in _CSV.values()) for detector in view.ranked)
    return csv_of(Table(name="table", title="", header=tuple(_CSV), body=rows))


def leaderboard_tex(view: View) -> str:
    r"""Return a LaTeX ``tabular`` for the package booktabs; the best of each column is bold.

    The lines of comment above it name protocol, tolerance, NMS recipe and AP rule.
    """
    size = 5 if any(detector.get("crispness") for detector in view.ranked) else 4
    table = [_scores(detector)[:size] for detector in view.ranked]
    best = [_largest(row[place] for row in table) for place in range(size)]
    rows: list[tuple[Content, ...]] = []
    if view.human:
        rows.append(("Human", short(view.human["f"]), *["–"] * (size - 1)))
    for detector, scores in zip(view.ranked, table, strict=True):
        mark = stars(view.p_values.get(detector["name"]))
        cells = [
            Cell(
                text=short(value),
                strong=value is not None and short(value) == short(top),
                mark="" if place else mark,
            )
            for place, (value, top) in enumerate(zip(scores, best, strict=True))
        ]
        rows.append((clean(detector["name"]), *cells))
    header = ("Detector", *map(view.named, ("ODS", "OIS", "AP", "R50")), "AC")[: size + 1]
    note = STARS_TEXT if view.p_values else ""
    shown = Table(name="table", title="", header=header, body=tuple(rows), note=note)
    return table_tex(shown, view.protocol_lines(), rules=(1,) if view.human else ())


def paper_rows_tex(view: View) -> str:
    r"""Return one LaTeX row per detector in the forms that papers use, without a ``tabular`` around them.

    ODS, OIS and AP; and where the run has them, S-Eval (the protocol's own numbers), C-Eval (without
    suppression and thinning) and the average crispness (AC) in one row.
    """
    forms: dict[str, Callable[[Detector], list[float | None]]] = {
        "ODS & OIS & AP": lambda d: _scores(d)[:3],
        "S-Eval ODS & OIS & AP & C-Eval ODS & OIS & AP & AC": lambda d: [
            *_scores(d)[:3],
            *(_ceval(d, score).get("f") for score in ("ods", "ois")),
            (d.get("ceval") or {}).get("ap"),
            _crispness(d),
        ],
    }
    if not any(detector.get("ceval") for detector in view.ranked):
        del forms["S-Eval ODS & OIS & AP & C-Eval ODS & OIS & AP & AC"]
    lines = [f"% {line}" for line in view.protocol_lines()]
    for head, numbers in forms.items():
        lines += [f"% Method & {head}"]
        lines += [
            " & ".join(
                [tex_escape(clean(d["name"])), *(short(value).replace("–", "--") for value in numbers(d))]
            )
            + r" \\"
            for d in view.ranked
        ]
    return "\n".join(lines) + "\n"


def _oracle_text(oracle: Mapping[str, Any]) -> str:
    return (
        f"{clean(oracle['label'])}: per image and threshold the prediction with the largest F, chosen with "
        "the truth in hand; no detector reaches it by itself"
    )


def _scores(detector: Detector) -> list[float | None]:
    """Return ODS, OIS, AP, R50 and crispness."""
    return [
        detector["ods"]["f"],
        detector["ois"]["f"],
        detector.get("ap"),
        detector.get("r50"),
        _crispness(detector),
    ]


def _crispness(detector: Detector) -> float | None:
    return (detector.get("crispness") or {}).get("mean")


def _ceval(detector: Detector, score: str) -> Mapping[str, Any]:
    return (detector.get("ceval") or {}).get(score) or {}


def _end(detector: Detector, score: str, place: int) -> float | None:
    pair = interval(detector, score)
    return None if pair is None else pair[place]


def _pixels(view: View) -> tuple[Any, Any]:
    low, high = view.protocol.get("tolerance_pixels") or (view.protocol.get("tolerance"),) * 2
    return low, high


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _bar_range(view: View) -> tuple[float, float]:
    """Return the limits of the interval bars: all intervals and the human level, in steps of .05."""
    values = [detector["ods"]["f"] for detector in view.ranked]
    for detector in view.ranked:
        values += interval(detector, "ods") or ()
    if view.human:
        values.append(view.human["f"])
    low = max(0.0, math.floor((min(values) - 0.005) * 20) / 20)
    high = min(1.0, math.ceil((max(values) + 0.005) * 20) / 20)
    return low, max(high, low + 0.05)


def _bar(view: View, detector: Detector, low: float, high: float) -> Cell:
    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    pair = interval(detector, "ods")
    begin, end = (place(pair[0]), place(pair[1])) if pair else (0.0, 0.0)
    goal = place(view.human["f"]) if view.human else None
    return Cell(
        text=span(pair) or "–", bar=Bar(at=place(detector["ods"]["f"]), begin=begin, end=end, goal=goal)
    )
