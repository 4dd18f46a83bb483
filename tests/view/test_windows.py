"""Rasters too large for memory: windows are judged as they are, the whole has the numbers of the run."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from skimage.morphology import thin

import edgecritic
from edgecritic.datasets.rasters import mask_window, raster_overview, raster_pixels, strength_window
from edgecritic.view.gallery import gallery_of_runs
from edgecritic.view.packing import unpack


@pytest.fixture(scope="module")
def gallery(raster_home):
    return gallery_of_runs({"run": raster_home / "run"})


@pytest.fixture(scope="module")
def client(client_of, gallery):
    return client_of(gallery)


def judged(client, gallery, **state):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    reply = client.get(f"/judge/{image}/{detector}", params=state)
    assert reply.status_code == 200, reply.text
    return unpack(reply.content)


@pytest.mark.parametrize(
    ("middle", "rows", "columns"),
    [
        (None, (138, 1162), (238, 1262)),
        ("0,0", (0, 1024), (0, 1024)),
        ("1299,1499", (276, 1300), (476, 1500)),
        ("600,1e9", (88, 1112), (476, 1500)),
    ],
)
def test_numbers_of_a_window_are_those_of_match(raster_home, gallery, client, middle, rows, columns):
    part = slice(*rows), slice(*columns)
    found, truth = (np.load(raster_home / f"{name}.npy")[part] for name in ("found", "truth"))
    candidate = thin(found >= 0.4 * 255)
    matched = edgecritic.match(candidate, truth, tolerance=2)
    state = {} if middle is None else {"w": middle}
    head, arrays = judged(client, gallery, t=0.4, **state)
    assert np.array_equal(arrays["candidate"], np.flatnonzero(candidate))
    [told] = head["annotators"]
    assert (told["tp"], told["fp"], told["fn"]) == (matched.tp, matched.fp, matched.fn)
    assert told["tp"] > 1000
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    facts = client.get(f"/open/{image}/{detector}", params=state).json()
    assert (facts["window"], facts["shape"], facts["extent"]) == (
        [rows[0], columns[0]],
        [1024, 1024],
        [1300, 1500],
    )
    _, arrays = unpack(client.get(f"/truths/{image}", params=state).content)
    assert np.array_equal(arrays["0"], np.flatnonzero(truth))


def test_the_whole_is_what_the_run_has_found(gallery, client):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    facts = client.get(f"/open/{image}/{detector}").json()
    counts = gallery.judged["mine"]["found"].counts["main"]
    assert facts["whole"]["matched_truth"] == counts.matched_truth.tolist()
    assert facts["whole"]["f"] == counts.f.tolist()
    assert not facts["changed"]
    curve = client.get(f"/curve/{image}/{detector}").json()
    place = 3
    head, _ = judged(client, gallery, t=curve["threshold"][place])
    assert (head["precision"], head["recall"]) == (curve["precision"][place], curve["recall"][place])


def test_the_overview_has_the_largest_strengths(raster_home, gallery, client):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    reply = client.get(f"/small/{image}/{detector}")
    found = np.load(raster_home / "found.npy")
    padded = np.pad(found, ((0, -1300 % 4), (0, -1500 % 4)))
    blocks = padded.reshape(325, 4, 375, 4).max(axis=(1, 3))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(reply.content))), 255 - blocks)
    assert client.get(f"/thumb/{image}").status_code == 200
    assert not client.get("/gallery").json()["images"][0]["photo"]


def test_places_that_are_none_are_refused(gallery, client):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    for middle in ("", "3", "a,b", "nan,1", "1,2,3"):
        reply = client.get(f"/judge/{image}/{detector}", params={"w": middle})
        assert (reply.status_code, reply.json()["error"]) == (400, "W must be a number.")


def test_whole_images_have_no_overview(client_of, home):
    gallery = gallery_of_runs({"run": home / "run"})
    client, image, detector = client_of(gallery), next(iter(gallery.images)), next(iter(gallery.detectors))
    assert client.get(f"/small/{image}/{detector}").status_code == 404
    whole = client.get(f"/judge/{image}/{detector}").content
    assert client.get(f"/judge/{image}/{detector}?w=3,4").content == whole


def test_a_command_is_not_told_of_a_window(gallery, client):
    assert judged(client, gallery)[0]["command"] is None


@pytest.mark.parametrize("kind", ["npy", "tif"])
def test_windows_and_overviews_of_files(tmp_path, kind, monkeypatch):
    """Bands of few rows give the same overview."""
    grey = np.random.default_rng(1).integers(0, 256, (37, 53), np.uint8)
    path, marked = tmp_path / f"grey.{kind}", tmp_path / f"marked.{kind}"
    for file, values in ((path, grey), (marked, np.where(grey > 99, 255, 0).astype(np.uint8))):
        if kind == "npy":
            np.save(file, values)
        else:
            Image.fromarray(values).save(file)
    part = slice(5, 20), slice(7, 31)
    assert np.allclose(strength_window(path, part), grey[part] / 255)
    assert np.array_equal(mask_window(marked, part), grey[part] > 99)
    cut = np.zeros(grey.shape, bool)
    cut.flat[raster_pixels(path, binarize=0.5)[0]] = True
    assert np.array_equal(mask_window(path, part, binarize=0.5), cut[part])
    monkeypatch.setattr("edgecritic.datasets.rasters._BAND_BYTES", 53 * 5)
    blocks = np.pad(grey, ((0, 3), (0, 3))).reshape(10, 4, 14, 4).max(axis=(1, 3))
    assert np.allclose(raster_overview(path, 14), blocks / 255)
