"""The one renderer of text tables."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgecritic.tables import cell_text, columns, csv_text, text_table

WORD = st.text("abc邊\u0301 ", max_size=9).map(str.strip)


@given(st.lists(st.tuples(WORD, WORD, WORD), min_size=1, max_size=5), st.sampled_from(["l", "lr", "rlr"]))
def test_columns_start_or_end_below_each_other(rows, align):
    lines = text_table(rows, ["first", "second", "third"], align=align).split("\n")
    widths = [len(part) for part in lines[1].split("  ")]
    for line, row in zip(lines[2:], rows, strict=True):
        padded = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            taken = sum(
                0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) == "W" else 1
                for sign in cell
            )
            space = " " * (width - taken)
            padded.append(space + cell if align[min(place, len(align) - 1)] == "r" else cell + space)
        assert line == "  ".join(padded).rstrip()


@pytest.mark.parametrize("width", [20, 33, 60])
def test_a_narrow_table_goes_on_below(width):
    header = ["name", "way", *(f"column-{n}" for n in range(7))]
    rows = [["a", "up", *map(str, range(7))], ["b", "down", *map(str, range(7, 14))]]
    tables = text_table(rows, header, width=width, keep=2).split("\n\n")
    assert all(columns(line) <= width for table in tables for line in table.splitlines())
    assert [word for table in tables for word in table.splitlines()[0].split()[2:]] == header[2:]
    assert [word for table in tables for word in table.splitlines()[3].split()[2:]] == rows[1][2:]
    assert all(table.splitlines()[3].startswith("b     down") for table in tables)


def test_one_column_gives_way():
    text = text_table([["a" * 40 + "z", "1"]], ["name", "value"], width=20, shortened=0)
    assert max(map(columns, text.splitlines())) == 20
    assert text.splitlines()[2].startswith("aaaa")
    assert "…" in text
    assert "z  1" in text


def test_nothing_is_obeyed_and_nothing_is_no_table():
    assert "\x1b" not in text_table([["\x1b[31m", "x\ny"]])
    assert len(text_table([["\x1b[31m", "x\ny"]]).splitlines()) == 1
    assert text_table([]) == ""
    assert cell_text("two\nlines") == "two lines"


def test_csv_reads_back():
    rows = [["a,b", 0.1, None], ["=1+1", 2, 'say "x"']]
    found = list(csv.reader(io.StringIO(csv_text(["name", "value", "note"], rows))))
    assert found == [["name", "value", "note"], ["a,b", "0.1", ""], ["'=1+1", "2", 'say "x"']]
