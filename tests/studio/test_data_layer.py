from __future__ import annotations

import asyncio
import csv
import io
import json
import time
import zipfile
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from edgecritic.annotators import risks, screening
from edgecritic.annotators.answers import comparisons_csv, votes_csv
from edgecritic.cli.main import main
from edgecritic.datasets.cases import find_cases
from edgecritic.errors import DataError, InputError
from edgecritic.maps.fold import Edit
from edgecritic.studio import answers, auth, experiments, exports, labelling, projects, results
from edgecritic.studio.answers import AnswerWriter, NewAnswer, store_answers
from edgecritic.studio.database import make_engine, migrate, open_database
from edgecritic.studio.labelling import NewEvent
from edgecritic.studio.models import Annotation, Answer, Base, Image, Slot, Trial, now
from edgecritic.studio.problems import Conflict, NotFound, Refused
from edgecritic.studio.trials import Plan, draw_trials


@pytest.fixture
def project(database, fill):
    return fill(database)


@pytest.fixture
def work(database, project):
    """An open annotation of an invited person."""
    with database.session() as session:
        person, _ = projects.invite(session, "Ada", project_id=project)
        image = projects.images_of(session, project)[0]
        return labelling.open_annotation(session, person, image.id)


def draw(seq, x=1, key=None):
    return NewEvent(seq, key or f"k{seq}", Edit("draw", {"points": [x, 1, x, 5]}))


# --- schema ------------------------------------------------------------------------------------------


def test_migrations_make_what_the_models_say(database):
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_an_unknown_schema_is_refused(database_url):
    open_database(database_url).close()
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'f00'"))
    engine.dispose()
    with pytest.raises(DataError, match="does not know"):
        open_database(database_url)
    with pytest.raises(DataError, match="unknown schema f00"):
        migrate(database_url)


def test_a_foreign_database_is_refused(database_url):
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (a INTEGER)"))
    engine.dispose()
    with pytest.raises(DataError, match="another program"):
        open_database(database_url)


def test_an_older_schema_names_the_command(tmp_path, monkeypatch, capsys):
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    open_database(url).close()
    monkeypatch.setattr("alembic.script.ScriptDirectory.get_current_head", lambda _self: "9999")
    assert main(["studio", "--data", str(tmp_path)]) == 1
    assert f"edgecritic studio --data {tmp_path} --migrate" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "nonsense", "oracle://x"])
def test_other_databases_are_refused_in_words(url):
    with pytest.raises(InputError):
        open_database(url)


def test_times_are_utc(database, project):
    with database.session() as session:
        invitation, _ = projects.invite(session, "Ada", project_id=project)
    with database.reading() as session:
        found = session.get_one(type(invitation), invitation.id)
        assert found.created.utcoffset() == timedelta(0)
        assert abs(found.created - now()) < timedelta(minutes=1)


# --- projects ----------------------------------------------------------------------------------------


def test_names_are_kept_apart_and_cleaned(database, project, scenes):
    with database.session() as session:
        with pytest.raises(Conflict, match="already"):
            projects.add_image(session, project, "folder/scene-0.jpeg", scenes[0][0])
        made = projects.add_image(
            session, project, "C:\\x\\<b>é\x00'; DROP TABLE images;--.png", scenes[0][0]
        )
        assert made.name == "<b>é '; DROP TABLE images;--"
        with pytest.raises(InputError):
            projects.create_project(session, " \x00 ")


def test_an_image_belongs_to_its_project(database, project):
    with database.session() as session:
        other = projects.create_project(session, "Other")
        image = projects.images_of(session, project)[0]
        with pytest.raises(NotFound):
            projects.get_image(session, image.id, other.id)


def test_maps_come_back_as_they_were(database, project, scenes):
    with database.session() as session:
        image = projects.images_of(session, project)[1]
        labels = labelling.labels_of(session, image.id)
        assert [np.array_equal(one.map, given) for one, given in zip(labels, scenes[1][1], strict=True)] == [
            True
        ] * 3
        strength = projects.detector_maps(session, image.id)["good"]
        assert np.abs(strength - scenes[1][2]["good"]).max() <= 0.5 / 255 + 1e-12


# --- labelling ---------------------------------------------------------------------------------------


