"""The bench command over classes: results, files, resuming, and input that is bad in parts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from edgecritic.cli.main import main
from edgecritic.errors import InputError
from edgecritic.maps.classes import class_boundaries
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.summary import summarise
from edgecritic.protocols.sweep import sweep
from edgecritic.report.bench import load_results, write_run
from edgecritic.report.classic import read_counts
from edgecritic.run.bench import run_bench
from edgecritic.run.classes import resized

PROTOCOL = """
id = "blocks"
tolerance = 2.0
thresholds = 9
[classes]
names = ["road", "traffic sign", "car"]
others = [0]
radius = 1
thin = true
"""
NAMES = ("road", "traffic sign", "car")


def block_image(seed):
    rng = np.random.default_rng(seed)
    labels = np.kron(rng.integers(0, 4, (4, 5)), np.ones((10, 10), np.uint8)).astype(np.uint8)
    truth = class_boundaries(labels, [1, 2, 3], radius=1, thin=True)
    return rng, labels, truth


def predicted(rng, truth, skill):
    found = np.roll(truth, 1, axis=1) * rng.uniform(0.2, 1, truth.shape) * (rng.random(truth.shape) < skill)
    return np.rint(255 * np.maximum(found, (rng.random(truth.shape) < 0.04) * 0.5)).astype(np.uint8)


@pytest.fixture
def home(tmp_path):
    """Labels of three images, and predictions: `good` by class, `poor` as arrays of all classes."""
    (tmp_path / "blocks.toml").write_text(PROTOCOL)
    (tmp_path / "truth").mkdir()
    (tmp_path / "poor").mkdir()
    for seed in range(3):
        rng, labels, truth = block_image(seed)
        Image.fromarray(labels).save(tmp_path / f"truth/im{seed}.png")
        for number, one in enumerate(predicted(rng, truth, 0.9), start=1):
            folder = tmp_path / f"good/class_{number:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(one).save(folder / f"im{seed}.png")
        np.save(tmp_path / f"poor/im{seed}.npy", predicted(rng, truth, 0.4))
    return tmp_path


def bench(home, *detectors, more=()):
    places = [f"{name}={home / name}" for name in detectors]
    fixed = [
        "--truth",
        str(home / "truth"),
        "--protocol",
        str(home / "blocks.toml"),
        "--bootstrap",
        "50",
        "-q",
    ]
    return main(["bench", *places, *fixed, "-j", "1", *more])


def test_results_and_files(home, capsys):
    out = home / "run"
    assert bench(home, "good", "poor", more=["-o", str(out)]) == 0
    told = capsys.readouterr()
    assert "MF(ODS)" in told.out
    assert all(name in told.out for name in NAMES)
    results = load_results(out)
    good, poor = results["detectors"]
    assert set(good["classes"]) == set(NAMES)
    means = [one["ods"]["f"] for one in good["classes"].values()]
    assert good["mf_ods"] == good["ods"]["f"] == pytest.approx(np.mean(means))
    assert good["mean_ap"] == pytest.approx(np.mean([one["ap"] for one in good["classes"].values()]))
    assert good["mf_ods"] > poor["mf_ods"]
    assert set(good["classes"]["car"]["ap_rules"]) == set(good["ap_rules"])
    low, high = good["classes"]["car"]["intervals"]["ods"]
    assert low <= good["classes"]["car"]["ods"]["f"] <= high
    (pair,) = results["comparisons"]
    gap = good["classes"]["road"]["ods"]["f"] - poor["classes"]["road"]["ods"]["f"]
    assert pair["classes"]["road"]["ods"]["difference"] == pytest.approx(gap)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'id="class-scores-pick"' in page
    assert "<option>traffic sign</option>" in page
    assert (out / "good/class_003/eval_bdry.txt").is_file()


def test_counts_are_those_of_every_class_alone(home):
    run = run_bench({"good": home / "good"}, home / "truth", protocol=home / "blocks.toml", draws=0, jobs=1)
    plain = run.protocol.with_changes("plain", classes=None)
    for number, name in enumerate(NAMES):
        alone = {}
        for seed in range(3):
            _, _, truth = block_image(seed)
            map_ = np.array(Image.open(home / f"good/class_{number + 1:03d}/im{seed}.png"))
            alone[f"im{seed}"] = sweep(map_, truth[number], protocol=plain).counts
            assert run.details["good"].counts[f"im{seed}"].group(name) == alone[f"im{seed}"]
        wanted = summarise(alone, protocol=plain)
        assert run["detectors"][0]["classes"][name]["ods"] == wanted.ods.as_dict()
    write_run(home / "files", run)
    row = read_counts(home / "files/good/class_002/im1_ev1.txt")
    assert row.truth[0] == run.details["good"].counts["im1"].group("traffic sign").truth[0]


def test_json(home, capsys):
    assert bench(home, "good", more=["--json", "--classes", "car,1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["protocol"]["id"] == "blocks-road-car"
    assert set(found["detectors"][0]["classes"]) == {"road", "car"}


def test_a_run_goes_on(home, monkeypatch):
    out = home / "run"
    assert bench(home, "good", more=["-o", str(out)]) == 0
    first = (out / "results.json").read_bytes()

    def refuse(*_, **__):
        raise AssertionError("computed anew")

    monkeypatch.setattr("edgecritic.run.classes.sweep_classes", refuse)
    assert bench(home, "good", more=["-o", str(out)]) == 0
    assert (out / "results.json").read_bytes() == first
    Image.fromarray(np.zeros((40, 50), np.uint8)).save(home / "good/class_001/im0.png")
    with pytest.raises(AssertionError, match="anew"):
        bench(home, "good", more=["-o", str(out)])


def test_bad_files_are_named_and_the_rest_is_finished(home, capsys):
    labels = np.array(Image.open(home / "truth/im0.png"))
    labels[0, 0] = 77
    Image.fromarray(labels).save(home / "truth/im0.png")
    Image.fromarray(np.zeros((20, 25), np.uint8)).save(home / "good/class_003/im1.png")
    (home / "good/class_001/im2.png").unlink()
    assert bench(home, "good", "poor", more=["-o", str(home / "run")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert sum("77" in line and "im0" in line for line in lines) == 2  # for both detectors
    (size,) = [line for line in lines if "20 × 25" in line]
    assert "im1.png" in size
    assert "--resize" in size
    (gone,) = [line for line in lines if "im2" in line]
    assert "class_001" in gone
    good, poor = load_results(home / "run")["detectors"]
    assert [one["classes"]["car"]["images"] for one in (good, poor)] == [1, 2]
    assert [one["classes"]["road"]["images"] for one in (good, poor)] == [1, 2]
    assert [one["classes"]["traffic sign"]["images"] for one in (good, poor)] == [2, 2]


def test_a_missing_folder_is_one_line_and_not_a_zero(home, capsys):
    for path in (home / "good/class_002").iterdir():
        path.unlink()
    (home / "good/class_002").rmdir()
    assert bench(home, "good", more=["-o", str(home / "run")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert sum("class_002" in line for line in lines) == 1
    (good,) = load_results(home / "run")["detectors"]
    assert set(good["classes"]) == {"road", "car"}
    assert any("2 of 3 classes" in note for note in load_results(home / "run")["notes"])


def test_predictions_are_resized_only_when_asked(home, capsys):
    for seed in range(3):
        maps = np.load(home / f"poor/im{seed}.npy")
        np.save(home / f"poor/im{seed}.npy", maps.repeat(2, axis=1).repeat(2, axis=2))
    assert bench(home, "poor") == 1
    capsys.readouterr()
    assert bench(home, "poor", more=["--resize", "nearest", "-o", str(home / "run")]) == 0
    assert any("nearest" in note for note in load_results(home / "run")["notes"])


def test_resizing_rules():
    map_ = np.random.default_rng(0).random((6, 8))
    assert np.array_equal(resized(map_, (3, 4), "nearest"), map_[1::2, 1::2])
    flat = np.full((6, 8), 0.25)
    for rule in ("bilinear", "bicubic"):
        assert np.allclose(resized(flat, (9, 5), rule), 0.25)
    assert resized((map_ > 0.5).astype(float), (50, 60), "bicubic").max() <= 1


def test_what_goes_with_classes_only(home, capsys):
    truth, good = str(home / "truth"), str(home / "good/class_001")
    assert main(["bench", good, "--truth", truth, "--classes", "car"]) == 1
    assert main(["bench", good, "--truth", truth, "--resize", "nearest"]) == 1
    assert bench(home, "good", more=["--strength", "0,1"]) == 1
    assert bench(home, "good", more=["--classes", "boat"]) == 1
    assert capsys.readouterr().err.count("\n") == 4
    with pytest.raises(InputError, match="classes"):
        get_protocol("bsds").with_classes(["car"])


def test_extras_and_oracle(home):
    run = run_bench(
        {"good": home / "good", "poor": home / "poor"},
        home / "truth",
        protocol=home / "blocks.toml",
        extras=("ceval", "tolerances"),
        oracle=True,
        draws=0,
        jobs=1,
    )
    good = run["detectors"][0]
    assert good["tolerances"][0]["ods"] == pytest.approx(good["mf_ods"])
    assert good["ceval"]["ods"]["f"] > 0
    assert run["oracle"]["ods"]["f"] >= good["mf_ods"]


def test_masks(home):
    (home / "masks").mkdir()
    for seed in range(3):
        mask = np.zeros((40, 50), np.uint8)
        mask[:, :25] = 255
        Image.fromarray(mask).save(home / f"masks/im{seed}.png")
    settings = {"protocol": home / "blocks.toml", "draws": 0, "jobs": 1}
    whole = run_bench({"good": home / "good"}, home / "truth", **settings)
    half = run_bench({"good": home / "good"}, home / "truth", masks=home / "masks", **settings)
    _, _, truth = block_image(1)
    counts = [run.details["good"].counts["im1"].group("road").truth[0] for run in (whole, half)]
    assert counts == [truth[0].sum(), truth[0, :, :25].sum()]
