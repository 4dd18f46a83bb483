"""Published JSON schemas: valid, one for every command with ``--json``, and able to say no.

What tests print with ``--json`` is validated wherever they do it: see `conftest.py`.
"""

from __future__ import annotations

import argparse
import json
import re

import jsonschema
import pytest

from edgecritic.cli.main import build_parser, main
from edgecritic.errors import UnknownNameError
from edgecritic.schemas import schema_names, schema_of


def commands_with_json() -> set[str]:
    """Return all commands and studies that have ``--json``."""
    found = set()

    def walk(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> None:
        inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
        for choices in inner:
            for name, one in choices.choices.items():
                walk(one, (*words, name))
        if not inner and "--json" in parser._option_string_actions:
            found.add("-".join(words))

    walk(build_parser(), ())
    return found


def test_every_command_has_a_schema_and_nothing_else_has():
    assert set(schema_names()) == commands_with_json()


@pytest.mark.parametrize("name", schema_names())
def test_schemas_are_schemas(name):
    found = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["title"] == f"edgecritic {name.replace('study-', 'study ')} --json"
    for nonsense in ({}, [], {"failures": [{}]}, {"nothing": 1}):
        assert not jsonschema.Draft202012Validator(found).is_valid(nonsense)
    assert jsonschema.Draft202012Validator(found).is_valid({"failures": [{"message": "no"}]})


def undescribed(part: object, place: str = "") -> list[str]:
    """Return the places of all properties, at any depth, that no sentence of their own describes."""
    if isinstance(part, list):
        return [found for one in part for found in undescribed(one, place)]
    if not isinstance(part, dict):
        return []
    inner = part.get("properties", {})
    bare = [f"{place}.{name}" for name, one in inner.items() if not is_sentence(one.get("description"))]
    below = [found for name, one in inner.items() for found in undescribed(one, f"{place}.{name}")]
    others = (one for key, one in part.items() if key != "properties")
    return [*bare, *below, *(found for one in others for found in undescribed(one, place))]


def is_sentence(text: object) -> bool:
    """Whether something is a text of several words that begins and ends like a sentence."""
    return isinstance(text, str) and text[0] == text[0].upper() and text.endswith(".") and " " in text


@pytest.mark.parametrize("name", schema_names())
def test_every_property_is_described(name):
    assert undescribed(schema_of(name)) == []


def test_a_property_without_a_sentence_is_noticed():
    found = schema_of("score")
    del found["$defs"]["label_scores"]["properties"]["counts"]["properties"]["tp"]["description"]
    assert undescribed(found) == [".counts.tp"]


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_has_the_definitions_it_refers_to_and_no_others(name):
    found = schema_of(name)
    referred = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(found)))
    assert set(found["$defs"]) == referred


def test_an_unknown_schema_is_refused():
    with pytest.raises(UnknownNameError, match="match"):
        schema_of("nothing")


def test_a_changed_type_is_noticed(capsys):
    assert main(["list", "recipes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    validator = jsonschema.Draft202012Validator(schema_of("list"))
    assert validator.is_valid(document)
    document["recipes"][0]["summary"] = 3
    assert not validator.is_valid(document)
