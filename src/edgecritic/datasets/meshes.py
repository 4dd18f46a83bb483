"""Meshes in files: ``.obj``, ``.ply`` and ``.stl``, read in bounded memory.

Only positions and faces (or lines) are taken; normals, colours, textures and groups are stepped over.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import TEXT_LIMIT, reading
from edgecritic.datasets.content import Content, read_content
from edgecritic.errors import DataError
from edgecritic.maps.mesh import Mesh, as_mesh

__all__ = ["MESH_SUFFIXES", "is_mesh", "read_mesh"]

_DAMAGED = "the file is damaged, or truncated"
_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_LARGEST_FACE = 1024


def read_mesh(path: str | Path | Content) -> Mesh:
    r"""Return the mesh of a file.

    Parameters
    ----------
    path : path or Content
        Wavefront ``.obj`` (faces, or lines in a plane), Stanford ``.ply`` (text or binary, faces or edges) or
        ``.stl`` (text or binary).

    Raises
    ------
    DataError
        For another ending, a file of more than 64 MiB, and anything that is missing, left over or no mesh.

    Examples
    --------
    >>> data = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    >>> read_mesh(Content(Path("a.obj"), data))
    Mesh(vertices=<float64 3×3>, faces=<int64 1×3>)
    """
    file = path.path if isinstance(path, Content) else Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise DataError(f"is no mesh file, known are {', '.join(MESH_SUFFIXES)}", path=file)
    content = path if isinstance(path, Content) else read_content(file, limit=TEXT_LIMIT)
    with reading(file):
        mesh = reader(content.data)
        if len(mesh.faces) == 0:
            raise DataError("holds no faces and no lines", remedy="export the surface, not its points alone")
        return mesh


def is_mesh(path: str | Path) -> bool:
    """Tell by its name whether a file holds a mesh."""
    return Path(path).suffix.lower() in MESH_SUFFIXES


def _read_obj(data: bytes) -> Mesh:
    places: list[list[float]] = []
    faces: list[list[int]] = []
    lines: list[list[int]] = []
    for number, line in enumerate(_text(data).replace("\\\n", " ").splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words or words[0] not in ("v", "f", "l"):
            continue
        try:
            if words[0] == "v":
                x, y, z = (float(word) for word in words[1:4])
                places.append([x, y, z])
            else:
                corners = [_obj_index(word, len(places)) for word in words[1:]]
                if words[0] == "l":
                    lines += [corners[at : at + 2] for at in range(len(corners) - 1)]
                elif 3 <= len(corners) <= _LARGEST_FACE:
                    faces.append(corners)
                else:
                    raise ValueError
        except ValueError:
            raise DataError(f"line {number} cannot be read: {line[:60]!r}; {_DAMAGED}") from None
    if faces and lines:
        raise DataError("holds faces and lines", remedy="export one kind only")
    return as_mesh(np.array(places).reshape(-1, 3), faces or lines)


def _obj_index(word: str, count: int) -> int:
    """Return the vertex of ``7``, ``7/1``, ``7//3`` or ``-1``, counted from 0."""
    index = int(word.split("/", 1)[0])
    if index == 0:
        raise ValueError
    return index - 1 if index > 0 else count + index


def _read_stl(data: bytes) -> Mesh:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        rows = np.frombuffer(
            data, dtype=[("skip", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")], offset=84
        )
        corners = rows["corners"].reshape(-1, 3)
    elif data[:5].lower() == b"solid":
        corners = _stl_text(_text(data))
    else:
        raise DataError(f"holds {len(data)} bytes where {84 + 50 * count} are declared; {_DAMAGED}")
    return as_mesh(corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3))


def _stl_text(text: str) -> NDArray[np.float64]:
    words = text.split()
    ends = [at for at, word in enumerate(words) if word == "endfacet"]
    starts = [at for at, word in enumerate(words) if word == "facet"]
    if len(starts) != len(ends) or "endsolid" not in words[-64:]:
        raise DataError(f"has {len(starts)} facets, {len(ends)} of them ended; {_DAMAGED}")
    places = []
    for start, end in zip(starts, ends, strict=True):
        inner = words[start + 5 : end]  # facet normal x y z
        marks = [word.lower() for word in inner[:2] + inner[2::4] + inner[-1:]]
        if len(inner) != 15 or marks != ["outer", "loop", "vertex", "vertex", "vertex", "endloop", "endloop"]:
            raise DataError(f"has a facet that is no triangle; {_DAMAGED}")
        places += [[float(inner[at + step]) for step in (1, 2, 3)] for at in (2, 6, 10)]
    return np.array(places, dtype=np.float64).reshape(-1, 3)


class _Property(NamedTuple):
    name: str
    kind: str
    length: str | None  # type of the length of a list


class _Element(NamedTuple):
    name: str
    size: int
    properties: list[_Property]


def _read_ply(data: bytes) -> Mesh:
    end = data.find(b"end_header")
    if data[:3] != b"ply" or end < 0 or end > 2**16:
        raise DataError(f"has no header of a .ply file; {_DAMAGED}")
    order, elements = _ply_header(data[:end].decode("ascii"))
    start = data.index(b"\n", end) + 1 if b"\n" in data[end:] else len(data)
    body = data[start:]
    values = _ply_text(body, elements) if order == "" else _ply_binary(body, elements, order)
    corners = values.get("vertex", {})
    if not {"x", "y", "z"} <= set(corners):
        raise DataError("has no vertices with x, y and z")
    places = np.stack([np.asarray(corners[axis], dtype=np.float64) for axis in "xyz"], axis=1)
    faces = values.get("face", {})
    found: Any = faces.get("vertex_indices", faces.get("vertex_index"))
    edges = values.get("edge", {})
    if (found is None or len(found) == 0) and {"vertex1", "vertex2"} <= set(edges):
        found = np.stack([np.asarray(edges[end]).astype(np.int64) for end in ("vertex1", "vertex2")], axis=1)
    return as_mesh(places, [] if found is None else found)


def _ply_header(text: str) -> tuple[str, list[_Element]]:
    orders = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
    order, elements = None, []
    for line in text.splitlines()[1:]:
        words = line.split()
        match words:
            case ["format", word, _] if word in orders:
                order = orders[word]
            case ["element", name, size] if size.isdecimal() and int(size) < 2**31:
                elements.append(_Element(name, int(size), []))
            case ["property", "list", count, kind, name] if elements and {count, kind} <= set(_TYPES):
                elements[-1].properties.append(_Property(name, _TYPES[kind], _TYPES[count]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind], None))
            case [] | ["comment", *_] | ["obj_info", *_]:
                pass
            case _:
                raise DataError(f"has a header with a line that is not known: {line[:60]!r}")
    if order is None:
        raise DataError("has a header that does not tell whether it is text or binary")
    if any(not element.properties for element in elements if element.size):
        raise DataError("declares an element without properties")
    return order, elements


