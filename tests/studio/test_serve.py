"""The command that starts the studio: what it refuses, what it fills, and that it serves and ends."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing

import httpx
import pytest
from sqlalchemy import func, select

from edgecritic.cli.main import main
from edgecritic.errors import DataError, InputError
from edgecritic.studio import auth
from edgecritic.studio.app import create_app
from edgecritic.studio.database import make_engine, open_database
from edgecritic.studio.models import Image, Project
from edgecritic.studio.serve import PASSWORD_VARIABLE, prepare, serve, server_of
from edgecritic.studio.settings import Settings
from edgecritic.web.serving import TURN, Running, server_config


def test_the_command_serves_until_it_is_interrupted(tmp_path):
    command = [sys.executable, "-m", "edgecritic", "studio", "--port", "0", "--data", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--no-example"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("EdgeCritic studio: http://"), process.stderr.read()
        address = line.split()[-1]
        html = {"accept": "text/html"}
        with httpx.Client(headers=html, trust_env=False, follow_redirects=True) as stranger:
            assert "Log in" in stranger.get(address.partition("/enter/")[0]).text
        with httpx.Client(headers=html, trust_env=False, follow_redirects=True) as owner:
            page = owner.get(address)
            assert page.status_code == 200
            assert "New project" in page.text
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert errors == (
        "The link works once and makes your browser the owner's; show it to nobody.\n"
        "What maps need is compiled in the background; the first map may wait for it.\n"
        "Ctrl+C ends it; everything shown as saved is kept.\n"
    )


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
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    public = Settings(data=tmp_path, public_url="https://studio.example")
    open_to_all = Settings(data=tmp_path, host="0.0.0.0")
    for settings in (public, open_to_all):
        with pytest.raises(InputError, match=r"owner's password.* --set-password"):
            prepare(settings, command="edgecritic studio", example=False)
    assert list(tmp_path.iterdir()) == []
    open_database(public.database_url).close()
    with pytest.raises(InputError, match="owner's password"):
        prepare(public, command="edgecritic studio", example=False)
    behind = Settings(
        data=tmp_path, public_url=public.public_url, proxy_user_header="x-user", trusted_proxies=("10.0.0.1",)
    )
    prepare(behind, command="edgecritic studio", example=False).close()
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
        assert main(["studio", "--data", str(tmp_path / "new"), "--port", str(settings.port)]) == 1
        assert not (tmp_path / "new").exists()


def test_kernels_are_compiled_in_the_background(tmp_path, monkeypatch):
    """While they are, others are served; what is left to compile at the end is left out."""
    begun, release, compiled, told = threading.Event(), threading.Event(), [], []

    def compile_slowly():
        begun.set()
        assert release.wait(60)
        compiled.append("edits")

    monkeypatch.setattr("edgecritic.run.warmup.warm_edits", compile_slowly)
    monkeypatch.setattr("edgecritic.matching.match", lambda *_: compiled.append("match"))
    settings = Settings(data=tmp_path, port=0)
    database = open_database(settings.database_url)
    server = server_of(create_app(settings, database), settings, told.append)
    serving = threading.Thread(target=server.run)
    serving.start()
    try:
        assert begun.wait(60)
        assert httpx.get(f"{told[0]}healthz", trust_env=False).status_code == 200
        assert compiled == []
        server.ended.set()
    finally:
        release.set()
        server.should_exit = True
        serving.join(60)
    [warming] = [one for one in threading.enumerate() if one.name == "background"] or [serving]
    warming.join(60)
    assert compiled == ["edits"]


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


def test_a_link_for_a_studio_that_runs(tmp_path, capsys):
    words = ["studio", "--data", str(tmp_path / "studio"), "--link"]
    assert main(words) == 1
    assert "no studio" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    database = open_database(Settings(data=tmp_path / "studio").database_url)
    assert main([*words, "--public-url", "https://studio.example"]) == 0
    address, _, token = capsys.readouterr().out.strip().rpartition("/")
    assert address == "https://studio.example/enter"
    with database.session() as session:
        assert auth.use_link(session, token)
        assert not auth.use_link(session, token)
    database.close()


@pytest.mark.parametrize(("terminal", "opened"), [(True, True), (False, False)])
def test_the_browser_is_opened_where_there_is_a_desktop(monkeypatch, tmp_path, capsys, terminal, opened):
    from edgecritic.cli import studio

    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    studio._say_ready(Settings(data=tmp_path), "http://127.0.0.1:1/", "enter/x", False)
    assert seen == ["http://127.0.0.1:1/enter/x"] * opened
    studio._say_ready(Settings(data=tmp_path), "http://127.0.0.1:1/", "enter/x", True)
    assert len(seen) == opened


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
def test_only_the_user_can_read_the_database(tmp_path):
    before = os.umask(0o022)
    try:
        path = tmp_path / "some" / "studio" / "studio.db"
        database = open_database(f"sqlite:///{path}")
        with database.session() as session:
            auth.new_link(session)
            files = sorted(path.parent.iterdir())
            assert [one.name for one in files] == ["studio.db", "studio.db-shm", "studio.db-wal"]
            assert {mode(one) for one in files} == {0o600}
            assert mode(path.parent) == mode(path.parent.parent) == 0o700
        database.close()
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
@pytest.mark.parametrize(("neighbour", "folder"), [(None, 0o700), ("thesis.txt", 0o755)])
def test_an_older_database_is_taken_away_from_others(tmp_path, neighbour, folder):
    path = tmp_path / "studio" / "studio.db"
    open_database(f"sqlite:///{path}").close()
    path.chmod(0o644)
    path.parent.chmod(0o755)
    if neighbour:
        (path.parent / neighbour).write_text("not the studio's")
    open_database(f"sqlite:///{path}").close()
    assert (mode(path), mode(path.parent)) == (0o600, folder)


def damaged(kind: str, path) -> None:
    """Write a file that is no database of this version."""
    if kind == "text":
        path.write_text("hello")
    elif kind == "noise":
        path.write_bytes(os.urandom(20_000))
    elif kind == "other":
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE a (b)")
    else:
        open_database(f"sqlite:///{path}").close()
        if kind == "cut":
            path.write_bytes(path.read_bytes()[:50_000])
        elif kind == "hole":
            content = path.read_bytes()
            path.write_bytes(content[:4096] + bytes(len(content) - 4096))
        else:
            with closing(sqlite3.connect(path)) as newer:
                newer.execute("UPDATE alembic_version SET version_num = '9999'")
                newer.commit()


@pytest.mark.parametrize("option", [[], ["--migrate"], ["--link"]])
@pytest.mark.parametrize("kind", ["text", "noise", "cut", "hole", "other", "newer"])
def test_damaged_databases_are_refused_in_a_line(tmp_path, capsys, kind, option):
    path = tmp_path / "studio.db"
    damaged(kind, path)
    before = path.read_bytes()
    assert main(["studio", "--data", str(tmp_path), "--port", "0", "--no-example", *option]) == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert re.search("not a database|malformed|schema (of another program|9999)", shown.err)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--db", "::"], 1, "cannot understand the database URL"),
        (["--db", "postgresql://u:geheim@127.0.0.1:bad/x"], 1, "cannot understand the database URL"),
        (["--db", "mysql://u:geheim@127.0.0.1/x"], 1, "must be sqlite"),
        (["--db", "sqlite:///x.db?mode=ro"], 1, "nothing else"),
        (["--db", "sqlite+nothing:///x.db"], 1, "cannot understand"),
        (["--db", "postgresql+psycopg://u:geheim@127.0.0.1:1/x"], 1, "cannot open the database"),
        (["--db", "postgresql+psycopg://u:geheim@127.0.0.1:1/x?odd=1"], 1, "cannot open the database"),
        (["--port", "70000"], 2, "port must lie in"),
        (["--port", "-1"], 2, "port must lie in"),
        (["--host", "192.0.2.1"], 1, "cannot listen on 192.0.2.1"),
        (["--host", "no such host"], 1, "no such address"),
        (["--public-url", "https://["], 2, "public URL"),
        (["--trusted-proxy", "somewhere"], 2, "trusted proxy"),
        (["--proxy-user-header", "X-User"], 2, "--trusted-proxy"),
        (["--set-password"], 1, "EDGECRITIC_STUDIO_PASSWORD"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(tmp_path, monkeypatch, capsys, words, status, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.open", refuse_terminals(os.open))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["studio", *words]) == status
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert said in shown.err
    assert "geheim" not in shown.err
    assert list(tmp_path.iterdir()) == []


def refuse_terminals(opened):
    def refuse(path, *args, **more):
        if path == "/dev/tty":
            raise OSError("no terminal")
        return opened(path, *args, **more)

    return refuse


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match="driver of this database is not installed"):
        make_engine("postgresql+psycopg://u@127.0.0.1/x")


def test_threads_take_short_turns_only_while_the_background_works():
    usual, seen = sys.getswitchinterval(), []
    parts = [lambda: seen.append(sys.getswitchinterval())] * 2
    running = Running(server_config(None, "127.0.0.1", 0), print, parts)
    running._work()
    assert seen == pytest.approx([TURN] * 2)
    assert sys.getswitchinterval() == usual > TURN
