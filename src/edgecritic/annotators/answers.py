"""Trials and answers of a forced choice as files: JSON with both, or CSV with an answer per line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from edgecritic.annotators import display
from edgecritic.annotators.choice import MODES, PAIR_KINDS, PARTS, SIDES, TIE, Answer, EdgeMap, Trial
from edgecritic.annotators.votes import majority
from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError
from edgecritic.tables import csv_text

__all__ = [
    "COMPARISON",
    "VOTES",
    "answers_csv",
    "comparisons_csv",
    "exact_csv",
    "parse_trials",
    "read_choices",
    "read_trials",
    "trials_json",
    "votes_csv",
    "with_sessions",
]

_FIELDS = ("trial", "subject", "choice")
_TRIAL_FIELDS = ("scene", "detector", "mode", "part", "false_alarm")
COMPARISON = (
    *("observer", "session", "scene", "condition_1", "condition_2", "selection"),
    *(*_FIELDS, "mirrored", "false_alarm", "detector", "mode", "part"),
    *("position", "reaction_ms", "pauses", "visit", "time", *display.DISPLAY, "name"),
)
VOTES = (
    *("trial", "scene", "mode", "detector", "answers", "for_false_alarm", "majority"),
    *("condition_1", "condition_2", "for_1", "for_2", "ties"),
)
_PAIRWISE = ("observer", "condition_1", "condition_2", "selection")
_SELECTIONS = (TIE, *SIDES)
_TRUTH = {True: True, False: False, "True": True, "False": False, "": False, None: False}
_PAUSE = timedelta(minutes=30)
_FORMULA = re.compile("'*[=+@-]")


def trials_json(asked: Iterable[Trial], answers: Iterable[Answer] | None = None, **about: Any) -> str:
    """Return ``{"trials": […]}`` as JSON, a trial per line; with ``"answers"`` and what else is given."""
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in about.items()]
    lists = {"trials": asked} | ({} if answers is None else {"answers": answers})
    for name, values in lists.items():
        parts.append(f'"{name}": [\n' + ",\n".join(json.dumps(one.as_dict()) for one in values) + "\n]")
    return "{" + ",\n".join(parts) + "}\n"


def read_trials(path: str | Path) -> list[Trial]:
    """Read the trials of `trials_json`."""
    return parse_trials(_json(Path(path)), str(path))


def parse_trials(content: Any, source: str) -> list[Trial]:
    """Return the trials of a JSON document; messages name its `source`."""
    if not isinstance(content, dict) or not isinstance(content.get("trials"), list):
        raise DataError(f'{source}: expected {{"trials": […]}}')
    asked = [Trial.from_dict(values) for values in content["trials"]]
    if len({trial.id for trial in asked}) < len(asked):
        raise DataError(f"{source}: two trials have the same id", remedy="every trial needs its own")
    return asked


def answers_csv(answers: Iterable[Answer]) -> str:
    """Return answers as CSV with the columns trial, subject, choice.

    Examples
    --------
    >>> print(answers_csv([Answer("hard/canny/12", "ann", "left")]), end="")
    trial,subject,choice
    hard/canny/12,ann,left
    """
    return exact_csv(_FIELDS, ((one.trial, one.subject, one.choice) for one in answers))


def comparisons_csv(
    asked: Iterable[Trial], answers: Iterable[Answer], names: Mapping[str, str] | None = None
) -> str:
    """Return answers and their trials as CSV, in the form that programs for pairwise comparisons read.

    observer, session, scene, condition_1, condition_2, selection; then what `read_choices` reads, with how
    the trial was seen (`display.DISPLAY`); at last the name of the subject, if there is one. Condition 1 was
    shown on the left: ``label``, the name of the detector, or the condition of a map. The selection is 1 or
    2, and 0 for a tie; a session ends with a pause of half an hour, or with a visit.
    """
    known = {trial.id: trial for trial in asked}
    table = []
    for one, sitting in with_sessions(answers):
        trial = known[one.trial]
        conditions = trial.conditions[::-1] if one.mirrored else trial.conditions
        compared = [one.subject, sitting, trial.image, *conditions, _SELECTIONS.index(one.shown)]
        answered = [one.trial, one.subject, one.choice, one.mirrored]
        told: list[Any] = [trial.false_alarm or "", trial.detector, trial.mode, trial.part]
        told += [one.position, one.reaction_ms, one.pauses, one.visit]
        moment = one.time.isoformat() if one.time else ""
        seen = [one.display.get(name, "") for name in display.DISPLAY]
        table.append([*compared, *answered, *told, moment, *seen, (names or {}).get(one.subject, "")])
    return exact_csv(COMPARISON, table)


def votes_csv(asked: Iterable[Trial], answers: Sequence[Answer]) -> str:
    """Return the majority of every main trial as CSV."""
    decided = majority(answers)
    given: dict[str, list[str]] = {}
    for one in answers:
        given.setdefault(one.trial, []).append(one.choice)
    table = []
    for trial in asked:
        if trial.part == "main" and trial.id in given:
            won, alarm, mine = decided[trial.id], trial.false_alarm, given[trial.id]
            word = "tie" if won is None else _winner(trial, won)
            count = [len(mine), mine.count(alarm) if alarm else ""]
            sides = [*trial.conditions, *(mine.count(side) for side in SIDES), mine.count(TIE)]
            table.append([trial.id, trial.image, trial.mode, trial.detector, *count, word, *sides])
    return exact_csv(VOTES, table)


def _winner(trial: Trial, side: str) -> str:
    """Return what has won: a condition, or in a word which segment."""
    if trial.is_of_maps:
        return trial.conditions[SIDES.index(side)]
    return "false alarm" if side == trial.false_alarm else "label"


def read_choices(path: str | Path) -> tuple[list[Trial], list[Answer]]:
    """Read answers from a ``.csv`` or ``.json`` file, and their trials if it tells them.

    A file needs trial, subject and choice of every answer; or, as CSV, what programs for pairwise
    comparisons have: observer, condition_1, condition_2, selection (1, 2, 0 for a tie, or the condition), and
    scene if there are several. Trials are in the JSON of `trials_json`, and without pixels in the CSV of
    `comparisons_csv` and of such programs; of other files there are none.
    """
    file = Path(path)
    is_table = file.suffix.lower() == ".csv"
    content = _table(file) if is_table else _json(file)
    rows = content.get("answers") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"expected a list of answers with {', '.join(_FIELDS)}", path=file)
    if is_table and rows and set(_PAIRWISE) <= set(rows[0]) and not set(_FIELDS) <= set(rows[0]):
        rows = _numbered(_pairwise(file, number, row) for number, row in enumerate(rows, start=1))
    answers = [_answer(file, number, row) for number, row in enumerate(rows, start=1)]
    if is_table and rows and set(_TRIAL_FIELDS) <= set(rows[0]):
        return _trials(file, rows), answers
    if isinstance(content, dict) and "trials" in content:
        return parse_trials(content, str(file)), answers
    return [], answers


def exact_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV that gives the same texts when read; no spreadsheet takes one for a formula."""
    return csv_text(columns, rows, _guarded)


