"""What annotators' functions refuse, what ties do, and where nothing is left to say."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.annotators import answers, strength, trials
from edgecritic.annotators.census import Census, shares
from edgecritic.annotators.checks import obvious_pair
from edgecritic.annotators.choice import Answer, Segment, Trial
from edgecritic.annotators.outputs import output_strength, pool_output_strength
from edgecritic.annotators.votes import dataset_risk, simulate_subject, wilson_interval
from edgecritic.errors import DataError, InputError

ROW = np.zeros((12, 14), dtype=bool)
ROW[5, 2:12] = True
FOUND = strength([ROW, ROW], tolerance=1)
LABEL = Segment(kind="label", centre=(0, 0), pixels=((0, 0),))
ALARM = Segment(kind="false alarm", centre=(5, 5), pixels=((5, 5),))
TRIALS = [
    Trial(id="1", image="a", detector="d", mode="hard", left=ALARM, right=LABEL),
    Trial(id="2", image="b", detector="d", mode="hard", left=LABEL, right=ALARM),
]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shares([Census(counts=(3, 1))], weight="pixel"), "weight must be"),
        (lambda: shares([Census(counts=(3,))]), "at least two annotators"),
        (lambda: shares([]), "no image was given"),
        (lambda: FOUND.at_least(1.5), r"\[0, 1\]"),
        (lambda: FOUND.consensus(3), "number of annotators"),
        (lambda: trials([], mode="soft"), "mode must be one of"),
        (lambda: trials([], mode="hard", square=4), "odd number"),
        (lambda: trials([("a", FOUND, ROW[:-1])], mode="hard"), "one shape"),
        (lambda: simulate_subject(TRIALS, preference=1.2), "probability"),
        (lambda: wilson_interval(5, 4), "0 ≤ hits ≤ total"),
        (lambda: wilson_interval(0, 0), "total > 0"),
        (lambda: wilson_interval(1, 2, level=1), "between 0 and 1"),
        (lambda: dataset_risk(TRIALS, [Answer("3", "ann", "left")]), "not among those given"),
        (lambda: pool_output_strength([]), "no image"),
        (lambda: output_strength(ROW[:-1].astype(float), FOUND), "same shape"),
    ],
)
def test_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_ties_do_not_count():
    first = [Answer("1", "ann", "left"), Answer("2", "ann", "right"), Answer("2", "bob", "left")]
    found = dataset_risk(TRIALS, first)
    assert (found.risk, found.trials, found.lost, found.ties) == (1.0, 1, 1, 1)
    with pytest.raises(InputError, match="odd number of subjects"):
        dataset_risk(TRIALS, first[1:])


def test_subjects_without_doubt():
    assert dataset_risk(TRIALS, simulate_subject(TRIALS, preference=1)).risk == 1
    assert dataset_risk(TRIALS, simulate_subject(TRIALS, preference=0)).risk == 0


def test_outputs_that_match_no_label_have_no_correlation():
    far = np.zeros(ROW.shape)
    far[11, 0] = 0.5
    found = output_strength(far, FOUND)
    assert found.counts.sum() == 0
    assert np.isnan(found.rho)


@pytest.mark.parametrize(("name", "content"), [("a.csv", b"\xff\xfe\x00"), ("a.json", b'"text"')])
def test_files_that_hold_no_answers(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        answers.read_choices(tmp_path / name)


def test_files_that_hold_no_trials(tmp_path):
    (tmp_path / "trials.json").write_text("[]")
    with pytest.raises(DataError, match="expected"):
        answers.read_trials(tmp_path / "trials.json")


def test_images_without_labels_or_space_have_no_checks():
    gradient, rng = np.zeros((40, 40), dtype=np.uint8), np.random.default_rng(0)
    nothing, some = np.zeros((40, 40), dtype=bool), np.eye(40, dtype=bool)
    assert obvious_pair(gradient, [nothing], 5, rng) is None
    assert obvious_pair(gradient, [some], 21, rng) is None
    assert obvious_pair(gradient, [some], 5, rng) is not None
