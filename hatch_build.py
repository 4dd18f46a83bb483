"""The description on PyPI: README.md with links that lead somewhere from there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Make ``readme`` of the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description; `metadata` is the table ``project`` of pyproject.toml."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        home = metadata.get("urls", {}).get("Repository", "")
        text = published(text, home, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def published(text: str, home: str, version: str) -> str:
    """Return a README with absolute addresses of the files of one version.

    PyPI shows no pictures and follows no links that are relative. Without the address of a repository
    (`home`) pictures are left out and links become plain text, so that nothing is broken.

    Examples
    --------
    >>> published("![A](docs/a.png) [B](docs/b.md#c) [D](https://d.org)", "https://x.org/e", "1.0")
    '![A](https://x.org/e/raw/v1.0/docs/a.png) [B](https://x.org/e/blob/v1.0/docs/b.md#c) [D](https://d.org)'
    >>> published("See [B](docs/b.md).", "", "1.0")
    'See B.'
    """

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        if not home:
            return "" if picture else words
        return f"{picture}[{words}]({home.rstrip('/')}/{'raw' if picture else 'blob'}/v{version}/{target})"

    return LINK.sub(link, text)
