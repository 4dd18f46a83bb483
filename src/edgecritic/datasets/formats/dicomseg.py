"""DICOM segmentations (`.dcm`): the segments of one object as a volume of labels, by the extra `medical`.

Frames are put in order by their positions along the normal of the planes. The array is (plane, row, column),
its values are the numbers of segments. Planes without any segment are often left out of such files.
"""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_size, quiet
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError, needs_extra
from edgecritic.geometry import SAME, Geometry

__all__ = ["dicom_geometry", "load_dicom"]

_CLASSES = {"1.2.840.10008.5.1.4.1.1.66.4": "BINARY", "1.2.840.10008.5.1.4.1.1.66.7": "LABELMAP"}
_PLAIN = ("1.2.840.10008.1.2", "1.2.840.10008.1.2.1")
_LONG = (b"OB", b"OW", b"SQ", b"UN", b"UT")


class _Frames(NamedTuple):
    planes: list[int]
    segments: list[int]
    shape: tuple[int, int, int]
    geometry: Geometry


def load_dicom(data: bytes) -> NDArray[Any]:
    """Return the segments as labels."""
    dataset = _dataset(data)
    return _labels(dataset, _frames(dataset))


def dicom_geometry(data: bytes, verify: bool) -> Geometry:
    """Return where the voxels lie; there is nothing to verify."""
    del verify
    return _frames(_dataset(data)).geometry


@file_format(
    "dicomseg",
    suffixes=(".dcm",),
    summary="the segments of a DICOM segmentation as labels, with the place of voxels (extra medical)",
    checksums="none; that nothing is missing or left over",
    geometry=dicom_geometry,
)
def _voxels(data: bytes, _: str | None) -> NDArray[Any]:
    return load_dicom(data)


def _dataset(data: bytes) -> Any:
    if data[128:132] != b"DICM":
        raise DataError("is no DICOM file: its preamble is missing")
    syntax = _syntax(data)
    if syntax not in _PLAIN:  # before anything is unpacked
        raise DataError(
            f"packs its frames ({syntax[:64] or 'unknown'})", remedy="save it without compression"
        )
    with needs_extra("reading DICOM segmentations", "medical"):
        import pydicom
    with quiet():
        dataset = pydicom.dcmread(io.BytesIO(data))
    kind = _CLASSES.get(str(dataset.get("SOPClassUID", "")))
    if kind is None:
        raise DataError("is a DICOM file but no segmentation", remedy="give the segmentation, not the scan")
    told = str(dataset.get("SegmentationType", kind))
    if told != kind:
        raise DataError(
            f"holds a {told.lower()} segmentation", remedy="save it as a binary one or a label map"
        )
    return dataset


def _syntax(data: bytes) -> str:
    """Return how the file is packed: element (0002,0010) of the file's meta information."""
    place = 132
    while data[place : place + 2] == b"\2\0" and len(data) >= place + 12:
        (element,) = struct.unpack_from("<H", data, place + 2)
        if data[place + 4 : place + 6] in _LONG:
            (length,) = struct.unpack_from("<I", data, place + 8)
            start = place + 12
        else:
            (length,) = struct.unpack_from("<H", data, place + 6)
            start = place + 8
        if element == 0x10:
            return data[start : start + min(length, 64)].rstrip(b"\0 ").decode("ascii", "replace")
        place = start + length
    return ""


def _frames(dataset: Any) -> _Frames:
    groups = list(dataset.PerFrameFunctionalGroupsSequence)
    shared = dataset.SharedFunctionalGroupsSequence[0]
    rows, columns = int(dataset.Rows), int(dataset.Columns)
    check_size((len(groups), rows, columns), 3)
    if not groups or int(dataset.NumberOfFrames) != len(groups):
        raise DataError("tells the places of another number of frames than it holds; the file is damaged")
    turned = {
        tuple(map(float, _of(one, shared, "PlaneOrientation").ImageOrientationPatient)) for one in groups
    }
    if len(turned) != 1:
        raise DataError("its planes are not parallel", remedy="save one file per stack of planes")
    across, down = np.reshape(turned.pop(), (2, 3))
    normal = np.cross(across, down)
    measures = _of(groups[0], shared, "PixelMeasures")
    between, along = (float(size) for size in measures.PixelSpacing)
    places = np.array(
        [list(map(float, _of(one, shared, "PlanePosition").ImagePositionPatient)) for one in groups]
    )
    heights = places @ normal
    step = _step(heights, measures)
    planes = np.rint((heights - heights.min()) / step)
    origin = places[int(heights.argmin())]
    off = places - origin - np.outer(planes * step, normal)
    if not np.isfinite(places).all() or np.abs(off).max() > SAME * min(step, between, along):
        raise DataError("its planes do not lie on one grid", remedy="resample it before it is judged")
    shape = (int(planes.max()) + 1, rows, columns)
    check_size(shape, 5)
    directions = np.stack([normal * step, down * between, across * along], axis=1)
    numbers = [_number(one, shared) for one in groups]
    geometry = Geometry.of_lps(directions, origin, shape)
    return _Frames([int(plane) for plane in planes], numbers, shape, geometry)


def _of(frame: Any, shared: Any, name: str) -> Any:
    """Return the item of a functional group, of the frame or of all frames."""
    for group in (frame, shared):
        found = group.get(f"{name}Sequence")
        if found:
            return found[0]
    raise DataError(f"does not tell the {name} of its frames", remedy="save it with the place of every frame")


def _number(frame: Any, shared: Any) -> int:
    if not (frame.get("SegmentIdentificationSequence") or shared.get("SegmentIdentificationSequence")):
        return 0  # of a label map
    return int(_of(frame, shared, "SegmentIdentification").ReferencedSegmentNumber)


def _step(heights: NDArray[np.float64], measures: Any) -> float:
    """Return the distance of planes: what is told, else the smallest that there is."""
    gaps = np.diff(np.unique(np.round(heights, 4)))
    told = measures.get("SpacingBetweenSlices") or (None if gaps.size else measures.get("SliceThickness"))
    step = float(told) if told is not None else float(gaps.min()) if gaps.size else 1.0
    if not 1e-3 < step < 1e4:
        raise DataError(f"declares planes {step:g} mm apart; the file is damaged")
    return step


def _labels(dataset: Any, frames: _Frames) -> NDArray[Any]:
    count = len(frames.planes)
    _, rows, columns = frames.shape
    bits = int(dataset.BitsAllocated)
    size = count * rows * columns
    stored = bytes(dataset.PixelData)
    needed = -(-size * bits // 8)
    if bits not in (1, 8, 16) or not needed <= len(stored) <= needed + 1:
        raise DataError(f"holds {len(stored)} bytes of frames where {needed} were expected; it is damaged")
    if bits == 1:
        values = np.unpackbits(np.frombuffer(stored, np.uint8), count=size, bitorder="little")
    else:
        values = np.frombuffer(stored, f"<u{bits // 8}", size)
    labels = np.zeros(frames.shape, np.uint8 if max(frames.segments) < 256 and bits < 16 else np.uint16)
    for plane, number, frame in zip(
        frames.planes, frames.segments, values.reshape(count, rows, columns), strict=True
    ):
        target = labels[plane]
        new = frame != 0
        if (target[new] != 0).any():
            told = "its segments overlap, which labels cannot tell"
            raise DataError(told, remedy="save segments that do not, or one file per segment")
        target[new] = number if number else frame[new]
    return labels
