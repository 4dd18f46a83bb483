"""What a subject goes through around the trials: consent, questions, texts, breaks, sizes, the end.

The owner edits it until the experiment starts; from then on it is fixed, and it is exported with the data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any
from urllib.parse import quote, urlsplit

from edgecritic.errors import InputError
from edgecritic.studio.languages import RIGHT_TO_LEFT, texts_in

__all__ = ["KINDS", "Procedure", "Question", "SURROUND"]

KINDS = {"number": "whole number", "choice": "one of several", "text": "a line of text", "long": "free text"}
SURROUND = "#808080"
"""The colour around stimuli, whatever the theme; the style sheet has it too."""

_LONGEST = {"text": 200, "long": 4000}
_MOST_TEXT = 20_000
_MOST_QUESTIONS = 40
_KEY = re.compile("[a-z][a-z0-9_]{0,29}")
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_NUMBERS = {"break_every": (0, 1000), "size": (200, 2000)}
_FLAGS = ("enlarged", "need_size", "need_id", "own_code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that subjects are asked before or after the trials.

    Attributes
    ----------
    key : str
        Its name in files: small letters, digits and ``_``.
    kind : "number", "choice", "text" or "long"
    text : str
    options : tuple of str
        Of a choice.
    least, most : int
        Of a number.
    required : bool
    """

    key: str
    kind: str
    text: str
    options: tuple[str, ...] = ()
    least: int = 0
    most: int = 120
    required: bool = True

    @classmethod
    def from_dict(cls, values: Any) -> Question:
        """Make a question from JSON, or refuse it."""
        if not isinstance(values, dict):
            raise InputError("a question must be an object")
        key, kind = values.get("key"), values.get("kind")
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise InputError("the name of a question has small letters, digits and _, at most 30")
        if kind not in KINDS:
            raise InputError(f"the kind of the question {key} must be one of {', '.join(KINDS)}")
        text = _text(values.get("text", ""), f"the question {key}", 1000)
        if not text:
            raise InputError(f"the question {key} has no text")
        options = tuple(_text(one, f"an option of {key}", 200) for one in _list(values.get("options", [])))
        options = tuple(dict.fromkeys(one for one in options if one))
        if kind == "choice" and not 2 <= len(options) <= 50:
            raise InputError(f"the question {key} needs 2 to 50 different options")
        least, most = (_whole(values, name, -(10**9), 10**9, key) for name in ("least", "most"))
        if kind == "number" and least > most:
            raise InputError(f"the least number of the question {key} must not exceed the largest")
        return cls(
            key=key,
            kind=kind,
            text=text,
            options=options if kind == "choice" else (),
            least=least,
            most=most,
            required=values.get("required") is not False,
        )

    def read(self, given: str, words: Mapping[str, str]) -> Any:
        """Return the answer that a form gives, or refuse it in the words of the language."""
        from edgecritic.studio.languages import fill

        text = _clean(given)
        if not text:
            if self.required:
                raise InputError(fill(words["missing"], question=self.text))
            return None
        if self.kind == "number":
            if not re.fullmatch("-?[0-9]{1,10}", text) or not self.least <= int(text) <= self.most:
                told = fill(words["wrong_number"], least=self.least, most=self.most, question=self.text)
                raise InputError(told)
            return int(text)
        if self.kind == "choice":
            if text not in self.options:
                raise InputError(fill(words["missing"], question=self.text))
            return text
        return text[: _LONGEST[self.kind]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What subjects go through around the trials.

    Attributes
    ----------
    language : str
        Of all texts, such as ``de``; those of a language that the studio does not have are English.
    texts : mapping
        Texts that the owner has changed, by their names in ``languages/en.json``.
    consent : str
        What subjects agree to before anything is stored of them; nothing is asked if it is empty.
    before, after : tuple of Question
    break_every : int
        Trials between breaks; 0 for none.
    size : int
        Of the photo's longer side, in CSS pixels; smaller only where the window is too small.
    need_size : bool
        Whether a window in which the photos do not fit shows nothing until it is larger.
    enlarged : bool
        Whether both segments are shown enlarged too.
    need_id : bool
        Whether people with the recruiting link need an id of a service in it.
    code : str
        Shown at the end, for the service that pays; `own_code` gives everybody another one.
    address : str
        Where subjects are sent back to, http or https; ``{code}``, ``{participant}``, ``{study}`` and
        ``{session}`` in it are filled in.
    keep_until : str
        Day (ISO) at which everything is deleted that tells who a subject was; empty for no end.
    """

    language: str = "en"
    texts: Mapping[str, str] = field(default_factory=dict)
    consent: str = ""
    before: tuple[Question, ...] = ()
    after: tuple[Question, ...] = ()
    break_every: int = 40
    size: int = 560
    need_size: bool = False
    enlarged: bool = False
    need_id: bool = False
    code: str = ""
    own_code: bool = False
    address: str = ""
    keep_until: str = ""

    @classmethod
    def from_dict(cls, values: Any) -> Procedure:
        """Make a procedure from JSON, or refuse it in words; what is not said has its usual value."""
        if not isinstance(values, dict):
            raise InputError("a procedure must be an object")
        usual = cls()
        language = values.get("language", usual.language)
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise InputError("the language must be a code such as en, de or pt-BR")
        before, after = (
            tuple(Question.from_dict(one) for one in _list(values.get(name, [])))
            for name in ("before", "after")
        )
        keys = [one.key for one in (*before, *after)]
        if len(keys) > _MOST_QUESTIONS:
            raise InputError(f"there are at most {_MOST_QUESTIONS} questions")
        if len(set(keys)) < len(keys):
            raise InputError("two questions have the same name")
        code = _text(values.get("code", ""), "the code", 40)
        if not code.isprintable():
            raise InputError("the code must be printable text on one line")
        plain: dict[str, Any] = {name: _number(values, name, getattr(usual, name)) for name in _NUMBERS}
        plain |= {name: values.get(name) is True for name in _FLAGS}
        return cls(
            language=language,
            texts=_texts(values.get("texts", {}), language),
            consent=_text(values.get("consent", ""), "the consent", _MOST_TEXT),
            before=before,
            after=after,
            code=code,
            address=_address(values.get("address", "")),
            keep_until=_day(values.get("keep_until", "")),
            **plain,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self) | {
            "texts": dict(self.texts),
            "before": [_question(one) for one in self.before],
            "after": [_question(one) for one in self.after],
        }

    @property
    def words(self) -> dict[str, str]:
        """All texts, those of the owner in place of the usual ones."""
        return texts_in(self.language) | dict(self.texts)

    @property
    def direction(self) -> str:
        """In which the language is written: ``ltr`` or ``rtl``."""
        return "rtl" if self.language.split("-")[0] in RIGHT_TO_LEFT else "ltr"

    def return_address(self, **known: str) -> str:
        """Return where a subject is sent back to, with what is known of the person filled in.

        Examples
        --------
        >>> there = Procedure(address="https://example.org/done?cc={code}")
        >>> there.return_address(code="A&B")
        'https://example.org/done?cc=A%26B'
        """
        found = self.address
        for name in ("code", "participant", "study", "session"):
            found = found.replace(f"{{{name}}}", quote(known.get(name, ""), safe=""))
        return found


def _question(one: Question) -> dict[str, Any]:
    return asdict(one) | {"options": list(one.options)}


def _texts(given: Any, language: str) -> dict[str, str]:
    """Return the texts that differ from the usual ones; refuse names that nothing has."""
    if not isinstance(given, dict):
        raise InputError("texts must be an object")
    usual = texts_in(language)
    unknown = [name for name in given if name not in usual]
    if unknown:
        raise InputError(f"there is no text {str(unknown[0])[:40]!r}")
    found = {name: _text(text, f"the text {name}", 5000) for name, text in given.items()}
    return {name: text for name, text in found.items() if text and text != usual[name]}


def _address(given: Any) -> str:
    """Refuse an address that a browser would not open as a page of a server."""
    address = _text(given, "the return address", 1000)
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        fits = fits and "{" not in parts.netloc and address.isascii() and address.isprintable()
        fits = fits and not re.search(r'[\s\\<>"]', address) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise InputError("the return address must begin with https:// or http:// and the name of a server")
    return address


def _day(given: Any) -> str:
    text = _text(given, "the day", 10)
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError("the day must look like 2027-01-31") from None


def _text(given: Any, what: str, most: int) -> str:
    if not isinstance(given, str):
        raise InputError(f"{what} must be text")
    text = _clean(given)
    if len(text) > most:
        raise InputError(f"{what} has at most {most} characters")
    return text


def _clean(text: str) -> str:
    """Return a text that every database can take: without control characters but the ends of lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = ("".join(sign if sign.isprintable() else " " for sign in line).rstrip() for line in lines)
    return "\n".join(kept).strip()


def _list(given: Any) -> Sequence[Any]:
    if not isinstance(given, list) or len(given) > 100:
        raise InputError("questions and options must be lists of at most 100")
    return given


def _number(values: Mapping[str, Any], name: str, usual: int) -> int:
    given = values.get(name, usual)
    low, high = _NUMBERS[name]
    if isinstance(given, bool) or not isinstance(given, int) or not low <= given <= high:
        raise InputError(f"{name} must be a whole number from {low} to {high}")
    return given


def _whole(values: Mapping[str, Any], name: str, low: int, high: int, key: str) -> int:
    given = values.get(name, {"least": 0, "most": 120}[name])
    if isinstance(given, bool) or not isinstance(given, int) or not low <= given <= high:
        raise InputError(f"{name} of the question {key} must be a whole number")
    return given
