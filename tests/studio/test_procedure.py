"""What subjects go through around the trials: consent, questions, recruiting, and how they are forgotten."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import date

import pytest
from sqlalchemy import func, select
from studio_pages import invite

from edgecritic.annotators.answers import read_choices
from edgecritic.annotators.exclusion import Rules
from edgecritic.cli.main import main
from edgecritic.errors import InputError
from edgecritic.studio import experiments, participation
from edgecritic.studio.languages import LANGUAGES, texts_in
from edgecritic.studio.models import Answer, Experiment, Invitation, Participation, Slot
from edgecritic.studio.procedure import Procedure

HTML = {"accept": "text/html"}
AGE = {"key": "age", "kind": "number", "text": "How old are you?", "least": 18, "most": 99}
VISION = {"key": "vision", "kind": "choice", "text": "Vision?", "options": ["normal", "impaired"]}
REMARKS = {"key": "remarks", "kind": "long", "text": "Anything else?", "required": False}
ASKED = {
    "consent": "You may stop.\n\nNobody <b>minds</b>.",
    "before": [AGE, VISION],
    "after": [REMARKS],
    "code": "CODE1",
    "address": "https://example.org/done?cc={code}&who={participant}",
    "keep_until": "2031-05-01",
}
DISPLAY = {
    "viewport_width": 1280,
    "viewport_height": 800,
    "screen_width": 1920,
    "screen_height": 1080,
    "pixel_ratio": 2,
    "zoom": 1.25,
    "scale": 3.5,
    "theme": "dark",
    "device": "desktop",
    "input": "mouse",
}


@pytest.fixture
def store(database):
    return database


@pytest.fixture
def experiment(site, trials_of):
    """An experiment that asks for everything; its number."""
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        asked = replace(plan, procedure=Procedure.from_dict(ASKED))
        return experiments.create_experiment(session, 1, asked, trials).id


def recruit(site, number, places=3):
    return site.owner.post(f"/experiments/{number}/recruit", json={"places": places}).json()["path"]


def join(site, path, **ids):
    """Come with the recruiting link; return the browser and the number of the subject."""
    client = site.stranger()
    page = client.get(path, params=ids)
    assert page.status_code == 200, page.text
    given = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    reply = client.post(path, data=given | {"agree": "yes"})
    assert reply.status_code == 303, reply.text
    return client, int(reply.headers["location"].strip("/").split("/")[-1])


def go_through(client, number, side="left", reaction=500):
    """Answer the questions and all trials of a subject who has agreed."""
    given = {"part": "before", "age": "40", "vision": "normal"}
    assert client.post(f"/g/{number}/questions", data=given).status_code == 303
    for slot in client.get(f"/g/{number}/schedule").json()["slots"]:
        chosen = side if isinstance(side, str) else side(slot)
        body = {"slot": slot["slot"], "side": chosen, "reaction_ms": reaction, "display": DISPLAY}
        assert client.post(f"/g/{number}/answers", json=body).status_code == 200
    last = {"part": "after", "remarks": "=1+1"}
    assert client.post(f"/g/{number}/questions", data=last).status_code == 303


# The procedure itself


def test_all_languages_have_the_same_texts_and_the_same_gaps():
    english = texts_in("en")
    for name in LANGUAGES:
        texts = texts_in(name)
        assert list(texts) == list(english)
        for key, text in texts.items():
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", english[key])), (name, key)
            assert text.count("|") == english[key].count("|")


def test_a_procedure_comes_back_from_its_json():
    made = Procedure.from_dict(ASKED | {"texts": {"begin": "Go", "pause": "Pause"}, "language": "de"})
    assert made.texts == {"begin": "Go"}  # Pause is the usual text
    again = Procedure.from_dict(json.loads(json.dumps(made.as_dict())))
    assert again == made
    assert made.words["begin"] == "Go"
    assert made.words["go_on"] == "Weiter"
    assert Procedure.from_dict({"language": "ar"}).direction == "rtl"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (None, "must be an object"),
        ({"language": "English"}, "must be a code"),
        ({"texts": {"nothing": "x"}}, "there is no text"),
        ({"before": [AGE, AGE]}, "the same name"),
        ({"before": [AGE | {"key": "Age"}]}, "small letters"),
        ({"before": [AGE | {"kind": "colour"}]}, "must be one of"),
        ({"before": [VISION | {"options": ["one"]}]}, "2 to 50"),
        ({"before": [AGE | {"least": 9, "most": 1}]}, "must not exceed"),
        ({"before": [AGE | {"text": ""}]}, "has no text"),
        ({"size": 10}, "from 200 to 2000"),
        ({"size": True}, "from 200 to 2000"),
        ({"keep_until": "tomorrow"}, "must look like"),
        ({"consent": "x" * 30_000}, "at most"),
        *(
            ({"address": address}, "must begin with https")
            for address in (
                *(
                    "javascript:alert(1)",
                    "//example.org",
                    "ftp://example.org",
                    "https://",
                    "data:text/html,x",
                ),
                *(
                    "https://me:pw@example.org",
                    "https://{participant}/",
                    "https://a b",
                    "http://[::1",
                    "mailto:a@b",
                ),
            )
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(values, words):
    with pytest.raises(InputError, match=words):
        Procedure.from_dict(values)


@pytest.mark.parametrize(
    ("question", "given", "found"),
    [
        (AGE, "40", 40),
        (AGE, " 18 ", 18),
        (AGE, "17", None),
        (AGE, "4.5", None),
        (AGE, "", None),
        (VISION, "impaired", "impaired"),
        (VISION, "other", None),
        (REMARKS, "", ...),
        (REMARKS, "a\x00b\r\nc", "a b\nc"),
    ],
)
def test_answers_to_questions_are_checked(question, given, found):
    [asked] = Procedure.from_dict({"before": [question]}).before
    if found is None:
        with pytest.raises(InputError, match=re.escape(question["text"])):
            asked.read(given, texts_in("en"))
    else:
        assert asked.read(given, texts_in("en")) == (None if found is ... else found)


# The owner


def test_what_subjects_see_is_changed_until_the_first_is_invited(site, experiment):
    base = f"/experiments/{experiment}"
    before = site.owner.get(f"{base}/experiment.json").json()
    told = site.owner.get(f"{base}/procedure.json").json()
    assert told["procedure"]["consent"] == ASKED["consent"]
    changed = told["procedure"] | {"language": "de", "texts": {"begin": "Los geht's"}}
    reply = site.owner.post(f"{base}/procedure", json={"procedure": changed, "practice": 1, "checks": 3})
    assert reply.status_code == 200, reply.text
    after = site.owner.get(f"{base}/experiment.json").json()
    parts = [one["part"] for one in after["trials"]]
    assert (parts.count("practice"), parts.count("check")) == (1, 3)
    assert [one for one in after["trials"] if one["part"] == "main"] == [
        one for one in before["trials"] if one["part"] == "main"
    ]
    assert "Los geht" in site.owner.get(f"{base}/preview/trials").text
    assert "Fixed since" not in site.owner.get(f"{base}/procedure").text
    [link] = invite(site, "S", experiment=experiment)
    assert "Fixed since" in site.owner.get(f"{base}/procedure").text
    assert site.owner.post(f"{base}/procedure", json={"procedure": told["procedure"]}).status_code == 409
    assert site.owner.get(f"{base}/experiment.json").json()["settings"]["procedure"] == changed
    assert 'lang="de"' in site.guest(link).get("/g/1/").text


def test_the_owner_sees_every_part_before(site, experiment):
    base = f"/experiments/{experiment}/preview"
    consent = site.owner.get(f"{base}/consent").text
    assert "<p>You may stop.</p><p>Nobody &lt;b&gt;minds&lt;/b&gt;.</p>" in consent
    assert "2031-05-01" in consent
    assert 'name="agree" value="yes" disabled' in consent
    assert "How old are you?" in site.owner.get(f"{base}/before").text
    assert "Anything else?" in site.owner.get(f"{base}/after").text
    assert "CODE1" in site.owner.get(f"{base}/end").text
    slots = site.owner.get(f"{base}/schedule").json()["slots"]
    assert slots[0]["practice"]
    assert site.owner.get(f"{base}/nothing").status_code == 404
    with site.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Invitation)) == 0


# The subject


def test_consent_and_questions_come_first(site, experiment):
    [link] = invite(site, "S", experiment=experiment)
    client = site.guest(link)
    assert "You may stop." in client.get("/g/1/").text
    assert "your number: 1" in client.get("/g/1/").text
    assert client.get("/g/1/schedule").json()["code"] == "early"
    with site.database.reading() as session:
        slot = session.scalar(select(Slot.id).order_by(Slot.position))
    early = {"slot": slot, "side": "left", "reaction_ms": 400}
    assert client.post("/g/1/answers", json=early).json()["code"] == "early"
    assert client.post("/g/1/questions", data={"part": "before", "age": "40"}).status_code == 409
    assert "nothing was stored" in client.post("/g/1/consent", data={"agree": "no"}).text
    assert "You may stop." in client.get("/g/1/").text
    assert client.post("/g/1/consent", data={"agree": "yes"}).status_code == 303
    assert "How old are you?" in client.get("/g/1/").text
    again = client.post("/g/1/questions", data={"part": "before", "age": "7", "vision": "normal"})
    assert again.status_code == 400
    assert "whole number from 18 to 99" in again.text
    assert 'value="7"' in again.text
    assert client.get("/g/1/schedule").status_code == 403
    go_through(client, 1)
    end = client.get("/g/1/").text
    assert "CODE1" in end
    assert 'href="https://example.org/done?cc=CODE1&amp;who="' in end
    given = {"part": "before", "age": "50", "vision": "impaired"}
    assert client.post("/g/1/questions", data=given).status_code == 303  # the first answers count
    with site.database.reading() as session:
        said = session.get_one(Participation, 1)
        assert said.before == {"age": 40, "vision": "normal"}
        assert said.after == {"remarks": "=1+1"}
        assert said.consented < said.began < said.finished
        assert session.scalar(select(Answer)).display == DISPLAY


ODD_DISPLAYS = [
    *([], "x", {"more": 1}, {"zoom": "wide"}, {"zoom": -1}, {"zoom": True}, {"device": "car"}),
    *({"zoom": 1e400}, {"viewport_width": 10**9}),
]


def test_a_display_that_cannot_be_is_refused(site, trials_of):
    with site.database.session() as session:
        experiments.create_experiment(session, 1, *trials_of(session, 1))
    [link] = invite(site, "S", experiment=1)
    client = site.guest(link)
    slot = client.get("/g/1/schedule").json()["slots"][0]["slot"]
    for display in ODD_DISPLAYS:
        body = {"slot": slot, "side": "left", "reaction_ms": 400, "display": display}
        text = json.dumps(body).replace("Infinity", "1e999")
        assert client.post("/g/1/answers", content=text).status_code == 400, display


# Recruiting


def test_recruited_people_come_with_their_ids_and_go_on_with_them(site, experiment):
    path = recruit(site, experiment, 2)
    ids = {"PROLIFIC_PID": "5f00aa", "STUDY_ID": "s1", "SESSION_ID": "x9"}
    shown = site.stranger().get(path, params=ids).text
    assert "5f00aa, s1, x9" in shown
    with site.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Invitation)) == 0  # looking stores nothing
    first, number = join(site, path, **ids)
    other, same = join(site, path, **ids)
    assert same == number
    go_through(first, number)
    assert "who=5f00aa" in other.get(f"/g/{number}/").text
    _, second = join(site, path, workerId="W1", assignmentId="A1")
    assert second != number
    full = site.stranger().post(path, data={"participant": "third", "agree": "yes"})
    assert full.status_code == 409
    assert "places are taken" in full.text
    declined = site.stranger().post(path, data={"participant": "fourth", "agree": "no"})
    assert "nothing was stored" in declined.text
    with site.database.reading() as session:
        rows = session.scalars(select(Participation).order_by(Participation.invitation_id)).all()
        found = [(one.participant, one.ids) for one in rows]
        assert session.get_one(Experiment, experiment).started is not None
    assert found == [("5f00aa", {"study": "s1", "session": "x9"}), ("W1", {"session": "A1"})]
    newer = recruit(site, experiment, 5)
    assert site.stranger().get(path).status_code == 404
    assert site.stranger().get(newer).status_code == 200
    assert recruit(site, experiment, 0) == ""
    assert site.stranger().get(newer).status_code == 404


def test_a_recruiting_link_that_does_not_fit_is_refused_in_words(site, experiment):
    path = recruit(site, experiment)
    for odd in ("<script>", "a b", "x" * 200, "é"):
        assert site.stranger().get(path, params={"PROLIFIC_PID": odd}).status_code == 400
        assert site.stranger().post(path, data={"participant": odd, "agree": "yes"}).status_code == 400
    assert site.stranger().get("/join/wrong").status_code == 404
    assert site.stranger().post("/join/wrong", data={"agree": "yes"}).status_code == 404
    for places in (-1, 1001, True, "3", None):
        assert (
            site.owner.post(f"/experiments/{experiment}/recruit", json={"places": places}).status_code == 400
        )
    site.owner.post(f"/experiments/{experiment}/close", data={})
    assert "was closed" in site.stranger().get(path).text
    assert site.stranger().post(path, data={"participant": "p", "agree": "yes"}).status_code == 404
    assert site.owner.post(f"/experiments/{experiment}/recruit", json={"places": 3}).status_code == 409


def test_an_id_can_be_asked_for_and_codes_can_differ(site, trials_of):
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        asked = Procedure.from_dict({"need_id": True, "own_code": True, "address": "https://a.org/{code}"})
        experiments.create_experiment(session, 1, replace(plan, procedure=asked), trials)
    path = recruit(site, 1)
    assert "is missing in the link" in site.stranger().get(path).text
    assert site.stranger().post(path, data={"agree": "yes"}).status_code == 400
    codes = set()
    for name in ("a", "b"):
        client, number = join(site, path, participant=name)
        for slot in client.get(f"/g/{number}/schedule").json()["slots"]:
            body = {"slot": slot["slot"], "side": "left", "reaction_ms": 400}
            assert client.post(f"/g/{number}/answers", json=body).status_code == 200
        [code] = re.findall(r'<output id="code">([0-9A-F]{8})</output>', client.get(f"/g/{number}/").text)
        codes.add(code)
        assert f'href="https://a.org/{code}"' in client.get(f"/g/{number}/").text
    assert len(codes) == 2
    table = list(csv.DictReader(io.StringIO(members(site, 1)["subjects.csv"].decode())))
    assert {row["code"] for row in table} == codes


def test_a_query_cannot_choose_where_subjects_are_sent(site, experiment):
    path = recruit(site, experiment)
    ids = {"participant": "p", "turkSubmitTo": "https://evil.example", "address": "https://evil.example"}
    client, number = join(site, path, **ids)
    go_through(client, number)
    assert "evil" not in client.get(f"/g/{number}/?address=https://evil.example").text


# Data protection


def test_a_subjects_data_are_deleted_and_the_subject_is_told(site, experiment):
    path = recruit(site, experiment)
    client, number = join(site, path, participant="person-one", study="s")
    stay, other = join(site, path, participant="p2")
    go_through(client, number)
    go_through(stay, other)
    base = f"/experiments/{experiment}/subjects"
    assert site.owner.post(f"{base}/{number}/delete", data={}).status_code == 303
    assert "person-one" not in site.owner.get(f"/experiments/{experiment}").text
    with site.database.reading() as session:
        assert session.get(Participation, number) is None
        assert set(session.scalars(select(Slot.invitation_id))) == {other}
        person = session.get_one(Invitation, number)
        assert (person.name, person.token_hash) == ("deleted", None)
    for member in members(site, experiment).values():
        assert b"person-one" not in member
    gone = client.get(f"/g/{number}/", headers=HTML)
    assert gone.status_code == 404
    assert "was deleted" in gone.text
    assert client.get(f"/g/{number}/state").json()["code"] == "deleted"
    assert site.owner.post(f"/invitations/{number}/renew", json={}).status_code == 404
    assert site.owner.post(f"{base}/999/delete", data={}).status_code == 404
    assert site.owner.get(f"/experiments/{experiment}/experiment.json").json()["deleted"] == 1
    _, again = join(site, path, participant="person-one")  # the person may come again, as somebody new
    assert again not in (number, other)


def test_a_subject_of_another_experiment_is_not_deleted(site, experiment, trials_of):
    with site.database.session() as session:
        other = experiments.create_experiment(session, 1, *trials_of(session, 1)).id
    invite(site, "S", experiment=experiment)
    assert site.owner.post(f"/experiments/{other}/subjects/1/delete", data={}).status_code == 404


def test_who_subjects_were_is_forgotten_in_time(site, experiment):
    path = recruit(site, experiment)
    client, number = join(site, path, participant="secret-id", study="secret-study")
    go_through(client, number)
    before = site.owner.get(f"/experiments/{experiment}/live").json()["risks"]
    with site.database.session() as session:
        assert participation.due(session, date(2031, 5, 1)) == []
        assert participation.due(session, date(2031, 5, 2)) == [experiment]
        participation.forget(session, experiment)
        assert participation.due(session, date(2031, 5, 2)) == []
    assert site.owner.get(f"/experiments/{experiment}/live").json()["risks"] == before
    for member in members(site, experiment).values():
        assert b"secret" not in member
    with site.database.reading() as session:
        assert session.get_one(Experiment, experiment).closed is not None
        said = session.get_one(Participation, number)
        assert (said.participant, said.ids, said.before, said.after) == (None, {}, {}, {})
        assert set(session.scalars(select(Answer.display))) == {None}
    assert site.stranger().post(path, data={"participant": "x", "agree": "yes"}).status_code == 404


# Export


def members(site, number):
    reply = site.owner.get(f"/experiments/{number}/export.zip")
    assert reply.status_code == 200
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_code_book_explains_every_column(site, experiment):
    [link] = invite(site, "S", experiment=experiment)
    client = site.guest(link)
    client.post("/g/1/consent", data={"agree": "yes"})
    go_through(client, 1)
    found = members(site, experiment)
    entries = json.loads(found["codebook.json"])
    assert list(csv.DictReader(io.StringIO(found["codebook.csv"].decode()))) == entries
    tables = {name: content.decode() for name, content in found.items() if name.endswith(".csv")}
    for name, content in tables.items():
        if name != "codebook.csv":
            columns = next(csv.reader(io.StringIO(content)))
            assert columns == [one["column"] for one in entries if one["file"] == name]
    assert all(one["meaning"] for one in entries)
    [subject] = csv.DictReader(io.StringIO(tables["subjects.csv"]))
    assert (subject["before_age"], subject["after_remarks"]) == ("40", "'=1+1")
    answers = list(csv.DictReader(io.StringIO(tables["answers.csv"])))
    assert answers[0]["device"] == "desktop"
    assert answers[0]["scale"] == "3.5"
    fixed = json.loads(found["procedure.json"])
    assert fixed["texts"]["begin"] == "Begin"
    assert fixed["settings"]["procedure"]["consent"] == ASKED["consent"]


def test_the_exported_folder_gives_the_same_risks(site, trials_of, tmp_path, monkeypatch, capsys):
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        rules = Rules(checks=None)
        asked = replace(plan, procedure=Procedure.from_dict(ASKED), rules=rules)
        experiment = experiments.create_experiment(session, 1, asked, trials).id
    path = recruit(site, experiment)
    habits = [lambda slot: "left" if slot["slot"] % 3 else "right", "left", lambda slot: "right"]
    for name, side in zip("abc", habits, strict=True):
        client, number = join(site, path, participant=name)
        go_through(client, number, side, reaction=100 if name == "c" else 900)
    live = site.owner.get(f"/experiments/{experiment}/live").json()
    assert len(live["left_out"]) == 2
    reply = site.owner.get(f"/experiments/{experiment}/export.zip")
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = (tmp_path / "reproduce.sh").read_text().splitlines()
    commands = [line.split() for line in lines if line.startswith("edgecritic")]
    assert len(commands) == 2
    for words, group in zip(commands, ("risks", "kept"), strict=True):
        assert main([*words[1:], "--json", "--quiet"]) == 0
        found = json.loads(capsys.readouterr().out)["detector_risks"]
        assert found == live[group]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "risks.csv").read_text())))
    for word, group in (("all", "risks"), ("kept", "kept")):
        mine = [row for row in rows if row["subjects"] == word]
        assert [float(row["risk"]) for row in mine] == [one["risk"] for one in live[group]]


def test_displays_come_back_from_both_files(site, experiment, tmp_path):
    [link] = invite(site, "S", experiment=experiment)
    client = site.guest(link)
    client.post("/g/1/consent", data={"agree": "yes"})
    go_through(client, 1)
    for name in ("experiment.json", "answers.csv"):
        (tmp_path / name).write_bytes(members(site, experiment)[name])
        _, answers = read_choices(tmp_path / name)
        assert {json.dumps(dict(one.display)) for one in answers} == {
            json.dumps(DISPLAY | {"pixel_ratio": 2.0})
        }


def test_an_experiment_is_repeated_elsewhere_with_its_procedure(site, experiment):
    content = site.owner.get(f"/experiments/{experiment}/experiment.json").content
    made = site.owner.post("/projects/1/trials", params={"name": "again.json"}, content=content)
    number = made.json()["id"]
    told = site.owner.get(f"/experiments/{number}/procedure.json").json()
    assert told["procedure"] == Procedure.from_dict(ASKED).as_dict()
    body = {"procedure": told["procedure"], "practice": 9, "checks": told["checks"]}
    assert site.owner.post(f"/experiments/{number}/procedure", json=body).status_code == 409
