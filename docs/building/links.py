"""Look through a built site: links and anchors that lead nowhere, and what would be loaded from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("img", "src"), ("object", "data"),
    ("script", "src"), ("source", "src"), ("video", "poster"), ("video", "src"),
}  # fmt: skip
"""Tags and attributes whose address is fetched as soon as a page is opened."""
IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """What one page offers and asks for.

    Attributes
    ----------
    anchors : set of str
        Names within the page that links may lead to.
    links, loaded : list of str
        Addresses of links, and those that are fetched with the page.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note names and addresses of one tag."""
        given = {key: value or "" for key, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        self.loaded += [given[key] for key in given if (tag, key) in LOADED]
        self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.loaded += IN_STYLES.findall(given.get("style", ""))
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev", "edit"):
            self.loaded.append(given.get("href", ""))
        elif tag in ("a", "area", "link") and "href" in given:
            self.links.append(given["href"])


def faults(site: Path) -> list[str]:
    """Return a line for every dead link and every address that is loaded from elsewhere; none is good."""
    site = site.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        asked = [*page.links, *page.loaded]
        dead = [each for each in asked if not _is_outside(each) and not _leads_somewhere(each, path, pages)]
        found += [f"{_name(path, site)}: {each or 'an empty address'} leads nowhere" for each in dead]
        found += _foreign(path, site, page.loaded)
    for path in sorted(site.rglob("*.css")):
        found += _foreign(path, site, IN_STYLES.findall(path.read_text(encoding="utf-8")))
    return found


def _foreign(path: Path, site: Path, addresses: list[str]) -> list[str]:
    outside = [each for each in addresses if _is_outside(each) and urlsplit(each).scheme != "data"]
    return [f"{_name(path, site)}: {each} is loaded from elsewhere" for each in outside]


def _name(path: Path, site: Path) -> str:
    return path.relative_to(site).as_posix()


def _is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


def _leads_somewhere(address: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    # Only the page for addresses that are not there, at the root of the site, has links that begin with it.
    goal = (path.parent / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if goal.is_dir():
        goal /= "index.html"
    if not goal.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or goal not in pages or anchor in pages[goal].anchors
