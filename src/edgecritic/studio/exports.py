"""Maps as files: what other programs, and ``edgecritic bench --truth``, read."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from edgecritic.annotators.answers import exact_csv
from edgecritic.datasets.write import UndatedZip, bsds_mat_bytes
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects, reviews, volumes
from edgecritic.studio.models import Annotation, Image, LabelMap
from edgecritic.studio.pictures import deep_values, encode_png

__all__ = ["MEDIA_TYPES", "encode_map", "photo_png", "project_zip", "send_zip", "unused"]

MEDIA_TYPES = {
    "png": "image/png",
    "npy": "application/octet-stream",
    "mat": "application/octet-stream",
}


def encode_map(maps: Sequence[BoolArray], kind: str) -> bytes:
    """Return one map as ``png`` or ``npy``, or those of all annotators as a BSDS ``mat``."""
    if kind == "png":
        return encode_png(maps[0])
    if kind == "npy":
        return _npy(maps[0])
    if kind == "mat":
        return bsds_mat_bytes(maps)
    raise InputError(f"a map is written as {', '.join(MEDIA_TYPES)}")


def _npy(values: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()


def _protocol(classes: Sequence[str]) -> str:
    """Return a protocol of the benchmark that judges these classes by maps as they were drawn."""
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name in classes)
    return f'id = "classes"\nrelative_tolerance = 0.0075\n[classes]\nnames = [{names}]\ntruth = "stored"\n'


def _painted(session: Session, image_id: int) -> Iterator[tuple[int, Annotation]]:
    """Yield the submitted maps of people with their ids."""
    for annotation in _work(session, image_id):
        if annotation.submitted is not None:
            yield annotation.invitation_id, annotation


def project_zip(session: Session, project_id: int, path: Path) -> int:
    """Write a project into a zip file; return the number of images with labels.

    ``images/NAME.png``, ``truth/NAME.mat`` (BSDS form, submitted and imported labels), one folder of
    ``.png`` per annotator below ``annotators``, finished consensus maps below ``consensus``, detectors below
    ``predictions``, classes below ``classes``, volumes below ``volumes``, all edits below ``events``.
    A folder of a person begins with the person's id; ``annotators.csv`` says who is in which.
    """
    labelled = 0
    images = projects.images_of(session, project_id)
    folders = _Folders(session, project_id)
    classes = projects.get_project(session, project_id).classes
    taken: set[str] = set()
    with UndatedZip(path, "w") as archive:
        add = archive.writestr
        for image in images:
            name = unused(projects.file_name(image.name), taken)
            add(f"images/{name}.png", photo_png(session, image.id))
            labels = labelling.labels_of(session, image.id)
            if labels:
                labelled += 1
                add(f"truth/{name}.mat", encode_map([label.map for label in labels], "mat"))
            for label in labels:
                person = label.person
                folder = folders.imported[label.source] if person is None else folders.people[person]
                add(f"annotators/{folder}/{name}.png", encode_png(label.map))
            agreed = labelling.consensus_of(session, image.id)
            if agreed is not None and agreed.submitted is not None:
                add(f"consensus/{name}.png", encode_png(labelling.map_of(session, agreed)))
            for person, annotation in _painted(session, image.id) if classes else ():
                values = labelling.layers_of(session, annotation, len(classes))
                add(f"classes/{folders.people[person]}/{name}.npy", _npy(values))
            for detector, strength in projects.detector_maps(session, image.id).items():
                folder = folders.detectors[detector]
                add(f"predictions/{folder}/{name}.png", encode_png(np.rint(255 * strength)))
            for annotation in _work(session, image.id):
                mine = annotation.invitation_id
                submitted = annotation.submitted.isoformat() if annotation.submitted else None
                document = {
                    "annotator": mine,
                    "name": folders.names[mine],
                    "submitted": submitted,
                    "level": image.level,
                    "versions": [
                        {"base": one.base, "created": one.created.isoformat(), "events": one.edits}
                        for one in labelling.versions_of(session, annotation)
                    ],
                    "comments": [
                        {"x": one.x, "y": one.y, "text": one.text, "done": one.done is not None}
                        for one in reviews.comments_of(session, annotation.id)
                    ],
                }
                file = f"events/{name}/{folders.people[mine]}.json"
                archive.write_parts(file, _document(document, _events(session, annotation)))
        for volume in volumes.volumes_of(session, project_id):
            for person, folder in folders.people.items():
                content = volumes.volume_bytes(session, volume, person)
                if content is not None:
                    add(f"volumes/{folder}/{projects.file_name(volume.name)}.nii.gz", content)
        if classes:
            add("classes/protocol.toml", _protocol(classes))
        add("annotators.csv", folders.table())
        add("README.txt", _README)
    return labelled


def send_zip(write: Callable[[Path], object], name: str) -> Response:
    """Send a zip file that is written for this request, and deleted afterwards."""
    with tempfile.NamedTemporaryFile(prefix="edgecritic-", suffix=".zip", delete=False) as file:
        path = Path(file.name)
    try:
        write(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    plain = projects.file_name(name).encode("ascii", "replace").decode().replace("?", "_")
    return FileResponse(
        path,
        media_type="application/zip",
        filename=f"{plain}.zip",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


class _Folders:
    """The folders of a project's people, imported labels and detectors, the same for every image."""

    def __init__(self, session: Session, project_id: int) -> None:
        people = projects.people_of(session, project_id=project_id)
        self.names = {one.id: one.name for one in people}
        self.people = {one.id: f"{one.id}-{projects.file_name(one.name)}" for one in people}
        rows = session.execute(
            select(LabelMap.kind, LabelMap.name)
            .join(Image, Image.id == LabelMap.image_id)
            .where(Image.project_id == project_id)
            .distinct()
            .order_by(LabelMap.kind, LabelMap.name)
        ).all()
        labels, detectors = ([row.name for row in rows if row.kind == kind] for kind in ("label", "detector"))
        taken: set[str] = set()
        self.imported = {name: unused(f"imported-{projects.file_name(name)}", taken) for name in labels}
        taken = set()
        self.detectors = {name: unused(projects.file_name(name), taken) for name in detectors}

    def table(self) -> str:
        """Return who has drawn what is in a folder of annotators, as CSV."""
        drawn = [(folder, person, self.names[person]) for person, folder in self.people.items()]
        return exact_csv(
            ("folder", "annotator", "name"),
            [*drawn, *((folder, "", name) for name, folder in self.imported.items())],
        )


