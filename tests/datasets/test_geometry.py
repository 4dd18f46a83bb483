"""Grids of volumes: the same physical object is judged the same, other grids are refused, never misread.

The referee of physical positions is nibabel: its affines, orientations and voxel sizes.
"""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import edgecritic
from edgecritic.cli.main import main
from edgecritic.datasets import Geometry, Volume, on_grid_of, read_geometry, read_volume
from edgecritic.datasets.geometry import find_grid
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import place
from edgecritic.run.score_files import ScoreSettings, score_files

nibabel = pytest.importorskip("nibabel")

SHAPE = (11, 13, 16)
MEASURES = ("dice", "hd95")


def rotation(rng, degrees=None):
    """Return a rotation matrix about a random axis."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = np.radians(rng.uniform(2, 40) if degrees is None else degrees)
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def grid(rng):
    """Return the affine of an oblique grid with unequal voxels somewhere in the patient."""
    affine = np.eye(4)
    affine[:3, :3] = rotation(rng) * rng.uniform(0.5, 3, 3)
    affine[:3, 3] = rng.uniform(-120, 120, 3)
    return affine


def pair(rng):
    """Return a truth and a prediction, lop-sided objects of which no flip or turn is the same."""
    truth = np.zeros(SHAPE, np.uint8)
    truth[2:8, 3:7, 4:12] = 1
    truth[2:4, 7:11, 4:6] = 1
    found = truth.copy()
    low = rng.integers(2, 6, 3)
    found[tuple(slice(start, start + 3) for start in low)] ^= 1
    return found, truth


def reoriented(image, rng):
    """Return the image with its axes in another order and direction, by nibabel."""
    axes = list(itertools.permutations(range(3)))[rng.integers(6)]
    signs = rng.choice([-1, 1], 3)
    if list(axes) == [0, 1, 2] and (signs == 1).all():
        signs[0] = -1
    return image.as_reoriented(np.stack([axes, signs], axis=1))


def changed(image, kind, rng):
    """Return the prediction as a file of the kind would hold it; all but the first two are other grids."""
    affine, data = image.affine.copy(), np.asarray(image.dataobj)
    if kind == "permuted":
        return reoriented(image, rng)
    if kind == "shifted":
        affine[:3, 3] += rotation(rng) @ [rng.uniform(0.1, 4), 0, 0]
    elif kind == "oblique":
        affine[:3, :3] = rotation(rng, rng.uniform(0.5, 30)) @ affine[:3, :3]
    elif kind == "spacing":
        affine[:3, rng.integers(3)] *= rng.choice([0.7, 1.05, 1.3])
    elif kind == "shape":
        data = data[tuple(slice(0, length - cut) for length, cut in zip(SHAPE, (0, 1, 3), strict=True))]
    made = nibabel.Nifti1Image(data, affine)
    return reoriented(made, rng) if kind != "same" and rng.random() < 0.5 else made


def nearest(image, truth):
    """Return the prediction on the truth's grid: SciPy, at positions of nibabel; a share lies on no tie."""
    places = np.indices(truth.shape).reshape(3, -1).T
    world = nibabel.affines.apply_affine(truth.affine, places)
    back = nibabel.affines.apply_affine(np.linalg.inv(image.affine), world)
    values = map_coordinates(np.asarray(image.dataobj), back.T, order=0, mode="grid-constant", cval=0)
    return values.reshape(truth.shape)


KINDS = ("same", "permuted", "shifted", "oblique", "spacing", "shape", "flip alone")


