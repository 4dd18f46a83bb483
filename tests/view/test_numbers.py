"""The numbers that are client are those of `edgecritic.match`, in any state; and those of the benchmark."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgecritic
from edgecritic.cli.main import main
from edgecritic.maps.suppression import suppress
from edgecritic.matching.base import within_tolerance
from edgecritic.protocols.presets import get_protocol
from edgecritic.run.judge import STRATEGIES
from edgecritic.view.packing import unpack

PROTOCOLS = ("run", "strict", "ceval", "pixels")


def maps_of(gallery, image, detector):
    case = gallery.detectors[detector].cases[gallery.images[image]]
    return case.load_strength(), case.load_truths()


def judged(client, image, detector, **state):
    reply = client.get(f"/judge/{image}/{detector}", params=state)
    assert reply.status_code == 200, reply.text
    return unpack(reply.content)


@settings(max_examples=40)
@given(
    place=st.tuples(st.integers(0, 3), st.integers(0, 1)),
    threshold=st.floats(0, 1),
    tolerance=st.one_of(st.none(), st.floats(0, 6)),
    strategy=st.sampled_from(STRATEGIES),
    name=st.sampled_from(PROTOCOLS),
)
def test_any_state_is_what_match_finds(gallery, client, place, threshold, tolerance, strategy, name):
    image, detector = list(gallery.images)[place[0]], list(gallery.detectors)[place[1]]
    protocol = gallery.protocol if name == "run" else get_protocol(name)
    strength, truths = maps_of(gallery, image, detector)
    state = {"t": threshold, "s": strategy, "p": name} | ({} if tolerance is None else {"tol": tolerance})
    head, arrays = judged(client, image, detector, **state)
    reach = protocol.tolerance_for(strength.shape) if tolerance is None else tolerance
    cut = strength if protocol.nms == "none" else suppress(strength, protocol.nms)
    candidate = cut >= max(threshold, protocol.threshold_floor)
    if protocol.thin:
        from skimage.morphology import thin

        candidate = thin(candidate)
    assert np.array_equal(arrays["candidate"], np.flatnonzero(candidate))
    chosen = within_tolerance(strategy, reach, (1.0, 1.0))
    hit = np.zeros(candidate.shape, bool)
    for number, truth in enumerate(truths):
        found = edgecritic.match(candidate, truth, strategy=chosen)
        told = head["annotators"][number]
        assert (told["tp"], told["fp"], told["fn"]) == (found.tp, found.fp, found.fn)
        assert (told["precision"], told["recall"], told["f"]) == (found.precision, found.recall, found.f())
        if found.pairs is not None:
            pairs = arrays[f"pairs-{number}"].reshape(-1, 2)
            shape = candidate.shape
            expected = [np.ravel_multi_index(tuple(found.pairs[:, side].T), shape) for side in (0, 1)]
            assert np.array_equal(pairs, np.stack(expected, axis=1))
        hit |= found.matched_candidate
    if strategy != "area":
        assert head["counts"]["matched_candidate"] == hit.sum()
        assert head["counts"]["candidate"] == candidate.sum()


def test_at_the_thresholds_of_the_run_they_are_its_records(gallery, client):
    image, detector = list(gallery.images)[1], list(gallery.detectors)[1]
    name = gallery.detectors[detector].name
    counts = gallery.judged[name][gallery.images[image]].counts["main"]
    for place in (0, 20, 60, 98):
        head, _ = judged(client, image, detector, t=counts.thresholds[place])
        assert head["counts"] == {key: getattr(counts, key)[place] for key in head["counts"]}
        assert head["f"] == counts.f[place]
    curve = client.get(f"/curve/{image}/{detector}").json()
    assert np.array_equal(curve["f"], counts.f)


@pytest.mark.parametrize("state", [{"tol": 1.5}, {"s": "eps"}, {"p": "strict"}, {"s": "area", "tol": 3}])
def test_a_curve_goes_through_the_points(gallery, client, state):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    curve = client.get(f"/curve/{image}/{detector}", params=state).json()
    for place in (10, 50):
        head, _ = judged(client, image, detector, t=curve["threshold"][place], **state)
        for key in ("precision", "recall", "f"):
            assert head[key] == curve[key][place]


@pytest.mark.parametrize(
    "state", [{"t": 0.37}, {"t": 0.5, "tol": 1.25, "s": "eps"}, {"t": 0.2, "p": "ceval"}]
)
def test_the_command_makes_the_number(gallery, client, state, capsys):
    image, detector = list(gallery.images)[2], list(gallery.detectors)[1]
    head, _ = judged(client, image, detector, **state)
    words = shlex.split(head["command"])
    assert words[0] == "edgecritic"
    assert main([*words[1:], "--json", "-q"]) == 0
    [found] = json.loads(capsys.readouterr().out)["detectors"]
    assert {key: found["ods"][key] for key in ("precision", "recall", "f")} == {
        key: head[key] for key in ("precision", "recall", "f")
    }


def test_truths_and_strength_are_those_of_the_files(gallery, client):
    image, detector = next(iter(gallery.images)), next(iter(gallery.detectors))
    strength, truths = maps_of(gallery, image, detector)
    head, arrays = unpack(client.get(f"/truths/{image}").content)
    assert head["annotators"] == len(truths)
    for number, truth in enumerate(truths):
        assert np.array_equal(arrays[str(number)], np.flatnonzero(truth))
    _, arrays = unpack(client.get(f"/strength/{image}/{detector}/0/0").content)
    assert np.array_equal(arrays["strength"], strength.astype(np.float32).ravel())


def test_the_wall_has_the_numbers_of_the_run(gallery, home, client):
    results = json.loads((home / "run" / "results.json").read_text())
    told = client.get("/gallery").json()
    for number, entry in enumerate(results["detectors"]):
        assert told["detectors"][number]["name"] == entry["name"]
        assert told["detectors"][number]["ods"] == entry["ods"]["f"]
        best = {
            row["id"]: row["f"] for row in entry["per_image"]
        }  # between thresholds, which is a little more
        for one in told["images"]:
            assert best[one["name"]] - 0.02 <= one["numbers"][number]["best"] <= best[one["name"]]
            assert one["numbers"][number]["set"] <= one["numbers"][number]["best"]
    assert all(0 < one["agreement"] <= 1 for one in told["images"])