def test_edits_are_stored_once(database, work):
    with database.session() as session:
        assert labelling.append_events(session, work, [draw(0), draw(1, 3)]) == 2
    for _ in range(2):
        with database.session() as session:
            assert labelling.append_events(session, work, [draw(0), draw(1, 3), draw(2, 5)]) == 3
    with database.reading() as session:
        found = labelling.map_of(session, work)
        assert found[1:6, [1, 3, 5]].all()
        assert [json.loads(row)["seq"] for row in labelling.event_page(session, work)] == [0, 1, 2]


def test_edits_are_read_in_portions(database, work, project, tmp_path, monkeypatch):
    """No request holds all edits: pages and archives give them some at a time, and none is left out."""
    strokes = [
        NewEvent(seq, f"k{seq}", Edit("draw", {"points": [1 + seq, 1, 1 + seq, 5] * (9 if seq == 3 else 1)}))
        for seq in range(7)
    ]
    with database.session() as session:
        labelling.append_events(session, work, strokes)
    with database.reading() as session:
        whole = labelling.event_page(session, work)
        shown = labelling.map_of(session, work)
    size = len(json.dumps(dict(strokes[0].edit.data)))
    for most, expected in ((2 * size, [2, 1, 1, 2, 1]), (1, [1] * 7)):
        monkeypatch.setattr(labelling, "_READ_BYTES", most)
        with database.reading() as session:
            pages, start = [], 0
            while page := labelling.event_page(session, work, start):
                pages.append(page)
                start += len(page)
            assert [len(page) for page in pages] == expected
            assert [row for page in pages for row in page] == whole
            assert np.array_equal(labelling.map_of(session, work), shown)
    monkeypatch.setattr(labelling, "_READ_AT_ONCE", 3)
    with database.reading() as session:
        exports.project_zip(session, project, tmp_path / "project.zip")
        level = session.get_one(Image, work.image_id).level
    with zipfile.ZipFile(tmp_path / "project.zip") as archive:
        [name] = [name for name in archive.namelist() if name.startswith("events/")]
        document = json.loads(archive.read(name))
    assert document["events"] == [json.loads(row) for row in whole]
    assert [row["data"] for row in document["events"]] == [stroke.edit.data for stroke in strokes]
    assert document["level"] == level


def test_two_windows_do_not_mix(database, work):
    with database.session() as session:
        labelling.append_events(session, work, [draw(0)])
    for events in ([draw(0, key="other")], [draw(0, x=7)], [draw(2)], [draw(1, key="k0")]):
        with pytest.raises(Conflict), database.session() as session:
            labelling.append_events(session, work, events)
    with database.reading() as session:
        assert labelling.count_events(session, work) == 1


def test_a_submitted_map_is_not_changed(database, work):
    with database.session() as session:
        labelling.append_events(session, work, [draw(0)])
        labelling.submit(session, work, 1)
    with database.session() as session:
        mine = session.get_one(Annotation, work.id)
        with pytest.raises(Conflict):
            labelling.append_events(session, mine, [draw(1)])
        assert labelling.append_events(session, mine, [draw(0)]) == 1
        labelling.reopen(session, mine)
        assert labelling.append_events(session, mine, [draw(1)]) == 2


def test_an_imported_map_is_one_edit(database, work, scenes):
    with database.session() as session:
        labelling.append_events(session, work, [draw(0)])
        assert labelling.import_map(session, work, scenes[0][1][0]) == 2
        assert np.array_equal(labelling.map_of(session, work), scenes[0][1][0])
        labelling.append_events(session, work, [NewEvent(2, "u", Edit("undo"))])
        assert labelling.map_of(session, work)[1:6, 1].all()


def test_only_the_own_annotation_is_found(database, project, work):
    with database.session() as session:
        other, _ = projects.invite(session, "Bo", project_id=project)
        with pytest.raises(NotFound):
            labelling.find_annotation(session, other, work.id)


def test_an_export_repeats_every_byte(database, project, work, tmp_path, monkeypatch):
    with database.session() as session:
        labelling.append_events(session, work, [draw(0)])
        labelling.submit(session, session.get_one(Annotation, work.id), 1)
    with database.reading() as session:
        exports.project_zip(session, project, tmp_path / "now.zip")
        years_on = time.time() + 1e8
        monkeypatch.setattr(time, "time", lambda: years_on)
        monkeypatch.setattr(time, "asctime", lambda *_: "another day")
        exports.project_zip(session, project, tmp_path / "later.zip")
    assert (tmp_path / "now.zip").read_bytes() == (tmp_path / "later.zip").read_bytes()


