"""What MkDocs does beyond its configuration: generated pages, notebooks, formulas, a check of the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import formulas
import links
import notebooks
import reference

PROPERTY = "functools.cached_property"
griffe.stdlib_decorators["edgecritic.lazy.cached_property"] = griffe.stdlib_decorators[PROPERTY]

SEARCH = 'data-md-component="search" role="dialog"'


def on_config(config: Any) -> Any:
    """Put the reference, the notebooks and pages that the navigation does not name into the navigation."""
    folder = Path(config.docs_dir)
    written = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.md"))}
    for section in config.nav:
        if "Reference" in section:
            section["Reference"] = reference.navigation()
        if "Tutorials" in section:
            section["Tutorials"] += notebooks.navigation(folder)
    named = set(_pages(config.nav))
    rest = [{_title(path): name} for name, path in written.items() if name not in named]
    if rest:
        config.nav.append({"More": rest})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages and pictures."""
    made = {f"reference/{name}": content for name, content in reference.pages().items()}
    for name, content in {**made, **notebooks.pages(Path(config.docs_dir))}.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers show without any script."""
    return formulas.as_mathml(html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the dialog of the search, which the theme leaves without a name for screen readers."""
    return output.replace(SEARCH, f'{SEARCH} aria-label="Search"')


def on_post_build(config: Any) -> None:
    """Refuse a site with dead links, or one that would load something from elsewhere."""
    faults = links.faults(Path(config.site_dir))
    if faults:
        raise PluginError("\n".join(["the site has faults:", *faults]))


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    items = nav.values() if isinstance(nav, dict) else nav
    return [page for item in items for page in _pages(item)]


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
