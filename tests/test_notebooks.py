"""The notebooks of the documentation run from nothing, and show what they promise."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(HOME.glob("*.ipynb"))


def name_of(path: Path) -> str:
    return path.stem


def executed(path: Path) -> str:
    """Return everything that the cells of a notebook show, as the documentation does."""
    for name in ("nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(name)
    building = runpy.run_path(str(HOME.parent / "building" / "notebooks.py"))
    notebook = building["executed"](path)
    shown = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return "\n".join(json.dumps(one) for one in shown)


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == [
        "annotators",
        "classical-detectors",
        "first-benchmark",
        "surfaces",
        "training-loop",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_they_are_kept_without_outputs(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["cells"][0]["source"][0].startswith("# ")
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.notebooks
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem != "training-loop"], ids=name_of)
def test_they_run_and_show_pictures(path):
    shown = executed(path)
    assert "data:image/png;base64," in shown or '"image/png"' in shown
    assert "Warning" not in shown


@pytest.mark.slow
@pytest.mark.notebooks
@pytest.mark.filterwarnings("ignore")
def test_the_training_learns(torch):
    shown = executed(HOME / "training-loop.ipynb")
    epochs = [float(value) for value in re.findall(r"epoch \d: .*?ODS (0\.\d+)", shown)]
    assert len(epochs) == 6
    assert max(epochs) > epochs[0]
    one, other = map(float, re.search(r"\((0\.\d+), (0\.\d+)\)", shown).groups())
    assert one == pytest.approx(other, abs=1e-3)
