"""Hand-made against semi-automatic truths: how every measure judges detectors by either.

After Table 4, Fig. 3 and Fig. 9 of Abdulrahman, Magnier and Montesinos: From contours to ground truth: how to
evaluate edge detectors by filtering (Journal of WSCG 25, 2017). Every measure takes the threshold it likes
best, once against a truth that a person drew and once against one whose contours lie on crests of the
gradient; and, beside it, all detectors are judged at the same fixed thresholds and at automatic ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors import detect
from edgecritic.detectors.thresholds import AUTOMATIC, automatic_threshold
from edgecritic.inputs import BoolArray
from edgecritic.measures.curves import curves
from edgecritic.measures.scoring import choose
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.tuning.tune import DEFAULT_DETECTORS
from edgecritic.values import Value, plain_number

__all__ = [
    "FIXED",
    "MEASURES",
    "TABLE_4",
    "TRUTHS",
    "ImageTruths",
    "TruthsStudy",
    "judge_truths",
    "published",
]

TRUTHS = ("hand-made", "semi-automatic")
FIXED = (0.1, 0.2, 0.3)
"""Thresholds that are the same for all detectors, as shares of the strongest edge."""

TABLE_4: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "phi_star": ((0.738, 0.757, 0.971, 0.813, 0.761), (0.298, 0.430, 0.447, 0.496, 0.504)),
    "chi2_star": ((0.979, 0.975, 0.983, 0.982, 0.973), (0.635, 0.725, 0.712, 0.759, 0.778)),
    "performance_star": ((0.901, 0.901, 0.909, 0.917, 0.893), (0.530, 0.603, 0.594, 0.637, 0.652)),
    "f_star": ((0.820, 0.819, 0.834, 0.847, 0.808), (0.360, 0.432, 0.422, 0.468, 0.483)),
    "fom_star": ((0.303, 0.310, 0.309, 0.299, 0.277), (0.168, 0.147, 0.164, 0.154, 0.146)),
    "fom_revisited": ((0.592, 0.579, 0.572, 0.589, 0.589), (0.346, 0.352, 0.310, 0.337, 0.367)),
    "d4": ((0.675, 0.671, 0.687, 0.695, 0.667), (0.333, 0.379, 0.375, 0.412, 0.424)),
    "sfom": ((0.297, 0.289, 0.270, 0.271, 0.268), (0.145, 0.134, 0.111, 0.119, 0.128)),
    "dp": ((0.173, 0.184, 0.193, 0.208, 0.183), (0.036, 0.058, 0.056, 0.065, 0.072)),
    "hausdorff": ((40.02, 19.41, 18.97, 35.35, 36.87), (29.52, 15.175, 18.02, 14.76, 15.03)),
    "hausdorff(percent=5)": ((13.72, 11.89, 11.53, 14.18, 14.56), (9.406, 9.142, 6.781, 6.048, 7.165)),
    "baddeley": ((6.632, 5.039, 4.844, 6.044, 6.562), (4.094, 3.000, 2.462, 2.040, 2.576)),
    "f2d6": ((2.851, 2.498, 2.467, 2.625, 2.582), (1.066, 1.294, 0.900, 0.895, 0.983)),
    "sk": ((2.584, 2.315, 2.316, 2.471, 2.432), (1.005, 0.990, 0.877, 0.866, 0.966)),
    "sk(k=2)": ((4.270, 3.725, 3.690, 4.172, 4.281), (2.323, 2.361, 1.819, 1.667, 2.029)),
    "psi": ((0.213, 0.181, 0.173, 0.224, 0.222), (0.041, 0.044, 0.032, 0.032, 0.038)),
}
"""Table 4 of the paper, hand-made and own truth, for Sobel, Canny, SF1, AGK and H-K. The entries of χ²* and
P_m* for H-K with the own truth are those of Fig. 9: the table's contradict it and each other."""

OVER_SEGMENTATION = ("fom_e", "yasnoff", "dk", "theta", "gamma")
MEASURES = (*OVER_SEGMENTATION, "omega", *TABLE_4)
COUNTS = ("phi_star", "chi2_star", "performance_star", "f_star", "d4")
DISTANCES = ("hausdorff", "hausdorff(percent=5)", "baddeley", "f2d6", "sk", "sk(k=2)", "psi")
MANY_FALSE_ALARMS = ("phi_star", "d4", "dp")

_STEPS = 101
_ORIENTED = ("steerable", "anisotropic", "half_gaussian")


class ImageTruths(Value):
    """What measures say of detectors on one image; arrays are (truths, detectors, measures) unless said.

    Attributes
    ----------
    image : str
    values, thresholds : float arrays
        The best value, and the lowest threshold at which it is reached.
    false_alarms, misses : int arrays
        Of the best map, under strict overlap.
    pixels : (truths,) int array
    fixed : (ways, detectors, measures) float array
        Values against the hand-made truth at the thresholds of `levels`.
    levels : (ways, detectors) float array
        :data:`FIXED`, then the automatic thresholds.
    """

    image: str
    values: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    false_alarms: NDArray[np.int64]
    misses: NDArray[np.int64]
    pixels: NDArray[np.int64]
    fixed: NDArray[np.float64]
    levels: NDArray[np.float64]


