"""Suppression across surfaces: closed forms, voxel sizes, and a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.errors import InputError
from edgecritic.maps.crests import SurfaceRecipe, keep_surfaces
from edgecritic.maps.suppression import get_recipe, suppress


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("middle", [7.0, 7.3, 7.5])
def test_a_blurred_plate_becomes_one_voxel_thick(axis, middle):
    place = np.arange(15) - middle
    profile = np.exp(-(place**2) / (2 * 1.5**2))
    plate = np.moveaxis(np.broadcast_to(profile[:, None, None], (15, 9, 9)), 0, axis)
    kept = np.moveaxis(suppress(plate, "surface"), axis, 0)
    inside = kept[1:-1, 1:-1, 1:-1] > 0
    assert (inside.sum(axis=0) == 1).all()
    where = inside.argmax(axis=0) + 1
    assert (np.abs(where - middle) <= 0.5).all()
    np.testing.assert_allclose(kept[kept > 0], profile[where[0, 0]], rtol=1e-6)


@pytest.mark.parametrize("spacing", [(1, 1, 1), (2, 1, 1), (1, 0.7, 1.6)])
def test_a_blurred_sphere_is_found_at_its_radius(spacing):
    radius, blur = 12.0, 1.8
    sides = [2 * round((radius + 6) / size) + 1 for size in spacing]
    axes = [(np.arange(n) - n // 2) * size for n, size in zip(sides, spacing, strict=True)]
    distance = np.sqrt(sum(part**2 for part in np.meshgrid(*axes, indexing="ij")))
    strength = np.exp(-((distance - radius) ** 2) / (2 * blur**2))
    kept = keep_surfaces(strength, spacing=spacing) > 0.05
    step = np.linalg.norm(spacing)  # no voxel that survives is farther from the crest than one step
    assert np.abs(distance[kept] - radius).max() <= step
    assert np.abs(distance[kept] - radius).mean() < 0.45 * np.mean(spacing)
    # What is filled from the middle, face by face, does not leak: the surface has no holes.
    parts, _ = ndimage.label(~kept)
    assert parts[tuple(n // 2 for n in sides)] != parts[0, 0, 0]
    # About one voxel per step along the surface, not several on top of each other.
    rays = kept.sum() * np.prod(spacing)
    assert rays < 4 * np.pi * radius**2 * 1.9 * max(spacing)


def slow_twin(strength, smooth, spacing):
    """Return what survives, voxel by voxel, with SciPy's interpolation."""
    sigmas = [smooth * min(spacing) / size for size in spacing]
    kept = np.zeros(strength.shape)
    parts = [
        ndimage.gaussian_filter1d(
            ndimage.gaussian_filter(strength, np.where(np.arange(3) == axis, 0, sigmas), mode="nearest"),
            sigmas[axis],
            axis=axis,
            order=1,
            mode="nearest",
        )
        / spacing[axis]
        for axis in range(3)
    ]
    tensor = np.array(
        [[ndimage.gaussian_filter(i * j, sigmas, mode="nearest") for j in parts] for i in parts]
    )
    for at in np.ndindex(strength.shape):
        if (
            not all(0 < place < n - 1 for place, n in zip(at, strength.shape, strict=True))
            or strength[at] <= 0
        ):
            continue
        _, vectors = np.linalg.eigh(tensor[(slice(None), slice(None), *at)])
        normal = vectors[:, 2] * np.sign(vectors[np.abs(vectors[:, 2]).argmax(), 2])
        step = normal / spacing
        step = step / np.abs(step).max()
        behind, ahead = (
            ndimage.map_coordinates(strength, (np.array(at) + sign * step)[:, None], order=1)[0]
            for sign in (-1, 1)
        )
        if strength[at] > behind and strength[at] >= ahead:
            kept[at] = strength[at]
    return kept


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (3.0, 0.8, 1.1)])
def test_beside_a_slow_twin(spacing):
    rng = np.random.default_rng(0)
    strength = ndimage.gaussian_filter(rng.random((9, 10, 11)), 0.8)
    strength = (strength - strength.min()) / np.ptp(strength)
    found = keep_surfaces(strength, smooth=1.3, spacing=spacing)
    expected = slow_twin(strength, 1.3, spacing)
    assert (expected > 0).sum() > 50
    differing = np.count_nonzero((found > 0) != (expected > 0))
    assert differing <= 1  # derivatives in 32 bits may turn a normal at a tie


def test_recipes_of_surfaces():
    recipe = get_recipe("surface(smooth=2)")
    assert recipe == SurfaceRecipe(smooth=2)
    assert get_recipe(str(recipe)) == recipe
    assert get_recipe("surface").as_dict() == {"across": "surface", "smooth": 1.0}
    for wrong in ("surface(smooth=0)", "surface(smooth=yes)", "surface(radius=2)"):
        with pytest.raises(InputError):
            get_recipe(wrong)
    with pytest.raises(InputError, match="works on volumes"):
        suppress(np.zeros((5, 5)), "surface")
    with pytest.raises(InputError, match="2-D maps"):
        suppress(np.zeros((5, 5, 5)), "hed")
    assert not suppress(np.zeros((5, 5, 5)), "surface").any()
