"""Experiments and files: what the studio and ``edgecritic study labels`` read of each other."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from scipy.stats import binomtest
from sqlalchemy import text

from edgecritic.annotators import risks, strength, trials
from edgecritic.annotators.answers import read_choices, read_trials, trials_json
from edgecritic.cli.main import main
from edgecritic.datasets import synthetic
from edgecritic.protocols.sweep import candidate_at
from edgecritic.studio import experiments, projects
from edgecritic.studio.trials import Plan, draw_trials


@pytest.fixture
def store(database):
    return database


def load_file(site, content, project=1):
    reply = site.owner.post(f"/projects/{project}/trials", params={"name": "trials.json"}, content=content)
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def ask(site, experiment, chosen, people=("S", "S", "=T")):
    """Let people answer everything; `chosen(person, slot)` gives the side. Return subject, slot, side."""
    invited = site.owner.post(f"/experiments/{experiment}/subjects", json={"names": list(people)})
    told = []
    for number, one in enumerate(invited.json()["invited"]):
        client = site.guest(one["path"])
        for slot in client.get(f"/g/{one['id']}/schedule").json()["slots"]:
            side = chosen(number, slot)
            given = {"slot": slot["slot"], "side": side, "reaction_ms": 500 + number}
            assert client.post(f"/g/{one['id']}/answers", json=given).status_code == 200
            told.append((str(one["id"]), slot["slot"], side))
    return told


def plain_risks(database, experiment):
    """Count the votes from the tables themselves, without the package."""
    query = """SELECT t.id, t.mode, t.detector, s.alarm_side, a.side
               FROM answers a JOIN slots s ON s.id = a.slot_id JOIN trials t ON t.id = s.trial_id
               WHERE t.experiment_id = :number AND t.part = 'main'"""
    balance = {}
    with database.reading() as session:
        for trial, mode, detector, alarm, side in session.execute(text(query), {"number": experiment}):
            votes = balance.setdefault((mode, detector), {})
            votes[trial] = votes.get(trial, 0) + (1 if side == alarm else -1)
    found = {}
    for key, votes in balance.items():
        lost, won = (sum(np.sign(one) == sign for one in votes.values()) for sign in (1, -1))
        if lost + won:
            ends = binomtest(lost, lost + won).proportion_ci(0.95, method="wilson")
            found[key] = (lost / (lost + won), ends.low, ends.high, lost + won, lost, len(votes) - lost - won)
    return found


NUMBERS = ("risk", "low", "high", "trials", "lost", "ties")


def test_an_experiment_draws_what_the_library_draws(database, fill, scenes):
    project = fill(database)
    with database.reading() as session:
        drawn = draw_trials(session, project, Plan(name="A", seed=9, square=11))
    main_part = [one for one in drawn if one.part == "main"]
    found = {f"scene-{n}": strength(labels) for n, (_, labels, _) in enumerate(scenes)}
    for name in ("good", "noisy"):
        mine = [one for one in main_part if one.detector == name]
        threshold = ods_threshold(scenes, name)
        candidates = [
            (f"scene-{n}", found[f"scene-{n}"], candidate_at(np.rint(255 * maps[name]) / 255, threshold))
            for n, (_, _, maps) in enumerate(scenes)
        ]
        expected = trials(candidates, mode="hard", detector=name, square=11, seed=9)
        assert [(one.id, {one.left, one.right}) for one in mine] == [
            (one.id, {one.left, one.right}) for one in expected
        ]
    lefts = [one.false_alarm for one in main_part].count("left")
    assert abs(2 * lefts - len(main_part)) <= 1


def ods_threshold(scenes, name):
    from edgecritic.protocols.benchmark import Benchmark

    benchmark = Benchmark("bsds")
    for number, (_, labels, maps) in enumerate(scenes):
        benchmark.update(np.rint(255 * maps[name]) / 255, labels, id=str(number))
    return benchmark.result(draws=0).ods.threshold


def test_trials_come_back_from_the_tables(site, store, trials_of, tmp_path):
    with store.session() as session:
        plan, drawn = trials_of(session, 1)
        number = experiments.create_experiment(session, 1, plan, drawn).id
    (tmp_path / "experiment.json").write_bytes(
        site.owner.get(f"/experiments/{number}/experiment.json").content
    )
    assert read_trials(tmp_path / "experiment.json") == drawn
    again = load_file(site, (tmp_path / "experiment.json").read_bytes())
    (tmp_path / "again.json").write_bytes(site.owner.get(f"/experiments/{again}/experiment.json").content)
    assert read_trials(tmp_path / "again.json") == drawn
    with store.reading() as session:
        first, second = (experiments.get_experiment(session, one) for one in (number, again))
        assert (second.mode, second.seed) == (first.mode, first.seed)
        assert second.settings["checks"] == first.settings["checks"]


@pytest.fixture
def study(tmp_path, capsys):
    """Data of two photos and the command that draws trials for them."""
    synthetic.write(tmp_path / "data", images=2)
    command = [
        "study",
        "labels",
        "--data",
        str(tmp_path / "data/truth"),
        "--images",
        str(tmp_path / "data/images"),
    ]
    command += ["--draws", "0", "-j", "1", "-o", str(tmp_path / "out"), "--json"]
    assert main(command) == 0
    capsys.readouterr()
    return command


def add_photos(site, folder):
    number = int(site.owner.post("/projects", data={"name": "Study"}).headers["location"].split("/")[-1])
    for photo in sorted(folder.iterdir()):
        path = f"/projects/{number}/images"
        reply = site.owner.post(path, params={"name": photo.name}, content=photo.read_bytes())
        assert reply.status_code == 201, reply.text
    return number


def test_trials_of_the_study_are_asked_here_and_counted_there(site, store, study, tmp_path, capsys):
    project = add_photos(site, tmp_path / "data/images")
    number = load_file(site, (tmp_path / "out/trials.json").read_bytes(), project)
    chance = np.random.default_rng(2)
    ask(site, number, lambda person, slot: "left" if chance.random() < 0.5 else "right")
    expected = plain_risks(store, number)
    live = site.owner.get(f"/experiments/{number}/live").json()["risks"]
    assert {(one["mode"], one["detector"]) for one in live} == set(expected)
    for one in live:
        wanted = expected[one["mode"], one["detector"]]
        assert [one[name] for name in NUMBERS] == pytest.approx(wanted, abs=1e-12)
    asked = read_trials(tmp_path / "out/trials.json")
    for file in ("answers.csv", "experiment.json"):
        path = tmp_path / file
        path.write_bytes(site.owner.get(f"/experiments/{number}/{file}").content)
        told, answers = read_choices(path)
        assert {one.id for one in told} == {one.id for one in asked}
        assert len(answers) == 3 * len(asked)
        assert main([*study, "--answers", str(path)]) == 0
        found = json.loads(capsys.readouterr().out)["risks"]
        for (mode, _), wanted in expected.items():
            assert [found[mode][name] for name in NUMBERS] == pytest.approx(wanted, abs=1e-12)


def test_a_detector_may_be_called_label(site, store, scenes, tmp_path):
    """Whoever takes the false alarm of a detector called label has not taken the label."""
    with store.session() as session:
        image = projects.images_of(session, 1)[0]
        projects.add_maps(session, image, "detector", "label", [scenes[0][2]["noisy"]])
    assert site.owner.post("/projects/1/experiments", data={"name": "x", "seed": "4"}).status_code == 303
    ask(site, 1, lambda person, slot: ("left", "right")[(slot["slot"] + person) % 2])
    expected = plain_risks(store, 1)
    assert ("hard", "label") in expected
    (tmp_path / "answers.csv").write_bytes(site.owner.get("/experiments/1/answers.csv").content)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text(encoding="utf-8"))))
    assert all([row["condition_1"], row["condition_2"]].count("label") == 1 for row in rows)
    assert len({row["subject"] for row in rows}) == 3  # two of them have one name
    for one in risks(*read_choices(tmp_path / "answers.csv")):
        wanted = expected.pop((one.mode, one.detector))
        assert [getattr(one, name) for name in NUMBERS] == pytest.approx(wanted, abs=1e-12)
    assert not expected


def change(document, **more):
    first = document["trials"][0]
    return {"trials": [first | more]}


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        (lambda one: [], 400, "expected"),
        (lambda one: {"trials": []}, 400, "1 to 10000 trials"),
        (lambda one: {"trials": one["trials"][:1] * 2}, 400, "same id"),
        (lambda one: one | {"seed": "x"}, 400, "seed"),
        (lambda one: one | {"seed": -1}, 400, "Seed must lie in"),
        (lambda one: change(one, image="elsewhere"), 404, "no image"),
        (lambda one: change(one, id="x" * 401), 400, "characters"),
        (lambda one: change(one, id="a\u0000b"), 400, "printable"),
        (lambda one: change(one, detector="d" * 121), 400, "characters"),
        (lambda one: change(one, left=one["trials"][0]["left"] | {"pixels": []}), 400, "inside the image"),
        (lambda one: change(one, left=one["trials"][0]["left"] | {"pixels": [[0, 80]]}), 400, "inside"),
        (lambda one: change(one, left=one["trials"][0]["left"] | {"pixels": [[-1, 0]]}), 400, "inside"),
        (lambda one: change(one, left=one["trials"][0]["left"] | {"pixels": [[1e400, 0]]}), 400, "no trial"),
        (lambda one: change(one, left=one["trials"][0]["left"] | {"centre": [10**30, 0]}), 400, "inside"),
        (lambda one: change(one, part="last"), 400, "part"),
    ],
)
def test_files_that_cannot_be_asked_are_refused_in_words(site, store, trials_of, spoil, code, words):
    with store.reading() as session:
        document = json.loads(trials_json(trials_of(session, 1)[1]))
    content = json.dumps(spoil(document))
    reply = site.owner.post("/projects/1/trials", params={"name": "t.json"}, content=content)
    assert reply.status_code == code, reply.text
    assert words in reply.text
    with store.reading() as session:
        assert experiments.experiments_of(session, 1) == []


def test_only_a_project_takes_trials(site):
    reply = site.owner.post("/projects/9/trials", params={"name": "t.json"}, content=b"{}")
    assert reply.status_code == 404


def test_the_page_of_a_project_loads_trials(site):
    assert (
        'data-upload="/projects/1/trials"'
        in site.owner.get("/projects/1/experiments", headers={"accept": "text/html"}).text
    )
