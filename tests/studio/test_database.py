"""Transactions that meet, sessions that read, and databases of the first schema."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from edgecritic.annotators import dataset_risk
from edgecritic.errors import DataError
from edgecritic.studio import auth, experiments, projects, results, serve
from edgecritic.studio import database as databases
from edgecritic.studio.models import Event, Experiment, Invitation, Project, Secret, Slot
from edgecritic.studio.settings import Settings


def test_a_transaction_that_has_met_another_is_done_again(database):
    with database.session() as session:
        session.add(Secret(name="a", value="first"))
    tries = []

    def work(session):
        tries.append(session)
        session.add(Secret(name="a" if len(tries) < 3 else "b", value="second"))
        session.flush()
        return len(tries)

    assert database.write(work) == 3
    with database.reading() as session:
        assert [one.value for one in session.scalars(select(Secret).order_by(Secret.name))] == [
            "first",
            "second",
        ]


@pytest.mark.parametrize("name, tries", [("a", 8), (None, 1)])
def test_it_is_done_again_a_bounded_number_of_times(database, monkeypatch, name, tries):
    """A double may be another's who came first; a missing name is nobody's but our own fault."""
    monkeypatch.setattr(databases, "_FIRST_PAUSE", 0)
    with database.session() as session:
        session.add(Secret(name="a", value="first"))
    done = []

    def work(session):
        done.append(1)
        session.execute(text("INSERT INTO secrets (name, value) VALUES (:name, :value)"), given)

    given = {"name": name or "b", "value": None if name is None else "x"}
    with pytest.raises(IntegrityError):
        database.write(work)
    assert len(done) == tries


def meet_another_once(monkeypatch, name):
    """Let a function of `auth` meet another transaction when it is called first."""
    real, calls = getattr(auth, name), []

    def meet(session, *rest):
        calls.append(name)
        if len(calls) == 1:
            for _ in range(2):
                session.execute(text("INSERT INTO secrets (name, value) VALUES ('twice', '')"))
        return real(session, *rest)

    monkeypatch.setattr(auth, name, meet)
    return calls


@pytest.fixture
def store(database):
    return database


def test_a_login_that_meets_another_transaction_is_done_again(serve_site, store, monkeypatch):
    with store.session() as session:
        auth.set_password(session, "a long password")
    calls = meet_another_once(monkeypatch, "start_session")
    reply = serve_site().stranger().post("/login", data={"password": "a long password"})
    assert reply.status_code == 303
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["set_password", "new_link"])
def test_a_start_that_meets_another_transaction_is_done_again(database_url, tmp_path, monkeypatch, name):
    if name == "set_password":
        monkeypatch.setenv(serve.PASSWORD_VARIABLE, "a long password")
    calls = meet_another_once(monkeypatch, name)
    settings = Settings(data=tmp_path, db=database_url)
    opened = serve.prepare(settings, command="edgecritic studio", example=False)
    assert bool(serve.login_path(settings, opened)) == (name == "new_link")
    with opened.reading() as session:
        assert auth.has_password(session) == (name == "set_password")
    opened.close()
    assert len(calls) == 2


def test_a_deadlock_ends_well(database):
    if database.is_sqlite:
        pytest.skip("on SQLite transactions that write come one after the other")
    with database.session() as session:
        ids = [projects.create_project(session, "P").id for _ in range(2)]
    meeting = threading.Barrier(2)
    first = threading.local()

    def rename(order):
        def work(session):
            databases.hold(session, Project, order[0])
            if not getattr(first, "past", False):
                first.past = True
                meeting.wait(20)
            for one in order:
                databases.hold(session, Project, one).name += "+"

        database.write(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(rename, (ids, ids[::-1])))
    with database.reading() as session:
        assert session.scalars(select(Project.name)).all() == ["P++", "P++"]


def test_a_session_that_reads_sees_one_moment(database):
    count = select(func.count()).select_from(Project)
    with database.reading() as session:
        before = session.scalar(count)
        with database.session() as other:
            projects.create_project(other, "Later")
        assert session.scalar(count) == before


def test_what_must_be_unique_is_refused_by_the_database(database, fill, trials_of):
    project = fill(database)
    with database.session() as session:
        projects.owner_invitation(session, project)
        experiment = experiments.create_experiment(session, project, *trials_of(session, project))
        (subject, _), *_ = experiments.invite_subjects(session, experiment, ["S1"])
        slot = session.scalars(select(Slot).where(Slot.invitation_id == subject.id)).first()
    doubles = (
        Invitation(name="owner", project_id=project, is_owner=True),
        Invitation(name="S2", experiment_id=experiment.id, number=0),
        Slot(invitation_id=subject.id, trial_id=slot.trial_id, position=999, alarm_side="left"),
    )
    for double in doubles:
        with pytest.raises(IntegrityError), database.session() as session:
            session.add(double)


FIRST = """
INSERT INTO projects (id, name, created) VALUES (1, 'P', :now), (2, 'Q', :now);
INSERT INTO images (id, project_id, name, width, height, level, created)
  VALUES (1, 1, 'a', 9, 9, 1, :now), (2, 1, 'b', 9, 9, 1, :now),
         (3, 1, 'c', 9, 9, 1, :now), (4, 1, 'd', 9, 9, 1, :now);
INSERT INTO experiments (id, project_id, name, mode, seed, settings, created)
  VALUES (1, 1, 'E', 'hard', 0, '{}', :now), (2, 1, 'F', 'hard', 0, '{}', :now);
