"""Can edge maps be chosen without truth? Equilibrium, entropy and complexity against Pratt and cosine.

After J. Gimenez, J. Martinez and A. G. Flesia: Unsupervised edge map scoring: a statistical complexity
approach (CVIU 2014). Over the parameter grid of five detectors the map with the largest complexity
C = E·H is chosen and compared with the choices of two scores that know the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.inputs import BoolArray
from edgecritic.maps.transform import distance_transform
from edgecritic.measures.scoring import score_alone
from edgecritic.measures.unsupervised import pattern_equilibrium
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.tuning.tune import MATLAB_DETECTORS, tune
from edgecritic.values import Value

__all__ = [
    "CHOOSERS",
    "MEASURES",
    "ImageCurves",
    "ComplexityStudy",
    "curves_of_image",
    "curves_of_case",
    "map_at",
    "summarise_curves",
]

MEASURES = ("E", "H", "C", "PFoM", "Q_B")
"""Equilibrium, entropy and complexity need no truth; Pratt's figure of merit and the cosine do."""

KAPPA = 1 / 9
CHOOSERS = ("C", "PFoM", "Q_B")
"""The scores that choose a map; the first needs no truth."""
_SHORT = tuple(name.partition("(")[0] for name in MATLAB_DETECTORS)


TABLE3_IMAGE = "86000"
TABLE3 = {
    "E": (".8146", ".7730", ".7599", ".7597", ".7778"),
    "H": (".8612", ".8292", ".7852", ".7817", ".8040"),
    "C": (".7015", ".6410", ".5966", ".5939", ".6253"),
}
"""E, H and C of the five truths of one Berkeley image as the paper prints them."""


