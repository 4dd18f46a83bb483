"""Damaged and hostile files: always one clear error that names the file, never much memory or time."""

from __future__ import annotations

import os
import runpy
import struct
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np
import pytest

from edgecritic.datasets.content import Content
from edgecritic.datasets.files import (
    read_array,
    read_image,
    read_mask,
    read_segmentations,
    read_strength,
    read_truths,
)
from edgecritic.datasets.layouts import find_truths
from edgecritic.datasets.write import write_bsds_mat
from edgecritic.errors import EdgeCriticError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
RNG = np.random.default_rng(3)
READERS = (read_array, read_image, read_mask, read_segmentations, read_strength, read_truths)


def try_all(path):
    """Read in every way; whatever is raised must be ours and name the file in one line."""
    source, path = path, getattr(path, "path", path)
    for reader in READERS:
        told = str(path)
        try:
            reader(source)
        except EdgeCriticError as error:
            told = str(error)
        assert str(path) in told
        assert "\n" not in told
        assert len(told) < 600 + len(str(path))


def test_damaged_files(tmp_path):
    for name, content in CORPUS["samples"]().items():
        victim = tmp_path / name
        victim.write_bytes(content)
        try_all(victim)
        for broken in CORPUS["damaged"](content, RNG):
            try_all(Content(victim, broken))


def test_damage_inside_compressed_matlab(tmp_path):
    write_bsds_mat(tmp_path / "a.mat", [RNG.random((9, 11)) < 0.3] * 2)
    content = (tmp_path / "a.mat").read_bytes()
    inner = zlib.decompress(content[136:])
    for broken in CORPUS["damaged"](inner, RNG):
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_bombs_need_less_than_a_gibibyte(tmp_path):
    CORPUS["bombs"](tmp_path)
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
        capture_output=True, text=True, timeout=300, check=False,
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
        "endless.png",
        "sparse.npy",
        "chunk73.mat",
        "declared73.mat",
        "chunks73.mat",
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
        find_truths(tmp_path / "pairs.lst")
