"""Which detector finds the shapes in noise, and which measures say so.

After the synthetic experiment of Abdulrahman, Magnier and Montesinos: From contours to ground truth: how to
evaluate edge detectors by filtering (Journal of WSCG 25, 2017). White shapes with a grey rim of one pixel,
which is the truth, lie in white Gaussian noise of 4 and 3.3 dB. Every detector is run, every measure takes
the threshold it likes best, and the best values are compared.

The filter scales of the paper are not printed. Here filters with a scale across the edge have σ = 1 pixel
(`canny`, `anisotropic`, `half_gaussian`) or 1.5 pixels (`steerable`, whose first order would otherwise be
`canny` again), the oriented ones have σ = 5 along it and steps of 5°, and `log` has σ = 2. The
signal-to-noise ratio is 10·log₁₀(variance of the clean image / variance of the noise).

What the paper plans next is here too: noise on photos, and Gaussian blur in place of noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.figures import axes_of, look
from edgecritic.measures import measures as registry
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.studies.noise_scenes import (
    DETECTORS,
    RATIOS,
    SIZE,
    Floats,
    Kind,
    Measures,
    NoiseTrial,
    noise_tasks,
    noise_trial,
)
from edgecritic.tables import text_table
from edgecritic.tuning.tune import DEFAULT_DETECTORS
from edgecritic.values import Value, plain_number

__all__ = ["PAPER_DETECTORS", "PAPER_RATIOS", "NoiseStudy", "combine", "noise", "published"]

PAPER_DETECTORS = DEFAULT_DETECTORS
"""The paper's six: Sobel, Canny, SF1, SF5, AGK and H-K."""

PAPER_RATIOS = (4.0, 3.3)
MANY_FALSE_ALARMS = ("phi_star", "d4", "dp")
APART = (*MANY_FALSE_ALARMS, "baddeley", "fom_star")
"""Measures of which the paper says something else than of the others."""


