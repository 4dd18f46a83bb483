"""What can be shown: runs, folders, single maps, volumes, segmentations; and what is refused, in words."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import httpx
import numpy as np
import pytest
from scipy.io import savemat

from edgecritic.cli.main import main
from edgecritic.errors import DataError, InputError, ProtocolMismatchError
from edgecritic.protocols.presets import get_protocol
from edgecritic.run.bench import run_bench
from edgecritic.run.regions import run_regions
from edgecritic.run.sources import Sources, read_sources
from edgecritic.view.gallery import gallery_of_folders, gallery_of_runs
from edgecritic.view.kept import Kept
from edgecritic.view.packing import unpack


def folders(home, **more):
    data = home / "data"
    places = {name: str(data / "predictions" / name) for name in ("good", "noisy")}
    return Sources(detectors=places, truth=str(data / "truth"), **more)


def test_folders_are_judged_while_they_are_shown(home, gallery, client_of):
    made = gallery_of_folders(folders(home, images=str(home / "data/images")), get_protocol("bsds"))
    client = client_of(made)
    assert client.get("/gallery").json()["judged"] == [0, 8]
    image, detector = next(iter(made.images)), next(iter(made.detectors))
    assert client.get(f"/judge/{image}/{detector}").status_code == 200
    made.judge_rest()
    told = client.get("/gallery").json()
    assert told["judged"] == [8, 8]
    client = client_of(gallery)
    known = client.get("/gallery").json()
    for key in ("detectors", "images"):
        assert told[key] == known[key]


def test_two_runs_are_shown_beside_each_other(home, tmp_path):
    data = home / "data"
    for name in ("good", "noisy"):
        run_bench({name: data / "predictions" / name}, data / "truth", out=tmp_path / name, draws=0, jobs=1)
    both = gallery_of_runs({"a": tmp_path / "good", "b": tmp_path / "noisy"})
    assert [one.name for one in both.detectors.values()] == ["good", "noisy"]
    assert len(both.images) == 4
    run_bench(
        {"good": data / "predictions/good"}, data / "truth", out=tmp_path / "s", draws=0, protocol="strict"
    )
    with pytest.raises(ProtocolMismatchError):
        gallery_of_runs({"a": tmp_path / "good", "s": tmp_path / "s"})


def test_a_run_moved_with_its_data_is_found_again(home, tmp_path):
    shutil.copytree(home, tmp_path / "elsewhere")
    moved = gallery_of_runs({"run": tmp_path / "elsewhere/run"})
    assert all(tmp_path / "elsewhere" in case.truths[0].parents for case in _cases(moved))
    assert str(tmp_path) not in (tmp_path / "elsewhere/run/records/@sources/sources.json").read_text()
    assert read_sources(home / "run").detectors["good"] == str(home / "data/predictions/good")
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/link").symlink_to(home / "run")
    assert read_sources(tmp_path / "deep/er/link") == read_sources(home / "run")


def _cases(gallery):
    return [case for one in gallery.detectors.values() for case in one.cases.values()]


def test_files_that_are_gone_are_told(home, tmp_path):
    shutil.copytree(home / "run", tmp_path / "run")
    with pytest.raises(DataError, match="cannot be found"):
        gallery_of_runs({"run": tmp_path / "run"})
    shutil.rmtree(tmp_path / "run/records/@sources")
    with pytest.raises(DataError, match="does not tell where"):
        gallery_of_runs({"run": tmp_path / "run"})


def test_files_that_have_changed_are_told(home, tmp_path, client_of):
    shutil.copytree(home, tmp_path / "copy")
    made = gallery_of_runs({"run": tmp_path / "copy/run"})
    first = tmp_path / "copy/data/predictions/good"
    names = sorted(first.iterdir())
    shutil.copy(names[1], names[0])
    image = next(key for key, name in made.images.items() if name == names[0].stem)
    client = client_of(made)
    for detector, one in made.detectors.items():
        assert client.get(f"/open/{image}/{detector}").json()["changed"] == (one.name == "good")


def test_regions_are_refused(home, tmp_path):
    with pytest.raises(InputError, match=r"judges regions.*--also regions"):
        gallery_of_folders(folders(home), get_protocol("bsds-regions"))
    truth, halves = np.ones((8, 12), np.uint8), np.zeros((17, 25))
    truth[:, 6:], halves[:, 12] = 2, 0.5
    (tmp_path / "ucm").mkdir()
    (tmp_path / "truth").mkdir()
    savemat(tmp_path / "ucm/a.mat", {"ucm2": halves})
    cell = np.empty((1, 1), object)
    cell[0, 0] = {"Segmentation": truth, "Boundaries": np.zeros((8, 12), np.uint8)}
    savemat(tmp_path / "truth/a.mat", {"groundTruth": cell})
    run_regions({"ours": tmp_path / "ucm"}, tmp_path / "truth", out=tmp_path / "run", jobs=1)
    with pytest.raises(DataError, match=r"run of regions alone.*--also regions"):
        gallery_of_runs({"run": tmp_path / "run"})


def test_single_maps_and_the_command(home, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr("edgecritic.view.serve.serve", lambda gallery, port, ready: seen.append(gallery))
    found, truth = home / "data/predictions/good/synthetic-1.png", home / "data/truth/synthetic-1.mat"
    assert main(["view", str(found), str(truth)]) == 0
    assert main(["view", f"mine={found}", "--truth", str(truth), "--protocol", "strict"]) == 0
    assert main(["view", str(home / "run")]) == 0
    assert [len(one.images) for one in seen] == [1, 1, 4]
    assert seen[1].protocol.id == "strict"
    assert main(["view", str(home / "run"), "--images", "x"]) == 1
    assert "a run has its own" in capsys.readouterr().err
    assert main(["view", str(home / "data")]) == 1
    assert "is no folder of a benchmark run" in capsys.readouterr().err
    assert main(["view", str(home / "run"), "--port", "70000"]) == 1


def test_segmentations_have_levels_in_place_of_thresholds(tmp_path, client_of):
    truth = np.zeros((20, 24), bool)
    truth[9] = True
    halves = np.repeat([1, 2], [10, 10])[:, None] * np.ones(24, int)
    whole = np.ones((20, 24), int)
    (tmp_path / "found").mkdir()
    segs = np.empty((1, 2), object)
    segs[0, 0], segs[0, 1] = whole, halves
    savemat(tmp_path / "found/a.mat", {"segs": segs})
    (tmp_path / "truth").mkdir()
    np.save(tmp_path / "truth/a.npy", truth)
    sources = Sources(detectors={"found": str(tmp_path / "found")}, truth=str(tmp_path / "truth"))
    made = gallery_of_folders(sources, get_protocol("bsds"))
    made.judge_rest()
    image, detector = next(iter(made.images)), next(iter(made.detectors))
    client = client_of(made)
    assert client.get(f"/open/{image}/{detector}").json()["segmentations"] == 2
    assert client.get(f"/strength/{image}/{detector}/0/0").status_code == 400
    assert client.get(f"/judge/{image}/{detector}?t=3").status_code == 400
    sizes = [unpack(client.get(f"/judge/{image}/{detector}?t={t}").content)[0] for t in (1, 2)]
    curve = client.get(f"/curve/{image}/{detector}?tol=2").json()
    assert [one["counts"]["matched_truth"] for one in sizes] == [0, 24]
    assert curve["recall"] == [0.0, 1.0]


def test_volumes_come_in_planes(tmp_path, client_of):
    box = np.zeros((6, 12, 14), bool)
    box[1:5, 3:9, 4:11] = True
    for folder in ("found", "truth", "photos"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "box.npy", box.astype(np.float32) if folder != "truth" else box)
    sources = Sources(
        detectors={"found": str(tmp_path / "found")},
        truth=str(tmp_path / "truth"),
        images=str(tmp_path / "photos"),
    )
    made = gallery_of_folders(sources, get_protocol("volume(tolerance=1)"))
    image, detector = next(iter(made.images)), next(iter(made.detectors))
    client = client_of(made)
    assert client.get(f"/open/{image}/{detector}").json()["shape"] == [6, 12, 14]
    for axis, shape in enumerate(((12, 14), (6, 14), (6, 12))):
        head, arrays = unpack(client.get(f"/strength/{image}/{detector}/{axis}/3").content)
        assert tuple(head["shape"]) == shape
        assert np.array_equal(arrays["strength"].reshape(shape), box.take(3, axis))
        assert client.get(f"/photo/{image}/{axis}/3").headers["content-type"] == "image/png"
    assert client.get(f"/strength/{image}/{detector}/0/6").status_code == 400
    assert client.get(f"/thumb/{image}").headers["content-type"] == "image/jpeg"
    head, arrays = unpack(client.get(f"/judge/{image}/{detector}?t=0.5").content)
    _, truths = unpack(client.get(f"/truths/{image}").content)
    assert head["recall"] == 1.0
    assert arrays["candidate"].size == box.sum()
    assert truths["0"].size < box.sum()  # the surface


def test_what_is_kept_is_bounded():
    kept: Kept[bytes] = Kept(1000, len)
    for number in range(100):
        assert kept.get(number % 13, lambda: bytes(300)) == bytes(300)
        assert kept.size <= 1000
    assert kept.get("large", lambda: bytes(5000)) == bytes(5000)
    with pytest.raises(ZeroDivisionError):
        kept.get("bad", lambda: 1 // 0)
    assert kept.get("bad", lambda: b"good") == b"good"


def test_the_command_serves_until_it_is_interrupted(home):
    command = [sys.executable, "-m", "edgecritic", "view", str(home / "run"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("EdgeCritic view: http://127.0.0.1:"), process.stderr.read()
        page = httpx.get(line.split()[-1], trust_env=False, timeout=60)
        assert "EdgeCritic view" in page.text
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert process.returncode == 0
    assert errors == "Ctrl+C ends it.\n"
