"""Names that differ in their role only: paired where there is no choice, and said; never on a guess."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets import find_cases
from edgecritic.datasets.names import ROLES, pair_by_role, without_role
from edgecritic.datasets.write import write_map


def folders(home, predictions, truths):
    for folder, names in (("found", predictions), ("truth", truths)):
        for name in names:
            write_map(home / folder / f"{name}.npy", np.eye(9, dtype=bool))
    return home / "found", home / "truth"


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("mark", "_-.")
def test_every_role_is_taken_off_once(role, mark):
    assert without_role(f"case0{mark}{role}") == "case0"
    assert without_role(f"case0{mark}{role.upper()}") == "case0"
    assert without_role(f"case0_seg{mark}{role}") == "case0_seg"
    assert without_role(role) == role
    assert without_role(f"case0{role}") == f"case0{role}"


@pytest.mark.parametrize(
    "predictions, truths, expected",
    [
        (["a_seg"], ["a"], {"a_seg": "a"}),
        (["a"], ["a_gt"], {"a": "a_gt"}),
        (["a_pred"], ["a_label"], {"a_pred": "a_label"}),
        (["a_pred", "a_seg"], ["a"], {}),
        (["a_pred"], ["a_gt", "a_mask"], {}),
        (["a", "a_seg"], ["a"], {}),
        (["a_seg"], ["a_seg", "a"], {}),
        (["a_seg"], ["ab", "b"], {}),
        (["1_seg", "10_seg"], ["1", "10"], {"1_seg": "1", "10_seg": "10"}),
        (["scene/a_seg"], ["other/a"], {}),
    ],
)
def test_only_what_is_sure_is_paired(predictions, truths, expected):
    assert pair_by_role(predictions, truths) == expected


def test_cases_are_called_like_their_truths(tmp_path):
    found = find_cases(*folders(tmp_path, ["a_seg", "b", "c_seg"], ["a", "b", "d"]), roles=True)
    assert [(case.id, case.prediction.name) for case in found] == [("a", "a_seg.npy"), ("b", "b.npy")]
    assert (found.by_role, found.without_truth, found.without_prediction) == (
        (("a_seg", "a"),),
        ("c_seg",),
        ("d",),
    )
    assert found.notes() == ["paired by names without endings such as _seg or _gt: a_seg with a"]
    assert len(find_cases(tmp_path / "found", tmp_path / "truth")) == 1


def test_commands_say_that_names_differ(tmp_path, capsys):
    found, truth = folders(tmp_path, ["a_seg"], ["a_gt"])
    words = [str(found), "--truth", str(truth), "-q"]
    assert main(["score", *words, "-m", "dice", "--json", "--jobs", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["scores"] == {"dice": 1}
    assert "a_seg with a_gt" in told["notes"][0]
    assert main(["score", *words, "-m", "dice", "--jobs", "1"]) == 0
    assert "a_seg with a_gt" in capsys.readouterr().out
    assert main(["score", str(found / "a_seg.npy"), "--truth", str(truth), "-m", "dice"]) == 0
    assert main(["doctor", *words]) == 0
    assert "a_seg with a_gt" in capsys.readouterr().out
    assert main(["bench", *words, "--protocol", "bsds", "--jobs", "1", "-o", str(tmp_path / "out")]) == 0
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert any("a_seg with a_gt" in note for note in results["notes"])
