"""Files are read whole though a system gives them piece by piece, and refused if they change meanwhile."""

from __future__ import annotations

import os

import pytest

from edgecritic.datasets import content
from edgecritic.errors import DataError

BYTES = bytes(range(256)) * 40


@pytest.mark.parametrize("most", [1000, 10239, 10240, 10241])
def test_files_in_pieces_are_read_whole(tmp_path, monkeypatch, most):
    file = tmp_path / "a.bin"
    file.write_bytes(BYTES)
    read = os.read
    monkeypatch.setattr(content.os, "read", lambda given, wanted: read(given, min(wanted, most)))
    assert content.read_content(file).data == BYTES


@pytest.mark.parametrize("size", [0, 1, 10239, 10241, 20000])
def test_files_that_change_while_they_are_read_are_refused(tmp_path, monkeypatch, size):
    file = tmp_path / "a.bin"
    file.write_bytes(BYTES)
    read = os.read

    def changing(given, wanted):
        os.truncate(file, size)
        return read(given, wanted)

    monkeypatch.setattr(content.os, "read", changing)
    with pytest.raises(DataError, match="changed while it was read"):
        content.read_content(file)


def test_an_empty_file_is_read(tmp_path):
    file = tmp_path / "a.bin"
    file.touch()
    assert content.read_content(file).data == b""
