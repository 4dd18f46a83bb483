"""What must be there once is there once: the owner's place in a project, a subject's number and trials.

Studios on PostgreSQL could make several of them at the same moment. Nobody's work is deleted: the owner's
places of a project become one where that is possible, and the stored schedules of subjects stay as they
were answered; only the numbers of subjects who are invited from now on are surely different.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from edgecritic.studio.models import UtcTime

revision = "0002"
down_revision = "0001"

_invitations = sa.table(
    "invitations",
    sa.column("id", sa.Integer),
    sa.column("project_id", sa.Integer),
    sa.column("experiment_id", sa.Integer),
    sa.column("name", sa.String),
    sa.column("is_owner", sa.Boolean),
    sa.column("number", sa.Integer),
    sa.column("revoked", UtcTime),
)
_annotations = sa.table(
    "annotations",
    sa.column("id", sa.Integer),
    sa.column("image_id", sa.Integer),
    sa.column("invitation_id", sa.Integer),
    sa.column("submitted", UtcTime),
)
_events = sa.table("events", sa.column("annotation_id", sa.Integer))


def upgrade() -> None:
    """Number the subjects, join the owner's places, forbid doubles."""
    op.add_column("invitations", sa.Column("number", sa.Integer(), nullable=True))
    connection = op.get_bind()
    _number_subjects(connection)
    places = defaultdict(list)
    owners = sa.select(_invitations).where(_invitations.c.is_owner).order_by(_invitations.c.id)
    for row in connection.execute(owners):
        places[row.project_id].append(row.id)
    for first, *others in places.values():
        for other in others:
            _join(connection, first, other)
    op.create_index("ix_invitations_subject", "invitations", ["experiment_id", "number"], unique=True)
    op.create_index(
        "ix_invitations_owner",
        "invitations",
        ["project_id"],
        unique=True,
        sqlite_where=sa.text("is_owner"),
        postgresql_where=sa.text("is_owner"),
    )
    op.create_index("ix_slots_invitation_trial", "slots", ["invitation_id", "trial_id"], unique=True)


def downgrade() -> None:
    """Allow doubles again."""
    op.drop_index("ix_slots_invitation_trial", table_name="slots")
    op.drop_index("ix_invitations_owner", table_name="invitations")
    op.drop_index("ix_invitations_subject", table_name="invitations")
    op.drop_column("invitations", "number")


def _number_subjects(connection: sa.Connection) -> None:
    """Number the subjects of each experiment in the order of their invitations."""
    query = sa.select(_invitations.c.id, _invitations.c.experiment_id)
    subjects = query.where(_invitations.c.experiment_id.is_not(None)).order_by(_invitations.c.id)
    count: dict[int, int] = defaultdict(int)
    for row in connection.execute(subjects).all():
        change = sa.update(_invitations).where(_invitations.c.id == row.id)
        connection.execute(change.values(number=count[row.experiment_id]))
        count[row.experiment_id] += 1


def _join(connection: sa.Connection, first: int, other: int) -> None:
    """Give the work of an owner's second place to the first one.

    Where both have work on an image, that of the second stays in a place of its own, which is revoked and
    counts as another annotator's.
    """
    mine = {row.image_id: row for row in _work_of(connection, first)}
    left = 0
    for row in _work_of(connection, other):
        twin = mine.get(row.image_id)
        if twin is None or _is_empty(connection, twin):
            if twin is not None:
                connection.execute(sa.delete(_annotations).where(_annotations.c.id == twin.id))
            move = sa.update(_annotations).where(_annotations.c.id == row.id)
            connection.execute(move.values(invitation_id=first))
        elif _is_empty(connection, row):
            connection.execute(sa.delete(_annotations).where(_annotations.c.id == row.id))
        else:
            left += 1
    place = _invitations.c.id == other
    if left:
        values = {"is_owner": False, "name": f"owner (place {other})", "revoked": datetime.now(UTC)}
        connection.execute(sa.update(_invitations).where(place).values(**values))
    else:
        connection.execute(sa.delete(_invitations).where(place))


def _work_of(connection: sa.Connection, place: int) -> list[sa.Row[tuple[int, ...]]]:
    query = sa.select(_annotations).where(_annotations.c.invitation_id == place)
    return list(connection.execute(query.order_by(_annotations.c.id)))


def _is_empty(connection: sa.Connection, annotation: sa.Row[tuple[int, ...]]) -> bool:
    edits = sa.select(sa.func.count()).where(_events.c.annotation_id == annotation.id)
    return annotation.submitted is None and connection.execute(edits).scalar() == 0
