"""Projects: images, imported maps, and who is invited."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, delete, exists, func, or_, select
from sqlalchemy.orm import Session, defer

from edgecritic.errors import InputError
from edgecritic.studio import auth
from edgecritic.studio.database import hold
from edgecritic.studio.models import (
    NAME_LENGTH,
    Annotation,
    Assignment,
    Event,
    Image,
    ImageFile,
    Invitation,
    LabelMap,
    LoginSession,
    Project,
    Tile,
    now,
)
from edgecritic.studio.pictures import Upload, decode_png, encode_png, levels_of
from edgecritic.studio.problems import Conflict, NotFound

__all__ = [
    "ImageRow",
    "Progress",
    "add_image",
    "add_maps",
    "clean_name",
    "create_project",
    "detector_maps",
    "file_name",
    "file_of",
    "get_image",
    "get_project",
    "has_file",
    "has_gradient",
    "has_tiles",
    "image_rows",
    "images_of",
    "imported_maps",
    "invite",
    "is_begun",
    "is_deep",
    "label_maps",
    "levels",
    "owner_invitation",
    "people_of",
    "progress_of",
    "renew",
    "revoke",
    "tile_of",
]

_MOST_IMAGES = 5000
_MOST_MAPS = 200
_ENDING = re.compile(r"\.(png|jpe?g|bmp|tiff?|p[bgp]m|npy|mat|nii(\.gz)?)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImageRow:
    """An image as the project's page shows it: how many have begun, submitted, and are wanted to."""

    image: Image
    started: int
    submitted: int
    labels: int
    detectors: int
    wanted: int

    @property
    def state(self) -> str:
        """``new``, ``open`` (somebody has begun) or ``done`` (all who are wanted have submitted)."""
        if self.submitted and self.submitted >= self.wanted:
            return "done"
        return "open" if self.started else "new"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person has done in a project."""

    begun: int
    submitted: int
    last: datetime | None


def clean_name(text: object, what: str = "name") -> str:
    r"""Return a name on one line that every database and file system can take.

    Examples
    --------
    >>> clean_name("  a\x00\tb ")
    'a b'
    """
    if not isinstance(text, str):
        raise InputError(f"the {what} must be text")
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    name = " ".join(shown.split())[:NAME_LENGTH].strip()
    if not name:
        raise InputError(f"the {what} must not be empty")
    return name


def file_name(name: str) -> str:
    """Return a name that is safe as a file name everywhere.

    Examples
    --------
    >>> file_name("../a b"), file_name("con:é")
    ('_a b', 'con_é')
    """
    plain = re.sub(r'[\\/:*?"<>|]+', "_", name).lstrip(". ").rstrip(". ")
    return plain or "unnamed"


def stem_of(name: str) -> str:
    """Return the name of an uploaded file without its folder and ending."""
    return clean_name(_ENDING.sub("", re.split(r"[\\/]", name)[-1]), "file name")


def create_project(session: Session, name: str) -> Project:
    """Make an empty project."""
    project = Project(name=clean_name(name))
    session.add(project)
    session.flush()
    return project


def get_project(session: Session, project_id: int) -> Project:
    """Return a project."""
    found = session.get(Project, project_id)
    if found is None:
        raise NotFound("there is no such project")
    return found


def get_image(session: Session, image_id: int, project_id: int) -> Image:
    """Return an image of a project."""
    found = session.get(Image, image_id)
    if found is None or found.project_id != project_id:
        raise NotFound("there is no such image")
    return found


def images_of(session: Session, project_id: int) -> Sequence[Image]:
    """Return the images of a project by name."""
    return session.scalars(select(Image).where(Image.project_id == project_id).order_by(Image.name)).all()


def image_rows(session: Session, project_id: int) -> list[ImageRow]:
    """Return the images of a project with what was done on them."""
    work = {
        image: (started, submitted)
        for image, started, submitted in session.execute(
            select(Annotation.image_id, func.count(), func.count(Annotation.submitted))
            .join(Invitation, Invitation.id == Annotation.invitation_id)
            .where(Invitation.project_id == project_id, Invitation.is_consensus.is_(False), is_begun())
            .group_by(Annotation.image_id)
        )
    }
    given = _given(session, project_id)
    invited = [
        one.id
        for one in people_of(session, project_id=project_id)
        if one.revoked is None and not one.is_owner
    ]
    free = sum(one not in given for one in invited)
    wanted = Counter(image for one in invited for image in given.get(one, ()))
    maps = {
        (image, kind): count
        for image, kind, count in session.execute(
            select(LabelMap.image_id, LabelMap.kind, func.count())
            .join(Image, Image.id == LabelMap.image_id)
            .where(Image.project_id == project_id)
            .group_by(LabelMap.image_id, LabelMap.kind)
        )
    }
    rows = []
    for image in images_of(session, project_id):
        started, submitted = work.get(image.id, (0, 0))
        labels, detectors = (maps.get((image.id, kind), 0) for kind in ("label", "detector"))
        people = max(started, free + wanted[image.id])
        rows.append(ImageRow(image, started, submitted, labels, detectors, people))
    return rows


def _given(session: Session, project_id: int) -> dict[int, set[int]]:
    """Return by the id of the invitation the images that a person was given; who has none is left out."""
    rows = session.execute(
        select(Assignment.invitation_id, Assignment.image_id)
        .join(Invitation, Invitation.id == Assignment.invitation_id)
        .where(Invitation.project_id == project_id)
    )
    found: dict[int, set[int]] = {}
    for person, image in rows:
        found.setdefault(person, set()).add(image)
    return found


def progress_of(session: Session, project_id: int) -> dict[int, Progress]:
    """Return by the id of the invitation what each person has done; who has only looked is left out."""
    begun = session.execute(
        select(Annotation.invitation_id, func.count(), func.count(Annotation.submitted))
        .join(Invitation, Invitation.id == Annotation.invitation_id)
        .where(Invitation.project_id == project_id, Invitation.is_consensus.is_(False), is_begun())
        .group_by(Annotation.invitation_id)
    ).all()
    edited = session.execute(
        select(Annotation.invitation_id, func.max(Event.server_time))
        .join(Event, Event.annotation_id == Annotation.id)
        .join(Image, Image.id == Annotation.image_id)
        .where(Image.project_id == project_id)
        .group_by(Annotation.invitation_id)
    )
    last = {row[0]: row[1] for row in edited}
    return {person: Progress(count, done, last.get(person)) for person, count, done in begun}


def is_begun() -> ColumnElement[bool]:
    """Return the condition that somebody has worked on an image: opening it alone is no work."""
    edited = exists().where(Event.annotation_id == Annotation.id)
    return or_(Annotation.submitted.is_not(None), edited)


def add_image(session: Session, project_id: int, name: str, upload: Upload) -> Image:
    """Store a checked photo under the stem of its file name."""
    hold(session, Project, project_id)
    stem, mine = stem_of(name), select(func.count()).select_from(Image).where(Image.project_id == project_id)
    if (session.scalar(mine) or 0) >= _MOST_IMAGES:
        raise Conflict(f"a project holds at most {_MOST_IMAGES} images")
    if session.scalar(mine.where(Image.name == stem)):
        raise Conflict(f"the project has an image {stem!r} already; rename the file")
    image = Image(
        project_id=project_id,
        name=stem,
        width=upload.width,
        height=upload.height,
        level=upload.level,
    )
    session.add(image)
    session.flush()
    files = {
        "photo": (upload.media_type, upload.photo),
        "proposal": ("image/png", upload.proposal),
        "gradient": ("image/png", upload.gradient),
    }
    files |= {"thumb": ("image/jpeg", upload.thumb)} if upload.thumb else {}
    files |= {"deep": ("image/png", upload.deep)} if upload.deep else {}
    for kind, (media_type, content) in files.items():
        session.add(ImageFile(image_id=image.id, kind=kind, media_type=media_type, content=content))
    for tile in upload.tiles:
        session.add(Tile(image_id=image.id, **dataclasses.asdict(tile)))
    session.flush()
    return image


def add_maps(
    session: Session, image: Image, kind: str, name: str, maps: Sequence[NDArray[np.generic]]
) -> int:
    """Store imported maps of an image; an older one of the same name is replaced. Return their number."""
    if kind not in ("label", "detector"):
        raise InputError("a map must be a label or a detector's")
    base = clean_name(name)
    hold(session, Image, image.id)
    for number, one in enumerate(maps, start=1):
        shown = base if len(maps) == 1 else clean_name(f"{base[: NAME_LENGTH - 8]} {number}")
        values = one if kind == "label" else levels_of(np.square(one.astype(np.float64)))
        same = (LabelMap.image_id == image.id) & (LabelMap.kind == kind)
        found = session.scalar(select(LabelMap).where(same, LabelMap.name == shown))
        if found is None:
            count = session.scalar(select(func.count()).select_from(LabelMap).where(same)) or 0
            if count >= _MOST_MAPS:
                raise Conflict(f"an image holds at most {_MOST_MAPS} maps of a kind")
            found = LabelMap(image_id=image.id, kind=kind, name=shown)
            session.add(found)
        found.content = encode_png(values)
        session.flush()
    return len(maps)


def file_of(session: Session, image_id: int, kind: str) -> ImageFile:
    """Return a stored file of an image."""
    found = session.get(ImageFile, (image_id, kind))
    if found is None:
        raise NotFound("there is no such file")
    return found


def has_file(session: Session, image_id: int, kind: str) -> bool:
    """Tell whether an image has a file of this kind."""
    return (
        session.scalar(select(exists().where(ImageFile.image_id == image_id, ImageFile.kind == kind)))
        or False
    )


def tile_of(session: Session, image_id: int, kind: str, level: int, row: int, column: int) -> Tile:
    """Return a tile of a large image."""
    found = session.get(Tile, (image_id, kind, level, row, column))
    if found is None:
        raise NotFound("there is no such tile")
    return found


def has_tiles(session: Session, image_id: int, kind: str = "photo") -> bool:
    """Tell whether an image has tiles of a kind; one of an earlier version has none, however large."""
    wanted = exists().where(Tile.image_id == image_id, Tile.kind == kind)
    return session.scalar(select(wanted)) or False


def is_deep(session: Session, image_id: int) -> bool:
    """Tell whether the page can choose which values of a photo are shown."""
    if has_tiles(session, image_id):
        return has_tiles(session, image_id, "deep")
    return has_file(session, image_id, "deep")


def has_gradient(session: Session, image_id: int) -> bool:
    """Tell whether the gradient can be shown at every size; in large images of earlier versions it cannot."""
    smaller = exists().where(Tile.image_id == image_id, Tile.kind == "gradient", Tile.level == 1)
    return not has_tiles(session, image_id) or bool(session.scalar(select(smaller)))


def levels(session: Session, image_id: int) -> NDArray[np.uint8]:
    """Return the proposal of an image."""
    return decode_png(file_of(session, image_id, "proposal").content)


def label_maps(session: Session, image_id: int) -> Sequence[LabelMap]:
    """Return the imported label maps of an image."""
    return session.scalars(
        select(LabelMap)
        .where(LabelMap.image_id == image_id, LabelMap.kind == "label")
        .order_by(LabelMap.name)
    ).all()


def imported_maps(session: Session, image_id: int) -> Sequence[LabelMap]:
    """Return the imported labels and the maps of detectors of an image, without their content."""
    return session.scalars(
        select(LabelMap)
        .options(defer(LabelMap.content))
        .where(LabelMap.image_id == image_id)
        .order_by(LabelMap.kind.desc(), LabelMap.name)
    ).all()


def detector_maps(session: Session, image_id: int) -> dict[str, NDArray[np.float64]]:
    """Return the strength maps of an image by the detector's name."""
    rows = session.scalars(
        select(LabelMap)
        .where(LabelMap.image_id == image_id, LabelMap.kind == "detector")
        .order_by(LabelMap.name)
    )
    return {row.name: decode_png(row.content) / 255.0 for row in rows}


