"""Damaged and hostile files: always one clear error that names the file, never much memory or time."""

from __future__ import annotations

import gzip
import io
import os
import struct
import subprocess
import sys
import textwrap
import zipfile
import zlib

import nibabel
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from PIL import Image

from edgecritic.datasets.files import (
    read_array,
    read_image,
    read_mask,
    read_segmentations,
    read_strength,
    read_truths,
)
from edgecritic.datasets.pairs import list_pairs
from edgecritic.datasets.write import write_bsds_mat
from edgecritic.errors import EdgeCriticError

RNG = np.random.default_rng(3)
REAL = 160 * 2**20
READERS = (read_array, read_image, read_mask, read_segmentations, read_strength, read_truths)


def samples(folder):
    """Write one small valid file of every kind and return their paths."""
    mask = RNG.random((19, 23)) < 0.2
    grey = RNG.integers(0, 256, (19, 23)).astype(np.uint8)
    for suffix in ("png", "jpg", "tif", "bmp", "pgm"):
        Image.fromarray(grey).save(folder / f"grey.{suffix}")
    Image.fromarray(grey).convert("P").save(folder / "palette.png")
    np.save(folder / "a.npy", mask)
    np.savez_compressed(folder / "a.npz", one=mask, two=~mask)
    write_bsds_mat(folder / "cells.mat", [mask, ~mask])
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [{"Segmentation": grey, "Boundaries": mask}, {"Segmentation": grey, "Boundaries": mask}]
    scipy.io.savemat(folder / "plain.mat", {"groundTruth": cells, "text": "hello"})
    scipy.io.savemat(folder / "sparse.mat", {"m": scipy.sparse.csc_array(mask.astype(float))})
    nibabel.save(nibabel.Nifti1Image(mask[None].astype(np.uint8), np.eye(4)), folder / "a.nii.gz")
    nibabel.save(nibabel.Nifti2Image(mask[None].astype(np.uint8), np.eye(4)), folder / "a.nii")
    (folder / "a.seg").write_text("width 3\nheight 2\ndata\n0 0 0 2\n1 1 0 1\n2 1 2 2\n")
    return sorted(folder.iterdir())


def try_all(path):
    """Read in every way; whatever is raised must be ours and name the file in one line."""
    for reader in READERS:
        told = str(path)
        try:
            reader(path)
        except EdgeCriticError as error:
            told = str(error)
        assert str(path) in told
        assert "\n" not in told
        assert len(told) < 600 + len(str(path))


def damaged(content):
    """Yield truncations, flipped bits, overwritten words and inserted bytes of a valid file."""
    size = len(content)
    for cut in sorted(
        {0, 1, 7, 8, 100, 127, 128, 130, 136, 140, 200, *np.linspace(0, size - 1, 12).astype(int)}
    ):
        if cut < size:
            yield content[:cut]
    for position in RNG.integers(0, size, 40):
        flipped = bytearray(content)
        flipped[position] ^= 1 << int(RNG.integers(0, 8))
        yield bytes(flipped)
    for position in RNG.integers(0, min(size, 400), 40):
        for word in (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"):
            yield content[:position] + word + content[position + 4 :]
    yield content + RNG.bytes(64)
    yield content[: size // 2] + RNG.bytes(16) + content[size // 2 :]


def test_damaged_files(tmp_path):
    (tmp_path / "good").mkdir()
    for path in samples(tmp_path / "good"):
        try_all(path)
        victim = tmp_path / path.name
        for content in damaged(path.read_bytes()):
            victim.write_bytes(content)
            try_all(victim)


def test_damage_inside_compressed_matlab(tmp_path):
    write_bsds_mat(tmp_path / "a.mat", [RNG.random((9, 11)) < 0.3] * 2)
    content = (tmp_path / "a.mat").read_bytes()
    inner = zlib.decompress(content[136:])
    for broken in damaged(inner):
        packed = zlib.compress(broken, 1)
        (tmp_path / "b.mat").write_bytes(content[:128] + struct.pack("<II", 15, len(packed)) + packed)
        try_all(tmp_path / "b.mat")


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "bmp", "npy", "npz", "mat", "seg", "nii", "nii.gz"])
def test_random_bytes_are_refused(tmp_path, suffix):
    path = tmp_path / f"random.{suffix}"
    starts = {
        "mat": b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM",
        "npy": b"\x93NUMPY\x01\x00",
        "npz": b"PK\x03\x04",
        "png": b"\x89PNG\r\n\x1a\n",
        "nii": struct.pack("<i", 348),
        "seg": b"width 9\nheight 9\ndata\n",
    }
    for start in (b"", starts.get(suffix, b"")):
        for size in (0, 1, 50, 700):
            path.write_bytes(start + RNG.bytes(size))
            for reader in READERS:
                with pytest.raises(EdgeCriticError, match=f"random.{suffix}"):
                    reader(path)


