"""Tables of pandas, polars and plain rows, in and out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import edgecritic
from edgecritic.errors import InputError, MissingExtraError
from edgecritic.run import ScoreRun, compare_runs
from edgecritic.values import rows_of

ROWS = [
    {"case": "a", "label": "liver", "dice": 0.5, "hd95": 3.0, "reader": "ann"},
    {"case": "a", "label": "lesion", "dice": 0.25, "hd95": None, "reader": "ann"},
    {"case": "b", "label": "liver", "dice": 0.75, "hd95": 1.0, "reader": "ann"},
]


def frames():
    yield ROWS
    for name in ("pandas", "polars"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        yield library.DataFrame(ROWS)


@pytest.mark.parametrize("frame", list(frames()), ids=lambda frame: type(frame).__module__.partition(".")[0])
def test_scores_of_other_tools(frame):
    run = ScoreRun.from_frame(frame)
    assert run.values("dice", "liver") == {"a": 0.5, "b": 0.75}
    assert math.isnan(run.values("hd95", "lesion")["a"])
    assert run.labels == ("liver", "lesion")
    assert dict(zip(run.measures, run.better, strict=True)) == {"dice": "higher", "hd95": "lower"}
    assert run.means["dice"] == pytest.approx((0.625 + 0.25) / 2)
    apart = compare_runs({"one": run, "other": run}, draws=9).differences
    assert {row[3] for row in apart} == {"dice", "hd95"}


def test_scores_without_labels():
    run = ScoreRun.from_frame([{"name": "a", "my_score": 1}, {"name": "b", "my_score": 2}], case="name")
    assert run.means == {"my_score": 1.5}
    assert run.labels == ("",)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"dice": 1.0}], "column 'case'"),
        ([{"case": "a", "reader": "ann"}], "columns of numbers"),
        ([{"case": "a", "dice": 1.0}, {"case": "a", "dice": 0.5}], "comes twice"),
        ([], "columns of numbers"),
        (7, "data frame of pandas or polars"),
        (["text"], "data frame of pandas or polars"),
    ],
)
def test_tables_that_are_none(rows, told):
    with pytest.raises(InputError, match=told):
        ScoreRun.from_frame(rows)


def test_counts_come_back():
    counts = edgecritic.sweep(np.eye(12) * 0.7, np.eye(12, dtype=bool), protocol="bsds(thresholds=5)").counts
    plain = edgecritic.Counts.from_rows(counts.table())
    assert edgecritic.Counts.from_frame(counts.rows()[::-1]) == plain
    with pytest.raises(InputError, match="needs the columns threshold"):
        edgecritic.Counts.from_frame([{"threshold": 0.5}])


def test_polars(monkeypatch):
    scores = edgecritic.score(np.eye(9), np.eye(9), ["dice", "hausdorff"])
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        scores.to_polars()
    monkeypatch.undo()
    polars = pytest.importorskip("polars")
    frame = scores.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert rows_of(frame) == scores.rows()