def invite(
    session: Session,
    name: str,
    *,
    project_id: int | None = None,
    experiment_id: int | None = None,
    number: int | None = None,
    days: int | None = 90,
) -> tuple[Invitation, str]:
    """Invite a person to one project or one experiment; return the invitation and its token.

    The token is shown once: only its hash is stored. `number` is that of an experiment's subject.
    """
    if (project_id is None) == (experiment_id is None):
        raise InputError("an invitation is for one project or one experiment")
    token = auth.new_token()
    invitation = Invitation(
        name=clean_name(name),
        project_id=project_id,
        experiment_id=experiment_id,
        number=number,
        token_hash=auth.hash_token(token),
        expires=None if days is None else now() + timedelta(days=days),
    )
    session.add(invitation)
    session.flush()
    return invitation, token


def owner_invitation(session: Session, project_id: int, *, consensus: bool = False) -> Invitation:
    """Return the owner's own place among the annotators of a project, made if it is not there.

    The owner edits consensus maps at another place, so that they are nobody's label.
    """
    hold(session, Project, project_id)
    found = session.scalar(
        select(Invitation).where(
            Invitation.project_id == project_id,
            Invitation.is_owner.is_(True),
            Invitation.is_consensus.is_(consensus),
        )
    )
    if found is None:
        name = "consensus" if consensus else "owner"
        found = Invitation(name=name, project_id=project_id, is_owner=True, is_consensus=consensus)
        session.add(found)
        session.flush()
    return found


