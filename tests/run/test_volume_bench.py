"""The benchmark over folders of volumes: voxel sizes and places of files, objects as truths, slices."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecritic import match, sweep
from edgecritic.annotators import strength as weigh
from edgecritic.cli.main import main
from edgecritic.datasets import Geometry, write_map
from edgecritic.datasets.scenes import phantom
from edgecritic.maps.boundaries import inner_boundary
from edgecritic.report.slices import worst_slices
from edgecritic.run.annotators import run_annotators
from edgecritic.run.bench import run_bench

SIZES = (0.8, 0.8, 3.0)
AFFINE = np.diag([*SIZES, 1.0])


def volume(kind, seed):
    """Return a strength volume and the object whose surface it finds, about a voxel beside it."""
    solid = phantom(kind, (24, 22, 12), seed).image > 0.75
    blurred = np.roll(inner_boundary(solid), 1, axis=0) * 0.6
    noise = np.random.default_rng(seed).random(solid.shape)
    return np.round(0.4 * noise + blurred, 4).astype(np.float32), solid


def save(path, array, affine=AFFINE):
    write_map(path, array, geometry=None if affine is None else Geometry.of(affine, array.shape))


@pytest.fixture
def folders(tmp_path):
    for seed, kind in enumerate(("ball", "tube")):
        strength, solid = volume(kind, seed)
        save(tmp_path / f"maps/{kind}.nii.gz", strength)
        save(tmp_path / f"truth/{kind}.nii.gz", solid)
        save(tmp_path / f"scans/{kind}.nii.gz", strength)
    return tmp_path


def test_folders_are_judged_in_millimetres_as_arrays_are(folders, capsys):
    words = ["bench", str(folders / "maps"), "--truth", str(folders / "truth"), "-q", "--jobs", "1"]
    more = ["--images", str(folders / "scans"), "--out", str(folders / "run"), "--also", "all"]
    assert main([*words, *more, "--protocol", "volume(tolerance=1)"]) == 0
    told = capsys.readouterr()
    assert "tolerance 1.00 mm" in told.out
    assert "crispness is measured on images only" in told.err
    found = json.loads((folders / "run/results.json").read_text())
    assert found["protocol"]["id"] == "volume-tolerance-1"
    assert (found["protocol"]["tolerance_unit"], found["protocol"]["tolerance_pixels"]) == ("mm", [1, 1])
    (entry,) = found["detectors"]
    assert entry["crispness"] is None
    assert {tuple(row["spacing"]) for row in entry["per_image"]} == {SIZES}
    swept = [
        sweep(*volume(kind, seed), protocol="volume(tolerance=1)", spacing=SIZES).counts
        for seed, kind in enumerate(("ball", "tube"))
    ]
    recall = sum(one.matched_truth for one in swept) / sum(one.truth for one in swept)
    np.testing.assert_allclose(entry["curve"]["recall"], recall)
    page = (folders / "run/report.html").read_text()
    assert "1.00 mm" in page
    assert "along axis 3" in page
    assert page.count("data:image/png") >= 6  # three slices of both volumes


def test_protocols_that_do_not_fit_are_one_line_per_file(folders, capsys):
    words = ["bench", str(folders / "maps"), "--truth", str(folders / "truth"), "-q", "--bootstrap", "0"]
    assert main(words) == 1
    assert capsys.readouterr().err.count("thins candidates") == 2


def test_places_are_compared_and_the_rest_is_finished(folders, capsys):
    strength, _ = volume("ball", 0)
    save(folders / "maps/ball.nii.gz", strength, np.array([[0.8, 0, 0, 7], *AFFINE[1:]]))
    turned = AFFINE @ np.array([[-1, 0, 0, 23], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    tube, solid = volume("tube", 1)
    save(folders / "maps/tube.nii.gz", tube[::-1], turned)
    run = run_bench({"mine": folders / "maps"}, folders / "truth", protocol="volume", draws=0, jobs=1)
    (failure,) = run.failures
    assert failure.id == "ball"
    assert "7 mm off" in failure.message
    assert "\n" not in failure.message
    expected = sweep(tube, solid, protocol="volume", spacing=SIZES).counts
    assert run.details["mine"].counts["tube"] == expected
    assert any("axes LAS reordered to RAS" in note for note in run.results["notes"])
    words = ["bench", str(folders / "maps"), "--truth", str(folders / "truth"), "--protocol", "volume", "-q"]
    assert main([*words, "--bootstrap", "0", "--resample", "stored", "--spacing", "file"]) == 0


def test_files_without_voxel_sizes(folders, capsys):
    for seed, kind in enumerate(("ball", "tube")):
        strength, solid = volume(kind, seed)
        (folders / "plain").mkdir(exist_ok=True)
        np.save(folders / f"plain/{kind}.npy", strength)
        labels = solid.astype(np.uint8) * 5
        (folders / "labels").mkdir(exist_ok=True)
        np.save(folders / f"labels/{kind}.npy", labels)
    options = {"protocol": "volume", "draws": 0, "jobs": 1}
    run = run_bench({"mine": folders / "plain"}, folders / "labels", **options)
    assert run.results["protocol"]["tolerance_unit"] == "voxels"
    assert any("tell no voxel size" in note for note in run.results["notes"])
    assert run.details["mine"].counts["ball"] == sweep(*volume("ball", 0), protocol="volume").counts
    run = run_bench({"mine": folders / "plain"}, folders / "labels", spacing=SIZES, **options)
    assert run.results["protocol"]["tolerance_unit"] == "mm"
    expected = sweep(*volume("ball", 0), protocol="volume", spacing=SIZES).counts
    assert run.details["mine"].counts["ball"] == expected


def test_masks_and_suppression(folders):
    mask = np.zeros((24, 22, 12), bool)
    mask[:12] = True
    for kind in ("ball", "tube"):
        save(folders / f"masks/{kind}.nii.gz", mask)
    run = run_bench(
        {"mine": folders / "maps"},
        folders / "truth",
        protocol="volume(nms=surface)",
        masks=folders / "masks",
        draws=0,
        jobs=1,
    )
    strength, solid = volume("tube", 1)
    expected = sweep(strength, solid, protocol="volume(nms=surface)", mask=mask, spacing=SIZES).counts
    assert run.details["mine"].counts["tube"] == expected
    assert not run.failures


def test_annotators_of_volumes(tmp_path, capsys):
    solids = [np.roll(volume("ball", 0)[1], step, axis=2) for step in range(3)]
    for name, solid in enumerate(solids):
        save(tmp_path / f"truth/ball/{name}.nii.gz", solid)
    run = run_annotators(tmp_path / "truth", tolerance=2.0, surface="inner", jobs=1, cache=False)
    surfaces = [inner_boundary(solid) for solid in solids]
    expected = weigh(surfaces, tolerance=2.0, spacing=SIZES)
    assert run.results["tolerance_unit"] == "mm"
    np.testing.assert_allclose(run.results["per_image"][0]["matrix"], expected.agreement, atol=1e-6)
    pair = match(surfaces[0], surfaces[1], tolerance=2.0, spacing=SIZES)
    assert expected.matches[0, 1] == pair.tp
    words = ["annotators", str(tmp_path / "truth"), "-t", "2", "--surface", "inner", "-q", "--no-cache"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    assert "2.00 mm" in capsys.readouterr().out


def test_human_level_and_strength_of_volumes(tmp_path, capsys):
    strength, solid = volume("ball", 0)
    save(tmp_path / "maps/ball.nii.gz", strength)
    others = [np.roll(solid, step, axis=2) for step in range(3)]
    for name, one in enumerate(others):
        save(tmp_path / f"truth/ball/{name}.nii.gz", one)
    words = [
        "bench",
        str(tmp_path / "maps"),
        "--truth",
        str(tmp_path / "truth"),
        "--protocol",
        "volume",
        "-q",
    ]
    assert main([*words, "--no-cache", "--json", "--strength", "0,1"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = weigh([inner_boundary(one) for one in others], tolerance=2.0, spacing=SIZES)
    assert found["human"]["f"] == pytest.approx(expected.human_counts().f.item())
    first = found["strength"]["detectors"][0]["levels"][0]
    assert first["f"] == pytest.approx(found["detectors"][0]["ods"]["f"])


def test_worst_slices_are_those_with_the_most_errors():
    rng = np.random.default_rng(0)
    candidate, truth, other = (rng.random((6, 7, 8)) < 0.2 for _ in range(3))
    hit = candidate & truth
    missed = [truth & ~candidate, other & ~candidate]
    found = list(worst_slices(candidate, hit, [truth, other], missed, spacing=(3, 1, 1)))
    assert [one.axis for one in found] == [0, 1, 2]
    for one in found:
        planes = range(candidate.shape[one.axis])
        errors = [
            np.take(candidate & ~hit, place, one.axis).sum()
            + sum(np.take(lost, place, one.axis).sum() for lost in missed) / 2
            for place in planes
        ]
        assert (one.place, one.errors) == (int(np.argmax(errors)), pytest.approx(max(errors)))
    heights = [int.from_bytes(one.png[20:24], "big") for one in found]
    assert heights == [7, 18, 18]  # planes of 3 mm are drawn three pixels high
