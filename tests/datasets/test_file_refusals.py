"""Rare forms of files: each is either read like its plain form or refused in words that name it."""

from __future__ import annotations

import io
import struct
import zipfile

import nibabel
import numpy as np
import pytest
from PIL import Image

from edgecritic.assignment.dynamic import ExactState
from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.doctor import diagnose
from edgecritic.datasets.files import holds_segmentations, read_array, read_mask, read_volume
from edgecritic.datasets.synthetic import add_noise, write
from edgecritic.errors import DataError, InputError
from edgecritic.maps.boundaries import label_boundaries
from edgecritic.maps.suppression import triangle_filter

MASK = np.random.default_rng(6).random((9, 12)) < 0.3


def npy(array=MASK, version=None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=version)
    return stream.getvalue()


def zipped(path, members, kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_an_archive_of_one_array_needs_no_key(tmp_path):
    path = zipped(tmp_path / "one.npz", {"mask.npy": npy()})
    np.testing.assert_array_equal(read_array(path), MASK)
    np.testing.assert_array_equal(read_array(path, key="mask"), MASK)
    with pytest.raises(DataError, match="no array 'truth'"):
        read_array(path, key="truth")


@pytest.mark.parametrize(
    ("members", "kind", "message"),
    [
        ({"readme.txt": b"x"}, zipfile.ZIP_STORED, "holds 0 arrays"),
        ({"a.npy": npy()}, zipfile.ZIP_BZIP2, "unusual way"),
        ({"a.npy": npy()[:-5]}, zipfile.ZIP_DEFLATED, "truncated"),
        ({"a.npy": npy(version=(3, 0))}, zipfile.ZIP_STORED, "version"),
    ],
)
def test_archives_that_are_refused(tmp_path, members, kind, message):
    with pytest.raises(DataError, match=rf"bad\.npz.*{message}"):
        read_array(zipped(tmp_path / "bad.npz", members, kind))


def test_pictures_of_32_bits_are_refused(tmp_path):
    Image.fromarray(np.arange(12, dtype=np.int32).reshape(3, 4) * 10_000).save(tmp_path / "a.tif")
    with pytest.raises(DataError, match="8 or 16 bits"):
        read_mask(tmp_path / "a.tif")


def test_runs_that_leave_pixels_out(tmp_path):
    (tmp_path / "a.seg").write_text("width 3\nheight 2\ndata\n0 0 0 2\n1 1 0 1\n")
    assert holds_segmentations(tmp_path / "a.seg")
    with pytest.raises(DataError, match="cover each"):
        read_array(tmp_path / "a.seg")


def test_volumes_without_a_spacing_have_unit_voxels(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 3, 4)))
    assert read_volume(tmp_path / "a.npy").spacing == (1.0, 1.0, 1.0)


def test_volumes_of_the_other_byte_order(tmp_path):
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    nibabel.save(nibabel.Nifti1Image(values, np.diag([2, 3, 4, 1]).astype(float)), tmp_path / "a.nii")
    image = nibabel.load(tmp_path / "a.nii")
    swapped = nibabel.Nifti1Image(values, image.affine, image.header.as_byteswapped(">"))
    swapped.to_filename(tmp_path / "b.nii")
    found = read_volume(tmp_path / "b.nii")
    np.testing.assert_array_equal(found.array, values)
    assert found.spacing == (2, 3, 4)


@pytest.mark.parametrize(
    ("kind", "place", "content", "message"),
    [
        (nibabel.Nifti1Image, 70, struct.pack("<h", 128), "datatype 128"),
        (nibabel.Nifti1Image, 108, struct.pack("<f", np.nan), "impossible place"),
        (nibabel.Nifti2Image, 4, b"ni2\0", "magic"),
    ],
)
def test_headers_of_volumes_that_are_refused(tmp_path, kind, place, content, message):
    nibabel.save(kind(np.zeros((2, 3, 4), np.uint8), np.eye(4)), tmp_path / "a.nii")
    raw = bytearray((tmp_path / "a.nii").read_bytes())
    raw[place : place + len(content)] = content
    (tmp_path / "a.nii").write_bytes(raw)
    with pytest.raises(DataError, match=message):
        read_volume(tmp_path / "a.nii")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: add_noise(np.eye(3), 10, reference="mean"), "variance"),
        (lambda: write("nowhere", 1, truth="gif"), "'mat' or 'png'"),
        (lambda: label_boundaries(np.zeros((2, 2, 2), int)), "2 dimensions"),
        (
            lambda: ExactState([MASK], tolerance=2, universe=MASK).update(added=np.flatnonzero(~MASK)[:1]),
            "universe",
        ),
    ],
)
def test_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_smallest_triangle_changes_nothing():
    values = np.random.default_rng(1).random((4, 5)).astype(np.float32)
    found = triangle_filter(values, 0)
    np.testing.assert_array_equal(found, values)
    assert found is not values


def test_one_map_against_one_file(tmp_path):
    home = write(tmp_path, 1, truth="png", detectors=["good"])
    truth = next((home / "truth").rglob("*.png"))
    prediction = next((home / "predictions" / "good").iterdir())
    target = truth.with_name(prediction.name)
    truth.rename(target)
    found = find_cases(prediction.parent, target)
    assert [case.truths for case in found.cases] == [(target,)]


def test_the_doctor_misses_photos_and_masks(tmp_path):
    home = write(tmp_path, 2, detectors=["good"])
    photos = sorted((home / "images").iterdir())
    photos[0].unlink()
    photos[1].write_bytes(photos[1].read_bytes()[:40])
    found = diagnose(home / "predictions" / "good", home / "truth", images=home / "images")
    assert {finding.kind for finding in found.findings} >= {"no photo", "unusable photo"}
    assert found.ok
