"""Surfaces of polygons: closed forms, brute force, symmetries, another library's numbers, meshes as input."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy import ndimage

import edgecritic
from edgecritic.errors import InputError
from edgecritic.maps.mesh import Mesh, as_mesh
from edgecritic.measures import compare, measures, score
from edgecritic.measures.polygons import _table, _weights, of_mask, of_mesh

RNG = np.random.default_rng(5)
IDS = ["hd95", "masd", "assd", *(f"nsd(tolerance={t})" for t in (1, 2, 3))]


def on_mesh(text, option="surface=mesh"):
    return f"{text[:-1]}, {option})" if text.endswith(")") else f"{text}({option})"


def values(first, second, spacing=None, option="surface=mesh", ids=IDS):
    found = score(first, second, [on_mesh(text, option) for text in ids], spacing=spacing)
    return dict(zip(ids, found.annotators[0], strict=True))


def places(shape, spacing):
    return np.stack(
        np.meshgrid(*(np.arange(n) * s for n, s in zip(shape, spacing, strict=True)), indexing="ij")
    )


def ball(centre, radius, spacing, side=82):
    shape = [math.ceil(side / size) for size in spacing]
    off = places(shape, spacing) - np.reshape(centre, (3, 1, 1, 1))
    return (off**2).sum(axis=0) <= radius**2


def spheres_truth(first, second, apart):
    """Exact values for two spheres, from distances that depend on the cosine (uniform on a sphere) only."""
    cosine = (np.arange(200_000) + 0.5) / 100_000 - 1
    lists = [
        np.sort(np.abs(np.sqrt(own**2 + apart**2 - 2 * own * apart * cosine) - other))
        for own, other in ((first, second), (second, first))
    ]
    means, areas = [each.mean() for each in lists], [first**2, second**2]
    truth = {
        "hd95": max(each[int(0.95 * each.size)] for each in lists),
        "masd": sum(means) / 2,
        "assd": np.average(means, weights=areas),
    }
    for t in (1, 2, 3):
        truth[f"nsd(tolerance={t})"] = np.average([(each <= t).mean() for each in lists], weights=areas)
    return truth


def worst(found, truth):
    """The largest error of distances, as a share, and of shares."""
    return (
        max(abs(found[name] / truth[name] - 1) for name in ("hd95", "masd", "assd")),
        max(abs(found[name] - truth[name]) for name in truth if name.startswith("nsd")),
    )


CENTRE = np.array([40.3, 40.6, 40.2])


@pytest.mark.parametrize(
    ("spacing", "distances", "shares"),
    [((1.0, 1.0, 1.0), 0.0065, 0.0085), ((3.0, 1.0, 1.0), 0.022, 0.0085)],
)
def test_two_spheres_by_their_closed_form(spacing, distances, shares):
    truth = spheres_truth(30, 20, 9)
    # The published closed form: HD95 18.3014, MASD 9.775, ASSD 10.2077, NSD .0519 at 2 and .1043 at 3.
    assert list(truth.values()) == pytest.approx([18.3014, 9.775, 10.2077, 0, 0.0519, 0.1043], abs=7e-4)
    pair = ball(CENTRE, 30, spacing), ball(CENTRE + np.array([0, 0, 9]), 20, spacing)
    found = worst(values(*pair, spacing), truth)
    assert found[0] < distances
    assert found[1] < shares
    voxels = worst(dict(zip(IDS, score(*pair, IDS, spacing=spacing).annotators[0], strict=True)), truth)
    assert found[0] < voxels[0] / 2
    assert found[1] < voxels[1] / 2


@pytest.mark.parametrize(("spacing", "share"), [((1.0, 1.0, 1.0), 0.005), ((2.5, 0.8, 0.8), 0.03)])
def test_near_spheres(spacing, share):
    truth = spheres_truth(20, 21.2, math.sqrt(0.29))
    found = values(
        ball(CENTRE, 20, spacing), ball(CENTRE + np.array([0.3, 0.4, -0.2]), 21.2, spacing), spacing
    )
    assert found["masd"] == pytest.approx(truth["masd"], rel=share)
    assert found["assd"] == pytest.approx(truth["assd"], rel=share)


def turned_box(centre, half, turn, spacing):
    shape = [math.ceil(82 / size) for size in spacing]
    own = np.einsum("ji,j...->i...", turn, places(shape, spacing) - np.reshape(centre, (3, 1, 1, 1)))
    return (np.abs(own) <= np.reshape(half, (3, 1, 1, 1))).all(axis=0)


def turn_of(vector):
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(vector).as_matrix()


def box_truth(half, other, offset, step=0.2):
    """Mean distance both ways between two boxes turned alike, by dense samples of the faces."""
    means = []
    for own, target, way in ((half, other, offset), (other, half, -np.asarray(offset))):
        total = weight = 0.0
        for axis, sign in itertools.product(range(3), (-1, 1)):
            sides = [a for a in range(3) if a != axis]
            lines = [
                ((np.arange(n) + 0.5) / n * 2 - 1) * own[a]
                for a, n in ((a, math.ceil(2 * own[a] / step)) for a in sides)
            ]
            points = np.empty((lines[0].size, lines[1].size, 3))
            points[..., axis] = sign * own[axis]
            points[..., sides[0]], points[..., sides[1]] = np.meshgrid(*lines, indexing="ij")
            beyond = np.abs(points - way) - target
            distance = np.linalg.norm(np.maximum(beyond, 0), axis=-1) - np.minimum(beyond.max(axis=-1), 0)
            area = own[sides[0]] * own[sides[1]]
            total, weight = total + area * distance.mean(), weight + area
        means.append(total / weight)
    return sum(means) / 2


@pytest.mark.parametrize(
    ("half", "other", "offset", "vector", "spacing", "bound"),
    [
        ((20, 14, 10), (21.5, 15.5, 11.5), (0.37, 0.21, 0.13), (0.4, 0.7, -0.3), (1.0, 1.0, 1.0), 0.02),
        ((20, 14, 10), (21.5, 15.5, 11.5), (0.37, 0.21, 0.13), (0.4, 0.7, -0.3), (3.0, 1.0, 1.0), 0.02),
        ((32, 32, 5), (32, 32, 5), (0, 0, 1.3), (0.25, 0.1, 0), (3.0, 1.0, 1.0), 0.04),
    ],
    ids=["boxes", "boxes on thick slices", "plates on thick slices"],
)
def test_turned_boxes_and_plates(half, other, offset, vector, spacing, bound):
    turn = turn_of(vector)
    first = turned_box(CENTRE, half, turn, spacing)
    second = turned_box(CENTRE + turn @ offset, other, turn, spacing)
    truth = box_truth(np.array(half), np.array(other), np.array(offset, dtype=float))
    found = values(first, second, spacing)["masd"]
    assert found == pytest.approx(truth, rel=bound)
    # The surface without smoothing is worse by far.
    assert (
        abs(found - truth) < abs(values(first, second, spacing, "compat=meshmetrics")["masd"] - truth) / 1.5
    )


def test_a_box_on_the_axes_has_sharp_edges_without_smoothing():
    box = np.zeros((30, 26, 24), dtype=bool)
    box[4:24, 4:20, 4:16] = True
    moved = np.roll(box, 1, axis=2)
    found = values(box, moved, ids=["hd", "hd95", "nsd(tolerance=1)"], option="compat=meshmetrics")
    assert list(found.values()) == pytest.approx([1, 1, 1])
    assert values(box, moved, ids=["nsd(tolerance=1)"])["nsd(tolerance=1)"] == pytest.approx(1)


def test_discs_in_a_plane_and_in_a_volume_of_one_plane():
    grid = places((90, 80), (0.7, 1.0))

    def disc(radius):
        return ((grid - np.array([31.2, 40.3]).reshape(2, 1, 1)) ** 2).sum(axis=0) <= radius**2

    first, second = disc(20), disc(23.5)
    found = values(first, second, (0.7, 1.0))
    assert found["masd"] == pytest.approx(3.5, rel=0.01)
    assert found["hd95"] == pytest.approx(3.5, rel=0.08)
    assert found["nsd(tolerance=2)"] == 0
    assert found["nsd(tolerance=3)"] < 0.06  # true is 0; terraces along the axes are up to half a pixel off
    again = values(first[None], second[None], (5.0, 0.7, 1.0))
    assert again == pytest.approx(found)
    assert values(first[:, None], second[:, None], (0.7, 5.0, 1.0)) == pytest.approx(found)


def brute_force(points, triangles):
    """The least distance of points to triangles: feet of perpendiculars by least squares, and all sides."""
    best = np.full(len(points), math.inf)
    for a, b, c in triangles:
        basis = np.stack([b - a, c - a], axis=1)
        shares = np.linalg.lstsq(basis, (points - a).T, rcond=None)[0]
        inside = (shares >= 0).all(axis=0) & (shares.sum(axis=0) <= 1)
        foot = np.linalg.norm(points - a - (basis @ shares).T, axis=1)
        best = np.where(inside, np.minimum(best, foot), best)
        for start, end in ((a, b), (b, c), (c, a)):
            way = end - start
            part = np.clip((points - start) @ way / (way @ way), 0, 1)[:, None]
            best = np.minimum(best, np.linalg.norm(points - start - part * way, axis=1))
    return best


def fans(surface):
    for start, end in itertools.pairwise(surface.starts):
        corners = surface.points[start:end]
        if len(corners) == 3:
            yield corners
        else:
            middle = corners.mean(axis=0)
            yield from (
                np.stack([middle, one, two])
                for one, two in zip(corners, np.roll(corners, -1, 0), strict=True)
            )


@pytest.mark.kernels
@pytest.mark.parametrize("smooth", [True, False])
def test_distances_are_those_of_brute_force(smooth):
    mask = ndimage.gaussian_filter(RNG.random((7, 8, 9)), 1) > 0.51
    spacing = (2.0, 0.8, 1.1)
    surface = of_mask(mask, spacing, smooth=smooth)
    triangles = list(fans(surface))
    # Near ones, far ones, ones beyond the grid; a thousand over both ways of making the surface.
    points = RNG.uniform(-4, 14, (500, 3)) * [1, 1, 1]
    points[:250] = surface.hubs[RNG.integers(0, len(surface.hubs), 250)] + RNG.normal(0, 0.7, (250, 3))
    np.testing.assert_allclose(surface.distances(points), brute_force(points, triangles), atol=1e-12)


@pytest.mark.kernels
def test_distances_to_degenerate_triangles():
    flat = as_mesh([[0, 0, 0], [1, 0, 0], [3, 0, 0], [9, 9, 9]], [[0, 1, 2], [3, 3, 3]])
    points = np.array([[2.0, 2, 0], [5, 0, 0], [9, 9, 8], [-1, 0, 0]])
    np.testing.assert_allclose(of_mesh(flat).distances(points), [2, 2, 1, 1])


@pytest.mark.kernels
def test_surfaces_are_closed():
    # Every edge of a closed surface belongs to two polygons, whatever the corners of the cells.
    mask = RNG.random((6, 7, 8)) < 0.5
    surface = of_mask(mask, (1.0, 1.0, 1.0))
    sides = {}
    for start, end in itertools.pairwise(surface.starts):
        corners = [tuple(point) for point in surface.points[start:end]]
        for side in zip(corners, corners[1:] + corners[:1], strict=True):
            sides[frozenset(side)] = sides.get(frozenset(side), 0) + 1
    assert set(sides.values()) == {2}


def test_the_filter_keeps_sum_and_planes():
    half = _weights().astype(float)
    steps = np.arange(half.size)
    assert half[0] + 2 * half[1:].sum() == pytest.approx(1, abs=1e-6)
    assert (half * steps**2).sum() == pytest.approx(0, abs=1e-5)


def test_tables_have_an_end():
    for ndim, whole in itertools.product((2, 3), (True, False)):
        table, _ = _table(ndim, whole=whole)
        assert (table[:, -1] == 0).all()


def blobs():
    smooth = ndimage.gaussian_filter(RNG.random((14, 15, 16)), 2)
    return smooth > np.median(smooth), np.roll(smooth, 1, axis=2) > np.quantile(smooth, 0.6)


@pytest.mark.parametrize("option", ["surface=mesh", "compat=meshmetrics"])
def test_flips_transposes_and_shifts_change_nothing(option):
    first, second = (np.pad(mask, 3) for mask in blobs())
    spacing = (2.0, 0.8, 1.1)
    ids = [text for text in IDS if text != "nsd(tolerance=2)"] + ["hd"]  # a distance may be 2 exactly
    found = values(first, second, spacing, option, ids)
    for axis in range(3):
        assert values(np.flip(first, axis), np.flip(second, axis), spacing, option, ids) == pytest.approx(
            found, rel=1e-5 if option == "surface=mesh" else 0.05
        )
    for order in itertools.permutations(range(3)):
        turned = values(
            first.transpose(order), second.transpose(order), tuple(spacing[a] for a in order), option, ids
        )
        assert turned == pytest.approx(found, rel=1e-5 if option == "surface=mesh" else 0.05)
    for shift in ((3, 0, 0), (0, -2, 3)):
        moved = [np.roll(mask, shift, axis=(0, 1, 2)) for mask in (first, second)]
        assert values(*moved, spacing, option, ids) == pytest.approx(found, rel=1e-9)


def test_the_same_map_twice_and_sides_exchanged():
    first, second = blobs()
    same = values(first, first)
    assert [same[name] for name in ("hd95", "masd", "assd")] == pytest.approx([0, 0, 0], abs=1e-9)
    assert same["nsd(tolerance=1)"] == 1
    assert values(first, second) == pytest.approx(values(second, first))


# Printed by pymeshmetrics 1.4.1 (vtk 9.7.1) for the masks of its examples, spacing as in the files.
PRINTED = {
    "3d": {
        "hd": 15.211472278806182,
        "hd95": 15.056836763853601,
        "masd": 14.730156159961066,
        "assd": 14.741833228359614,
        "nsd(tolerance=12)": 0.0,
    },
    "2d": {
        "hd": 15.028140777491172,
        "hd95": 15.000000543892384,
        "masd": 14.919279891302027,
        "assd": 14.919915157401032,
        "nsd(tolerance=12)": 0.0,
    },
}
# And for the meshes of its examples.
PRINTED_MESHES = {
    "3d": {"hd": 14.995325, "hd95": 14.993502, "masd": 14.983291, "assd": 14.983291},
    "2d": {"hd": 14.977278, "hd95": 14.977278, "masd": 14.977276, "assd": 14.977276},
}


@pytest.mark.parametrize("name", ["2d", "3d"])
def test_values_of_meshmetrics_on_its_examples(data, name):
    from edgecritic.datasets import read_volume

    folder = data / "meshmetrics"
    truth, candidate = (
        read_volume(folder / f"example_{name}_{side}_mask.nii.gz") for side in ("ref", "pred")
    )
    expected = PRINTED[name]
    masks = (candidate.array > 0, truth.array > 0)
    found = values(*masks, truth.spacing, "compat=meshmetrics", list(expected))
    assert found == pytest.approx(expected, rel=2e-3)
    # The masks were made of polyhedra near spheres (circles) of radius 40 and 25.
    assert values(*masks, truth.spacing)["masd"] == pytest.approx(14.98, rel=3e-3)


@pytest.mark.parametrize("name", ["2d", "3d"])
def test_values_of_meshmetrics_on_its_meshes(data, name):
    from edgecritic.datasets.meshes import read_mesh

    truth, candidate = (
        read_mesh(data / "meshmetrics" / f"example_{name}_{side}_mesh.obj") for side in ("ref", "pred")
    )
    assert candidate.ndim == int(name[0])
    assert values(candidate, truth, ids=list(PRINTED_MESHES[name])) == pytest.approx(
        PRINTED_MESHES[name], rel=1e-6
    )


# Printed by pymeshmetrics 1.4.1 for a voxel and the same 7 further, and for two boxes of a plane.
@pytest.mark.kernels
def test_small_values_of_meshmetrics():
    first, second = np.zeros((2, 9, 9, 20), dtype=bool)
    first[4, 4, 4] = second[4, 4, 11] = True
    found = values(first, second, None, "compat=meshmetrics", ["hd", "masd"])
    assert list(found.values()) == pytest.approx([6.670832032063168, 6.50427490633684], rel=1e-9)
    first[3:6, 3:6, 3:6] = second[3:6, 3:6, 11:14] = True
    second[4, 4, 10] = False
    found = values(first, second, None, "compat=meshmetrics", ["hd", "masd", "hd95(percent=50)"])
    assert list(found.values()) == pytest.approx([8.0, 6.51030917309271, 6.843488389215937], rel=2e-3)
    one, two = np.zeros((2, 20, 30), dtype=bool)
    one[5:9, 5:9] = two[5:9, 14:17] = True
    found = values(one, two, None, "compat=meshmetrics", ["hd", "masd", "nsd(tolerance=7)"])
    assert list(found.values()) == pytest.approx([9.0, 6.757673422421414, 0.46384259789710697], rel=1e-9)


@pytest.mark.parametrize("measure", ["hd", "hd95", "masd", "assd"])
def test_a_peer_agrees_without_smoothing(measure):
    peer = pytest.importorskip("meshmetrics").DistanceMetrics()
    first, second = (
        ball(CENTRE[:3] / 2, 14, (1.0, 1.0, 1.0), 41),
        ball(CENTRE[:3] / 2 + 1, 12, (1.0, 1.0, 1.0), 41),
    )
    peer.set_input(ref=second, pred=first, spacing=(1, 1, 1))
    theirs = peer.hd(95) if measure == "hd95" else getattr(peer, measure)()
    assert values(first, second, None, "compat=meshmetrics", [measure])[measure] == pytest.approx(
        theirs, rel=0.02
    )


@pytest.mark.parametrize(
    ("text", "one", "both"),
    [
        ("hd(compat=meshmetrics)", math.inf, 0),
        ("masd(compat=meshmetrics)", math.inf, 0),
        ("nsd(compat=meshmetrics)", 0, 1),
        ("hd95(surface=mesh)", 13, 0),
        ("nsd(surface=mesh)", 0, 1),
        ("boundary_iou(surface=mesh, distance=2)", 0, 1),
    ],
)
def test_empty_objects(text, one, both):
    nothing, some = np.zeros((2, 5, 12), dtype=bool)
    some[1:3, 2:6] = True
    for pair, value in [((nothing, some), one), ((some, nothing), one), ((nothing, nothing), both)]:
        with warnings.catch_warnings(action="ignore"):
            assert score(*pair, text)[text] == value


def test_the_band_of_a_mesh():
    # The surface is half a pixel outside of the outermost centres: a band of 2 takes those at .5 and 1.5.
    truth = np.zeros((40, 44), dtype=bool)
    truth[8:32, 8:36] = True
    candidate = np.zeros_like(truth)
    candidate[10:30, 10:34] = True
    rings = [mask & ~ndimage.binary_erosion(mask, np.ones((5, 5))) for mask in (truth, candidate)]
    assert not (rings[0] & rings[1]).any()
    assert score(candidate, truth, "boundary_iou(surface=mesh, distance=2)").annotators[0, 0] == 0
    text = "boundary_iou(surface=mesh, distance=4)"
    wide = [mask & ~ndimage.binary_erosion(mask, np.ones((9, 9))) for mask in (truth, candidate)]
    expected = (wide[0] & wide[1]).sum() / (wide[0] | wide[1]).sum()
    for pair in ((candidate, truth), (candidate[None], truth[None])):
        assert score(*pair, text)[text] == pytest.approx(expected, abs=0.02)
    thick = score(candidate, truth, text, spacing=(3.0, 1.0))[text]
    assert thick != pytest.approx(expected, abs=0.02)
    for wrong in (
        "surface=mesh",
        "distance=2, dilation=0.1",
        "surface=mesh, distance=0.1",
        "surface=mesh, distance=-1",
    ):
        with pytest.raises(InputError):
            score(candidate, truth, f"boundary_iou({wrong})")


def octahedron(radius, centre=(0, 0, 0)):
    corners = np.concatenate([np.eye(3), -np.eye(3)]) * radius + centre
    faces = [[x, y, z] for x in (0, 3) for y in (1, 4) for z in (2, 5)]
    return as_mesh(corners, faces)


def test_meshes_against_meshes():
    # Faces of octahedra of "radius" r lie r/√3 from the middle; the centre of each faces that of the other.
    found = values(
        octahedron(9), octahedron(6), ids=["hd", "masd", "nsd(tolerance=1.74)", "nsd(tolerance=1.72)"]
    )
    assert list(found.values()) == pytest.approx([math.sqrt(3), math.sqrt(3), 1, 0])
    both = edgecritic.score(octahedron(9), [octahedron(9), octahedron(6)], "masd(surface=mesh)")
    assert both.annotators[:, 0] == pytest.approx([0, math.sqrt(3)], abs=1e-9)


def test_a_mesh_against_a_volume_lies_where_its_affine_says():
    spacing, radius = (2.0, 0.8, 1.1), 12.3
    mask = ball((20, 20, 20), radius, spacing, 41)
    sphere = _sphere(radius)
    affine = np.array([[0, 0, -1.1, 25], [0.8, 0, 0, -7], [0, 2.0, 0, 3], [0, 0, 0, 1.0]])[:, [1, 0, 2, 3]]
    # World positions of the volume's middle (20, 20, 20) mm along its axes.
    middle = affine[:3, :3] @ (20 / np.array(spacing)) + affine[:3, 3]
    world = as_mesh(sphere.vertices + middle, sphere.faces)
    here = world.on_grid(affine)
    assert here.vertices.mean(axis=0) == pytest.approx([20, 20, 20])
    for pair in ((here, mask), (mask, here)):
        assert edgecritic.score(*pair, "masd(surface=mesh)", spacing=spacing)["masd(surface=mesh)"] < 0.2
    wrong = edgecritic.score(world, mask, "masd(surface=mesh)", spacing=spacing)["masd(surface=mesh)"]
    assert wrong > 5


def _sphere(radius, n=40):
    """A sphere of triangles between rings, poles included as rings of no size."""
    tilt, turn = np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, 2 * n, endpoint=False)
    tilt, turn = np.meshgrid(tilt, turn, indexing="ij")
    places = np.stack([np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)], axis=-1)
    at = np.arange(2 * n * n).reshape(n, 2 * n)
    right = np.roll(at, -1, axis=1)
    faces = [[at[:-1], right[:-1], at[1:]], [right[:-1], right[1:], at[1:]]]
    return as_mesh(
        radius * places.reshape(-1, 3), np.concatenate([np.stack(f, -1).reshape(-1, 3) for f in faces])
    )


def test_what_meshes_cannot_do_is_said():
    for text in ("hd95", "dice", "boundary_iou(surface=mesh, distance=1)", "hd95(surface=subvoxel)"):
        with pytest.raises(InputError, match="no pixels"):
            edgecritic.score(octahedron(3), octahedron(2), text)
    with pytest.raises(InputError, match="dimensions"):
        edgecritic.score(octahedron(3), np.ones((4, 4), dtype=bool), "hd95(surface=mesh)")
    with pytest.raises(InputError, match="right angles"):
        octahedron(3).on_grid([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.raises(InputError, match="4 × 4"):
        octahedron(3).on_grid(np.eye(3))


def test_a_mesh_against_an_empty_volume():
    nothing = np.zeros((5, 5, 5), dtype=bool)
    with pytest.warns(edgecritic.errors.UndefinedMeasureWarning, match="truth is empty"):
        assert edgecritic.score(octahedron(3), nothing, "hd(surface=mesh)").annotators[0, 0] == math.hypot(
            6, 6, 6
        )


@pytest.mark.parametrize(
    "text",
    [
        *(name for name in measures.names() if name not in ("hd", "hd95", "asd", "assd", "masd", "nsd")),
        *("hd95", "hd95(compat=monai)", "boundary_iou(surface=mesh, distance=2)"),
    ],
)
@pytest.mark.parametrize("other", ["volume", "mesh", "nothing"])
def test_measures_of_pixels_refuse_meshes(text, other):
    truth = {"volume": np.ones((4, 4, 4)), "mesh": octahedron(2), "nothing": np.zeros((4, 4, 4))}[other]
    with pytest.raises(InputError, match="a mesh has no pixels"):
        edgecritic.score(octahedron(3), truth, text)


def test_a_mesh_has_several_truths_of_both_kinds():
    box = np.zeros((9, 9, 9), dtype=bool)
    box[2:7, 2:7, 2:7] = True
    found = edgecritic.score(octahedron(3), [box, octahedron(2), box], "hd(surface=mesh)").annotators[:, 0]
    first, second = (
        edgecritic.score(octahedron(3), truth, "hd(surface=mesh)").annotators[0, 0]
        for truth in (box, octahedron(2))
    )
    assert found.tolist() == [first, second, first]


def test_a_mesh_beside_an_image_that_knows_its_place_is_refused():
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.ones((4, 4, 4), np.uint8), np.diag([1, 1, 3, 1]))
    for pair in ((octahedron(3), image), (image, octahedron(3))):
        with pytest.raises(InputError, match=r"on_grid\(affine\)"):
            edgecritic.score(*pair, "hd95(surface=mesh)")


@pytest.mark.parametrize("scale", [0, 1e-90, 1e90])
def test_meshes_without_an_area_are_refused(scale):
    corners = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]]) * scale
    for pair in (
        (as_mesh(corners, [[0, 1, 2]]), octahedron(3)),
        (octahedron(3), as_mesh(corners, [[0, 1, 2]])),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InputError, match="have an area of"):
                edgecritic.score(*pair, "hd95(surface=mesh)")


def test_what_takes_arrays_says_that_it_got_a_mesh():
    for function in (edgecritic.score_labels, edgecritic.compare, edgecritic.match):
        with pytest.raises(InputError, match="Mesh"):
            function(octahedron(3), np.ones((4, 4, 4), np.uint8))


@pytest.mark.parametrize(
    ("vertices", "faces", "told"),
    [
        ([[0, 0, 0, 0]], [[0, 0, 0]], "shape"),
        ([[0, 0, math.nan]] * 3, [[0, 1, 2]], "NaN"),
        ([[0, 0, 1e200]] * 3, [[0, 1, 2]], "beyond"),
        ([[0, 0, 0]] * 3, [[0, 1, 3]], "vertices 0 to 3"),
        ([[0, 0, 0]] * 3, [[0, 1, -1]], "vertices -1 to 1"),
        ([[0, 0, 0]] * 3, [[0.0, 1.0, 2.0]], "whole numbers"),
        ([[0, 0, 0]] * 3, [[0, 1], [0, 1, 2]], "both"),
        ([[0, 0, 0], [0, 0, 1]], [[0, 1]], "plane"),
        ([[0, 0], [0, 1], [1, 1]], [[0, 1, 2]], "three coordinates"),
    ],
)
def test_meshes_that_are_none_are_refused(vertices, faces, told):
    with pytest.raises(InputError, match=told):
        as_mesh(vertices, faces)


def test_polygons_of_a_mesh_are_cut_into_triangles():
    square = [[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 2, 0]]
    mesh = as_mesh(square, [[0, 1, 2, 3], [1, 4, 2]])
    assert isinstance(mesh, Mesh)
    assert of_mesh(mesh).sizes.sum() == pytest.approx(1.5)
    assert mesh.as_dict() == {"ndim": 3, "vertices": 5, "faces": 3}


def test_unknown_surfaces_and_weights_of_voxels_are_refused():
    pair = compare(np.eye(5, dtype=bool), np.eye(5, dtype=bool))
    for text in ("hd95(surface=meshes)", "hd95(weights=area)"):
        with pytest.raises(InputError):
            measures.bind(text)(pair)


def test_the_command_says_which_surface_was_used(tmp_path, capsys):
    from edgecritic.cli.main import main

    disc = np.zeros((12, 12), dtype=bool)
    disc[3:9, 3:9] = True
    np.save(tmp_path / "disc.npy", disc)
    file = str(tmp_path / "disc.npy")
    assert main(["score", file, file, "-m", "hd95", "dice", "masd(surface=mesh)", "hd(compat=medpy)"]) == 0
    assert "surface=voxel in hd95\n" in capsys.readouterr().out
    assert main(["score", file, file, "-m", "masd(surface=mesh)", "dice"]) == 0
    assert "surface=voxel" not in capsys.readouterr().out
