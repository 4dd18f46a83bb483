from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image as Picture

from edgecritic.cli.main import main
from edgecritic.datasets.files import read_mask
from edgecritic.studio import experiments
from edgecritic.studio.pictures import encode_png
from edgecritic.studio.procedure import Procedure

HTML = {"accept": "text/html"}


@pytest.fixture
def store(database):
    """Every test of this module runs on both databases."""
    return database


def png(shape=(40, 50), seed=0) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 255, shape).astype(np.uint8))


def invite(site, path="/projects/1/people", names=("Ada",)) -> list[str]:
    reply = site.owner.post(path, json={"names": list(names)})
    assert reply.status_code == 200, reply.text
    return [one["path"] for one in reply.json()["invited"]]


def start_work(site, client, guest, image=1):
    """Open the tool and return the address of the annotation."""
    page = client.get(f"/g/{guest}/label/{image}")
    assert page.status_code == 200
    number = page.text.split('data-annotation="')[1].split('"')[0]
    return f"/g/{guest}/annotations/{number}"


def open_guest(site, path):
    client = site.stranger()
    reply = client.get(path)
    assert reply.status_code == 303
    return client, int(reply.headers["location"].strip("/").split("/")[-1])


def test_every_page_of_the_owner_is_shown(site):
    for path in ("/", "/projects/1", "/projects/1/images/1", "/projects/1/images/1/strength.png"):
        assert site.owner.get(path, headers=HTML).status_code == 200
    assert site.owner.get("/projects/99", headers=HTML).status_code == 404
    assert "There is nothing here" in site.owner.get("/nowhere", headers=HTML).text


def test_a_project_is_made_and_filled(site):
    made = site.owner.post("/projects", data={"name": "Streets"})
    assert made.headers["location"] == "/projects/2"
    reply = site.owner.post("/projects/2/images", params={"name": "a.png"}, content=png())
    assert reply.json()["name"] == "a"
    label = encode_png(np.eye(40, 50) > 0)
    for kind in ("label", "detector"):
        reply = site.owner.post(
            "/projects/2/maps", params={"kind": kind, "name": "x", "file": "a.png"}, content=label
        )
        assert reply.status_code == 201, reply.text
    assert site.owner.post("/projects/2/detect", data={"detector": "sobel"}).status_code == 303
    assert site.owner.post("/projects/2/detect", data={"detector": "sobbel"}).status_code == 400
    page = site.owner.get("/projects/2", headers=HTML).text
    assert "1 imported · 2 detectors" in page
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/2/export.zip").content)) as archive:
        assert {"images/a.png", "truth/a.mat", "predictions/sobel/a.png"} <= set(archive.namelist())


def test_one_is_no_plural(site, trials_of):
    site.owner.post("/projects", data={"name": "Alone"})
    site.owner.post("/projects/2/images", params={"name": "a.png"}, content=png())
    asked = {"before": [{"key": "age", "kind": "number", "text": "How old are you?"}]}
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        checks = [trial for trial in trials if trial.part == "check"][:1]
        main_one = next(trial for trial in trials if trial.part == "main")
        plan = replace(plan, procedure=Procedure.from_dict(asked))
        experiments.create_experiment(session, 1, plan, [main_one, *checks])
    home, project, experiment = (
        site.owner.get(path, headers=HTML).text for path in ("/", "/projects/2", "/experiments/1")
    )
    assert "1 image<" in home
    assert "3 images<" in home
    assert 'placeholder="Search 1 image"' in project
    assert "1 trial (both), 1 attention check," in experiment
    assert "1 question<" in experiment


def test_progress_counts_those_who_are_invited(site):
    assert "nobody invited" in site.owner.get("/projects/1", headers=HTML).text
    first, _ = invite(site, names=("Ada", "Bo"))
    client, guest = open_guest(site, first)
    work = start_work(site, client, guest)
    assert client.post(f"{work}/submit", json={"count": 0}).status_code == 200
    page = site.owner.get("/projects/1", headers=HTML).text
    assert page.count("1 of 2 submitted") == 1
    assert page.count("0 of 2 submitted") == 2


def test_after_submitting_the_next_open_image_is_offered(site):
    client, guest = open_guest(site, *invite(site))
    offered = []
    for image in (2, 3, 1):
        work = start_work(site, client, guest, image)
        assert client.post(f"{work}/submit", json={"count": 0}).status_code == 200
        page = client.get(f"{work}/compare", headers=HTML).text
        offered.append(
            page.partition(">Next image<")[0].rpartition("/label/")[2].strip('"')
            if "Next image" in page
            else ""
        )
    assert offered == ["3", "1", ""]


def test_a_camera_held_upright_is_shown_upright(site):
    stream = io.BytesIO()
    picture = Picture.fromarray(np.tile(np.arange(60, dtype=np.uint8) * 4, (30, 1)))
    exif = Picture.Exif()
    exif[0x0112] = 6
    picture.save(stream, "JPEG", exif=exif, quality=95)
    reply = site.owner.post("/projects/1/images", params={"name": "held.jpg"}, content=stream.getvalue())
    photo = site.owner.get(f"/projects/1/images/{reply.json()['id']}/photo").content
    shown = np.array(Picture.open(io.BytesIO(photo)))
    assert shown.shape == (60, 30)
    assert shown[0].mean() < 20 < 200 < shown[-1].mean()


