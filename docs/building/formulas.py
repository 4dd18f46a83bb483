"""Formulas in the pages: from LaTeX to MathML, while the site is built."""

from __future__ import annotations

import html
import re

LIMITS = re.compile(r"(\\sum|\\max|\\min|\\sup)_")
"""Signs that have what belongs to them below, not beside, where there is room."""
MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def as_mathml(page: str) -> str:
    """Return the HTML of a page with every formula as MathML.

    Formulas are written as ``$…$`` in a line and ``$$…$$`` on their own; *arithmatex* marks them.
    """
    if "arithmatex" not in page:
        return page
    from latex2mathml.converter import convert

    def formula(found: re.Match[str]) -> str:
        latex = html.unescape(found[2]).strip()
        if found[1] == "span":
            return str(convert(latex))
        shown = str(convert(LIMITS.sub(r"\1\\limits_", latex), display="block"))
        return shown.replace("<math ", '<math tabindex="0" ', 1)  # long ones are scrolled, by keys too

    return MARKED.sub(formula, page)
