"""Mesh files: what is read of each kind, written here by hand, and what is refused."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.content import Content
from edgecritic.datasets.meshes import MESH_SUFFIXES, is_mesh, read_mesh
from edgecritic.errors import DataError, InputError

PLACES = np.array([[0, 0, 0], [1, 0, 0], [0, 2.5, 0], [0, 0, -3]])
FACES = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])


def read(name, data):
    return read_mesh(Content(Path(name), data if isinstance(data, bytes) else data.encode()))


def obj(places=PLACES, faces=FACES):
    return "".join(
        [
            "# a tetrahedron\nmtllib none.mtl\no one\n",
            *(f"v {x} {y} {z} 1 0 0\n" for x, y, z in places),
            "vn 0 0 1\nvt 0 0\ns off\n",
            *(f"f {a + 1}/1 {b + 1}//1 {c + 1}/1/1\n" for a, b, c in faces),
        ]
    )


def ply(order, lists="uchar int", extra=False, vertex="float"):
    head = [
        "ply",
        f"format {order} 1.0",
        "comment made by hand",
        f"element vertex {len(PLACES)}",
        *(f"property {vertex} {axis}" for axis in "xyz"),
        *(["property uchar red"] if extra else []),
        f"element face {len(FACES)}",
        f"property list {lists} vertex_indices",
        "end_header",
    ]
    text = "\n".join(head) + "\n"
    red = [" 7"] if extra else [""]
    if order == "ascii":
        rows = [" ".join(map(str, place)) + red[0] for place in PLACES]
        return (text + "\n".join(rows + ["3 " + " ".join(map(str, face)) for face in FACES]) + "\n").encode()
    sign = "<" if "little" in order else ">"
    body = b"".join(
        struct.pack(
            f"{sign}3{'f' if vertex == 'float' else 'd'}{'B' if extra else ''}",
            *place,
            *([7] if extra else []),
        )
        for place in PLACES
    )
    return text.encode() + body + b"".join(struct.pack(f"{sign}B3i", 3, *face) for face in FACES)


def stl(binary=True):
    corners = PLACES[FACES]
    if binary:
        rows = b"".join(struct.pack("<12fH", 0, 0, 1, *each.ravel(), 0) for each in corners)
        return b"solid is what many binary files say".ljust(80) + struct.pack("<I", len(corners)) + rows
    facets = "".join(
        "facet normal 0 0 1\n outer loop\n"
        + "".join(f"  vertex {x} {y} {z}\n" for x, y, z in each)
        + " endloop\nendfacet\n"
        for each in corners
    )
    return f"solid name\n{facets}endsolid name\n".encode()


GOOD = {
    "a.obj": obj(),
    "crlf.obj": obj().replace("\n", "\r\n"),
    "b.ply": ply("ascii"),
    "c.PLY": ply("binary_little_endian"),
    "d.ply": ply("binary_big_endian", extra=True, vertex="double"),
    "e.stl": stl(),
    "f.stl": stl(binary=False),
}


@pytest.mark.parametrize("name", GOOD)
def test_all_kinds_hold_the_same_triangles(name):
    mesh = read(name, GOOD[name])
    np.testing.assert_allclose(mesh.vertices[mesh.faces], PLACES[FACES])
    assert is_mesh(name)


def test_other_faces_and_counts_from_the_end():
    mesh = read("a.obj", "v 0 0 0\nv 0 1 0\nv 0 1 1\nv 0 0 1\nf -4 -3 -2 \\\n -1\n")
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    uneven = ply("ascii").replace(b"3 1 2 3", b"4 1 2 3 0")
    assert len(read("a.ply", uneven).faces) == 5
    packed = ply("binary_little_endian")
    row = struct.pack("<B3i", 3, *FACES[-1])
    assert len(read("a.ply", packed.replace(row, struct.pack("<B4i", 4, 1, 2, 3, 0))).faces) == 5


def test_lines_of_a_plane():
    mesh = read("a.obj", "v 0 0 5\nv 0 1 5\nv 2 1 5\nl 1 2 3 1\n")
    assert mesh.ndim == 2
    assert mesh.faces.tolist() == [[0, 1], [1, 2], [2, 0]]
    edges = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
    edges += "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0\n3 4 0\n0 1\n"
    assert read("a.ply", edges).faces.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.obj", "v 0 0 0\n"),
        ("a.obj", ""),
        ("a.obj", "v 0 0\nf 1 1 1\n"),
        ("a.obj", "v 0 0 0\nf 1 1\n"),
        ("a.obj", "v 0 0 0\nf 0 1 1\n"),
        ("a.obj", "v 0 0 0\nf 1 1 2\n"),
        ("a.obj", "v 0 0 0\nf -2 1 1\n"),
        ("a.obj", "v 0 0 nan\nf 1 1 1\n"),
        ("a.obj", "v 0 0 1e999\nf 1 1 1\n"),
        ("a.obj", "v 0 0 0\nf 1 1 99999999999999999999999\n"),
        ("a.obj", "v 0 0 0\nf 1 1 1\nl 1 1\n"),
        ("a.obj", "v 0 0 0\nv 0 0 1\nl 1 2\n"),
        ("a.obj", b"\x00\xff" * 50),
        ("a.ply", b"ply\n"),
        ("a.ply", ply("ascii")[:-9]),
        ("a.ply", ply("ascii") + b"7\n"),
        ("a.ply", ply("ascii").replace(b"3 1 2 3", b"3 1 2 x")),
        ("a.ply", ply("ascii").replace(b"3 1 2 3", b"3 1 2 4")),
        ("a.ply", ply("ascii").replace(b"3 1 2 3", b"-1 1 2 3")),
        ("a.ply", ply("ascii").replace(b"element vertex 4", b"element vertex 2000000000")),
        ("a.ply", ply("binary_little_endian").replace(b"element face 4", b"element face 2000000000")),
        ("a.ply", ply("binary_little_endian").replace(b"element face 4", b"element face 99999999999999999")),
        ("a.ply", ply("binary_little_endian")[:-1]),
        ("a.ply", ply("binary_little_endian") + b"\x00"),
        ("a.ply", ply("ascii").replace(b"property list uchar int", b"property list uchar text")),
        ("a.ply", ply("ascii").replace(b"format ascii 1.0", b"format text 1.0")),
        ("a.ply", ply("ascii").replace(b"float z", b"float w")),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 2\nelement face 1\nend_header\n"),
        ("a.stl", stl()[:-1]),
        ("a.stl", stl() + b"\x00"),
        ("a.stl", b""),
        ("a.stl", stl(binary=False)[:-40]),
        ("a.stl", stl(binary=False).replace(b"vertex", b"vertx", 1)),
        ("a.stl", b"solid\nendsolid\n"),
        ("a.off", b"OFF"),
    ],
)
def test_what_is_no_mesh_is_refused_by_name(name, data):
    with pytest.raises((DataError, InputError)) as caught:
        read(name, data)
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize("name", GOOD)
def test_cut_files_are_refused_or_smaller(name):
    data = GOOD[name] if isinstance(GOOD[name], bytes) else GOOD[name].encode()
    for size in range(0, len(data) - 2, 7):
        with contextlib.suppress(DataError, InputError):
            assert len(read(name, data[:size]).faces) <= len(FACES)


def test_files_on_disk(tmp_path):
    file = tmp_path / "mesh.stl"
    file.write_bytes(stl())
    assert len(read_mesh(file).faces) == 4
    with pytest.raises(DataError, match="no such file"):
        read_mesh(tmp_path / "none.obj")
    assert MESH_SUFFIXES == (".obj", ".ply", ".stl")


def test_the_command_scores_meshes(tmp_path, capsys):
    (tmp_path / "a.obj").write_text(obj())
    (tmp_path / "b.stl").write_bytes(stl())
    (tmp_path / "c.ply").write_bytes(ply("ascii").replace(b"0.0 0.0 -3.0", b"0.0 0.0 -5.0"))
    assert (
        main(["score", str(tmp_path / "a.obj"), str(tmp_path / "b.stl"), "-m", "hd(surface=mesh)", "--csv"])
        == 0
    )
    value = capsys.readouterr().out.splitlines()[1].split(",")[1]
    assert float(value) < 1e-6
    assert main(["score", str(tmp_path / "a.obj"), str(tmp_path / "c.ply"), "-m", "hd(surface=mesh)"]) == 0
    np.save(tmp_path / "volume.npy", np.ones((3, 3, 3), dtype=bool))
    assert (
        main(["score", str(tmp_path / "a.obj"), str(tmp_path / "volume.npy"), "-m", "hd(surface=mesh)"]) == 1
    )
    assert "tells where it lies" in capsys.readouterr().err
    assert main(["score", str(tmp_path / "a.obj"), str(tmp_path / "b.stl"), "-m", "hd95"]) == 1
    assert "surface=mesh" in capsys.readouterr().err


def test_a_mesh_is_judged_by_a_volume_where_it_lies(tmp_path, capsys):
    from edgecritic.datasets.geometry import Geometry
    from edgecritic.datasets.write import write_map

    affine = np.array([[-2.0, 0, 0, 30], [0, 0, 1.5, -4], [0, 1, 0, 7], [0, 0, 0, 1]])
    mask = np.zeros((16, 20, 18), dtype=bool)
    mask[4:12, 5:15, 4:14] = True
    write_map(tmp_path / "box.nii.gz", mask, geometry=Geometry.of(affine, mask.shape))
    low, high = np.array([3.5, 4.5, 3.5]), np.array([11.5, 14.5, 13.5])  # faces lie between voxels
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    world = (low + corners * (high - low)) @ affine[:3, :3].T + affine[:3, 3]
    quads = [(1, 2, 4, 3), (5, 6, 8, 7), (1, 2, 6, 5), (3, 4, 8, 7), (1, 3, 7, 5), (2, 4, 8, 6)]
    for name, shift in (("here.obj", 0.0), ("there.obj", 3.0)):
        lines = [f"v {x} {y} {z}" for x, y, z in world + np.array([0, 0, shift])]
        faces = [f"f {' '.join(map(str, quad))}" for quad in quads]
        (tmp_path / name).write_text("\n".join([*lines, *faces]) + "\n")
    values = {}
    for name in ("here.obj", "there.obj"):
        words = ["score", str(tmp_path / name), str(tmp_path / "box.nii.gz"), "-m", "hd(compat=meshmetrics)"]
        assert main([*words, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        values[name] = document["scores"]["hd(compat=meshmetrics)"]
        assert any("RAS" in note for note in document["notes"])
    assert values["here.obj"] < 1.5  # edges between voxels are cut off
    assert values["there.obj"] == pytest.approx(3, abs=0.8)


@pytest.mark.parametrize("option", [("--labels", "all"), ("--spacing", "3,1,1"), ("--resample", "nearest")])
def test_the_command_refuses_options_of_pixels_beside_meshes(tmp_path, capsys, option):
    file = tmp_path / "a.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert main(["score", str(file), str(file), "-m", "hd(surface=mesh)", *option]) == 1
    assert f"{option[0]} is for pixels" in capsys.readouterr().err


def test_a_folder_of_meshes_is_refused_with_what_to_do(tmp_path, capsys):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert main(["score", str(tmp_path / "a"), "--truth", str(tmp_path / "b"), "-m", "hd(surface=mesh)"]) == 1
    assert "meshes are scored one by one" in capsys.readouterr().err
