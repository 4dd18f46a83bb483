"""The report of a run of scores: figures of the worst cases, statistics, problems."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from edgecritic.measures import compare
from edgecritic.measures.label_maps import as_labels
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


@pytest.mark.parametrize("shape", [(9, 11), (1, 9, 11), (5, 9, 11)])
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, False)])
def test_slices_of_all_kinds_of_maps(shape, sides):
    maps = np.zeros((2, *shape), bool)
    for mask, some in zip(maps, sides, strict=True):
        mask[..., 3:6, 2:7] = some
    figure = draw_slices(compare(*maps, spacing=2), name="a", title="a", caption="a")
    assert figure.content["png"].startswith(b"\x89PNG")