def test_the_export_is_what_bench_reads(database, project, work, tmp_path, scenes):
    with database.session() as session:
        labelling.append_events(session, work, [draw(0)])
        labelling.submit(session, work, 1)
    with database.reading() as session:
        assert exports.project_zip(session, project, tmp_path / "x.zip") == 3
        mine = labelling.map_of(session, work)
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        archive.extractall(tmp_path)
        events = [name for name in archive.namelist() if name.startswith("events/")]
        assert json.loads(archive.read(events[0]))["events"][0]["op"] == "draw"
    cases = {case.id: case for case in find_cases(tmp_path / "predictions" / "good", tmp_path / "truth")}
    truths = cases["scene-0"].load_truths()
    assert np.array_equal(truths[0], mine)
    assert np.array_equal(truths[1], scenes[0][1][0])
    assert len(cases["scene-1"].load_truths()) == 3


# --- experiments -------------------------------------------------------------------------------------


@pytest.fixture
def experiment(database, project, trials_of):
    with database.session() as session:
        return experiments.create_experiment(session, project, *trials_of(session, project))


@pytest.fixture
def subjects(database, experiment):
    with database.session() as session:
        return experiments.invite_subjects(session, experiment, ["S1", "S2", "S3"])


def enter(database, invitation):
    with database.session() as session:
        return auth.start_session(session, invitation, 1)


def answer(secret, invitation, slot, side="left", reaction=500):
    return NewAnswer(secret=secret, invitation_id=invitation.id, slot=slot, side=side, reaction_ms=reaction)


def test_the_same_seed_draws_the_same_trials(database, project):
    plan = Plan(name="A", seed=9)
    with database.session() as session:
        first, second = (draw_trials(session, project, plan) for _ in range(2))
        assert first == second
        assert first != draw_trials(session, project, Plan(name="A", seed=10))


def test_schedules_are_balanced_and_mirrored(database, experiment, subjects):
    schedules = []
    with database.reading() as session:
        for person, _ in subjects:
            query = select(Slot.trial_id, Slot.alarm_side, Trial.part, Trial.mode)
            query = query.join(Trial, Trial.id == Slot.trial_id)
            mine = query.where(Slot.invitation_id == person.id).order_by(Slot.position)
            schedules.append(session.execute(mine).all())
    for rows in schedules:
        for mode in {row.mode for row in rows}:
            sides = [row.alarm_side for row in rows if (row.part, row.mode) == ("main", mode)]
            assert abs(sides.count("left") - sides.count("right")) <= 1
        assert [row.part for row in rows[:2]] == ["practice"] * 2
    first, second = ({row.trial_id: row.alarm_side for row in rows} for rows in schedules[:2])
    assert all(first[trial] != second[trial] for trial in first)
    assert list(first) != list(second)


def test_the_browser_does_not_learn_which_is_which(database, subjects):
    with database.reading() as session:
        schedule = experiments.schedule_for(session, subjects[0][0])
    main = [slot for slot in schedule if not slot["practice"]]
    assert all(set(slot) == {"slot", "image", "practice", "left", "right", "answered"} for slot in main)


def test_an_answer_counts_once(database, subjects):
    person = subjects[0][0]
    secret = enter(database, person)
    with database.reading() as session:
        slot = session.scalar(select(Slot.id).where(Slot.invitation_id == person.id, Slot.position == 3))
    both = [answer(secret, person, slot, "left"), answer(secret, person, slot, "right")]
    with database.session() as session:
        assert store_answers(session, both) == ["left", "left"]
    with database.session() as session:
        assert store_answers(session, both[1:]) == ["left"]
        assert len(session.scalars(select(Answer)).all()) == 1


def test_answers_of_others_are_refused(database, subjects):
    (first, _), (second, _), _ = subjects
    secret = enter(database, first)
    with database.reading() as session:
        theirs = session.scalar(select(Slot.id).where(Slot.invitation_id == second.id).limit(1))
    with database.session() as session:
        given = [
            answer(secret, first, theirs),
            answer(secret, second, theirs),
            answer("forged", second, theirs),
            answer(secret, first, 2**30),
        ]
        assert [type(one) for one in store_answers(session, given)] == [NotFound, Refused, Refused, NotFound]


