"""Plain grey PNG files are read without Pillow, with the same result and the same refusals."""

from __future__ import annotations

import io
import runpy
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from edgecritic.datasets.content import Content
from edgecritic.datasets.files import read_array
from edgecritic.datasets.formats import pictures
from edgecritic.errors import EdgeCriticError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
chunk, damaged, flipped, png, raw_png = (
    CORPUS[name] for name in ("chunk", "damaged", "flipped", "png", "raw_png")
)

RNG = np.random.default_rng(3)
GREY = RNG.integers(0, 256, (23, 37)).astype(np.uint8)


def saved(values, **options):
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, format="png", **options)
    return stream.getvalue()


def read(content):
    try:
        return read_array(Content(Path("a.png"), content))
    except EdgeCriticError as error:
        return str(error)


def both(content, monkeypatch):
    """Return what is read by Pillow, and without it where that is possible."""
    found = []
    for started in (False, True):
        monkeypatch.setattr(pictures, "is_started", lambda started=started: started)
        found.append(read(content))
    return found


def in_pieces(values, size):
    """Return a PNG file with its rows in many chunks."""
    head, packed, end = png(values)[:33], zlib.compress(b"".join(b"\0" + row.tobytes() for row in values)), 12
    parts = [packed[start : start + size] for start in range(0, len(packed), size)]
    return head + b"".join(chunk(b"IDAT", part) for part in parts) + png(values)[-end:]


@pytest.mark.parametrize(
    "content", [saved(GREY), png(GREY), in_pieces(GREY, 50)], ids=["pillow", "raw", "pieces"]
)
def test_plain_files_are_read_without_pillow(content, monkeypatch):
    monkeypatch.setattr(pictures, "is_started", lambda: True)
    monkeypatch.setattr(pictures, "_open", None)
    found = read_array(Content(Path("a.png"), content))
    assert np.array_equal(found, GREY)
    assert found.flags.c_contiguous
    assert found.flags.writeable


def test_nothing_is_compiled_to_read_a_file(monkeypatch):
    monkeypatch.setattr(pictures, "is_started", lambda: False)
    monkeypatch.setattr(pictures, "unfiltered", None)
    assert np.array_equal(read_array(Content(Path("a.png"), png(GREY))), GREY)


def test_other_files_are_left_to_pillow(monkeypatch):
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Title", "edges")
    exif = Image.Exif()
    exif[0x0112] = 6
    for content in (
        saved(GREY, pnginfo=notes),
        saved(GREY, exif=exif),
        saved(GREY, transparency=7),
        saved(GREY > 99),
        saved(GREY.astype(np.uint16) * 257),
        saved(np.stack([GREY] * 3, axis=-1)),
    ):
        monkeypatch.setattr(pictures, "unfiltered", None)
        assert isinstance(both(content, monkeypatch)[1], np.ndarray | str)


def test_damaged_files_are_refused_in_the_same_words(monkeypatch):
    content = saved(GREY)
    broken = [*damaged(content, RNG), *(content[:size] for size in range(60))]
    broken += [flipped(content, int(bit)) for bit in RNG.integers(0, 8 * len(content), 200)]
    rows = b"".join(b"\0" + row.tobytes() for row in GREY)
    broken += [
        raw_png(23, 37, zlib.compress(rows[:-1])),
        raw_png(23, 37, zlib.compress(rows + b"\0")),
        raw_png(23, 37, zlib.compress(b"\7" + rows[1:])),
        raw_png(0, 37, zlib.compress(rows)),
        raw_png(23, 0, zlib.compress(rows)),
        raw_png(2**31, 2**31, zlib.compress(rows)),
    ]
    refused = 0
    for one in broken:
        first, second = both(one, monkeypatch)
        assert type(first) is type(second), (first, second)
        assert np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second
        refused += isinstance(first, str)
    assert refused > 200
