"""The owner looks at one person's map: comments at places, sends it back, builds a map from those of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects
from edgecritic.studio.database import hold
from edgecritic.studio.models import Annotation, Comment, Image, now
from edgecritic.studio.problems import Conflict, NotFound
from edgecritic.studio.teamwork import clean_text

__all__ = [
    "add_comment",
    "build_consensus",
    "comments_of",
    "consensus_map",
    "delete_comment",
    "open_comments",
    "send_back",
    "set_done",
]

MOST_COMMENTS = 200


def comments_of(session: Session, annotation_id: int) -> Sequence[Comment]:
    """Return the comments on a map, oldest first."""
    return session.scalars(
        select(Comment).where(Comment.annotation_id == annotation_id).order_by(Comment.id)
    ).all()


def open_comments(session: Session, annotations: Iterable[int]) -> Counter[int]:
    """Return how many comments on each of some maps are not done yet."""
    rows = session.execute(
        select(Comment.annotation_id, func.count())
        .where(Comment.annotation_id.in_(list(annotations)), Comment.done.is_(None))
        .group_by(Comment.annotation_id)
    )
    return Counter({annotation: count for annotation, count in rows})  # noqa: C416 - rows are no pairs


def add_comment(session: Session, annotation_id: int, document: Any) -> Comment:
    """Say something about a place of a map: ``x``, ``y`` and ``text``."""
    annotation = hold(session, Annotation, annotation_id)
    image = session.get_one(Image, annotation.image_id)
    given = document if isinstance(document, dict) else {}
    text = clean_text(given.get("text"), "comment")
    if not text:
        raise InputError("the comment must not be empty")
    place = [_inside(given.get(name), size, name) for name, size in (("x", image.width), ("y", image.height))]
    if len(comments_of(session, annotation_id)) >= MOST_COMMENTS:
        raise Conflict(f"a map has at most {MOST_COMMENTS} comments")
    made = Comment(annotation_id=annotation_id, x=place[0], y=place[1], text=text)
    session.add(made)
    session.flush()
    return made


def delete_comment(session: Session, annotation_id: int, comment_id: int) -> None:
    """Take a comment back."""
    hold(session, Annotation, annotation_id)
    session.delete(_comment(session, annotation_id, comment_id))


def set_done(session: Session, annotation: Annotation, comment_id: int, *, done: bool) -> None:
    """Mark a comment as done, or as open again."""
    hold(session, Annotation, annotation.id)
    found = _comment(session, annotation.id, comment_id)
    found.done = (found.done or now()) if done else None


def send_back(session: Session, annotation_id: int) -> Annotation:
    """Ask a person to go on with a map: it is open again, and marked as sent back until submitted anew."""
    annotation = hold(session, Annotation, annotation_id)
    annotation.submitted, annotation.returned = None, now()
    return annotation


def consensus_map(maps: Sequence[BoolArray], rule: str) -> BoolArray:
    """Return the map that several people agree on.

    Parameters
    ----------
    maps : sequence of arrays
        Two or more; matched one to one within 0.0075 of the diagonal.
    rule : str
        ``staple``, or how many must have drawn a pixel: ``2``, ``3``, …

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.zeros((9, 9), bool), np.zeros((9, 9), bool)
    >>> one[4], two[4, :5] = True, True
    >>> int(consensus_map([one, two], "2").sum()), int(consensus_map([one, two], "1").sum())
    (5, 9)
    """
    from edgecritic.annotators.raters import rated_labels

    if len(maps) < 2:
        raise Conflict("a consensus needs two or more maps that are submitted or imported")
    if rule != "staple" and not (rule.isdecimal() and len(rule) < 4 and 1 <= int(rule) <= len(maps)):
        raise InputError(f"the rule must be staple, or a number from 1 to {len(maps)}, that of the maps")
    rated = rated_labels(maps, relative_tolerance=0.0075)
    return rated.map() if rule == "staple" else rated.at_least(int(rule))


def build_consensus(session: Session, image: Image, rule: str) -> int:
    """Build the consensus map of an image, as an edit that can be undone; return the id of its place."""
    place = projects.owner_invitation(session, image.project_id, consensus=True)
    found = consensus_map([one.map for one in labelling.labels_of(session, image.id)], rule)
    annotation = labelling.open_annotation(session, place, image.id)
    if annotation.submitted is not None:
        labelling.reopen(session, annotation)
    labelling.import_map(session, annotation, found)
    return place.id


def _comment(session: Session, annotation_id: int, comment_id: int) -> Comment:
    found = session.get(Comment, comment_id)
    if found is None or found.annotation_id != annotation_id:
        raise NotFound("there is no such comment")
    return found


def _inside(value: Any, size: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise InputError(f"{name} must be a whole number from 0 to {size - 1}")
    return value
