"""The command that starts the studio: what it refuses, what it fills, and that it serves and ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import httpx
import pytest
from sqlalchemy import func, select

from edgecritic.cli.main import main
from edgecritic.errors import DataError, InputError
from edgecritic.studio import auth
from edgecritic.studio.database import open_database
from edgecritic.studio.models import Image, Project
from edgecritic.studio.serve import PASSWORD_VARIABLE, prepare, serve
from edgecritic.studio.settings import Settings


def test_the_command_serves_until_it_is_interrupted(tmp_path):
    command = [sys.executable, "-m", "edgecritic", "studio", "--port", "0", "--data", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--no-example"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("EdgeCritic studio: http://"), process.stderr.read()
        address = line.split()[-1]
        page = httpx.get(address, headers={"accept": "text/html"}, trust_env=False)
        assert page.status_code == 200
        assert "EdgeCritic" in page.text
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert errors == "Ctrl+C ends it; everything shown as saved is kept.\n"


def test_an_empty_studio_gets_an_example(tmp_path):
    database = prepare(Settings(data=tmp_path), command="edgecritic studio")
    with database.session() as session:
        assert session.scalars(select(Project.name)).all() == ["Synthetic shapes"]
        assert session.scalar(select(func.count(Image.id))) == 6
    database.close()
    # The second start finds a project and adds nothing.
    again = prepare(Settings(data=tmp_path), command="edgecritic studio")
    with again.session() as session:
        assert session.scalar(select(func.count(Project.id))) == 1
    again.close()


def test_others_need_a_password(tmp_path, monkeypatch):
    open_to_all = Settings(data=tmp_path, host="0.0.0.0")
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    with pytest.raises(InputError, match="owner's password"):
        prepare(open_to_all, command="edgecritic studio", example=False)
    monkeypatch.setenv(PASSWORD_VARIABLE, "a good long password")
    database = prepare(open_to_all, command="edgecritic studio", example=False)
    with database.session() as session:
        assert auth.check_password(session, "a good long password")
    database.close()


def test_a_taken_port_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(data=tmp_path, host="127.0.0.1", port=taken.getsockname()[1])
        database = open_database(settings.database_url)
        with pytest.raises(DataError, match="is another program using it"):
            serve(settings, database, lambda address: None)
        database.close()


@pytest.mark.parametrize("again", ["one long password", "another password"])
def test_the_owner_sets_a_password(tmp_path, monkeypatch, capsys, again):
    answers = iter(["one long password", again])
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(answers))
    code = main(["studio", "--data", str(tmp_path), "--set-password"])
    database = open_database(Settings(data=tmp_path).database_url)
    with database.session() as session:
        assert auth.has_password(session) == (again == "one long password")
    database.close()
    shown = capsys.readouterr()
    if code == 0:
        assert shown.out == "the password is set\n"
    else:
        assert "the two passwords differ" in shown.err


def test_a_database_elsewhere_is_made(tmp_path, capsys):
    url = f"sqlite:///{tmp_path / 'own.db'}"
    assert main(["studio", "--db", url, "--migrate"]) == 0
    assert "has schema" in capsys.readouterr().out
    assert (tmp_path / "own.db").exists()
