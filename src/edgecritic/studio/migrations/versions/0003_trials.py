"""Trials have the ids and sides that files give them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_trials = sa.table(
    "trials",
    *(sa.column(name, sa.Integer) for name in ("id", "experiment_id", "image_id")),
    *(sa.column(name, sa.String) for name in ("part", "mode", "detector", "name")),
)
_images = sa.table("images", sa.column("id", sa.Integer), sa.column("name", sa.String))


def upgrade() -> None:
    """Name the trials as drawn ones are named: mode/detector/image."""
    op.add_column("trials", sa.Column("name", sa.String(400), nullable=False, server_default=""))
    op.add_column("trials", sa.Column("alarm_side", sa.String(5), nullable=False, server_default="left"))
    connection = op.get_bind()
    query = sa.select(_trials, _images.c.name.label("image")).join(
        _images, _images.c.id == _trials.c.image_id
    )
    taken = set()
    for row in connection.execute(query.order_by(_trials.c.id)).all():
        name = f"{row.mode}/{row.detector}/{row.image}"
        if row.part != "main" or (row.experiment_id, name) in taken:
            name = f"{row.part}/{row.id}"
        taken.add((row.experiment_id, name))
        connection.execute(sa.update(_trials).where(_trials.c.id == row.id).values(name=name))
    op.create_index("ix_trials_name", "trials", ["experiment_id", "name"], unique=True)


def downgrade() -> None:
    """Forget ids and sides."""
    op.drop_index("ix_trials_name", table_name="trials")
    op.drop_column("trials", "alarm_side")
    op.drop_column("trials", "name")
