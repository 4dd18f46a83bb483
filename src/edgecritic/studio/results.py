"""What an experiment has shown so far: progress, subjects, votes, risk, and the files to take away."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from edgecritic.studio.models import Answer, Experiment, Image, Invitation, Slot, Trial

__all__ = [
    "RiskRow",
    "Row",
    "SubjectRow",
    "csv_text",
    "export_csv",
    "risks",
    "rows_of",
    "subject_rows",
    "votes_csv",
]

_PAUSE = timedelta(minutes=30)
_COLUMNS = (
    *("observer", "session", "scene", "condition_1", "condition_2", "selection"),
    *("mode", "part", "trial", "position", "reaction_ms", "time", "name"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A place in a subject's schedule with the answer, if there is one."""

    subject: str
    invitation_id: int
    trial_id: int
    image: str
    part: str
    mode: str
    detector: str
    position: int
    alarm_side: str
    side: str | None
    reaction_ms: int | None
    server_time: datetime | None

    @property
    def alarm_won(self) -> bool:
        """Whether the subject took the false alarm."""
        return self.side == self.alarm_side


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRow:
    """A subject's statistics.

    Attributes
    ----------
    checks_passed : float or None
        Share of attention checks that were answered right.
    alarm_share : float or None
        Share of main trials in which the subject took the false alarm.
    left_share : float or None
        Share of all main answers on the left: far from ½ means a habit of the hand.
    median_ms : float or None
        Median reaction time of main trials.
    with_majority : float or None
        Share of main answers that agree with the majority of all subjects.
    """

    id: int
    name: str
    opened: bool
    revoked: bool
    answered: int
    total: int
    checks_passed: float | None
    alarm_share: float | None
    left_share: float | None
    median_ms: float | None
    with_majority: float | None
    last: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRow:
    """The data set's risk against one detector in one mode, with Wilson's 95 % interval."""

    detector: str
    mode: str
    risk: float
    low: float
    high: float
    trials: int
    lost: int
    ties: int
    answers: int


def rows_of(session: Session, experiment: Experiment) -> list[Row]:
    """Return the schedules of all subjects with their answers."""
    rows = session.execute(
        select(
            Invitation.name,
            Invitation.id,
            Trial.id,
            Image.name,
            Trial.part,
            Trial.mode,
            Trial.detector,
            Slot.position,
            Slot.alarm_side,
            Answer.side,
            Answer.reaction_ms,
            Answer.server_time,
        )
        .join(Slot, Slot.invitation_id == Invitation.id)
        .join(Trial, Trial.id == Slot.trial_id)
        .join(Image, Image.id == Trial.image_id)
        .outerjoin(Answer, Answer.slot_id == Slot.id)
        .where(Invitation.experiment_id == experiment.id)
        .order_by(Invitation.id, Slot.position)
    )
    names = tuple(Row.__slots__)
    return [Row(**dict(zip(names, row, strict=True))) for row in rows]


def subject_rows(session: Session, experiment: Experiment, rows: Sequence[Row]) -> list[SubjectRow]:
    """Return the statistics of every subject."""
    votes = _votes(rows)
    people = session.scalars(
        select(Invitation).where(Invitation.experiment_id == experiment.id).order_by(Invitation.id)
    )
    by_subject: dict[int, list[Row]] = {}
    for row in rows:
        by_subject.setdefault(row.invitation_id, []).append(row)
    return [_subject(person, by_subject.get(person.id, []), votes) for person in people]


def risks(rows: Iterable[Row]) -> list[RiskRow]:
    """Return the risk per detector and mode; trials are decided by the majority of the answers."""
    from edgecritic.annotators.choice import wilson_interval

    answered = [row for row in rows if row.part == "main" and row.side is not None]
    found = []
    for mode, detector in sorted({(row.mode, row.detector) for row in answered}):
        mine = [row for row in answered if (row.mode, row.detector) == (mode, detector)]
        votes = _votes(mine)
        lost = sum(won is True for won in votes.values())
        decided = sum(won is not None for won in votes.values())
        if decided == 0:
            continue
        low, high = wilson_interval(lost, decided)
        found.append(
            RiskRow(
                detector=detector,
                mode=mode,
                risk=lost / decided,
                low=low,
                high=high,
                trials=decided,
                lost=lost,
                ties=len(votes) - decided,
                answers=len(mine),
            )
        )
    return found


