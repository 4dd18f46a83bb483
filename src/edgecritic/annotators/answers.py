"""Trials and answers of a forced choice as files: trials in JSON, answers in JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgecritic.annotators.choice import MODES, Answer, Segment, Trial
from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError

__all__ = ["trials_json", "read_trials", "answers_csv", "answers_json", "read_answers", "read_votes"]

_FIELDS = ("trial", "subject", "choice")


def trials_json(asked: Iterable[Trial]) -> str:
    """Return trials as a JSON document ``{"trials": […]}``."""
    return json.dumps({"trials": [trial.as_dict() for trial in asked]}, indent=1) + "\n"


def read_trials(path: str | Path) -> list[Trial]:
    """Read what `trials_json` made."""
    content = _json(Path(path))
    if not isinstance(content, dict) or not isinstance(content.get("trials"), list):
        raise DataError(f'{path}: expected {{"trials": […]}}')
    return [Trial.from_dict(values) for values in content["trials"]]


def answers_csv(answers: Iterable[Answer]) -> str:
    """Return answers as CSV with the columns trial, subject, choice.

    Examples
    --------
    >>> print(answers_csv([Answer("hard/canny/12", "ann", "left")]), end="")
    trial,subject,choice
    hard/canny/12,ann,left
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows((one.trial, one.subject, one.choice) for one in answers)
    return stream.getvalue()


def answers_json(answers: Iterable[Answer]) -> str:
    """Return answers as a JSON document ``{"answers": [{"trial", "subject", "choice"}, …]}``."""
    rows = [{"trial": one.trial, "subject": one.subject, "choice": one.choice} for one in answers]
    return json.dumps({"answers": rows}, indent=1, ensure_ascii=False) + "\n"


def read_answers(path: str | Path) -> list[Answer]:
    """Read answers to trials of `trials_json` from a ``.csv`` or ``.json`` file; more columns are ignored."""
    asked, answers = read_votes(path)
    if asked is not None:
        raise DataError(f"{path}: these answers are of an experiment of the studio; read them by read_votes")
    return answers


def read_votes(path: str | Path) -> tuple[list[Trial] | None, list[Answer]]:
    """Read answers as `read_answers` does, or those of an experiment of the studio with their trials.

    The studio draws trials of its own and shows each subject the false alarm on another side. Its trials
    come without pixels and have the false alarm on the left; checks of attention are left out. The trials
    of other answers are not in their file: ``None``.
    """
    file = Path(path)
    rows = _rows(file)
    if rows and {"observer", "selection"} <= set(rows[0]):
        return _experiment(file, rows)
    answers = []
    for number, row in enumerate(rows, start=1):
        missing = [name for name in _FIELDS if not isinstance(row.get(name), str)]
        if missing:
            raise DataError(f"{file}: answer {number} has no {', '.join(missing)}")
        answers.append(Answer(row["trial"], row["subject"], row["choice"]))
    return None, answers


def _experiment(file: Path, rows: list[dict[str, Any]]) -> tuple[list[Trial], list[Answer]]:
    asked: dict[str, Trial] = {}
    answers = []
    for number, row in enumerate(rows, start=1):
        shown = (row.get("condition_1"), row.get("condition_2"))
        if (
            shown.count("label") != 1
            or row["selection"] not in ("1", "2")
            or row.get("mode") not in MODES
            or not all(row.get(name) for name in ("part", "trial", "scene", "observer"))
        ):
            raise DataError(f"{file}: answer {number} is not as the answers of the studio are")
        if row["part"] != "main":
            continue
        alarm = 1 - shown.index("label")
        name = f"{row['mode']}/{shown[alarm]}/{row['scene']}/{row['trial']}"
        asked[name] = Trial(
            id=name,
            image=row["scene"],
            detector=str(shown[alarm]),
            mode=row["mode"],
            left=Segment(kind="false alarm", centre=(0, 0), pixels=()),
            right=Segment(kind="label", centre=(0, 0), pixels=()),
        )
        choice = "left" if int(row["selection"]) - 1 == alarm else "right"
        answers.append(Answer(name, row["observer"], choice))
    return list(asked.values()), answers


def _rows(file: Path) -> list[dict[str, Any]]:
    if file.suffix.lower() == ".csv":
        try:
            rows: Any = list(csv.DictReader(io.StringIO(read_text(file))))
        except csv.Error as error:
            raise DataError(f"{file}: cannot be read as CSV: {error}") from error
    else:
        content = _json(file)
        rows = content.get("answers") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{file}: expected a list of answers with {', '.join(_FIELDS)}")
    return rows


def _json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: cannot be read as JSON: {error}") from error
