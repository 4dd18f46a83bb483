"""DICOM segmentations: labels and places as highdicom tells them; without the extra, how to get it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic.datasets import read_array, read_geometry, read_volume
from edgecritic.datasets.content import Content
from edgecritic.errors import DataError, MissingExtraError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))


def start(syntax=b"1.2.840.10008.1.2.1"):
    """Return the first bytes of a DICOM file, with how it is packed."""
    padded = syntax + b"\0" * (len(syntax) % 2)
    return bytes(128) + b"DICM" + b"\2\0\x10\0UI" + len(padded).to_bytes(2, "little") + padded


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(MissingExtraError, match=r"edgecritic\[medical\]"):
        read_array(Content(Path("a.dcm"), start()))


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "no DICOM file"),
        (bytes(300), "no DICOM file"),
        (start(b"1.2.840.10008.1.2.1.99"), "packs its frames"),
        (start(b"1.2.840.10008.1.2.4.90"), "packs its frames"),
        (bytes(128) + b"DICM", "packs its frames"),
        (bytes(128) + b"DICM\2\0\1\0OB\0\0\xff\xff\xff\xff", "packs its frames"),
    ],
)
def test_what_is_refused_before_anything_is_unpacked(content, words):
    with pytest.raises(DataError, match=words):
        read_array(Content(Path("a.dcm"), content))


def changed(**more):
    """Return the sample with other elements."""
    pydicom = pytest.importorskip("pydicom")
    dataset = CORPUS["dicom_dataset"](np.eye(6, 8, dtype=np.uint8)[None])
    for name, value in more.items():
        setattr(dataset, name, value)
    stream = pydicom.filebase.DicomBytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return Content(Path("a.dcm"), stream.getvalue())


@pytest.mark.parametrize(
    "more, words",
    [
        ({"SOPClassUID": "1.2.840.10008.5.1.4.1.1.2"}, "no segmentation"),
        ({"SegmentationType": "FRACTIONAL"}, "fractional"),
        ({"NumberOfFrames": 3}, "number of frames"),
        ({"Rows": 60000}, "bytes of frames"),
        ({"Rows": 60000, "Columns": 60000}, "needs more than the allowed"),
        ({"PixelData": b"\0\0"}, "bytes of frames"),
    ],
)
def test_bad_segmentations(more, words):
    with pytest.raises(DataError, match=words):
        read_array(changed(**more))


def test_the_sample_is_read():
    found = read_volume(changed())
    np.testing.assert_array_equal(found.array, np.eye(6, 8, dtype=np.uint8)[None])
    assert found.spacing == (3, 0.5, 0.7)


@pytest.mark.parametrize("seed", range(4))
def test_labels_and_places_are_those_of_highdicom(tmp_path, seed):
    highdicom = pytest.importorskip("highdicom")
    pydicom = pytest.importorskip("pydicom")
    rng = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turned[:, 2] = np.cross(turned[:, 0], turned[:, 1])
    series = [CORPUS["dicom_scan"](plane, turned, seed) for plane in range(6)]
    labels = np.zeros((6, 7, 9), np.uint8)
    labels[1:4, 2:5, 1:6] = 1
    labels[3:5, 5:, 2:] = 2
    code = highdicom.sr.CodedConcept("85756007", "SCT", "Tissue")
    described = [
        highdicom.seg.SegmentDescription(
            segment_number=number,
            segment_label=f"s{number}",
            segmented_property_category=code,
            segmented_property_type=code,
            algorithm_type="MANUAL",
        )
        for number in (1, 2)
    ]
    made = highdicom.seg.Segmentation(
        source_images=series,
        pixel_array=labels,
        segmentation_type="BINARY",
        segment_descriptions=described,
        series_instance_uid=pydicom.uid.generate_uid(),
        series_number=1,
        sop_instance_uid=pydicom.uid.generate_uid(),
        instance_number=1,
        manufacturer="m",
        manufacturer_model_name="m",
        software_versions="1",
        device_serial_number="1",
    )
    made.save_as(tmp_path / "a.dcm")
    found = read_volume(tmp_path / "a.dcm")
    right = highdicom.seg.segread(tmp_path / "a.dcm").get_volume(combine_segments=True)
    ras = np.diag([-1, -1, 1, 1]) @ right.affine
    for index in np.argwhere(found.array > 0)[::7]:
        place = found.geometry.affine @ [*index, 1]
        back = np.linalg.solve(ras, place)[:3]
        np.testing.assert_allclose(back, np.rint(back), atol=1e-4)
        assert right.array[tuple(np.rint(back).astype(int))] == found.array[tuple(index)]
    assert np.count_nonzero(found.array) == np.count_nonzero(labels)
    whole = read_geometry(tmp_path / "a.dcm")
    assert whole.spacing == pytest.approx((2.5, 0.5, 0.7), rel=1e-5)
    assert edgecritic.datasets.on_grid_of(tmp_path / "a.dcm", tmp_path / "a.dcm").note == ""
