"""Thumbnails, photos with more than 8 bits, and images that come in tiles."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest
from PIL import Image as Picture
from scipy import ndimage
from studio_pages import AS_TEXT, bytes_of, comes_to, drag, invite, saved, shown_map

from edgecritic.studio import labelling, projects
from edgecritic.studio.large import TILE, coarse_level, shrink_map, tiles_of
from edgecritic.studio.models import Annotation
from edgecritic.studio.pictures import deep_values, encode_png, make_upload, read_photo


def tiff(values):
    file = io.BytesIO()
    Picture.fromarray(values).save(file, "TIFF")
    return file.getvalue()


def test_tiles_are_the_pieces_of_the_maps():
    rng = np.random.default_rng(0)
    levels = (rng.integers(0, 256, (1500, 2100)) * (rng.random((1500, 2100)) < 0.1)).astype(np.uint8)
    found = {
        (one.kind, one.level, one.row, one.column): one.content for one in tiles_of(levels, levels, levels)
    }
    whole = np.zeros_like(levels)
    for row in range(2):
        for column in range(3):
            part = whole[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
            data = np.frombuffer(gzip.decompress(found["gradient", 0, row, column]), np.uint8)
            part[:] = data.reshape(part.shape)
    assert np.array_equal(whole, levels)
    level = coarse_level(2100, 1500)
    assert level == 1
    coarse = np.frombuffer(gzip.decompress(found["proposal", 1, 0, 0]), np.uint8).reshape(750, 1024)
    wanted = ndimage.maximum_filter(levels, size=2, origin=-1)[::2, ::2]
    assert np.array_equal(coarse, wanted[:, :1024])
    assert np.array_equal(shrink_map(levels), wanted)
    tops = [key for key in found if key[0] == "photo" and key[1] == 2]
    assert tops == [("photo", 2, 0, 0)]


def test_sixteen_bits_and_floats_keep_their_values():
    deep = (np.add.outer(np.arange(40), 2 * np.arange(50)) + 1000).astype(np.uint16)
    upload = read_photo(tiff(deep), 10**6)
    assert np.array_equal(deep_values(upload.deep), deep)
    shown = np.array(Picture.open(io.BytesIO(upload.photo)))
    assert shown.min() == 0  # a window of 138 of 65536 values fills the screen
    assert shown.max() == 255
    floats = read_photo(tiff((deep / 7.0 - 300).astype(np.float32)), 10**6)
    scaled = deep_values(floats.deep).astype(float)
    expected = (deep - deep.min()) / (deep.max() - deep.min()) * 65535
    assert np.abs(scaled - expected).max() <= 1
    assert upload.thumb[:2] == b"\xff\xd8"
    assert make_upload(deep).proposal == upload.proposal


def test_galleries_load_small_pictures(site):
    page = site.owner.get("/projects/1").text
    assert "/projects/1/images/1/thumb" in page
    assert '/photo"' not in page
    reply = site.owner.get("/projects/1/images/1/thumb")
    assert reply.headers["content-type"] == "image/jpeg"
    assert "immutable" in reply.headers["cache-control"]
    with site.database.session() as session:  # an image of an earlier version has none
        session.delete(projects.file_of(session, 1, "thumb"))
    again = site.owner.get("/projects/1/images/1/thumb")
    assert Picture.open(io.BytesIO(again.content)).size == (80, 64)


def test_window_and_level_of_a_deep_photo(site, open_page):
    deep = (np.add.outer(np.arange(64), 2 * np.arange(80)) + 1000).astype(np.uint16)
    with site.database.session() as session:
        projects.add_image(session, 1, "deep", read_photo(tiff(deep), 10**6))
    page = open_page()
    page.goto(f"{site.url}{invite(site, 'Ada')[0]}")
    page.click("text=deep")
    page.wait_for_selector("body[data-ready=yes]")
    read = """() => { const c = window.studio.view.photo.bitmap.getContext("2d");
      return [0, 79].map((x) => c.getImageData(x, 0, 1, 1).data[0]); }"""
    dark, bright = page.evaluate(read)
    assert bright - dark > 100
    page.locator("#window-width").fill("1000")
    assert max(page.evaluate(read)) - min(page.evaluate(read)) <= 1  # all of 65536 values: nothing is seen
    archive = site.owner.get("/projects/1/export.zip").content
    with zipfile.ZipFile(io.BytesIO(archive)) as files, files.open("images/deep.png") as file:
        assert np.array_equal(np.array(Picture.open(file)), deep)


def test_a_large_photo_with_sixteen_bits_has_window_and_level(site, open_page):
    rows, columns = np.arange(2100), np.arange(2000)
    deep = np.add.outer(rows // 300 * 100, columns // 200 * 200).astype(np.uint16) + 1000
    upload = make_upload(deep)
    whole = np.zeros_like(deep)
    for tile in upload.tiles:
        if (tile.kind, tile.level) == ("deep", 0):
            top, left = 1024 * tile.row, 1024 * tile.column
            part = whole[top : top + 1024, left : left + 1024]
            part[:] = np.frombuffer(gzip.decompress(tile.content), "<u2").reshape(part.shape)
    assert np.array_equal(whole, deep)
    with site.database.session() as session:
        projects.add_image(session, 1, "deep", upload)
    page = open_page()
    page.goto(f"{site.url}{invite(site, 'Ada')[0]}")
    page.click("text=deep")
    page.wait_for_selector("body[data-ready=yes]")
    read = """() => { const { canvas } = window.studio.view;
      return canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[0]; }"""
    page.uncheck("#show-map")
    assert comes_to(page, lambda: page.evaluate(read) > 20, True)
    page.locator("#window-level").fill("1000")
    assert comes_to(page, lambda: page.evaluate(read), 0)  # everything is far below the window


def test_an_image_in_tiles_is_edited_as_any_other(site, open_page):
    rng = np.random.default_rng(0)
    blocks = np.kron(rng.integers(0, 255, (80, 92)), np.ones((25, 25))).astype(np.uint8)
    with site.database.session() as session:
        projects.add_image(session, 1, "tiled", read_photo(encode_png(blocks), 10**7))
        levels = projects.levels(session, 4)
    [path] = invite(site, "Ada")
    guest = site.guest(path)
    tile = guest.get("/g/1/images/4/tiles/proposal/0/1/2").content
    assert np.array_equal(np.frombuffer(tile, np.uint8).reshape(976, 252), levels[1024:, 2048:])
    assert guest.get("/g/1/images/4/tiles/proposal/0/9/9").status_code == 404
    assert guest.get("/g/1/images/4/tiles/nothing/0/0/0").status_code == 404
    page = open_page()
    page.goto(f"{site.url}{path}")
    page.click("text=tiled")
    page.wait_for_selector("body[data-ready=yes]")
    page.wait_for_selector("#count:has-text(' px')")
    page.keyboard.press("e")
    drag(page, (100, 100), (900, 700), (1500, 300), (2200, 1900))
    page.keyboard.press(".")
    saved(page)
    with site.database.reading() as session:
        stored = labelling.map_of(session, session.get_one(Annotation, 1))
    assert np.array_equal(shown_map(page, stored.shape), stored)
    assert page.text_content("#count") == f"{int(stored.sum()):,} px"
    coarse = page.evaluate(
        f"""() => {{ const p = window.studio.view.pyramid, out = new Uint32Array(575 * 500);
        p.paint(2, [0, 0, 574, 499], out, 1, 1); return {AS_TEXT}(out); }}"""
    )
    wanted = stored.reshape(500, 4, 575, 4).any(axis=(1, 3))
    assert np.array_equal(bytes_of(coarse).astype(bool).reshape(500, 575), wanted)


@pytest.fixture(scope="module")
def upload():
    """A photo of the size of the Berkeley ones, with much in it."""
    rng = np.random.default_rng(1)
    smooth = ndimage.gaussian_filter(rng.random((321, 481, 3)), (2, 2, 0))
    return make_upload(np.rint(255 * (smooth - smooth.min()) / np.ptp(smooth)).astype(np.uint8))


def test_a_page_of_many_images_is_light(site, open_page, upload):
    """500 images: what is loaded before anybody scrolls is at most a megabyte."""
    with site.database.session() as session:
        made = [projects.add_image(session, 1, f"n{n:03d}", upload) for n in range(500)]
    assert len(made) == 500
    page = open_page()
    page.goto(site.link())
    size = []
    page.on("requestfinished", lambda request: size.append(request.sizes()["responseBodySize"]))
    page.goto(f"{site.url}/projects/1", wait_until="networkidle")
    assert len(size) > 10
    assert sum(size) <= 2**20
