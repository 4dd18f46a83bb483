"""Regions over folders: the published example by command, resuming, failures, what does not go together."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.io import savemat

from edgecritic.cli.main import main
from edgecritic.datasets.files import read_hierarchy
from edgecritic.errors import DataError, InputError
from edgecritic.report.bench import load_results, write_benchmark
from edgecritic.report.classic import REGION_FILES
from edgecritic.report.classic_regions import read_image_regions
from edgecritic.report.regions import region_findings
from edgecritic.run.bench import run_bench
from edgecritic.run.regions import run_regions

SHAPE = (20, 30)


def labels(rng):
    """Blocks of labels, and their boundaries."""
    blocks = rng.integers(1, 5, (2, 3))
    found = np.kron(blocks, np.ones((10, 10), np.uint16)).astype(np.uint16)
    edges = np.zeros(SHAPE, bool)
    edges[:, :-1] |= found[:, 1:] != found[:, :-1]
    edges[:-1] |= found[1:] != found[:-1]
    return found, edges


def hierarchy(rng):
    cells = np.zeros((41, 61))
    cells[20], cells[:, 20], cells[:, 40] = rng.choice([0.2, 0.4, 0.8], 3, replace=False)
    return cells


@pytest.fixture
def home(tmp_path):
    """Three images with two annotators, hierarchies and segmentations."""
    rng = np.random.default_rng(6)
    for folder in ("truth", "ucm", "segs"):
        (tmp_path / folder).mkdir()
    for name in ("one", "two", "three"):
        cells = np.empty((1, 2), dtype=object)
        for person in range(2):
            found, edges = labels(rng)
            cells[0, person] = {"Segmentation": found, "Boundaries": edges}
        savemat(tmp_path / f"truth/{name}.mat", {"groundTruth": cells})
        savemat(tmp_path / f"ucm/{name}.mat", {"ucm2": hierarchy(rng)})
        segs = np.empty((1, 2), dtype=object)
        segs[0, 0], segs[0, 1] = labels(rng)[0].astype(float), labels(rng)[0]
        savemat(tmp_path / f"segs/{name}.mat", {"segs": segs})
    return tmp_path


def command(home, *detectors, out="out", more=()):
    folders = [f"{name}={home / name}" for name in detectors]
    return ["bench", *folders, "--truth", str(home / "truth"), "-o", str(home / out), *more]


REGIONS = ["--protocol", "bsds-regions"]


@pytest.mark.data
@pytest.mark.parametrize(("test", "kind"), [("test_1", "ucm2"), ("test_4", "segs"), ("test_5", "segs")])
def test_the_published_example(data, tmp_path, test, kind):
    five = tmp_path / "five.toml"
    five.write_text('id = "five"\nbase = "bsds-regions"\nthresholds = 5\n')
    place = data / "bsds_bench"
    more = ["--protocol", str(five), "-o", str(tmp_path / "out")]
    assert main(["bench", str(place / kind), "--truth", str(place / "groundTruth"), *more]) == 0
    for name in REGION_FILES:
        assert (tmp_path / "out" / name).read_bytes() == (place / test / name).read_bytes()
        assert (tmp_path / "out" / kind / name).read_bytes() == (place / test / name).read_bytes()


def test_results_are_written_and_printed(home, capsys):
    assert main(command(home, "ucm", "segs", more=[*REGIONS, "--json"])) == 0
    shown = json.loads(capsys.readouterr().out)
    results = load_results(home / "out")
    assert shown == results
    for entry in results["detectors"]:
        assert "ods" not in entry
        assert entry["images"] == entry["regions"]["images"] == 3
        one = read_image_regions(home / "out" / entry["folder"], "two")
        row = next(row for row in entry["regions"]["per_image"] if row["id"] == "two")
        assert row["recall"] == pytest.approx(one.covering.max(), rel=1e-5)
        assert row["voi"] == pytest.approx(one.voi.min(), rel=1e-5)
        assert row["annotators"] == one.annotators == 2
        covering = entry["regions"]["covering"]
        assert covering["ods"] == max(entry["regions"]["curve"]["covering"])
        assert covering["ods"] <= covering["ois"] <= covering["best"]
    assert main(command(home, "ucm", "segs", more=REGIONS)) == 0
    assert "Covering ODS" in capsys.readouterr().out
    assert "Covering" in (home / "out/report.md").read_text()
    with pytest.raises(DataError, match="regions alone"):
        write_benchmark(home / "page", results)


def test_beside_boundaries(home, capsys):
    assert main(command(home, "ucm", "segs", more=["--also", "regions"])) == 0
    assert "PRI ODS" in capsys.readouterr().out
    both = load_results(home / "out")["detectors"]
    assert main(command(home, "ucm", "segs", out="alone", more=REGIONS)) == 0
    alone = load_results(home / "alone")["detectors"]
    assert [one["regions"] for one in both] == [one["regions"] for one in alone]
    assert all(one["ods"]["f"] > 0 for one in both)
    for name in ("eval_cover.txt", "one_ev2.txt", "eval_bdry.txt", "one_ev1.txt"):
        assert (home / "out/ucm" / name).exists()
    page = (home / "out/report.md").read_text()
    assert "Covering" in page
    assert "ucm/eval_RI_VOI_thr.txt" in page
    assert main(command(home, "ucm", "segs")) == 0
    assert load_results(home / "out")["detectors"][0]["regions"] is None


def test_finished_images_are_not_judged_again(home, monkeypatch):
    assert main(command(home, "ucm", more=REGIONS)) == 0
    first = (home / "out/results.json").read_bytes()

    def forbidden(*_, **__):
        raise AssertionError("judged again")

    monkeypatch.setattr("edgecritic.run.regions.sweep_hierarchy", forbidden)
    assert main(command(home, "ucm", more=REGIONS)) == 0
    assert (home / "out/results.json").read_bytes() == first
    with pytest.raises(AssertionError, match="judged again"):
        main(command(home, "ucm", more=[*REGIONS, "--fresh", "--jobs", "1"]))


def test_jobs_do_not_change_a_byte(home):
    for jobs in ("1", "3"):
        assert main(command(home, "ucm", "segs", out=jobs, more=[*REGIONS, "--jobs", jobs])) == 0
    assert (home / "1/results.json").read_bytes() == (home / "3/results.json").read_bytes()


@pytest.mark.parametrize("also", [True, False])
def test_bad_files_are_named_and_the_rest_is_finished(home, capsys, also):
    cells = hierarchy(np.random.default_rng(1))
    cells[1::2, 1::2] = 0.05  # boundaries can be judged, regions not
    savemat(home / "ucm/one.mat", {"ucm2": cells})
    (home / "segs/two.mat").write_bytes((home / "segs/two.mat").read_bytes()[:300])
    (home / "segs/three.mat").unlink()
    more = ["--also", "regions"] if also else REGIONS
    assert main(command(home, "ucm", "segs", more=more)) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning" not in line]
    assert sum("ucm: one: regions: hierarchy must not exceed" in line for line in lines) == 1
    assert sum("segs: two: " in line for line in lines) == 1
    assert any("segs: three: has a truth but no prediction" in line for line in lines)
    entries = {one["name"]: one for one in load_results(home / "out")["detectors"]}
    assert entries["ucm"]["regions"]["images"] == 2
    assert entries["segs"]["regions"]["images"] == 1
    if also:
        assert entries["ucm"]["images"] == 3


def test_soft_maps_have_no_regions(home, capsys):
    (home / "soft").mkdir()
    for name in ("one", "two", "three"):
        np.save(home / f"soft/{name}.npy", np.random.default_rng(1).random(SHAPE))
    assert main(command(home, "soft", "ucm", more=["--also", "regions"])) == 1
    said = capsys.readouterr().err
    assert said.count("soft: all images: regions: no prediction is a hierarchy") == 1
    entries = load_results(home / "out")["detectors"]
    assert {one["name"]: one["regions"] is None for one in entries} == {"soft": True, "ucm": False}
    assert main(command(home, "soft", out="alone", more=REGIONS)) == 1
    assert load_results(home / "alone")["detectors"] == []
    with pytest.raises(InputError, match=r"\.mat files"):
        read_hierarchy(home / "soft/one.npy")
    with pytest.raises(DataError, match="neither a hierarchy"):
        read_hierarchy(home / "truth/one.mat")


def test_truths_without_labels_are_told(home, capsys):
    for path in (home / "truth").iterdir():
        path.unlink()
        np.save(path.with_suffix(".npy"), np.eye(*SHAPE, dtype=np.uint8))
    assert main(command(home, "ucm", more=REGIONS)) == 1
    assert "segmentations are read from" in capsys.readouterr().err


def test_what_does_not_go_together_is_refused(home, capsys):
    for more in (["--nms", "hed"], ["--oracle"], ["--strength", "0,1"], ["--also", "ceval"]):
        assert main(command(home, "ucm", "segs", more=[*REGIONS, *more])) == 1
        assert f"leave {more[0]} out" in capsys.readouterr().err
    with pytest.raises(InputError, match="judges regions"):
        run_bench({"ucm": home / "ucm"}, home / "truth", protocol="bsds-regions")
    with pytest.raises(InputError, match="judges boundaries"):
        run_regions({"ucm": home / "ucm"}, home / "truth", protocol="bsds")
    with pytest.raises(InputError, match="at least one folder"):
        run_regions({}, home / "truth")
    with pytest.raises(InputError, match="holds maps that are judged"):
        run_regions({"ucm": home / "ucm"}, home / "truth", out=home / "ucm")


def test_segmentations_of_different_numbers_cannot_be_pooled(home, capsys):
    segs = np.empty((1, 1), dtype=object)
    segs[0, 0] = np.ones(SHAPE, np.uint8)
    savemat(home / "segs/one.mat", {"segs": segs})
    assert main(command(home, "segs", "ucm", more=REGIONS)) == 1
    assert "segs: all images: regions: all images must have the same thresholds" in capsys.readouterr().err
    assert [one["name"] for one in load_results(home / "out")["detectors"]] == ["ucm"]


def test_labels_must_be_whole_numbers(home, capsys):
    segs = np.empty((1, 2), dtype=object)
    segs[0, 0] = segs[0, 1] = np.full(SHAPE, 1.5)
    savemat(home / "segs/one.mat", {"segs": segs})
    assert main(command(home, "segs", more=REGIONS)) == 1
    assert "whole numbers" in capsys.readouterr().err


def test_a_mask_leaves_pixels_out(home):
    (home / "masks").mkdir()
    for name in ("one", "two", "three"):
        np.save(home / f"masks/{name}.npy", np.ones(SHAPE, bool))
    place = {"ucm": home / "ucm"}
    plain, whole = (run_regions(place, home / "truth", masks=masks) for masks in (None, home / "masks"))
    assert whole["detectors"] == plain["detectors"]
    part = np.zeros(SHAPE, bool)
    part[:10, :10] = True  # one block: nothing to tell apart
    for name in ("one", "two", "three"):
        np.save(home / f"masks/{name}.npy", part)
    found = run_regions(place, home / "truth", masks=home / "masks")["detectors"][0]["regions"]
    assert found["covering"]["ods"] == found["pri"]["ods"] == 1
    assert found["voi"]["ods"] == 0


def test_findings_follow_from_the_numbers():
    def detector(name, covering, pri, voi):
        scores = {"covering": covering, "pri": pri, "voi": voi}
        return {
            "name": name,
            "regions": {key: {"ods": value, "threshold": 0.5} for key, value in scores.items()},
        }

    first = detector("a", 0.6, 0.8, 1.5)
    assert "a leads by all three" in region_findings([first, detector("b", 0.5, 0.7, 1.6)])[1]
    assert "do not agree" in region_findings([first, detector("b", 0.5, 0.7, 1.4)])[1]
    assert "a, b are level" in region_findings([first, detector("b", 0.6, 0.8, 1.5)])[1]
    assert len(region_findings([first])) == 1
    assert region_findings([]) == ["No detector has regions."]


def test_options_of_boundaries_and_classes_are_refused(home, capsys):
    for more in (["--resize", "nearest"], ["--binarize", "0.5"]):
        assert main(command(home, "ucm", more=[*REGIONS, *more])) == 1
        assert f"leave {more[0]} out" in capsys.readouterr().err