@pytest.mark.filterwarnings("ignore::edgecritic.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(15))
def test_grids_are_right_or_refused(tmp_path, kind, seed):
    rng = np.random.default_rng([KINDS.index(kind), seed])
    found, truth = pair(rng)
    affine = grid(rng)
    reference = nibabel.Nifti1Image(truth, affine)
    image = nibabel.Nifti1Image(found, affine)
    other = (
        image.as_reoriented([[0, 1], [1, -1], [2, 1]]) if kind == "flip alone" else changed(image, kind, rng)
    )
    paths = tmp_path / "found.nii.gz", tmp_path / "truth.nii"
    nibabel.save(other, paths[0])
    nibabel.save(reference, paths[1])
    right = edgecritic.score(found, truth, MEASURES, spacing=nibabel.affines.voxel_sizes(affine))
    settings = ScoreSettings(measures=MEASURES)
    if kind in ("same", "permuted", "flip alone"):
        judged = score_files(paths[0], [paths[1]], settings)
        assert dict(judged.maps[0].scores) == pytest.approx(dict(right), rel=1e-5)
        assert bool(judged.notes) == (kind != "same")
        both = edgecritic.score(nibabel.load(paths[0]), nibabel.load(paths[1]), MEASURES)
        assert dict(both) == pytest.approx(dict(right), rel=1e-5)
        assert len(both.notes) == (kind != "same")
        return
    with pytest.raises(InputError, match="is not that of"):
        score_files(paths[0], [paths[1]], settings)
    with pytest.raises(InputError, match="is not that of"):
        edgecritic.match(nibabel.load(paths[0]), nibabel.load(paths[1]))
    moved = on_grid_of(paths[0], paths[1], resample="nearest")
    np.testing.assert_array_equal(moved.array, nearest(nibabel.load(paths[0]), nibabel.load(paths[1])))
    assert "resampled" in moved.note
    judged = score_files(paths[0], [paths[1]], ScoreSettings(measures=MEASURES, resample="nearest"))
    expected = edgecritic.score(moved.array, truth, MEASURES, spacing=nibabel.affines.voxel_sizes(affine))
    assert dict(judged.maps[0].scores) == pytest.approx(dict(expected), rel=1e-5)
    assert "resampled" in judged.notes[0]


@pytest.mark.parametrize("seed", range(20))
def test_affine_and_letters_are_those_of_nibabel(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kind = (nibabel.Nifti1Image, nibabel.Nifti2Image)[seed % 2]
    affine = grid(rng) @ np.diag([*rng.choice([-1, 1], 3), 1])
    made = reoriented(kind(np.zeros(SHAPE, np.uint8), affine), rng)
    if seed % 4 < 2:  # by its quaternion alone
        made.set_qform(made.affine, 1)
        made.set_sform(None, 0)
    path = tmp_path / ("a.nii" if seed % 3 else "a.nii.gz")
    nibabel.save(made, path)
    loaded = nibabel.load(path)
    found = read_geometry(path)
    np.testing.assert_allclose(found.affine, loaded.affine, rtol=1e-6, atol=1e-6)
    assert found.codes == "".join(nibabel.aff2axcodes(loaded.affine))
    assert found.spacing == pytest.approx(nibabel.affines.voxel_sizes(loaded.affine), rel=1e-6)
    assert found.placed


def test_half_a_turn_in_a_quaternion(tmp_path):
    made = nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), np.diag([-1.5, -2, 3, 1]))
    made.set_qform(made.affine, 1)
    made.set_sform(None, 0)
    nibabel.save(made, tmp_path / "a.nii")
    np.testing.assert_allclose(read_geometry(tmp_path / "a.nii").affine, np.diag([-1.5, -2, 3, 1]), atol=1e-6)


def test_a_header_without_codes_tells_sizes_only(tmp_path):
    made = nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), None)
    made.header.set_zooms((1, 2, 3))
    nibabel.save(made, tmp_path / "a.nii")
    found = read_geometry(tmp_path / "a.nii")
    assert (found.placed, found.spacing) == (False, (1, 2, 3))
    truth = nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), np.diag([-1, 2, 3, 1]))
    nibabel.save(truth, tmp_path / "t.nii")
    assert "tells no position" in find_grid(tmp_path / "a.nii", [tmp_path / "t.nii"]).notes[0]
    nibabel.save(nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), np.diag([-1, 2, 4, 1])), tmp_path / "t.nii")
    with pytest.raises(InputError, match="1 × 2 × 4"):
        find_grid(tmp_path / "a.nii", [tmp_path / "t.nii"])


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a[:3, 3].__iadd__([7, 0, 0]), r"lies 7 mm off \(x, y, z: 7, 0, 0 mm\)"),
        (lambda a: a[:3, 2].__imul__(1.25), r"voxels have 1 × 1 × 2\.5 mm, not 1 × 1 × 2 mm"),
        (
            lambda a: a[:3, :3].__imatmul__([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]]),
            r"turned by (53\.1|36\.9)°",
        ),
        (lambda a: a[:3, 3].__iadd__([0, 0, 0.05]), r"0\.05 mm off"),
    ],
)
def test_the_difference_is_named_with_its_size(change, words):
    truth = np.diag([1.0, 1, 2, 1])
    other = truth.copy()
    change(other)
    with pytest.raises(InputError, match=words) as caught:
        place(Geometry.of(other, SHAPE), Geometry.of(truth, SHAPE))
    assert "--resample nearest" in caught.value.remedy


def test_a_hundredth_of_a_voxel_is_the_same_grid():
    truth = np.diag([1.0, 1, 2, 1])
    near, far = truth.copy(), truth.copy()
    near[2, 3], far[2, 3] = 0.0199, 0.0202
    assert place(Geometry.of(near, SHAPE), Geometry.of(truth, SHAPE)).note == ""
    with pytest.raises(InputError, match="is not that of"):
        place(Geometry.of(far, SHAPE), Geometry.of(truth, SHAPE))


