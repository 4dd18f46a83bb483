"""The doctor and volumes: masks of 0 and 1 are right, and grids are judged as `score` judges them."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets import diagnose

nibabel = pytest.importorskip("nibabel")

BALL = (np.indices((9, 10, 11)).T - 5.0).T
BALL = ((BALL**2).sum(axis=0) < 9).astype(np.uint8)


def volumes(home, found, truth=BALL, affine=None, ending=".nii.gz"):
    for folder, array, place in (("found", found, affine), ("truth", truth, None)):
        (home / folder).mkdir(exist_ok=True)
        image = nibabel.Nifti1Image(array, np.eye(4) if place is None else place)
        nibabel.save(image, home / folder / f"a{ending}")
    return home / "found", home / "truth"


def kinds(diagnosis, severity):
    return [finding.kind for finding in diagnosis.findings if finding.severity == severity]


@pytest.mark.parametrize("scale", [1, 255])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_masks_are_no_error(tmp_path, dtype, scale):
    diagnosis = diagnose(*volumes(tmp_path, (BALL * dtype(scale)).astype(dtype)))
    assert diagnosis.ok
    assert kinds(diagnosis, "warning") == []
    assert kinds(diagnosis, "note") == ["volumes"]


def test_large_objects_and_empty_maps_are_warned_of(tmp_path):
    full = np.ones_like(BALL)
    full[0] = 0
    assert kinds(diagnose(*volumes(tmp_path, full, full)), "warning") == [
        "inverted truth",
        "inverted prediction",
    ]
    assert kinds(diagnose(*volumes(tmp_path, 0 * BALL)), "warning") == ["empty prediction"]


def test_label_maps_are_named(tmp_path):
    diagnosis = diagnose(*volumes(tmp_path, 3 * BALL, 2 * BALL))
    assert diagnosis.ok
    assert kinds(diagnosis, "note") == ["volumes", "label truth", "label prediction"]
    assert "1 object(s) (3); score judges them with --labels all" in diagnosis.findings[2].what


def test_grey_and_bad_values(tmp_path):
    assert kinds(diagnose(*volumes(tmp_path, BALL * 0.4 + 0.1)), "warning") == ["grey prediction"]
    assert kinds(diagnose(*volumes(tmp_path, BALL, BALL * 0.4 + 0.1)), "error") == ["grey truth"]
    assert kinds(diagnose(*volumes(tmp_path, BALL * 0.4 + 0.1), binarize=0.5), "warning") == []
    hole = BALL.astype(np.float32)
    hole[0, 0, 0] = np.nan
    assert kinds(diagnose(*volumes(tmp_path, hole)), "error") == ["unusable prediction"]
    assert kinds(diagnose(*volumes(tmp_path, BALL + np.uint8(7) - BALL)), "error") == ["constant prediction"]


def test_grids_are_judged_as_score_does(tmp_path, capsys):
    shifted = np.eye(4)
    shifted[0, 3] = 7
    found, truth = volumes(tmp_path, BALL, affine=shifted)
    diagnosis = diagnose(found, truth)
    assert kinds(diagnosis, "error") == ["other grid"]
    assert main(["score", str(found / "a.nii.gz"), str(truth / "a.nii.gz"), "-m", "dice"]) == 1
    error = diagnosis.errors[0]
    assert f"{error.what}; {error.remedy}" in capsys.readouterr().err
    turned = nibabel.Nifti1Image(BALL, np.eye(4)).as_reoriented([[1, 1], [0, -1], [2, 1]])
    nibabel.save(turned, found / "a.nii.gz")
    diagnosis = diagnose(found, truth)
    assert diagnosis.ok
    assert kinds(diagnosis, "note") == ["volumes", "geometry"]


def test_volumes_without_geometry_must_have_one_shape(tmp_path):
    found, truth = volumes(tmp_path, BALL)
    (found / "a.nii.gz").unlink()
    np.save(found / "a.npy", BALL[1:])
    assert kinds(diagnose(found, truth), "error") == ["prediction of another size"]
    np.save(found / "a.npy", BALL)
    assert diagnose(found, truth).ok


def test_damaged_volumes_are_named(tmp_path):
    found, truth = volumes(tmp_path, BALL)
    (found / "a.nii.gz").write_bytes((found / "a.nii.gz").read_bytes()[:-20])
    assert kinds(diagnose(found, truth), "error") == ["unusable prediction"]
