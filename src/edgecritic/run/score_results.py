"""The scores of a folder as values: means, statistics over cases, and two methods side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.measures.base import measures
from edgecritic.measures.evidence import Confusion
from edgecritic.measures.label_maps import Label
from edgecritic.measures.labels import CaseScores, ScoredMap
from edgecritic.measures.scoring import Scores
from edgecritic.protocols.statistics import (
    CaseDifference,
    CaseStatistics,
    compare_cases,
    describe_cases,
    shared_cases,
)
from edgecritic.run.results import Failure, failure_rows
from edgecritic.values import Value, plain_number, rows_of

__all__ = ["ScoreComparison", "ScoreRun", "case_of_record", "case_record", "compare_runs", "named_scores"]


class ScoreRun(Value):
    """The scores of the cases of a folder.

    Attributes
    ----------
    cases : dict of CaseScores
        By name, in natural order; missing cases are among them if they count as the worst.
    failures : tuple of Failure
        Files that could not be judged.
    missing : tuple of str
        Truths without a prediction.
    without_truth : tuple of str
        Predictions without a truth, which are left out.
    files : dict of (str, str)
        The names of the files of every case: prediction (empty if there is none) and first truth.
    notes : tuple of str
        How files were paired, where their names differ.
    """

    cases: dict[str, CaseScores]
    failures: tuple[Failure, ...] = ()
    missing: tuple[str, ...] = ()
    without_truth: tuple[str, ...] = ()
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether the objects of label maps were judged."""
        return any(case.labelled for case in self.cases.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of all labels; one without a name where the maps are binary."""
        named = {str(one.label or ""): one.label for _, _, one in self._maps()}
        return tuple(sorted(named, key=lambda name: named[name].values if named[name] else ()))  # type: ignore[union-attr]

    @property
    def first(self) -> Scores | None:
        """The scores of one map, whose measures are those of all."""
        return next((one.scores for _, _, one in self._maps()), None)

    @property
    def measures(self) -> tuple[str, ...]:
        """The ids of the measures."""
        return self.first.measures if self.first is not None else ()

    @property
    def better(self) -> tuple[str, ...]:
        """The direction of good of each measure."""
        return self.first.better if self.first is not None else ()

    def values(self, measure: str, label: str = "") -> dict[str, float]:
        """Return the value of a measure in every case that has this label, by name."""
        return {
            name: one.scores.mean.get(measure, math.nan)
            for name, _, one in self._maps()
            if str(one.label or "") == label
        }

    @property
    def means(self) -> dict[str, float]:
        """The mean of every measure over the cases where it has a value, then over the labels."""
        return self._means(lambda scores: scores.mean)

    @property
    def best(self) -> dict[str, float]:
        """The same of the best values over the truths of each case."""
        return self._means(lambda scores: scores.best)

    @property
    def counts(self) -> dict[str, int]:
        """On how many maps every measure has a value."""
        return {
            name: sum(not math.isnan(one.scores.mean.get(name, math.nan)) for _, _, one in self._maps())
            for name in self.measures
        }

    @property
    def empties(self) -> dict[str, dict[str, int]]:
        """By label: cases where the candidate lacks it, the truth, both, and cases without a prediction."""
        found = {label: dict.fromkeys(("candidate", "truth", "both", "missing"), 0) for label in self.labels}
        for _, case, one in self._maps():
            if case.missing or one.empty:
                found[str(one.label or "")]["missing" if case.missing else one.empty] += 1
        return found

    def statistics(
        self, *, draws: int = 1000, level: float = 0.95, seed: int = 0
    ) -> dict[str, dict[str, CaseStatistics]]:
        """Return the statistics over cases by label and measure."""
        options: dict[str, Any] = {"draws": draws, "level": level, "seed": seed}
        return {
            label: {
                name: describe_cases(list(self.values(name, label).values()), **options)
                for name in self.measures
            }
            for label in self.labels
        }

    def as_dict(self, *, draws: int = 1000) -> dict[str, Any]:
        """Return everything, ready for JSON; `draws` are for the intervals."""
        found = self.statistics(draws=draws)
        told = {name: {each: one.as_dict() for each, one in row.items()} for name, row in found.items()}
        return {
            "scores": {name: plain_number(value) for name, value in self.means.items()},
            "counts": self.counts,
            "statistics": told if self.labelled else next(iter(told.values()), {}),
            "empty": self.empties if self.labelled else next(iter(self.empties.values()), {}),
            "images": {name: case.as_dict() for name, case in self.cases.items()},
            "failures": failure_rows(self.failures),
            "missing": list(self.missing),
            "without_truth": list(self.without_truth),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per case and label: pixel size, empty side, and the mean over the truths."""
        return [
            {"case": name, "spacing": _sizes(case), **row}
            for name, case in self.cases.items()
            for row in case.rows()
        ]

    def plot(self, ax: Any = None, *, measure: str | None = None) -> Any:
        """Draw every case as a point, in a column for each label; return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if not given.
        measure : str, optional
            Which measure; the first one if not given.
        """
        axes = axes_of(ax)
        name = measure or self.measures[0]
        for place, label in enumerate(self.labels):
            values = np.array(list(self.values(name, label).values()))
            known = values[np.isfinite(values)]
            aside = place + np.linspace(-0.15, 0.15, known.size)
            axes.plot(aside, known, "o", color=COLOURS[place % len(COLOURS)], ms=4, alpha=0.7)
            if known.size:
                axes.plot([place - 0.25, place + 0.25], [known.mean()] * 2, color=GREY, lw=2)
        axes.set_xticks(range(len(self.labels)), [label or "all" for label in self.labels])
        axes.set_ylabel(name)
        return axes

    @classmethod
    def from_frame(cls, frame: Any, *, case: str = "case", label: str = "label") -> ScoreRun:
        """Make the scores of cases from a table of pandas, polars, or rows: of another tool, for example.

        Parameters
        ----------
        frame : DataFrame, or list of dict
            A row per case, and per label where there is a column of labels; every other column of numbers is
            a measure. What is known of a measure here comes with its id; of others more is better.
        case, label : str
            The names of these two columns.

        Examples
        --------
        >>> rows = [{"case": "a", "dice": 0.5}, {"case": "b", "dice": 0.7}]
        >>> ScoreRun.from_frame(rows).means
        {'dice': 0.6}
        """
        return cls(cases=_cases_of_rows(rows_of(frame), case, label))

    def _maps(self) -> Iterator[tuple[str, CaseScores, ScoredMap]]:
        for name, case in self.cases.items():
            for one in case.maps:
                yield name, case, one

    def _means(self, of: Callable[[Scores], dict[str, float]]) -> dict[str, float]:
        rows: dict[str, list[dict[str, float]]] = {}
        for _, _, one in self._maps():
            rows.setdefault(str(one.label or ""), []).append(of(one.scores))
        return _mean_rows([_mean_rows(each) for each in rows.values()])


class ScoreComparison(Value):
    """Several methods on the same cases.

    Attributes
    ----------
    runs : dict of ScoreRun
        By the names of the methods.
    differences : tuple of (first, second, label, measure, CaseDifference)
        Of every two methods, where two cases at least can be compared.
    """

    runs: dict[str, ScoreRun]
    differences: tuple[tuple[str, str, str, str, CaseDifference], ...]

    def as_dict(self, *, draws: int = 1000) -> dict[str, Any]:
        """Return everything, ready for JSON; `draws` are for the intervals."""
        return {
            "methods": {name: run.as_dict(draws=draws) for name, run in self.runs.items()},
            "differences": self.difference_rows(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of all methods, with their names."""
        return [{"method": name, **row} for name, run in self.runs.items() for row in run.rows()]

    def difference_rows(self) -> list[dict[str, Any]]:
        """Return a row per pair of methods, label and measure."""
        return [
            {
                "first": first,
                "second": second,
                **({"label": label} if label else {}),
                "measure": measure,
                **apart.as_dict(),
            }
            for first, second, label, measure, apart in self.differences
        ]


def compare_runs(
    runs: dict[str, ScoreRun], *, draws: int = 1000, level: float = 0.95, seed: int = 0
) -> ScoreComparison:
    """Compare methods two by two, measure by measure and label by label, on the cases that both have."""
    names = list(runs)
    found = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            one, other = runs[first], runs[second]
            for label in [name for name in one.labels if name in other.labels]:
                for measure in [name for name in one.measures if name in other.measures]:
                    values = one.values(measure, label), other.values(measure, label)
                    if len(shared_cases(*values)) > 1:
                        apart = compare_cases(*values, draws=draws, level=level, seed=seed)
                        found.append((first, second, label, measure, apart))
    return ScoreComparison(runs=dict(runs), differences=tuple(found))


def case_record(case: CaseScores) -> dict[str, Any]:
    """Return the scores of a case for the store; `case_of_record` reads them."""
    maps = [
        {
            **{name: list(getattr(one.scores, name)) for name in ("measures", "better", "families")},
            "values": one.scores.annotators.tolist(),
            "shape": one.scores.shape,
            "label": None if one.label is None else one.label.as_dict(),
            "empty": one.empty,
            "counts": None if one.counts is None else one.counts.as_dict(),
        }
        for one in case.maps
    ]
    told = {"spacing": case.spacing, "present": case.present, "missing": case.missing, "notes": case.notes}
    return {"maps": maps, **told}


def case_of_record(content: dict[str, Any]) -> CaseScores:
    """Return the scores of a case out of the store."""
    maps = []
    spacing = None if content["spacing"] is None else tuple(content["spacing"])
    for one in content["maps"]:
        names = {name: tuple(one[name]) for name in ("measures", "better", "families")}
        label = one["label"]
        maps.append(
            ScoredMap(
                scores=Scores(
                    **names,
                    annotators=np.array(one["values"], dtype=np.float64),
                    shape=tuple(one["shape"]),
                    spacing=spacing,
                ),
                label=label and Label(**{**label, "values": tuple(label["values"])}),
                empty=one["empty"],
                counts=one["counts"] and Confusion(**one["counts"]),
            )
        )
    return CaseScores(
        maps=tuple(maps),
        spacing=spacing,
        present=tuple(content["present"]),
        missing=content["missing"],
        notes=tuple(content["notes"]),
    )


def named_scores(values: Mapping[str, float]) -> Scores:
    """Return values by the names of measures as scores; of measures not known here more is better."""
    infos = [_info(name) for name in values]
    return Scores(
        measures=tuple(values),
        better=tuple(better for better, _ in infos),
        families=tuple(family for _, family in infos),
        annotators=np.array([list(values.values())], dtype=np.float64),
    )


def _info(name: str) -> tuple[str, str]:
    try:
        info = measures.get(name.partition("(")[0]).info
    except UnknownNameError:
        return "higher", "other"
    return info.better, info.family


def _cases_of_rows(rows: list[dict[str, Any]], case: str, label: str) -> dict[str, CaseScores]:
    numbers = {
        name
        for row in rows
        for name, value in row.items()
        if name not in (case, label) and isinstance(value, int | float) and not isinstance(value, bool)
    }
    if not numbers or any(case not in row for row in rows):
        raise InputError(f"a table of scores needs a column {case!r} and one or more columns of numbers")
    names = [name for name in rows[0] if name in numbers]
    labels = list(dict.fromkeys(str(row[label]) for row in rows if label in row))
    maps: dict[str, list[ScoredMap]] = {}
    for row in rows:
        given = ((name, row.get(name)) for name in names)
        values = {name: math.nan if value is None else float(value) for name, value in given}
        own = str(row[label]) if label in row else None
        found = ScoredMap(
            scores=named_scores(values),
            label=None if own is None else Label(name=own, values=(labels.index(own) + 1,)),
        )
        maps.setdefault(str(row[case]), []).append(found)
    if label not in rows[0] and any(len(many) > 1 for many in maps.values()):
        raise InputError("a case comes twice in the table", remedy=f"name labels in a column {label!r}")
    return {name: CaseScores(maps=tuple(many)) for name, many in maps.items()}


def _mean_rows(rows: list[dict[str, float]]) -> dict[str, float]:
    names = rows[0] if rows else ()
    known = {name: [row.get(name, math.nan) for row in rows] for name in names}
    defined = {name: [value for value in values if not math.isnan(value)] for name, values in known.items()}
    return {name: sum(values) / len(values) if values else math.nan for name, values in defined.items()}


def _sizes(case: CaseScores) -> str:
    return "" if case.spacing is None else " ".join(f"{size:g}" for size in case.spacing)