def test_a_person_labels_and_submits(site, tmp_path):
    client, guest = open_guest(site, invite(site)[0])
    work = start_work(site, client, guest)
    edits = [{"seq": 0, "key": "a", "op": "clear", "data": {}, "at": 1_700_000_000_000}]
    edits += [{"seq": 1, "key": "b", "op": "draw", "data": {"points": [2, 3, 9, 3]}}]
    for _ in range(2):
        assert client.post(f"{work}/events", json={"events": edits}).json() == {"count": 2}
    assert client.get(f"{work}/compare", headers=HTML).status_code == 403
    assert client.post(f"{work}/submit", json={"count": 1}).status_code == 400
    assert client.post(f"{work}/submit", json={"count": 2}).json() == {"submitted": True}
    for kind in ("png", "npy", "mat"):
        path = tmp_path / f"map.{kind}"
        path.write_bytes(client.get(f"{work}/map.{kind}").content)
        found = read_mask(path)
        assert np.argwhere(found).tolist() == [[3, x] for x in range(2, 10)]
    assert "person 1 (imported)" in client.get(f"{work}/compare", headers=HTML).text
    scores = client.get(f"{work}/scores").json()["scores"]
    assert len(scores) == 3
    assert client.get(f"{work}/overlay.png", params={"with": scores[0]["key"]}).status_code == 200


def test_a_map_is_imported(site):
    client, guest = open_guest(site, invite(site)[0])
    work = start_work(site, client, guest)
    mask = np.random.default_rng(0).random((64, 80)) < 0.2
    assert client.post(f"{work}/import", content=encode_png(mask)).json()["count"] == 1
    found = np.array(Picture.open(io.BytesIO(client.get(f"{work}/map.png").content))) > 0
    assert np.array_equal(found, mask)
    assert client.post(f"{work}/import", content=png((9, 9))).status_code == 400


def test_annotators_do_not_see_each_other(site):
    links = invite(site, names=("Ada", "Bo"))
    (ada, first), (bo, second) = (open_guest(site, link) for link in links)
    work = start_work(site, ada, first)
    assert bo.get(work.replace(f"/g/{first}/", f"/g/{second}/") + "/events").status_code == 404
    assert bo.get(f"{work}/events").status_code == 404
    assert bo.get(f"{work}/map.png").status_code == 404


@pytest.fixture
def trial_site(site):
    reply = site.owner.post("/projects/1/experiments", data={"name": "Pilot", "mode": "hard", "seed": "3"})
    assert reply.status_code == 303, reply.text
    return site


def test_an_experiment_from_link_to_figure(trial_site):
    links = invite(trial_site, "/experiments/1/subjects", ("S1", "S2", "S3"))
    for link in links:
        client, guest = open_guest(trial_site, link)
        assert "Which boundary is stronger" in client.get(f"/g/{guest}/", headers=HTML).text
        slots = client.get(f"/g/{guest}/schedule").json()["slots"]
        half = len(slots) // 2
        for slot in slots[:half]:
            given = {"slot": slot["slot"], "side": "left", "reaction_ms": 700, "at": 1_700_000_000_000}
            for _ in range(2):
                assert client.post(f"/g/{guest}/answers", json=given).json()["side"] == "left"
        other, _ = open_guest(trial_site, link)
        rest = [slot for slot in other.get(f"/g/{guest}/schedule").json()["slots"] if not slot["answered"]]
        assert [slot["slot"] for slot in rest] == [slot["slot"] for slot in slots[half:]]
        for slot in rest:
            given = {"slot": slot["slot"], "side": "right", "reaction_ms": 900}
            assert other.post(f"/g/{guest}/answers", json=given).status_code == 200
        photo = f"/g/{guest}/images/{slots[0]['image']}"
        assert client.get(f"{photo}/photo").status_code == 200
        assert client.get(f"{photo}/proposal").status_code == 404
    live = trial_site.owner.get("/experiments/1/live").json()
    assert live["answered"] == live["total"] == 3 * len(slots)
    assert live["risks"]
    page = trial_site.owner.get("/experiments/1", headers=HTML).text
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="risk"' in page
    for file in ("answers.csv", "votes.csv", "risk.svg", "experiment.json"):
        assert trial_site.owner.get(f"/experiments/1/{file}").status_code == 200
    assert trial_site.owner.get("/experiments/1/answers.csv").text.count("\n") == 1 + live["total"]


def test_a_closed_experiment_takes_nothing(trial_site):
    link = invite(trial_site, "/experiments/1/subjects")[0]
    client, guest = open_guest(trial_site, link)
    slot = client.get(f"/g/{guest}/schedule").json()["slots"][0]["slot"]
    assert trial_site.owner.post("/experiments/1/close").status_code == 303
    given = {"slot": slot, "side": "left", "reaction_ms": 1}
    assert client.post(f"/g/{guest}/answers", json=given).status_code == 403
    assert trial_site.stranger().get(link).status_code == 404


def test_others_need_a_password(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("EDGECRITIC_STUDIO_PASSWORD", raising=False)
    assert main(["studio", "--data", str(tmp_path), "--host", "0.0.0.0", "--no-example"]) == 1
    assert f"edgecritic studio --data {tmp_path} --set-password" in capsys.readouterr().err
    answers = iter(["a long password", "another password"])
    monkeypatch.setattr("getpass.getpass", lambda _prompt: next(answers))
    assert main(["studio", "--data", str(tmp_path), "--set-password"]) == 1
    monkeypatch.setattr("getpass.getpass", lambda _prompt: "a long password")
    assert main(["studio", "--data", str(tmp_path), "--set-password"]) == 0
    assert main(["studio", "--data", str(tmp_path), "--migrate"]) == 0
    assert "schema 0006" in capsys.readouterr().out
