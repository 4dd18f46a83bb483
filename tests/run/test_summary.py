"""summary.json in the manner of nnU-Net: read and written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.errors import DataError
from edgecritic.measures.label_maps import as_labels
from edgecritic.run import ScoreSettings, read_summary, score_folder
from edgecritic.run.summary import summary_of

# As nnU-Net v2 writes it: NaN where a label is in neither map, regions by the tuple of their numbers.
THEIRS = """{
    "foreground_mean": {"Dice": 0.75, "FN": 1.0, "FP": 0.5, "IoU": 0.65, "TN": 5.0, "TP": 2.0},
    "mean": {"(1, 2)": {"Dice": 0.75}},
    "metric_per_case": [
        {"metrics": {
            "(1, 2)": {"Dice": 0.5, "FN": 2, "FP": 0, "IoU": 0.3333333333333333, "TN": 5, "TP": 1,
                       "n_pred": 1, "n_ref": 3},
            "3": {"Dice": NaN, "FN": 0, "FP": 0, "IoU": NaN, "TN": 8, "TP": 0, "n_pred": 0, "n_ref": 0}},
         "prediction_file": "/data/out/case_1.nii.gz", "reference_file": "/data/labels/case_1.nii.gz"},
        {"metrics": {
            "(1, 2)": {"Dice": 1.0, "FN": 0, "FP": 0, "IoU": 1.0, "TN": 5, "TP": 3, "n_pred": 3, "n_ref": 3}},
         "prediction_file": "C:\\\\out\\\\case_2.nii.gz", "reference_file": "/data/labels/case_2.nii.gz"}
    ]
}"""


def test_theirs_is_read(tmp_path):
    (tmp_path / "summary.json").write_text(THEIRS)
    found = read_summary(tmp_path / "summary.json")
    assert list(found.cases) == ["case_1", "case_2"]
    assert found.labels == ("(1, 2)", "3")
    assert found.values("dice", "(1, 2)") == {"case_1": 0.5, "case_2": 1.0}
    assert found.cases["case_1"].maps[0].counts.as_dict() == {"tp": 1, "fp": 0, "fn": 2, "tn": 5}
    assert found.cases["case_1"].maps[1].absent
    assert found.files["case_2"] == ("case_2.nii.gz", "case_2.nii.gz")
    assert found.means["jaccard"] == pytest.approx(2 / 3)


def test_cases_may_lack_a_measure(tmp_path):
    text = THEIRS.replace('"IoU": 1.0, ', "")
    (tmp_path / "summary.json").write_text(text)
    found = read_summary(tmp_path / "summary.json")
    assert found.counts["jaccard"] == 1
    assert found.means["jaccard"] == pytest.approx(1 / 3)


def test_ours_has_the_numbers_of_the_masks(tmp_path):
    for folder in ("maps", "truths"):
        (tmp_path / folder).mkdir()
    rng = np.random.default_rng(1)
    pairs = {str(number): rng.integers(0, 3, (2, 6, 7)) for number in range(3)}
    pairs["2"][:, pairs["2"][0] == 2] = 0
    pairs["2"][1][pairs["2"][1] == 2] = 0
    for name, (candidate, truth) in pairs.items():
        np.save(tmp_path / f"maps/{name}.npy", candidate)
        np.save(tmp_path / f"truths/{name}.npy", truth)
    settings = ScoreSettings(measures=("dice", "hd95"), labels=as_labels([1, 2]))
    run = score_folder(tmp_path / "maps", tmp_path / "truths", settings=settings)
    found = json.loads(json.dumps(summary_of(run), allow_nan=False))
    dices = {"1": [], "2": []}
    for row, (candidate, truth) in zip(found["metric_per_case"], pairs.values(), strict=True):
        for key, metrics in row["metrics"].items():
            first, second = candidate == int(key), truth == int(key)
            assert metrics["TP"] == (first & second).sum()
            assert metrics["FP"] == (first & ~second).sum()
            assert metrics["FN"] == (~first & second).sum()
            assert metrics["TN"] == (~first & ~second).sum()
            assert (metrics["n_pred"], metrics["n_ref"]) == (first.sum(), second.sum())
            if first.any() or second.any():
                dices[key].append(2 * (first & second).sum() / (first.sum() + second.sum()))
                assert metrics["Dice"] == pytest.approx(dices[key][-1])
                assert metrics["IoU"] == pytest.approx((first & second).sum() / (first | second).sum())
            else:
                assert metrics["Dice"] is None
    assert found["metric_per_case"][0]["prediction_file"] == "0.npy"
    assert {key: row["Dice"] for key, row in found["mean"].items()} == pytest.approx(
        {key: np.mean(values) for key, values in dices.items()}
    )
    assert found["foreground_mean"]["Dice"] == pytest.approx(
        np.mean([np.mean(row) for row in dices.values()])
    )
    assert len(dices["2"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"metric_per_case": 3}',
        '{"metric_per_case": [{"metrics": {"a": {}}}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_summary(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(DataError, match=r"no summary of scores"):
        read_summary(tmp_path / "summary.json")


def test_the_command_writes_a_report_of_summaries_and_leaves_them(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    place = tmp_path / "summary.json"
    place.write_text(THEIRS)
    assert main(["score", str(place), "-o", str(tmp_path), "-q"]) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("Report: ")
    assert Path(told.removeprefix("Report: ")).exists()
    assert place.read_text() == THEIRS


@pytest.mark.parametrize("option", [["--truth", "t"], ["-m", "hd95"], ["--labels", "1"], ["--spacing", "2"]])
def test_options_that_cannot_change_a_summary_are_refused(tmp_path, capsys, option):
    (tmp_path / "summary.json").write_text(THEIRS)
    assert main(["score", str(tmp_path / "summary.json"), *option]) == 1
    assert "computed before" in capsys.readouterr().err
