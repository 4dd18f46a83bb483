"""Who labels what: guidelines, assigned images; renaming and deleting."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.maps.fold import MOST_CLASSES
from edgecritic.studio import projects
from edgecritic.studio.database import hold
from edgecritic.studio.fresh import remember_ids
from edgecritic.studio.models import (
    Annotation,
    Assignment,
    Event,
    Image,
    Invitation,
    LabelMap,
    Project,
    Trial,
)
from edgecritic.studio.problems import Conflict, NotFound

__all__ = [
    "assign",
    "assigned_counts",
    "clean_text",
    "delete_image",
    "delete_map",
    "delete_project",
    "images_for",
    "rename_image",
    "rename_project",
    "set_classes",
    "set_guideline",
    "shared_out",
]

MOST_TEXT = 8000


def clean_text(text: object, what: str) -> str:
    r"""Return some paragraphs that every database can take: no control characters, at most 8,000 signs.

    Examples
    --------
    >>> clean_text(" one\r\n\r\n two\x00 ", "guideline")
    'one\n\n two'
    """
    if not isinstance(text, str):
        raise InputError(f"the {what} must be text")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    plain = ["".join(sign for sign in line if sign.isprintable() or sign == "\t").rstrip() for line in lines]
    joined = "\n".join(plain).strip()
    if len(joined) > MOST_TEXT:
        raise InputError(f"the {what} has {len(joined):,} signs; at most {MOST_TEXT:,} are taken")
    return joined


def set_guideline(session: Session, project_id: int, text: object) -> None:
    """Give a project the text that annotators read before and while they label."""
    hold(session, Project, project_id).guideline = clean_text(text, "guideline")


def set_classes(session: Session, project_id: int, text: object) -> None:
    """Give a project the classes that edges may belong to, one per line.

    Edits know a class by its place in the list, so that after somebody has painted none can be removed.
    """
    project = hold(session, Project, project_id)
    names = [projects.clean_name(line)[:40] for line in clean_text(text, "list").split("\n") if line.strip()]
    if len(names) > MOST_CLASSES or len(set(names)) < len(names):
        raise InputError(f"give at most {MOST_CLASSES} classes, each once")
    painted = exists().where(
        Event.op == "paint",
        Event.annotation_id == Annotation.id,
        Annotation.image_id == Image.id,
        Image.project_id == project_id,
    )
    if len(names) < len(project.classes) and session.scalar(select(painted)):
        raise Conflict("edges belong to these classes already; they can be renamed and added, not removed")
    project.classes = names


def shared_out(images: Sequence[int], people: Sequence[int], each: int) -> list[tuple[int, int]]:
    """Return pairs (person, image) so that `each` people have every image, and all about as many images.

    Person after person in turn; with as many people as are wanted, or fewer, everybody has every image.

    Examples
    --------
    >>> shared_out([10, 11, 12], [1, 2, 3], 2)
    [(1, 10), (2, 10), (3, 11), (1, 11), (2, 12), (3, 12)]
    """
    count = min(each, len(people))
    return [
        (people[(count * place + turn) % len(people)], image)
        for place, image in enumerate(images)
        for turn in range(count)
    ]


def assign(session: Session, project_id: int, each: int | None) -> int:
    """Give every image to so many annotators, in turn, or (None) all to all; return how many have some.

    Earlier assignments end. Work that was begun stays, and whoever has begun an image keeps it.
    """
    hold(session, Project, project_id)
    people = [
        one.id
        for one in projects.people_of(session, project_id=project_id)
        if not one.is_owner and one.revoked is None
    ]
    mine = select(Invitation.id).where(Invitation.project_id == project_id)
    session.execute(delete(Assignment).where(Assignment.invitation_id.in_(mine)))
    if each is None:
        return 0
    if not people:
        raise Conflict("nobody is invited yet, so there is nobody to give images to")
    images = [one.id for one in projects.images_of(session, project_id)]
    begun = session.execute(
        select(Annotation.invitation_id, Annotation.image_id).where(
            Annotation.invitation_id.in_(people), projects.is_begun()
        )
    )
    wanted = {*shared_out(images, people, each), *((row[0], row[1]) for row in begun)}
    session.add_all(Assignment(invitation_id=person, image_id=image) for person, image in sorted(wanted))
    session.flush()
    return len({person for person, _ in wanted})


def images_for(session: Session, invitation: Invitation) -> Sequence[Image]:
    """Return the images that a person shall label, by name: those assigned to them, or all."""
    mine = select(Assignment.image_id).where(Assignment.invitation_id == invitation.id)
    chosen = session.scalars(
        select(Image)
        .where(Image.project_id == invitation.project_id, Image.id.in_(mine))
        .order_by(Image.name)
    ).all()
    return chosen or projects.images_of(session, invitation.project_id or 0)


def assigned_counts(session: Session, project_id: int) -> dict[int, int]:
    """Return by the id of the invitation how many images a person was given; those with all are left out."""
    rows = session.execute(
        select(Assignment.invitation_id, func.count())
        .join(Invitation, Invitation.id == Assignment.invitation_id)
        .where(Invitation.project_id == project_id)
        .group_by(Assignment.invitation_id)
    )
    return {person: count for person, count in rows}  # noqa: C416 - rows are no pairs for the type checker


def rename_project(session: Session, project_id: int, name: object) -> None:
    """Give a project another name."""
    hold(session, Project, project_id).name = projects.clean_name(name)


def delete_project(session: Session, project_id: int, typed: object) -> None:
    """Delete a project with everything in it, if its name was typed."""
    project = hold(session, Project, project_id)
    if projects.clean_name(typed) != project.name:
        raise InputError("the name that was typed is not that of the project; nothing was deleted")
    remember_ids(session)
    session.execute(delete(Project).where(Project.id == project_id))


def rename_image(session: Session, project_id: int, image_id: int, name: object) -> None:
    """Give an image another name; maps that come later belong to it by that one."""
    hold(session, Project, project_id)
    image = projects.get_image(session, image_id, project_id)
    wanted = projects.clean_name(name)
    same = select(Image.id).where(Image.project_id == project_id, Image.name == wanted, Image.id != image_id)
    if session.scalar(same) is not None:
        raise Conflict(f"the project has an image {wanted!r} already")
    image.name = wanted


def delete_image(session: Session, project_id: int, image_id: int) -> None:
    """Delete an image with all work on it; one that an experiment shows stays."""
    hold(session, Project, project_id)
    projects.get_image(session, image_id, project_id)
    if session.scalar(select(exists().where(Trial.image_id == image_id))):
        raise Conflict("an experiment shows this image, therefore it cannot be deleted")
    remember_ids(session)
    session.execute(delete(Image).where(Image.id == image_id))


def delete_map(session: Session, project_id: int, image_id: int, map_id: int) -> None:
    """Delete an imported label or a detector's map."""
    projects.get_image(session, image_id, project_id)
    hold(session, Image, image_id)
    found = session.get(LabelMap, map_id)
    if found is None or found.image_id != image_id:
        raise NotFound("there is no such map")
    session.delete(found)
