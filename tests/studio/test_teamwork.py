"""A laboratory at work: guidelines, shared images, reviews, consensus maps, renaming and deleting."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image as Picture
from studio_pages import invite, open_tool

from edgecritic.annotators.raters import rated_labels
from edgecritic.cli.main import main
from edgecritic.studio import labelling, projects, teamwork
from edgecritic.studio.models import Annotation, Experiment
from edgecritic.studio.pictures import deep_values

HTML = {"accept": "text/html"}


def submit(site, client, guest, image, points=(1, 1, 60, 50)):
    """Draw a line on an image and submit it; return the id of the annotation."""
    page = client.get(f"/g/{guest}/label/{image}").text
    work = page.split('data-annotation="')[1].split('"')[0]
    edit = {"seq": 0, "key": "a", "op": "draw", "data": {"points": list(points)}}
    assert client.post(f"/g/{guest}/annotations/{work}/events", json={"events": [edit]}).status_code == 200
    assert client.post(f"/g/{guest}/annotations/{work}/submit", json={"count": 1}).status_code == 200
    return int(work)


def test_a_guideline_is_shown_to_annotators(site):
    [path] = invite(site, "Ada")
    assert "Guideline" not in site.guest(path).get("/g/1/", headers=HTML).text
    text = "Outlines only.\r\n\r\nNo <b>texture</b>.\x00"
    reply = site.owner.post("/projects/1/guideline", data={"text": text})
    assert reply.headers["location"] == "/projects/1/people"
    for where in ("/g/1/", "/g/1/label/1"):
        page = site.guest(path).get(where, headers=HTML).text
        assert "Outlines only.\n\nNo &lt;b&gt;texture&lt;/b&gt;." in page
    assert site.owner.post("/projects/1/guideline", data={"text": "x" * 8001}).status_code == 400
    assert site.owner.post("/projects/9/guideline", data={"text": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("images", "people", "each"), [(7, 3, 2), (5, 4, 1), (6, 4, 3), (3, 2, 5), (0, 2, 1)]
)
def test_images_are_shared_out_evenly(images, people, each):
    found = teamwork.shared_out(range(100, 100 + images), range(people), each)
    assert len(set(found)) == len(found) == images * min(each, people)
    for image in range(100, 100 + images):
        assert sum(one == image for _, one in found) == min(each, people)
    counts = [sum(one == person for one, _ in found) for person in range(people)]
    assert max(counts) - min(counts) <= 1


def test_people_see_the_images_that_were_given_to_them(site):
    paths = invite(site, "Ada", "Bo", "Cy")
    clients = [site.guest(path) for path in paths]
    submit(site, clients[0], 1, 3)
    assert site.owner.post("/projects/1/assign", data={"each": "1"}).status_code == 303
    given = [
        {one for one in (1, 2, 3) if f"/images/{one}/thumb" in client.get(f"/g/{guest}/").text}
        for guest, client in enumerate(clients, start=1)
    ]
    assert given == [{1, 3}, {2}, {3}]  # who has begun an image keeps it
    assert clients[1].get("/g/2/label/1").status_code == 404
    assert clients[1].get("/g/2/label/2").status_code == 200
    people = site.owner.get("/projects/1/people", headers=HTML).text
    assert "1 of 2" in people
    assert people.count("0 of 1") == 2
    images = site.owner.get("/projects/1", headers=HTML).text
    assert images.count("0 of 1 submitted") == 2
    assert images.count("1 of 2 submitted") == 1
    site.owner.post("/projects/1/assign", data={"each": ""})
    assert "/images/1/thumb" in clients[1].get("/g/2/").text
    assert site.owner.post("/projects/1/assign", data={"each": "0"}).status_code == 400
    assert site.owner.post("/projects/1/assign", data={"each": "many"}).status_code == 400


def test_a_map_is_commented_sent_back_and_submitted_again(site):
    [path, other] = invite(site, "Ada", "Bo")
    ada, bo = site.guest(path), site.guest(other)
    work = submit(site, ada, 1, 1)
    page = site.owner.get(f"/annotations/{work}/review", headers=HTML).text
    assert "scene-0 by Ada" in page
    place = {"x": 5, "y": 6, "text": "This <i>goes</i> on"}
    said = site.owner.post(f"/annotations/{work}/comments", json=place).json()["id"]
    for wrong in (
        {**place, "x": 80},
        {**place, "y": -1},
        {**place, "text": " "},
        {"x": 1, "y": 1},
        [],
        {**place, "x": True},
    ):
        assert site.owner.post(f"/annotations/{work}/comments", json=wrong).status_code == 400
    assert "This &lt;i&gt;goes" in site.owner.get(f"/annotations/{work}/review", headers=HTML).text
    assert site.owner.post(f"/annotations/{work}/return").status_code == 303
    assert "sent back" in ada.get("/g/1/", headers=HTML).text
    assert "1 open comment" in site.owner.get("/projects/1/images/1", headers=HTML).text
    told = ada.get(f"/g/1/annotations/{work}/comments").json()["comments"]
    assert told == [{"id": said, **place, "done": False}]
    assert bo.get(f"/g/2/annotations/{work}/comments").status_code == 404
    assert bo.post(f"/g/2/annotations/{work}/comments/{said}", json={"done": True}).status_code == 404
    assert ada.post(f"/g/1/annotations/{work}/comments/{said}", json={"done": 1}).status_code == 400
    assert ada.post(f"/g/1/annotations/{work}/comments/{said}", json={"done": True}).status_code == 200
    assert ada.post(f"/g/1/annotations/{work}/submit", json={"count": 1}).status_code == 200
    with site.database.reading() as session:
        assert session.get_one(Annotation, work).returned is None
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)) as archive:
        document = json.loads(archive.read("events/scene-0/1-Ada.json"))
    assert document["comments"] == [{"x": 5, "y": 6, "text": "This <i>goes</i> on", "done": True}]
    assert site.owner.post(f"/annotations/{work}/comments/{said}/delete", json={}).status_code == 200
    assert site.owner.post(f"/annotations/{work}/comments/{said}/delete", json={}).status_code == 404
    for path in ("review", "layer"):
        assert site.owner.get(f"/annotations/999/{path}").status_code == 404
        assert ada.get(f"/annotations/{work}/{path}").status_code in (303, 403)


def test_a_consensus_is_built_edited_and_exported_apart(site):
    paths = invite(site, "Ada", "Bo", "Cy")
    lines = [(1, 1, 60, 1), (1, 1, 40, 1), (1, 40, 60, 40)]
    for guest, (path, points) in enumerate(zip(paths, lines, strict=True), start=1):
        client = site.guest(path)
        client.get(f"/g/{guest}/label/2")
        work = client.get(f"/g/{guest}/label/2").text.split('data-annotation="')[1].split('"')[0]
        edits = [{"op": "clear", "data": {}}, {"op": "draw", "data": {"points": list(points)}}]
        events = [{"seq": seq, "key": f"k{seq}", **edit} for seq, edit in enumerate(edits)]
        client.post(f"/g/{guest}/annotations/{work}/events", json={"events": events})
        client.post(f"/g/{guest}/annotations/{work}/submit", json={"count": 2})
    with site.database.session() as session:
        for one in projects.label_maps(session, 2):
            session.delete(one)
        maps = [one.map for one in labelling.labels_of(session, 2)]
    base = "/projects/1/images/2"
    place = site.owner.post(f"{base}/consensus", data={"rule": "2"}).headers["location"]
    assert site.owner.get(place).status_code == 200
    with site.database.reading() as session:
        agreed = labelling.consensus_of(session, 2)
        found = labelling.map_of(session, agreed)
        assert len(labelling.labels_of(session, 2)) == 3  # it is nobody's label
    wanted = rated_labels(maps, relative_tolerance=0.0075).at_least(2)
    assert np.array_equal(found, wanted)
    assert np.flatnonzero(found.ravel()).tolist() == [80 + column for column in range(1, 41)]
    page = site.owner.get(base, headers=HTML).text
    assert "not finished yet" in page
    assert "<td>consensus</td>" not in page
    guest = place.split("/")[2]
    reply = site.owner.post(f"/g/{guest}/annotations/{agreed.id}/submit", json={"count": 1})
    assert reply.status_code == 200
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)) as archive:
        with archive.open("consensus/scene-1.png") as file:
            assert np.array_equal(np.array(Picture.open(file)) > 0, wanted)
        assert not [
            name for name in archive.namelist() if name.startswith("annotators/") and "consensus" in name
        ]
    assert (
        site.owner.post(f"{base}/consensus", data={"rule": "staple"}).status_code == 303
    )  # anew: open again
    assert site.owner.post(f"{base}/consensus", data={"rule": "4"}).status_code == 400
    assert site.owner.post(f"{base}/consensus", data={"rule": "x"}).status_code == 400


def test_names_change_and_things_go(site, trials_of):
    from edgecritic.studio import experiments

    with site.database.session() as session:
        made = experiments.create_experiment(session, 1, *trials_of(session, 1)).id
        asked = experiments.trials_of(session, session.get_one(Experiment, made))
        ids = {row.name: row.id for row in projects.images_of(session, 1)}
    assert site.owner.post(f"/projects/1/images/{ids[asked[0].image]}/delete").status_code == 409
    assert site.owner.post("/projects/1/rename", data={"name": " New  name "}).status_code == 303
    assert "<h1>New name</h1>" in site.owner.get("/projects/1", headers=HTML).text
    assert site.owner.post("/projects/1/images/1/rename", data={"name": "scene-1"}).status_code == 409
    assert site.owner.post("/projects/1/images/1/rename", data={"name": "first"}).status_code == 303
    assert "first" in site.owner.get("/projects/1", headers=HTML).text
    with site.database.reading() as session:
        [one, *others] = projects.imported_maps(session, 1)
    assert site.owner.post(f"/projects/1/images/2/maps/{one.id}/delete").status_code == 404
    assert site.owner.post(f"/projects/1/images/1/maps/{one.id}/delete").status_code == 303
    with site.database.reading() as session:
        assert [row.id for row in projects.imported_maps(session, 1)] == [row.id for row in others]
    site.owner.post("/projects", data={"name": "Other"})
    photo = site.owner.get("/projects/1/images/1/photo").content
    number = site.owner.post("/projects/2/images", params={"name": "a.png"}, content=photo).json()["id"]
    assert site.owner.post(f"/projects/1/images/{number}/delete").status_code == 404
    assert site.owner.post(f"/projects/2/images/{number}/delete").status_code == 303
    assert site.owner.get(f"/projects/2/images/{number}").status_code == 404
    again = site.owner.post("/projects/2/images", params={"name": "a.png"}, content=photo).json()["id"]
    assert again > number  # browsers keep photos by their ids
    last = site.owner.post("/projects/2/images", params={"name": "b.png"}, content=photo).json()["id"]
    assert last > again
    assert site.owner.post("/projects/1/delete", data={"name": "Other"}).status_code == 400
    assert site.owner.post("/projects/2/delete", data={"name": "Other"}).status_code == 303
    assert site.owner.get("/projects/2").status_code == 404
    assert site.owner.post("/projects", data={"name": "Third"}).headers["location"] == "/projects/3"


def test_a_comment_is_pinned_and_done_in_the_browser(site, open_page):
    [path] = invite(site, "Ada")
    work = submit(site, site.guest(path), 1, 1)
    owner = open_page()
    owner.goto(site.link())
    owner.goto(f"{site.url}/annotations/{work}/review")
    owner.wait_for_selector("[data-viewer][data-ready=yes]")
    owner.click("[data-viewer] canvas")
    x, y = map(int, owner.text_content("#comment-place").split(", "))
    assert 30 <= x < 50
    assert 22 <= y < 42
    owner.fill("#comment-form input", "Go on here")
    owner.keyboard.press("Enter")
    owner.wait_for_selector("#comment-list li:has-text('Go on here')")
    owner.on("dialog", lambda dialog: dialog.accept())
    owner.click("text=Send back")
    owner.wait_for_selector(".chip.back")
    page = open_page()
    open_tool(page, site, path)
    page.wait_for_selector("#comment-list li:has-text('Go on here')")
    page.check("#comment-list input")
    page.wait_for_function("document.querySelector('#comment-list input').checked")
    page.reload()
    page.wait_for_selector("#comment-list li")
    assert page.is_checked("#comment-list input")


def test_a_volume_is_labelled_slice_by_slice(site):
    nibabel = pytest.importorskip("nibabel")
    rng = np.random.default_rng(2)
    values = (1000 * rng.random((20, 30, 3))).astype(np.float32)
    affine = np.array([[0.5, 0, 0, 9], [0, 0.7, 0, -4], [0, 0, 2, 3], [0, 0, 0, 1]])
    content = nibabel.Nifti1Image(values, affine).to_bytes()
    told = site.owner.post("/projects/1/images", params={"name": "brain.nii"}, content=content).json()
    assert (told["name"], told["slices"]) == ("brain", 3)
    assert (
        site.owner.post("/projects/1/images", params={"name": "brain.nii"}, content=content).status_code
        == 409
    )
    with site.database.reading() as session:
        images = {one.name: one for one in projects.images_of(session, 1)}
        first = images["brain 1"]
        assert (first.width, first.height) == (20, 30)
        deep = deep_values(projects.file_of(session, first.id, "deep").content)
    scaled = (values - values.min()) / np.ptp(values) * 65535
    assert np.abs(deep - scaled[:, :, 0].T[::-1]).max() <= 1  # the window of the whole volume
    [path] = invite(site, "Ada")
    client = site.guest(path)
    second = images["brain 2"].id
    work = client.get(f"/g/1/label/{second}").text.split('data-annotation="')[1].split('"')[0]
    assert client.get(f"/g/1/annotations/{work}/before").status_code == 409
    edits = [{"op": "clear", "data": {}}, {"op": "draw", "data": {"points": [2, 4, 2, 4]}}]
    events = [{"seq": seq, "key": f"k{seq}", **edit} for seq, edit in enumerate(edits)]
    client.post(f"/g/1/annotations/{work}/events", json={"events": events})
    third = client.get(f"/g/1/label/{images['brain 3'].id}").text.split('data-annotation="')[1].split('"')[0]
    assert client.get(f"/g/1/annotations/{third}/before").json() == {"runs": [4 * 20 + 2, 1]}
    assert client.post(f"/g/1/annotations/{work}/submit", json={"count": 2}).status_code == 200
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)) as archive:
        exported = nibabel.Nifti1Image.from_bytes(gzip.decompress(archive.read("volumes/1-Ada/brain.nii.gz")))
    assert np.allclose(exported.affine, affine)
    assert np.argwhere(np.asarray(exported.dataobj)).tolist() == [[2, 29 - 4, 1]]
    plain = client.get("/g/1/label/1").text.split('data-annotation="')[1].split('"')[0]
    assert client.get(f"/g/1/annotations/{plain}/before").status_code == 404
    assert site.owner.post("/projects/1/volumes/1/delete").status_code == 303
    assert site.owner.get(f"/projects/1/images/{second}").status_code == 404
    assert site.owner.post("/projects/1/volumes/1/delete").status_code == 404


def test_what_is_no_volume_of_three_axes_is_refused(site):
    nibabel = pytest.importorskip("nibabel")
    four = nibabel.Nifti1Image(np.zeros((4, 4, 4, 2), np.uint8), np.eye(4)).to_bytes()
    good = nibabel.Nifti1Image(np.zeros((4, 4, 4), np.uint8), np.eye(4)).to_bytes()
    long = nibabel.Nifti1Image(np.zeros((4, 4, 1001), np.uint8), np.eye(4)).to_bytes()
    for content in (
        four,
        long,
        good[:-10],
        gzip.compress(b"nothing"),
        gzip.compress(good)[:-20],
        b"\x1f\x8b",
    ):
        reply = site.owner.post("/projects/1/images", params={"name": "v.nii"}, content=content)
        assert reply.status_code == 400, reply.text
        assert "Traceback" not in reply.text


def test_edges_belong_to_classes_and_are_judged_by_them(site, tmp_path):
    names = {"names": "road\r\n\r\n car "}
    assert site.owner.post("/projects/1/classes", data=names).status_code == 303
    assert site.owner.post("/projects/1/classes", data={"names": "a\na"}).status_code == 400
    assert site.owner.post("/projects/1/classes", data={"names": "\n".join("abcdefghi")}).status_code == 400
    [path] = invite(site, "Ada")
    client = site.guest(path)
    page = client.get("/g/1/label/1").text
    assert 'data-classes="road\ncar"' in page
    work = page.split('data-annotation="')[1].split('"')[0]
    edits = [
        {"op": "clear", "data": {}},
        {"op": "draw", "data": {"points": [5, 10, 60, 10]}},
        {"op": "paint", "data": {"radius": 2, "points": [5, 10, 40, 10], "class": 1, "on": True}},
        {"op": "paint", "data": {"radius": 0, "points": [30, 10, 60, 10], "class": 2, "on": True}},
        {"op": "paint", "data": {"radius": 0, "points": [50, 10, 60, 10], "class": 2, "on": False}},
    ]
    events = [{"seq": seq, "key": f"k{seq}", **edit} for seq, edit in enumerate(edits)]
    assert client.post(f"/g/1/annotations/{work}/events", json={"events": events}).status_code == 200
    assert client.post(f"/g/1/annotations/{work}/submit", json={"count": 5}).status_code == 200
    assert site.owner.post("/projects/1/classes", data={"names": "road"}).status_code == 409
    assert site.owner.post("/projects/1/classes", data={"names": "street\ncar\nsky"}).status_code == 303
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)) as archive:
        archive.extractall(tmp_path)
    wanted = np.zeros((3, 64, 80), np.uint8)
    wanted[0, 10, 5:43] = wanted[1, 10, 30:50] = 1
    assert np.array_equal(np.load(tmp_path / "classes/1-Ada/scene-0.npy"), wanted)
    folder = tmp_path / "found"
    folder.mkdir()
    np.save(folder / "scene-0.npy", 0.9 * wanted)
    arguments = ["bench", f"mine={folder}", "--truth", str(tmp_path / "classes/1-Ada"), "--protocol"]
    out = str(tmp_path / "run")
    assert main([*arguments, str(tmp_path / "classes/protocol.toml"), "--out", out, "--jobs", "1"]) == 0
    found = json.loads((tmp_path / "run/results.json").read_text())
    assert "street" in json.dumps(found)
