"""Guidelines, assigned images, comments on maps that are sent back, consensus maps, volumes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns and tables; nothing is assigned, and everybody goes on with all images."""
    op.add_column("projects", sa.Column("guideline", sa.Text, nullable=False, server_default=""))
    op.add_column("projects", sa.Column("classes", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("annotations", sa.Column("returned", sa.DateTime(timezone=True)))
    op.add_column(
        "invitations", sa.Column("is_consensus", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.drop_index("ix_invitations_owner", table_name="invitations")
    op.create_index(
        "ix_invitations_owner",
        "invitations",
        ["project_id", "is_consensus"],
        unique=True,
        sqlite_where=sa.text("is_owner"),
        postgresql_where=sa.text("is_owner"),
    )
    op.create_table(
        "assignments",
        sa.Column("invitation_id", sa.Integer, nullable=False),
        sa.Column("image_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("invitation_id", "image_id", name="pk_assignments"),
        sa.ForeignKeyConstraint(
            ["invitation_id"],
            ["invitations.id"],
            name="fk_assignments_invitation_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name="fk_assignments_image_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_assignments_image_id", "assignments", ["image_id"])
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("annotation_id", sa.Integer, nullable=False),
        sa.Column("x", sa.Integer, nullable=False),
        sa.Column("y", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.ForeignKeyConstraint(
            ["annotation_id"], ["annotations.id"], name="fk_comments_annotation_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_comments_annotation_id", "comments", ["annotation_id"])
    op.create_table(
        "volumes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("geometry", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_volumes"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_volumes_project_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project_id", "name", name="uq_volumes_project_id"),
    )
    op.create_table(
        "slices",
        sa.Column("image_id", sa.Integer, nullable=False),
        sa.Column("volume_id", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("image_id", name="pk_slices"),
        sa.ForeignKeyConstraint(["image_id"], ["images.id"], name="fk_slices_image_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["volume_id"], ["volumes.id"], name="fk_slices_volume_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("volume_id", "place", name="uq_slices_volume_id"),
    )


def downgrade() -> None:
    """Forget what this version has added; consensus maps become those of nobody."""
    op.drop_table("slices")
    op.drop_table("volumes")
    op.drop_table("comments")
    op.drop_table("assignments")
    op.execute("DELETE FROM invitations WHERE is_consensus")
    op.drop_index("ix_invitations_owner", table_name="invitations")
    op.drop_column("invitations", "is_consensus")
    op.create_index(
        "ix_invitations_owner",
        "invitations",
        ["project_id"],
        unique=True,
        sqlite_where=sa.text("is_owner"),
        postgresql_where=sa.text("is_owner"),
    )
    op.drop_column("annotations", "returned")
    op.drop_column("projects", "classes")
    op.drop_column("projects", "guideline")