def _ply_text(body: bytes, elements: list[_Element]) -> dict[str, dict[str, Any]]:
    words = iter(_text(body).split())
    found = {element.name: _ply_rows(element, lambda _: next(words)) for element in elements}
    if next(words, None) is not None:
        raise DataError("holds more numbers than its header declares")
    return found


def _ply_binary(body: bytes, elements: list[_Element], order: str) -> dict[str, dict[str, Any]]:
    found, at = {}, 0
    for element in elements:
        columns, size = _ply_columns(body, element, order, at)
        found[element.name] = columns
        at += size
    if at != len(body):
        raise DataError(f"holds {len(body) - at} bytes more than its header declares")
    return found


def _ply_columns(body: bytes, element: _Element, order: str, at: int) -> tuple[dict[str, Any], int]:
    """Return the columns of an element and how many bytes they take; lists of one length are read at once."""
    fields: list[Any] = []
    place = at
    for each in element.properties:
        if each.length is not None:
            first = (
                np.frombuffer(body[place : place + 8], dtype=order + each.length, count=1)[0]
                if element.size
                else 0
            )
            length = int(first) if 0 <= first <= _LARGEST_FACE else 0
            fields += [(f"#{each.name}", order + each.length), (each.name, order + each.kind, (length,))]
        else:
            fields.append((each.name, order + each.kind))
        place = at + np.dtype(fields).itemsize
    row = np.dtype(fields)
    if at + row.itemsize * element.size <= len(body):
        rows = np.frombuffer(body, dtype=row, count=element.size, offset=at)
        lists = [each.name for each in element.properties if each.length is not None]
        if all((rows[f"#{name}"] == rows.dtype[name].shape[0]).all() for name in lists):
            return {each.name: rows[each.name] for each in element.properties}, row.itemsize * element.size
    return _ply_uneven(body, element, order, at)


def _ply_uneven(body: bytes, element: _Element, order: str, at: int) -> tuple[dict[str, Any], int]:
    place = at

    def take(kind: str) -> Any:
        nonlocal place
        dtype = np.dtype(order + kind)
        if place + dtype.itemsize > len(body):
            raise StopIteration
        place += dtype.itemsize
        return np.frombuffer(body, dtype=dtype, count=1, offset=place - dtype.itemsize)[0]

    return _ply_rows(element, take), place - at


def _ply_rows(element: _Element, take: Callable[[str], Any]) -> dict[str, list[Any]]:
    """Read an element number by number."""
    columns: dict[str, list[Any]] = {each.name: [] for each in element.properties}
    try:
        for _ in range(element.size):
            for each in element.properties:
                columns[each.name].append(_ply_number(each, take))
    except StopIteration:
        raise DataError(f"ends within its {element.size} × {element.name}; the file is truncated") from None
    return columns


def _ply_number(each: _Property, take: Callable[[str], Any]) -> Any:
    convert = float if each.kind[0] == "f" else int
    if each.length is None:
        return convert(take(each.kind))
    length = int(take(each.length))
    if not 0 <= length <= _LARGEST_FACE:
        raise DataError(f"has a face of {length} corners; {_DAMAGED}")
    return [convert(take(each.kind)) for _ in range(length)]


def _text(data: bytes) -> str:
    if len(data) > TEXT_LIMIT:
        raise DataError(f"is {len(data)} bytes of text, more than the allowed {TEXT_LIMIT}")
    return data.decode("utf-8-sig", errors="replace")


_READERS: dict[str, Callable[[bytes], Mesh]] = {".obj": _read_obj, ".ply": _read_ply, ".stl": _read_stl}
MESH_SUFFIXES = tuple(_READERS)
