"""The leaderboard as text for a terminal, as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from edgecritic.report.view import (
    ap_rule,
    cells,
    clean,
    csv_cell,
    interval,
    nms_text,
    oracle_text,
    p_values,
    protocol_lines,
    ranked,
    short,
    shorten,
    stars,
)

__all__ = ["terminal_table", "table_csv", "table_tex"]

WIDTH = 80
HUMAN = "human (measured)"
ORACLE = "oracle (upper bound)"
STARS_TEXT = "* p < .05, ** p < .01, *** p < .001: ODS differs from the leader's (paired test)"

CSV_COLUMNS = [
    "name",
    "images",
    "ods_f",
    "ods_low",
    "ods_high",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "ods_p_against_leader",
    "ois_f",
    "ois_low",
    "ois_high",
    "ois_precision",
    "ois_recall",
    "ap",
    "ap_low",
    "ap_high",
    "ap_rule",
    "r50",
    "crispness",
    "ceval_ods",
    "ceval_ois",
    "ceval_ap",
    "protocol",
    "tolerance_pixels_min",
    "tolerance_pixels_max",
    "nms",
]

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def terminal_table(results: Mapping[str, Any], *, width: int = WIDTH) -> str:
    """Return the leaderboard, best ODS first.

    Below the table stand protocol, tolerance in pixels, NMS recipe and AP rule, the meaning of the
    significance marks, and how many files failed.

    Parameters
    ----------
    results : mapping
        What ``results.json`` holds (see `edgecritic.report.schema.check_results`).
    width : int
        Columns of the terminal. Long names of detectors lose their middle to fit, down to 8 signs.
    """
    order = ranked(results)
    if not order:
        return "\n".join(["No detector was evaluated.", *_wrapped(protocol_lines(results), width)]) + "\n"
    rows = _rows(results, order)
    keep = [column for column in range(len(rows[0])) if any(row[column] not in ("", "–") for row in rows[1:])]
    rows = [[row[column] for column in keep] for row in rows]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    spare = width - sum(widths[:1] + widths[2:]) - 2 * (len(widths) - 1)
    widths[1] = min(widths[1], max(spare, 8))
    lines = ["  ".join(_pad(cell, widths[n], left=n in (1, 2)) for n, cell in enumerate(row)) for row in rows]
    rule = "─" * max(cells(line) for line in lines)
    below = protocol_lines(results)
    if p_values(results):
        below.append(STARS_TEXT)
    if results.get("oracle"):
        below.append(oracle_text(results["oracle"]))
    failures = len(results.get("failures") or ())
    if failures:
        below.append(f"{failures} {'file' if failures == 1 else 'files'} failed")
    whole = [lines[0], rule, *lines[1:], rule, *_wrapped(below, width)]
    return "\n".join(line.rstrip() for line in whole) + "\n"


def _rows(results: Mapping[str, Any], order: list[Mapping[str, Any]]) -> list[list[str]]:
    level = next((d["intervals"]["level"] for d in order if d.get("intervals")), None)
    ods = "ODS" if level is None else f"ODS [{100 * level:g} %]"
    ps = p_values(results)
    rows = [["", "detector", ods, "", "OIS", "AP", "R50", "AC", "images"]]
    for rank, detector in enumerate(order, start=1):
        crispness = detector.get("crispness")
        rows.append(
            [
                str(rank),
                clean(detector["name"]),
                short(detector["ods"]["f"]) + _bracket(interval(detector, "ods")),
                stars(ps.get(detector["name"])),
                short(detector["ois"]["f"]),
                short(detector.get("ap")),
                short(detector.get("r50")),
                short(crispness["mean"] if crispness else None),
                str(detector["images"]),
            ]
        )
    human = results.get("human")
    if human:
        images = human.get("images")
        count = "–" if images is None else str(images)
        rows.append(["", HUMAN, short(human["f"]), "", "–", "–", "–", "–", count])
    oracle = results.get("oracle")
    if oracle:
        best = [short(oracle["ods"]["f"]), "", short(oracle["ois"]["f"])]
        rows.append(["", ORACLE, *best, "–", "–", "–", str(oracle["images"])])
    return rows


def _bracket(pair: tuple[float, float] | None) -> str:
    return f" [{short(pair[0])}, {short(pair[1])}]" if pair else ""


def _wrapped(lines: list[str], width: int) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ")]


def _pad(text: str, width: int, *, left: bool) -> str:
    text = shorten(text, width)
    space = " " * (width - cells(text))
    return text + space if left else space + text


def table_csv(results: Mapping[str, Any]) -> str:
    """Return one row per detector with every score, its interval, and the protocol; best ODS first.

    Numbers are written in full (they round-trip); what is not known is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    protocol = results["protocol"]
    pixels = protocol.get("tolerance_pixels") or (protocol.get("tolerance"),) * 2
    ps = p_values(results)
    for detector in ranked(results):
        ods, ois = detector["ods"], detector["ois"]
        ceval = detector.get("ceval") or {}
        writer.writerow(
            [
                csv_cell(detector["name"]),
                detector["images"],
                ods["f"],
                *(interval(detector, "ods") or ("", "")),
                ods["precision"],
                ods["recall"],
                ods.get("threshold"),
                ps.get(detector["name"]),
                ois["f"],
                *(interval(detector, "ois") or ("", "")),
                ois["precision"],
                ois["recall"],
                detector.get("ap"),
                *(interval(detector, "ap") or ("", "")),
                detector.get("ap_rule") or ap_rule(results),
                detector.get("r50"),
                (detector.get("crispness") or {}).get("mean"),
                (ceval.get("ods") or {}).get("f"),
                (ceval.get("ois") or {}).get("f"),
                ceval.get("ap"),
                csv_cell(protocol["id"]),
                *pixels,
                csv_cell(nms_text(protocol)),
            ]
        )
    return out.getvalue()


