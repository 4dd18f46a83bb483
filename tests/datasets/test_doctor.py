"""The input doctor finds what would falsify a score, and keeps quiet about good data."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from edgecritic.cli import doctor as command
from edgecritic.datasets import synthetic
from edgecritic.datasets.doctor import check_case, diagnose
from edgecritic.datasets.write import write_bsds_mat, write_image, write_map

SCENE = synthetic.scene(2, size=(48, 64))
STRENGTH = synthetic.detect(SCENE.image)


@pytest.fixture
def folders(tmp_path):
    for name in ("a", "b"):
        write_map(tmp_path / f"p/{name}.png", STRENGTH)
        write_bsds_mat(tmp_path / f"t/{name}.mat", synthetic.annotators(SCENE.truth, 3))
        write_image(tmp_path / f"i/{name}.png", SCENE.image)
    return tmp_path


def found(folders, **options):
    diagnosis = diagnose(folders / "p", folders / "t", **options)
    return {(finding.severity, finding.kind): finding for finding in diagnosis.findings}


def test_good_data_has_no_errors_or_warnings(folders):
    diagnosis = diagnose(folders / "p", folders / "t", images=folders / "i")
    assert diagnosis.ok
    assert {finding.severity for finding in diagnosis.findings} == {"note"}
    assert (diagnosis.cases, diagnosis.annotators) == (2, (3, 3))


def test_grey_truth(folders):
    (folders / "t/a.mat").unlink()
    values = SCENE.truth.astype(np.uint8) * 255
    values[0, :3] = 254
    Image.fromarray(values).save(folders / "t/a.png")
    finding = found(folders)["error", "unusable truth"]
    assert "3 values" in finding.what
    assert "binarize" in finding.remedy
    assert ("error", "unusable truth") not in found(folders, binarize=0.5)


def test_inverted_maps(folders):
    write_bsds_mat(folders / "t/a.mat", [~SCENE.truth])
    write_map(folders / "p/b.png", 1 - STRENGTH)
    told = found(folders)
    assert "dark on white" in told["error", "inverted truth"].what
    assert "dark on white" in told["error", "inverted prediction"].what
    assert told["error", "inverted prediction"].file == "b"


def test_a_bright_but_sensible_prediction_is_only_a_warning():
    kinds = {finding.kind: finding.severity for finding in check_case(0.6 + 0.4 * STRENGTH, [SCENE.truth])}
    assert kinds == {"bright prediction": "warning"}


@pytest.mark.parametrize(
    "change, hint",
    [
        (lambda s: s.T, "transposed"),
        (lambda s: s[::2, ::2], "1/2 of the size"),
        (lambda s: np.kron(s, np.ones((2, 2))), "2 times"),
        (lambda s: np.pad(np.kron(s, np.ones((2, 2))), ((0, 1), (0, 1))), r"2::2"),
        (lambda s: np.pad(s, ((0, 5), (0, 3))), "crop the padding"),
        (lambda s: s[:30, :41], "never the truth"),
    ],
)
def test_sizes(change, hint):
    strength = change(STRENGTH)
    (finding,) = check_case(strength, [SCENE.truth], name="a")
    assert finding.severity == "error"
    assert " × ".join(map(str, strength.shape)) in finding.what
    assert "48 × 64" in finding.what
    assert hint in finding.remedy


@pytest.mark.parametrize(
    "strength, expected",
    [
        (np.zeros((48, 64)), ("warning", "empty prediction")),
        (np.full((48, 64), 0.4), ("error", "constant prediction")),
        (SCENE.truth / 255, ("error", "faint prediction")),
        (SCENE.truth * 1.0, ("note", "binary prediction")),
    ],
)
def test_useless_predictions(strength, expected):
    assert [(item.severity, item.kind) for item in check_case(strength, [SCENE.truth])] == [expected]


def test_odd_truths():
    empty = np.zeros_like(SCENE.truth)
    half = np.arange(64) < 20 + np.zeros((48, 1))
    kinds = [item.kind for item in check_case(STRENGTH, [empty, half])]
    assert kinds == ["empty truth", "filled truth"]
    assert [item.kind for item in check_case(STRENGTH, [SCENE.truth] * 5)] == ["copied truth"]


def test_masks():
    assert [item.kind for item in check_case(STRENGTH, [SCENE.truth], mask=np.zeros((48, 64), bool))] == [
        "empty mask"
    ]
    (finding,) = check_case(STRENGTH, [SCENE.truth], mask=np.ones((4, 4), bool))
    assert finding.kind == "mask of another size"


def test_names_lossy_files_depth_and_photos(folders):
    write_map(folders / "p/extra.png", STRENGTH)
    write_bsds_mat(folders / "t/lonely.mat", [SCENE.truth])
    (folders / "p/a.png").unlink()
    Image.fromarray((STRENGTH * 255).astype(np.uint8)).save(folders / "p/a.jpg")
    (folders / "p/b.png").unlink()
    write_map(folders / "p/b.npy", STRENGTH)
    write_image(folders / "i/b.png", SCENE.image[:20])
    (folders / "t/readme.md").touch()
    told = found(folders, images=folders / "i")
    assert told["warning", "no truth"].file == "extra"
    assert told["error", "no prediction"].file == "lonely"
    assert told["warning", "lossy prediction"].file.endswith("a.jpg")
    assert ("warning", "mixed depth") in told
    assert "20 × 64" in told["warning", "photo of another size"].what
    assert told["note", "ignored file"].file.endswith("readme.md")


def test_unreadable_files_are_findings(folders):
    (folders / "p/a.png").write_bytes(b"nonsense")
    (folders / "t/b.mat").write_bytes(b"nonsense" * 40)
    told = found(folders)
    assert "a.png" in told["error", "unusable prediction"].what
    assert "b.mat" in told["error", "unusable truth"].what


def test_no_common_name(folders):
    (folders / "q").mkdir()
    write_map(folders / "q/x.png", STRENGTH)
    diagnosis = diagnose(folders / "q", folders / "t")
    assert [finding.kind for finding in diagnosis.errors] == ["no cases"]
    assert "called x; truths a, b" in diagnosis.errors[0].what


def test_volumes_are_for_score_and_not_for_bench(tmp_path):
    volume = np.zeros((4, 20, 30), bool)
    volume[:, 10] = True
    for place, values in (("p", np.where(volume, 0.9, 0.1)), ("t", volume)):
        (tmp_path / place).mkdir()
        np.save(tmp_path / place / "scan.npy", values)
    diagnosis = diagnose(tmp_path / "p", tmp_path / "t")
    assert diagnosis.ok
    told = [(finding.severity, finding.kind) for finding in diagnosis.findings]
    assert told == [("warning", "grey prediction"), ("note", "volumes")]
    text = command.render(diagnosis)
    assert "1 image, 1 annotator each" in text
    assert "ready for edgecritic score" in text


def test_progress_is_told(folders):
    steps = []
    diagnose(folders / "p", folders / "t", progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 2), (2, 2)]


def run(*words):
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["doctor", *map(str, words)])
    return args.run(args)


def test_command(folders, capsys):
    assert run(folders / "p", "--truth", folders / "t", "--images", folders / "i") == 0
    assert "No errors" in capsys.readouterr().out
    write_map(folders / "p/a.png", STRENGTH.T)
    assert run(folders / "p", "--truth", folders / "t") == 1
    shown = capsys.readouterr().out
    assert "ERROR   prediction of another size" in shown
    assert "swap rows and columns" in shown
    assert run(folders / "p", "--truth", folders / "t", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["findings"][0]["file"] == "a"


@pytest.mark.data
def test_real_data_is_healthy(data):
    assert diagnose(data / "bsds_bench/ucm2", data / "bsds_bench").ok
    assert diagnose(data / "bsds_bench/png", data / "bsds_bench/groundTruth").annotators == (5, 6)


def test_segmentations_are_predictions_too(tmp_path):
    truth = np.zeros((10, 12), bool)
    truth[5] = True
    write_map(tmp_path / "truth/a.png", truth)
    (tmp_path / "segments").mkdir()
    for shape, expected in (((10, 12), []), ((12, 10), ["prediction of another size"])):
        cells = np.empty((1, 1), dtype=object)
        cells[0, 0] = np.arange(shape[0] * shape[1]).reshape(shape) // 60
        savemat(tmp_path / "segments/a.mat", {"segs": cells})
        diagnosis = diagnose(tmp_path / "segments", tmp_path / "truth")
        assert [finding.kind for finding in diagnosis.errors] == expected
