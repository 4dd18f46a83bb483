"""The report of a run of scores: figures of the worst cases, statistics, problems."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from edgecritic.datasets import Geometry, write_map
from edgecritic.measures import compare
from edgecritic.measures.label_maps import Label, Labels, as_labels
from edgecritic.report.score_lesions import lesions_of_runs
from edgecritic.report.score_slices import draw_slices
from edgecritic.report.scores import write_scores
from edgecritic.run import ScoreSettings, score_folder

pytest.importorskip("matplotlib")


@pytest.fixture
def volumes(tmp_path):
    """Three volumes with two labels; the second prediction is the worst, the third is missing."""
    for folder in ("maps", "truths"):
        (tmp_path / folder).mkdir()
    truth = np.zeros((12, 16, 16), np.uint8)
    truth[3:8, 4:10, 4:10], truth[4:7, 12:15, 3:9] = 1, 2
    for number in range(3):
        np.save(tmp_path / f"truths/case{number}.npy", truth)
    np.save(tmp_path / "maps/case0.npy", np.roll(truth, 1, axis=1))
    np.save(tmp_path / "maps/case1.npy", np.roll(truth, 3, axis=2))
    return tmp_path


def test_files_of_a_run(volumes):
    settings = ScoreSettings(measures=("dice", "hd95"), labels=as_labels("all"))
    folders = volumes / "maps", volumes / "truths"
    run = score_folder(*folders, settings=settings)
    written = write_scores(
        volumes / "out", {"maps": run}, folders={"maps": folders}, settings=settings, draws=50
    )
    names = {path.name for path in written}
    assert {"worst-maps-1.png", "worst-maps-3.png", "distribution-2.png", "summary.json"} <= names
    text = (volumes / "out/report.md").read_text()
    assert "no prediction for case2" in text
    dices = {(case, label): value for label in "12" for case, value in run.values("dice", label).items()}
    case, label = min(dices, key=dices.get)
    first = text.index(f"{case}, {label}: dice {dices[case, label]:.4g}")
    assert all(text.index(f"{c}, {k}: dice") >= first for c, k in dices if f"{c}, {k}: dice" in text)
    again = {path.name: path.read_bytes() for path in written}
    write_scores(volumes / "out", {"maps": run}, folders={"maps": folders}, settings=settings, draws=50)
    assert again == {path.name: path.read_bytes() for path in written}


def test_lesions_have_a_table_and_strata(volumes):
    settings = ScoreSettings(measures=("dice", "lesion_f1(rule=brats-met)", "pq"), labels=as_labels("1"))
    folders = volumes / "maps", volumes / "truths"
    run = score_folder(*folders, settings=settings)
    write_scores(volumes / "out", {"maps": run}, folders={"maps": folders}, settings=settings, draws=50)
    rows = list(csv.DictReader(io.StringIO((volumes / "out/lesions.csv").read_text())))
    assert {(row["case"], row["rule"], row["kind"]) for row in rows} == {
        *(("case0", "brats-met", "hit"), ("case0", "panoptica", "hit"), ("case1", "brats-met", "hit")),
        *(("case1", "panoptica", "miss"), ("case1", "panoptica", "false alarm")),
    }
    assert {row["volume"] for row in rows} == {"180.0"}  # 5 × 6 × 6
    text = (volumes / "out/lesions-by-volume.csv").read_text()
    assert "maps,1,panoptica,< 1000,2,1,1,1,0.5" in text


def test_lesions_are_listed_with_the_tolerance_that_was_used(volumes):
    """The second is moved by 3: all of its surface lies within 3 of the truth, not all within 1."""
    folders = volumes / "maps", volumes / "truths"
    own = Labels(wanted=(Label(name="one", values=(1,), tolerance=3.0),))
    every = {
        "id": ScoreSettings(measures=("lesion_f1", "lesion_nsd(tolerance=3)"), labels=as_labels("1")),
        "option": ScoreSettings(measures=("lesion_nsd",), labels=as_labels("1"), tolerance=3),
        "label": ScoreSettings(measures=("lesion_f1", "lesion_nsd"), labels=own),
    }
    for settings in every.values():
        run = score_folder(*folders, settings=settings)
        found = lesions_of_runs({"maps": run}, {"maps": folders}, settings)
        assert [lesions.nsd for *_, lesions in found] == [1.0, 1.0]
        (name,) = (name for name in run.measures if name.startswith("lesion_nsd"))
        assert set(run.values(name, run.labels[0]).values()) == {1.0}
    settings = ScoreSettings(measures=("lesion_nsd(tolerance=1)",), labels=own)
    run = score_folder(*folders, settings=settings)
    found = lesions_of_runs({"maps": run}, {"maps": folders}, settings)
    assert [lesions.nsd for *_, lesions in found] == list(run.values("lesion_nsd", "one").values())
    assert min(lesions.nsd for *_, lesions in found) < 1


def test_tables_of_an_earlier_run_do_not_stay(volumes):
    folders = volumes / "maps", volumes / "truths"
    kept = volumes / "out/differences.csv"
    kept.parent.mkdir()
    kept.write_text("a table of somebody else\n")
    for measures in (("lesion_f1",), ("dice",)):
        settings = ScoreSettings(measures=measures, labels=as_labels("1"))
        run = score_folder(*folders, settings=settings)
        write_scores(volumes / "out", {"maps": run}, folders={"maps": folders}, settings=settings, draws=50)
        assert (volumes / "out/lesions.csv").exists() == ("lesion_f1" in measures)
        assert (volumes / "out/lesions-by-volume.csv").exists() == ("lesion_f1" in measures)
    assert kept.exists()


def test_the_report_tells_what_was_done_to_volumes(tmp_path):
    truth = np.zeros((8, 9, 7), np.uint8)
    truth[2:5, 3:7, 2:5] = 1
    ras, shifted = np.eye(4), np.eye(4)
    shifted[0, 3] = 1
    write_map(tmp_path / "maps/a.nii.gz", truth, geometry=Geometry.of(shifted, truth.shape))
    write_map(tmp_path / "truths/a.nii.gz", truth, geometry=Geometry.of(ras, truth.shape))
    settings = ScoreSettings(measures=("nsd",), resample="nearest")
    folders = tmp_path / "maps", tmp_path / "truths"
    run = score_folder(*folders, settings=settings)
    write_scores(tmp_path / "out", {"maps": run}, folders={"maps": folders}, settings=settings, draws=50)
    text = (tmp_path / "out/report.md").read_text()
    assert "a: the candidate a.nii.gz: resampled onto the grid of the truth" in text
    assert "surface=voxel in nsd" in text


@pytest.mark.parametrize("shape", [(9, 11), (1, 9, 11), (5, 9, 11)])
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, False)])
def test_slices_of_all_kinds_of_maps(shape, sides):
    maps = np.zeros((2, *shape), bool)
    for mask, some in zip(maps, sides, strict=True):
        mask[..., 3:6, 2:7] = some
    figure = draw_slices(compare(*maps, spacing=2), name="a", title="a", caption="a")
    assert figure.content["png"].startswith(b"\x89PNG")
