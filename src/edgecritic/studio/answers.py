"""Answers are stored many at a time: one transaction serves all who wait, and each waits for it."""

from __future__ import annotations

import asyncio
import queue
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Select, Table, bindparam, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from edgecritic.annotators import display
from edgecritic.annotators.choice import CHOICES, TIE
from edgecritic.errors import InputError
from edgecritic.studio.auth import ending, hash_token
from edgecritic.studio.database import Database
from edgecritic.studio.labelling import parse_time
from edgecritic.studio.models import (
    VISIT_LENGTH,
    Answer,
    Base,
    Experiment,
    Invitation,
    LoginSession,
    Participation,
    Slot,
    now,
)
from edgecritic.studio.problems import NotFound, Problem, Refused, ended

__all__ = ["AnswerWriter", "NewAnswer", "parse_answer", "store_answers"]

_MOST_AT_ONCE = 200
_GATHER = 0.025
"""Seconds to wait for more answers: nobody notices, and under load it saves most transactions."""

_LONGEST_REACTION = 3_600_000
_MOST_PAUSES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAnswer:
    """An answer as a subject's browser sends it.

    Attributes
    ----------
    secret : str
        Of the browser's session.
    invitation_id : int
        Whose schedule the page belongs to.
    slot : int
        The place in the schedule.
    side : "left" or "right"
    reaction_ms : int
        In which the trial was seen.
    pauses : int
        How often the trial was put aside before.
    visit : str
        Which opening of the page it was given in.
    display : dict
        How the trial was seen.
    """

    secret: str
    invitation_id: int
    slot: int
    side: str
    reaction_ms: int
    pauses: int = 0
    visit: str = ""
    display: dict[str, Any] = field(default_factory=dict)
    client_time: datetime | None = None


_Waiting = tuple[NewAnswer, "asyncio.Future[str]"]


def parse_answer(document: Any, secret: str, invitation_id: int) -> NewAnswer:
    """Return the checked answer of a request."""
    if not isinstance(document, dict):
        raise InputError("an answer must be an object")
    slot, side, reaction = (document.get(name) for name in ("slot", "side", "reaction_ms"))
    if isinstance(slot, bool) or not isinstance(slot, int) or not 0 < slot < 2**31:
        raise InputError("slot must be the number of a trial in the schedule")
    if side not in CHOICES:
        raise InputError("side must be left or right, or tie where the experiment allows it")
    if isinstance(reaction, bool) or not isinstance(reaction, int) or not 0 <= reaction <= _LONGEST_REACTION:
        raise InputError("reaction_ms must be a number of milliseconds, at most an hour")
    pauses, visit = document.get("pauses", 0), document.get("visit", "")
    if isinstance(pauses, bool) or not isinstance(pauses, int) or not 0 <= pauses <= _MOST_PAUSES:
        raise InputError(f"pauses must be a number from 0 to {_MOST_PAUSES}")
    if not isinstance(visit, str) or not re.fullmatch(f"[0-9a-f]{{0,{VISIT_LENGTH}}}", visit):
        raise InputError(f"visit must be at most {VISIT_LENGTH} hexadecimal digits")
    return NewAnswer(
        secret=secret,
        invitation_id=invitation_id,
        slot=slot,
        side=side,
        reaction_ms=reaction,
        pauses=pauses,
        visit=visit,
        display=display.checked(document.get("display", {})),
        client_time=parse_time(document.get("at")),
    )


def store_answers(session: Session, answers: Sequence[NewAnswer]) -> list[str | Problem]:
    """Store answers; return for each the side that counts, or the reason why it was refused.

    The first answer to a trial counts: a second one changes nothing and gets the first one's side.
    """
    hashes = [hash_token(answer.secret) for answer in answers]
    connection = session.connection()
    allowed, places = _look(connection, set(hashes), {answer.slot for answer in answers})
    refused: dict[int, Problem] = {}
    rows: dict[int, dict[str, Any]] = {}
    counted: dict[int, str] = {}
    for number, answer in enumerate(answers):
        place = places.get((answer.invitation_id, answer.slot))
        if code := allowed.get((hashes[number], answer.invitation_id), "unknown"):
            refused[number] = ended(Refused, code)
        elif place is None:
            refused[number] = NotFound("there is no such trial in this schedule")
        elif answer.side == TIE and not place.ties:
            refused[number] = Problem("this experiment takes no ties; choose a side")
        elif place.side is not None:
            counted[answer.slot] = place.side
        else:
            rows.setdefault(answer.slot, _row(answer))
    if rows:
        counted |= _insert(connection, rows)
    return [refused.get(number) or counted[answer.slot] for number, answer in enumerate(answers)]


