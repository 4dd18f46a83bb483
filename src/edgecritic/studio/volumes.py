"""Volumes, slice by slice: a NIfTI file becomes images, and their maps become a volume again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from edgecritic.datasets.files import read_geometry
from edgecritic.datasets.formats.nifti import nifti_bytes
from edgecritic.errors import InputError
from edgecritic.geometry import Geometry
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects
from edgecritic.studio.database import hold
from edgecritic.studio.fresh import remember_ids
from edgecritic.studio.models import Annotation, Image, Project, Slice, Trial, Volume
from edgecritic.studio.pictures import Upload, as_photo, make_upload, read_content, stored_content
from edgecritic.studio.problems import Conflict, NotFound

__all__ = [
    "VolumeUpload",
    "add_volume",
    "delete_volume",
    "is_volume",
    "map_before",
    "read_slices",
    "slice_of",
    "volume_bytes",
    "volumes_of",
]

MOST_SLICES = 1000
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class VolumeUpload:
    """A volume ready to be stored: where its voxels lie, and its slices along the third axis."""

    geometry: Geometry
    slices: tuple[Upload, ...]


def is_volume(content: bytes) -> bool:
    r"""Tell whether the content is that of a NIfTI file, packed or not.

    Examples
    --------
    >>> is_volume(bytes(344) + b"n+1\x00"), is_volume(b"P5 1 1 255 x")
    (True, False)
    """
    return content.startswith(_GZIP) or content[344:348] == b"n+1\0" or content[4:8] == b"n+2\0"


def read_slices(content: bytes, most_voxels: int) -> VolumeUpload:
    """Check a volume of a stranger and make of each slice what is stored of an image.

    Voxels that have neither 8 nor 16 bits are scaled from the least to the largest of the whole volume, so
    that one window fits all slices. A slice shows the first axis from left to right and the second from
    bottom to top: R to the right and A upwards if the axes are RAS.
    """
    suffix = ".nii.gz" if content.startswith(_GZIP) else ".nii"
    with stored_content(content, suffix) as path:
        geometry = read_geometry(path, verify=False)
    if geometry is None:
        raise InputError("tells nothing of its voxels")
    shape = tuple(geometry.shape[:3])
    if len(geometry.shape) < 3 or any(side != 1 for side in geometry.shape[3:]):
        size = "×".join(map(str, geometry.shape))
        raise InputError(f"has {size} voxels; a volume of three axes was expected")
    if np.prod(shape, dtype=np.int64) > most_voxels or shape[2] > MOST_SLICES:
        raise InputError(
            f"has {'×'.join(map(str, shape))} voxels; "
            f"at most {most_voxels:,} in {MOST_SLICES:,} slices are taken"
        )
    values = read_content(content, suffix, "read_array")[0].reshape(shape)
    shown = as_photo(values.reshape(shape[0], -1)).reshape(shape)
    planes = (np.ascontiguousarray(shown[:, :, place].T[::-1]) for place in range(shape[2]))
    return VolumeUpload(geometry, tuple(make_upload(plane) for plane in planes))


def add_volume(
    session: Session, project_id: int, name: str, upload: VolumeUpload
) -> tuple[Volume, list[Image]]:
    """Store a volume; its slices become images, with the number of the slice behind the name."""
    hold(session, Project, project_id)
    stem = projects.stem_of(name)[:100].strip()
    if session.scalar(select(Volume.id).where(Volume.project_id == project_id, Volume.name == stem)):
        raise Conflict(f"the project has a volume {stem!r} already; rename the file")
    geometry = upload.geometry
    told = {
        "affine": geometry.affine.tolist(),
        "shape": list(geometry.shape[:3]),
        "placed": geometry.placed,
    }
    volume = Volume(project_id=project_id, name=stem, geometry=told)
    session.add(volume)
    session.flush()
    digits, images = len(str(len(upload.slices))), []
    for place, one in enumerate(upload.slices):
        image = projects.add_image(session, project_id, f"{stem} {place + 1:0{digits}d}.png", one)
        session.add(Slice(image_id=image.id, volume_id=volume.id, place=place))
        images.append(image)
    session.flush()
    return volume, images


def volumes_of(session: Session, project_id: int) -> Sequence[Volume]:
    """Return the volumes of a project by name."""
    return session.scalars(select(Volume).where(Volume.project_id == project_id).order_by(Volume.name)).all()


def slice_of(session: Session, image_id: int) -> Slice | None:
    """Return which slice of which volume an image is, if it is one."""
    return session.get(Slice, image_id)


def delete_volume(session: Session, project_id: int, volume_id: int) -> None:
    """Delete a volume with its slices and all work on them; one that an experiment shows stays."""
    hold(session, Project, project_id)
    volume = session.get(Volume, volume_id)
    if volume is None or volume.project_id != project_id:
        raise NotFound("there is no such volume")
    images = select(Slice.image_id).where(Slice.volume_id == volume_id)
    if session.scalar(select(Trial.id).where(Trial.image_id.in_(images)).limit(1)):
        raise Conflict("an experiment shows a slice of this volume, therefore it cannot be deleted")
    remember_ids(session)
    session.execute(delete(Image).where(Image.id.in_(images)))
    session.execute(delete(Volume).where(Volume.id == volume_id))


def map_before(session: Session, annotation: Annotation) -> BoolArray:
    """Return the person's map of the slice before, or of the one after if only that was begun."""
    here = slice_of(session, annotation.image_id)
    if here is None:
        raise NotFound("this image is no slice of a volume")
    for place in (here.place - 1, here.place + 1):
        found = session.scalar(
            select(Annotation)
            .join(Slice, Slice.image_id == Annotation.image_id)
            .where(
                Slice.volume_id == here.volume_id,
                Slice.place == place,
                Annotation.invitation_id == annotation.invitation_id,
                projects.is_begun(),
            )
        )
        if found is not None:
            return labelling.map_of(session, found)
    raise Conflict("you have begun neither the slice before nor the one after")


def volume_bytes(session: Session, volume: Volume, person: int) -> bytes | None:
    """Return the submitted maps of a person as packed NIfTI, 0 where there is none; None without any."""
    rows = session.execute(
        select(Slice.place, Annotation)
        .join(Annotation, Annotation.image_id == Slice.image_id)
        .where(
            Slice.volume_id == volume.id,
            Annotation.invitation_id == person,
            Annotation.submitted.is_not(None),
        )
    ).all()
    if not rows:
        return None
    told: dict[str, Any] = volume.geometry
    values: NDArray[np.uint8] = np.zeros(told["shape"], dtype=np.uint8)
    for place, annotation in rows:
        values[:, :, place] = labelling.map_of(session, annotation)[::-1].T
    return nifti_bytes(values, Geometry.of(told["affine"], told["shape"], placed=told["placed"]))
