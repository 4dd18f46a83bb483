"""Reports as one HTML file that needs nothing else, not even a network (extra ``report``)."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from importlib.resources import files
from typing import Any

import edgecritic
from edgecritic.errors import needs_extra
from edgecritic.figures import FALSE_ALARM, HIT, MISS
from edgecritic.report.sections import Chart, Report, Table
from edgecritic.tables import cell_text, plain

__all__ = ["report_html", "json_block"]

_FORM: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
"""How templates are read, which their compiled form depends on."""


def report_html(report: Report) -> str:
    """Return a report as the text of one self-contained HTML file, to be stored as UTF-8.

    The file holds its styles, its script, the data of its charts and its pictures. It asks for nothing over
    a network, and its content security policy forbids everything but its own script. Equal reports give
    equal text. Links to files are relative.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.
    """
    script = _asset("report.js")
    data: dict[str, Any] = {}
    for chart in report.blocks(Chart):
        data |= chart.data
    return str(
        _templates()
        .get_template("page.html")
        .render(
            report=report,
            version=report.version or edgecritic.__version__,
            style=_asset("report.css"),
            script=script,
            policy=_policy(script),
            data=json_block(data),
            palette={"hit": HIT, "alarm": FALSE_ALARM, "miss": MISS},
        )
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


@functools.cache
def _templates() -> Any:
    """Return the environment: everything that a template prints is cleaned and escaped."""
    with needs_extra("writing HTML pages", "report"):
        import jinja2
    from edgecritic.report.compiled import CompiledTemplates

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("edgecritic.report"),
        bytecode_cache=CompiledTemplates(f"{edgecritic.__version__} {_FORM}"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain(value) if type(value) is str else value,
        **_FORM,
    )
    made.filters["shown"] = cell_text
    made.filters["sides"] = _sides
    made.filters["kind"] = lambda block: type(block).__name__.lower()
    return made


def _sides(table: Table) -> list[str]:
    """Return the attribute of the cells of each column that says on which side of them text is."""
    from markupsafe import Markup

    count = max(map(len, (table.header, *table.body)))
    return [
        Markup(' class="left"') if table.align[min(place, len(table.align) - 1)] == "l" else ""
        for place in range(count)
    ]


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("edgecritic.report") / "assets" / name).read_text(encoding="utf-8")