class TruthsStudy(Value):
    """All images, in their order.

    Attributes
    ----------
    detectors, measures, better : tuple of str
    images : tuple of ImageTruths
    editor : str
        Where the semi-automatic truths come from.
    """

    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    images: tuple[ImageTruths, ...]
    editor: str

    @property
    def ways(self) -> tuple[str, ...]:
        """The fixed thresholds and the automatic ones."""
        return (*(f"{level:g}" for level in FIXED), *AUTOMATIC)

    def mean(self, what: str) -> NDArray[np.float64]:
        """Return an attribute of the images averaged over them."""
        found: NDArray[np.float64] = np.mean([getattr(one, what) for one in self.images], axis=0)
        return found

    def winner(self, table: NDArray[np.float64], measure: str) -> str:
        """Return the detector that a measure puts first in a (detectors, measures) table."""
        place = self.measures.index(measure)
        column = table[:, place] if self.better[place] == "lower" else -table[:, place]
        return self.detectors[int(np.argmin(column))]

    def typical(self) -> str:
        """Return the image whose best values by the last measure lie in the middle of all."""
        means = [float(one.values[1, :, -1].mean()) for one in self.images]
        return self.images[int(np.argsort(means, kind="stable")[len(means) // 2])].image

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per image, truth, detector and measure."""
        return [
            {
                "image": one.image,
                "truth": truth,
                "detector": detector,
                "measure": measure,
                "value": plain_number(float(one.values[t, d, m])),
                "threshold": float(one.thresholds[t, d, m]),
                "false_alarms": int(one.false_alarms[t, d, m]),
                "misses": int(one.misses[t, d, m]),
            }
            for one in self.images
            for t, truth in enumerate(TRUTHS)
            for d, detector in enumerate(self.detectors)
            for m, measure in enumerate(self.measures)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "editor": self.editor,
            "images": [one.image for one in self.images],
            "claims": [one.as_dict() for one in published(self)],
            "best": self.rows(),
        }


def judge_truths(
    name: str,
    image: Any,
    truths: Sequence[BoolArray],
    *,
    detectors: Sequence[str] = DEFAULT_DETECTORS,
    measures: Sequence[str] = MEASURES,
) -> ImageTruths:
    """Judge detectors on an image by a hand-made and a semi-automatic truth.

    Examples
    --------
    >>> from edgecritic.datasets.synthetic import scene
    >>> drawn = scene(seed=1, size=(40, 50))
    >>> found = judge_truths(
    ...     "a", drawn.image, [drawn.truth] * 2, detectors=["central"], measures=["performance_star"]
    ... )
    >>> found.values.shape, found.misses.shape
    ((2, 1, 1), (2, 1, 1))
    """
    falling = np.array([each.entry.info.better == "lower" for each in choose(measures, ())])
    grid = np.linspace(0, 1, _STEPS)
    names = ("values", "thresholds", "false_alarms", "misses", "fixed")
    parts: dict[str, list[Any]] = {key: [] for key in names}
    levels = []
    for detector in detectors:
        found = detect(image, detector)
        ways = [*FIXED, *(automatic_threshold(found.strength, rule) for rule in AUTOMATIC)]
        levels.append(ways)
        rows: dict[str, list[Any]] = {key: [] for key in parts}
        for number, truth in enumerate(truths):
            with warnings.catch_warnings():
                # High thresholds may leave nothing: values come from the measures' tables, without a word.
                warnings.simplefilter("ignore")
                table = curves(found.thin, truth, list(measures), thresholds=[*grid, *ways]).values
            best = np.argmin(_cost(table[:_STEPS], falling), axis=0)
            counts = _counts(found.thin, truth, grid)[best]
            rows["values"].append(table[best, np.arange(best.size)])
            rows["thresholds"].append(grid[best])
            rows["false_alarms"].append(counts[:, 0])
            rows["misses"].append(counts[:, 1])
            if number == 0:
                parts["fixed"].append(table[_STEPS:])
        for key, lines in rows.items():
            if lines:
                parts[key].append(lines)
    by_truth = {key: np.moveaxis(np.array(parts[key]), 0, 1) for key in parts}
    return ImageTruths(
        image=name,
        pixels=np.array([np.count_nonzero(truth) for truth in truths]),
        levels=np.array(levels).T,
        **by_truth,
    )


def published(study: TruthsStudy) -> list[Claim]:
    """Compare what the paper says of truths, measures and thresholds with what was found."""
    values, alarms, misses = (study.mean(what) for what in ("values", "false_alarms", "misses"))
    claims = [_lower(study, values)]
    for measure in (name for name in TABLE_4 if name in study.measures):
        two = values[:, :, study.measures.index(measure)].mean(axis=1)
        claims.append(
            claim_of_order(
                f"{measure}: mean best value by either truth",
                TRUTHS,
                dict(zip(TRUTHS, map(float, two), strict=True)),
                source="Table 4",
            )
        )
    known = set(study.measures)
    claims.append(
        claim(
            "Φ*, χ²*, P_m*, F*, d4: how many put Sobel first",
            "5",
            _firsts(study, values[1], COUNTS, ("sobel",)),
            source="Fig. 9, section 4",
        )
    )
    claims.append(
        claim(
            "H, H5 %, Δᵏ, f₂d₆, S¹, S², Ψ: how many put an oriented filter first",
            "7",
            _firsts(study, values[1], DISTANCES, _ORIENTED),
            source="Fig. 9, section 4",
        )
    )
    for measure in MANY_FALSE_ALARMS:
        pair = {name: _of(study, alarms[1], name) for name in (measure, "psi")}
        claims.append(
            claim_of_order(
                f"false alarms of the best maps, {measure} and Ψ", [measure, "psi"], pair, source="section 4"
            )
        )
    pair = {name: _of(study, misses[1], name) for name in ("baddeley", "sk")}
    claims.append(
        claim_of_order("misses of the best maps, Δᵏ and S¹", ["baddeley", "sk"], pair, source="section 4")
    )
    share = {
        truth: None if "psi" not in known else float(misses[t, :, study.measures.index("psi")].mean() / size)
        for t, (truth, size) in enumerate(zip(TRUTHS, study.mean("pixels"), strict=True))
        if size
    }
    claims.append(claim_of_order("share that the best maps of Ψ miss", TRUTHS, share, source="section 4"))
    levels = study.mean("thresholds")[1]
    claims += [
        claim(
            f"{name}: mean best threshold",
            printed,
            _of(study, levels, name),
            source="Fig. 8 (e, g)",
            why="the lowest of equally good thresholds is taken",
        )
        for name, printed in (("omega", "0.0"), *((name, "1.0") for name in OVER_SEGMENTATION))
    ]
    four = ("yasnoff", "baddeley", "omega", "fom_star")
    fixed = study.mean("fixed")
    for number, way in enumerate(study.ways):
        winners = {study.winner(fixed[number], name) for name in four} if set(four) <= known else None
        claims.append(
            claim(
                f"threshold {way}: different detectors that Υ, Δᵏ, Ω and FoM put first",
                "4",
                None if winners is None else float(len(winners)),
                source="Fig. 3",
                why="the paper's thresholds are not printed",
            )
        )
    return claims


def _lower(study: TruthsStudy, values: NDArray[np.float64]) -> Claim:
    places = [study.measures.index(name) for name in TABLE_4 if name in study.measures]
    share = float((values[1][:, places] < values[0][:, places]).mean()) if places else None
    return claim(
        "share of measures and detectors whose best value is smaller by the semi-automatic truth",
        "100 %",
        share,
        source="Table 4",
        why="here the contours are the same person's; only their places differ",
    )


def _firsts(
    study: TruthsStudy, table: NDArray[np.float64], measures: Sequence[str], wanted: Sequence[str]
) -> float | None:
    """Count the measures that put a detector of some kinds first; None if one of either is missing."""
    kinds = tuple(wanted)
    if not set(measures) <= set(study.measures) or not any(one.startswith(kinds) for one in study.detectors):
        return None
    return float(sum(study.winner(table, name).startswith(kinds) for name in measures))


def _of(study: TruthsStudy, table: NDArray[np.float64], measure: str) -> float | None:
    return float(table[:, study.measures.index(measure)].mean()) if measure in study.measures else None


def _cost(values: NDArray[np.float64], falling: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.nan_to_num(np.where(falling, values, -values), nan=np.inf, posinf=np.inf)


def _counts(thin: NDArray[Any], truth: BoolArray, grid: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return false alarms and misses at every threshold."""
    on, off = np.sort(thin[truth & (thin > 0)]), np.sort(thin[~truth & (thin > 0)])
    hits = on.size - np.searchsorted(on, grid)
    wrong = off.size - np.searchsorted(off, grid)
    return np.stack([wrong, np.count_nonzero(truth) - hits], axis=1)


_ARRAYS = ("values", "thresholds", "false_alarms", "misses", "pixels", "fixed", "levels")


def as_record(one: ImageTruths) -> dict[str, Any]:
    """Return the arrays of an image, ready for JSON."""
    return {name: getattr(one, name).tolist() for name in _ARRAYS}


def from_record(name: str, content: Mapping[str, Any]) -> ImageTruths:
    """Return what :func:`as_record` kept."""
    return ImageTruths(image=name, **{key: np.array(content[key]) for key in _ARRAYS})
