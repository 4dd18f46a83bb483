"""The experiment in which people choose between two edge maps: pages, pictures, ties and files."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from studio_pages import invite

from edgecritic.annotators.answers import read_choices
from edgecritic.annotators.preferences import preference


@pytest.fixture
def store(database):
    return database


FORM = {"name": "Maps", "mode": "maps", "seed": "3", "practice": "1", "checks": "2", "pairs": "6"}


def make(site, **more):
    reply = site.owner.post("/projects/1/experiments", data=FORM | more)
    assert reply.status_code == 303, reply.text
    return int(reply.headers["location"].rsplit("/", 1)[1])


def enter(site, experiment, name="S"):
    reply = site.owner.post(f"/experiments/{experiment}/subjects", json={"names": [name]})
    one = reply.json()["invited"][0]
    return site.guest(one["path"]), one["id"]


def picture(client, guest, slot, side):
    reply = client.get(f"/g/{guest}/maps/{slot['slot']}/{side}")
    assert reply.headers["content-type"] == "image/png"
    return np.asarray(Image.open(io.BytesIO(reply.content))) < 128


def give(client, guest, slot, side):
    return client.post(f"/g/{guest}/answers", json={"slot": slot["slot"], "side": side, "reaction_ms": 400})


def test_people_choose_between_maps_and_the_study_reads_it(site, tmp_path):
    experiment = make(site, ties="yes", checks="0")
    told = {}
    for number in range(3):
        client, guest = enter(site, experiment)
        page = client.get(f"/g/{guest}/").text
        assert "better edge map" in page
        assert "Equally good" in page
        schedule = client.get(f"/g/{guest}/schedule").json()
        assert schedule["maps"]
        assert len(schedule["slots"]) == 7
        for slot in schedule["slots"]:
            assert (slot["left"], slot["right"]) == (None, None)
            sums = [picture(client, guest, slot, side).sum() for side in ("left", "right")]
            side = ("left", "right")[int(sums[1] < sums[0])] if number else "tie"
            assert give(client, guest, slot, side).json()["side"] == side
            told[str(guest), slot["slot"]] = (side, sums)
    content = site.owner.get(f"/experiments/{experiment}/experiment.json").text
    (tmp_path / "experiment.json").write_text(content)
    asked, answers = read_choices(tmp_path / "experiment.json")
    assert len(answers) == 21
    for one in answers:
        trial = next(trial for trial in asked if trial.id == one.trial)
        sums = [int(trial.left.map.sum()), int(trial.right.map.sum())]
        if one.choice != "tie" and sums[0] != sums[1]:
            assert one.choice == ("left", "right")[int(sums[1] < sums[0])]
    found = preference(asked, answers, draws=10)
    assert (found.answers, found.subjects) == (18, 3)
    page = site.owner.get(f"/experiments/{experiment}").text
    assert "What subjects prefer" in page
    assert found.scale.conditions[0] in page
    again = site.owner.post(
        "/projects/1/trials", params={"name": "experiment.json"}, content=content.encode()
    ).json()["id"]
    client, guest = enter(site, again)
    assert client.get(f"/g/{guest}/schedule").json()["maps"]
    assert (
        give(client, guest, client.get(f"/g/{guest}/schedule").json()["slots"][0], "tie").status_code == 200
    )


DARK = """id => {
  const canvas = document.getElementById(id), context = canvas.getContext("2d");
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, place) => place % 4 === 0 && value < 60).length;
}"""


def test_a_browser_shows_photo_and_maps_and_takes_keys(browser, site, open_page):
    experiment = make(site, ties="yes", pairs="3", checks="0")
    (path,) = invite(site, "S", experiment=experiment)
    page = open_page()
    page.goto(site.url + path)
    page.click("#begin")
    keys = ["f", "j", "t", "f"]
    while keys:
        page.wait_for_selector("body[data-slot], #ready:not([hidden])")
        if page.is_visible("#ready"):
            page.keyboard.press("Enter")
            continue
        slot = page.get_attribute("body", "data-slot")
        assert min(page.evaluate(DARK, f"{side}-canvas") for side in ("left", "right")) > 20
        page.wait_for_timeout(230)
        page.keyboard.press(keys.pop(0))
        page.wait_for_function(f"document.body.dataset.slot !== '{slot}'")
    page.wait_for_selector("#end:not([hidden])")
    assert ",tie," in site.owner.get(f"/experiments/{experiment}/answers.csv").text


def test_ties_are_refused_where_the_owner_does_not_allow_them(site):
    client, guest = enter(site, make(site))
    assert "Equally good" not in client.get(f"/g/{guest}/").text
    slot = client.get(f"/g/{guest}/schedule").json()["slots"][0]
    reply = give(client, guest, slot, "tie")
    assert reply.status_code == 400
    assert "no ties" in reply.text
    assert give(client, guest, slot, "left").status_code == 200


def test_maps_are_shown_to_their_subject_only(site):
    experiment = make(site)
    client, guest = enter(site, experiment)
    other, stranger = enter(site, experiment, "T")
    slot = client.get(f"/g/{guest}/schedule").json()["slots"][0]["slot"]
    assert other.get(f"/g/{stranger}/maps/{slot}/left").status_code == 404
    assert other.get(f"/g/{guest}/maps/{slot}/left").status_code in (403, 404)
    assert client.get(f"/g/{guest}/maps/{slot}/middle").status_code == 404


def test_two_subjects_in_succession_see_every_pair_mirrored(site):
    experiment = make(site)
    seen = []
    for _ in range(2):
        client, guest = enter(site, experiment)
        slots = client.get(f"/g/{guest}/schedule").json()["slots"]
        pairs = [
            tuple(picture(client, guest, slot, side).tobytes() for side in ("left", "right"))
            for slot in slots
        ]
        seen.append(set(pairs))
    assert seen[1] == {pair[::-1] for pair in seen[0]}
