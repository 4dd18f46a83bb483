"""Every number that an id or a call takes, at its extremes: a finite answer or one clear refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgecritic
from edgecritic.detectors.base import detectors
from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.matching import strategies
from edgecritic.measures import measures

EXTREMES = [
    *(0, -0.0, -1, 1, 0.5, 1e-9, 1e-300, 5e-324, 1e6, 1e300, 1.7e308, -1e308, math.inf, -math.inf, math.nan),
    *(2**31, 2**63, 10**30, 10**400, -(10**400)),
]
IMAGE = np.random.default_rng(0).random((9, 11))
CANDIDATE = IMAGE > 0.7
TRUTH = np.roll(CANDIDATE, 1, axis=0)


def numeric(registry):
    """Yield (name, parameter) of everything that may be a number."""
    return [
        (entry.name, key)
        for entry in registry
        for key, default in entry.parameters.items()
        if not isinstance(default, bool | str)
    ]


def answer(call):
    """Return what a call gives, or nothing if it is refused in one line; warnings and other errors pass."""
    try:
        return call()
    except EdgeCriticError as refusal:
        if "\n" in str(refusal):
            raise
        return None


@pytest.mark.parametrize("value", EXTREMES, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(("name", "key"), numeric(detectors))
def test_detectors(name, key, value):
    found = answer(lambda: edgecritic.detect(IMAGE, edgecritic.ids.Id(name, ((key, value),))))
    if found is not None:
        assert np.isfinite(np.asarray(found.strength)).all()


@pytest.mark.parametrize("value", EXTREMES, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(("name", "key"), numeric(measures))
def test_measures(name, key, value):
    labels = measures.get(name).info.needs == "segmentation"
    maps = (CANDIDATE.astype(int), TRUTH.astype(int)) if labels else (CANDIDATE, TRUTH)
    found = answer(lambda: edgecritic.score(*maps, [edgecritic.ids.Id(name, ((key, value),))]))
    if found is not None:
        assert np.isfinite(found.annotators).all()


@pytest.mark.parametrize("value", EXTREMES, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(("name", "key"), numeric(strategies))
def test_strategies(name, key, value):
    found = answer(
        lambda: edgecritic.match(CANDIDATE, TRUTH, strategy=edgecritic.ids.Id(name, ((key, value),)))
    )
    if found is not None:
        assert math.isfinite(found.f())


@pytest.mark.parametrize("value", EXTREMES, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("name", strategies.names())
def test_tolerances_and_pixel_sizes(name, value):
    for options in (
        {"tolerance": value},
        {"relative_tolerance": value},
        {"tolerance": 1, "spacing": value},
        {"tolerance": 1, "spacing": (value, 1)},
    ):
        found = answer(lambda options=options: edgecritic.match(CANDIDATE, TRUTH, strategy=name, **options))
        if found is not None:
            assert math.isfinite(found.f())


@settings(max_examples=200)
@given(st.data())
def test_several_extreme_parameters_of_a_measure_at_once(data):
    entry = data.draw(st.sampled_from([each for each in measures if each.info.needs != "segmentation"]))
    keys = [key for name, key in numeric(measures) if name == entry.name]
    drawn = {key: data.draw(st.sampled_from(EXTREMES) | st.floats(1e-3, 1e3)) for key in keys}
    found = answer(
        lambda: edgecritic.score(CANDIDATE, TRUTH, [edgecritic.ids.Id(entry.name, tuple(drawn.items()))])
    )
    if found is not None:
        assert np.isfinite(found.annotators).all()


def test_powers_without_end_of_what_is_below_one_are_refused():
    with pytest.raises(InputError, match="beyond the range of floating-point numbers"):
        edgecritic.score(CANDIDATE, TRUTH, [edgecritic.ids.Id("omega", (("k", math.inf), ("delta", 1e6)))])