def _guarded(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _table(file: Path) -> list[dict[str, Any]]:
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(file), newline="")))
    except csv.Error as error:
        raise DataError(f"cannot be read as CSV: {error}", path=file) from error
    return [{name: _unguarded(value) for name, value in row.items()} for row in rows]


def _unguarded(value: Any) -> Any:
    is_guarded = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if is_guarded else value


def _answer(file: Path, number: int, row: Mapping[str, Any]) -> Answer:
    missing = [name for name in _FIELDS if not isinstance(row.get(name), str)]
    if missing:
        raise DataError(f"answer {number} has no {', '.join(missing)}", path=file)
    try:
        return Answer(
            trial=row["trial"],
            subject=row["subject"],
            choice=row["choice"],
            mirrored=_TRUTH[row.get("mirrored")],
            position=_whole(row.get("position")),
            reaction_ms=_whole(row.get("reaction_ms")),
            time=_moment(row.get("time")),
            pauses=_whole(row.get("pauses")) or 0,
            visit=str(row.get("visit") or ""),
            display=display.read(row),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"answer {number} cannot be read: {error}", path=file) from error


def _pairwise(file: Path, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of a program for pairwise comparisons with the names that our files have.

    The trial is the scene and the two conditions, whichever was shown on the left.
    """
    first, second, selection = (str(row.get(name) or "") for name in _PAIRWISE[1:])
    words = {"0": TIE, "1": "left", "2": "right", first: "left", second: "right"}
    if not first or not second or first == second or selection not in words:
        raise DataError(
            f"answer {number} compares {first!r} with {second!r} and selects {selection!r}; "
            "expected two conditions, and 1, 2 or 0 for a tie",
            path=file,
        )
    scene, mirrored = str(row.get("scene") or ""), first > second
    left, right = (second, first) if mirrored else (first, second)
    chosen = words[selection]
    if mirrored and chosen != TIE:
        chosen = "right" if chosen == "left" else "left"
    told = {"scene": scene, "detector": "", "mode": "detector", "part": "main", "false_alarm": ""}
    return {
        **row,
        **told,
        "trial": "/".join(part for part in (scene, left, right) if part),
        "subject": row.get("observer"),
        "choice": chosen,
        "mirrored": str(mirrored),
    }


def _numbered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give a trial that a subject answered several times an id of its own each time."""
    seen: Counter[tuple[Any, Any]] = Counter()
    made = []
    for row in rows:
        key = (row["trial"], row["subject"])
        seen[key] += 1
        made.append(row if seen[key] == 1 else row | {"trial": f"{row['trial']}/{seen[key]}"})
    return made


def _whole(value: Any) -> int | None:
    return None if value in (None, "") else int(value)


def _moment(value: Any) -> datetime | None:
    if not value:
        return None
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _trials(file: Path, rows: Sequence[Mapping[str, Any]]) -> list[Trial]:
    asked: dict[str, Trial] = {}
    for number, row in enumerate(rows, start=1):
        mode, part, side = (row[name] for name in ("mode", "part", "false_alarm"))
        of_maps = mode in PAIR_KINDS
        sides = ("",) if of_maps and part == "main" else SIDES
        if mode not in (*MODES, *PAIR_KINDS) or part not in PARTS or side not in sides:
            raise DataError(
                f"answer {number} has mode {mode!r}, part {part!r} and false alarm {side!r}; expected one "
                f"of {', '.join((*MODES, *PAIR_KINDS))}, one of {', '.join(PARTS)}, and left or right",
                path=file,
            )
        texts = {"id": row["trial"], "image": row["scene"], "mode": mode, "part": part}
        if of_maps:
            left, right = _bare_maps(file, number, row)
            trial = Trial(left=left, right=right, detector="", **texts)
        else:
            trial = Trial.bare(side, detector=row["detector"], **texts)
        if asked.setdefault(trial.id, trial) != trial:
            raise DataError(
                f"answer {number} says something else of the trial {trial.id!r} than before", path=file
            )
    return list(asked.values())


def _bare_maps(file: Path, number: int, row: Mapping[str, Any]) -> list[EdgeMap]:
    """Return the conditions of two maps, without pixels, as they are in the trial."""
    shown = [row.get("condition_1"), row.get("condition_2")]
    if not all(isinstance(one, str) for one in shown):
        raise DataError(f"answer {number} does not name both conditions", path=file)
    named = zip(SIDES, shown[::-1] if _TRUTH.get(row.get("mirrored")) else shown, strict=True)
    wrong = row["false_alarm"]
    kinds = {True: "spoiled map", False: "map"}
    return [EdgeMap(condition=str(name), kind=kinds[side == wrong]) for side, name in named]


def with_sessions(answers: Iterable[Answer]) -> Iterator[tuple[Answer, int]]:
    """Yield the answers, subject after subject in order of time, each with the number of its session."""
    by_subject: dict[str, list[Answer]] = {}
    for one in answers:
        by_subject.setdefault(one.subject, []).append(one)
    for mine in by_subject.values():
        mine.sort(key=lambda one: (one.time.timestamp() if one.time else 0, one.position or 0))
        sitting, before, visit = 1, None, mine[0].visit
        for one in mine:
            late = before is not None and one.time is not None and one.time - before > _PAUSE
            if late or one.visit != visit:
                sitting += 1
            before, visit = one.time, one.visit
            yield one, sitting


def _json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON: {error}", path=file) from error
