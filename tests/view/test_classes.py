"""Runs of semantic boundaries: every class with the counts of the run, and what pages are told of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import distance_transform_edt
from skimage.morphology import thin

import edgecritic
from edgecritic.cli.main import main
from edgecritic.errors import DataError
from edgecritic.maps.classes import class_boundaries
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.sources import Sources
from edgecritic.view.gallery import gallery_of_folders, gallery_of_runs
from edgecritic.view.packing import unpack

NAMES = ("road", "traffic sign", "car")


@pytest.fixture(scope="module")
def gallery(class_home):
    return gallery_of_runs({"run": class_home / "run"})


@pytest.fixture(scope="module")
def client(client_of, gallery):
    return client_of(gallery)


def judged(client, image, detector, **state):
    reply = client.get(f"/judge/{image}/{detector}", params=state)
    assert reply.status_code == 200, reply.text
    return unpack(reply.content)


def test_every_class_has_the_counts_of_the_run(gallery, client):
    seen = 0
    for image, name in gallery.images.items():
        for detector, one in gallery.detectors.items():
            whole = gallery.judged[one.name][name].counts["main"]
            for group in NAMES:
                counts = whole.group(group)
                for place in (0, 4, 8):
                    head, _ = judged(client, image, detector, c=group, t=counts.thresholds[place])
                    told = {key: getattr(counts, key)[place] for key in head["counts"]}
                    assert head["counts"] == told
                    assert head["f"] == counts.f[place]
                    seen += head["counts"]["matched_truth"]
                curve = client.get(f"/curve/{image}/{detector}", params={"c": group}).json()
                assert np.array_equal(curve["recall"], counts.recall)
    assert seen > 500


@pytest.mark.parametrize("state", [{"tol": 1.0}, {"tol": 3.5, "s": "eps"}])
def test_another_tolerance_is_swept_anew(gallery, client, state):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    curve = client.get(f"/curve/{image}/{detector}", params={"c": "car", **state}).json()
    for place in (2, 6):
        head, _ = judged(client, image, detector, c="car", t=curve["threshold"][place], **state)
        assert (head["precision"], head["recall"]) == (curve["precision"][place], curve["recall"][place])


def test_numbers_are_those_of_match(class_home, gallery, client):
    """Both maps lose two pixels at each side; then pixels inside a car, far from its boundary, go."""
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    labels = np.asarray(Image.open(class_home / "truth/im0.png"))
    found = np.asarray(Image.open(class_home / "good/class_003/im0.png")) / 255
    truth = class_boundaries(labels, [1, 2, 3], radius=1, thin=True)[2][2:-2, 2:-2]
    candidate = thin(found[2:-2, 2:-2] >= 0.35)
    candidate &= (labels[2:-2, 2:-2] != 3) | (distance_transform_edt(~truth) <= 1.5)
    matched = edgecritic.match(candidate, truth, tolerance=1.5)
    head, arrays = judged(client, image, detector, c="car", t=0.35, tol=1.5)
    assert np.array_equal(arrays["candidate"], np.flatnonzero(candidate))
    [told] = head["annotators"]
    assert (told["tp"], told["fp"], told["fn"]) == (matched.tp, matched.fp, matched.fn)
    assert head["command"] is None
    _, arrays = unpack(client.get(f"/truths/{image}", params={"c": "car"}).content)
    assert np.array_equal(arrays["0"], np.flatnonzero(truth))
    _, arrays = unpack(client.get(f"/strength/{image}/{detector}/0/0", params={"c": "car"}).content)
    assert np.array_equal(arrays["strength"], found[2:-2, 2:-2].astype(np.float32).ravel())


def test_the_wall_has_the_numbers_of_a_class(class_home, gallery, client):
    results = json.loads((class_home / "run" / "results.json").read_text())
    told = client.get("/gallery").json()
    assert told["classes"] == list(NAMES)
    assert told["class"] == "road"
    assert [one["id"] for one in told["protocols"]] == ["run"]
    for group in NAMES:
        told = client.get("/gallery", params={"c": group}).json()
        for number, entry in enumerate(results["detectors"]):
            assert told["detectors"][number]["ods"] == entry["classes"][group]["ods"]["f"]


def test_an_image_without_a_class_has_no_number(gallery, client):
    told = client.get("/gallery", params={"c": "car"}).json()
    numbers = {one["name"]: one["numbers"] for one in told["images"]}
    assert numbers["im2"][0] == {"set": None, "best": None, "threshold": None}
    assert numbers["im2"][1] == {"set": 0.0, "best": None, "threshold": None}  # false alarms only
    assert numbers["im0"][0]["best"] >= numbers["im0"][0]["set"] > 0


def test_photos_come_to_the_size_of_the_maps(class_home, gallery, client):
    """The photo is twice as large as the truth."""
    import io

    image = next(iter(gallery.images))
    shown = np.asarray(Image.open(io.BytesIO(client.get(f"/photo/{image}/0/0").content)))
    photo = np.asarray(Image.open(class_home / "photos/im0.png")).astype(float)
    means = photo.reshape(40, 2, 50, 2, 3).mean(axis=(1, 3))[2:-2, 2:-2]
    assert shown.shape == (36, 46, 3)
    assert np.abs(shown - means).max() <= 1
    assert client.get(f"/thumb/{image}").status_code == 200
    without = list(gallery.images)[2]
    pictures = {client.get(f"/thumb/{without}", params={"c": group}).content for group in NAMES[:2]}
    assert len(pictures) == 2  # the maps of the classes


def test_folders_are_judged_while_they_are_shown(class_home, gallery):
    sources = Sources(detectors={"good": str(class_home / "good")}, truth=str(class_home / "truth"))
    made = gallery_of_folders(sources, find_protocol(class_home / "blocks.toml"))
    assert len(made.waiting) == 3
    made.judge_rest()
    assert made.judged["good"]["im1"].counts["main"] == gallery.judged["good"]["im1"].counts["main"]


def test_what_is_not_there_is_said(client, gallery):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    for path in (f"/judge/{image}/{detector}", "/gallery", f"/curve/{image}/{detector}", f"/thumb/{image}"):
        reply = client.get(path, params={"c": "../car"})
        assert (reply.status_code, reply.json()["error"]) == (404, "No class has this name.")


def test_a_map_of_a_class_that_is_a_link_out_is_not_read(class_home, gallery, tmp_path):
    [detector] = [one for one in gallery.detectors.values() if one.name == "good"]
    case = detector.cases["im0"]
    outside = tmp_path / "im0.png"
    outside.write_bytes(case.maps["car"].read_bytes())
    link = class_home / "good/class_003/link.png"
    link.symlink_to(outside)
    from dataclasses import replace

    cases = {"im0": replace(case, maps={**case.maps, "car": link})}
    with pytest.raises(DataError, match="a link out of the folders"):
        gallery.case(replace(detector, cases=cases), "im0")
    link.unlink()


def test_some_classes_of_a_protocol(class_home, tmp_path):
    words = [f"poor={class_home / 'poor'}", "--truth", class_home / "truth", "--classes", "car", "-q"]
    more = ["--protocol", class_home / "blocks.toml", "--bootstrap", "0", "-o", tmp_path / "run"]
    assert main(["bench", *map(str, words), *map(str, more)]) == 0
    assert gallery_of_runs({"run": tmp_path / "run"}).groups == ("car",)
