"""Can edge maps be chosen without truth? Equilibrium, entropy and complexity against Pratt and cosine.

After J. Gimenez, J. Martinez and A. G. Flesia: Unsupervised edge map scoring: a statistical complexity
approach (CVIU 2014). Over the parameter grid of five detectors the map with the largest complexity
C = E·H is chosen and compared with the choices of two scores that know the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.inputs import BoolArray
from edgecritic.maps.transform import distance_transform
from edgecritic.tuning.tune import MATLAB_DETECTORS, tune
from edgecritic.values import Value

__all__ = [
    "MEASURES",
    "ImageCurves",
    "ComplexityStudy",
    "curves_of_image",
    "curves_of_case",
    "summarise_curves",
]

MEASURES = ("E", "H", "C", "PFoM", "Q_B")
"""Equilibrium, entropy and complexity need no truth; Pratt's figure of merit and the cosine do."""

KAPPA = 1 / 9
_CHOOSERS = ("C", "PFoM", "Q_B")
_SHORT = tuple(name.partition("(")[0] for name in MATLAB_DETECTORS)


class ImageCurves(Value):
    """The measures of one image over the parameter grids.

    Attributes
    ----------
    image : str
    detectors : tuple of str
    thresholds : (detectors, 99) array
    values : (detectors, 99, 5) array
        In the order of `MEASURES`; with several truths the best over them.
    """

    image: str
    detectors: tuple[str, ...]
    thresholds: NDArray[np.float64]
    values: NDArray[np.float64]

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
        best = self.chosen_values[:, :, _CHOOSERS.index(measure), place]
        lost: NDArray[np.float64] = best - self.chosen_values[:, :, 0, place]
        return lost

    def plot(self, ax: Any = None, *, measure: str = "PFoM") -> Any:
        """Draw a measure of the maps that C chooses, beside its own best, as boxes; return the axes."""
        axes, column = axes_of(ax), MEASURES.index(measure)
        places = np.arange(len(self.detectors))
        by_c = list(self.chosen_values[:, :, 0, column].T)
        title = f"{measure} at its choice"
        if measure == "C":
            axes.boxplot(by_c, positions=places, widths=0.5)
        else:
            best = list(self.chosen_values[:, :, _CHOOSERS.index(measure), column].T)
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
                            for c, chooser in enumerate(_CHOOSERS)
                        },
                    }
                )
        return {"measures": list(MEASURES), "images": list(self.images), "rows": rows}


def curves_of_image(image: Any, truths: Sequence[BoolArray], *, name: str = "") -> ImageCurves:
    """Compute all measures over the grids of the five detectors of MATLAB's ``edge``."""
    if not truths:
        raise InputError(f"{name or 'image'}: has no truth to compare the choice with")
    alone = tune(image, measures=["equilibrium", "entropy", "complexity"], thresholds="matlab")
    near = [1 / (1 + KAPPA * distance_transform(truth) ** 2) for truth in truths]
    known = np.zeros((*alone.thresholds.shape, 2))
    for d, ladder in enumerate(alone.ladders):
        for k, threshold in enumerate(alone.thresholds[d]):
            if k and alone.counts[d, k] == alone.counts[d, k - 1]:
                known[d, k] = known[d, k - 1]  # maps only shrink: as many pixels are the same pixels
            else:
                known[d, k] = _against(ladder.cut(float(threshold)), truths, near)
    return ImageCurves(
        image=name,
        detectors=_SHORT,
        thresholds=alone.thresholds,
        values=np.concatenate([alone.values, known], axis=2),
    )


def _against(
    candidate: BoolArray, truths: Sequence[BoolArray], near: Sequence[NDArray[np.float64]]
) -> tuple[float, float]:
    """Return Pratt's figure of merit and the cosine, the best over the truths."""
    size = int(np.count_nonzero(candidate))
    merits, cosines = [], []
    for truth, weights in zip(truths, near, strict=True):
        other = int(np.count_nonzero(truth))
        if size == 0 or other == 0:
            merits.append(float(size == other))
            cosines.append(float(size == other))
            continue
        merits.append(float(weights[candidate].sum()) / max(size, other))
        cosines.append(float(np.count_nonzero(truth & candidate)) / float(np.sqrt(size * other)))
    return max(merits), max(cosines)


def curves_of_case(case: Case) -> ImageCurves:
    """Compute the curves of a case."""
    return curves_of_image(case.load_image(), case.load_truths(), name=case.id)


def best_maps(image: Any, curves: ImageCurves) -> dict[str, BoolArray]:
    """Return the maps that C, PFoM and Q_B choose, over all detectors."""
    from edgecritic.detectors.matlab import matlab_response

    found = {}
    for chooser in _CHOOSERS:
        values = curves.values[:, :, MEASURES.index(chooser)]
        detector, place = np.unravel_index(int(np.argmax(values)), values.shape)
        name: Any = curves.detectors[int(detector)]
        sigma = float(np.sqrt(2)) if name == "log" else None
        threshold = float(curves.thresholds[detector, place])
        found[f"{chooser}: {name} {threshold:.3g}"] = (
            matlab_response(image, name, sigma=sigma).cut(threshold).edges
        )
    return found


def summarise_curves(curves: Sequence[ImageCurves]) -> ComplexityStudy:
    """Let C, PFoM and Q_B choose on every image and collect all measures of the choices."""
    if not curves:
        raise InputError("no image could be studied")
    detectors = curves[0].detectors
    ordered = sorted(curves, key=lambda one: one.image)
    choices = np.array(
        [[[one.choice(d, name) for name in _CHOOSERS] for d in range(len(detectors))] for one in ordered]
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
