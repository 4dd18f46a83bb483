"""Answers tell interruptions and visits; versions of maps are kept; large pictures have tiles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns and tables; older answers count as given at one go."""
    op.add_column("answers", sa.Column("pauses", sa.Integer, nullable=False, server_default="0"))
    op.add_column("answers", sa.Column("visit", sa.String(16), nullable=False, server_default=""))
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("annotation_id", sa.Integer, nullable=False),
        sa.Column("key", sa.String(40), nullable=False),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("edits", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        sa.ForeignKeyConstraint(
            ["annotation_id"], ["annotations.id"], name="fk_versions_annotation_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("annotation_id", "key", name="uq_versions_annotation_id"),
    )
    op.create_table(
        "tiles",
        sa.Column("image_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("row", sa.Integer, nullable=False),
        sa.Column("column", sa.Integer, nullable=False),
        sa.Column("media_type", sa.String(40), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("image_id", "kind", "level", "row", "column", name="pk_tiles"),
        sa.ForeignKeyConstraint(["image_id"], ["images.id"], name="fk_tiles_image_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Forget what this version has added."""
    op.drop_table("tiles")
    op.drop_table("versions")
    op.drop_column("answers", "visit")
    op.drop_column("answers", "pauses")
