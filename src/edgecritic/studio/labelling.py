"""Labelling: edits are appended, maps are folded from them, submitted maps are compared."""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Text, cast, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.maps.fold import (
    Edit,
    check_edit,
    check_key,
    check_specks,
    counting,
    fold,
    fold_layers,
    runs_of,
)
from edgecritic.studio import projects
from edgecritic.studio.database import hold
from edgecritic.studio.models import Annotation, Event, Image, Invitation, Version, now
from edgecritic.studio.pictures import as_map
from edgecritic.studio.problems import Conflict, NotFound, coded

__all__ = [
    "Label",
    "NewEvent",
    "Score",
    "append_events",
    "consensus_of",
    "count_events",
    "edits_of",
    "event_page",
    "find_annotation",
    "import_map",
    "keep_version",
    "labels_of",
    "layers_of",
    "map_of",
    "open_annotation",
    "parse_events",
    "reopen",
    "scores_of",
    "submit",
    "versions_of",
]

MOST_EVENTS = 200_000
MOST_AT_ONCE = 500
MOST_VERSIONS = 20
_READ_AT_ONCE = 500
_READ_BYTES = 4 * 2**20
_folding = threading.BoundedSemaphore(2)
"""Folds that run at the same time; each may need some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An edit as a browser sends it: its place in the sequence and a name to recognise a repetition."""

    seq: int
    key: str
    edit: Edit
    client_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A finished map of an image.

    Attributes
    ----------
    key : str
        What the map is known by in addresses and files: ``person-ID`` of one who has drawn it here,
        ``imported-ID`` of an imported map.
    name : str
        For display only: two people may have one name.
    person : int or None
        The id of the invitation; None for an imported map.
    source : str
        The name an imported map was given, which tells whose it is; empty for a map drawn here.
    map : BoolArray
    """

    key: str
    name: str
    person: int | None = None
    source: str = ""
    map: BoolArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well a map agrees with another one; `key` and `name` are those of its `Label`."""

    key: str
    name: str
    precision: float
    recall: float
    f: float
    pixels: int


def open_annotation(session: Session, invitation: Invitation, image_id: int) -> Annotation:
    """Return a person's annotation of an image, made if it is not there.

    If two windows make it at the same moment one of them fails, and `Database.write` tries again.
    """
    if invitation.project_id is None:
        raise NotFound("this invitation is not for labelling")
    projects.get_image(session, image_id, invitation.project_id)
    found = session.scalar(
        select(Annotation).where(Annotation.image_id == image_id, Annotation.invitation_id == invitation.id)
    )
    if found is None:
        found = Annotation(image_id=image_id, invitation_id=invitation.id)
        session.add(found)
        session.flush()
    return found


def find_annotation(session: Session, invitation: Invitation, annotation_id: int) -> Annotation:
    """Return an annotation if it is this person's."""
    found = session.get(Annotation, annotation_id)
    if found is None or found.invitation_id != invitation.id:
        raise NotFound("there is no such annotation")
    return found


def parse_events(document: Any, image: Image, *, most: int = MOST_AT_ONCE) -> list[NewEvent]:
    """Return the checked edits of a request."""
    rows = document.get("events") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not 1 <= len(rows) <= most:
        raise InputError(f"events must be a list of 1 to {most} edits")
    return [_parse(row, (image.height, image.width)) for row in rows]


def append_events(session: Session, annotation: Annotation, events: Sequence[NewEvent]) -> int:
    """Append edits; return how many there are now.

    Edits that were stored before (same place, key and content) are skipped, so that a repeated request
    does no harm. Raises `Conflict` if another browser has gone on meanwhile.
    """
    annotation = hold(session, Annotation, annotation.id)
    count = count_events(session, annotation)
    stored = _stored(session, annotation, events)
    fresh = [event for event in events if stored.get(event.seq) != (event.key, event.edit)]
    if not fresh:
        return count
    if annotation.submitted is not None:
        raise coded(Conflict("this map was submitted and cannot be changed any more"), "submitted")
    for place, event in enumerate(fresh, start=count):
        if event.seq != place:
            raise coded(Conflict("this image was edited in another window"), "diverged")
    if count + len(fresh) > MOST_EVENTS:
        raise Conflict(f"a map may have at most {MOST_EVENTS} edits")
    if any(event.edit.op == "despeckle" for event in fresh):
        image = session.get_one(Image, annotation.image_id)
        ops = [*_ops(session, annotation), *(event.edit.op for event in fresh)]
        check_specks(ops, (image.height, image.width))
    for event in fresh:
        session.add(
            Event(
                annotation_id=annotation.id,
                seq=event.seq,
                key=event.key,
                op=event.edit.op,
                data=dict(event.edit.data),
                client_time=event.client_time,
            )
        )
    try:
        session.flush()
    except IntegrityError as error:
        raise coded(Conflict("this image was edited in another window"), "diverged") from error
    return count + len(fresh)


