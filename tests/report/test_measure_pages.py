"""The generated pages of measures."""

from __future__ import annotations

import pytest

from edgecritic.measures import measures
from edgecritic.report.measure_pages import measure_index, measure_page, write_measure_pages


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
    write_measure_pages(tmp_path, ["hausdorff", "pri"])
    assert (tmp_path / "hausdorff.svg").stat().st_size > 2000
    assert "](hausdorff.svg)" in (tmp_path / "hausdorff.md").read_text(encoding="utf-8")
    assert not (tmp_path / "pri.svg").exists()
    assert "voxel" in measure_page(measures.get("hd95")).partition("Conventions")[2]
