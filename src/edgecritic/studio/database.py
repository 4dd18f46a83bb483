"""The database: engine, sessions, and a schema that is checked before anything is served."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session, sessionmaker

from edgecritic.errors import DataError, InputError
from edgecritic.studio.fresh import give_fresh_ids
from edgecritic.studio.private import make_private_file, tighten
from edgecritic.studio.problems import NotFound

__all__ = ["Database", "hold", "keep", "open_database", "make_engine", "migrate", "shown_url"]

_BUSY_MILLISECONDS = 20_000
"""How long a transaction waits for another one that holds what it needs."""

_TRIES = 8
_FIRST_PAUSE = 0.005
_AGAIN = {
    "40001",  # PostgreSQL: serialisation failure
    "40P01",  # PostgreSQL: deadlock
    "23505",  # PostgreSQL: unique violation
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
}
"""What a transaction that meets another one may fail with, though it succeeds after the other one."""

_MIGRATING = 0x45644372
"""The number of the PostgreSQL lock that lets one process after the other change the schema."""

Found = TypeVar("Found")
Result = TypeVar("Result")


class Database:
    """An engine and the sessions on it.

    Attributes
    ----------
    engine : Engine
    is_sqlite : bool
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._turn = _Turn() if self.is_sqlite else None
        reading: dict[str, Any] = {"studio_reading": True}
        if not self.is_sqlite:
            reading |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._writing = sessionmaker(
            engine.execution_options(studio_turn=self._turn), expire_on_commit=False, info={"writes": True}
        )
        if self.is_sqlite:
            event.listen(self._writing, "before_flush", give_fresh_ids)
        self._reading = sessionmaker(engine.execution_options(**reading), expire_on_commit=False)

    def write(self, work: Callable[[Session], Result]) -> Result:
        """Do some work in a transaction and return its result.

        If the transaction meets another one (a deadlock, or both have made what may be there once), it is
        rolled back and the work is done again, at most eight times; so the work must not keep what it has
        read between two calls.
        """
        for number in range(_TRIES - 1):
            try:
                with self.session() as session:
                    return work(session)
            except DBAPIError as error:
                if not _may_try_again(error):
                    raise
            time.sleep(random.uniform(0.5, 1.5) * _FIRST_PAUSE * 2**number)
        with self.session() as session:
            return work(session)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a session; commit at the end, roll back on an error. It is for work that meets no other."""
        try:
            with self._writing.begin() as session:
                yield session
        finally:
            if self._turn is not None:
                self._turn.end()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session that only reads: it sees the database as it was at one moment, and never waits."""
        with self._reading() as session:
            yield session

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def hold(session: Session, model: type[Found], key: int) -> Found:
    """Return a row as it is now, and let nobody else change it before the transaction ends.

    Whoever changes a row, or decides by it what to add, must hold it first: on PostgreSQL others may have
    changed it since this transaction has read it. On SQLite a transaction that writes is alone anyway.

    Raises
    ------
    NotFound
    """
    session.flush()
    found = session.get(model, key, populate_existing=True, with_for_update={"key_share": True})
    if found is None:
        raise NotFound(f"there is no such {model.__name__.lower()}")
    return found


def keep(session: Session, model: type[Found], key: int) -> Found | None:
    """Return a row as it is now, and let nobody hold it before the transaction ends; others may keep it too.

    A session that only reads sees one moment, so it need not keep anything.
    """
    if not session.info.get("writes"):
        return session.get(model, key)
    session.flush()
    return session.get(model, key, populate_existing=True, with_for_update={"read": True})


