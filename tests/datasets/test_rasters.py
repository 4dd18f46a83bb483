"""Maps read in bands of rows: the values of other readers, bounds, refusals, and where GeoTIFF pixels lie."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from edgecritic.datasets import rasters, read_geometry, read_mask, read_strength
from edgecritic.datasets.rasters import is_large, open_raster, raster_levels, raster_pixels
from edgecritic.errors import DataError, InputError, NotBinaryError

MAKERS = runpy.run_path(str(Path(__file__).parents[1] / "tiff_files.py"))
tiled, geo = MAKERS["tiled"], MAKERS["geo"]

RNG = np.random.default_rng(5)
PICTURES = {
    "bits": RNG.random((37, 53)) < 0.3,
    "bytes": RNG.integers(0, 256, (37, 53), dtype=np.uint8),
    "words": RNG.integers(0, 65536, (37, 53), dtype=np.uint16),
    "floats": RNG.random((37, 53)).astype(np.float32),
}
PACKINGS = (None, "tiff_lzw", "tiff_adobe_deflate", "packbits")


def whole(path, monkeypatch):
    """Return what a file holds, read in bands of a few rows."""
    monkeypatch.setattr(rasters, "_BAND_BYTES", 400)
    with open_raster(path) as raster:
        found = [values for _, values in raster.bands()]
        assert len(found) > 1
        return np.concatenate(found)


STRIPS = [(kind, packing, False) for kind in PICTURES for packing in PACKINGS]
STRIPS += [(kind, packing, True) for kind in ("bytes", "words") for packing in PACKINGS[1:3]]


@pytest.mark.parametrize(("kind", "packing", "differences"), STRIPS)
def test_strips(tmp_path, monkeypatch, kind, packing, differences):
    values = PICTURES[kind]
    info = TiffImagePlugin.ImageFileDirectory_v2()
    info[278] = 5  # rows per strip
    if differences:
        info[317] = 2
    Image.fromarray(values).save(tmp_path / "a.tif", compression=packing, tiffinfo=info)
    assert (whole(tmp_path / "a.tif", monkeypatch) == values).all()


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("packing", [1, 8])
@pytest.mark.parametrize("kind", ["bytes", "words", "floats"])
def test_tiles_of_both_orders_and_sizes(tmp_path, monkeypatch, kind, packing, big, order):
    values = PICTURES[kind]
    (tmp_path / "a.tif").write_bytes(tiled(values, order=order, big=big, packing=packing))
    assert (whole(tmp_path / "a.tif", monkeypatch) == values).all()
    if not big and kind != "floats":
        with Image.open(tmp_path / "a.tif") as peer:  # so that the writer above is right
            assert (np.asarray(peer) == values).all()


@pytest.mark.parametrize("suffix", [".npy", ".tif"])
def test_pixels_and_levels_are_those_of_whole_maps(tmp_path, suffix):
    def save(values):
        path = tmp_path / f"a{suffix}"
        np.save(path, values) if suffix == ".npy" else Image.fromarray(values).save(path)
        return path

    for values in (PICTURES["bits"], 255 * PICTURES["bits"].astype(np.uint8)):
        path = save(values)
        pixels, shape = raster_pixels(path)
        assert shape == values.shape
        assert (pixels == np.flatnonzero(read_mask(path))).all()
    thresholds = np.linspace(0.01, 0.99, 99)
    for kind in ("bytes", "words", "floats"):
        path = save(PICTURES[kind])
        pixels, _ = raster_pixels(path, binarize=0.5)
        assert (pixels == np.flatnonzero(read_mask(path, binarize=0.5))).all()
        expected = (read_strength(path)[..., None] >= thresholds).sum(axis=-1)
        assert (raster_levels(path, thresholds) == expected).all()
    with pytest.raises(NotBinaryError, match="must be binary"):
        raster_pixels(save(PICTURES["bytes"]))
    with pytest.raises(InputError, match="share in"):
        raster_pixels(save(PICTURES["bytes"]), binarize=2)


def test_a_map_of_other_values_is_not_binary(tmp_path):
    for values in ([[0, 7]], [[1, 255]], [[0.0, np.nan]]):
        np.save(tmp_path / "a.npy", np.array(values))
        with pytest.raises(NotBinaryError):
            raster_pixels(tmp_path / "a.npy")


def test_what_is_large(tmp_path):
    """Sparse files: nothing is written but a header and the last byte."""
    np.save(tmp_path / "small.npy", np.zeros((9, 9), bool))
    for name, shape in (("large.npy", (20_000, 20_000)), ("long.npy", (1, 3 * 10**8))):
        np.lib.format.open_memmap(tmp_path / name, mode="w+", dtype=bool, shape=shape).flush()
    assert [is_large(tmp_path / name) for name in ("small.npy", "large.npy", "long.npy")] == [
        False,
        True,
        True,
    ]
    assert not is_large(tmp_path / "none.npy")
    (tmp_path / "odd.tif").write_bytes(b"II*\0")
    assert not is_large(tmp_path / "odd.tif")


def test_damaged_files_are_refused(tmp_path):
    values = PICTURES["bytes"]
    good = tiled(values, packing=8)
    cases = {
        "short.tif": good[: len(good) // 3],
        "nothing.tif": b"",
        "other.tif": b"PK\3\4" + good,
        "flipped.tif": good[:40] + bytes([good[40] ^ 255]) + good[41:],
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DataError, match=name), open_raster(tmp_path / name) as raster:
            list(raster.bands())
    np.save(tmp_path / "a.npy", values)
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    with pytest.raises(DataError, match="truncated"), open_raster(tmp_path / "a.npy"):
        pass
    for name, array in (("volume.npy", np.zeros((3, 3, 3))), ("columns.npy", np.asfortranarray(values))):
        np.save(tmp_path / name, array)
        with pytest.raises(DataError, match=name), open_raster(tmp_path / name):
            pass
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "colour.tif")
    Image.fromarray(values).save(tmp_path / "a.png")
    for name in ("colour.tif", "a.png"):
        with pytest.raises(DataError, match=name), open_raster(tmp_path / name):
            pass


def test_where_pixels_of_a_geotiff_lie(tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(tiled(PICTURES["bytes"], geo=geo()))
    found = read_geometry(path)
    assert found.spacing == (2.0, 0.5)  # rows, columns
    assert (found.unit, found.frame, found.placed) == ("m", "EPSG:32632", True)
    centre = found.affine @ [0, 0, 0, 1]
    assert centre[:2].tolist() == [1000.25, 4999.0]  # the tie point is the corner of the first pixel
    below = found.affine @ [1, 0, 0, 1]
    assert below[:2].tolist() == [1000.25, 4997.0]
    with open_raster(path) as raster:
        assert raster.geometry == found
    path.write_bytes(tiled(PICTURES["bytes"], geo=geo(raster=2)))
    assert (read_geometry(path).affine @ [0, 0, 0, 1])[:2].tolist() == [1000.0, 5000.0]
    path.write_bytes(tiled(PICTURES["bytes"], geo=geo(kind=2)))
    assert read_geometry(path) is None  # degrees are no lengths
    Image.fromarray(PICTURES["bytes"]).save(path)
    assert read_geometry(path) is None