class ImageCurves(Value):
    """The measures of one image over the parameter grids.

    Attributes
    ----------
    image : str
    detectors : tuple of str
    thresholds : (detectors, 99) array
    sizes : (detectors, 99) int array
        Edge pixels of every map.
    alone : (detectors, 99, 3) array
        Equilibrium E, entropy H and complexity C of every map.
    known : (detectors, 99, truths, 2) array
        Pratt's figure of merit and the cosine of every map against every truth.
    truths : (truths, 4) array
        E, H and C of the truths themselves, and their edge pixels.
    """

    _hidden = ("thresholds", "sizes", "alone", "known", "truths")

    image: str
    detectors: tuple[str, ...]
    thresholds: NDArray[np.float64]
    sizes: NDArray[np.int64]
    alone: NDArray[np.float64]
    known: NDArray[np.float64]
    truths: NDArray[np.float64]

    @property
    def values(self) -> NDArray[np.float64]:
        """All measures in the order of `MEASURES`, shape (detectors, 99, 5); the best over the truths."""
        return np.concatenate([self.alone, self.known.max(axis=2)], axis=2)

    @property
    def detail(self) -> list[int]:
        """The truths from the most detailed, which has the most edge pixels, to the least."""
        return [int(place) for place in np.argsort(-self.truths[:, 3], kind="stable")]

    def against(self, annotators: Sequence[int]) -> ImageCurves:
        """Return the curves against some of the truths only, by their places from 0.

        Examples
        --------
        >>> drawn = np.zeros((20, 20))
        >>> drawn[:, 10:] = 1
        >>> first, second = drawn > 0, drawn < 0
        >>> curves_of_image(drawn, [first, second]).against([1]).known.shape
        (5, 99, 1, 2)
        """
        number = len(self.truths)
        if not annotators or not all(0 <= place < number for place in annotators):
            raise InputError(
                f"{self.image or 'image'}: has {number} truth{'s' if number != 1 else ''}, asked for "
                f"{', '.join(str(place + 1) for place in annotators) or 'none'}"
            )
        return replace(self, known=self.known[:, :, list(annotators)], truths=self.truths[list(annotators)])

    def choice(self, detector: int, measure: str) -> int:
        """Return the place on the grid where a measure is largest, the first of equals."""
        return int(np.argmax(self.values[detector, :, MEASURES.index(measure)]))

    def plot(self, ax: Any = None, *, detector: int = 0) -> Any:
        """Draw all measures over the grid of a detector into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax)
        for m, name in enumerate(MEASURES):
            style = "-" if m < 3 else "--"
            axes.plot(
                self.thresholds[detector], self.values[detector, :, m], style, color=COLOURS[m], label=name
            )
        axes.axvline(self.thresholds[detector][self.choice(detector, "C")], color=GREY, linewidth=0.8)
        axes.set_title(self.detectors[detector], fontsize=9)
        axes.set(xlabel="threshold", ylim=(0, 1))
        return axes


class ComplexityStudy(Value):
    """What the choices of several images say.

    Attributes
    ----------
    images : tuple of str
    detectors : tuple of str
    choices : (images, detectors, 3) int array
        Places on the grid chosen by C, PFoM and Q_B.
    chosen_values : (images, detectors, 3, 5) array
        All measures at each choice.
    curves : tuple of ImageCurves
    """

    images: tuple[str, ...]
    detectors: tuple[str, ...]
    choices: NDArray[np.int64]
    chosen_values: NDArray[np.float64]
    curves: tuple[ImageCurves, ...]

    def loss(self, measure: str) -> NDArray[np.float64]:
        """Return how much of a measure's best value is lost by C's choice, shape (images, detectors)."""
        place = MEASURES.index(measure)
        best = self.chosen_values[:, :, CHOOSERS.index(measure), place]
        lost: NDArray[np.float64] = best - self.chosen_values[:, :, 0, place]
        return lost

    @property
    def inside(self) -> float:
        """The share of the curves of C whose largest value lies inside the grid, not at its ends."""
        last = self.curves[0].thresholds.shape[1] - 1
        return float(((self.choices[:, :, 0] > 0) & (self.choices[:, :, 0] < last)).mean())

    def most_detailed_wins(self) -> float | None:
        """Return the share of images whose most detailed truth has the largest C, if some have several."""
        several = [one for one in self.curves if len(one.truths) > 1]
        wins = [one.truths[one.detail[0], 2] >= one.truths[:, 2].max() for one in several]
        return float(np.mean(wins)) if wins else None

    def more_edges_than(self, chooser: str, detector: str = "canny") -> float:
        """Return the share of images where C chooses a lower threshold than a score that knows the truth."""
        d = self.detectors.index(detector)
        return float((self.choices[:, d, 0] < self.choices[:, d, CHOOSERS.index(chooser)]).mean())

    def claims(self) -> list[Claim]:
        """Return what the paper says beside what was found."""
        by_c = self.chosen_values[:, :, 0]
        middle = {
            name: dict(zip(self.detectors, np.median(by_c[:, :, m], axis=0).tolist(), strict=True))
            for m, name in enumerate(MEASURES)
        }
        other = "every other detector"
        found = [
            claim_of_order(
                f"median {name} of the maps that C chooses",
                [first, other],
                {first: middle[name][first], other: max(v for d, v in middle[name].items() if d != first)},
                source=source,
                why="the paper judges one aerial photo"
                if name != "C"
                else "the paper judges South Florida photos",
            )
            for name, first, source in (
                ("E", "log", "Table 2"),
                ("H", "canny", "Table 2"),
                ("C", "canny", "Fig. 10 a"),
            )
        ]
        gradient = [self.detectors.index(name) for name in ("canny", "prewitt", "roberts", "sobel")]
        found += [
            claim(
                "mean PFoM of the maps that C chooses, gradient detectors",
                ".5",
                float(by_c[:, gradient, MEASURES.index("PFoM")].mean()),
                source="Fig. 10 b",
                why="the paper judges South Florida photos, whose truth marks one object",
            ),
            claim("curves of C with a peak inside the grid", "100 %", self.inside, source="Figs. 6 and 12"),
            claim(
                "images where C keeps more Canny edges than PFoM",
                "> 50 %",
                self.more_edges_than("PFoM"),
                source="Figs. 6 and 7 (1 image of 1)",
            ),
            claim(
                "images whose most detailed truth has the largest C",
                "100 %",
                self.most_detailed_wins(),
                source="Table 3 (1 image of 1)",
            ),
        ]
        return found

    def table3(self) -> list[Claim]:
        """Compare the truths of the image of Table 3, the most detailed first, if it was studied."""
        found = []
        for one in self.curves:
            if one.image != TABLE3_IMAGE or len(one.truths) != len(TABLE3["E"]):
                continue
            for m, (name, printed) in enumerate(TABLE3.items()):
                ours = sorted(one.truths[:, m].tolist(), reverse=True)
                found += [
                    claim(
                        f"{TABLE3_IMAGE}: {name} of the truths, in order of size",
                        text,
                        value,
                        source="Table 3",
                        why="other maps",
                    )
                    for text, value in zip(sorted(printed, reverse=True), ours, strict=True)
                ]
        return found

    def plot(self, ax: Any = None, *, measure: str = "PFoM") -> Any:
        """Draw a measure of the maps that C chooses, beside its own best, as boxes; return the axes."""
        axes, column = axes_of(ax), MEASURES.index(measure)
        places = np.arange(len(self.detectors))
        by_c = list(self.chosen_values[:, :, 0, column].T)
        title = f"{measure} at its choice"
        if measure == "C":
            axes.boxplot(by_c, positions=places, widths=0.5)
        else:
            best = list(self.chosen_values[:, :, CHOOSERS.index(measure), column].T)
            colour = {"color": COLOURS[1]}
            axes.boxplot(by_c, positions=places - 0.2, widths=0.34)
            axes.boxplot(best, positions=places + 0.2, widths=0.34, boxprops=colour, medianprops=colour)
            title = f"{measure}: C's choice (black), its own (orange)"
        axes.set_xticks(places, self.detectors, rotation=30, fontsize=8)
        axes.set_title(title, fontsize=8)
        return axes

    def as_dict(self) -> dict[str, Any]:
        """Return the choices and their values, ready for JSON."""
        rows = []
        for i, image in enumerate(self.images):
            for d, detector in enumerate(self.detectors):
                thresholds = self.curves[i].thresholds[d]
                rows.append(
                    {
                        "image": image,
                        "detector": detector,
                        "choices": {
                            chooser: {
                                "threshold": float(thresholds[self.choices[i, d, c]]),
                                **{
                                    name: float(value)
                                    for name, value in zip(MEASURES, self.chosen_values[i, d, c], strict=True)
                                },
                            }
                            for c, chooser in enumerate(CHOOSERS)
                        },
                    }
                )
        truths = [
            {"image": one.image, "truth": place, "E": e, "H": h, "C": c, "pixels": int(pixels)}
            for one in self.curves
            for place, (e, h, c, pixels) in enumerate(one.truths.tolist(), start=1)
        ]
        return {"measures": list(MEASURES), "images": list(self.images), "rows": rows, "truths": truths}


def curves_of_image(
    image: Any, truths: Sequence[BoolArray], *, name: str = "", patterns: Any = None
) -> ImageCurves:
    """Compute all measures over the grids of the five detectors of MATLAB's ``edge``.

    `patterns` takes the place of the 140 lines of the equilibrium, see
    :func:`edgecritic.measures.unsupervised.pattern_equilibrium`.
    """
    if not truths:
        raise InputError(f"{name or 'image'}: has no truth to compare the choice with")
    found = tune(image, measures=["equilibrium", "entropy", "complexity"], thresholds="matlab")
    alone = found.values.copy()
    near = [1 / (1 + KAPPA * distance_transform(truth) ** 2) for truth in truths]
    known = np.zeros((*found.thresholds.shape, len(truths), 2))
    for d, ladder in enumerate(found.ladders):
        for k, threshold in enumerate(found.thresholds[d]):
            if k and found.counts[d, k] == found.counts[d, k - 1]:
                # Maps only shrink: as many pixels are the same pixels.
                known[d, k], alone[d, k] = known[d, k - 1], alone[d, k - 1]
                continue
            edges = ladder.cut(float(threshold))
            known[d, k] = _against(edges, truths, near)
            if patterns is not None:
                alone[d, k] = _own_family(edges, patterns, alone[d, k, 1])
    return ImageCurves(
        image=name,
        detectors=_SHORT,
        thresholds=found.thresholds,
        sizes=found.counts,
        alone=alone,
        known=known,
        truths=np.array([_of_truth(truth, patterns) for truth in truths]),
    )


def _against(
    candidate: BoolArray, truths: Sequence[BoolArray], near: Sequence[NDArray[np.float64]]
) -> list[tuple[float, float]]:
    """Return Pratt's figure of merit and the cosine against every truth."""
    size = int(np.count_nonzero(candidate))
    found = []
    for truth, weights in zip(truths, near, strict=True):
        other = int(np.count_nonzero(truth))
        if size == 0 or other == 0:
            found.append((float(size == other),) * 2)
            continue
        merit = float(weights[candidate].sum()) / max(size, other)
        found.append((merit, float(np.count_nonzero(truth & candidate)) / float(np.sqrt(size * other))))
    return found


