"""Forced choice: trials, votes, risk and the files in between."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from edgecritic.annotators import Trial, dataset_risk, majority, simulate_subject, strength, trials
from edgecritic.annotators.answers import answers_csv, answers_json, read_answers, read_trials, trials_json
from edgecritic.annotators.choice import Answer, wilson_interval
from edgecritic.errors import DataError, InputError


@pytest.fixture(scope="module")
def images():
    """Images with a line that all three drew, one that a single annotator drew, and a false alarm."""
    made = []
    for number in range(12):
        shared = np.zeros((60, 70), bool)
        shared[10, 5:60] = True
        own = shared.copy()
        own[30, 5:40] = True
        candidate = shared.copy()
        candidate[50, 10:50] = True
        made.append((f"im{number}", strength([shared, own, shared], tolerance=2), candidate))
    return made


@pytest.mark.parametrize(("mode", "row"), [("hard", 30), ("easy", 10)])
def test_trials_show_the_right_segments(images, mode, row):
    asked = trials(images, mode=mode, detector="net", seed=3)
    assert [one.image for one in asked] == [name for name, _, _ in images]
    assert sum(one.false_alarm == "left" for one in asked) == 6
    for one in asked:
        alarm, label = (one.left, one.right) if one.false_alarm == "left" else (one.right, one.left)
        assert (alarm.kind, label.kind) == ("false alarm", "label")
        assert {pixel[0] for pixel in alarm.pixels} == {50}
        assert {pixel[0] for pixel in label.pixels} == {row}
        for part in (alarm, label):
            assert part.centre in part.pixels
            assert max(abs(pixel[1] - part.centre[1]) for pixel in part.pixels) <= 10
    assert asked == trials(images, mode=mode, detector="net", seed=3)
    fewer = trials(images[:6], mode=mode, detector="net", seed=3)
    assert [{one.left, one.right} for one in fewer] == [{one.left, one.right} for one in asked[:6]]


def test_images_without_a_false_alarm_are_left_out(images):
    name, found, _ = images[0]
    assert trials([(name, found, found.maps[1])], mode="hard") == []


def test_majority_and_risk(images):
    asked = trials(images, mode="hard", detector="net")
    answers = [answer for k in range(5) for answer in simulate_subject(asked, name=f"s{k}", preference=1.0)]
    found = dataset_risk(asked, answers)
    assert (found.risk, found.trials, found.ties) == (1.0, 12, 0)
    assert dataset_risk(asked, simulate_subject(asked, preference=0.0)).risk == 0.0
    split = [Answer("t", "a", "left"), Answer("t", "b", "right")]
    assert majority(split) == {"t": None}
    with pytest.raises(InputError, match="twice"):
        majority([split[0], split[0]])
    with pytest.raises(InputError, match="not among those"):
        dataset_risk(asked, split[:1])


def test_simulated_subjects_have_their_preference(images):
    many = [
        Trial(
            id=f"{one.id}-{k}",
            image=one.image,
            detector="",
            mode="hard",
            left=one.left,
            right=one.right,
        )
        for one in trials(images, mode="hard")
        for k in range(200)
    ]
    found = dataset_risk(many, simulate_subject(many, preference=0.3, seed=2), level=0.9999)
    assert found.low < 0.3 < found.high


@pytest.mark.parametrize(
    ("hits", "total", "level"), [(0, 7, 0.95), (3, 10, 0.9), (50, 100, 0.99), (5, 5, 0.95)]
)
def test_wilson_equals_scipy(hits, total, level):
    expected = binomtest(hits, total).proportion_ci(level, method="wilson")
    assert wilson_interval(hits, total, level=level) == pytest.approx(
        (expected.low, expected.high), abs=1e-12
    )


def test_files_come_back_as_they_were(images, tmp_path):
    asked = trials(images, mode="easy", detector="net")
    (tmp_path / "trials.json").write_text(trials_json(asked))
    assert read_trials(tmp_path / "trials.json") == asked
    answers = simulate_subject(asked, name='Ann, "the" first')
    (tmp_path / "a.csv").write_text(answers_csv(answers), encoding="utf-8")
    (tmp_path / "a.json").write_text(answers_json(answers), encoding="utf-8")
    assert read_answers(tmp_path / "a.csv") == answers
    assert read_answers(tmp_path / "a.json") == answers


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "trial,choice\n1,left\n", "no subject"),
        ("a.csv", "observer,selection,trial\nann,1,4\n", "of the studio"),
        ("a.json", '{"answers": [{"trial": "1", "subject": "a", "choice": "up"}]}', "'left' or 'right'"),
        ("a.json", "[1, 2]", "list of answers"),
        ("a.json", "{", "cannot be read"),
    ],
)
def test_bad_answers_are_refused_in_words(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises((DataError, InputError), match=words):
        read_answers(tmp_path / name)


def test_bad_trials_are_refused_in_words(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({"trials": [{"id": 1}]}))
    with pytest.raises(DataError, match="no trial"):
        read_trials(tmp_path / "t.json")
