"""Reports of studies as text for terminals."""

from __future__ import annotations

from edgecritic.report.sections import Table, study_report
from edgecritic.report.text import report_text

REPORT = study_report(
    "A study",
    ("the first finding has many words " * 4, "short"),
    facts=(("images", "3"),),
    tables=(
        Table(
            name="values",
            title="Values",
            header=("measure", *(f"detector-{number}" for number in range(9))),
            body=(("dice", *(number / 10 for number in range(9))), ("hd95", *([None] * 9))),
            note="a note of many words " * 8,
        ),
    ),
)


def test_a_narrow_text_holds_the_same_words():
    whole, narrow = report_text(REPORT), report_text(REPORT, width=60)
    assert max(map(len, whole.splitlines())) > 60 >= max(map(len, narrow.splitlines()))
    numbers = [[word for word in text.split() if word[0].isdigit()] for text in (whole, narrow)]
    assert numbers[0] == numbers[1]
    for number in range(9):
        assert f"detector-{number}" in narrow
    assert narrow.count("dice") == narrow.count("hd95") == narrow.count("measure") > 1


def test_lines_of_a_list_are_indented():
    lines = report_text(REPORT, width=60).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("* "))
    assert lines[first + 1].startswith("  ")
    assert "* short" in lines