def export_csv(rows: Sequence[Row]) -> str:
    """Return all answers as CSV, the form that programs for pairwise comparisons read.

    observer, session, scene, condition_1, condition_2, selection; then our own columns. The observer is the
    subject's id, the name is the last column; condition 1 is on the left; the selection is 1 or 2; a
    session ends with a pause of half an hour.
    """
    table = []
    for row, sitting in _with_sessions(rows):
        conditions = [row.detector, "label"] if row.alarm_side == "left" else ["label", row.detector]
        known = [row.invitation_id, sitting, row.image, *conditions, 1 if row.side == "left" else 2]
        own = [row.mode, row.part, row.trial_id, row.position, row.reaction_ms]
        moment = row.server_time.isoformat() if row.server_time else ""
        table.append([*known, *own, moment, row.subject])
    return csv_text(_COLUMNS, table)


def votes_csv(rows: Sequence[Row]) -> str:
    """Return the majority of every trial as CSV."""
    table = []
    words = {True: "false alarm", False: "label", None: "tie"}
    main = [row for row in rows if row.part == "main" and row.side is not None]
    votes = _votes(main)
    by_trial: dict[int, list[Row]] = {}
    for row in main:
        by_trial.setdefault(row.trial_id, []).append(row)
    for trial, mine in sorted(by_trial.items()):
        first = mine[0]
        count = [trial, first.image, first.mode, first.detector, len(mine)]
        table.append([*count, sum(row.alarm_won for row in mine), words[votes[trial]]])
    columns = ("trial", "scene", "mode", "detector", "answers", "for_false_alarm", "majority")
    return csv_text(columns, table)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; no spreadsheet takes a text of it for a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) if isinstance(value, str) else value for value in row] for row in rows)
    return stream.getvalue()


def _votes(rows: Iterable[Row]) -> dict[int, bool | None]:
    """Return for every answered main trial whether the false alarm has the majority; None for a tie."""
    balance: dict[int, int] = {}
    for row in rows:
        if row.part == "main" and row.side is not None:
            balance[row.trial_id] = balance.get(row.trial_id, 0) + (1 if row.alarm_won else -1)
    return {trial: None if value == 0 else value > 0 for trial, value in balance.items()}


def _subject(person: Invitation, rows: Sequence[Row], votes: dict[int, bool | None]) -> SubjectRow:
    done = [row for row in rows if row.side is not None]
    main = [row for row in done if row.part == "main"]
    checks = [row for row in done if row.part == "check"]
    compared = [row for row in main if votes.get(row.trial_id) is not None]
    times = [row.reaction_ms for row in main if row.reaction_ms is not None]
    moments = [row.server_time for row in done if row.server_time is not None]
    return SubjectRow(
        id=person.id,
        name=person.name,
        opened=person.opened is not None,
        revoked=person.revoked is not None,
        answered=len(done),
        total=len(rows),
        checks_passed=_share(not row.alarm_won for row in checks),
        alarm_share=_share(row.alarm_won for row in main),
        left_share=_share(row.side == "left" for row in main),
        median_ms=median(times) if times else None,
        with_majority=_share(row.alarm_won == votes[row.trial_id] for row in compared),
        last=max(moments, default=None),
    )


def _share(values: Iterable[bool]) -> float | None:
    seen = list(values)
    return sum(seen) / len(seen) if seen else None


def _with_sessions(rows: Sequence[Row]) -> Iterable[tuple[Row, int]]:
    done = [row for row in rows if row.side is not None and row.server_time is not None]
    done.sort(key=lambda row: (row.invitation_id, row.server_time, row.position))
    sitting, before = 1, None
    for row in done:
        if before is None or before.invitation_id != row.invitation_id:
            sitting = 1
        elif row.server_time and before.server_time and row.server_time - before.server_time > _PAUSE:
            sitting += 1
        before = row
        yield row, sitting


def _cell(shown: str) -> str:
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown
