"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from edgecritic.studio.models import UtcTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("created", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created", UtcTime(), nullable=False),
        sa.Column("closed", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_experiments_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
    )
    op.create_index(op.f("ix_experiments_project_id"), "experiments", ["project_id"], unique=False)
    op.create_table(
        "images",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("created", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_images_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_images")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_images_project_id")),
    )
    op.create_index(op.f("ix_images_project_id"), "images", ["project_id"], unique=False)
    op.create_table(
        "image_files",
        sa.Column("image_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("media_type", sa.String(length=40), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name=op.f("fk_image_files_image_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("image_id", "kind", name=op.f("pk_image_files")),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.Column("experiment_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("is_owner", sa.Boolean(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("created", UtcTime(), nullable=False),
        sa.Column("expires", UtcTime(), nullable=True),
        sa.Column("revoked", UtcTime(), nullable=True),
        sa.Column("opened", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment_id"],
            ["experiments.id"],
            name=op.f("fk_invitations_experiment_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_invitations_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_index(op.f("ix_invitations_experiment_id"), "invitations", ["experiment_id"], unique=False)
    op.create_index(op.f("ix_invitations_project_id"), "invitations", ["project_id"], unique=False)
    op.create_table(
        "label_maps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("image_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name=op.f("fk_label_maps_image_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_maps")),
        sa.UniqueConstraint("image_id", "kind", "name", name=op.f("uq_label_maps_image_id")),
    )
    op.create_index(op.f("ix_label_maps_image_id"), "label_maps", ["image_id"], unique=False)
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("image_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("detector", sa.String(length=120), nullable=False),
        sa.Column("alarm", sa.JSON(), nullable=False),
        sa.Column("label", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_trials_experiment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name=op.f("fk_trials_image_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
    )
    op.create_index(op.f("ix_trials_experiment_id"), "trials", ["experiment_id"], unique=False)
    op.create_table(
        "annotations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("image_id", sa.Integer(), nullable=False),
        sa.Column("invitation_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcTime(), nullable=False),
        sa.Column("submitted", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name=op.f("fk_annotations_image_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["invitation_id"],
            ["invitations.id"],
            name=op.f("fk_annotations_invitation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotations")),
        sa.UniqueConstraint("image_id", "invitation_id", name=op.f("uq_annotations_image_id")),
    )
    op.create_index(op.f("ix_annotations_image_id"), "annotations", ["image_id"], unique=False)
    op.create_index(op.f("ix_annotations_invitation_id"), "annotations", ["invitation_id"], unique=False)
    op.create_table(
        "login_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("invitation_id", sa.Integer(), nullable=True),
        sa.Column("created", UtcTime(), nullable=False),
        sa.Column("expires", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["invitation_id"],
            ["invitations.id"],
            name=op.f("fk_login_sessions_invitation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_sessions")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_login_sessions_secret_hash")),
    )
    op.create_index(
        op.f("ix_login_sessions_invitation_id"), "login_sessions", ["invitation_id"], unique=False
    )
    op.create_table(
        "slots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("invitation_id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("alarm_side", sa.String(length=5), nullable=False),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitations.id"], name=op.f("fk_slots_invitation_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_slots_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slots")),
        sa.UniqueConstraint("invitation_id", "position", name=op.f("uq_slots_invitation_id")),
    )
    op.create_index(op.f("ix_slots_trial_id"), "slots", ["trial_id"], unique=False)
    op.create_table(
        "answers",
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("side", sa.String(length=5), nullable=False),
        sa.Column("reaction_ms", sa.Integer(), nullable=False),
        sa.Column("client_time", UtcTime(), nullable=True),
        sa.Column("server_time", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["slot_id"], ["slots.id"], name=op.f("fk_answers_slot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("slot_id", name=op.f("pk_answers")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("annotation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("op", sa.String(length=12), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("client_time", UtcTime(), nullable=True),
        sa.Column("server_time", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotation_id"], ["annotations.id"], name=op.f("fk_events_annotation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("annotation_id", "seq", name=op.f("uq_events_annotation_id")),
    )
    op.create_index("ix_events_annotation_key", "events", ["annotation_id", "key"], unique=True)


def downgrade() -> None:
    """Drop the tables."""
    op.drop_index("ix_events_annotation_key", table_name="events")
    op.drop_table("events")
    op.drop_table("answers")
    op.drop_index(op.f("ix_slots_trial_id"), table_name="slots")
    op.drop_table("slots")
    op.drop_index(op.f("ix_login_sessions_invitation_id"), table_name="login_sessions")
    op.drop_table("login_sessions")
    op.drop_index(op.f("ix_annotations_invitation_id"), table_name="annotations")
    op.drop_index(op.f("ix_annotations_image_id"), table_name="annotations")
    op.drop_table("annotations")
    op.drop_index(op.f("ix_trials_experiment_id"), table_name="trials")
    op.drop_table("trials")
    op.drop_index(op.f("ix_label_maps_image_id"), table_name="label_maps")
    op.drop_table("label_maps")
    op.drop_index(op.f("ix_invitations_project_id"), table_name="invitations")
    op.drop_index(op.f("ix_invitations_experiment_id"), table_name="invitations")
    op.drop_table("invitations")
    op.drop_table("image_files")
    op.drop_index(op.f("ix_images_project_id"), table_name="images")
    op.drop_table("images")
    op.drop_index(op.f("ix_experiments_project_id"), table_name="experiments")
    op.drop_table("experiments")
    op.drop_table("secrets")
    op.drop_table("projects")
