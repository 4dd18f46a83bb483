"""People of one name are different people: in exports, answers, scores and pictures."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest
from PIL import Image as Picture

from edgecritic.studio import experiments


@pytest.fixture
def store(database):
    return database


def draw(client, guest, image, column):
    """Leave one line in a map and submit it; return the path of the work."""
    page = client.get(f"/g/{guest}/label/{image}").text
    work = re.search(rf"/g/{guest}/annotations/\d+", page).group()
    edits = [
        {"seq": 0, "key": "a", "op": "clear", "data": {}},
        {"seq": 1, "key": "b", "op": "draw", "data": {"points": [column, 1, column, 40]}},
    ]
    assert client.post(f"{work}/events", json={"events": edits}).status_code == 200
    assert client.post(f"{work}/submit", json={"count": 2}).status_code == 200
    return work


def enter(site, path):
    client = site.stranger()
    return client, int(client.get(path).headers["location"].split("/")[2])


@pytest.fixture
def people(site):
    """Three annotators of one name; each draws a line in a column of their own, in another order."""
    listed = site.owner.post("/projects/1/people", json={"names": ["Ada"] * 3}).json()["invited"]
    works = {}
    for column, (one, order) in zip(
        (5, 25, 45), zip(listed, ((1, 2), (3, 2), (2,)), strict=True), strict=True
    ):
        client, guest = enter(site, one["path"])
        works[column] = client, {image: draw(client, guest, image, column) for image in order}
    return works


def columns_of(content):
    return set(np.nonzero(np.asarray(Picture.open(io.BytesIO(content))))[1].tolist())


def test_a_folder_of_the_export_is_one_person(site, people):
    archive = zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content))
    drawn: dict[str, list[set[int]]] = {}
    for name in archive.namelist():
        if name.startswith("annotators/") and "Ada" in name:
            drawn.setdefault(name.split("/")[1], []).append(columns_of(archive.read(name)))
    assert sorted(map(str, drawn.values())) == sorted(map(str, ([{5}] * 2, [{25}] * 2, [{45}])))
    table = list(csv.DictReader(io.StringIO(archive.read("annotators.csv").decode())))
    assert {row["folder"] for row in table if row["name"] == "Ada"} == set(drawn)
    assert len({row["annotator"] for row in table if row["name"] == "Ada"}) == 3


def test_the_same_project_gives_the_same_names_and_times(site, people):
    first, second = (
        zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)).infolist()
        for _ in range(2)
    )
    assert [(one.filename, one.date_time) for one in first] == [
        (one.filename, one.date_time) for one in second
    ]
    assert {one.date_time for one in first} == {(1980, 1, 1, 0, 0, 0)}
    assert {one.external_attr >> 16 for one in first} == {0o644}


def test_the_edits_of_the_export_say_whose_they_are(site, people):
    archive = zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content))
    found: dict[int, set[int]] = {}
    for name in archive.namelist():
        if name.startswith("events/"):
            document = json.loads(archive.read(name))
            found.setdefault(document["annotator"], set()).add(document["events"][1]["data"]["points"][0])
    assert sorted(found.values(), key=sorted) == [{5}, {25}, {45}]


def test_imported_labels_keep_their_folder(site, scenes):
    """Two names that differ in signs no file system takes, each on another image."""
    for image, name in enumerate(("a/b", "a:b")):
        content = io.BytesIO()
        np.save(content, scenes[image][1][0])
        query = {"kind": "label", "name": name, "file": f"scene-{image}.npy"}
        assert site.owner.post("/projects/1/maps", params=query, content=content.getvalue()).is_success
    archive = zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content))
    table = csv.DictReader(io.StringIO(archive.read("annotators.csv").decode()))
    folders = {row["name"]: row["folder"] for row in table}
    assert folders["a/b"] != folders["a:b"]
    for image, name in enumerate(("a/b", "a:b")):
        assert f"annotators/{folders[name]}/scene-{image}.png" in archive.namelist()


def test_pictures_and_scores_are_of_the_right_person(site, people):
    client, works = people[5]
    scores = client.get(f"{works[2]}/scores").json()["scores"]
    drawn = [one for one in scores if one["name"].startswith("Ada")]
    assert len({one["key"] for one in scores}) == len(scores)
    assert len({one["name"] for one in drawn}) == len(drawn) == 2
    pictures = [client.get(f"{works[2]}/overlay.png", params={"with": one["key"]}).content for one in drawn]
    shown = [columns_of_overlay(content) for content in pictures]
    assert sorted(shown) == [[5, 25], [5, 45]]
    page = client.get(f"{works[2]}/compare").text
    assert all(f"overlay.png?with={one['key']}" in page for one in scores)


def columns_of_overlay(content):
    """Return the columns of row 20 that differ from the background."""
    row = np.asarray(Picture.open(io.BytesIO(content)).convert("RGB"))[20].astype(int)
    return np.nonzero(np.abs(row - row[0]).sum(axis=1))[0].tolist()


def test_answers_of_one_name_are_kept_apart(site, store, trials_of):
    with store.session() as session:
        experiment = experiments.create_experiment(session, 1, *trials_of(session, 1)).id
    invited = site.owner.post(f"/experiments/{experiment}/subjects", json={"names": ["Ada", "Ada"]})
    given = {}
    for number, one in enumerate(invited.json()["invited"]):
        client, guest = enter(site, one["path"])
        slots = client.get(f"/g/{guest}/schedule").json()["slots"]
        for slot in slots[: 3 + number]:
            answer = {"slot": slot["slot"], "side": "left", "reaction_ms": 100 + number}
            assert client.post(f"/g/{guest}/answers", json=answer).status_code == 200
        given[str(guest)] = (3 + number, {str(100 + number)})
    rows = list(csv.DictReader(io.StringIO(site.owner.get(f"/experiments/{experiment}/answers.csv").text)))
    told: dict[str, list[str]] = {}
    for row in rows:
        told.setdefault(row["observer"], []).append(row["reaction_ms"])
    assert {one: (len(times), set(times)) for one, times in told.items()} == given
