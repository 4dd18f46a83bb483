"""Trials and answers of a forced choice as files: trials in JSON, answers in JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgecritic.annotators.choice import Answer, Trial
from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError

__all__ = ["trials_json", "read_trials", "answers_csv", "answers_json", "read_answers"]

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
    """Read answers from a ``.csv`` or ``.json`` file; further columns are ignored."""
    file = Path(path)
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
    if rows and {"observer", "selection"} <= set(rows[0]):
        raise DataError(
            f"{file}: these answers are of an experiment of the studio, which draws trials of its own; "
            "its risk is on the page of the experiment, and votes.csv has the majorities"
        )
    answers = []
    for number, row in enumerate(rows, start=1):
        missing = [name for name in _FIELDS if not isinstance(row.get(name), str)]
        if missing:
            raise DataError(f"{file}: answer {number} has no {', '.join(missing)}")
        answers.append(Answer(row["trial"], row["subject"], row["choice"]))
    return answers


def _json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: cannot be read as JSON: {error}") from error
