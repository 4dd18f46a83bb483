"""Answers are stored many at a time: one transaction serves all who wait, and each waits for it."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, select
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
_GATHER = 0.015
"""Seconds to wait for more answers: nobody notices, and under load it saves most transactions."""

_TABLE = cast(Table, Answer.__table__)
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
    allowed = _allowed(session, set(hashes))
    rows_of = session.execute(
        select(Slot.id, Slot.invitation_id, Experiment.settings)
        .join(Invitation, Invitation.id == Slot.invitation_id)
        .join(Experiment, Experiment.id == Invitation.experiment_id)
        .where(Slot.id.in_({answer.slot for answer in answers}))
    )
    slots = {row.id: (row.invitation_id, bool(row.settings.get("ties"))) for row in rows_of}
    refused: dict[int, Problem] = {}
    rows: dict[int, dict[str, Any]] = {}
    for place, answer in enumerate(answers):
        code = allowed.get((hashes[place], answer.invitation_id), "unknown")
        if code:
            refused[place] = ended(Refused, code)
        elif slots.get(answer.slot, (None, False))[0] != answer.invitation_id:
            refused[place] = NotFound("there is no such trial in this schedule")
        elif answer.side == TIE and not slots[answer.slot][1]:
            refused[place] = Problem("this experiment takes no ties; choose a side")
        else:
            rows.setdefault(answer.slot, _row(answer))
    if rows:
        make = insert_postgresql if session.get_bind().dialect.name == "postgresql" else insert_sqlite
        statement = make(_TABLE).on_conflict_do_nothing(index_elements=["slot_id"])
        session.connection().execute(statement, [rows[slot] for slot in sorted(rows)])
    counted = {
        row.slot_id: row.side
        for row in session.execute(select(Answer.slot_id, Answer.side).where(Answer.slot_id.in_(rows)))
    }
    return [refused.get(place) or counted[answer.slot] for place, answer in enumerate(answers)]


class AnswerWriter:
    """One thread that stores the answers of all subjects, in order of arrival.

    While one transaction is under way answers gather for the next, so the load on the disk does not grow
    with the number of subjects. The result of `put` is there only after the commit.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[tuple[NewAnswer, Future[str]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
        self._thread.start()

    def put(self, answer: NewAnswer) -> Future[str]:
        """Hand over an answer; the future gives the side that counts, or raises a `Problem`."""
        future: Future[str] = Future()
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
            self._store(batch)
            if ended:
                return

    def _store(self, batch: Sequence[tuple[NewAnswer, Future[str]]]) -> None:
        try:
            given = [answer for answer, _ in batch]
            results = self._database.write(lambda session: store_answers(session, given))
        except SQLAlchemyError as error:
            if len(batch) > 1:
                for one in batch:
                    self._store([one])
            else:
                _settle(batch[0][1], error)
            return
        except Exception as error:  # noqa: BLE001 - the thread must live; the request gets the error
            for _, future in batch:
                _settle(future, error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            _settle(future, result)


def _settle(future: Future[str], result: str | BaseException) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)


def _allowed(session: Session, hashes: set[str]) -> dict[tuple[str, int], str]:
    """Return for each session and its invitation why it may not answer; empty if it may.

    What is decided by is locked, so that nobody revokes or closes before the transaction ends.
    """
    rows = session.execute(
        select(LoginSession, Invitation, Experiment, Participation.invitation_id, Participation.began)
        .join(Invitation, Invitation.id == LoginSession.invitation_id)
        .join(Experiment, Experiment.id == Invitation.experiment_id)
        .outerjoin(Participation, Participation.invitation_id == Invitation.id)
        .where(LoginSession.secret_hash.in_(hashes), LoginSession.expires > now())
        .with_for_update(read=True, of=(Invitation, Experiment))
    )
    return {
        (known.secret_hash, invitation.id): ending(invitation, experiment.closed)
        or ("early" if person is not None and began is None else "")
        for known, invitation, experiment, person, began in rows
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
