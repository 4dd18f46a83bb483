"""Scores of labels as a ``summary.json`` in the manner of nnU-Net: read and written."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError
from edgecritic.measures.evidence import Confusion
from edgecritic.measures.label_maps import Label
from edgecritic.measures.labels import CaseScores, ScoredMap
from edgecritic.run.score_results import ScoreRun, named_scores
from edgecritic.values import plain_numbers

__all__ = ["read_summary", "summary_of"]

_COUNTS = ("TP", "FP", "FN", "TN")
_OWN = {"Dice": "dice", "IoU": "jaccard"}
"""Names of the file and ours."""
_DERIVED = ("n_pred", "n_ref")


def summary_of(run: ScoreRun) -> dict[str, Any] | None:
    """Return the scores of labels as nnU-Net writes them, ``None`` where there are several truths.

    Every label has Dice, IoU and the counts TP, FP, FN, TN, n_pred, n_ref, and under their ids the further
    measures that were computed. ``mean`` is over the cases that have a value, ``foreground_mean`` over the
    labels. Labels are named by their numbers. What has no value is ``null``; nnU-Net itself writes ``NaN``,
    which is no JSON.
    """
    cases: list[dict[str, Any]] = []
    for name, case in run.cases.items():
        if not case.labelled or any(one.counts is None for one in case.maps):
            return None
        prediction, reference = run.files.get(name, ("", ""))
        metrics = {_key(one): _metrics(one) for one in case.maps}
        cases.append({"metrics": metrics, "prediction_file": prediction, "reference_file": reference})
    keys = sorted({key for case in cases for key in case["metrics"]}, key=_numbers)
    means = {key: _mean([case["metrics"][key] for case in cases if key in case["metrics"]]) for key in keys}
    return {
        "foreground_mean": plain_numbers(_mean(list(means.values()))),
        "mean": {key: plain_numbers(row) for key, row in means.items()},
        "metric_per_case": [
            {**case, "metrics": {key: plain_numbers(row) for key, row in case["metrics"].items()}}
            for case in cases
        ],
    }


def read_summary(path: str | os.PathLike[str]) -> ScoreRun:
    """Read a ``summary.json`` of nnU-Net or of this package as the scores of a folder.

    Cases are named by their prediction file, or the reference file, without folders and ending. Dice and IoU
    become ``dice`` and ``jaccard``; the counts are kept; measures that are not known here are of the kind of
    which more is better.

    Raises
    ------
    DataError
        If the file cannot be read or is no summary.
    """
    try:
        content = json.loads(read_text(path))
        rows = content["metric_per_case"]
        cases = {_case_name(row): _case(row["metrics"]) for row in rows}
        files = {
            _case_name(row): (_file_name(row.get("prediction_file")), _file_name(row.get("reference_file")))
            for row in rows
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DataError(
            f"is no summary of scores ({type(error).__name__}: {error})",
            path=path,
            remedy='expected JSON with "metric_per_case", as nnU-Net and edgecritic score --out write it',
        ) from error
    if len(cases) != len(rows):
        raise DataError("two cases have the same name", path=path, remedy="name prediction files apart")
    return ScoreRun(cases=cases, files=files)


def _metrics(one: ScoredMap) -> dict[str, float]:
    counts = one.counts or Confusion(0, 0, 0, 0)
    union = counts.tp + counts.fp + counts.fn
    found: dict[str, float] = {
        "Dice": 2 * counts.tp / (union + counts.tp) if union else math.nan,
        "FN": counts.fn,
        "FP": counts.fp,
        "IoU": counts.tp / union if union else math.nan,
        "TN": counts.tn,
        "TP": counts.tp,
        "n_pred": counts.tp + counts.fp,
        "n_ref": counts.tp + counts.fn,
    }
    more = {name: value for name, value in one.scores.mean.items() if name not in _OWN.values()}
    return {**found, **more}


def _mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    known = {name: [row[name] for row in rows if not math.isnan(row.get(name, math.nan))] for name in names}
    return {name: sum(values) / len(values) if values else math.nan for name, values in known.items()}


def _key(one: ScoredMap) -> str:
    values = one.label.values if one.label is not None else (1,)
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def _numbers(key: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"-?\d+", key))


def _case_name(row: Mapping[str, Any]) -> str:
    name = _file_name(row.get("prediction_file")) or _file_name(row["reference_file"])
    stem = re.sub(r"\.(nii\.gz|[^.]+)$", "", name)
    if not stem:
        raise KeyError("prediction_file")
    return stem


def _file_name(path: Any) -> str:
    return str(path or "").replace("\\", "/").rpartition("/")[2]


def _case(metrics: Mapping[str, Mapping[str, Any]]) -> CaseScores:
    maps = tuple(_map(key, row) for key, row in metrics.items())
    present = {value for one in maps if one.label and one.empty != "both" for value in one.label.values}
    return CaseScores(maps=maps, present=tuple(sorted(present)))


def _map(key: str, row: Mapping[str, Any]) -> ScoredMap:
    values = _numbers(key)
    if not values:
        raise ValueError(f"label {key!r} has no number")
    named = {
        _OWN.get(name, name): math.nan if value is None else float(value)
        for name, value in row.items()
        if name not in (*_COUNTS, *_DERIVED)
    }
    counts = None
    if all(row.get(name) is not None for name in _COUNTS):
        counts = Confusion(*(int(row[name]) for name in _COUNTS))
    scores = named_scores(named)
    return ScoredMap(scores=scores, label=Label(name=key, values=values), empty=_empty(counts), counts=counts)


def _empty(counts: Confusion | None) -> str:
    if counts is None:
        return ""
    nothing, no_truth = counts.tp + counts.fp == 0, counts.tp + counts.fn == 0
    return "both" if nothing and no_truth else "candidate" if nothing else "truth" if no_truth else ""
