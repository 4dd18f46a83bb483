"""Does a detector gain from learning on labels that everybody agrees on?

After section 5.1 of X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures
(CVPR 2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from edgecritic.annotators.outputs import OutputStrength
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.bootstrap import Difference, PairedTest
from edgecritic.studies.claims import Claim, claim
from edgecritic.studies.labels import WEAK
from edgecritic.values import Value

__all__ = ["PRACTICAL", "JUDGES", "WEIGHTED", "CurvePoint", "RetrainStudy"]

PRACTICAL = 0.005
"""Differences of ODS below this are of no practical use, whether or not they are significant."""

JUDGES = ("all", "consensus")
"""The labels that models are judged on."""

WEIGHTED = "weighted by strength"
"""The name of labels that count as much as the share of annotators who drew them."""


class CurvePoint(Value):
    """ODS of a model with colour that learned from so many photos, with its interval (None without one)."""

    photos: int
    trained: str
    judged: str
    ods: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, photos: int, trained: str, judged: str, result: BenchmarkResult) -> CurvePoint:
        """Return the point of a result."""
        found = None if result.intervals is None else result.intervals.ods
        return cls(
            photos=photos,
            trained=trained,
            judged=judged,
            ods=result.ods.f,
            low=None if found is None else found.low,
            high=None if found is None else found.high,
        )


class RetrainStudy(Value):
    """Models learned from different labels, judged on all labels and on those of all annotators.

    Attributes
    ----------
    trained : tuple of str
        The labels that were learned from; the first is what the others are compared with.
    cues : tuple of str
        "colour" and "grey".
    results : dict of BenchmarkResult
        By (trained on, cues, judged on), joined by "|".
    tests : dict of PairedTest
        The same keys, without the first model: that model minus the first on the same images.
    models : dict
        What is told of each model.
    photos, images : int
        How many photos were learned from, and judged.
    outputs : dict of OutputStrength
        Of the models with colour, learned from the first labels and from consensus labels: how strong the
        labels are that their outputs match.
    curve : tuple of CurvePoint
        The learning curve of these models, by growing numbers of photos.
    """

    _hidden = ("results", "tests", "outputs", "curve")

    trained: tuple[str, ...]
    cues: tuple[str, ...]
    results: dict[str, BenchmarkResult]
    tests: dict[str, PairedTest]
    models: dict[str, Any]
    photos: int
    images: int
    outputs: dict[str, OutputStrength] = field(default_factory=dict)
    curve: tuple[CurvePoint, ...] = ()

    def result(self, trained: str, cues: str, judged: str) -> BenchmarkResult:
        """Return the result of one model with some cues, judged on some labels."""
        return self.results["|".join((trained, cues, judged))]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each model, cues and labels it was judged on."""
        found = []
        for key, result in self.results.items():
            trained, cues, judged = key.split("|")
            row: dict[str, Any] = {"trained_on": trained, "cues": cues, "judged_on": judged}
            row |= {
                "ods": result.ods.f,
                "ois": result.ois.f,
                "ap": result.ap,
                "threshold": result.ods.threshold,
            }
            if result.intervals is not None:
                row |= {"low": result.intervals.ods.low, "high": result.intervals.ods.high}
            test = self.tests.get(key)
            if test is not None:
                row |= {"difference": test.ods.estimate, "difference_low": test.ods.low}
                row |= {"difference_high": test.ods.high, "p": test.ods.p_value}
            found.append(row)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        told = {"trained": list(self.trained), "cues": list(self.cues), "photos": self.photos}
        return {
            **told,
            "images": self.images,
            "models": self.models,
            "rows": self.rows(),
            "outputs": {name: one.as_dict() for name, one in self.outputs.items()},
            "curve": [point.as_dict() for point in self.curve],
        }

    def findings(self) -> list[str]:
        """Say what was found, and whether the paper's statement holds."""
        verdicts = [self._verdict(cues) for cues in self.cues]
        return [*verdicts, *self._weighted(), *self._outputs(), *self._learning(), *self._others()]

    def claims(self) -> list[Claim]:
        """Return what the paper says beside what was found, for every kind of cues."""
        found = []
        for cues in self.cues:
            test = self.tests.get(f"consensus|{cues}|consensus")
            found.append(claim_of_no_gain(cues, None if test is None else test.ods))
        return found + [
            claim(
                f"Spearman's ρ of output and label strength, learned from {name} labels",
                f"< {WEAK:g}",
                one.rho,
                source="Fig. 7, “rather weak”; the limit is ours",
            )
            for name, one in self.outputs.items()
        ]

    def _verdict(self, cues: str) -> str:
        test = self.tests.get(f"consensus|{cues}|consensus")
        if test is None:
            return (
                f"{cues}: no verdict, it takes at least two images and a model learned from consensus labels."
            )
        change = test.ods
        first, second = (self.result(one, cues, "consensus").ods.f for one in (self.trained[0], "consensus"))
        told = (
            f"{cues}: judged on consensus labels, ODS is {first:.4f} after learning from {self.trained[0]} "
            f"labels and {second:.4f} after learning from consensus labels; difference "
            f"{change.estimate:+.4f} [{change.low:+.4f}, {change.high:+.4f}], p = {change.p_value:.3g}."
        )
        return f"{told} {verdict(change.estimate, change.low, change.high)}"

    def _weighted(self) -> list[str]:
        """Say whether labels weighted by their strength do better on either truth."""
        lines = []
        for cues in self.cues:
            tests = [(judged, self.tests.get(f"{WEIGHTED}|{cues}|{judged}")) for judged in JUDGES]
            told = [
                f"{test.ods.estimate:+.4f} [{test.ods.low:+.4f}, {test.ods.high:+.4f}] judged on {judged} "
                f"labels ({change(test.ods.estimate, test.ods.low, test.ods.high)})"
                for judged, test in tests
                if test is not None
            ]
            if told:
                lines.append(
                    f"{cues}: weighting labels by their strength changes ODS by {', by '.join(told)}."
                )
        return lines

    def _outputs(self) -> list[str]:
        found = [f"{one.rho:.3f} learned from {name} labels" for name, one in self.outputs.items()]
        if not found:
            return []
        return [f"Spearman's ρ of output and label strength, with colour: {', '.join(found)}."]

    def _learning(self) -> list[str]:
        """Tell the learning curve of the labels that were learned from first."""
        lines = []
        for judged in JUDGES:
            points = [one for one in self.curve if (one.trained, one.judged) == (self.trained[0], judged)]
            told = ", ".join(f"{one.ods:.4f} from {one.photos}" for one in points)
            if told:
                lines.append(
                    f"Learning curve of {self.trained[0]} labels, judged on {judged}: ODS {told} photos."
                )
        return lines

    def _others(self) -> list[str]:
        lines = []
        for cues in self.cues:
            for judged in JUDGES:
                f, best = max((self.result(one, cues, judged).ods.f, one) for one in self.trained)
                lines.append(
                    f"{cues}, judged on {judged} labels: the best of {len(self.trained)} models learned from "
                    f"labels “{best}” ({f:.4f})."
                )
        return lines


