"""Forced choice: trials, votes, risk and the files in between."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.stats import binomtest

from edgecritic.annotators import (
    Answer,
    Trial,
    dataset_risk,
    majority,
    risks,
    screening,
    simulate_subject,
    strength,
    trials,
)
from edgecritic.annotators.answers import (
    answers_csv,
    comparisons_csv,
    read_choices,
    read_trials,
    trials_json,
    votes_csv,
)
from edgecritic.annotators.choice import balanced
from edgecritic.annotators.votes import wilson_interval
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


def segments_of(trial):
    return (trial.left, trial.right) if trial.false_alarm == "left" else (trial.right, trial.left)


def test_segments_can_be_judged():
    """Crumbs are never drawn beside lines, squares never overlap, and lengths are comparable."""
    rng = np.random.default_rng(7)
    made = []
    for number in range(15):
        shared, own, candidate = (np.zeros((90, 110), bool) for _ in range(3))
        shared[5, 5:100] = True
        own[40, 10:90] = True
        candidate[44:80, 50] = True  # near the label: some squares overlap
        for mask, at in ((own, 60), (candidate, 70)):
            mask[rng.integers(at, 90, 40), rng.integers(0, 45, 40)] = True
        made.append((f"im{number}", strength([shared | own, shared, shared], tolerance=2), candidate))
    asked = trials(made, mode="hard", detector="net")
    assert len(asked) == 15
    for one in asked:
        alarm, label = segments_of(one)
        sizes = sorted(len(part.pixels) for part in (alarm, label))
        assert sizes[0] >= 12
        assert sizes[1] <= 1.5 * sizes[0]
        assert max(abs(a - b) for a, b in zip(alarm.centre, label.centre, strict=True)) >= 21
        assert len({pixel[0] for pixel in label.pixels}) == 1


def test_shorter_segments_are_drawn_where_there_is_nothing_else():
    one, other, candidate = (np.zeros((60, 60), bool) for _ in range(3))
    one[5, 5:9] = True
    candidate[50, 10:40] = candidate[40, 50] = True
    (asked,) = trials([("a", strength([one, other], tolerance=2), candidate)], mode="hard")
    alarm, label = segments_of(asked)
    assert len(label.pixels) == 4
    assert len(alarm.pixels) >= 11  # the line, not the crumb
    near = np.zeros((60, 60), bool)
    near[12, 5:9] = True
    assert trials([("a", strength([one, other], tolerance=2), near)], mode="hard") == []


def test_sides_are_balanced_within_modes_and_detectors(images):
    asked = [
        one
        for mode in ("hard", "easy")
        for name in ("a", "b", "c")
        for one in trials(images[:5], mode=mode, detector=name)
    ]
    even = balanced(asked, seed=2)
    assert [{one.left, one.right} for one in even] == [{one.left, one.right} for one in asked]
    for mode in ("hard", "easy"):
        lefts = [one.false_alarm == "left" for one in even if one.mode == mode]
        assert abs(2 * sum(lefts) - len(lefts)) <= 1
        for name in "abc":
            own = [one.false_alarm == "left" for one in even if (one.mode, one.detector) == (mode, name)]
            assert abs(2 * sum(own) - len(own)) <= 1


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


@pytest.fixture(scope="module")
def experiment(images):
    """Trials of two modes and of detectors with awkward names, checks, and answers of four people to most."""
    asked = [
        one
        for mode in ("hard", "easy")
        for name in ("net", "label", "=1+1", "'@x")
        for one in trials(images, mode=mode, detector=name)
    ]
    first = asked[0]
    asked += [
        Trial(
            id=f"{part}/{k}",
            image="im0",
            detector="(nothing)",
            mode="hard",
            left=first.left,
            right=first.right,
            part=part,
        )
        for part in ("check", "practice")
        for k in range(3)
    ]
    rng, start = np.random.default_rng(5), datetime(2024, 1, 1, 12, tzinfo=UTC)
    answers = [
        Answer(
            trial.id,
            subject,
            "left" if rng.random() < 0.6 else "right",
            mirrored=bool(rng.random() < 0.5),
            position=place,
            reaction_ms=int(rng.integers(300, 900)),
            time=start + timedelta(minutes=7 * place),
        )
        for subject in ("7", "12", "3", "+4")
        for place, trial in enumerate(asked)
        if rng.random() < 0.8
    ]
    return asked, answers


def test_risks_equal_a_plain_count(experiment):
    asked, answers = experiment
    found = {(one.mode, one.detector): one for one in risks(asked, answers)}
    assert len(found) == 8
    for (mode, detector), one in found.items():
        wins = losses = ties = count = 0
        for trial in asked:
            if (trial.mode, trial.detector, trial.part) != (mode, detector, "main"):
                continue
            alarm = [
                a.choice == ("left" if trial.left.kind == "false alarm" else "right")
                for a in answers
                if a.trial == trial.id
            ]
            count += len(alarm)
            balance = sum(1 if won else -1 for won in alarm)
            wins += balance > 0
            losses += balance < 0
            ties += bool(alarm) and balance == 0
        expected = binomtest(wins, wins + losses).proportion_ci(0.95, method="wilson")
        assert (one.lost, one.trials, one.ties, one.answers) == (wins, wins + losses, ties, count)
        assert one.risk == wins / (wins + losses)
        assert (one.low, one.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    whole = dataset_risk(asked, answers)
    assert (whole.mode, whole.detector) == ("", "")
    assert whole.lost == sum(one.lost for one in found.values())


def test_screening_equals_a_plain_count(experiment):
    asked, answers = experiment
    known = {one.id: one for one in asked}
    for subject, found in screening(asked, answers).items():
        mine = [one for one in answers if one.subject == subject]
        main = [one for one in mine if known[one.trial].part == "main"]
        checks = [one for one in mine if known[one.trial].part == "check"]
        assert found.answered == len(mine)
        right = [one.choice != known[one.trial].false_alarm for one in checks]
        assert found.checks_passed == (np.mean(right) if right else None)
        assert found.is_doubtful == (bool(right) and np.mean(right) < 0.75)
        assert found.alarm_share == np.mean([one.choice == known[one.trial].false_alarm for one in main])
        assert found.left_share == np.mean([(one.choice == "left") != one.mirrored for one in main])
        assert found.median_ms == np.median([one.reaction_ms for one in main])
        agrees = []
        for one in main:
            votes = [other.choice for other in answers if other.trial == one.trial]
            if 2 * votes.count("left") != len(votes):
                agrees.append(2 * votes.count(one.choice) > len(votes))
        assert found.with_majority == np.mean(agrees)
        assert found.last == max(one.time for one in mine)


def test_files_come_back_as_they_were(images, tmp_path):
    asked = trials(images, mode="easy", detector="net")
    (tmp_path / "trials.json").write_text(trials_json(asked))
    assert read_trials(tmp_path / "trials.json") == asked
    answers = simulate_subject(asked, name='Ann, "the" first')
    (tmp_path / "a.csv").write_text(answers_csv(answers), encoding="utf-8")
    assert read_choices(tmp_path / "a.csv") == ([], answers)


def test_trials_and_answers_come_back_in_one_file(experiment, tmp_path):
    asked, answers = experiment
    (tmp_path / "a.json").write_text(trials_json(asked, answers, name="Ünal", seed=3), encoding="utf-8")
    assert read_choices(tmp_path / "a.json") == (asked, answers)
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["name"] == "Ünal"


def test_comparisons_come_back_with_their_trials(experiment, tmp_path):
    """A detector may be called label, or like a formula; pixels are not in the table."""
    asked, answers = experiment
    text = comparisons_csv(asked, answers, {"7": "=Ada"})
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    told, again = read_choices(tmp_path / "a.csv")
    assert again == answers
    fields = ("image", "detector", "mode", "part", "false_alarm")
    answered = {one.trial for one in answers}
    assert {one.id: [getattr(one, name) for name in fields] for one in told} == {
        one.id: [getattr(one, name) for name in fields] for one in asked if one.id in answered
    }
    assert risks(told, again) == risks(asked, answers)
    known = {one.id: one for one in asked}
    for row in csv.DictReader(io.StringIO(text)):
        trial, chosen = known[row["trial"]], row[f"condition_{row['selection']}"]
        assert (chosen == "label") == (row["choice"] != trial.false_alarm)
        assert [row["condition_1"], row["condition_2"]].count("label") == 1
        assert row["name"] == ("'=Ada" if row["observer"] == "7" else "")


def test_votes_are_counted(experiment):
    asked, answers = experiment
    rows = list(csv.DictReader(io.StringIO(votes_csv(asked, answers))))
    assert len(rows) == len({one.trial for one in answers} & {one.id for one in asked if one.part == "main"})
    for row in rows:
        given, lost = int(row["answers"]), int(row["for_false_alarm"])
        word = "tie" if 2 * lost == given else ("false alarm" if 2 * lost > given else "label")
        assert row["majority"] == word
    whole = dataset_risk(asked, answers)
    words = [row["majority"] for row in rows]
    assert (words.count("false alarm"), words.count("tie")) == (whole.lost, whole.ties)


TOLD = "trial,subject,choice,scene,detector,mode,part,false_alarm\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "trial,choice\n1,left\n", "no subject"),
        ("a.csv", TOLD + "1,ann,left,street,canny,odd,main,left\n", "answer 1 has mode 'odd'"),
        ("a.csv", TOLD + "1,ann,left,street,canny,hard,last,left\n", "part 'last'"),
        ("a.csv", TOLD + "1,ann,left,street,canny,hard,main,up\n", "false alarm 'up'"),
        (
            "a.csv",
            TOLD + "1,ann,left,street,canny,hard,main,left\n1,bob,left,street,canny,hard,main,right\n",
            "answer 2 says something else",
        ),
        ("a.csv", "trial,subject,choice,mirrored\n1,ann,left,perhaps\n", "answer 1 cannot be read"),
        ("a.csv", "trial,subject,choice,time\n1,ann,left,noon\n", "answer 1 cannot be read"),
        (
            "a.json",
            '{"answers": [{"trial": "1", "subject": "a", "choice": "up"}]}',
            "'left', 'right' or 'tie'",
        ),
        ("a.json", "[1, 2]", "list of answers"),
        ("a.json", "{", "cannot be read"),
    ],
)
def test_bad_answers_are_refused_in_words(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises((DataError, InputError), match=words):
        read_choices(tmp_path / name)


GOOD = Trial.bare("left", id="1", image="a", detector="d", mode="hard").as_dict()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([{"id": 1}], "no trial"),
        ([5], "no trial"),
        ([GOOD | {"left": GOOD["left"] | {"pixels": [[1]]}}], "no trial"),
        ([GOOD | {"mode": "odd"}], "'odd'"),
        ([GOOD | {"part": "late"}], "'late'"),
        ([GOOD | {"left": GOOD["right"]}], "it has 'hard', 'main', label"),
        ([GOOD, GOOD], "same id"),
    ],
)
def test_bad_trials_are_refused_in_words(tmp_path, content, words):
    (tmp_path / "t.json").write_text(json.dumps({"trials": content}))
    with pytest.raises(DataError, match=words):
        read_trials(tmp_path / "t.json")
