"""Every file format, against files written by other libraries and against the real data sets."""

from __future__ import annotations

import gzip
import io
import itertools
import struct
import sys
import tracemalloc
import zlib
from contextlib import nullcontext
from pathlib import Path

import nibabel
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from PIL import Image
from skimage.morphology import thin

from edgecritic.datasets import _matlab5
from edgecritic.datasets.content import Content
from edgecritic.datasets.files import (
    read_array,
    read_candidates,
    read_image,
    read_mask,
    read_segmentations,
    read_strength,
    read_truths,
    read_volume,
)
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import DataError, InputError, MissingExtraError
from edgecritic.maps.boundaries import label_boundaries

RNG = np.random.default_rng(7)
MASK = RNG.random((12, 17)) < 0.3
GREY = RNG.integers(0, 256, (12, 17)).astype(np.uint8)


def save(path, values):
    Image.fromarray(values).save(path)
    return path


@pytest.mark.parametrize("suffix", ["png", "tif", "bmp", "pgm"])
def test_pictures_keep_their_values(tmp_path, suffix):
    path = save(tmp_path / f"a.{suffix}", GREY)
    assert np.array_equal(read_array(path), GREY)
    assert np.array_equal(read_strength(path), GREY / 255)
    assert np.array_equal(read_mask(save(tmp_path / f"b.{suffix}", MASK.astype(np.uint8) * 255)), MASK)


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits(tmp_path, suffix):
    values = RNG.integers(0, 65536, (9, 5)).astype(np.uint16)
    path = save(tmp_path / f"a.{suffix}", values)
    assert np.array_equal(read_array(path), values)
    assert np.array_equal(read_strength(path), values / 65535)
    assert np.array_equal(read_mask(save(tmp_path / f"m.{suffix}", MASK.astype(np.uint16) * 65535)), MASK)


def test_one_bit_palette_and_equal_channels(tmp_path):
    Image.fromarray(MASK).save(tmp_path / "bit.png")
    Image.fromarray(GREY).convert("P").save(tmp_path / "palette.png")
    for name, mode in (("rgb", "RGB"), ("rgba", "RGBA"), ("la", "LA")):
        Image.fromarray(GREY).convert(mode).save(tmp_path / f"{name}.png")
    assert np.array_equal(read_mask(tmp_path / "bit.png"), MASK)
    for name in ("palette", "rgb", "rgba", "la"):
        assert np.array_equal(read_strength(tmp_path / f"{name}.png"), GREY / 255), name


def test_colour_is_refused_for_maps_and_becomes_luminance_for_photos(tmp_path):
    colours = RNG.integers(0, 256, (6, 7, 3)).astype(np.uint8)
    path = save(tmp_path / "a.png", colours)
    with pytest.raises(DataError, match=r"a\.png: is a colour picture"):
        read_strength(path)
    expected = colours @ np.array([0.299, 0.587, 0.114]) / 255
    np.testing.assert_allclose(read_image(path), expected, atol=1e-12)
    assert np.array_equal(read_image(path, colour=True), colours / 255)
    assert read_image(save(tmp_path / "g.png", GREY), colour=True).shape == (12, 17, 3)


def test_transparency_is_refused(tmp_path):
    values = np.zeros((4, 4, 4), dtype=np.uint8)
    values[..., 3] = np.eye(4) * 255
    with pytest.raises(DataError, match="transparent"):
        read_mask(save(tmp_path / "a.png", values))


def test_jpeg_truth_needs_binarize(tmp_path):
    Image.fromarray(np.kron(MASK, np.ones((8, 8))).astype(np.uint8) * 255).save(
        tmp_path / "a.jpg", quality=70
    )
    with pytest.raises(InputError, match=r"a\.jpg: .*binarize=0\.5"):
        read_mask(tmp_path / "a.jpg")
    assert np.array_equal(read_mask(tmp_path / "a.jpg", binarize=0.5)[4::8, 4::8], MASK)


def test_almost_binary_truth_is_refused_with_the_remedy(tmp_path):
    values = MASK.astype(np.uint8) * 255
    values[np.nonzero(MASK)[0][0], np.nonzero(MASK)[1][0]] = 254
    path = save(tmp_path / "brind.png", values)
    with pytest.raises(InputError, match=r"brind\.png.*3 values.*binarize"):
        read_truths(path)
    assert np.array_equal(read_mask(path, binarize=0.5), MASK)
    with pytest.raises(InputError, match=r"in \(0, 1\]"):
        read_mask(path, binarize=1.5)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "u1", "?"])