def _own_family(edges: BoolArray, patterns: Any, spread: float) -> tuple[float, float, float]:
    likeness = pattern_equilibrium(edges, patterns)
    return likeness, spread, likeness * spread


def _of_truth(truth: BoolArray, patterns: Any) -> tuple[float, float, float, float]:
    """Return E, H, C and the number of edge pixels of a truth."""
    size = float(np.count_nonzero(truth))
    if not size:
        return 0.0, 0.0, 0.0, 0.0
    alone = score_alone(truth, ["equilibrium", "entropy"]).mean
    spread = alone["entropy"]
    likeness = alone["equilibrium"] if patterns is None else pattern_equilibrium(truth, patterns)
    return likeness, spread, likeness * spread, size


def curves_of_case(case: Case, *, patterns: Any = None) -> ImageCurves:
    """Compute the curves of a case."""
    return curves_of_image(case.load_image(), case.load_truths(), name=case.id, patterns=patterns)


def map_at(image: Any, curves: ImageCurves, detector: int, place: int) -> BoolArray:
    """Return the map of a detector at a place of its grid."""
    from edgecritic.detectors.matlab import matlab_response

    name: Any = curves.detectors[detector]
    sigma = float(np.sqrt(2)) if name == "log" else None
    return matlab_response(image, name, sigma=sigma).cut(float(curves.thresholds[detector, place])).edges


def summarise_curves(curves: Sequence[ImageCurves]) -> ComplexityStudy:
    """Let C, PFoM and Q_B choose on every image and collect all measures of the choices."""
    if not curves:
        raise InputError("no image could be studied")
    detectors = curves[0].detectors
    ordered = sorted(curves, key=lambda one: one.image)
    choices = np.array(
        [[[one.choice(d, name) for name in CHOOSERS] for d in range(len(detectors))] for one in ordered]
    )
    values = np.array(
        [
            [[one.values[d, place] for place in row] for d, row in enumerate(rows)]
            for one, rows in zip(ordered, choices, strict=True)
        ]
    )
    return ComplexityStudy(
        images=tuple(one.image for one in ordered),
        detectors=detectors,
        choices=choices,
        chosen_values=values,
        curves=tuple(ordered),
    )
