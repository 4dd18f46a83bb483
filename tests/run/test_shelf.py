"""Values on a shelf: what is there is found again, and what is damaged is as if it were not there."""

from __future__ import annotations

import itertools
import multiprocessing
import os

import pytest

from edgecritic.run.shelf import Shelf


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "some.lines"


def test_what_was_put_there_last_is_found(file):
    shelf = Shelf(file)
    assert shelf.get("a") is None
    for value in ([[1.0, 2.5], "ä\n b"], {"x": None}, 3):
        shelf.put("a", value)
        shelf.put("b", [value])
        assert shelf.get("a") == Shelf(file).get("a") == value
        assert Shelf(file).get("b") == [value]


def test_damage_costs_the_damaged_line_only(file):
    for number in range(5):
        Shelf(file).put(f"key{number}", [number])
    text = file.read_bytes()
    for at, bit in itertools.product(range(len(text)), (1, 0x80)):
        file.write_bytes(text[:at] + bytes([text[at] ^ bit]) + text[at + 1 :])
        found = [Shelf(file).get(f"key{number}") for number in range(5)]
        assert sum(one is None for one in found) <= 2  # the end of a line belongs to two
        assert all(one in (None, [number]) for number, one in enumerate(found))


def test_half_a_line_of_a_killed_process_harms_no_other(file):
    Shelf(file).put("a", 1)
    Shelf(file).put("b", 2)
    text = file.read_bytes()
    for end in range(len(text)):
        file.write_bytes(text[:end])
        Shelf(file).put("c", 3)
        found = Shelf(file)
        assert found.get("c") == 3
        assert found.get("a") in (None, 1)
        assert found.get("b") is None


def test_a_damaged_line_leaves_the_one_before_of_its_key(file):
    Shelf(file).put("a", [1])
    Shelf(file).put("a", [2])
    file.write_bytes(file.read_bytes()[:-1])
    assert Shelf(file).get("a") == [1]
    Shelf(file).put("a", [3])
    assert Shelf(file).get("a") == [3]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"\n\n", b"a", b"a b", b"a b c d", b" \n \n", b"[" * 9]
)
def test_what_is_no_shelf_is_empty(file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    assert Shelf(file).get("a") is None
    assert Shelf(file).get("") is None


def test_a_shelf_that_cannot_be_written_keeps_values_for_now(tmp_path):
    (tmp_path / "plain").write_text("no folder")
    shelf = Shelf(tmp_path / "plain" / "some.lines")
    shelf.put("a", 1)
    assert shelf.get("a") == 1
    Shelf.trim(tmp_path / "plain" / "some.lines", 0)
    (tmp_path / "folder").mkdir()
    Shelf(tmp_path / "folder").put("a", 1)
    assert Shelf(tmp_path / "folder").get("a") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_nobody_waits_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "some.lines")
    shelf = Shelf(tmp_path / "some.lines")
    shelf.put("a", 1)
    assert shelf.get("a") == 1


def test_the_newest_half_is_left_of_a_file_that_is_too_large(file):
    for number in range(10):
        Shelf(file).put(f"key{number}", number)
    Shelf.trim(file, file.stat().st_size)
    assert Shelf(file).get("key0") == 0
    Shelf.trim(file, file.stat().st_size - 1)
    assert [Shelf(file).get(f"key{number}") for number in range(10)] == [None] * 5 + [5, 6, 7, 8, 9]
    Shelf(file).put("new", 1)
    assert Shelf(file).get("new") == 1


def _fill(file, name):
    shelf = Shelf(file)
    for number in range(200):
        shelf.put(f"{name}{number}", [number] * 30)


def test_two_processes_may_put_values_there_at_once(file):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_fill, args=(file, name)) for name in "ab"]
    for one in writers:
        one.start()
    for one in writers:
        one.join(60)
    shelf = Shelf(file)
    assert all(shelf.get(f"{name}{number}") == [number] * 30 for name in "ab" for number in range(200))
