"""Rows of PNG files by every filter, against Pillow."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from edgecritic.kernels.rows import unfiltered

pytestmark = pytest.mark.kernels


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pillow_reads(lines):
    head = struct.pack(">IIBBBBB", lines.shape[1] - 1, lines.shape[0], 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    file = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in chunks)
    return np.array(Image.open(io.BytesIO(file)))


@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 12),
    top=st.sampled_from([2, 8, 256]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_filter_is_that_of_pillow(rows, columns, top, seed):
    rng = np.random.default_rng(seed)
    lines = rng.integers(0, top, (rows, 1 + columns)).astype(np.uint8)
    lines[:, 0] = rng.integers(0, 5, rows)
    assert np.array_equal(unfiltered(lines), pillow_reads(lines))


@pytest.mark.parametrize("way", range(5))
def test_one_filter_for_all_rows(way):
    lines = np.random.default_rng(way).integers(0, 256, (30, 41)).astype(np.uint8)
    lines[:, 0] = way
    assert np.array_equal(unfiltered(lines), pillow_reads(lines))


def test_an_unknown_filter_gives_no_row():
    lines = np.zeros((3, 4), dtype=np.uint8)
    lines[1, 0] = 5
    assert unfiltered(lines).shape == (0, 3)
