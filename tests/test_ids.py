"""Ids are text that round-trips."""

from __future__ import annotations

import keyword
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgecritic.errors import InputError
from edgecritic.ids import Id

words = st.from_regex(r"[a-z][a-z0-9_]{0,7}", fullmatch=True).filter(lambda word: not keyword.iskeyword(word))
scalars = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    words,
)


def ids(values: st.SearchStrategy[object]) -> st.SearchStrategy[Id]:
    params = st.lists(st.tuples(words, values), max_size=4, unique_by=lambda pair: pair[0]).map(tuple)
    return st.builds(Id, words, params)


values = st.recursive(scalars, lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), ids(inner)))


@given(ids(values))
def test_text_round_trips(some: Id):
    # An id without parameters, as a value, is the word of its name.
    text = str(some)
    assert str(Id.parse(text)) == text


@given(ids(scalars))
def test_values_round_trip(some: Id):
    assert Id.parse(str(some)) == some


def test_parse_takes_names_parameters_and_nested_ids():
    parsed = Id.parse(
        " fom( strategy=eps(window=5), kappa=-0.5, c=None, on=True, word=disk, pair=(1, 2.5) ) "
    )
    assert parsed.name == "fom"
    assert parsed.options == {
        "strategy": Id("eps", (("window", 5),)),
        "kappa": -0.5,
        "c": None,
        "on": True,
        "word": "disk",
        "pair": (1, 2.5),
    }


def test_an_id_is_returned_as_it_is():
    some = Id("exact")
    assert Id.parse(some) is some


def test_empty_parentheses_are_dropped():
    assert str(Id.parse("exact()")) == "exact"


def test_repr_shows_the_text():
    assert repr(Id.parse("eps(window=7)")) == "Id('eps(window=7)')"


def test_numpy_numbers_print_as_plain_numbers():
    some = Id("eps", (("window", np.int64(7)), ("share", np.float64(0.5)), ("on", np.True_)))
    assert str(some) == "eps(window=7, share=0.5, on=True)"


@pytest.mark.parametrize("word", ["if", "None", "True", "ﬁ", "two words", "it's", "", "ª"])
def test_words_that_are_no_plain_names_are_quoted(word):
    some = Id("f", (("word", word),))
    assert str(some) == f"f(word={word!r})"
    assert Id.parse(str(some)) == some


def test_infinity_round_trips():
    text = str(Id("f", (("high", math.inf), ("low", -math.inf))))
    assert Id.parse(text).options == {"high": math.inf, "low": -math.inf}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "3",
        "'exact'",
        "None",
        "exact(",
        "exact(5)",
        "exact(window=)",
        "exact(**options)",
        "exact(a=1, a=2)",
        "exact(a=b.c)",
        "exact(a=1+2)",
        "exact(a=-word)",
        "exact(a=[1])",
        "exact(a=3j)",
        "module.exact",
        "exact(window=5)(7)",
        "__import__('os').system('true')",
        "a; b",
        "(" * 500,
    ],
)
def test_other_text_is_refused(text: str):
    with pytest.raises(InputError, match="an id has the form"):
        Id.parse(text)


def test_other_types_are_refused():
    with pytest.raises(InputError, match="an id has the form"):
        Id.parse(5)


class Array:
    """What has a shape and prints many lines."""

    shape = (40, 30)

    def __repr__(self):
        return "array([[1, 2],\n       [3, 4]])"


def test_what_is_no_id_is_told_in_one_short_line():
    for wrong, told in ((Array(), "an array of shape (40, 30)"), (["f\n"] * 999, "'f"), (None, "None")):
        with pytest.raises(InputError) as refused:
            Id.parse(wrong)
        assert told in str(refused.value)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 300