def photo_png(session: Session, image_id: int) -> bytes:
    """Return the photo as PNG, with 16 bits if it has so many."""
    if not projects.has_file(session, image_id, "deep"):
        return projects.file_of(session, image_id, "photo").content
    from PIL import Image as Picture

    stream = io.BytesIO()
    values = deep_values(projects.file_of(session, image_id, "deep").content)
    Picture.fromarray(values).save(stream, "PNG")
    return stream.getvalue()


def unused(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, not even by one that differs only in case."""
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name}~{number}", number + 1
    taken.add(free.casefold())
    return free


def _events(session: Session, annotation: Annotation) -> Iterator[str]:
    """Yield all edits, each as JSON; they are read page by page."""
    start = 0
    while page := labelling.event_page(session, annotation, start):
        yield from page
        start += len(page)


def _document(head: dict[str, Any], events: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a JSON document that ends with a list of events."""
    yield json.dumps(head)[:-1] + ', "events": ['
    for number, event in enumerate(events):
        yield f", {event}" if number else event
    yield "]}"


def _work(session: Session, image_id: int) -> Sequence[Annotation]:
    query = select(Annotation).where(Annotation.image_id == image_id).order_by(Annotation.invitation_id)
    return session.scalars(query).all()


_README = """\
images/         the photos
truth/          labels in the BSDS form: edgecritic bench PREDICTIONS --truth truth
annotators/     the same labels, one folder of PNG files per person, which begins with the person's id
annotators.csv  the folders with id and name; ids tell people of one name apart
consensus/      maps that were built from those of several people and finished by the owner
classes/        of submitted maps the edges of each class, (classes, rows, columns), one folder per person:
                edgecritic bench PREDICTIONS --truth classes/PERSON --protocol classes/protocol.toml
predictions/    strength maps of detectors
volumes/        submitted maps of the slices of volumes, one folder of NIfTI files per person
events/         every edit; the map is what they make of the proposal, one after the other
"""