def import_map(session: Session, annotation: Annotation, mask: BoolArray) -> int:
    """Replace the map by another one, as one more edit that can be undone; return the number of edits."""
    image = session.get_one(Image, annotation.image_id)
    edit = check_edit("replace", {"runs": runs_of(mask)}, (image.height, image.width))
    annotation = hold(session, Annotation, annotation.id)
    key = f"import-{secrets.token_hex(8)}"
    return append_events(session, annotation, [NewEvent(count_events(session, annotation), key, edit, now())])


def count_events(session: Session, annotation: Annotation) -> int:
    """Return the number of edits."""
    query = select(func.count()).select_from(Event).where(Event.annotation_id == annotation.id)
    return session.scalar(query) or 0


def event_page(session: Session, annotation: Annotation, start: int = 0) -> list[str]:
    """Return edits from a place on, each as a JSON document: as many as are read at once, none at the end."""
    rows = session.execute(
        select(Event.seq, Event.key, Event.op, cast(Event.data, Text), Event.client_time, Event.server_time)
        .where(Event.annotation_id == annotation.id)
        .where(Event.seq.in_(next(_portions(session, annotation, range(start, MOST_EVENTS)), [])))
        .order_by(Event.seq)
    )
    return [
        f'{{"seq": {seq}, "key": "{key}", "op": "{op}", "data": {data}, '
        f'"at": {json.dumps(at and at.isoformat())}, "saved": "{saved.isoformat()}"}}'
        for seq, key, op, data, at, saved in rows
    ]


def edits_of(session: Session, annotation: Annotation) -> Iterator[Edit]:
    """Yield the edits that make the map, in their order; only some of them are in memory at a time."""
    for places in _portions(session, annotation, counting(_ops(session, annotation))):
        rows = session.execute(
            select(Event.op, Event.data)
            .where(Event.annotation_id == annotation.id, Event.seq.in_(places))
            .order_by(Event.seq)
        )
        for row in rows:
            yield Edit(row.op, row.data)


def _portions(session: Session, annotation: Annotation, places: Sequence[int]) -> Iterator[list[int]]:
    """Yield places of edits as they are read at once: 500, or less if they have more than 4 MiB, but one."""
    for at in range(0, len(places), _READ_AT_ONCE):
        wanted = Event.seq.in_(list(places[at : at + _READ_AT_ONCE]))
        sizes = session.execute(
            select(Event.seq, func.length(cast(Event.data, Text)))
            .where(Event.annotation_id == annotation.id, wanted)
            .order_by(Event.seq)
        ).all()
        portion: list[int] = []
        size = 0
        for seq, length in sizes:
            if portion and size + length > _READ_BYTES:
                yield portion
                portion, size = [], 0
            portion.append(seq)
            size += length
        if not portion:
            return
        yield portion


def map_of(session: Session, annotation: Annotation) -> BoolArray:
    """Return the map as its edits make it."""
    image = session.get_one(Image, annotation.image_id)
    with _folding:
        return fold(projects.levels(session, image.id), image.level, edits_of(session, annotation))


def layers_of(session: Session, annotation: Annotation, classes: int) -> NDArray[np.uint8]:
    """Return a map of the edges of each class, (classes, rows, columns), 0 and 1."""
    image = session.get_one(Image, annotation.image_id)
    with _folding:
        _, bits = fold_layers(projects.levels(session, image.id), image.level, edits_of(session, annotation))
    return np.stack([(bits >> place) & 1 for place in range(classes)]).astype(np.uint8)


def keep_version(session: Session, annotation: Annotation, document: Any) -> Version:
    """Keep edits that could not become part of a map; sent again under the same key they are kept once."""
    image = session.get_one(Image, annotation.image_id)
    annotation = hold(session, Annotation, annotation.id)
    events = parse_events(document, image, most=MOST_EVENTS)
    key, base = check_key(document.get("key")), document.get("base")
    if (
        isinstance(base, bool)
        or not isinstance(base, int)
        or not 0 <= base <= count_events(session, annotation)
    ):
        raise InputError("base must be the number of edits that come before these")
    found = session.scalar(select(Version).where(Version.annotation_id == annotation.id, Version.key == key))
    if found is not None:
        return found
    if len(versions_of(session, annotation)) >= MOST_VERSIONS:
        raise Conflict(f"a map has at most {MOST_VERSIONS} other versions")
    edits = [{"key": one.key, "op": one.edit.op, "data": dict(one.edit.data)} for one in events]
    made = Version(annotation_id=annotation.id, key=key, base=base, edits=edits)
    session.add(made)
    session.flush()
    return made


