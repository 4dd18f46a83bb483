"""The tables. Portable types only: the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = [
    "Base",
    "Answer",
    "Annotation",
    "Assignment",
    "Comment",
    "Event",
    "Experiment",
    "Image",
    "ImageFile",
    "Invitation",
    "LabelMap",
    "LoginSession",
    "Participation",
    "Project",
    "Secret",
    "Slice",
    "Slot",
    "Tile",
    "Trial",
    "Version",
    "Volume",
    "now",
]

NAME_LENGTH = 120
TRIAL_NAME_LENGTH = 400
VISIT_LENGTH = 16
CODE_LENGTH = 40


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class UtcTime(TypeDecorator[datetime]):
    """A time that is always UTC, also where the database forgets zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Store in UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Give the zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Root of the tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


def _reference(column: str, *, index: bool = True, cascade: bool = True) -> Any:
    return mapped_column(ForeignKey(column, ondelete="CASCADE" if cascade else None), index=index)


class Secret(Base):
    """Small values of the server, such as the hash of the owner's password."""

    __tablename__ = "secrets"
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Project(Base):
    """A set of images that people label; annotators see the guideline, and may give edges to classes."""

    __tablename__ = "projects"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    guideline: Mapped[str] = mapped_column(Text, default="", server_default="")
    classes: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    created: Mapped[datetime] = mapped_column(default=now)


class Image(Base):
    """One picture of a project."""

    __tablename__ = "images"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = _reference("projects.id")
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    width: Mapped[int]
    height: Mapped[int]
    level: Mapped[int]
    created: Mapped[datetime] = mapped_column(default=now)


