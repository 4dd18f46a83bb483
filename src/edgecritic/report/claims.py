"""The table that every study shows: what its paper says, what was found, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from edgecritic.report.sections import Table
from edgecritic.studies.claims import Claim

__all__ = ["claims_table"]


def claims_table(claims: Sequence[Claim], *, paper: str, name: str = "paper") -> Table:
    """Make the table of published statements; `paper` names where they are from.

    Examples
    --------
    >>> from edgecritic.studies.claims import claim
    >>> claims_table([claim("lowest r", "> .95", 0.953, source="Fig. 1")], paper="the survey").body
    (('lowest r', '> .95', '0.953', 'holds', 'Fig. 1'),)
    """
    return Table(
        name=name,
        title=f"What the paper says ({paper})",
        header=("what", "paper", "here", "verdict", "source"),
        body=tuple((one.what, one.paper, one.ours or None, one.verdict, one.source) for one in claims),
        align="lrrll",
        note="A number agrees if it differs by no more than half a unit of the last printed digit.",
    )