def test_npy(tmp_path, dtype, order):
    values = np.asarray(MASK.astype(dtype), order=order)
    np.save(tmp_path / "a.npy", values)
    assert np.array_equal(read_array(tmp_path / "a.npy"), values)
    assert np.array_equal(read_mask(tmp_path / "a.npy"), MASK)


def test_npz_arrays_are_annotators_in_natural_order(tmp_path):
    maps = {f"person{n}": RNG.random((5, 6)) < 0.5 for n in (10, 2, 1)}
    for save_npz in (np.savez, np.savez_compressed):
        save_npz(tmp_path / "a.npz", **maps)
        found = read_truths(tmp_path / "a.npz")
        assert all(np.array_equal(found[i], maps[f"person{n}"]) for i, n in enumerate((1, 2, 10)))
        assert np.array_equal(read_mask(tmp_path / "a.npz", key="person2"), maps["person2"])
    with pytest.raises(DataError, match="save one per file, or name it in Python: key="):
        read_strength(tmp_path / "a.npz")
    with pytest.raises(InputError, match="3 annotators"):
        read_mask(tmp_path / "a.npz")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "i1"])
def test_matlab_numbers_equal_scipy(tmp_path, dtype, compressed):
    values = RNG.integers(0, 100, (7, 9, 2)).astype(dtype)
    scipy.io.savemat(tmp_path / "a.mat", {"x": values, "note": "text"}, do_compression=compressed)
    assert np.array_equal(read_array(tmp_path / "a.mat"), scipy.io.loadmat(tmp_path / "a.mat")["x"])


def test_matlab_small_logical_and_sparse(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"m": MASK, "s": scipy.sparse.csc_array(MASK.astype(float))})
    assert read_array(tmp_path / "a.mat", key="m").dtype == bool
    assert np.array_equal(read_mask(tmp_path / "a.mat", key="m"), MASK)
    assert np.array_equal(read_mask(tmp_path / "a.mat", key="s"), MASK)
    with pytest.raises(DataError, match=r"several variables.*\(m, s\)"):
        read_mask(tmp_path / "a.mat")
    with pytest.raises(DataError, match=r"no variable 'x' \(its variables: m, s\)"):
        read_mask(tmp_path / "a.mat", key="x")


def test_matlab_struct_forms(tmp_path):
    write_bsds_mat(tmp_path / "cells.mat", [MASK, ~MASK])
    scipy.io.savemat(tmp_path / "struct.mat", {"groundTruth": {"Boundaries": MASK}})
    labels = np.arange(12)[:, None] // 4 + np.zeros((1, 17), dtype=int)
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = {"Segmentation": labels.astype(np.uint16)}
    scipy.io.savemat(tmp_path / "labels.mat", {"groundTruth": cells})
    first, second = read_truths(tmp_path / "cells.mat")
    assert np.array_equal(first, MASK)
    assert np.array_equal(second, ~MASK)
    assert np.array_equal(read_mask(tmp_path / "struct.mat"), MASK)
    assert np.array_equal(read_mask(tmp_path / "labels.mat"), label_boundaries(labels))
    assert np.array_equal(read_segmentations(tmp_path / "labels.mat")[0], labels)