def make_engine(url: str) -> Engine:
    """Return an engine for an SQLite or PostgreSQL URL.

    SQLite works with a write-ahead log, foreign keys and full synchronisation; a transaction that may
    write takes the write lock when it begins, so that none fails half-way.
    """
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
        if name not in ("sqlite", "postgresql"):
            raise InputError(f"the database must be sqlite:///FILE or postgresql+psycopg://…, got {name}")
        if name == "postgresql" and "+" not in parsed.drivername:
            parsed = parsed.set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {"pool_size": 20, "max_overflow": 20, "pool_pre_ping": name != "sqlite"}
        if name == "sqlite" and (parsed.database in (None, "", ":memory:") or parsed.host or parsed.query):
            raise InputError("an SQLite database needs a file and nothing else: sqlite:////folder/studio.db")
        engine = create_engine(parsed, hide_parameters=True, **options)
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "cannot understand the database URL; it must be sqlite:///FILE or postgresql+psycopg://user@host/name"
        ) from error
    except ModuleNotFoundError as error:
        raise InputError(
            f"the driver of this database is not installed ({error.name})",
            remedy='use postgresql+psycopg://…, which pip install "edgecritic[studio]" brings',
        ) from error
    if engine.dialect.is_async:
        raise InputError(
            f"the driver {parsed.drivername} is asynchronous",
            remedy="use sqlite:///… or postgresql+psycopg://…",
        )
    if name == "sqlite":
        make_private_file(Path(str(parsed.database)))
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "connect", _prepare_postgresql)
    return engine


def shown_url(url: str) -> str:
    """Return a database's URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "URL"


def open_database(url: str, command_line: str = "edgecritic studio --migrate") -> Database:
    """Open a database, make the tables in an empty one, refuse a schema that is not this version's.

    Parameters
    ----------
    url : str
    command_line : str
        What to print as the remedy for an older schema.
    """
    engine = make_engine(url)
    found, wanted, known, empty = _revisions(engine)
    if empty:
        _upgrade(engine)
    elif found != wanted:
        engine.dispose()
        if found in known:
            raise DataError(
                f"the database has schema {found}, this version needs {wanted}",
                remedy=f"make a copy of it, then migrate: {command_line}",
            )
        raise DataError(
            f"the database has the schema {found or 'of another program'}, which this version does "
            f"not know (it knows up to {wanted})",
            remedy="use the version that made it, or another --db",
        )
    if engine.dialect.name == "sqlite":
        tighten(Path(str(engine.url.database)))
    return Database(engine)


def migrate(url: str) -> str:
    """Bring the schema of a database up to date; return its revision."""
    engine = make_engine(url)
    try:
        found, wanted, known, empty = _revisions(engine)
        if not empty and found not in known:
            schema = found or "of another program"
            raise DataError(f"the database has the unknown schema {schema}; it was not changed")
        _upgrade(engine)
        return wanted
    finally:
        engine.dispose()


def _revisions(engine: Engine) -> tuple[str | None, str, set[str], bool]:
    """Return the revision of a database, the newest, all known ones, and whether it is empty; only look."""
    script = ScriptDirectory.from_config(_config())
    known = {revision.revision for revision in script.walk_revisions()}
    try:
        # A connection of the engine itself would turn the file of another program into one with a log.
        with create_engine(engine.url, poolclass=NullPool).connect() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
            empty = not inspect(connection).get_table_names()
    except (DatabaseError, CommandError) as error:
        engine.dispose()
        reason = error.orig if isinstance(error, DatabaseError) else error
        remedy = "; restore a copy of it, or name another" if engine.dialect.name == "sqlite" else ""
        raise DataError(f"cannot open the database: {reason}{remedy}") from error
    wanted = script.get_current_head()
    return found, str(wanted), known, empty


def _upgrade(engine: Engine) -> None:
    config = _config()
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATING})"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    return config


def _may_try_again(error: DBAPIError) -> bool:
    found = error.orig
    return (getattr(found, "sqlstate", None) or getattr(found, "sqlite_errorcode", None)) in _AGAIN


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {_BUSY_MILLISECONDS}")
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("studio_reading", False):
        connection.exec_driver_sql("BEGIN")
        return
    if options.get("studio_turn") is not None:
        options["studio_turn"].take()
    connection.exec_driver_sql("BEGIN IMMEDIATE")


class _Turn:
    """Whose turn it is to write to SQLite: threads wait here in order, where SQLite would poll."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = 0

    def take(self) -> None:
        """Wait until no other thread of this process writes."""
        if self._holder != threading.get_ident():
            self._lock.acquire()
            self._holder = threading.get_ident()

    def end(self) -> None:
        """Let the next one write, if this thread did."""
        if self._holder == threading.get_ident():
            self._holder = 0
            self._lock.release()
