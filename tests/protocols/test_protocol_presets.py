"""Protocols: presets, validation, TOML, digests."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from edgecritic.errors import DataError, InputError, UnknownNameError
from edgecritic.protocols.presets import PRESETS, get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.protocol_file import find_protocol, load_protocol

PIXELS = [
    ("bsds", (481, 321), 4.34),
    ("strict", (481, 321), 1.73),
    ("nyud", (425, 560), 7.73),
    ("biped", (720, 1280), 11.01),
    ("strict", (720, 1280), 4.41),
]
"""Typical tolerances, published beside the fractions."""


def test_all_presets_are_there():
    assert list(PRESETS) == [
        "bsds",
        "pdollar",
        "edter",
        "pyedgeeval",
        "nyud",
        "biped",
        "multicue",
        "strict",
        "pixels",
        "ceval",
        "volume",
        "bsds-regions",
        "sbd",
        "sbd-seal-thin",
        "sbd-seal-thin-inst",
        "sbd-seal-raw",
        "sbd-seal-raw-inst",
        "cityscapes-thin",
        "cityscapes-thin-inst",
        "cityscapes-raw",
        "cityscapes-raw-inst",
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_printed_hashed_and_rebuilt(name):
    protocol = get_protocol(name)
    assert get_protocol(protocol) is protocol
    text = str(protocol)
    assert text.startswith(f"{name}: ")
    if protocol.judges == "boundaries":
        assert protocol.ap_rule in text
        assert str(protocol.relative_tolerance or "2 px") in text
        assert "annotators  " not in text  # each counts, as everywhere
        assert "one truth with the pixels of all" in str(protocol.with_fields(annotators="union"))
    again = Protocol(**json.loads(json.dumps(protocol.as_dict())))
    assert again == protocol
    assert again.digest == protocol.digest
    assert len(protocol.digest) == 64
    with pytest.raises(dataclasses.FrozenInstanceError):
        protocol.thin = False


@pytest.mark.parametrize(("name", "shape", "pixels"), PIXELS)
def test_tolerance_in_pixels(name, shape, pixels):
    assert get_protocol(name).tolerance_for(shape) == pytest.approx(pixels, abs=0.005)


def test_tolerance_with_spacing():
    absolute = Protocol(id="mm", title="millimetres", tolerance=2)
    assert absolute.tolerance_for((10, 10, 10), (1, 1, 2.5)) == 2
    assert get_protocol("bsds").tolerance_for((30, 40), 2.0) == pytest.approx(0.75)


def test_what_tells_the_families_apart():
    assert get_protocol("edter").zero_threshold
    assert get_protocol("edter").ap_rule == "interpolated-101+zero"
    assert get_protocol("pyedgeeval").ap_rule == "interpolated-100"
    assert get_protocol("pdollar").threshold_floor == np.finfo(float).eps
    assert get_protocol("bsds").threshold_floor == 0
    assert not get_protocol("ceval").thin
    assert get_protocol("ceval").nms == "none"


SEAL_RULES = {  # tolerance, ignored labels, pixels cut off the rim, radius of boundaries, thinned or not
    "sbd-seal-thin": (0.02, {255}, 5, None, False),
    "sbd-seal-thin-inst": (0.02, {255}, 5, None, True),
    "sbd-seal-raw": (0.02, {255}, 5, 2, False),
    "sbd-seal-raw-inst": (0.02, {255}, 5, 2, False),
    "cityscapes-thin": (0.0035, {2, 3}, 0, 1, True),
    "cityscapes-thin-inst": (0.0035, {2, 3}, 0, 1, True),
    "cityscapes-raw": (0.0035, {2, 3}, 0, 2, False),
    "cityscapes-raw-inst": (0.0035, {2, 3}, 0, 2, False),
}


@pytest.mark.parametrize("name", SEAL_RULES)
def test_rules_of_classes_are_those_of_seal(name):
    """255 is the void of PASCAL; of the labels 0 to 33 of Cityscapes 19 are judged, and two ignored."""
    protocol = get_protocol(name)
    rules = protocol.classes
    tolerance, ignored, crop, radius, thin = SEAL_RULES[name]
    assert (protocol.relative_tolerance, protocol.thin) == (tolerance, "-thin" in name)
    assert (set(rules.ignored), rules.crop, rules.thin) == (ignored, crop, thin)
    assert rules.truth == ("stored" if radius is None else "labels")
    assert radius in (None, rules.radius)
    assert rules.instances == name.endswith("-inst")
    if name.startswith("cityscapes"):
        assert rules.scale == 0.5
        assert (len(rules.names), len(set(rules.labels) | set(rules.others))) == (19, 32)
        assert {*rules.labels, *rules.others, *rules.ignored} == set(range(34))


def test_thresholds():
    np.testing.assert_allclose(get_protocol("bsds").threshold_values(), np.arange(1, 100) / 100, atol=1e-15)
    few = Protocol(id="few", title="few", tolerance=1, thresholds=[0.2, 0.5])
    assert few.thresholds == (0.2, 0.5)
    np.testing.assert_array_equal(few.threshold_values(), [0.2, 0.5])
    assert Protocol(id="one", title="one", tolerance=1, thresholds=1).threshold_values().tolist() == [0.5]
    assert Protocol(id="most", title="most", tolerance=1, thresholds=100_000).threshold_values().size == 10**5


def test_digest_counts_what_decides_numbers():
    base = get_protocol("bsds")
    same = dataclasses.replace(base, id="other", title="x", notes="y", ap_rule="a", nms="none")
    assert same.digest == base.digest
    assert dataclasses.replace(base, thresholds=tuple(base.threshold_values())).digest == base.digest
    spelled = dataclasses.replace(base, nms="nms(radius=1, border=5, lenient=1.01, smooth=1)")
    assert spelled.digest == dataclasses.replace(base, nms="hed").digest != base.digest
    changes = {
        "relative_tolerance": 0.005,
        "thresholds": 33,
        "threshold_floor": 0.1,
        "zero_threshold": True,
        "thin": False,
        "truth": "inner",
        "mask": "after",
        "ap_rule": "d",
        "duplicates": "last",
    }
    digests = {dataclasses.replace(base, **{key: value}).digest for key, value in changes.items()}
    assert len(digests | {base.digest}) == len(changes) + 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relative_tolerance": None}, "needs either"),
        ({"tolerance": 3}, "needs either"),
        ({"relative_tolerance": -1}, "finite number ≥ 0"),
        ({"relative_tolerance": float("nan")}, "finite number ≥ 0"),
        ({"relative_tolerance": "0.1"}, "finite number ≥ 0"),
        ({"relative_tolerance": 4.3}, "give pixels as tolerance"),
        ({"thresholds": 0}, "number of thresholds"),
        ({"thresholds": 100_001}, "number of thresholds"),
        ({"thresholds": True}, "number of steps or a list"),
        ({"thresholds": "many"}, "number of steps or a list"),
        ({"thresholds": []}, "at least one number"),
        ({"thresholds": ["a"]}, "at least one number"),
        ({"thresholds": [0.5, 0.2]}, "ascending"),
        ({"thresholds": [0.5, 0.5]}, "ascending"),
        ({"thresholds": [0.5, 1.5]}, r"\[0, 1\]"),
        ({"threshold_floor": 2}, "threshold_floor"),
        ({"zero_threshold": 1}, "zero_threshold must be true or false"),
        ({"thin": "yes"}, "thin must be true or false"),
        ({"nms": 5}, "nms must be"),
        ({"nms": "hed(radius=0.5)"}, "radius"),
        ({"ap_rule": "b"}, "needs zero_threshold"),
        ({"duplicates": "middle"}, "first, last"),
        ({"mask": "never"}, "before, after"),
        ({"truth": "outer"}, "given, inner"),
        ({"id": "my protocol"}, "must be a word"),
        ({"title": None}, "must be text"),
    ],
)
def test_bad_values_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Protocol(**{**get_protocol("bsds").as_dict(), **changes})


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean 'pdollar'"):
        get_protocol("pdolar")
    with pytest.raises(UnknownNameError, match="AP rule"):
        Protocol(id="x", title="x", tolerance=1, ap_rule="e")
    with pytest.raises(UnknownNameError, match="recipe"):
        Protocol(id="x", title="x", tolerance=1, nms="what")
    with pytest.raises(InputError, match="named by text"):
        get_protocol(3)


def test_toml_with_a_base():
    mine = Protocol.from_toml('id = "my-lab"\nbase = "edter"\ntolerance = 2\nthresholds = [0.1, 0.9]\n')
    assert (mine.tolerance, mine.relative_tolerance, mine.thresholds) == (2, None, (0.1, 0.9))
    assert mine.nms == "hed"
    assert mine.source == ""
    assert "2 px" in str(mine)


def test_toml_without_a_base():
    mine = Protocol.from_toml('id = "own"\nrelative_tolerance = 0.02\n')
    assert mine.title == "own"
    assert mine.relative_tolerance == 0.02


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id = ", "must be TOML"),
        ('base = "bsds"', "needs a name"),
        ("id = [1]", "needs a name"),
        ('id = "bsds"\nbase = "bsds"', "name of a preset"),
        ('id = "x"\nbase = "bsds"\ntolerence = 3', "did you mean 'tolerance'"),
        ('id = "x"\nbase = 3', "named by text"),
        ('id = "x"\nbase = "bsds"\nthin = 1', "thin must be"),
        ('id = "x"', "needs either"),
    ],
)
def test_bad_toml_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        Protocol.from_toml(text)


def test_files(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text('id = "lab"\nbase = "bsds"\nrelative_tolerance = 0.005\n')
    assert load_protocol(path).relative_tolerance == 0.005
    assert find_protocol(path) == find_protocol(str(path)) == load_protocol(path)
    assert find_protocol("nyud") is PRESETS["nyud"]
    assert find_protocol(PRESETS["nyud"]) is PRESETS["nyud"]
    path.write_text('id = "lab"\nbase = "bsts"\n')
    with pytest.raises(DataError, match=r"lab\.toml: unknown protocol 'bsts'"):
        load_protocol(path)
    with pytest.raises(DataError, match=r"none\.toml"):
        load_protocol(tmp_path / "none.toml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"lab\.toml: is no UTF-8 text"):
        load_protocol(path)


def test_another_recipe_makes_another_protocol():
    base = get_protocol("pdollar")
    changed = base.with_nms("hed(radius=2)")
    assert (changed.id, changed.nms) == ("pdollar-hed-radius-2", "hed(radius=2)")
    assert changed.digest != base.digest
    assert dataclasses.replace(changed, id=base.id, nms=base.nms).digest == base.digest
    assert get_protocol("edter").with_nms("hed") is get_protocol("edter")
    assert get_protocol("edter").with_nms("none").id == "edter-none"
    with pytest.raises(UnknownNameError, match="unknown NMS recipe"):
        base.with_nms("heds")


def test_a_changed_protocol_has_the_name_it_was_given():
    changed = get_protocol("nyud").with_changes("mine", thin=False)
    assert (changed.id, changed.thin, changed.source, changed.notes) == ("mine", False, "", "")
    assert Protocol.from_toml('id = "lab"\nbase = "bsds"\n').id == "lab"


@pytest.mark.parametrize(
    "line", ["tolerance = " + "9" * 400, "x = " + "[" * 5000 + "]" * 5000, "threshold_floor = " + "9" * 400]
)
def test_monstrous_values_are_refused(line):
    with pytest.raises(InputError):
        Protocol.from_toml(f'id = "q"\nbase = "bsds"\n{line}\n')


def test_both_ends_of_the_scale_may_be_thresholds():
    protocol = get_protocol("bsds").with_changes("ends", thresholds=[0.0, 0.5, 1.0])
    assert protocol.threshold_values().tolist() == [0.0, 0.5, 1.0]