class AnswerWriter:
    """One thread that stores the answers of all subjects, in order of arrival.

    While one transaction is under way answers gather for the next, so the load on the disk does not grow
    with the number of subjects. The result of `put` is there only after the commit.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
        self._thread.start()

    def put(self, answer: NewAnswer) -> asyncio.Future[str]:
        """Hand over an answer of the running loop; the side that counts can be awaited, or a `Problem`."""
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.put((answer, future))
        return future

    def close(self) -> None:
        """Store what was handed over, then end."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            time.sleep(_GATHER)
            batch, ended = [first], False
            while len(batch) < _MOST_AT_ONCE and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    ended = True
                    break
                batch.append(more)
            _tell([future for _, future in batch], self._store([answer for answer, _ in batch]))
            if ended:
                return

    def _store(self, given: Sequence[NewAnswer]) -> Sequence[str | Exception]:
        try:
            return self._database.write(lambda session: store_answers(session, given))
        except SQLAlchemyError as error:
            if len(given) > 1:
                return [result for one in given for result in self._store([one])]
            return [error]
        except Exception as error:  # noqa: BLE001 - the thread must live; the requests get the error
            return [error] * len(given)


def _tell(futures: Sequence[asyncio.Future[str]], results: Sequence[str | Exception]) -> None:
    """Give all who wait their results; each loop is woken once, because that costs more than an answer."""
    loops = {future.get_loop() for future in futures}
    for loop in loops:
        mine = [pair for pair in zip(futures, results, strict=True) if pair[0].get_loop() is loop]
        with suppress(RuntimeError):  # the loop was closed, and nobody waits any more
            loop.call_soon_threadsafe(_settle, mine)


def _settle(pairs: Sequence[tuple[asyncio.Future[str], str | Exception]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)


def _look(
    connection: Connection, hashes: set[str], slots: set[int]
) -> tuple[dict[tuple[str, int], str], dict[tuple[int, int], Any]]:
    """Return what decides, all of it of one moment.

    For each session and its invitation, why it may not answer, empty if it may; and the wanted places of the
    schedules of these invitations, with the answer if there is one. Invitation and experiment are locked, so
    that nobody revokes or closes before the transaction ends.
    """
    allowed: dict[tuple[str, int], str] = {}
    places: dict[tuple[int, int], Any] = {}
    for row in connection.execute(_WANTED, {"hashes": list(hashes), "slots": list(slots), "now": now()}):
        early = "early" if row.person is not None and row.began is None else ""
        allowed[row.secret_hash, row.invitation] = ending(row, row.closed) or early
        if row.slot is not None:
            places[row.invitation, row.slot] = row
    return allowed, places


def _insert(connection: Connection, rows: dict[int, dict[str, Any]]) -> dict[int, str]:
    """Store answers; return the side of each that counts: another process may have been first."""
    statement, given = _INSERTS[connection.dialect.name], [rows[slot] for slot in sorted(rows)]
    stored = connection.execute(statement, given, execution_options={"preserve_rowcount": True})
    if stored.rowcount == len(rows):
        return {slot: row["side"] for slot, row in rows.items()}
    query = select(_answers.c.slot_id, _answers.c.side).where(_answers.c.slot_id.in_(rows))
    return {row.slot_id: row.side for row in connection.execute(query)}


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)


def _wanted() -> Select[Any]:
    """Return the query of `_look`."""
    known, guest, experiment = _table(LoginSession), _table(Invitation), _table(Experiment)
    person, slot = _table(Participation), _table(Slot)
    in_schedule = (slot.c.invitation_id == guest.c.id) & slot.c.id.in_(bindparam("slots", expanding=True))
    return (
        select(
            known.c.secret_hash,
            guest.c.id.label("invitation"),
            guest.c.deleted,
            guest.c.revoked,
            guest.c.expires,
            experiment.c.closed,
            experiment.c.settings["ties"].as_boolean().label("ties"),
            person.c.invitation_id.label("person"),
            person.c.began,
            slot.c.id.label("slot"),
            _answers.c.side,
        )
        .select_from(known)
        .join(guest, guest.c.id == known.c.invitation_id)
        .join(experiment, experiment.c.id == guest.c.experiment_id)
        .outerjoin(person, person.c.invitation_id == guest.c.id)
        .outerjoin(slot, in_schedule)
        .outerjoin(_answers, _answers.c.slot_id == slot.c.id)
        .where(known.c.secret_hash.in_(bindparam("hashes", expanding=True)))
        .where(known.c.expires > bindparam("now", type_=known.c.expires.type))
        .with_for_update(read=True, of=(guest, experiment))
    )


_answers = _table(Answer)
_WANTED = _wanted()
_INSERTS = {
    "postgresql": insert_postgresql(_answers).on_conflict_do_nothing(index_elements=["slot_id"]),
    "sqlite": insert_sqlite(_answers).on_conflict_do_nothing(index_elements=["slot_id"]),
}


def _row(answer: NewAnswer) -> dict[str, Any]:
    return {
        "slot_id": answer.slot,
        "side": answer.side,
        "reaction_ms": answer.reaction_ms,
        "pauses": answer.pauses,
        "visit": answer.visit,
        "display": answer.display or None,
        "client_time": answer.client_time,
        "server_time": now(),
    }
