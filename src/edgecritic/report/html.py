"""The report: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from edgecritic.report import details, scores
from edgecritic.report.pictures import Picture
from edgecritic.report.schema import check_results
from edgecritic.report.view import Series, all_series, clean, ranked

__all__ = ["html_report"]

DIGITS = 5
"""Digits of the numbers that the page's plots are drawn from."""


def html_report(results: Mapping[str, Any], pictures: Sequence[Picture] = (), *, tuning: str = "") -> str:
    """Return the report as the text of one self-contained HTML file.

    The file holds its styles, its script, the data of its plots and its pictures. It asks for nothing over
    a network, and its content security policy forbids everything but its own script. Equal results give
    equal text. Links to data files are relative, so the file belongs beside ``results.json``.

    Parameters
    ----------
    results : mapping
        What ``results.json`` holds.
    pictures : sequence of Picture
        Shown by detector (best ODS first), in the given order.
    tuning : str
        Markup of :func:`edgecritic.report.tuning_section.tuning_section`.

    Returns
    -------
    str
        To be stored as UTF-8.

    Raises
    ------
    DataError
        If the results have another layout.
    """
    check_results(results)
    script = _asset("report.js")
    parts = {
        "leaderboard": scores.leaderboard(results),
        "curves": scores.curves(results),
        "crispness": scores.crispness(results),
        "rules": scores.rules(results),
        "tolerance": scores.tolerance(results),
        "pairs": scores.pairs(results),
        "tuning": tuning,
        "images": details.images(results),
        "pictures": details.picture_groups(results, pictures),
        "problems": details.problems(results),
        "protocol": details.protocol(results),
        "data": details.data_files(results),
    }
    return Template(_asset("report.html")).substitute(
        title=escape(_title(results)),
        policy=_policy(script),
        style=_asset("report.css"),
        script=script,
        data=json_block(plot_data(results)),
        masthead=scores.masthead(results),
        contents=details.contents(parts),
        body="\n".join(part for part in parts.values() if part),
        version=escape(clean(results["versions"].get("edgecritic") or "")),
    )


def json_block(data: Any) -> str:
    r"""Return JSON that no text inside can end a ``<script>`` element with.

    Examples
    --------
    >>> print(json_block({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def plot_data(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script draws: the curves, the human point, ODS and OIS over tolerance."""
    series = all_series(results)
    styles = {one.name: rank for rank, one in enumerate(series) if one.own}
    human = results.get("human")
    return {
        "series": [_series(one) for one in series],
        "human": _rounded({key: human[key] for key in ("f", "precision", "recall")}) if human else None,
        "tolerances": [
            {
                "name": clean(detector["name"]),
                "style": styles[clean(detector["name"])],
                "points": _rounded([scores.tolerance_point(row) for row in detector["tolerances"]]),
            }
            for detector in ranked(results)
            if detector.get("tolerances")
        ],
    }


def _series(one: Series) -> Any:
    return _rounded(
        {
            "name": one.name,
            "own": one.own,
            "best": {"f": one.f, "r": one.recall, "p": one.precision, "t": one.threshold},
            "t": one.curve.get("threshold"),
            "r": one.curve["recall"],
            "p": one.curve["precision"],
            "f": one.curve["f"],
        }
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def _title(results: Mapping[str, Any]) -> str:
    order = ranked(results)
    return f"{clean(order[0]['name'])} leads" if len(order) > 1 else "Boundary benchmark"


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("edgecritic.report") / "assets" / name).read_text(encoding="utf-8")
