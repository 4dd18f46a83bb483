"""Maps as files: what other programs, and ``edgecritic bench --truth``, read."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from edgecritic.datasets.write import UndatedZip, bsds_mat_bytes
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects
from edgecritic.studio.models import Annotation, Invitation
from edgecritic.studio.pictures import encode_png

__all__ = ["MEDIA_TYPES", "encode_map", "project_zip"]

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
        stream = io.BytesIO()
        np.save(stream, maps[0], allow_pickle=False)
        return stream.getvalue()
    if kind == "mat":
        return bsds_mat_bytes(maps)
    raise InputError(f"a map is written as {', '.join(MEDIA_TYPES)}")


def project_zip(session: Session, project_id: int, path: Path) -> int:
    """Write a project into a zip file; return the number of images with labels.

    ``images/NAME.png``, ``truth/NAME.mat`` (BSDS form, submitted and imported labels), one folder of
    ``.png`` per annotator below ``annotators``, detectors below ``predictions``, all edits below ``events``.
    """
    labelled = 0
    with UndatedZip(path, "w") as archive:
        taken: set[str] = set()
        for image in projects.images_of(session, project_id):
            name = _unused(projects.file_name(image.name), taken)
            archive.writestr(f"images/{name}.png", projects.file_of(session, image.id, "photo").content)
            maps = {
                **labelling.submitted_maps(session, image.id),
                **{f"{key} (imported)": one for key, one in projects.label_maps(session, image.id).items()},
            }
            if maps:
                labelled += 1
                archive.writestr(f"truth/{name}.mat", encode_map(list(maps.values()), "mat"))
            people: set[str] = set()
            for person, one in maps.items():
                folder = _unused(projects.file_name(person), people)
                archive.writestr(f"annotators/{folder}/{name}.png", encode_png(one))
            detectors: set[str] = set()
            for detector, strength in projects.detector_maps(session, image.id).items():
                folder = _unused(projects.file_name(detector), detectors)
                archive.writestr(f"predictions/{folder}/{name}.png", encode_png(np.rint(255 * strength)))
            for row in _event_files(session, image.id):
                archive.writestr(f"events/{name}/{row['file']}.json", json.dumps(row["document"]))
        archive.writestr("README.txt", _README)
    return labelled


def _unused(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, not even by one that differs only in case."""
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name}~{number}", number + 1
    taken.add(free.casefold())
    return free


def _event_files(session: Session, image_id: int) -> list[dict[str, Any]]:
    rows = session.execute(
        select(Annotation, Invitation.name)
        .join(Invitation, Invitation.id == Annotation.invitation_id)
        .where(Annotation.image_id == image_id)
        .order_by(Annotation.id)
    )
    return [
        {
            "file": f"{annotation.id}-{projects.file_name(name)}",
            "document": {
                "annotator": name,
                "submitted": annotation.submitted.isoformat() if annotation.submitted else None,
                "events": labelling.event_rows(session, annotation),
            },
        }
        for annotation, name in rows
    ]


_README = """\
images/       the photos
truth/        labels in the BSDS form: edgecritic bench PREDICTIONS --truth truth
annotators/   the same labels, one folder of PNG files per person
predictions/  strength maps of detectors
events/       every edit; the map is what they make of the proposal, one after the other
"""
