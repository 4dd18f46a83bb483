"""The generated pages of measures."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.measures import measures
from edgecritic.report.measure_pages import measure_index, measure_page, write_measure_pages
from edgecritic.report.measure_pictures import deformations, measure_picture


@pytest.mark.parametrize("entry", list(measures), ids=lambda entry: entry.name)
def test_every_page_tells_everything(entry):
    page = measure_page(entry)
    assert page.startswith(f"# `{entry.name}` (")
    assert entry.info.reference in page
    assert ("no edge pixels" in page) == (entry.info.empty is not None)
    assert all(f"`{name}`" in page for name in entry.parameters)
    assert ">>> " in page


def test_index_links_every_page(tmp_path):
    written = write_measure_pages(tmp_path / "measures", pictures=False)
    index = written[0].read_text(encoding="utf-8")
    assert index == measure_index(measures)
    for path in written[1:]:
        assert f"]({path.name})" in index


def test_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    write_measure_pages(tmp_path, ["hausdorff", "pri"], formulas={"pri": "x^2"})
    for name in ("hausdorff.svg", "hausdorff-maps.svg", "pri-maps.svg"):
        assert (tmp_path / name).stat().st_size > 2000
        assert f"]({name})" in (tmp_path / f"{name[: name.index('.')].removesuffix('-maps')}.md").read_text(
            encoding="utf-8"
        )
    assert not (tmp_path / "pri.svg").exists()
    assert "$$\nx^2\n$$" in (tmp_path / "pri.md").read_text(encoding="utf-8")
    assert "voxel" in measure_page(measures.get("hd95")).partition("Conventions")[2]


@pytest.mark.parametrize("entry", list(measures), ids=lambda entry: entry.name)
def test_every_measure_has_a_picture_of_six_maps(entry):
    """The truth itself has the best value, and no other map a better one; the picture shows all values."""
    pytest.importorskip("skimage")
    picture = measure_picture(entry)
    cases = deformations(entry.info)
    assert picture.count("<rect") == len(cases) == 6
    assert all(f">{name}</text>" in picture for name, _, _ in cases)
    if entry.info.needs == "candidate":
        return
    values = [entry.function(candidate, truth) for _, candidate, truth in cases]
    best = min(values) if entry.info.better == "lower" else max(values)
    assert values[0] == best
    assert all(f"= {value:.3g}<" in picture for value in values)


def test_values_of_the_picture_by_hand():
    picture = measure_picture(measures.get("recall"))
    cases = {name: (candidate, truth) for name, candidate, truth in deformations(measures.get("recall").info)}
    candidate, truth = cases["a line missing"]
    share = np.logical_and(candidate, truth).sum() / truth.sum()
    assert 0.5 < share < 0.95
    assert f">R = {share:.3g}<" in picture
    moved, _ = cases["moved by 2 px"]
    assert (moved[:, 2:] == truth[:, :-2]).all()
