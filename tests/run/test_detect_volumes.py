"""Detectors on volumes that know the size and place of their voxels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import edgecritic
from edgecritic.cli.main import main
from edgecritic.datasets import read_geometry, write_map
from edgecritic.datasets.cases import Case
from edgecritic.errors import InputError
from edgecritic.run.detect import detect_folder
from edgecritic.run.tune import tune_folder

nibabel = pytest.importorskip("nibabel")

AFFINE = np.array([[0, -1.0, 0, 5], [-2, 0, 0, -9], [0, 0, 3, 40], [0, 0, 0, 1]])


@pytest.fixture
def scan(tmp_path):
    values = np.random.default_rng(3).normal(size=(14, 13, 12)).astype(np.float32)
    values[4:10, 3:9, 3:8] += 9
    nibabel.save(nibabel.Nifti1Image(values, AFFINE), tmp_path / "scan.nii.gz")
    return tmp_path / "scan.nii.gz", values


@pytest.mark.parametrize("detector", ["canny(sigma=2)", "sobel", "log(sigma=3)", "prewitt", "central"])
def test_voxel_sizes_are_used_and_the_geometry_is_kept(tmp_path, scan, detector):
    path, values = scan
    found = detect_folder(path, detector, tmp_path / "out")
    right = edgecritic.detect(values, detector, kind="volume", spacing=(2, 1, 3))
    (one,) = found.images
    assert (one.spacing, one.maximum) == ((2, 1, 3), pytest.approx(right.maximum, rel=1e-6))
    written = nibabel.load(tmp_path / "out/scan.nii.gz")
    np.testing.assert_array_equal(written.affine, AFFINE)
    np.testing.assert_allclose(written.get_fdata(), right.strength, atol=1e-7)
    assert written.get_data_dtype() == np.float32
    assert written.header.get_zooms() == (2, 1, 3)
    assert written.header.get_xyzt_units()[0] == "mm"


def test_binary_maps_and_other_endings(tmp_path, scan, capsys):
    path, values = scan
    words = ["detect", "sobel", str(path), "-q", "-o", str(tmp_path / "out"), "--threshold", "0.3"]
    assert main([*words, "--format", "nii", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["images"]
    assert told["spacing"] == [2, 1, 3]
    assert "is used" in told["notes"][0]
    written = nibabel.load(tmp_path / "out/scan.nii")
    assert written.get_data_dtype() == np.uint8
    right = edgecritic.detect(values, "sobel", kind="volume", spacing=(2, 1, 3)).binary(0.3)
    np.testing.assert_array_equal(np.asarray(written.dataobj), right)
    assert main([*words, "--format", "npy"]) == 0
    assert "voxel size 2 × 1 × 3 is used" in capsys.readouterr().out


def test_detectors_of_images_say_that_sizes_are_not_used(tmp_path):
    plane = np.zeros((20, 22), np.float32)
    plane[8:14, 8:14] = 1
    nibabel.save(nibabel.Nifti1Image(plane, np.diag([2.0, 1, 1, 1])), tmp_path / "a.nii")
    (one,) = detect_folder(tmp_path / "a.nii", "steerable", tmp_path / "out").images
    assert one.spacing is None
    assert "voxel size 2 × 1 is not used" in one.notes[0]
    (one,) = detect_folder(tmp_path / "a.nii", "sobel", tmp_path / "out").images
    assert one.spacing == (2, 1)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32, np.float64, np.uint64])
@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_nibabel_reads_what_is_written(tmp_path, dtype, suffix):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    path = write_map(tmp_path / f"a{suffix}", array)
    loaded = nibabel.load(path)
    np.testing.assert_array_equal(np.asarray(loaded.dataobj), array)
    assert not read_geometry(path).placed
    assert path.read_bytes() == write_map(tmp_path / f"b{suffix}", array).read_bytes()


def test_nifti_cannot_hold_everything(tmp_path):
    with pytest.raises(InputError, match="cannot be written as NIfTI"):
        write_map(tmp_path / "a.nii", np.zeros((2, 40_000), bool))


def test_tune_judges_on_one_grid(tmp_path, scan):
    path, values = scan
    truth = np.zeros(values.shape, np.uint8)
    truth[4, 3:9, 3:8] = 1
    image = nibabel.Nifti1Image(truth, AFFINE)
    results = []
    for name, one in (("same", image), ("turned", image.as_reoriented([[2, -1], [0, 1], [1, 1]]))):
        (tmp_path / name).mkdir()
        nibabel.save(one, tmp_path / name / "scan.nii.gz")
        run = tune_folder(path, tmp_path / name, detectors=["sobel"], measures=["hausdorff"], thresholds=5)
        results.append(run)
    options = {"detectors": ["sobel"], "measures": ["hausdorff"], "thresholds": 5, "kind": "volume"}
    spaced = edgecritic.tune(values, truth, spacing=(2, 1, 3), **options)
    for run in results:
        np.testing.assert_allclose(run.images["scan"].values, spaced.values, rtol=1e-6)


def test_annotators_lie_on_one_grid(tmp_path):
    truth = np.zeros((5, 6, 7), np.uint8)
    truth[1:3, 2:5, 1:6] = 1
    image = nibabel.Nifti1Image(truth, AFFINE)
    nibabel.save(image, tmp_path / "1.nii")
    nibabel.save(image.as_reoriented([[1, 1], [2, -1], [0, 1]]), tmp_path / "2.nii")
    one, two = Case("a", (tmp_path / "1.nii", tmp_path / "2.nii")).load_truths()
    np.testing.assert_array_equal(one, two)
