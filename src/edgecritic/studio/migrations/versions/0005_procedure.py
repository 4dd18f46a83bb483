"""Subjects give their consent and answer questions, come from recruiting services, and can be deleted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns and the table; subjects of older experiments have begun: nothing was asked first."""
    moment = sa.DateTime(timezone=True)
    op.add_column("invitations", sa.Column("deleted", moment))
    op.add_column("answers", sa.Column("display", sa.JSON))
    op.add_column("experiments", sa.Column("started", moment))
    op.add_column("experiments", sa.Column("forgotten", moment))
    op.add_column("experiments", sa.Column("join_hash", sa.String(64)))
    op.add_column("experiments", sa.Column("join_places", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_experiments_join", "experiments", ["join_hash"], unique=True)
    op.create_table(
        "participations",
        sa.Column("invitation_id", sa.Integer, nullable=False),
        sa.Column("experiment_id", sa.Integer, nullable=False),
        sa.Column("recruited", sa.Boolean, nullable=False),
        sa.Column("participant", sa.String(120)),
        sa.Column("ids", sa.JSON, nullable=False),
        sa.Column("code", sa.String(40), nullable=False),
        sa.Column("consented", moment),
        sa.Column("before", sa.JSON),
        sa.Column("began", moment),
        sa.Column("after", sa.JSON),
        sa.Column("finished", moment),
        sa.PrimaryKeyConstraint("invitation_id", name="pk_participations"),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitations.id"], name="fk_participations_invitation_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name="fk_participations_experiment_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("experiment_id", "participant", name="uq_participations_experiment_id"),
    )
    op.execute(
        "INSERT INTO participations (invitation_id, experiment_id, recruited, ids, code, began) "
        "SELECT id, experiment_id, false, '{}', '', created FROM invitations WHERE experiment_id IS NOT NULL"
    )
    op.execute(
        "UPDATE experiments SET started = "
        "(SELECT min(created) FROM invitations WHERE invitations.experiment_id = experiments.id)"
    )


def downgrade() -> None:
    """Forget what this version has added."""
    op.drop_table("participations")
    op.drop_index("ix_experiments_join", table_name="experiments")
    for name in ("join_places", "join_hash", "forgotten", "started"):
        op.drop_column("experiments", name)
    op.drop_column("answers", "display")
    op.drop_column("invitations", "deleted")