def drawn_by(*shapes, seed=3):
    """Return a cell array with a struct of two fields for each shape, of several types."""
    rng = np.random.default_rng(seed)
    cells = np.empty((1, len(shapes)), dtype=object)
    for number, shape in enumerate(shapes):
        labels = rng.integers(0, 9, shape).astype(("u2", "u1")[number // 2 % 2])
        cells[0, number] = {"Segmentation": labels, "Boundaries": rng.random(shape) < 0.4}
    return cells


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_cells_that_begin_alike_equal_scipy(tmp_path, compressed):
    cells = drawn_by(*[(5, 7)] * 4, *[(7, 5)] * 3, (5, 7), (7, 1), (1, 1), (5, 7), (5, 7))
    scipy.io.savemat(tmp_path / "a.mat", {"x": cells}, do_compression=compressed)
    expected = scipy.io.loadmat(tmp_path / "a.mat", squeeze_me=True, struct_as_record=False)["x"]
    with _matlab5.opened((tmp_path / "a.mat").read_bytes()) as variables:
        found = [next(cell.structs("Segmentation", "Boundaries")) for cell in next(variables).cells()]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for field in ("Segmentation", "Boundaries"):
            assert np.array_equal(one[field].array().squeeze(), getattr(other, field)), field


def test_matlab_cells_that_begin_alike_are_read_as_others_are(tmp_path, monkeypatch):
    scipy.io.savemat(tmp_path / "a.mat", {"x": drawn_by(*[(2, 3)] * 3)})
    content = (tmp_path / "a.mat").read_bytes()
    outcomes = []
    for kept in (_matlab5._MOST_HEADS, 0):
        monkeypatch.setattr(_matlab5, "_MOST_HEADS", kept)
        outcomes.append([read_cells(damaged) for damaged in changed_once(content, start=128)])
    assert outcomes[0] == outcomes[1]
    assert sum(isinstance(one, str) for one in outcomes[0]) > 100  # errors, by their texts


def test_matlab_cells_may_declare_their_size_without_padding(tmp_path):
    cells = np.empty((1, 3), dtype=object)
    cells[0] = [np.arange(5, dtype=np.uint8)[None] + number for number in range(3)]
    scipy.io.savemat(tmp_path / "a.mat", {"x": cells})
    content = (tmp_path / "a.mat").read_bytes()
    padded, bare = (struct.pack("<II", 14, size) for size in (56, 53))
    assert content.count(padded) == 3
    with _matlab5.opened(content.replace(padded, bare)) as variables:
        found = [cell.array()[0].tolist() for cell in next(variables).cells()]
    assert found == [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [2, 3, 4, 5, 6]]


def changed_once(content, start):
    """Go through copies of a file with one byte changed, and through its beginnings."""
    for at in range(start, len(content)):
        for change in (1, 8, 0x80):
            yield content[:at] + bytes([content[at] ^ change]) + content[at + 1 :]
        yield content[:at]


def read_cells(content):
    try:
        with _matlab5.opened(content) as variables:
            cells = [next(cell.structs("Boundaries"), {}) for cell in next(variables).cells()]
            return [(name, value.array().tolist()) for fields in cells for name, value in fields.items()]
    except (DataError, StopIteration, ValueError, zlib.error) as error:
        return f"{type(error).__name__} {error}"


def write_73(path, truths, boundaries="Boundaries"):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        references = np.empty((len(truths), 1), dtype=h5py.ref_dtype)
        for index, truth in enumerate(truths):
            group = file.create_group(f"#refs#/{index}")
            stored = group.create_dataset(boundaries, data=truth.T.astype(np.uint8), compression="gzip")
            stored.attrs["MATLAB_class"] = np.bytes_("logical")
            references[index, 0] = group.ref
        file.create_dataset("groundTruth", data=references, dtype=h5py.ref_dtype)


def test_matlab_73(tmp_path):
    h5py = pytest.importorskip("h5py")
    write_73(tmp_path / "a.mat", [MASK, ~MASK])
    first, second = read_truths(tmp_path / "a.mat")
    assert np.array_equal(first, MASK)
    assert np.array_equal(second, ~MASK)
    with h5py.File(tmp_path / "b.mat", "w") as file:
        file["ucm2"] = np.linspace(0, 1, 63).reshape(7, 9).T
    assert np.array_equal(read_strength(tmp_path / "b.mat"), np.linspace(0, 1, 63).reshape(7, 9)[2::2, 2::2])
    write_73(tmp_path / "c.mat", [MASK], boundaries="other")
    with pytest.raises(DataError, match="neither `Boundaries` nor"):
        read_truths(tmp_path / "c.mat")


def test_seg(tmp_path):
    labels = RNG.integers(0, 3, (5, 7))
    rows = []
    for y, row in enumerate(labels):
        cuts = [0, *(np.nonzero(np.diff(row))[0] + 1), row.size]
        rows += [f"{row[a]} {y} {a} {b - 1}" for a, b in itertools.pairwise(cuts)]
    head = (
        "format ascii cr\ndate Thu Apr 5 2001\nimage 2092\nuser 1105\nwidth 7\nheight 5\nsegments 3\ngray 0\n"
    )
    (tmp_path / "a.seg").write_text(head + "data\n" + "\n".join(rows) + "\n")
    assert np.array_equal(read_segmentations(tmp_path / "a.seg")[0], labels)
    assert np.array_equal(read_mask(tmp_path / "a.seg"), label_boundaries(labels))
    (tmp_path / "b.seg").write_text(head + "data\n" + "\n".join(rows[:-1]) + "\n")
    with pytest.raises(DataError, match=r"b\.seg: .*must cover"):
        read_mask(tmp_path / "b.seg")


def brute_boundaries(labels):
    rows, columns = labels.shape
    result = np.zeros(labels.shape, dtype=bool)
    for i in range(rows):
        for j in range(columns):
            block = labels[i : i + 2, j : j + 2]
            result[i, j] = (block[:, 1:] != block[:, :-1]).any() or (block[1:] != block[:-1]).any()
    return result


def test_label_boundaries_equal_brute_force():
    for shape in ((6, 8), (1, 5), (5, 1), (1, 1)):
        labels = RNG.integers(0, 3, shape)
        assert np.array_equal(label_boundaries(labels), brute_boundaries(labels))


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", ">i2"])
@pytest.mark.parametrize("suffix", ["nii", "nii.gz"])
def test_nifti_equals_nibabel(tmp_path, kind, dtype, suffix):
    image = kind(RNG.integers(0, 90, (4, 5, 6)).astype(dtype), np.diag([0.5, 1, 2, 1]))
    if dtype == "i2":
        image.header.set_slope_inter(0.25, 3)
    nibabel.save(image, tmp_path / f"a.{suffix}")
    expected = nibabel.load(tmp_path / f"a.{suffix}")
    found = read_volume(tmp_path / f"a.{suffix}")
    assert np.array_equal(found.array, np.asanyarray(expected.dataobj))
    assert found.spacing == (0.5, 1, 2)


def test_write_map_round_trip(tmp_path):
    strength = RNG.random((6, 8))
    assert abs(read_strength(write_map(tmp_path / "x/a.png", strength)) - strength).max() <= 0.5 / 255 + 1e-9
    deep = read_strength(write_map(tmp_path / "b.png", strength, bits=16))
    assert abs(deep - strength).max() <= 0.5 / 65535 + 1e-9
    assert np.array_equal(read_strength(write_map(tmp_path / "c.npy", strength)), strength)
    assert np.array_equal(read_mask(write_map(tmp_path / "d.png", MASK)), MASK)
    with pytest.raises(InputError, match="2 dimensions"):
        write_map(tmp_path / "e.png", np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match=r"\.npy or \.png"):
        write_map(tmp_path / "e.jpg", MASK)


@pytest.mark.parametrize("name", ["a.png", "a.xyz", "folder.png"])
def test_missing_unknown_and_folder(tmp_path, name):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "a.xyz").write_text("hello")
    with pytest.raises(DataError, match=name.replace(".", r"\.")):
        read_array(tmp_path / name)


@pytest.mark.data
def test_real_truths_equal_scipy_and_their_segmentations(data):
    for number, path in enumerate(sorted((data / "bsds500/groundTruth").glob("*/*.mat"))):
        if number % 6 and number > 10:
            continue
        expected = [cell[0, 0] for cell in scipy.io.loadmat(path)["groundTruth"][0]]
        found = read_truths(path)
        assert len(found) == len(expected)
        assert all(np.array_equal(a, b["Boundaries"] == 1) for a, b in zip(found, expected, strict=True))
        labels = read_segmentations(path)
        assert all(np.array_equal(a, b["Segmentation"]) for a, b in zip(labels, expected, strict=True))
        if number < 4:
            assert all(
                np.array_equal(thin(label_boundaries(a)), b) for a, b in zip(labels, found, strict=True)
            )


@pytest.mark.data
def test_real_contour_maps_equal_scipy(data):
    for path in sorted((data / "bsds500/ucm2/val").glob("*.mat"))[::5]:
        assert np.array_equal(read_strength(path), scipy.io.loadmat(path)["ucm2"][2::2, 2::2])


@pytest.mark.data
def test_the_three_forms_of_the_benchmark_example_agree(data):
    for path in sorted((data / "bsds_bench/ucm2").glob("*.mat")):
        strength = read_strength(path)
        png = read_strength(data / "bsds_bench/png" / f"{path.stem}.png")
        assert abs(strength - png).max() <= 0.5 / 255 + 1e-9
        candidates = read_candidates(data / "bsds_bench/segs" / path.name)
        assert len(candidates) == 5
        for number, found in enumerate(candidates, start=1):
            assert np.array_equal(thin(found), thin(strength >= number / 6))
        with pytest.raises(DataError, match="segmentations"):
            read_strength(data / "bsds_bench/segs" / path.name)


@pytest.mark.data
def test_real_volume(data):
    path = next((data / "mni152").glob("*_gm_*.nii.gz"))
    found = read_volume(path)
    assert np.array_equal(found.array, np.asanyarray(nibabel.load(path).dataobj))
    assert found.spacing == (1, 1, 1)


def test_only_the_asked_fields_are_looked_at(tmp_path):
    noise = RNG.integers(0, 2**16, (600, 600)).astype(np.uint16)
    cells = np.empty((1, 3), dtype=object)
    for index in range(3):
        cells[0, index] = {
            "Segmentation": noise,
            "Boundaries": np.full((600, 600), index, np.uint8),
            "x": 1.0,
        }
    scipy.io.savemat(tmp_path / "a.mat", {"groundTruth": cells}, do_compression=True)
    with _matlab5.opened((tmp_path / "a.mat").read_bytes()) as found:
        (value,) = found
        for index, cell in enumerate(value.cells()):
            (fields,) = cell.structs("Boundaries", "x")
            assert (fields["Boundaries"].array() == index).all()
            assert fields["x"].array() == 1


def test_big_endian_matlab(tmp_path):
    import struct

    numbers = np.arange(6, dtype=">f8")
    body = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 2, 3)
    body += struct.pack(">HHcxxx", 1, 1, b"x") + struct.pack(">II", 9, 48) + numbers.tobytes()
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI"
    (tmp_path / "a.mat").write_bytes(head + struct.pack(">II", 14, len(body)) + body)
    assert np.array_equal(scipy.io.loadmat(tmp_path / "a.mat")["x"], numbers.reshape(2, 3, order="F"))
    assert np.array_equal(read_array(tmp_path / "a.mat"), numbers.reshape(2, 3, order="F"))


def test_gzip_is_recognised_by_content(tmp_path):
    nibabel.save(nibabel.Nifti1Image(MASK.astype(np.uint8)[None], np.eye(4)), tmp_path / "a.nii")
    (tmp_path / "b.nii").write_bytes(gzip.compress((tmp_path / "a.nii").read_bytes()))
    assert np.array_equal(read_mask(tmp_path / "b.nii")[0], MASK)


def test_empty_cells_and_complex_numbers(tmp_path):
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [MASK, np.zeros((0, 0))]
    scipy.io.savemat(tmp_path / "a.mat", {"maps": cells})
    with pytest.raises(InputError, match="no pixels"):
        read_truths(tmp_path / "a.mat")
    scipy.io.savemat(tmp_path / "b.mat", {"x": MASK * 1j})
    with pytest.raises(DataError, match="complex"):
        read_array(tmp_path / "b.mat")
    scipy.io.savemat(tmp_path / "c.mat", {"text": "hello", "number": 3.0})
    with pytest.raises(DataError, match=r"no variable that can be used.*text, number"):
        read_array(tmp_path / "c.mat")


def test_struct_arrays_of_both_generations(tmp_path):
    h5py = pytest.importorskip("h5py")
    structs = np.zeros((1, 2), dtype=[("Boundaries", "O")])
    structs["Boundaries"][0, :] = [MASK, ~MASK]
    scipy.io.savemat(tmp_path / "a.mat", {"groundTruth": structs})
    with h5py.File(tmp_path / "b.mat", "w") as file:
        first, second = (
            file.create_dataset("#refs#/a", data=MASK.T),
            file.create_dataset("#refs#/b", data=~MASK.T),
        )
        references = np.array([[first.ref], [second.ref]], dtype=h5py.ref_dtype)
        file.create_dataset("groundTruth/Boundaries", data=references, dtype=h5py.ref_dtype)
    for name in ("a.mat", "b.mat"):
        found = read_truths(tmp_path / name)
        assert np.array_equal(found[0], MASK)
        assert np.array_equal(found[1], ~MASK)