def people_of(
    session: Session, *, project_id: int | None = None, experiment_id: int | None = None
) -> Sequence[Invitation]:
    """Return the invitations of a project or an experiment, oldest first."""
    chosen = (
        Invitation.project_id == project_id
        if experiment_id is None
        else Invitation.experiment_id == experiment_id
    )
    return session.scalars(select(Invitation).where(chosen).order_by(Invitation.id)).all()


def revoke(session: Session, invitation_id: int) -> Invitation:
    """Take an invitation back; open browsers lose access at once, the work stays."""
    found = hold(session, Invitation, invitation_id)
    if found.is_owner:
        raise NotFound("there is no such invitation")
    found.revoked = found.revoked or now()
    return found


def renew(session: Session, invitation_id: int, days: int = 90) -> tuple[Invitation, str]:
    """Give a person a new link; return the invitation and the token.

    The work stays. The old link ends, and with it every browser that has used it; what was revoked or has
    expired is open again.
    """
    found = hold(session, Invitation, invitation_id)
    if found.is_owner or found.deleted is not None:
        raise NotFound("there is no such invitation")
    token = auth.new_token()
    found.token_hash, found.revoked, found.expires = (
        auth.hash_token(token),
        None,
        now() + timedelta(days=days),
    )
    session.execute(delete(LoginSession).where(LoginSession.invitation_id == found.id))
    session.flush()
    return found, token
