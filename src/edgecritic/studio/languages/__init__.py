"""What subjects read, in some languages: a JSON file each, all with the same names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

__all__ = ["LANGUAGES", "RIGHT_TO_LEFT", "fill", "texts_in"]

LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "français"}
RIGHT_TO_LEFT = frozenset(("ar", "dv", "fa", "he", "ps", "ur", "yi"))


@cache
def texts_in(language: str) -> dict[str, str]:
    """Return the texts of a language; those of one that is not here are English, for the owner to translate.

    Examples
    --------
    >>> texts_in("de")["begin"], texts_in("nl")["begin"]
    ('Beginnen', 'Begin')
    """
    name = language if language in LANGUAGES else "en"
    found: dict[str, str] = json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
    return found


def fill(text: str, **values: object) -> str:
    """Put values into a text; of a form for one and one for many, divided by ``|``, `count` takes one.

    Examples
    --------
    >>> fill("{done} of {total}", done=1, total=3), fill("one dog|{count} dogs", count=2)
    ('1 of 3', '2 dogs')
    """
    if "count" in values and "|" in text:
        one, many = text.split("|", 1)
        text = one if values["count"] == 1 else many
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