def test_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.mat").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(600))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"a\.mat: reading MATLAB 7\.3 files needs .*\[volumes\]"):
        read_array(tmp_path / "a.mat")


def test_several_pictures_in_one_file_are_refused(tmp_path):
    first = Image.fromarray(GREY)
    first.save(tmp_path / "a.tif", save_all=True, append_images=[first])
    with pytest.raises(DataError, match="several pictures"):
        read_array(tmp_path / "a.tif")


def test_photos_in_other_colour_spaces(tmp_path):
    Image.fromarray(GREY).convert("CMYK").save(tmp_path / "a.tif")
    assert (
        np.array_equal(read_image(tmp_path / "a.tif"), GREY / 255)
        or abs(read_image(tmp_path / "a.tif") - GREY / 255).max() < 0.01
    )


def test_write_refuses_what_it_cannot_keep(tmp_path):
    for wrong, message in (
        (lambda: write_map(tmp_path / "a.npy", np.array(["x"])), "numbers"),
        (lambda: write_map(tmp_path / "a.png", MASK, bits=12), "8 or 16"),
        (lambda: write_bsds_mat(tmp_path / "a.mat", []), "one or more"),
        (lambda: write_bsds_mat(tmp_path / "a.txt", [MASK]), "end with"),
    ):
        with pytest.raises((InputError, DataError), match=message):
            wrong()
    assert not list(tmp_path.iterdir())