INSERT INTO invitations (id, project_id, experiment_id, name, is_owner, created)
  VALUES (1, 1, NULL, 'owner', :yes, :now), (2, 1, NULL, 'owner', :yes, :now),
         (3, 1, NULL, 'owner', :yes, :now), (4, 2, NULL, 'owner', :yes, :now),
         (5, 1, NULL, 'owner', :no, :now), (6, NULL, 1, 'S', :no, :now),
         (7, NULL, 2, 'S', :no, :now), (8, NULL, 1, 'S', :no, :now);
INSERT INTO annotations (id, image_id, invitation_id, created, submitted)
  VALUES (1, 1, 1, :now, NULL), (2, 2, 1, :now, NULL), (3, 1, 2, :now, :now), (4, 2, 2, :now, NULL),
         (5, 3, 2, :now, NULL), (6, 4, 1, :now, NULL), (7, 4, 2, :now, NULL);
INSERT INTO events (annotation_id, seq, key, op, data, version, server_time)
  VALUES (1, 0, 'a', 'clear', '{}', 1, :now), (2, 0, 'b', 'clear', '{}', 1, :now),
         (3, 0, 'c', 'clear', '{}', 1, :now), (5, 0, 'd', 'clear', '{}', 1, :now),
         (7, 0, 'e', 'clear', '{}', 1, :now);
"""
"""Three places of the owner in project 1. On image a both of the first two have work, on b only the first
has, on c and d only the second. Two subjects of experiment 1."""


@pytest.fixture
def first_schema(database_url):
    """A database of the first schema with what only a race could make."""
    make_schema(database_url, "0001", FIRST)
    return database_url


def make_schema(database_url, revision, content):
    engine = databases.make_engine(database_url)
    config = databases._config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        for statement in content.split(";\n")[:-1]:
            for name, value in (("now", "'2026-01-01 00:00:00'"), ("yes", "true"), ("no", "false")):
                statement = statement.replace(f":{name}", value)
            connection.exec_driver_sql(statement)
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT setval('invitations_id_seq', 8)")
    engine.dispose()


def test_doubles_of_the_first_schema_are_joined_and_no_work_is_lost(first_schema):
    with pytest.raises(DataError, match="schema 0001, this version needs 0006"):
        databases.open_database(first_schema)
    assert databases.migrate(first_schema) == "0006"
    opened = databases.open_database(first_schema)
    with opened.reading() as session:
        places = session.scalars(select(Invitation).where(Invitation.is_owner).order_by(Invitation.id))
        assert [(one.id, one.project_id) for one in places] == [(1, 1), (4, 2)]
        work = session.execute(text("SELECT id, invitation_id FROM annotations ORDER BY id")).all()
        assert [tuple(row) for row in work] == [(1, 1), (2, 1), (3, 2), (5, 1), (7, 1)]
        assert session.scalar(select(func.count()).select_from(Event)) == 5
        other = session.get_one(Invitation, 2)
        assert (other.is_owner, other.name) == (False, "owner (place 2)")
        assert other.revoked is not None
        assert session.get(Invitation, 3) is None
        assert session.get_one(Invitation, 5).name == "owner"
        numbers = session.execute(text("SELECT id, number FROM invitations WHERE number IS NOT NULL"))
        assert {tuple(row) for row in numbers} == {(6, 0), (7, 0), (8, 1)}
    with opened.session() as session:
        invited = experiments.invite_subjects(session, session.get_one(Experiment, 1), ["S"])
        assert invited[0][0].number == 2
    opened.close()


SECOND = """
INSERT INTO projects (id, name, created) VALUES (1, 'P', :now);
INSERT INTO images (id, project_id, name, width, height, level, created) VALUES (1, 1, 'a', 9, 9, 1, :now);
INSERT INTO experiments (id, project_id, name, mode, seed, settings, created)
  VALUES (1, 1, 'E', 'hard', 0, '{}', :now);
INSERT INTO invitations (id, experiment_id, name, is_owner, number, created) VALUES (1, 1, 'S', :no, 0, :now);
INSERT INTO trials (id, experiment_id, image_id, part, mode, detector, alarm, label)
  VALUES (1, 1, 1, 'main', 'hard', 'd', '[5, 6, 5, 6]', '[1, 2, 1, 2, 2, 2]'),
         (2, 1, 1, 'check', 'hard', 'd', '[1, 1, 1, 1]', '[3, 3, 3, 3]');
INSERT INTO slots (id, invitation_id, trial_id, position, alarm_side)
  VALUES (1, 1, 1, 0, 'right'), (2, 1, 2, 1, 'left');
INSERT INTO answers (slot_id, side, reaction_ms, server_time)
  VALUES (1, 'right', 400, :now), (2, 'right', 300, :now);
"""
"""An experiment of the second schema: its subject has taken the false alarm, and has passed the check."""


def test_answers_of_the_second_schema_are_kept(database_url):
    make_schema(database_url, "0002", SECOND)
    assert databases.migrate(database_url) == "0006"
    opened = databases.open_database(database_url)
    with opened.reading() as session:
        experiment = session.get_one(Experiment, 1)
        asked = experiments.trials_of(session, experiment)
        assert [(one.id, one.part, one.false_alarm) for one in asked] == [
            ("hard/d/a", "main", "left"),
            ("check/2", "check", "left"),
        ]
        assert asked[0].right.pixels == ((2, 1), (2, 2))
        told, answers = results.choices_of(session, experiment)
        assert [(one.choice, one.shown, one.mirrored) for one in answers] == [
            ("left", "right", True),
            ("right", "right", False),
        ]
        assert dataset_risk(told, answers).risk == 1
    opened.close()
