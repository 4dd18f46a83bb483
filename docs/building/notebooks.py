"""Notebooks as pages: their text, their code, and what it shows.

Notebooks are stored without outputs. They are executed in an empty folder while the site is built, and what
they gave is kept in ``build/notebooks`` until they or the package change. Where something that one needs is
not installed, its page has no outputs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "notebooks"
ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "notebooks"
LONGEST = 300
"""Seconds that one cell may take."""

PICTURES = {"image/png": ".png", "image/jpeg": ".jpg", "image/svg+xml": ".svg"}
COLOURED = re.compile(r"\x1b\[[0-9;]*m")


def navigation(docs: Path) -> list[dict[str, Any]]:
    """Return the part of the navigation that names the notebooks: nothing if there are none."""
    found = [{title(path): f"{FOLDER}/{path.stem}.md"} for path in _notebooks(docs)]
    return [{"Notebooks": found}] if found else []


def pages(docs: Path) -> dict[str, str | bytes]:
    """Return the page of every notebook and its pictures, by their names below the folder of documents."""
    made: dict[str, str | bytes] = {}
    for path in _notebooks(docs):
        made |= page(path)
    return made


def title(path: Path) -> str:
    """Return the first heading of a notebook."""
    for cell in _read(path)["cells"]:
        found = re.search(r"^# (.+)$", _text(cell["source"]), re.MULTILINE)
        if cell["cell_type"] == "markdown" and found:
            return found[1]
    return path.stem


def page(path: Path) -> dict[str, str | bytes]:
    """Return the page of one notebook and its pictures."""
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in executed(path)["cells"]:
        text = _text(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            parts.append(text)
        elif cell["cell_type"] == "code" and text:
            parts.append(_fenced("python", text))
            for output in cell.get("outputs", ()):
                parts += _output(output, path.stem, pictures)
    link = f'[Download this notebook]({path.name}){{ download="{path.name}" }}'
    parts.insert(1, link)
    made: dict[str, str | bytes] = {f"{FOLDER}/{path.stem}.md": "\n\n".join(parts) + "\n"}
    return made | {f"{FOLDER}/{name}": content for name, content in pictures.items()}


def executed(path: Path) -> Any:
    """Return a notebook with what its cells show, or as it is where something that it needs is missing."""
    if any(cell.get("outputs") for cell in _read(path)["cells"]):
        return _read(path)
    kept = KEPT / f"{path.stem}-{_state(path)}.ipynb"
    if kept.exists():
        return _read(kept)
    content = path.read_text(encoding="utf-8")
    needed = ["nbclient", "ipykernel", *(["torchmetrics"] if "edgecritic.torch" in content else [])]
    if any(find_spec(name) is None for name in needed):
        return _read(path)
    import nbclient
    import nbformat

    notebook = nbformat.reads(content, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Newer kernels warn that their ports are not encrypted; only this machine reaches them.
        client = nbclient.NotebookClient(
            notebook,
            timeout=LONGEST,
            kernel_name="python3",
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    KEPT.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    nbformat.write(notebook, part)
    part.replace(kept)
    return _read(kept)


def _state(path: Path) -> str:
    """Return what a notebook's outputs depend on, as a short text: itself and the package."""
    found = hashlib.sha256(path.read_bytes())
    for file in sorted((ROOT / "src").rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _output(output: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """Yield an output as Markdown: a picture before HTML before text; progress on stderr is left out."""
    data = output.get("data", {})
    for kind, suffix in PICTURES.items():
        if kind in data:
            text = _text(data[kind])
            name = f"{stem}-{len(pictures) + 1}{suffix}"
            pictures[name] = text.encode() if suffix == ".svg" else base64.b64decode(text)
            yield f"![What the code above draws]({name})"
            return
    if "text/html" in data:
        yield f'<div class="output">\n{_text(data["text/html"]).strip()}\n</div>'
    elif "text/plain" in data:
        yield _fenced("text", _text(data["text/plain"]))
    elif output["output_type"] == "stream" and output.get("name") == "stdout":
        yield _fenced("text", _text(output["text"]).rstrip("\n"))
    elif output["output_type"] == "error":
        yield _fenced("text", f"{output['ename']}: {COLOURED.sub('', output['evalue'])}")


def _fenced(language: str, text: str) -> str:
    longest = max((len(found) for found in re.findall(r"^`{3,}", text, re.MULTILINE)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{COLOURED.sub('', text)}\n{fence}"


def _notebooks(docs: Path) -> list[Path]:
    return sorted((docs / FOLDER).glob("*.ipynb"))


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