def versions_of(session: Session, annotation: Annotation) -> Sequence[Version]:
    """Return the versions that were kept beside a map, oldest first."""
    return session.scalars(
        select(Version).where(Version.annotation_id == annotation.id).order_by(Version.id)
    ).all()


def submit(session: Session, annotation: Annotation, known: object) -> None:
    """Finish a map: it can be compared with others and is not changed any more.

    `known` is the number of edits the browser knows of; it must be all.
    """
    annotation = hold(session, Annotation, annotation.id)
    if known != count_events(session, annotation):
        raise InputError("the number of edits does not agree", remedy="load the page again")
    annotation.submitted = annotation.submitted or now()
    annotation.returned = None


def consensus_of(session: Session, image_id: int) -> Annotation | None:
    """Return the consensus map of an image, if there is one."""
    return session.scalar(
        select(Annotation)
        .join(Invitation, Invitation.id == Annotation.invitation_id)
        .where(Annotation.image_id == image_id, Invitation.is_consensus.is_(True), projects.is_begun())
    )


def reopen(session: Session, annotation: Annotation) -> None:
    """Let a person go on with a submitted map."""
    hold(session, Annotation, annotation.id).submitted = None


def labels_of(session: Session, image_id: int) -> list[Label]:
    """Return the submitted maps of an image in the order of the invitations, then the imported ones."""
    rows = session.execute(
        select(Annotation, Invitation.name)
        .join(Invitation, Invitation.id == Annotation.invitation_id)
        .where(
            Annotation.image_id == image_id,
            Annotation.submitted.is_not(None),
            Invitation.is_consensus.is_(False),
        )
        .order_by(Annotation.invitation_id)
    ).all()
    equal = Counter(name for _, name in rows)
    drawn = [
        Label(
            key=f"person-{annotation.invitation_id}",
            name=name if equal[name] == 1 else f"{name} (no. {annotation.invitation_id})",
            person=annotation.invitation_id,
            map=map_of(session, annotation),
        )
        for annotation, name in rows
    ]
    imported = [
        Label(
            key=f"imported-{row.id}",
            name=f"{row.name} (imported)",
            source=row.name,
            map=as_map(row.content),
        )
        for row in projects.label_maps(session, image_id)
    ]
    return [*drawn, *imported]


def scores_of(candidate: BoolArray, others: Sequence[Label]) -> list[Score]:
    """Match a map one to one with each of the others; the tolerance is 0.0075 of the diagonal."""
    from edgecritic.matching import match

    scores = []
    for other in others:
        found = match(candidate, other.map, relative_tolerance=0.0075)
        scores.append(
            Score(
                key=other.key,
                name=other.name,
                precision=found.precision,
                recall=found.recall,
                f=found.f(),
                pixels=int(other.map.sum()),
            )
        )
    return scores


def _ops(session: Session, annotation: Annotation) -> Sequence[str]:
    """Return what each edit does; their places are their numbers, because none is ever left out."""
    return session.scalars(
        select(Event.op).where(Event.annotation_id == annotation.id).order_by(Event.seq)
    ).all()


def _stored(
    session: Session, annotation: Annotation, events: Sequence[NewEvent]
) -> dict[int, tuple[str, Edit]]:
    places = [event.seq for event in events]
    rows = session.execute(
        select(Event.seq, Event.key, Event.op, Event.data).where(
            Event.annotation_id == annotation.id, Event.seq.between(min(places), max(places))
        )
    )
    return {row.seq: (row.key, Edit(row.op, row.data)) for row in rows}


def _parse(row: Any, shape: tuple[int, int]) -> NewEvent:
    if not isinstance(row, dict):
        raise InputError("an event must be an object")
    seq = row.get("seq")
    if isinstance(seq, bool) or not isinstance(seq, int) or not 0 <= seq < MOST_EVENTS:
        raise InputError(f"seq must be a whole number below {MOST_EVENTS}")
    edit = check_edit(row.get("op"), row.get("data"), shape)
    return NewEvent(seq, check_key(row.get("key")), edit, parse_time(row.get("at")))


def parse_time(milliseconds: Any) -> datetime | None:
    """Return the time of a browser's clock, given in milliseconds since 1970."""
    if milliseconds is None:
        return None
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int) or not 0 <= milliseconds < 10**14:
        raise InputError("a time must be given in milliseconds")
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
