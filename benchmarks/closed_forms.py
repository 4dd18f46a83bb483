"""Solids whose surfaces and distances have closed forms: balls, boxes, tori and capsules, on voxel grids.

A solid tells the exact distance of any point to its surface (negative inside) and gives points spread over
its surface with the areas that they stand for; `truth` makes the exact values of the measures of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

SIDE = 82.0
MEASURES = ("hd95", "masd", "assd", "nsd(tolerance=1)", "nsd(tolerance=2)", "nsd(tolerance=3)")
ONE, THICK, CT = (1.0, 1.0, 1.0), (3.0, 1.0, 1.0), (2.5, 0.8, 0.8)
Points = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Ball:
    centre: Points
    radius: float

    def distance(self, points: Points) -> Points:
        return np.linalg.norm(points - self.centre, axis=-1) - self.radius

    def samples(self) -> tuple[Points, Points]:
        height, turn = _grid((-1, 1, 400), (0, 2 * np.pi, 800))
        ring = np.sqrt(1 - height**2)
        way = np.stack([height, ring * np.cos(turn), ring * np.sin(turn)], axis=-1)
        return self.centre + self.radius * way, np.full(len(way), 4 * np.pi * self.radius**2 / len(way))


@dataclass(frozen=True)
class Box:
    centre: Points
    half: Points
    turn: Points

    def distance(self, points: Points) -> Points:
        beyond = np.abs((points - self.centre) @ self.turn) - self.half
        return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(axis=-1), 0)

    def samples(self) -> tuple[Points, Points]:
        points, areas = [], []
        for axis in range(3):
            sides = [other for other in range(3) if other != axis]
            ends = [
                (-self.half[side], self.half[side], int(np.ceil(self.half[side] / 0.08))) for side in sides
            ]
            face = np.empty((ends[0][2] * ends[1][2], 3))
            face[:, sides[0]], face[:, sides[1]] = _grid(*ends)
            for sign in (-1, 1):
                face[:, axis] = sign * self.half[axis]
                points.append(face @ self.turn.T + self.centre)
                areas.append(np.full(len(face), 4 * np.prod(self.half[sides]) / len(face)))
        return np.concatenate(points), np.concatenate(areas)


@dataclass(frozen=True)
class Torus:
    centre: Points
    ring: float
    tube: float
    turn: Points

    def distance(self, points: Points) -> Points:
        own = (points - self.centre) @ self.turn
        return np.hypot(np.hypot(own[..., 0], own[..., 1]) - self.ring, own[..., 2]) - self.tube

    def samples(self) -> tuple[Points, Points]:
        around, across = _grid((0, 2 * np.pi, 900), (0, 2 * np.pi, 400))
        out = self.ring + self.tube * np.cos(across)
        own = np.stack([out * np.cos(around), out * np.sin(around), self.tube * np.sin(across)], axis=-1)
        return own @ self.turn.T + self.centre, out * (4 * np.pi**2 * self.ring * self.tube / out.sum())


@dataclass(frozen=True)
class Capsule:
    start: Points
    end: Points
    radius: float

    def distance(self, points: Points) -> Points:
        way = self.end - self.start
        share = np.clip((points - self.start) @ way / (way @ way), 0, 1)
        return np.linalg.norm(points - self.start - share[..., None] * way, axis=-1) - self.radius

    def samples(self) -> tuple[Points, Points]:
        way = self.end - self.start
        length = float(np.linalg.norm(way))
        across = np.linalg.svd(way[None])[2][1:]
        share, turn = _grid((0, 1, 400), (0, 2 * np.pi, 400))
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1) @ across
        tube = self.start + share[:, None] * way + self.radius * ring
        ends, areas = Ball(np.zeros(3), self.radius).samples()
        caps = ends + np.where((ends @ way > 0)[:, None], self.end, self.start)
        tubes = np.full(len(tube), 2 * np.pi * self.radius * length / len(tube))
        return np.concatenate([tube, caps]), np.concatenate([tubes, areas])


class Form(NamedTuple):
    """A pair of solids on a grid."""

    name: str
    spacing: tuple[float, float, float]
    candidate: Any
    other: Any

    def masks(self) -> tuple[Any, Any]:
        """Return the voxels whose centres are inside."""
        lines = [np.arange(int(np.ceil(SIDE / size))) * size for size in self.spacing]
        planes = [np.stack(np.meshgrid([z], *lines[1:], indexing="ij"), axis=-1) for z in lines[0]]
        candidate, other = (
            np.concatenate([solid.distance(plane) <= 0 for plane in planes])
            for solid in (self.candidate, self.other)
        )
        return candidate, other

    def truth(self) -> dict[str, float]:
        """Return the exact values of `MEASURES`."""
        lists = []
        for own, target in ((self.candidate, self.other), (self.other, self.candidate)):
            points, areas = own.samples()
            distances = np.abs(target.distance(points))
            order = np.argsort(distances)
            lists.append((distances[order], areas[order]))
        means = [np.average(distances, weights=areas) for distances, areas in lists]
        whole = [areas.sum() for _, areas in lists]
        far = [d[np.searchsorted(np.cumsum(a) / a.sum(), 0.95)] for d, a in lists]
        near = [sum(a[d <= t * (1 + 1e-9)].sum() for d, a in lists) / sum(whole) for t in (1, 2, 3)]
        found = (max(far), sum(means) / 2, np.average(means, weights=whole), *near)
        return dict(zip(MEASURES, map(float, found), strict=True))


def forms() -> Iterator[Form]:
    """Yield all pairs, those of spheres first, the box on the axes last."""
    middle = np.array([40.3, 40.6, 40.2])
    turn, flat, steep = (
        Rotation.from_rotvec(v).as_matrix() for v in ((0.4, 0.7, -0.3), (0.25, 0.1, 0), (0.9, 0.5, 0))
    )
    for spacing in (ONE, THICK):
        yield Form("spheres", spacing, Ball(middle, 30), Ball(_moved(middle, 0, 0, 9), 20))
    for spacing in (THICK, CT):
        yield Form("spheres across slices", spacing, Ball(middle, 30), Ball(_moved(middle, 9, 0, 0), 20))
    for spacing in (ONE, THICK, CT):
        yield Form("near spheres", spacing, Ball(middle, 20), Ball(_moved(middle, 0.3, 0.4, -0.2), 21.2))
    for spacing in (ONE, THICK):
        yield Form("small near spheres", spacing, Ball(middle, 7), Ball(_moved(middle, 0.3, 0.4, -0.2), 8))
        for name, more, way in (
            ("boxes", 1.5, (0.37, 0.21, 0.13)),
            ("boxes far apart", 4.0, (1.63, 2.41, 0.77)),
        ):
            half = np.array([20.0, 14, 10])
            yield Form(name, spacing, Box(middle, half, turn), Box(middle + turn @ way, half + more, turn))
        half = np.array([32.0, 32, 5])
        yield Form("plates", spacing, Box(middle, half, flat), Box(middle + flat @ [0, 0, 1.3], half, flat))
        yield Form("tori", spacing, Torus(middle, 22, 8, turn), Torus(middle, 22, 6.8, turn))
    half = np.array([32.0, 32, 5])
    yield Form(
        "steep plates", THICK, Box(middle, half, steep), Box(middle + steep @ [0, 0, 1.3], half, steep)
    )
    for spacing in (ONE, THICK, CT):
        ends = _moved(middle, -10, -14, -4), _moved(middle, 10, 14, 4)
        yield Form("capsules", spacing, Capsule(*ends, 9), Capsule(ends[0], _moved(ends[1], 2, 0, 0), 10.4))
    half, centre = np.array([15.0, 12, 10]), np.full(3, 40.5)
    yield Form(
        "box on the axes", ONE, Box(centre, half, np.eye(3)), Box(_moved(centre, 0, 0, 1), half, np.eye(3))
    )


def _moved(place: Points, *by: float) -> Points:
    return place + np.array(by)


def _grid(*ends: tuple[float, float, int]) -> list[Points]:
    """Return the middles of a grid of cells, flat."""
    lines = [low + (np.arange(count) + 0.5) / count * (high - low) for low, high, count in ends]
    return [each.ravel() for each in np.meshgrid(*lines, indexing="ij")]