def test_matlab_73_damage(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["x"] = np.eye(5)
    content = (tmp_path / "a.mat").read_bytes()
    for cut in (9, 60, 600, len(content) - 1):
        (tmp_path / "b.mat").write_bytes(content[:cut])
        with pytest.raises(EdgeCriticError, match=r"b\.mat"):
            read_array(tmp_path / "b.mat")


def test_objects_and_pickles_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "b.npz", x=np.array([{"a": 1}], dtype=object))
    np.save(tmp_path / "c.npy", np.zeros(3, dtype=[("a", "f8")]))
    np.save(tmp_path / "d.npy", np.array([["text"]]))
    for name in ("a.npy", "b.npz", "c.npy", "d.npy"):
        with pytest.raises(EdgeCriticError, match="numbers were expected"):
            read_array(tmp_path / name)


def test_special_files_do_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(EdgeCriticError, match=r"pipe\.png"):
        read_array(tmp_path / "pipe.png")


def png(rows, columns, data):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def packed_zeros(size, start=b""):
    """Return `start` and `size` zero bytes, packed, without holding them in memory."""
    packer = zlib.compressobj(1)
    pieces = [packer.compress(start)]
    block = bytes(2**22)
    pieces += [packer.compress(block) for _ in range(size // len(block))]
    return b"".join([*pieces, packer.flush()])


def mat_of(size, shape, kind=6, real=2**22):
    """Return a compressed MATLAB file with one matrix of zeros that declares `size` bytes of data."""
    body = struct.pack("<IIII", 6, 8, kind, 0) + struct.pack("<IIii", 5, 8, *shape)
    body += struct.pack("<HHcxxx", 1, 1, b"x") + struct.pack("<II", {6: 9, 9: 2}[kind], size)
    start = struct.pack("<II", 14, (len(body) + size) % 2**32) + body
    packed = packed_zeros(real, start)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + struct.pack("<II", 15, len(packed)) + packed


def npy_header(shape, dtype="|u1"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def bombs(folder):
    """Write small files that claim, or unpack to, far more than they should."""
    zeros = packed_zeros(64 * 2**20)
    (folder / "declared.png").write_bytes(png(2**31 - 1, 2**31 - 1, zeros[:1000]))
    (folder / "large.png").write_bytes(png(12000, 12000, zeros))
    (folder / "wide.png").write_bytes(png(1, 2**30, zeros))
    (folder / "declared.npy").write_bytes(npy_header((2**40,)) + b"0")
    (folder / "negative.npy").write_bytes(npy_header((-5, 2**20)) + b"0")
    (folder / "overflow.npy").write_bytes(npy_header((2**33, 2**33), "<f8") + b"0")
    (folder / "declared.mat").write_bytes(mat_of(2**32 - 8, (2**15, 2**14)))
    (folder / "real.mat").write_bytes(mat_of(REAL, (4096, 5120), real=REAL))
    (folder / "bytes.mat").write_bytes(mat_of(REAL, (8192, 20480), kind=9, real=REAL))
    (folder / "lying.mat").write_bytes(mat_of(240 * 2**20, (8192, 3840)))
    (folder / "packed.mat").write_bytes(mat_of(400 * 2**20, (8192, 6400)))
    with zipfile.ZipFile(folder / "real.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in "abc":
            with archive.open(f"{name}.npy", "w") as member:
                member.write(npy_header((200 * 2**20,)))
                for _ in range(50):
                    member.write(bytes(2**22))
    head = nibabel.Nifti1Header()
    head.set_data_dtype(np.uint8)
    head.set_data_shape((32767, 32767, 32767))
    head["magic"] = b"n+1"
    (folder / "declared.nii.gz").write_bytes(gzip.compress(head.binaryblock + bytes(100)))
    head["vox_offset"] = 1e9
    (folder / "far.nii.gz").write_bytes(gzip.compress(head.binaryblock + bytes(100)))
    (folder / "declared.seg").write_text("width 2000000000\nheight 2000000000\ndata\n0 0 0 0\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_bombs_need_less_than_a_gibibyte(tmp_path):
    bombs(tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 20 * 2**20
    script = """
        import pathlib, resource, sys
        import numpy, PIL.Image
        from edgecritic.datasets import files
        from edgecritic.errors import EdgeCriticError
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
        for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
            for name in ("read_array", "read_mask", "read_strength", "read_truths", "read_image"):
                try:
                    getattr(files, name)(path)
                    print(path.name, name, "read")
                except EdgeCriticError as error:
                    print(path.name, name, str(error).partition(": ")[2])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not enough memory" not in done.stdout, done.stdout
    assert "real.mat read_strength read" in done.stdout
    assert "packed.mat read_strength would unpack to" in done.stdout
    for name in (
        "declared.png",
        "declared.npy",
        "declared.mat",
        "real.npz",
        "lying.mat",
        "packed.mat",
        "declared.nii.gz",
    ):
        assert f"{name} read_strength read" not in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"one.png\n",
        b"[[1, 2]]",
        b"[",
        b"\xff\xfe\x00",
        b'["a.png", "b.png"]',
        b"[" * 100_000,
        b"a b\na c\n",
    ],
)
def test_bad_pair_lists(tmp_path, content):
    (tmp_path / "pairs.lst").write_bytes(content)
    with pytest.raises(EdgeCriticError, match=r"pairs\.lst"):
        list_pairs(tmp_path / "pairs.lst")
