"""Ids that are never used twice, though rows are deleted: browsers keep photos and edits by them.

PostgreSQL never gives an id again. SQLite gives that of the last row again when it was deleted; therefore the
largest ids are written down before a deletion, and rows that come later get larger ones.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.studio.models import Annotation, Experiment, Image, Invitation, Project, Secret

__all__ = ["give_fresh_ids", "remember_ids"]

_KEPT = (Project, Image, Invitation, Annotation, Experiment)


def remember_ids(session: Session) -> None:
    """Write the largest ids down; to be done before rows are deleted."""
    for model in _KEPT:
        last = max(_last(session, model), _told(session, model))
        session.merge(Secret(name=_name(model), value=str(last)))
    session.flush()


def give_fresh_ids(session: Session, _context: Any, _instances: Any) -> None:
    """Give new rows ids that no deleted row had; called before rows are written to SQLite."""
    for row in list(session.new):
        model = next((one for one in _KEPT if isinstance(row, one)), None)
        if model is None or row.id is not None:
            continue
        told = _told(session, model)
        if told:
            row.id = max(_last(session, model), told) + 1
            session.merge(Secret(name=_name(model), value=str(row.id)))


def _name(model: type[Any]) -> str:
    return f"last id of {model.__tablename__}"


def _last(session: Session, model: type[Any]) -> int:
    with session.no_autoflush:
        return session.scalar(select(func.max(model.id))) or 0


def _told(session: Session, model: type[Any]) -> int:
    with session.no_autoflush:
        found = session.get(Secret, _name(model))
    return int(found.value) if found is not None else 0
