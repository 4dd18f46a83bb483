"""Files that lead elsewhere, are damaged, or are no files: refused in words, never read as something else."""

from __future__ import annotations

import gzip
import io
import os
import runpy
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import Content, digest, read_content, read_text
from edgecritic.datasets.files import (
    read_array,
    read_mask,
    read_spacing,
    read_strength,
    read_truths,
    read_volume,
)
from edgecritic.errors import DataError, EdgeCriticError, InputError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
SAMPLES = CORPUS["samples"]()
MASK = np.random.default_rng(8).random((11, 14)) < 0.3
VOXELS = MASK[None].astype(np.uint8)


def read_in_any_way(source):
    """Return what the first reader gives that can read the file."""
    for reader in (read_truths, read_strength, read_array):
        try:
            return reader(source)
        except InputError:  # grey values are no truths
            continue
    raise AssertionError(source)


def nifti(array=VOXELS, *, slope=None, shift=0.0) -> bytes:
    content = bytearray(nibabel.Nifti1Image(array, np.eye(4)).to_bytes())
    if slope is not None:
        struct.pack_into("<2f", content, 112, slope, shift)
    return bytes(content)


# Links of MATLAB 7.3 files


def test_links_are_never_followed(tmp_path):
    pytest.importorskip("h5py")
    told = CORPUS["links"](tmp_path)
    assert len(told) == 24
    script = """if True:
        import sys
        from pathlib import Path
        from edgecritic.datasets.files import read_truths
        from edgecritic.errors import DataError
        for path in sorted(Path(sys.argv[1]).glob("*.mat")):
            try:
                read_truths(path)
                print(path.name, "was read")
            except DataError as error:
                print(path.name, error)
    """
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert lines.keys() == told.keys()
    for name, words in told.items():
        assert words in lines[name], lines[name]
    for kind in ("variable", "field", "cell"):  # whether there is such a file must not be told
        one, other = (lines[f"{name}-{kind}.mat"].partition(".mat: ")[2] for name in ("secret", "missing"))
        assert one == other


def test_the_studio_does_not_follow_links_of_imports(tmp_path):
    pytest.importorskip("h5py")
    from edgecritic.studio.pictures import read_map_file

    CORPUS["links"](tmp_path)
    for name in ("secret-cell.mat", "missing-cell.mat", "pipe-cell.mat"):
        with pytest.raises(DataError, match="not followed") as found:
            read_map_file((tmp_path / name).read_bytes(), "label", (7, 7), 100)
        assert str(tmp_path) not in str(found.value)


def test_plain_matlab_73_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        group = file.create_group("#refs#/a")
        group["Boundaries"] = MASK.T.astype(np.uint8)
        file.create_dataset("groundTruth", data=np.array([[group.ref]], dtype=h5py.ref_dtype))
    (found,) = read_truths(Content(Path("a.mat"), stream.getvalue()))
    np.testing.assert_array_equal(found, MASK)


def test_names_that_are_paths_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["aXb"] = MASK
    content = stream.getvalue().replace(b"aXb\0", b"a/b\0")
    with pytest.raises(DataError, match="not followed"):
        read_array(Content(Path("a.mat"), content))


def test_a_wrong_checksum_of_a_chunk_is_noticed():
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        made = file.create_dataset("x", data=MASK.astype(np.uint8), chunks=MASK.shape, fletcher32=True)
        place = made.id.get_chunk_info(0).byte_offset
    with pytest.raises(DataError, match=r"a\.mat"):
        read_array(Content(Path("a.mat"), CORPUS["flipped"](stream.getvalue(), 8 * place)))


# Checksums


@pytest.mark.parametrize("name", CORPUS["CHECKED"])
def test_no_wrong_bit_goes_unnoticed(name):
    if name not in SAMPLES:
        pytest.skip("needs h5py")
    whole = SAMPLES[name]
    path = Path(name)
    expected = read_in_any_way(Content(path, whole))
    rng = np.random.default_rng(2)
    first, last = (8, len(whole) - 140) if name.endswith(".tif") else (0, len(whole))
    for bit in rng.choice(range(8 * first, 8 * last), 150, replace=False):
        try:
            found = read_in_any_way(Content(path, CORPUS["flipped"](whole, int(bit))))
        except EdgeCriticError:
            continue
        np.testing.assert_array_equal(found, expected, err_msg=f"{name} bit {bit}")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_no_missing_end_goes_unnoticed(name):
    whole = SAMPLES[name]
    expected = read_in_any_way(Content(Path(name), whole))
    for missing in (1, 2, 3, 4, 5, 8, 12, 20, len(whole) // 3, len(whole) // 2):
        try:
            found = read_in_any_way(Content(Path(name), whole[:-missing]))
        except EdgeCriticError:
            continue
        np.testing.assert_array_equal(found, expected, err_msg=f"{name} without {missing} bytes")


@given(name=st.sampled_from(sorted(SAMPLES)), data=st.data())
def test_any_damage_is_refused_in_words(name, data):
    content = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 8))
        content[place : place + length] = data.draw(st.binary(max_size=8))
    for reader in (read_truths, read_strength, read_array, read_spacing):
        try:
            reader(Content(Path(name), bytes(content)))
        except EdgeCriticError as error:
            assert str(error).startswith(name)  # noqa: PT017 - reading is allowed too


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.png", CORPUS["raw_png"](19, 5, zlib.compress(bytes(10 * 6))), "rows are missing"),
        ("a.png", CORPUS["raw_png"](2, 5, zlib.compress(bytes(20 * 6))), "more than"),
        ("a.png", SAMPLES["grey.png"][:-12], "truncated"),
        ("a.nii", nifti() + b"\0", "goes on"),
        ("a.nii", nifti()[:-1], "truncated"),
        ("a.nii.gz", gzip.compress(nifti()) + b"more", r"a\.nii"),
        ("a.nii.gz", gzip.compress(nifti())[:-4] + b"\1\0\0\0", r"a\.nii"),
        ("a.npy", SAMPLES["a.npy"] + b"\0", "damaged"),
        ("a.npy", SAMPLES["a.npy"][:-1], "truncated"),
        ("a.mat", SAMPLES["soft.mat"] + b"\0" * 4, "truncated"),
    ],
)
def test_what_is_too_short_or_too_long(name, content, message):
    with pytest.raises(DataError, match=message):
        read_array(Content(Path(name), content))


def test_the_checksum_of_spacing_is_verified():
    content = gzip.compress(nifti())
    wrong = content[:-8] + bytes(4) + content[-4:]
    assert read_spacing(Content(Path("a.nii.gz"), content)) == (1, 1, 1)
    with pytest.raises(DataError, match=r"a\.nii"):
        read_spacing(Content(Path("a.nii.gz"), wrong))


@pytest.mark.parametrize("name", ["packed.nrrd", "packed.mha"])
def test_the_checksum_of_a_volume_is_verified_where_only_its_voxel_size_is_asked_for(name):
    voxels = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    content = CORPUS["nrrd" if name.endswith("nrrd") else "metaimage"](voxels, True)
    assert len(read_spacing(Content(Path(name), content))) == 3
    for wrong in (CORPUS["flipped"](content, 8 * len(content) - 40), content[:-5]):
        with pytest.raises(DataError, match=name):
            read_spacing(Content(Path(name), wrong))


def test_a_lost_array_of_an_archive_is_noticed():
    stream = io.BytesIO()
    np.savez(stream, one=MASK, two=~MASK)
    content = stream.getvalue()
    last = content.rindex(b"two.npy")
    for place in range(last, last + 7):
        with pytest.raises(DataError):
            read_truths(Content(Path("a.npz"), CORPUS["flipped"](content, 8 * place)))


# Deep colours and scaled volumes


@pytest.mark.parametrize("high", [1, 255, 256, 65535])
@pytest.mark.parametrize(("channels", "colour"), [(3, 2), (4, 6)])
def test_masks_of_16_bit_colours(high, channels, colour):
    values = np.repeat((MASK * high)[..., None], channels, axis=2).astype(">u2")
    values[..., 3:] = 65535
    found = read_array(Content(Path("a.png"), CORPUS["png"](values, 16, colour)))
    np.testing.assert_array_equal(found, values[..., :3])
    if high in (1, 65535):
        mask = read_mask(Content(Path("a.png"), CORPUS["png"](values, 16, colour)))
        np.testing.assert_array_equal(mask, MASK)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("packing", [None, "zlib"])
def test_16_bit_colours_of_tiff_files(order, packing):
    tifffile = pytest.importorskip("tifffile")
    values = np.random.default_rng(4).integers(0, 65536, (9, 7, 3)).astype(np.uint16)
    stream = io.BytesIO()
    tifffile.imwrite(stream, values, byteorder=order, compression=packing, photometric="rgb")
    np.testing.assert_array_equal(read_array(Content(Path("a.tif"), stream.getvalue())), values)
    planes = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    stream = io.BytesIO()
    tifffile.imwrite(stream, planes, byteorder=order, compression=packing, photometric="rgb")
    with pytest.raises(DataError, match="16-bit"):
        read_array(Content(Path("a.tif"), stream.getvalue()))


def test_deep_colours_that_cannot_be_read_are_refused():
    grey_and_alpha = np.stack([MASK, MASK], axis=-1).astype(">u2")
    for name, content in {
        "a.png": CORPUS["png"](grey_and_alpha, 16, 4),
        "a.ppm": b"P6\n2 1\n65535\n" + bytes(12),
    }.items():
        with pytest.raises(DataError, match="16-bit"):
            read_array(Content(Path(name), content))


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16])
def test_scaled_masks_stay_masks(kind, tmp_path):
    image = nibabel.Nifti1Image(MASK[None].astype(np.float64), np.eye(4))
    image.set_data_dtype(kind)
    nibabel.save(image, tmp_path / "a.nii.gz")
    np.testing.assert_array_equal(read_mask(tmp_path / "a.nii.gz"), MASK[None])
    np.testing.assert_array_equal(read_strength(tmp_path / "a.nii.gz"), MASK[None])


def test_scaling_is_that_of_nibabel(tmp_path):
    stored = np.arange(-30, 30, dtype=np.int16).reshape(3, 4, 5)
    for slope, shift in ((0.37, -2.5), (2.0, 3.0), (0.0, 7.0), (np.nan, 0.0)):
        content = nifti(stored, slope=slope, shift=shift)
        (tmp_path / "a.nii").write_bytes(content)
        expected = nibabel.load(tmp_path / "a.nii").get_fdata()
        np.testing.assert_allclose(read_volume(tmp_path / "a.nii").array, expected, rtol=1e-6)
    with pytest.raises(DataError, match="scales"):
        read_volume(Content(Path("a.nii"), nifti(stored, slope=2.0, shift=np.nan)))


# What is no regular file


def test_pipes_sockets_devices_and_folders(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "null.png").symlink_to("/dev/null")
    (tmp_path / "loop.png").symlink_to("loop.png")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket.png"))
        for name, words in {
            "pipe": "pipe, socket",
            "socket": "pipe, socket",
            "null": "pipe, socket",
            "folder": "folder",
            "loop": "symbolic links",
            "nothing": "no such file",
        }.items():
            for read in (read_array, read_content, read_text):
                with pytest.raises(DataError, match=rf"{name}\.png: .*{words}"):
                    read(tmp_path / f"{name}.png")


def test_large_files_are_refused_by_their_size(tmp_path):
    with (tmp_path / "a.npy").open("wb") as file:
        file.truncate(60 * 10**9)
    for read in (read_array, read_content, read_text):
        with pytest.raises(DataError, match="60000000000 bytes"):
            read(tmp_path / "a.npy")


def test_a_loop_in_a_folder_is_one_line(tmp_path):
    for folder in ("predictions", "truth"):
        (tmp_path / folder).mkdir()
        Image.fromarray(MASK).save(tmp_path / folder / "a.png")
        (tmp_path / folder / "loop.png").symlink_to("loop.png")
        (tmp_path / folder / "odd").symlink_to("odd")
    found = find_cases(tmp_path / "predictions", tmp_path / "truth")
    assert [case.id for case in found] == ["a", "loop"]
    np.testing.assert_array_equal(found.cases[0].load_truths()[0], MASK)
    with pytest.raises(DataError, match=r"loop\.png: cannot be read"):
        found.cases[1].load_truths()


def test_folders_that_hold_themselves(tmp_path):
    for folder in ("predictions", "truth"):
        (tmp_path / folder / "scene").mkdir(parents=True)
        Image.fromarray(MASK).save(tmp_path / folder / "scene" / "a.png")
        (tmp_path / folder / "scene" / "again").symlink_to(tmp_path / folder)
    found = find_cases(tmp_path / "predictions", tmp_path / "truth")
    assert [case.id for case in found] == ["scene/a"]
    assert {path.name for path in found.ignored} == {"again"}


# Hashed and decoded are the same bytes


def test_a_file_that_changes_after_it_was_read(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, MASK)
    case = Case("a", (path,), prediction=path).read()
    before = digest(case.contents.values())
    np.save(path, ~MASK)
    np.testing.assert_array_equal(case.load_truths()[0], MASK)
    np.testing.assert_array_equal(case.load_strength(), MASK)
    assert digest(case.contents.values()) == before != digest([read_content(path)])
