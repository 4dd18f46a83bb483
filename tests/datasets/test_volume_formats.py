"""NRRD and MetaImage: voxels and places as SimpleITK and pynrrd tell them, and files made by hand."""

from __future__ import annotations

import gzip
import os
import runpy
import zlib
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic.cli.main import main
from edgecritic.datasets import read_array, read_content, read_geometry, read_truths, read_volume
from edgecritic.datasets.content import Content, digest
from edgecritic.errors import DataError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
nrrd, metaimage = CORPUS["nrrd"], CORPUS["metaimage"]
VOXELS = np.arange(2 * 3 * 4, dtype="<i2").reshape(2, 3, 4)
KINDS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64")


def turned(rng):
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return matrix


@pytest.mark.parametrize("suffix", [".nrrd", ".nhdr", ".mha", ".mhd"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_simpleitk_writes_is_read(tmp_path, suffix, packed, kind):
    sitk = pytest.importorskip("SimpleITK")
    rng = np.random.default_rng(KINDS.index(kind))
    array = rng.integers(0, 100, (5, 4, 3)).astype(kind)
    image = sitk.GetImageFromArray(array)
    spacing, directions, origin = rng.uniform(0.3, 4, 3), turned(rng), rng.uniform(-99, 99, 3)
    image.SetSpacing(spacing.tolist())
    image.SetDirection(directions.ravel().tolist())
    image.SetOrigin(origin.tolist())
    path = tmp_path / f"a{suffix}"
    sitk.WriteImage(image, str(path), packed)
    found = read_volume(path)
    np.testing.assert_array_equal(found.array, array.transpose(2, 1, 0))
    assert found.array.dtype == array.dtype
    for index in np.ndindex(2, 2, 2):  # positions of voxels, by SimpleITK in LPS
        right = np.array(image.TransformIndexToPhysicalPoint(index)) * (-1, -1, 1)
        np.testing.assert_allclose((found.geometry.affine @ [*index, 1])[:3], right, atol=1e-4)
    assert found.spacing == pytest.approx(spacing, rel=1e-5)


@pytest.mark.parametrize("packed", [False, True])
def test_the_four_formats_are_one_grid(tmp_path, packed):
    sitk = pytest.importorskip("SimpleITK")
    rng = np.random.default_rng(1)
    image = sitk.GetImageFromArray((rng.random((7, 8, 9)) < 0.3).astype(np.uint8))
    image.SetSpacing([0.7, 0.9, 2.5])
    image.SetDirection(turned(rng).ravel().tolist())
    image.SetOrigin([11, -3, 240.5])
    endings = (".nii.gz", ".nrrd", ".mha", ".mhd")
    for ending in endings:
        sitk.WriteImage(image, str(tmp_path / f"a{ending}"), packed)
    for ending in endings:
        assert main(["score", str(tmp_path / f"a{ending}"), str(tmp_path / "a.mha"), "-m", "dice"]) == 0
        found = edgecritic.score(image, sitk.ReadImage(str(tmp_path / f"a{ending}")), "dice")
        assert found["dice"] == 1


def test_pynrrd_agrees(tmp_path):
    pynrrd = pytest.importorskip("nrrd")
    for space, origin in (("LPS", [1.0, 2, 3]), ("right-anterior-superior", [4.0, 5, 6])):
        head = {"space": space, "space directions": np.diag([1.0, 2, 3]), "space origin": origin}
        for encoding in ("raw", "gzip"):
            pynrrd.write(str(tmp_path / "a.nrrd"), VOXELS, {**head, "encoding": encoding})
            np.testing.assert_array_equal(read_array(tmp_path / "a.nrrd"), VOXELS)
            assert read_geometry(tmp_path / "a.nrrd").codes == ("LPS" if space == "LPS" else "RAS")
    (tmp_path / "b.nrrd").write_bytes(nrrd(VOXELS, True, space="LAS", space_origin="(1,2,3)"))
    np.testing.assert_array_equal(pynrrd.read(str(tmp_path / "b.nrrd"))[0], VOXELS)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("make, name", [(nrrd, "a.nrrd"), (metaimage, "a.mha")])
def test_files_made_by_hand(make, name, packed):
    for voxels in (VOXELS, VOXELS[..., 0], VOXELS.astype("<f8") / 3):
        content = Content(Path(name), make(voxels, packed))
        np.testing.assert_array_equal(read_array(content), voxels)
        assert read_geometry(content).shape == voxels.shape
        assert not read_geometry(content).placed


@pytest.mark.parametrize(
    "fields, affine",
    [
        ({"space": "left-posterior-superior"}, np.diag([-1, -2, 3, 1])),
        ({"space": "LAS"}, np.diag([-1, 2, 3, 1])),
        ({"space": "Right-Anterior-Superior"}, np.diag([1, 2, 3, 1])),
        ({"space": "scanner-xyz"}, None),
        ({"space_dimension": "3"}, None),
    ],
)
def test_spaces_of_nrrd(fields, affine):
    told = {"space_directions": "(1,0,0) (0,2,0) (0,0,3)", "space_origin": "(0,0,0)", **fields}
    found = read_geometry(Content(Path("a.nrrd"), nrrd(VOXELS, **told)))
    assert (found.placed, found.spacing) == (affine is not None, (1, 2, 3))
    if affine is not None:
        np.testing.assert_array_equal(found.affine, affine)


def test_sizes_without_a_place():
    found = read_geometry(Content(Path("a.nrrd"), nrrd(VOXELS, spacings="0.5 NaN 3")))
    assert (found.placed, found.spacing) == (False, (0.5, 1, 3))
    found = read_geometry(Content(Path("a.mha"), metaimage(VOXELS, ElementSize="0.5 2 3")))
    assert (found.placed, found.spacing) == (False, (0.5, 2, 3))
    told = {"ElementSpacing": "0.5 2 3", "Offset": "1 2 3", "TransformMatrix": "0 1 0 1 0 0 0 0 1"}
    found = read_geometry(Content(Path("a.mha"), metaimage(VOXELS, **told)))
    right = [[0, -2, 0, -1], [-0.5, 0, 0, -2], [0, 0, 3, 3], [0, 0, 0, 1]]
    np.testing.assert_array_equal(found.affine, right)


def test_bytes_in_the_other_order():
    big = VOXELS.astype(">i2")
    content = nrrd(VOXELS, endian="big").split(b"\n\n")[0] + b"\n\n" + big.tobytes(order="F")
    np.testing.assert_array_equal(read_array(Content(Path("a.nrrd"), content)), VOXELS)
    head, mark, _ = metaimage(VOXELS).replace(b"MSB = False", b"MSB = True").partition(b"LOCAL\n")
    found = read_array(Content(Path("a.mha"), head + mark + big.tobytes(order="F")))
    np.testing.assert_array_equal(found, VOXELS)
    assert found.dtype.isnative


def test_a_file_beside_a_header(tmp_path):
    mask = (VOXELS % 3 == 0).astype("<i2")
    (tmp_path / "a.raw").write_bytes(mask.tobytes(order="F"))
    (tmp_path / "b.zraw").write_bytes(zlib.compress(mask.tobytes(order="F")))
    (tmp_path / "c.raw.gz").write_bytes(gzip.compress(mask.tobytes(order="F")))
    (tmp_path / "a.mhd").write_bytes(metaimage(mask, file="a.raw"))
    packed = metaimage(mask, True, file="b.zraw").replace(b"CompressedDataSize", b"Comment")
    (tmp_path / "b.mhd").write_bytes(packed.rstrip(b"\n"))
    for name, file in (("a", "a.raw"), ("c", "c.raw.gz")):
        whole = nrrd(mask, name == "c", data_file=file)
        head = whole[: whole.index(b"\n\n") + 1]
        (tmp_path / f"{name}.nhdr").write_bytes(head)
    for name in ("a.mhd", "b.mhd", "a.nhdr", "c.nhdr"):
        np.testing.assert_array_equal(read_truths(tmp_path / name)[0], mask == 1)
    before = digest([read_content(tmp_path / "a.mhd")])
    (tmp_path / "a.raw").write_bytes((1 - mask).tobytes(order="F"))
    assert digest([read_content(tmp_path / "a.mhd")]) != before
    (tmp_path / "a.raw").write_bytes(b"short")
    with pytest.raises(DataError, match="truncated"):
        read_array(tmp_path / "a.mhd")
    (tmp_path / "a.raw").unlink()
    with pytest.raises(DataError, match=r"a\.raw: no such file"):
        read_array(tmp_path / "a.mhd")


@pytest.mark.parametrize(
    "name", ["../secret.raw", "/etc/passwd", "..", "sub/a.raw", "a\\b.raw", "C:secret", "."]
)
def test_no_way_out_of_the_folder(tmp_path, name):
    (tmp_path / "secret.raw").write_bytes(VOXELS.tobytes())
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.mhd").write_bytes(metaimage(VOXELS, file=name))
    whole = nrrd(VOXELS, data_file=name)
    (home / "a.nhdr").write_bytes(whole[: whole.index(b"\n\n") + 2])
    for file in ("a.mhd", "a.nhdr"):
        with pytest.raises(DataError, match="not a file in the same folder"):
            read_array(home / file)


def test_pipes_beside_a_header_are_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(tmp_path / "a.raw")
    (tmp_path / "a.mhd").write_bytes(metaimage(VOXELS, file="a.raw"))
    with pytest.raises(DataError, match="pipe"):
        read_array(tmp_path / "a.mhd")


@pytest.mark.parametrize(
    "content, words",
    [
        (nrrd(VOXELS, encoding="hex"), "encoding raw or gzip"),
        (nrrd(VOXELS, type="block"), "type 'block'"),
        (nrrd(VOXELS, sizes="2 3"), "3 axes and 2 sizes"),
        (nrrd(VOXELS, sizes="2 3 0"), "impossible sizes"),
        (nrrd(VOXELS, sizes="-2 -3 4"), "impossible sizes"),
        (nrrd(VOXELS, dimension="99999999999"), "axes"),
        (nrrd(VOXELS, byte_skip="-1"), "skips"),
        (nrrd(VOXELS, endian="middle"), "order of its bytes"),
        (nrrd(VOXELS) + b"x", "goes on after"),
        (nrrd(VOXELS)[:-1], "truncated"),
        (nrrd(VOXELS, True)[:-1], "damaged"),
        (nrrd(VOXELS).replace(b"# made by hand", b"sizes: 2 3 4"), "twice"),
        (nrrd(VOXELS).replace(b"type: short\n", b""), "does not tell type"),
        (b"NRRD0009\n\n", "no NRRD file"),
    ],
)
def test_bad_nrrd_files(content, words):
    with pytest.raises(DataError, match=words):
        read_array(Content(Path("a.nrrd"), content))


@pytest.mark.parametrize(
    "content, words",
    [
        (metaimage(VOXELS, file="LIST"), "ends after"),
        (metaimage(VOXELS, ElementType="MET_STRING"), "unknown values"),
        (metaimage(VOXELS, ElementNumberOfChannels="3"), "vectors"),
        (metaimage(VOXELS, HeaderSize="-1"), "skips a header"),
        (metaimage(VOXELS, BinaryData="False"), "as text"),
        (metaimage(VOXELS, BinaryData="maybe"), "True or False"),
        (metaimage(VOXELS, DimSize="2 3"), "3 axes and 2 sizes"),
        (metaimage(VOXELS, NDims="many"), "axes"),
        (metaimage(VOXELS, True, CompressedDataSize="1"), "packed bytes"),
        (metaimage(VOXELS) + b"x", "goes on after"),
        (metaimage(VOXELS)[:-1], "truncated"),
        (metaimage(VOXELS, True).replace(b"CompressedDataSize", b"Comment")[:-1], "truncated"),
        (metaimage(VOXELS, True).replace(b"CompressedDataSize", b"Comment") + b"x", "goes on after"),
        (metaimage(VOXELS).replace(b"NDims = 3\n", b""), "does not tell NDims"),
        (metaimage(VOXELS).replace(b"ObjectType", b"NDims"), "twice"),
        (b"nothing", "no MetaImage file"),
        (b"", "no MetaImage file"),
    ],
)
def test_bad_metaimage_files(content, words):
    with pytest.raises(DataError, match=words):
        read_array(Content(Path("a.mha"), content))


def test_lists_of_files_are_refused(tmp_path):
    for name in ("LIST", "slice%03d.raw 1 4 1"):
        (tmp_path / "a.mhd").write_bytes(metaimage(VOXELS, file=name))
        with pytest.raises(DataError, match="many files"):
            read_array(tmp_path / "a.mhd")


@pytest.mark.parametrize(
    "name, fields",
    [
        ("a.nrrd", {"space": "LPS", "space_directions": "(1,0,0) (0,2,0)", "space_origin": "(0,0,0)"}),
        (
            "a.nrrd",
            {"space": "LPS", "space_directions": "(1,0,0) (1,0,0) (0,0,1)", "space_origin": "(0,0,0)"},
        ),
        (
            "a.nrrd",
            {"space": "LPS", "space_directions": "(1,0,0) (0,nan,0) (0,0,1)", "space_origin": "(0,0,0)"},
        ),
        ("a.nrrd", {"spacings": "1 2"}),
        ("a.nrrd", {"spacings": "1 0 2"}),
        ("a.mha", {"ElementSpacing": "0 1 2"}),
        ("a.mha", {"ElementSpacing": "1 2"}),
        ("a.mha", {"ElementSpacing": "1 2 x", "Offset": "0 0 0"}),
        ("a.mha", {"TransformMatrix": "1 0 0 1 0 0 0 0 1", "Offset": "0 0 0"}),
        ("a.mha", {"Offset": "0 inf 0"}),
    ],
)
def test_impossible_places_are_refused(name, fields):
    make = nrrd if name == "a.nrrd" else metaimage
    content = Content(Path(name), make(VOXELS, **fields))
    np.testing.assert_array_equal(read_array(content), VOXELS)
    with pytest.raises(DataError):
        read_geometry(content)
