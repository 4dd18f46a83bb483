"""How measures grow with the displacement of false alarms and of misses.

After Figure 2 of Abdulrahman, Magnier and Montesinos: From contours to ground truth: how to evaluate edge
detectors by filtering (Journal of WSCG 25, 2017).
A line of false alarms, or of missed truth, is moved away from a contour that is found; each measure is
drawn against the shift. A measure that sees distances rises, one that only counts is flat after the first
pixel, and one that is blind stays at its best. The paper prints similarities as their complements, with a
star, so that all curves rise; so do the measures that are taken if none are named (`f_star`, `fom_star`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import axes_of, look
from edgecritic.inputs import BoolArray
from edgecritic.measures import score
from edgecritic.measures.scoring import FAMILIES, Measures, default_measures
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.tables import text_table
from edgecritic.values import Value, plain_number

__all__ = ["Displacement", "displaced_lines", "displacement", "normalised", "published"]

Kind = Literal["false alarms", "misses"]


class Displacement(Value):
    """The curves of all measures.

    Attributes
    ----------
    shifts : (n,) int array
        Displacement in pixels.
    measures, families, better : tuple of str
    false_alarms, misses : (n, measures) float arrays
        The values where the moved line is a false alarm, and where it is missed.
    """

    shifts: NDArray[np.int64]
    measures: tuple[str, ...]
    families: tuple[str, ...]
    better: tuple[str, ...]
    false_alarms: NDArray[np.float64]
    misses: NDArray[np.float64]

    def curves(self, measure: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two curves of one measure."""
        if measure not in self.measures:
            raise InputError(f"{measure} was not computed", remedy=f"these were: {', '.join(self.measures)}")
        column = self.measures.index(measure)
        return self.false_alarms[:, column], self.misses[:, column]

    def as_dict(self) -> dict[str, Any]:
        """Return all curves, ready for JSON."""
        return {
            "shifts": self.shifts.tolist(),
            "measures": {
                name: {
                    kind: [plain_number(float(value)) for value in curve]
                    for kind, curve in zip(("false_alarms", "misses"), self.curves(name), strict=True)
                }
                for name in self.measures
            },
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per measure and shift with both values."""
        return [
            {"measure": name, "shift": int(shift), "false_alarms": float(alarm), "misses": float(miss)}
            for name in self.measures
            for shift, alarm, miss in zip(self.shifts, *self.curves(name), strict=True)
        ]

    def plot(
        self,
        ax: Any = None,
        *,
        family: str | None = None,
        kind: Kind = "false alarms",
        printed: bool = False,
    ) -> Any:
        """Draw the normalised curves of a family of measures, or of all; return the axes.

        Measures with the same curves share a line: one of them would hide the others. With `printed` the
        normalisation is the paper's to the letter, see :func:`normalised`.
        """
        axes, side = axes_of(ax), ("false alarms", "misses").index(kind)
        pairs = zip(self.measures, self.families, strict=True)
        names = [name for name, own in pairs if family is None or own == family]
        for number, alike in enumerate(self._alike(names, printed)):
            # Gaps of the later curves show what lies below them.
            curve = normalised(*self.curves(alike[0]), printed=printed)[side]
            axes.plot(self.shifts, curve, label=",\n".join(alike), linewidth=2, **look(number))
        axes.set(xlabel="displacement (pixels)", ylabel="normalised value")
        axes.set_title(kind if family is None else f"{family}: {kind}")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
        return axes

    def _alike(self, names: Sequence[str], printed: bool) -> list[list[str]]:
        """Return the names in groups that have the same curves."""
        groups: list[list[str]] = []
        for name in names:
            mine = normalised(*self.curves(name), printed=printed)
            for group in groups:
                if np.allclose(mine, normalised(*self.curves(group[0]), printed=printed), atol=1e-3):
                    group.append(name)
                    break
            else:
                groups.append([name])
        return groups

    def __str__(self) -> str:
        """Return a table: the value at no shift, at one pixel and at the greatest shift, for both lines."""
        heads = [f"{kind} {shift}" for kind in ("FP", "FN") for shift in (0, 1, int(self.shifts[-1]))]
        rows = [
            [name, *(f"{curve[place]:.4g}" for curve in self.curves(name) for place in (0, 1, -1))]
            for name in self.measures
        ]
        return text_table(rows, ["measure", *heads], align="lr")


def displaced_lines(
    kind: Kind, shift: int, *, height: int = 40, reach: int = 16
) -> tuple[BoolArray, BoolArray]:
    """Return candidate and truth: a line that is found, and another `shift` pixels to its right.

    The other line is in the candidate only (``"false alarms"``) or in the truth only (``"misses"``). The
    image is as wide for every shift, with a margin of a quarter of the height all around.

    Examples
    --------
    >>> candidate, truth = displaced_lines("misses", 3)
    >>> int(candidate.sum()), int(truth.sum())
    (40, 80)
    """
    if kind not in ("false alarms", "misses"):
        raise InputError(f'kind must be "false alarms" or "misses", got {kind!r}')
    if not 0 <= shift <= reach:
        raise InputError(f"shift must lie between 0 and reach = {reach}, got {shift}")
    margin = height // 4
    one = np.zeros((height + 2 * margin, reach + 1 + 2 * margin), dtype=np.bool_)
    one[margin : margin + height, margin] = True
    two = one.copy()
    two[margin : margin + height, margin + shift] = True
    return (two, one) if kind == "false alarms" else (one, two)


def displacement(measures: Measures = None, *, reach: int = 16, height: int = 40) -> Displacement:
    """Compute measures while a line of false alarms, or of misses, moves from 0 to `reach` pixels.

    Examples
    --------
    >>> found = displacement(["theta", "omega", "performance_star"], reach=4)
    >>> false_alarms, misses = found.curves("theta")
    >>> false_alarms.tolist(), misses.tolist()
    ([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    """
    if reach < 1 or height < 4:
        raise InputError(f"reach must be 1 or more and height 4 or more, got {reach} and {height}")
    shifts = np.arange(reach + 1)
    chosen = default_measures(starred=True) if measures is None else measures
    tables = {}
    for kind in ("false alarms", "misses"):
        pairs = [displaced_lines(kind, int(shift), height=height, reach=reach) for shift in shifts]
        found = [score(candidate, truth, chosen) for candidate, truth in pairs]
        tables[kind] = np.array([each.annotators[0] for each in found])
    return Displacement(
        shifts=shifts,
        measures=found[0].measures,
        families=found[0].families,
        better=found[0].better,
        false_alarms=tables["false alarms"],
        misses=tables["misses"],
    )


def normalised(
    first: NDArray[np.float64], second: NDArray[np.float64], *, printed: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bring two curves of one measure to a common scale for drawing, by their joint extremes m and M.

    Equation (5) of the paper, with `printed` to the letter: 0 if M = m = 0; 1 if M = m ≠ 0;
    (f − m)/(M − m) if M > 1 and m ≠ 0; else f.

    Notes
    -----
    To the letter, curves with m = 0 and M > 1 stay as they are and leave the picture. This is so for every
    curve in pixels, because all are 0 without a shift. Without `printed` the third case holds for m = 0
    too: such curves are divided by M.

    Examples
    --------
    >>> low, high = normalised(np.array([2.0, 3.0]), np.array([4.0, 6.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.25], [0.5, 1.0])
    >>> first, second = np.array([0.0, 2.0]), np.array([0.0, 4.0])
    >>> normalised(first, second)[0].tolist(), normalised(first, second, printed=True)[0].tolist()
    ([0.0, 0.5], [0.0, 2.0])
    """
    least = min(first.min(), second.min())
    most = max(first.max(), second.max())
    if most == least:
        level = 0.0 if most == 0 else 1.0
        return np.full_like(first, level), np.full_like(second, level)
    if most > 1 and (least != 0 or not printed):
        return (first - least) / (most - least), (second - least) / (most - least)
    return first, second


COUNTING = ("performance_star", "phi_star", "chi2_star", "f_star")
OVER_SEGMENTATION = ("fom_e", "yasnoff", "dk", "theta", "gamma")
TWO_SIDED = ("hausdorff", "hausdorff(percent=5)", "baddeley", "f2d6", "sk", "sk(k=2)")


def published(study: Displacement) -> list[Claim]:
    """Compare what the paper reads from its Figure 2 with the curves; measures that are missing test nothing.

    Examples
    --------
    >>> print(published(displacement(["psi"], reach=16))[-1])
    Ψ, false alarms against misses at 16 pixels: paper false alarms > misses (page 4), here \
false alarms 2.53, misses 0.6325: same order
    """

    def most(names: Sequence[str], value: Any) -> float | None:
        if not set(names) <= set(study.measures):
            return None
        return max(float(value(*study.curves(name))) for name in names)

    def ends(name: str) -> dict[str, float | None]:
        known = name in study.measures
        alarms, misses = study.curves(name) if known else ([None], [None])
        return {"false alarms": alarms[-1], "misses": misses[-1]}

    last = int(study.shifts[-1])
    return [
        claim(
            "P_m*, Φ*, χ²*, F*: change from 1 pixel on, at most",
            "0.000",
            most(COUNTING, lambda alarms, misses: max(np.ptp(alarms[1:]), np.ptp(misses[1:]))),
            source="Fig. 2 (g, h)",
        ),
        claim(
            "FoM_e, Υ, Dᵏ, Θ, Γ: largest value while misses move",
            "0.000",
            most(OVER_SEGMENTATION, lambda _, misses: misses.max()),
            source="Fig. 2 (l)",
        ),
        claim(
            "Ω: largest value while false alarms move",
            "0.000",
            most(["omega"], lambda alarms, _: alarms.max()),
            source="page 2",
        ),
        claim(
            "H, H5 %, Δᵏ, f₂d₆, S¹, S²: difference of the two curves, at most",
            "0.000",
            most(TWO_SIDED, lambda alarms, misses: np.abs(alarms - misses).max()),
            source="Fig. 2 (k, l)",
        ),
        claim_of_order(
            f"FoM, misses against false alarms at {last} pixels",
            ["misses", "false alarms"],
            ends("fom_star"),
            source="Fig. 2 (i, j)",
        ),
        claim_of_order(
            f"D_p, misses against false alarms at {last} pixels",
            ["misses", "false alarms"],
            ends("dp"),
            source="Fig. 2 (i, j)",
        ),
        claim_of_order(
            f"Ψ, false alarms against misses at {last} pixels",
            ["false alarms", "misses"],
            ends("psi"),
            source="page 4",
        ),
    ]


def family_order(result: Displacement) -> list[str]:
    """Return the families that occur, in the order of tables."""
    return [family for family in FAMILIES if family in result.families]
