"""The classic files of regions: every published digit, round trips, nonsense is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from edgecritic.datasets.files import read_array, read_segmentations
from edgecritic.errors import DataError, EdgeCriticError
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.region_summary import summarise_regions
from edgecritic.protocols.regions import sweep_hierarchy, sweep_segmentations
from edgecritic.report.classic import REGION_FILES
from edgecritic.report.classic_regions import read_image_regions, read_regions, write_regions


@pytest.mark.data
@pytest.mark.parametrize("test", ["test_1", "test_4", "test_5"])
def test_every_published_digit(data, tmp_path, test):
    """test_1 is all of hierarchies (ucm2), test_4 all of segmentations (segs), test_5 their regions alone."""
    home = data / "bsds_bench"
    five = get_protocol("bsds-regions").with_changes("five", thresholds=5)
    found = {}
    for path in (home / "groundTruth").iterdir():
        truths = read_segmentations(path)
        if test == "test_1":
            hierarchy = read_array(home / "ucm2" / path.name, key="ucm2")
            found[path.stem] = sweep_hierarchy(hierarchy, truths, protocol=five)
        else:
            segmentations = read_segmentations(home / "segs" / path.name)
            found[path.stem] = sweep_segmentations(segmentations, truths)
    write_regions(tmp_path, found)
    for name in REGION_FILES:
        assert (tmp_path / name).read_bytes() == (home / test / name).read_bytes(), name


@pytest.mark.data
@pytest.mark.parametrize("test", ["test_1", "test_4", "test_5"])
def test_published_files_are_read(data, test):
    home = data / "bsds_bench" / test
    found = read_regions(home)
    assert (found.covering.ods, found.covering.best) == (0.654023, 0.749811)
    assert (found.pri.ods, found.pri.ois, found.voi.ods) == (0.826926, 0.898299, 1.36877)
    assert found.voi_curve.tolist() == np.loadtxt(home / "eval_RI_VOI_thr.txt")[:, 2].tolist()
    assert [one["recall"] for one in found.images] == np.loadtxt(home / "eval_cover_img.txt")[:, 2].tolist()


@pytest.fixture
def written(tmp_path):
    rng = np.random.default_rng(1)
    found = {}
    for name in ("b", "a", "c"):
        truths = [rng.integers(0, 3, (20, 30)) for _ in range(2)]
        found[name] = sweep_segmentations([rng.integers(0, count, (20, 30)) for count in (9, 4, 2)], truths)
    write_regions(tmp_path, found)
    return tmp_path, found


def test_files_hold_what_was_found(written):
    folder, found = written
    summary, again = summarise_regions(found), read_regions(folder)
    for name in ("covering", "pri", "voi"):
        ours, theirs = getattr(summary, name), getattr(again, name)
        assert theirs.ods == pytest.approx(ours.ods, rel=1e-5)
        assert theirs.ois == pytest.approx(ours.ois, rel=1e-5)
        assert theirs.threshold == ours.threshold
    in_order = [found[name].covering.max() for name in "abc"]
    assert [one["recall"] for one in again.images] == pytest.approx(in_order, rel=1e-5)
    one = read_image_regions(folder, "b")
    assert one.annotators == 2
    assert one.best == pytest.approx(found["b"].best, rel=1e-5)
    assert one.covering == pytest.approx(found["b"].covering, rel=1e-5)
    assert one.voi == pytest.approx(found["b"].voi, rel=1e-5)


@pytest.mark.parametrize("name", REGION_FILES)
@pytest.mark.parametrize(
    "text", ["", "1 2\n", "x y z\n", "0.5 7 7 7\n", "1 0.5 7 7 7 7\n", "0.5 9\n", "0.5 9 9\n"]
)
def test_nonsense_is_refused(written, name, text):
    folder, _ = written
    (folder / name).write_text(text)
    with pytest.raises(DataError, match=name):
        read_regions(folder)


def test_missing_and_mixed_files_are_refused(written, tmp_path):
    folder, _ = written
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    for name in ("eval_RI_VOI_thr.txt", "b_ev4.txt"):
        lines = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join(lines[:-1]))
    with pytest.raises(DataError, match="other thresholds"):
        read_regions(folder)
    with pytest.raises(DataError, match="other thresholds"):
        read_image_regions(folder, "b")
    with pytest.raises(EdgeCriticError, match="nowhere_ev2"):
        read_image_regions(folder, "nowhere")