@pytest.mark.parametrize("how", ["revoked", "expired", "closed", "logged out"])
def test_an_ended_invitation_takes_no_answers(database, experiment, subjects, how):
    person = subjects[0][0]
    secret = enter(database, person)
    with database.session() as session:
        mine = session.get_one(type(person), person.id)
        slot = session.scalar(select(Slot.id).where(Slot.invitation_id == person.id).limit(1))
        if how == "revoked":
            projects.revoke(session, person.id)
        elif how == "expired":
            mine.expires = now() - timedelta(seconds=1)
        elif how == "closed":
            experiments.close(session, experiment.id)
        else:
            auth.end_session(session, secret)
    with database.session() as session:
        assert isinstance(store_answers(session, [answer(secret, person, slot)])[0], Refused)
        assert session.scalars(select(Answer)).all() == []


def test_the_writer_stores_everything_handed_over(database, experiment, subjects):
    given = []
    for person, _ in subjects:
        secret = enter(database, person)
        with database.reading() as session:
            slots = session.scalars(select(Slot.id).where(Slot.invitation_id == person.id)).all()
        given += [answer(secret, person, slot) for slot in slots for _ in range(2)]

    async def hand_over():
        writer = AnswerWriter(database)
        waiting = [writer.put(one) for one in given]
        wrong = writer.put(answer("forged", subjects[0][0], 1))
        writer.close()
        return await asyncio.gather(*waiting, wrong, return_exceptions=True)

    *told, wrong = asyncio.run(hand_over())
    assert set(told) == {"left"}
    assert isinstance(wrong, Refused)
    with database.reading() as session:
        assert len(session.scalars(select(Answer)).all()) == len(given) / 2


def test_the_writer_serves_several_loops_and_one_that_has_gone(database, experiment, subjects):
    secrets = [enter(database, person) for person, _ in subjects[:2]]
    with database.reading() as session:
        first = {slot.invitation_id: slot.id for slot in session.scalars(select(Slot))}
    given = [
        answer(secret, person, first[person.id])
        for secret, (person, _) in zip(secrets, subjects, strict=False)
    ]
    writer, told = AnswerWriter(database), []

    async def give_and_go(one):
        writer.put(one)

    async def give(one):
        told.append(await writer.put(one))

    asyncio.run(give_and_go(given[0]))
    asyncio.run(give(given[1]))
    writer.close()
    assert told == ["left"]
    with database.reading() as session:
        assert set(session.scalars(select(Answer.slot_id))) == {one.slot for one in given}


def test_an_answer_that_another_process_has_stored_meanwhile_counts(database, subjects, monkeypatch):
    """Between the look and the insert another server may have stored an answer to the same trial."""
    person = subjects[0][0]
    secret = enter(database, person)
    with database.reading() as session:
        slots = session.scalars(select(Slot.id).where(Slot.invitation_id == person.id)).all()
    with database.session() as session:
        assert store_answers(session, [answer(secret, person, slots[0], "left")]) == ["left"]
    look = answers._look

    def look_too_early(*given):
        allowed, places = look(*given)
        return allowed, {key: SimpleNamespace(ties=False, side=None) for key in places}

    monkeypatch.setattr(answers, "_look", look_too_early)
    with database.session() as session:
        both = [answer(secret, person, slot, "right") for slot in slots[:2]]
        assert store_answers(session, both) == ["left", "right"]


def give_answers(database, subjects, choose):
    """Answer every trial; `choose(subject number, part)` says whether the false alarm is taken."""
    for number, (person, _) in enumerate(subjects):
        secret = enter(database, person)
        with database.session() as session:
            rows = session.execute(
                select(Slot, Trial.part)
                .join(Trial, Trial.id == Slot.trial_id)
                .where(Slot.invitation_id == person.id)
            ).all()
            given = []
            for slot, part in rows:
                other = {"left": "right", "right": "left"}[slot.alarm_side]
                side = slot.alarm_side if choose(number, part) else other
                given.append(answer(secret, person, slot.id, side, 400 + 100 * number))
            store_answers(session, given)


