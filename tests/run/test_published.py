"""Published curves: the figures that are carried, what follows from them, and files of users."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecritic.errors import DataError, InputError, UnknownNameError
from edgecritic.protocols.presets import PRESETS
from edgecritic.report.bench import read_curves
from edgecritic.report.benchmark.leaderboard import leaderboard_text, section
from edgecritic.report.view import View
from edgecritic.run.published import PUBLISHED, find_published, read_published


def test_the_figures_are_those_of_the_files(data):
    """Every number that is carried equals the one of the published file, and none is left out."""
    found = set()
    for file in sorted(data.glob("curves/*/*_bdry_thr.txt")):
        name = f"{file.parent.name}/{file.name.removesuffix('_bdry_thr.txt')}"
        found.add(name)
        one, curve = PUBLISHED[name], np.loadtxt(file)
        np.testing.assert_array_equal(one.recall, curve[:, -3])
        np.testing.assert_array_equal(one.precision, curve[:, -2])
        np.testing.assert_allclose(one.f, curve[:, -1], atol=2e-6)
        summary = np.loadtxt(str(file).replace("_thr", ""))[-7:]
        points = [
            getattr(point, part) for point in (one.ods, one.ois) for part in ("recall", "precision", "f")
        ]
        np.testing.assert_array_equal([*points, one.ap], summary)
    assert found == set(PUBLISHED)


def test_what_follows_from_the_curves():
    assert len(PUBLISHED) == 46
    assert not [name for name, one in PUBLISHED.items() if "ods" in one.quoted]
    assert {name for name, one in PUBLISHED.items() if "ap" in one.quoted} == {
        "bsds500/Canny",
        "bsds500/DEL",
        "bsds500/HFS",
    }
    assert all("ois" in one.quoted for one in PUBLISHED.values())


def test_an_ap_that_does_not_follow_is_quoted():
    assert "ap" not in PUBLISHED["bsds500/HED"].quoted
    worse = json.loads(json.dumps(_file(ap=0.5)))
    assert "ap" in _read(worse)[0].quoted


def _file(**changes):
    one = {
        "name": "Mine",
        "year": 2026,
        "source": "nowhere",
        "ods": {"recall": 0.75, "precision": 0.75, "f": 0.75},
        "ois": {"recall": 0.77, "precision": 0.77, "f": 0.77},
        "ap": 0.43,
        "recall": [0.95, 0.75, 0.4],
        "precision": [0.4, 0.75, 0.9],
    }
    return {"dataset": "mine", "relative_tolerance": 0.0075, "curves": [{**one, **changes}]}


def _read(content, folder=None):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "own.json")
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_published(file)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "JSON"),
        ("[" * 100000, "JSON"),
        ("[]", "list of published"),
        ({"dataset": "x", "relative_tolerance": 0.01, "curves": []}, "curves must be"),
        (_file(recall=[0.5]), "one length"),
        (_file(recall=[0.5, 2, 0.1]), "must lie in"),
        (_file(recall=[0.5, None, 0.1]), "must lie in"),
        (_file(ap=7), "ap must be"),
        (_file(ods={"recall": 1}), "'precision' is missing"),
    ],
)
def test_bad_files_are_refused_in_one_line(content, word):
    with pytest.raises(DataError, match=word) as caught:
        _read(content)
    assert "\n" not in str(caught.value)


def test_choices():
    protocol = PRESETS["bsds"]
    everything, notes = find_published("auto", protocol)
    assert {one.dataset for one in everything} == {"bsds500"}
    assert len(everything) == 31
    assert len(notes) == 1
    _, notes = find_published("nyud:HED", protocol)
    assert "0.011" in notes[1]
    with pytest.raises(UnknownNameError, match="HEDDY"):
        find_published("nyud:HEDDY", protocol)
    with pytest.raises(UnknownNameError, match="mine=folder"):
        find_published("mine=folder", protocol)
    with pytest.raises(InputError, match="tolerance"):
        find_published("auto", protocol.with_changes("other", relative_tolerance=0.02))


def test_rows_are_marked_and_take_part_in_no_test(make_results):
    own = make_results()
    curves = [
        one.for_results("interpolated-101+zero")
        for one in find_published("bsds500:HED,DEL", PRESETS["bsds"])[0]
    ]
    both = {**own, "curves": curves}
    text = leaderboard_text(both, width=140)
    assert "HED (published 2015)" in text
    assert "no test compares them" in text
    assert View(both).p_values == View(own).p_values
    assert [one["name"] for one in View(both).ranked] == [one["name"] for one in View(own).ranked]
    leaderboard, sources = section(View(both)).blocks
    marked = [row for row in leaderboard.body if getattr(row[1], "note", "").startswith("published")]
    assert [row[5] for row in marked] == ["–", "–"]  # that rule needs threshold 0, which no file has
    assert [row[5] for row in sources.body] == ["OIS", "OIS, AP"]


def test_a_given_curve_is_not_published(tmp_path, make_results):
    (tmp_path / "eval_bdry_thr.txt").write_text("0.9 0.5 0.642857\n0.5 0.9 0.642857\n")
    both = {**make_results(), "curves": read_curves({"other": tmp_path / "eval_bdry_thr.txt"})}
    assert View(both).published == []