class ImageFile(Base):
    """The bytes of a picture: the photo, the proposal's levels, the gradient's levels."""

    __tablename__ = "image_files"
    image_id: Mapped[int] = mapped_column(ForeignKey("images.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    media_type: Mapped[str] = mapped_column(String(40))
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Tile(Base):
    """A square piece of a large picture, at full size (level 0) or 2, 4, 8, … times smaller."""

    __tablename__ = "tiles"
    image_id: Mapped[int] = mapped_column(ForeignKey("images.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    column: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    media_type: Mapped[str] = mapped_column(String(40))
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Volume(Base):
    """A volume whose slices along the third axis are images.

    `geometry` has ``affine``, ``shape`` and ``placed`` of :class:`edgecritic.geometry.Geometry`.
    """

    __tablename__ = "volumes"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = _reference("projects.id", index=False)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    geometry: Mapped[dict[str, Any]]
    created: Mapped[datetime] = mapped_column(default=now)


class Slice(Base):
    """An image that is a slice of a volume; places count from 0."""

    __tablename__ = "slices"
    __table_args__ = (UniqueConstraint("volume_id", "place"),)
    image_id: Mapped[int] = mapped_column(ForeignKey("images.id", ondelete="CASCADE"), primary_key=True)
    volume_id: Mapped[int] = _reference("volumes.id", index=False)
    place: Mapped[int]


class LabelMap(Base):
    """A map that was not drawn here: an imported label or the strength map of a detector."""

    __tablename__ = "label_maps"
    __table_args__ = (UniqueConstraint("image_id", "kind", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    image_id: Mapped[int] = _reference("images.id")
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    created: Mapped[datetime] = mapped_column(default=now)


class Invitation(Base):
    """A person's access to one project or one experiment.

    The id is the person; several may have one name. Subjects of an experiment are numbered from 0, and the
    number decides their schedule. `is_owner` marks the one place of the owner among a project's annotators,
    and with `is_consensus` the one where the owner edits maps that were built from those of all.
    Of a subject whose data were deleted the row stays, without a name, so that the number is not given again.
    """

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int | None] = _reference("projects.id")
    experiment_id: Mapped[int | None] = _reference("experiments.id")
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    is_owner: Mapped[bool] = mapped_column(default=False)
    is_consensus: Mapped[bool] = mapped_column(default=False, server_default=false())
    number: Mapped[int | None]
    token_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    created: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime | None]
    revoked: Mapped[datetime | None]
    opened: Mapped[datetime | None]
    deleted: Mapped[datetime | None]


class LoginSession(Base):
    """A browser that has shown a password or an invitation."""

    __tablename__ = "login_sessions"
    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    invitation_id: Mapped[int | None] = _reference("invitations.id")
    created: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime]


class Annotation(Base):
    """The work of one person on one image."""

    __tablename__ = "annotations"
    __table_args__ = (UniqueConstraint("image_id", "invitation_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    image_id: Mapped[int] = _reference("images.id")
    invitation_id: Mapped[int] = _reference("invitations.id")
    created: Mapped[datetime] = mapped_column(default=now)
    submitted: Mapped[datetime | None]
    returned: Mapped[datetime | None]


class Assignment(Base):
    """An image that a person shall label; who has none labels all."""

    __tablename__ = "assignments"
    invitation_id: Mapped[int] = mapped_column(
        ForeignKey("invitations.id", ondelete="CASCADE"), primary_key=True
    )
    image_id: Mapped[int] = mapped_column(
        ForeignKey("images.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Comment(Base):
    """What the owner says of a place of a person's map, until the person has done it."""

    __tablename__ = "comments"
    id: Mapped[int] = mapped_column(primary_key=True)
    annotation_id: Mapped[int] = _reference("annotations.id")
    x: Mapped[int]
    y: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    created: Mapped[datetime] = mapped_column(default=now)
    done: Mapped[datetime | None]


class Event(Base):
    """One edit. Rows are added, never changed."""

    __tablename__ = "events"
    __table_args__ = (UniqueConstraint("annotation_id", "seq"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    annotation_id: Mapped[int] = _reference("annotations.id", index=False)
    seq: Mapped[int]
    key: Mapped[str] = mapped_column(String(40))
    op: Mapped[str] = mapped_column(String(12))
    data: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=1)
    client_time: Mapped[datetime | None]
    server_time: Mapped[datetime] = mapped_column(default=now)


class Version(Base):
    """Edits that did not become part of a map because another window had gone on: kept beside it.

    They follow the first `base` edits of the map.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("annotation_id", "key"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    annotation_id: Mapped[int] = _reference("annotations.id", index=False)
    key: Mapped[str] = mapped_column(String(40))
    base: Mapped[int]
    edits: Mapped[list[Any]]
    created: Mapped[datetime] = mapped_column(default=now)


class Experiment(Base):
    """A forced-choice experiment on a project's images.

    What subjects see is fixed when it has `started`, with the first invitation. `join_hash` is that of the
    link with which people recruited elsewhere enter, at most `join_places` of them. From `forgotten` on
    nothing tells who the subjects were.
    """

    __tablename__ = "experiments"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = _reference("projects.id")
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    mode: Mapped[str] = mapped_column(String(10))
    seed: Mapped[int]
    settings: Mapped[dict[str, Any]]
    created: Mapped[datetime] = mapped_column(default=now)
    started: Mapped[datetime | None]
    closed: Mapped[datetime | None]
    forgotten: Mapped[datetime | None]
    join_hash: Mapped[str | None] = mapped_column(String(64))
    join_places: Mapped[int] = mapped_column(default=0, server_default="0")


class Participation(Base):
    """What a subject has said apart from the choices: consent, answers to questions, ids of a service.

    Who was `recruited` has come with the link of the experiment and not with an own one. `participant` is
    the id that a service gave the person, once in an experiment; `ids` are the others. Trials are answered
    from `began` on, when everything that comes first was given. The `code` is shown at the end.
    """

    __tablename__ = "participations"
    __table_args__ = (UniqueConstraint("experiment_id", "participant"),)
    invitation_id: Mapped[int] = mapped_column(
        ForeignKey("invitations.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    experiment_id: Mapped[int] = _reference("experiments.id", index=False)
    recruited: Mapped[bool] = mapped_column(default=False)
    participant: Mapped[str | None] = mapped_column(String(NAME_LENGTH))
    ids: Mapped[dict[str, Any]] = mapped_column(default=dict)
    code: Mapped[str] = mapped_column(String(CODE_LENGTH), default="")
    consented: Mapped[datetime | None]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    began: Mapped[datetime | None]
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    finished: Mapped[datetime | None]


class Trial(Base):
    """A trial of a forced choice: a detector's false alarm and a label, each as x, y of centre and pixels.

    The name is the trial's id in files, and the side that of its false alarm there; subjects may see another.
    """

    __tablename__ = "trials"
    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = _reference("experiments.id")
    image_id: Mapped[int] = _reference("images.id", index=False)
    name: Mapped[str] = mapped_column(String(TRIAL_NAME_LENGTH), server_default="")
    alarm_side: Mapped[str] = mapped_column(String(5), server_default="left")
    part: Mapped[str] = mapped_column(String(10))
    mode: Mapped[str] = mapped_column(String(10))
    detector: Mapped[str] = mapped_column(String(NAME_LENGTH))
    alarm: Mapped[list[Any]]
    label: Mapped[list[Any]]


class Slot(Base):
    """One place in a subject's schedule, stored before the subject starts."""

    __tablename__ = "slots"
    __table_args__ = (UniqueConstraint("invitation_id", "position"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    invitation_id: Mapped[int] = _reference("invitations.id", index=False)
    trial_id: Mapped[int] = _reference("trials.id")
    position: Mapped[int]
    alarm_side: Mapped[str] = mapped_column(String(5))


class Answer(Base):
    """One answer; a slot has at most one.

    The reaction time is that in which the trial was seen; it was put aside `pauses` times before. A visit is
    one opening of the page, which names itself. `display` says how the trial was seen and answered: window,
    screen, zoom, device, input.
    """

    __tablename__ = "answers"
    slot_id: Mapped[int] = mapped_column(ForeignKey("slots.id", ondelete="CASCADE"), primary_key=True)
    side: Mapped[str] = mapped_column(String(5))
    reaction_ms: Mapped[int]
    pauses: Mapped[int] = mapped_column(default=0, server_default="0")
    visit: Mapped[str] = mapped_column(String(VISIT_LENGTH), default="", server_default="")
    display: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    client_time: Mapped[datetime | None]
    server_time: Mapped[datetime] = mapped_column(default=now)


Index("ix_events_annotation_key", Event.annotation_id, Event.key, unique=True)
Index("ix_trials_name", Trial.experiment_id, Trial.name, unique=True)
Index("ix_slots_invitation_trial", Slot.invitation_id, Slot.trial_id, unique=True)
Index("ix_invitations_subject", Invitation.experiment_id, Invitation.number, unique=True)
Index("ix_experiments_join", Experiment.join_hash, unique=True)
Index(
    "ix_invitations_owner",
    Invitation.project_id,
    Invitation.is_consensus,
    unique=True,
    sqlite_where=text("is_owner"),
    postgresql_where=text("is_owner"),
)