def verdict(estimate: float, low: float, high: float) -> str:
    """Say what a difference (consensus minus all) means for the paper's statement.

    Examples
    --------
    >>> verdict(0.001, -0.002, 0.004)
    "The paper's statement holds: no gain of practical use."
    >>> verdict(-0.03, -0.1, 0.03)
    "The paper's statement is not refuted: no gain is certain, but one of up to 0.03 is not ruled out."
    >>> verdict(0.02, 0.01, 0.03)
    "The paper's statement does not hold here: learning from consensus labels gains."
    """
    if low > 0 and estimate >= PRACTICAL:
        return "The paper's statement does not hold here: learning from consensus labels gains."
    if low > 0:
        return f"The paper's statement holds in practice: a gain, but of less than {PRACTICAL:g}."
    if high < 0:
        return "The paper's statement holds: learning from consensus labels loses."
    if high < PRACTICAL:
        return "The paper's statement holds: no gain of practical use."
    return (
        "The paper's statement is not refuted: no gain is certain, but one of up to "
        f"{high:.2g} is not ruled out."
    )


def claim_of_no_gain(cues: str, test: Difference | None) -> Claim:
    """Return the paper's statement on retraining beside the difference of ODS and its interval.

    It is contradicted by a gain that is certain and of practical use, and by nothing less.
    """
    what = f"gain of ODS on consensus labels by learning from them, {cues}"
    told = {"what": what, "paper": "no superior F", "source": "Sec. 5.1, Fig. 8"}
    if test is None:
        return Claim(**told, ours="", agrees=None, verdict="not measured here")
    return Claim(
        **told,
        ours=f"{test.estimate:+.4f} [{test.low:+.4f}, {test.high:+.4f}]",
        agrees=not (test.low > 0 and test.estimate >= PRACTICAL),
        verdict=verdict(test.estimate, test.low, test.high)
        .removeprefix("The paper's statement ")
        .rstrip("."),
    )


def change(estimate: float, low: float, high: float) -> str:
    """Say in a word or two what a difference of ODS with its interval is.

    Examples
    --------
    >>> change(0.02, 0.01, 0.03), change(-0.001, -0.002, -0.0005), change(0.01, -0.01, 0.03)
    ('a gain', 'a loss of less than 0.005', 'not told from chance')
    """
    if low <= 0 <= high:
        return "not told from chance"
    size = "" if abs(estimate) >= PRACTICAL else f" of less than {PRACTICAL:g}"
    return f"a {'gain' if estimate > 0 else 'loss'}{size}"


def summary_of(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of models: digests, labels, weights."""
    return {
        name: {**model.as_dict(), "weights": model.parameters.get("weights")}
        for name, model in models.items()
    }