def test_risk_is_the_share_that_the_false_alarm_wins(database, experiment, subjects):
    give_answers(database, subjects, lambda number, part: part == "main" and number < 2)
    with database.reading() as session:
        choices = results.choices_of(session, experiment)
        found = risks(*choices)
        people = list(screening(*choices).values())
    assert {(one.detector, one.mode) for one in found} <= {
        (d, m) for d in ("good", "noisy") for m in ("hard", "easy")
    }
    for one in found:
        z = 1.959963984540054
        assert one.risk == 1
        assert one.low == pytest.approx(one.trials / (one.trials + z * z))
        assert one.high == 1
        assert one.answers == 3 * one.trials
    assert [one.checks_passed for one in people] == [1, 1, 1]
    assert [one.alarm_share for one in people] == [1, 1, 0]
    assert [one.with_majority for one in people] == [1, 1, 0]
    assert [one.median_ms for one in people] == [400, 500, 600]
    assert all(abs(one.left_share - 0.5) < 0.2 for one in people)


def test_equal_votes_are_ties(database, experiment, subjects):
    give_answers(database, subjects[:2], lambda number, part: number == 0)
    with database.reading() as session:
        choices = results.choices_of(session, experiment)
    assert risks(*choices) == []
    assert {row["majority"] for row in csv.DictReader(io.StringIO(votes_csv(*choices)))} == {"tie"}


def test_the_csv_has_the_known_columns(database, experiment, subjects):
    give_answers(database, subjects, lambda number, part: part == "main" and number == 0)
    with database.reading() as session:
        choices = results.choices_of(session, experiment)
        names = {str(person.id): person.name for person, _ in subjects}
        places = len(session.scalars(select(Slot.id)).all())
    table = list(csv.DictReader(io.StringIO(comparisons_csv(*choices, names))))
    assert list(table[0])[:6] == ["observer", "session", "scene", "condition_1", "condition_2", "selection"]
    assert len(table) == places
    for row in table:
        if row["part"] == "main":
            chosen = row[f"condition_{row['selection']}"]
            assert (chosen != "label") == (row["name"] == "S1")
            assert row["session"] == "1"


def test_a_long_pause_starts_a_session(database, experiment, subjects):
    give_answers(database, subjects[:1], lambda number, part: True)
    with database.session() as session:
        late = session.scalars(select(Answer).order_by(Answer.slot_id.desc()).limit(2)).all()
        for one in late:
            one.server_time = now() + timedelta(hours=1)
    with database.reading() as session:
        choices = results.choices_of(session, experiment)
    table = list(csv.DictReader(io.StringIO(comparisons_csv(*choices))))
    assert [row["session"] for row in table].count("2") == 2


def test_an_experiment_needs_labels_and_detectors(database, scenes):
    with database.session() as session:
        bare = projects.create_project(session, "Bare")
        projects.add_image(session, bare.id, "a", scenes[0][0])
        with pytest.raises(Conflict, match="two annotators"):
            draw_trials(session, bare.id, Plan(name="x"))


@pytest.mark.parametrize(
    "values", [{"mode": "odd"}, {"square": 20}, {"square": 3}, {"seed": -1}, {"checks": 51}]
)
def test_impossible_plans_are_refused(values):
    with pytest.raises(InputError):
        Plan(name="x", **values)


# --- access ------------------------------------------------------------------------------------------


def test_passwords(database):
    with database.session() as session:
        assert not auth.has_password(session)
        with pytest.raises(InputError):
            auth.set_password(session, "short")
        auth.set_password(session, "correct horse battery")
        assert auth.check_password(session, "correct horse battery")
        assert not auth.check_password(session, "correct horse batterz")
        assert not auth.check_password(session, "")
        assert not auth.check_password(session, "x" * 5000)
        stored = session.execute(text("SELECT value FROM secrets")).scalar_one()
        assert stored.startswith("$argon2id$")


def test_tokens_are_stored_as_hashes_and_can_be_revoked(database, project):
    with database.session() as session:
        invitation, token = projects.invite(session, "Ada", project_id=project)
        assert token not in str(session.execute(text("SELECT token_hash FROM invitations")).all())
        assert auth.find_invitation(session, token).id == invitation.id
        assert auth.find_invitation(session, token[:-1] + "!") is None
        projects.revoke(session, invitation.id)
        assert auth.why_ended(session, auth.find_invitation(session, token)) == "revoked"


def test_images_are_counted(database, project):
    with database.reading() as session:
        assert len(session.scalars(select(Image)).all()) == 3
        rows = projects.image_rows(session, project)
        assert [(row.started, row.submitted, row.labels, row.detectors) for row in rows] == [(0, 0, 3, 2)] * 3