def table_tex(results: Mapping[str, Any]) -> str:
    r"""Return a LaTeX ``tabular`` for the package booktabs; the best of each column is bold.

    The lines of comment above it name protocol, tolerance, NMS recipe and AP rule.
    """
    order = ranked(results)
    crisp = any(detector.get("crispness") for detector in order)
    heads = ["Detector", "ODS", "OIS", "AP", "R50", *(["AC"] if crisp else [])]
    ps = p_values(results)
    table = [_scores(detector, crisp=crisp) for detector in order]
    best = [_largest(row[place] for row in table) for place in range(len(heads) - 1)]
    lines = [f"% {line}" for line in protocol_lines(results)]
    lines.append(r"% \usepackage{booktabs}")
    lines += [rf"\begin{{tabular}}{{l{'c' * (len(heads) - 1)}}}", r"\toprule"]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    human = results.get("human")
    if human:
        dashes = " & --" * (len(heads) - 2)
        lines += [f"Human & {short(human['f'])}{dashes} \\\\", r"\midrule"]
    for detector, row in zip(order, table, strict=True):
        cells = [_tex_score(value, top) for value, top in zip(row, best, strict=True)]
        mark = stars(ps.get(detector["name"]))
        cells[0] += f"$^{{{mark}}}$" if mark else ""
        lines.append(" & ".join([tex_escape(clean(detector["name"])), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if ps:
        lines.append(f"% {STARS_TEXT}")
    return "\n".join(lines) + "\n"


def _scores(detector: Mapping[str, Any], *, crisp: bool) -> list[float | None]:
    scores = [detector["ods"]["f"], detector["ois"]["f"], detector.get("ap"), detector.get("r50")]
    if crisp:
        scores.append((detector.get("crispness") or {}).get("mean"))
    return scores


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _tex_score(value: float | None, best: float | None) -> str:
    text = short(value).replace("–", "--").replace("−", "$-$")
    return rf"\textbf{{{text}}}" if value is not None and short(value) == short(best) else text


def tex_escape(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    Examples
    --------
    >>> print(tex_escape("my_net 50%"))
    my\_net 50\%
    """
    return "".join(_TEX.get(sign, sign) for sign in text)
