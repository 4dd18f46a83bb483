"""Lists of edits: what they make, that they can be replayed, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgecritic.cli.main import main
from edgecritic.datasets.files import read_mask
from edgecritic.datasets.synthetic import scene
from edgecritic.datasets.write import write_map
from edgecritic.detectors import detect
from edgecritic.detectors.proposals import propose
from edgecritic.errors import InputError
from edgecritic.maps.editing import (
    edits_between,
    edits_document,
    listed_edits,
    read_document,
    replay,
    simulated_edits,
)

masks = st.integers(0, 10**6).map(lambda seed: np.random.default_rng(seed).random((9, 11)))


@given(masks, masks, st.sampled_from([0.1, 0.5, 0.9]))
@settings(max_examples=60)
def test_edits_between_two_maps_make_the_second(levels, other, share):
    levels = np.rint(255 * levels).astype(np.uint8)
    wanted = other < share
    edits = edits_between(levels >= 128, wanted)
    assert np.array_equal(replay(levels, 128, edits), wanted)
    document = json.loads(json.dumps(edits_document(128, edits)))
    assert np.array_equal(replay(levels, *read_document(document, (9, 11))), wanted)


@given(masks, masks, masks)
@settings(max_examples=40)
def test_lists_are_set_operations(one, two, three):
    levels = np.rint(255 * one).astype(np.uint8)
    shown, accept, delete, add = levels >= 100, two < 0.7, two > 0.5, three < 0.1
    found = replay(levels, 100, listed_edits(shown, accept=accept, delete=delete, add=add))
    assert np.array_equal(found, (shown & accept & ~delete) | add)


def near(pixel, places, radius):
    return any((pixel[0] - y) ** 2 + (pixel[1] - x) ** 2 <= radius**2 for y, x in places)


def slow_editor(levels, truth, radius):
    crests, drawn = np.argwhere(levels > 0), np.argwhere(truth)
    kept = {tuple(one) for one in crests.tolist() if near(one, drawn, radius)}
    return kept | {tuple(one) for one in drawn.tolist() if not near(one, kept, radius)}


@given(masks, masks, st.sampled_from([0, 1.5, 3]))
@settings(max_examples=40)
def test_the_simulated_editor_is_its_definition(one, two, radius):
    levels = np.where(one > 0.6, np.rint(255 * one), 0).astype(np.uint8)
    truth = two < 0.2
    found = replay(levels, 1, simulated_edits(levels, truth, radius=radius))
    assert set(map(tuple, np.argwhere(found).tolist())) == slow_editor(levels, truth, radius)


def test_the_proposal_of_a_clean_shape_is_its_rim():
    shape = np.zeros((30, 34), bool)
    shape[8:20, 9:25] = True
    rim = np.zeros_like(shape)
    for axis in (0, 1):
        for step in (-1, 1):
            rim |= np.roll(shape, step, axis)
    rim &= ~shape
    image = shape + 0.5 * rim
    found = propose(image)
    assert np.array_equal(found.levels > 0, detect(image, "central").binary())
    corners = np.array([[7, 8], [7, 25], [20, 8], [20, 25]])
    assert np.argwhere((found.levels > 0) != rim).tolist() == corners.tolist()
    edited = replay(found.levels, 240, simulated_edits(found.levels, np.roll(rim, 1, 1), level=240))
    assert np.array_equal(edited, rim)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no list of edits"),
        ({"level": 0, "events": []}, "level"),
        ({"level": True, "events": []}, "level"),
        ({"level": 5, "events": [3]}, "edit 1"),
        ({"level": 5, "events": [{"op": "draw", "data": {"points": [99, 0]}}]}, "edit 1: a coordinate"),
        ({"level": 5, "events": [{"op": "sing", "data": {}}]}, "edit 1: an edit must be"),
    ],
)
def test_lists_of_strangers_are_checked(document, message):
    with pytest.raises(InputError, match=message):
        read_document(document, (4, 5))


def test_lists_of_another_shape():
    with pytest.raises(InputError, match="list add"):
        listed_edits(np.eye(3) > 0, add=np.eye(4) > 0)


def test_the_command_writes_edits_that_give_the_same_map_again(tmp_path, capsys):
    drawn = scene(seed=2, size=(48, 60))
    write_map(tmp_path / "photos/a.png", drawn.image)
    write_map(tmp_path / "truth/a.png", np.roll(drawn.truth, 1, axis=1))
    write_map(tmp_path / "add/a.png", np.eye(48, 60) > 0)
    base = ["propose", str(tmp_path / "photos"), "-q", "--out"]
    one, two = tmp_path / "one", tmp_path / "two"
    assert main([*base, str(one), "--like", str(tmp_path / "truth")]) == 0
    assert main([*base, str(two), "--edits", str(one / "edits")]) == 0
    assert (one / "maps/a.png").read_bytes() == (two / "maps/a.png").read_bytes()
    assert (one / "edits/a.json").read_bytes() == (two / "edits/a.json").read_bytes()
    three = tmp_path / "three"
    assert (
        main([*base, str(three), "--edits", str(one / "edits/a.json"), "--add", str(tmp_path / "add")]) == 0
    )
    both = read_mask(one / "maps/a.png") | (np.eye(48, 60) > 0)
    assert np.array_equal(read_mask(three / "maps/a.png"), both)
    capsys.readouterr()
    assert main([*base, str(three), "--like", str(tmp_path / "truth"), "--add", str(tmp_path / "add")]) == 1
    assert "--like" in capsys.readouterr().err
    (one / "edits/a.json").write_text("{", encoding="utf-8")
    assert main([*base, str(three), "--edits", str(one / "edits")]) == 1
    assert "no JSON" in capsys.readouterr().err
