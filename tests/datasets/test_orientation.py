"""Pictures are turned as their EXIF orientation says, wherever they are read."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

import edgecritic as ec
from edgecritic.cli.main import main
from edgecritic.datasets.files import read_array, read_image, read_mask
from edgecritic.datasets.formats.pictures import picture_shape
from edgecritic.errors import InputError

VALUES = {
    "L": np.arange(8 * 12, dtype=np.uint8).reshape(8, 12) * 2,
    "RGB": np.arange(8 * 12 * 3, dtype=np.uint8).reshape(8, 12, 3),
    "I;16": np.arange(8 * 12, dtype=np.uint16).reshape(8, 12) * 600,
    "1": np.eye(8, 12, dtype=bool),
}


def stored(path, values, held, **more):
    exif = Image.Exif()
    exif[0x0112] = held
    Image.fromarray(values).save(path, exif=exif, **more)
    return path


def as_pillow_turns(path):
    with Image.open(io.BytesIO(path.read_bytes())) as picture:  # some versions mix up TIFF files on disk
        return np.array(ImageOps.exif_transpose(picture))


@pytest.mark.parametrize("held", range(1, 9))
@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg"])
@pytest.mark.parametrize("mode", VALUES)
def test_all_orientations_are_turned_as_pillow_does(tmp_path, mode, suffix, held):
    if suffix == ".jpg" and mode not in ("L", "RGB"):
        pytest.skip("JPEG holds bytes only")
    path = stored(tmp_path / f"a{suffix}", VALUES[mode], held)
    found = read_array(path)
    np.testing.assert_array_equal(found, as_pillow_turns(path))
    assert picture_shape(path) == found.shape[:2] == ((8, 12) if held < 5 else (12, 8))


def test_a_note_behind_the_pixels_counts_as_well(tmp_path):
    """A PNG may tell its orientation after the pixels."""
    plain, noted = io.BytesIO(), stored(tmp_path / "a.png", VALUES["L"], 6)
    Image.fromarray(VALUES["L"]).save(plain, "PNG")
    content = noted.read_bytes()
    at = content.index(b"eXIf") - 4
    chunk = content[at : at + 12 + int.from_bytes(content[at : at + 4], "big")]
    end = plain.getvalue().index(b"IEND") - 4
    noted.write_bytes(plain.getvalue()[:end] + chunk + plain.getvalue()[end:])
    assert picture_shape(noted) == read_array(noted).shape == as_pillow_turns(noted).shape == (12, 8)


@pytest.mark.parametrize("held", [0, 9])
def test_orientations_that_do_not_exist_are_ignored(tmp_path, held):
    assert read_array(stored(tmp_path / "a.png", VALUES["L"], held)).shape == (8, 12)


def test_broken_exif_data_are_ignored(tmp_path):
    Image.fromarray(VALUES["L"]).save(tmp_path / "a.png", exif=b"Exif\0\0XXXXXXX")
    assert picture_shape(tmp_path / "a.png") == (8, 12)
    np.testing.assert_array_equal(read_array(tmp_path / "a.png"), VALUES["L"])


def test_maps_follow_the_same_rule(tmp_path):
    path = stored(tmp_path / "a.png", VALUES["1"], 6)
    np.testing.assert_array_equal(read_mask(path), as_pillow_turns(path))


def test_edges_are_found_in_the_turned_photo(tmp_path, capsys):
    path = stored(tmp_path / "photo.png", VALUES["L"], 6)
    assert main(["detect", "sobel", str(path), "--out", str(tmp_path / "maps")]) == 0
    capsys.readouterr()
    Image.fromarray(as_pillow_turns(path)).save(tmp_path / "upright.png")
    expected = ec.detect(read_image(tmp_path / "upright.png"), "sobel").strength
    (made,) = (tmp_path / "maps").rglob("photo.png")
    assert read_array(made).shape == expected.shape == (12, 8)


def test_a_truth_on_its_side_is_told_apart():
    one, other = np.eye(8, 12, dtype=bool), np.eye(12, 8, dtype=bool)
    for compare in (ec.match, ec.score):
        with pytest.raises(InputError, match="turned as their EXIF orientation says"):
            compare(one, other)
