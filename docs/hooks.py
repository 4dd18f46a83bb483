"""Pages that MkDocs makes from the registries, the docstrings and the command's own help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import reference


def on_config(config: Any) -> Any:
    """Add pages that the navigation does not name, and the reference, to the navigation."""
    named = {*_pages(config.nav), "results.md", "errors.md"}
    folder = Path(config.docs_dir)
    rest = [
        {_title(path): path.relative_to(folder).as_posix()}
        for path in sorted(folder.rglob("*.md"))
        if path.relative_to(folder).as_posix() not in named
    ]
    if rest:
        config.nav.append({"More": rest})
    made = [{title: f"reference/{page}"} for title, page in reference.CONTENTS]
    config.nav.append({"Reference": [*made, {"results.json": "results.md"}, {"Errors": "errors.md"}]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for name, content in reference.pages().items():
        files.append(File.generated(config, f"reference/{name}", content=content))
    return files


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    items = nav.values() if isinstance(nav, dict) else nav
    return [page for item in items for page in _pages(item)]


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