def test_one_volume_of_one_time_point(tmp_path):
    nibabel.save(nibabel.Nifti1Image(MASK.astype(np.uint8)[None, ..., None], np.eye(4)), tmp_path / "a.nii")
    assert read_mask(tmp_path / "a.nii").shape == (1, *MASK.shape)


def test_public_names_are_found():
    from edgecritic import datasets

    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)
    assert set(dir(datasets)) == set(datasets.__all__)
    with pytest.raises(AttributeError, match="no attribute"):
        datasets.nothing  # noqa: B018


def test_fields_of_structs_that_were_passed_by_are_read_later(tmp_path):
    rng = np.random.default_rng(0)
    fields = {name: rng.integers(0, 255, (900, 900), dtype=np.uint8) for name in ("a", "b")}
    scipy.io.savemat(tmp_path / "a.mat", {"x": fields}, do_compression=True)
    with _matlab5.opened((tmp_path / "a.mat").read_bytes()) as found:
        value = next(found)
        for name in ("b", "a"):
            np.testing.assert_array_equal(next(value.structs(name))[name].array(), fields[name])


@pytest.mark.parametrize("noise", [100, 10**6])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda packed: packed, None),
        (lambda packed: packed + packed, "more than one stream"),
        (lambda packed: packed[:-4], "before the checksum"),
        (lambda packed: packed[:-1] + bytes([packed[-1] ^ 1]), "incorrect data check"),
        (lambda packed: packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:], "damaged|truncated"),
        (lambda packed: zlib.compress(zlib.decompress(packed) + bytes(8)), "more than the declared"),
        (lambda packed: zlib.compress(zlib.decompress(packed)[:-8]), "of [0-9]+ declared bytes"),
    ],
)
def test_packed_variables_are_verified_whatever_their_size(noise, change, words):
    values = RNG.integers(0, 255, (2, noise), dtype=np.uint8)  # small and large ones are unpacked differently
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"x": values}, do_compression=True)
    content = stream.getvalue()
    packed = change(content[136:])
    data = content[:132] + len(packed).to_bytes(4, "little") + packed
    with nullcontext() if words is None else pytest.raises(DataError, match=words):
        found = read_array(Content(Path("a.mat"), data))
        np.testing.assert_array_equal(found, values)


def test_nothing_large_is_in_memory_twice_while_it_is_unpacked():
    values = RNG.integers(0, 255, (2, 2_000_000), dtype=np.uint8)
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"x": values}, do_compression=True)
    data = stream.getvalue()
    tracemalloc.start()
    try:
        with _matlab5.opened(data) as found:
            next(found).buffer.finish()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert values.nbytes <= peak < 1.3 * values.nbytes
