"""The files beside the report, and the versions that made them."""

from __future__ import annotations

from urllib.parse import quote

from edgecritic.report.classic import CLASSIC_FILES, REGION_FILES
from edgecritic.report.sections import Block, Cell, Link, Links, Record, Section
from edgecritic.report.view import View
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 120

FILES = {
    "results.json": "everything on this page, for programs",
    "report.md": "this page as Markdown",
    "table.csv": "the leaderboard for spreadsheets",
    "table.tex": "the leaderboard for LaTeX (booktabs)",
    "pr.svg": "precision-recall figure",
    "pr.pdf": "the same for papers",
    "pr.png": "the same for slides",
}


def section(view: View) -> Section:
    """Return relative links to the files, and versions."""
    blocks: list[Block] = [
        Links(items=tuple((None, (Link(name=name, href=name),), words) for name, words in FILES.items()))
    ]
    classic = []
    for detector in view.ranked:
        folder = str(detector.get("folder") or detector["name"]).encode("utf-8", "replace")
        home = f"./{quote(folder, safe='')}"
        names = (*CLASSIC_FILES, *(REGION_FILES if detector.get("regions") else ()))
        links = tuple(Link(name=name, href=f"{home}/{name}") for name in names)
        if detector.get("classes"):
            links = tuple(
                Link(
                    name=clean(name),
                    href=f"{home}/{quote(str(one.get('folder', name)), safe='')}/{CLASSIC_FILES[0]}",
                )
                for name, one in detector["classes"].items()
            )
        classic.append((view.name(detector["name"]), links, ""))
    if classic:
        blocks.append(Links(items=tuple(classic), title="Classic text files"))
    versions = tuple(
        (clean(name), Cell(text=clean(version)))
        for name, version in view.results["versions"].items()
        if version is not None
    )
    blocks.append(Record(items=versions, title="Versions", kind="versions"))
    return Section(key="data", title="Data", blocks=tuple(blocks))