class NoiseStudy(Value):
    """Best values of all measures for all detectors over noise levels and scenes.

    Attributes
    ----------
    detectors, measures, better : tuple of str
    ratios : tuple of float
        Signal-to-noise ratios in dB, or σ of the blur in pixels, ascending.
    seeds : tuple of int
        One scene each.
    size : (rows, columns)
    values, thresholds : (ratios, seeds, detectors, measures) float arrays
        The best value, and the threshold at which it is reached.
    false_alarms, misses : float arrays of the same shape
        Of the best maps, under strict overlap.
    kind : "noise" or "blur"
    photos : tuple of str
        The names of the photos, one for each seed; empty for drawn scenes.
    """

    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    ratios: tuple[float, ...]
    seeds: tuple[int, ...]
    size: tuple[int, int]
    values: Floats
    thresholds: Floats
    false_alarms: Floats
    misses: Floats
    kind: Kind = "noise"
    photos: tuple[str, ...] = ()

    def level(self, ratio: float) -> str:
        """Return a level in words.

        Examples
        --------
        >>> noise(detectors=["sobel"], measures="sk", ratios=[4], seeds=1, thresholds=3).level(4)
        '4 dB'
        """
        return f"{ratio:g} dB" if self.kind == "noise" else f"σ {ratio:g}"

    @property
    def judges(self) -> tuple[str, ...]:
        """Measures that see false alarms and misses, of twins one.

        The others are best for an empty or a full map, whoever made it. Of measures that put all detectors
        of all scenes in the same order (F, Dice and Jaccard do) the first one is kept.
        """
        kept: dict[bytes, str] = {}
        costs = self._costs().reshape(-1, len(self.measures))
        for column, name in enumerate(self.measures):
            if registry.get(name.partition("(")[0]).info.sees == "both":
                order = np.unique(costs[:, column], return_inverse=True)[1]
                kept.setdefault(order.tobytes(), name)
        return tuple(kept.values())

    def ranks(self, detectors: Sequence[str] | None = None) -> Floats:
        """Return ranks among `detectors` (default all): 1 is best, equals share the mean of their ranks.

        The shape is (ratios, seeds, detectors, measures).
        """
        rows = [self.detectors.index(name) for name in detectors or self.detectors]
        costs = self._costs()[:, :, rows]
        mine, theirs = costs[:, :, :, None], costs[:, :, None]
        ranks: Floats = 0.5 + (theirs < mine).sum(axis=3) + 0.5 * (theirs == mine).sum(axis=3)
        return ranks

    def mean_ranks(self, detectors: Sequence[str] | None = None) -> Floats:
        """Return the ranks averaged over scenes and :attr:`judges`, shape (ratios, detectors)."""
        columns = [self.measures.index(name) for name in self.judges]
        mean: Floats = self.ranks(detectors)[..., columns].mean(axis=(1, 3))
        return mean

    def order(self, measure: str, snr: float, detectors: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the detectors from best to worst by a measure at a noise level."""
        if measure not in self.measures or snr not in self.ratios:
            known = f"{', '.join(self.measures)} at {', '.join(map(self.level, self.ratios))}"
            raise InputError(f"{measure} at {self.level(snr)} was not computed; there is {known}")
        names = tuple(detectors or self.detectors)
        ranks = self.ranks(names)[self.ratios.index(snr), ..., self.measures.index(measure)].mean(axis=0)
        return tuple(names[place] for place in np.argsort(ranks, kind="stable"))

    @property
    def paper_detectors(self) -> tuple[str, ...]:
        """Those of the paper's six detectors that took part."""
        return tuple(name for name in self.detectors if name in PAPER_DETECTORS)

    @property
    def paper_ratios(self) -> tuple[float, ...]:
        """Those of the paper's noise levels that were computed."""
        return tuple(ratio for ratio in PAPER_RATIOS if self.kind == "noise" and ratio in self.ratios)

    def findings(self) -> list[str]:
        """Return in words what was found."""
        lines = [self._overall(snr) for snr in self.ratios]
        six = self.paper_detectors
        for snr in (ratio for ratio in self.paper_ratios if len(six) > 1):
            firsts, lasts = zip(*(self.ends(name, snr, six) for name in self.judges), strict=True)
            lines.append(
                f"{snr:g} dB, the paper's six detectors by {len(self.judges)} measures: "
                f"first {_tally(firsts)}; last {_tally(lasts)}."
            )
            common = max(set(firsts), key=firsts.count)
            others = [name for name, first in zip(self.judges, firsts, strict=True) if first != common]
            if others:
                lines.append(f"{snr:g} dB: {', '.join(others)} do not put {common} first alone.")
        if any(name.partition("(")[0].endswith("_star") for name in self.measures):
            lines.append("Measures called …_star are complements, 0 at best, as the paper prints them.")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        rows = [
            {
                "snr": snr,
                "seed": seed,
                "detector": detector,
                "measure": measure,
                "value": plain_number(float(self.values[r, s, d, m])),
                "threshold": float(self.thresholds[r, s, d, m]),
                "false_alarms": float(self.false_alarms[r, s, d, m]),
                "misses": float(self.misses[r, s, d, m]),
            }
            for (r, snr), (s, seed), (d, detector), (m, measure) in itertools.product(
                enumerate(self.ratios),
                enumerate(self.seeds),
                enumerate(self.detectors),
                enumerate(self.measures),
            )
        ]
        ranks = {
            f"{snr:g}": dict(zip(self.detectors, map(float, row), strict=True))
            for snr, row in zip(self.ratios, self.mean_ranks(), strict=True)
        }
        return {
            "kind": self.kind,
            "photos": list(self.photos),
            "size": list(self.size),
            "findings": self.findings(),
            "claims": [one.as_dict() for one in published(self)],
            "mean_ranks": ranks,
            "best": rows,
        }

    def __str__(self) -> str:
        """Return two tables: mean ranks over noise levels, and first and last detector by every measure."""
        scenes = f"{len(self.seeds)} scene{'s' if len(self.seeds) > 1 else ''}"
        title = f"mean rank over {len(self.judges)} measures and {scenes} (1 is best)"
        means = self.mean_ranks()
        rows = [
            [self.detectors[place], *(f"{value:.2f}" for value in means[:, place])]
            for place in np.argsort(means.mean(axis=0), kind="stable")
        ]
        ranks = text_table(rows, ["detector", *map(self.level, self.ratios)], align="lr")
        tables = [f"{title}\n{ranks}"]
        for snr in self.paper_ratios:
            orders = [(name, self.order(name, snr)) for name in self.judges]
            ends = [[name, order[0], order[-1]] for name, order in orders]
            tables.append(text_table(ends, [f"{snr:g} dB", "first", "last"]))
        return "\n\n".join(tables)

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean ranks over the noise levels into `ax`, or into a new figure; return the axes."""
        axes, means = axes_of(ax), self.mean_ranks()
        for place in np.argsort(means.mean(axis=0), kind="stable"):
            style = look(int(place))
            axes.plot(self.ratios, means[:, place], marker="o", ms=3, **style)
            axes.annotate(
                self.detectors[place],
                (self.ratios[-1], means[-1, place]),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
                color=style["color"],
            )
        axes.invert_yaxis()
        axes.margins(x=0.05)
        axes.spines[["top", "right"]].set_visible(False)
        label = "signal-to-noise ratio (dB)" if self.kind == "noise" else "σ of the blur (pixels)"
        axes.set(xlabel=label, ylabel="mean rank (1 is best)")
        word = "photo" if self.photos else "scene"
        scenes = f"1 {word}" if len(self.seeds) == 1 else f"{len(self.seeds)} {word}s"
        axes.set_title(f"{len(self.judges)} measures, {scenes}", fontsize="medium")
        return axes

    def _costs(self) -> Floats:
        """Return values where less is better; differences by rounding are gone."""
        signs = np.where(np.array(self.better) == "lower", 1.0, -1.0)
        return np.nan_to_num(np.round(self.values * signs, 12), nan=np.inf, posinf=np.inf)

    def ends(self, measure: str, snr: float, detectors: Sequence[str] | None = None) -> tuple[str, str]:
        """Return the first and the last detector by a measure, or that several share the place."""
        names = tuple(detectors or self.detectors)
        ranks = self.ranks(names)[self.ratios.index(snr), ..., self.measures.index(measure)].mean(axis=0)
        best, worst = (np.flatnonzero(ranks == end) for end in (ranks.min(), ranks.max()))
        first, last = (names[at[0]] if at.size == 1 else "several" for at in (best, worst))
        return first, last

    def _overall(self, snr: float) -> str:
        means = self.mean_ranks()[self.ratios.index(snr)]
        order = np.argsort(means, kind="stable")
        names = [f"{self.detectors[place]} ({means[place]:.1f})" for place in order]
        return f"{self.level(snr)}: best mean ranks {', '.join(names[:3])}; worst {names[-1]}."


def noise(
    *,
    detectors: Sequence[str] = DETECTORS,
    measures: Measures = None,
    ratios: Sequence[float] = RATIOS,
    seeds: int | Sequence[int] = 3,
    thresholds: int = 51,
    size: tuple[int, int] = SIZE,
    progress: Callable[[int, int], None] | None = None,
) -> NoiseStudy:
    """Run detectors on shapes in noise and let measures say which is best.

    Parameters
    ----------
    detectors : sequence of ids
        :data:`edgecritic.studies.noise_scenes.DETECTORS` if not given.
    measures : ids, optional
        All that need no matching, similarities as their complements (`f_star`), as the paper prints them.
    ratios : sequence of float
        Signal-to-noise ratios in dB.
    seeds : int or sequence of int
        How many scenes, or their seeds.
    thresholds : int
        How many thresholds from 0 to 1 a measure chooses from.
    size : (rows, columns)
    progress : callable, optional
        Told how many of how many noisy scenes are done.

    Examples
    --------
    >>> found = noise(detectors=["sobel", "canny"], measures="sk", ratios=[4], seeds=1, thresholds=11)
    >>> found.order("sk", 4)
    ('canny', 'sobel')
    """
    tasks = noise_tasks(
        detectors=detectors, measures=measures, ratios=ratios, seeds=seeds, thresholds=thresholds, size=size
    )
    trials = []
    for done, task in enumerate(tasks, start=1):
        trials.append(noise_trial(task))
        if progress is not None:
            progress(done, len(tasks))
    return combine(trials, size=size)


def published(study: NoiseStudy) -> list[Claim]:
    """Compare what the paper says of its noisy shapes with what was found, for its levels and detectors."""
    claims = []
    six = study.paper_detectors
    few = set(six) != set(PAPER_DETECTORS)
    for snr in study.paper_ratios:
        row = study.ratios.index(snr)
        others = [name for name in study.judges if name not in APART]
        ends = [study.ends(name, snr, six) for name in others]
        for place, (word, wanted) in enumerate((("first", "half_gaussian"), ("last", "sobel"))):
            named = [end[place] == wanted for end in ends]
            claims.append(
                claim(
                    f"{snr:g} dB: share of {len(named)} measures that put {wanted} {word} of the paper's six",
                    "100 %",
                    None if few or not named else float(np.mean(named)),
                    source="section 4",
                    why="the paper's filter scales are not printed",
                )
            )
        costs = _over(study, study.values, row, "fom_star")
        if snr == PAPER_RATIOS[0]:
            claims += [
                claim_of_order(
                    f"{snr:g} dB: FoM*, smaller is better",
                    [name, "canny(sigma=1)"],
                    costs,
                    source="section 4",
                )
                for name in ("anisotropic", "half_gaussian")
            ]
        alarms, misses = (
            {name: _mean(study, table, row, name) for name in (*MANY_FALSE_ALARMS, "baddeley", "sk", "psi")}
            for table in (study.false_alarms, study.misses)
        )
        claims += [
            claim_of_order(
                f"{snr:g} dB: false alarms of the best maps", [name, "psi"], alarms, source="section 4"
            )
            for name in MANY_FALSE_ALARMS
        ]
        claims.append(
            claim_of_order(
                f"{snr:g} dB: misses of the best maps", ["baddeley", "sk"], misses, source="section 4"
            )
        )
    return claims


def _over(study: NoiseStudy, table: Floats, row: int, measure: str) -> dict[str, float | None]:
    """Return the mean over the scenes of every detector, by name."""
    if measure not in study.measures:
        return {}
    means = table[row, :, :, study.measures.index(measure)].mean(axis=0)
    return dict(zip(study.detectors, map(float, means), strict=True))


def _mean(study: NoiseStudy, table: Floats, row: int, measure: str) -> float | None:
    """Return the mean over scenes and detectors; None if the measure was not computed."""
    values = [value for value in _over(study, table, row, measure).values() if value is not None]
    return float(np.mean(values)) if values else None


def combine(
    trials: Iterable[NoiseTrial],
    *,
    size: tuple[int, int] = SIZE,
    kind: Kind = "noise",
    photos: Sequence[str] = (),
) -> NoiseStudy:
    """Put the judged scenes together, in whatever order they come."""
    known = {(trial.snr, trial.seed): trial for trial in trials}
    ratios, seeds = (tuple(sorted(set(part))) for part in zip(*known, strict=True))
    table = [[known[snr, seed] for seed in seeds] for snr in ratios]
    first = table[0][0]
    return NoiseStudy(
        detectors=first.detectors,
        measures=first.measures,
        better=first.better,
        ratios=ratios,
        seeds=seeds,
        size=size,
        values=np.array([[trial.values for trial in row] for row in table]),
        thresholds=np.array([[trial.thresholds for trial in row] for row in table]),
        false_alarms=np.array([[trial.false_alarms for trial in row] for row in table]),
        misses=np.array([[trial.misses for trial in row] for row in table]),
        kind=kind,
        photos=tuple(photos),
    )


def _tally(names: Sequence[str]) -> str:
    """Say who is named how often, the most frequent first."""
    counts = sorted(((names.count(name), name) for name in set(names)), key=lambda pair: (-pair[0], pair[1]))
    return ", ".join(f"{name} ({count})" for count, name in counts)