def test_another_number_of_voxels_is_named():
    with pytest.raises(InputError, match="11 × 13 × 15 voxels where there are 11 × 13 × 16"):
        place(Geometry.of(np.eye(4), (11, 13, 15)), Geometry.of(np.eye(4), SHAPE))


@pytest.mark.parametrize("affine", [np.zeros((4, 4)), np.full((4, 4), np.nan), np.ones((4, 4))])
def test_affines_that_cannot_be_are_refused(affine):
    with pytest.raises(DataError, match="header is damaged"):
        Geometry.of(affine, SHAPE)


def test_planes_keep_their_dimension(tmp_path):
    plane = np.zeros((12, 9), np.uint8)
    plane[3:8, 2:5] = 1
    made = nibabel.Nifti1Image(plane, np.diag([2.0, 3, 1, 1]))
    nibabel.save(made, tmp_path / "truth.nii")
    flipped = nibabel.Nifti1Image(
        plane[::-1], np.array([[-2.0, 0, 0, 22], [0, 3, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    )
    nibabel.save(flipped, tmp_path / "found.nii")
    judged = score_files(tmp_path / "found.nii", [tmp_path / "truth.nii"], ScoreSettings(measures=("dice",)))
    assert (judged.maps[0].scores["dice"], judged.maps[0].scores.shape, judged.spacing) == (
        1,
        (12, 9),
        (2, 3),
    )


def test_images_of_simpleitk_carry_their_geometry():
    sitk = pytest.importorskip("SimpleITK")
    rng = np.random.default_rng(5)
    found, truth = pair(rng)
    affine = grid(rng)
    spacing = nibabel.affines.voxel_sizes(affine)
    right = dict(edgecritic.score(found, truth, MEASURES, spacing=spacing))

    def image(array):
        made = sitk.GetImageFromArray(array.transpose(2, 1, 0))
        made.SetSpacing(spacing.tolist())
        lps = np.diag([-1, -1, 1, 1]) @ affine
        made.SetDirection((lps[:3, :3] / spacing).ravel().tolist())
        made.SetOrigin(lps[:3, 3].tolist())
        return made

    both = edgecritic.score(image(found), image(truth), MEASURES)
    assert dict(both) == pytest.approx(right)
    assert both.notes == ()
    assert both.spacing == pytest.approx(spacing[::-1], rel=1e-6)
    mixed = edgecritic.score(image(found), nibabel.Nifti1Image(truth, affine), MEASURES)
    assert dict(mixed) == pytest.approx(right)
    assert len(mixed.notes) == 1
    assert edgecritic.compare(image(found), image(truth)).spacing == pytest.approx(spacing[::-1], rel=1e-6)
    shifted = image(found)
    shifted.SetOrigin([0, 0, 0])
    with pytest.raises(InputError, match="mm off"):
        edgecritic.score([shifted][0], [image(truth)], MEASURES)
    resampled = on_grid_of(shifted, image(truth), resample="nearest").array
    asked = sitk.Resample(shifted, image(truth), sitk.Transform(), sitk.sitkNearestNeighbor, 0)
    np.testing.assert_array_equal(resampled, sitk.GetArrayFromImage(asked))


def test_a_spacing_that_contradicts_images_is_used_and_said():
    found, truth = pair(np.random.default_rng(1))
    images = [nibabel.Nifti1Image(one, np.diag([1, 1, 3, 1])) for one in (found, truth)]
    with pytest.warns(UserWarning, match="spacing is 1 × 1 × 1, but the truth tells 1 × 1 × 3"):
        judged = edgecritic.score(*images, MEASURES, spacing=(1, 1, 1))
    assert judged == edgecritic.score(found, truth, MEASURES, spacing=(1, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert edgecritic.score(*images, MEASURES, spacing=(1, 1, 3)).spacing == (1, 1, 3)


def test_arrays_beside_images_are_taken_in_stored_order():
    found, truth = pair(np.random.default_rng(1))
    judged = edgecritic.score(found, nibabel.Nifti1Image(truth, np.diag([-1, 1, 3, 1])), MEASURES)
    assert dict(judged) == dict(edgecritic.score(found, truth, MEASURES, spacing=(1, 1, 3)))
    assert "tells no geometry" in judged.notes[0]


def test_what_was_judged_is_said(tmp_path, capsys):
    found, truth = pair(np.random.default_rng(2))
    lps = nibabel.Nifti1Image(found, np.diag([1, 1, 3, 1])).as_reoriented([[0, -1], [1, -1], [2, 1]])
    nibabel.save(lps, tmp_path / "found.nii.gz")
    nibabel.save(nibabel.Nifti1Image(truth, np.diag([1, 1, 3, 1])), tmp_path / "truth.nii.gz")
    files = [str(tmp_path / "found.nii.gz"), str(tmp_path / "truth.nii.gz")]
    for command, options in (("score", ["-m", "dice"]), ("match", ["-t", "2"])):
        assert main([command, *files, *options]) == 0
        text = capsys.readouterr().out
        assert "judged in 3-D: a volume of 11 × 13 × 16 voxels, pixel size 1 × 1 × 3" in text
        assert "axes LPS reordered to RAS" in text
        assert main([command, *files, *options, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["judged"] == {"dimensions": 3, "shape": [11, 13, 16], "spacing": [1, 1, 3]}
        assert "axes LPS reordered to RAS" in told["notes"][0]
    stack = np.zeros((4, 9, 9), bool)
    stack[:, 4] = True
    assert edgecritic.score(stack, stack, "dice").as_dict()["judged"]["dimensions"] == 3
    assert edgecritic.match(stack[0], stack[0]).as_dict()["judged"]["dimensions"] == 2


def test_folders_refuse_grids_that_differ_and_go_on(tmp_path, capsys):
    found, truth = pair(np.random.default_rng(2))
    for name, origin in (("a", 0), ("b", 7)):
        affine = np.eye(4)
        affine[0, 3] = origin
        for folder, array, place_ in (("found", found, affine), ("truth", truth, np.eye(4))):
            (tmp_path / folder).mkdir(exist_ok=True)
            nibabel.save(nibabel.Nifti1Image(array, place_), tmp_path / folder / f"{name}.nii.gz")
    folders = [str(tmp_path / "found"), "--truth", str(tmp_path / "truth"), "-q", "-m", "dice", "--jobs", "1"]
    assert main(["score", *folders]) == 1
    out = capsys.readouterr()
    assert "7 mm off" in out.err
    assert "judged in 3-D" in out.out
    assert main(["score", *folders, "--resample", "nearest"]) == 0
    assert "b: the candidate b.nii.gz: resampled" in capsys.readouterr().out


def test_volumes_know_their_geometry(tmp_path):
    nibabel.save(nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), np.diag([1, 1, 3, 1])), tmp_path / "a.nii")
    found = read_volume(tmp_path / "a.nii")
    assert isinstance(found, Volume)
    assert found.geometry == Geometry.of(np.diag([1, 1, 3, 1]), SHAPE)
    with pytest.raises(InputError, match="expected a file"):
        on_grid_of(np.zeros(SHAPE), found)


def test_headers_that_are_wrong_can_be_left_aside(tmp_path, capsys):
    found, truth = pair(np.random.default_rng(4))
    nibabel.save(nibabel.Nifti1Image(found, np.eye(4)), tmp_path / "found.nii")  # as if nobody had told
    nibabel.save(nibabel.Nifti1Image(truth, np.diag([-1, 1, 3, 1])), tmp_path / "truth.nii")
    files = [str(tmp_path / "found.nii"), str(tmp_path / "truth.nii"), "-m", *MEASURES]
    assert main(["score", *files]) == 1
    assert main(["score", *files, "--spacing", "file"]) == 1
    assert "--resample stored" in capsys.readouterr().err
    assert main(["score", *files, "--resample", "stored", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    right = edgecritic.score(found, truth, MEASURES, spacing=(1, 1, 3))
    assert told["scores"] == dict(right)
    assert told["judged"]["spacing"] == [1, 1, 3]
    assert "stored order, as was asked for, though its voxels have 1 × 1 × 1 mm" in told["notes"][0]
    with pytest.raises(InputError, match="resample must be"):
        on_grid_of(tmp_path / "found.nii", tmp_path / "truth.nii", resample="linear")


def test_what_is_no_array_beside_an_image_is_refused_in_words():
    image = nibabel.Nifti1Image(np.ones(SHAPE, np.uint8), np.eye(4))
    for other, words in (
        (nibabel.gifti.GiftiImage(), "must be an array, got GiftiImage"),
        ([image], "shape"),
    ):
        with pytest.raises(InputError, match=words):
            edgecritic.compare(image, other)


def test_images_whose_axes_are_not_at_right_angles_are_told():
    skewed = np.eye(4)
    skewed[0, 1] = 0.1  # atan 0.1 is 5.7°
    image = nibabel.Nifti1Image(np.ones(SHAPE, np.uint8), skewed)
    for found in (edgecritic.score(image, image, "dice"), edgecritic.score_labels(image, image, "dice")):
        (note,) = found.notes
        assert "the truth: its axes are 5.7° off right angles" in note
