"""What every column of an experiment's tables means, for those who read them without the studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from edgecritic.annotators.answers import COMPARISON, VOTES, exact_csv
from edgecritic.annotators.display import DISPLAY
from edgecritic.studio.procedure import KINDS, Procedure

__all__ = ["SUBJECT", "Entry", "codebook", "codebook_csv"]


class Entry(NamedTuple):
    """A column: the file that has it, its name, its type, its values or unit, and what it means."""

    file: str
    column: str
    type: str
    values: str
    meaning: str


_SIDES = "left, right"
_ANSWERS: Mapping[str, tuple[str, str, str]] = {
    "observer": ("id", "", "the subject: the number of the invitation"),
    "session": ("whole number", "from 1", "a session ends with a pause of half an hour or with a visit"),
    "scene": ("text", "", "name of the photo"),
    "condition_1": ("text", "", "what was shown as left, or with the letter F: label, detector or map"),
    "condition_2": ("text", "", "what was shown as right, or with the letter J"),
    "selection": ("whole number", "1, 2, 0", "the condition that was chosen; 0 for a tie"),
    "trial": ("id", "", "the trial, as in experiment.json"),
    "subject": ("id", "", "the same as observer"),
    "choice": ("word", f"{_SIDES}, tie", "the side of the trial that was chosen, as experiment.json has it"),
    "mirrored": ("truth value", "True, False", "whether the subject saw the trial with the sides exchanged"),
    "false_alarm": (
        "word",
        _SIDES,
        "the side of the false alarm, or of the spoiled map; empty if there is none",
    ),
    "detector": ("text", "", "whose false alarm it is; empty for maps"),
    "mode": ("word", "hard, easy, detector, threshold, damage", "the kind of trial"),
    "part": ("word", "main, check, practice", "only main trials count for results"),
    "position": ("whole number", "from 0", "place in the subject's schedule"),
    "reaction_ms": ("whole number", "milliseconds", "time in which the trial was seen until the answer"),
    "pauses": ("whole number", "from 0", "how often the trial was put aside before the answer"),
    "visit": ("text", "hexadecimal", "which opening of the page the answer was given in"),
    "time": ("time", "ISO 8601, UTC", "when the server stored the answer"),
    "name": ("text", "", "name that the owner, or the recruiting service, gave the subject"),
}
_VOTES: Mapping[str, tuple[str, str, str]] = {
    **{name: _ANSWERS[name] for name in ("trial", "scene", "mode", "detector")},
    "answers": ("whole number", "", "answers to the trial"),
    "for_false_alarm": ("whole number", "", "answers that took the false alarm; empty for maps"),
    "majority": ("text", "", "what most subjects took: false alarm, label, a condition, or tie"),
    "condition_1": ("text", "", "left in experiment.json"),
    "condition_2": ("text", "", "right in experiment.json"),
    "for_1": ("whole number", "", "answers that took condition 1"),
    "for_2": ("whole number", "", "answers that took condition 2"),
    "ties": ("whole number", "", "answers that took neither"),
}
_RISKS: Mapping[str, tuple[str, str, str]] = {
    "subjects": ("word", "kept, all", "without those whom the rules leave out, or with everybody"),
    "mode": ("word", "hard, easy", "the kind of trial"),
    "detector": ("text", "", "whose false alarms were compared"),
    "risk": ("number", "0 to 1", "share of decided trials that the false alarm wins, by majority"),
    "low": ("number", "0 to 1", "lower end of Wilson's 95 % interval"),
    "high": ("number", "0 to 1", "upper end of Wilson's 95 % interval"),
    "trials": ("whole number", "", "decided trials"),
    "lost": ("whole number", "", "trials that the false alarm wins"),
    "ties": ("whole number", "", "trials on which subjects are divided equally"),
    "answers": ("whole number", "", "answers to main trials"),
}
RISK = tuple(_RISKS)
_MOMENT = ("time", "ISO 8601, UTC")
_SUBJECTS: Mapping[str, tuple[str, str, str]] = {
    "subject": ("id", "", "the subject: observer in answers.csv"),
    "name": _ANSWERS["name"],
    "participant": ("id", "", "id that a recruiting service gave the person"),
    "study": ("id", "", "id of the study at the recruiting service"),
    "session": ("id", "", "id of the session at the recruiting service"),
    "recruited": ("truth value", "True, False", "whether the person came with the recruiting link"),
    "code": ("text", "", "completion code that the last page shows"),
    "invited": (*_MOMENT, "when the place was made"),
    "opened": (*_MOMENT, "when the link was opened first"),
    "consented": (*_MOMENT, "when the subject agreed; empty if nothing was to agree to"),
    "began": (*_MOMENT, "from when on trials could be answered"),
    "last_answer": (*_MOMENT, "when the last answer was stored"),
    "finished": (*_MOMENT, "when the questions after the trials were answered"),
    "answered": ("whole number", "", "answered trials, with practice and checks"),
    "of": ("whole number", "", "trials in the schedule"),
    "checks_passed": ("number", "0 to 1", "share of attention checks that were answered right"),
    "false_alarm_share": ("number", "0 to 1", "share of main trials in which the false alarm was taken"),
    "left_share": ("number", "0 to 1", "share of main answers for the left, or for the letter F"),
    "with_majority": ("number", "0 to 1", "share of main answers that agree with the majority"),
    "median_ms": ("number", "milliseconds", "median time of main trials that were not interrupted"),
    "left_out": ("text", "", "why the rules leave the subject out; empty if the subject counts"),
    "deleted": (*_MOMENT, "when everything that was kept of the subject was deleted"),
}
SUBJECT = tuple(_SUBJECTS)


def codebook(procedure: Procedure) -> list[Entry]:
    """Return an entry for every column of every table, those of the owner's questions too."""
    return list(_entries(procedure))


def codebook_csv(procedure: Procedure) -> str:
    """Return the code book as CSV."""
    return exact_csv(Entry._fields, codebook(procedure))


def _entries(procedure: Procedure) -> Iterator[Entry]:
    for file in ("answers.csv", "kept.csv"):
        for name in COMPARISON:
            yield Entry(file, name, *(_display(name) if name in DISPLAY else _ANSWERS[name]))
    yield from (Entry("votes.csv", name, *_VOTES[name]) for name in VOTES)
    yield from (Entry("risks.csv", name, *about) for name, about in _RISKS.items())
    yield from (Entry("subjects.csv", name, *about) for name, about in _SUBJECTS.items())
    for part in ("before", "after"):
        for one in getattr(procedure, part):
            values = f"{one.least} to {one.most}" if one.kind == "number" else "; ".join(one.options)
            meaning = one.text + ("" if one.required else " (may be left empty)")
            yield Entry("subjects.csv", f"{part}_{one.key}", KINDS[one.kind], values, meaning)


def _display(name: str) -> tuple[str, str, str]:
    detail = DISPLAY[name]
    types: dict[Any, str] = {int: "whole number", float: "number", str: "word"}
    values = ", ".join(detail.values) if detail.kind is str else ""
    return types[detail.kind], values, detail.meaning
