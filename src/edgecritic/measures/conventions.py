"""What surface measures may choose between, and the choices of other libraries as presets.

The conventions are the options ``surface``, ``weights`` and ``percentile`` of the measures, and what
``compat`` stands for: all choices of one library at once, its values for empty objects too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edgecritic.errors import InputError
from edgecritic.measures.base import Empty, Special
from edgecritic.measures.checks import check_choice
from edgecritic.measures.evidence import Comparison

__all__ = ["COMPAT", "Convention", "DIRECTIONS", "convention_of", "empty_table", "empty_value"]

DIRECTIONS = ("both", "to_truth", "to_candidate")
SURFACES = ("voxel", "subvoxel", "mesh")
Values = tuple[float, float, float]
"""What a measure is if the candidate alone, the truth alone, or both are empty."""


@dataclass(frozen=True, slots=True)
class Convention:
    """The choices of a library.

    Attributes
    ----------
    surface, weights, percentile : str
        The options of the same names.
    average : "pooled" or "sides"
        Means and shares of both lists of distances together, or the mean of those of the two lists. `masd` is
        the mean of the two lists' means under any convention.
    planes : bool
        Whether a volume of one slice is a plane, whose surface is a curve. Else all its voxels are surface.
    smooth : bool
        Whether the points of a mesh follow the smoothed object, or are the middles of edges between voxels.
    empty : dict
        `Values` of measures where objects are empty; a measure that is not there refuses empty objects.
        Values of a directed measure (``"nsd directed"``) are those of ``direction="to_truth"``.
    """

    surface: str = "voxel"
    weights: str = "none"
    percentile: str = "directed"
    average: str = "pooled"
    planes: bool = False
    smooth: bool = True
    empty: Mapping[str, Values] = field(default_factory=dict)


_INF, _NAN = math.inf, math.nan

COMPAT = {
    "deepmind": Convention(
        surface="subvoxel",
        weights="area",
        empty={
            "hd": (_INF, _INF, _INF),
            "hd95": (_INF, _INF, _INF),
            "asd": (_NAN, _INF, _NAN),
            "assd": (_INF, _INF, _NAN),
            "masd": (_NAN, _NAN, _NAN),
            "nsd": (0.0, 0.0, _NAN),
            "nsd directed": (_NAN, 0.0, _NAN),
            "dice": (0.0, 0.0, _NAN),
        },
    ),
    "monai": Convention(
        empty={
            "hd": (_INF, _INF, _NAN),
            "hd95": (_NAN, _NAN, _NAN),
            "asd": (_INF, _INF, _NAN),
            "assd": (_INF, _INF, _NAN),
            "masd": (_INF, _INF, _NAN),
            "nsd": (0.0, 0.0, _NAN),
            "dice": (0.0, _NAN, _NAN),
        },
    ),
    "metricsreloaded": Convention(
        empty={
            "hd": (_NAN, _NAN, 0.0),
            "hd95": (_NAN, _NAN, 0.0),
            "asd": (_NAN, _NAN, 0.0),
            "assd": (_NAN, _NAN, 0.0),
            "masd": (_NAN, _NAN, 0.0),
            "nsd": (0.0, 0.0, 1.0),
            "dice": (0.0, 0.0, 1.0),
        },
    ),
    "medpy": Convention(percentile="pooled", empty={"dice": (0.0, 0.0, 1.0)}),
    "panoptica": Convention(
        percentile="pooled",
        average="sides",
        empty={"assd": (_INF, _INF, _NAN), "masd": (_INF, _INF, _NAN), "dice": (0.0, 0.0, _NAN)},
    ),
    "meshmetrics": Convention(
        surface="mesh",
        smooth=False,
        empty={
            **dict.fromkeys(("hd", "hd95", "asd", "assd", "masd"), (_INF, _INF, 0.0)),
            **dict.fromkeys(("nsd", "dice"), (0.0, 0.0, 1.0)),
        },
    ),
}


def convention_of(parameters: Mapping[str, Any]) -> Convention:
    """Return the convention that parameters of a measure name; a preset takes no second opinion.

    Examples
    --------
    >>> convention_of({"surface": "subvoxel"}).surface, convention_of({"compat": "medpy"}).percentile
    ('subvoxel', 'pooled')
    """
    compat = parameters.get("compat")
    check_choice("compat", compat, (None, *COMPAT))
    options = ("surface", "weights", "percentile")
    given = {key: parameters[key] for key in options if parameters.get(key) is not None}
    check_choice("surface", given.get("surface", "voxel"), SURFACES)
    check_choice("weights", given.get("weights", "none"), ("none", "area"))
    check_choice("percentile", given.get("percentile", "directed"), ("directed", "pooled"))
    if compat is not None:
        preset = COMPAT[compat]
        for key, value in given.items():
            if value != getattr(preset, key):
                raise InputError(
                    f"compat={compat} measures with {key}={getattr(preset, key)}, "
                    f"and {key}={value} was asked for beside it",
                    remedy=f"leave out compat or {key}",
                )
        return preset
    own = Convention(planes=True, **given)
    if own.weights == "area" and own.surface == "voxel":
        raise InputError('weights="area" needs surface="subvoxel": voxels have no area')
    return own


def empty_table(name: str) -> Empty:
    """Return the table of empty cases of a surface measure, which hangs on its convention."""
    share = name == "nsd"
    one, two = ("0", "1") if share else ("the image diagonal", "0")
    note = "; under compat the value of that library"

    def value(comparison: Comparison, parameters: Mapping[str, Any]) -> float:
        both = comparison.empty_side == "both"
        own = float(both) if share else 0.0 if both else comparison.empty_distance
        convention_of(parameters)
        return empty_value(name, comparison, parameters, own)

    side = Special(one + note, value)
    return Empty(both=Special(two + note, value), candidate=side, truth=side)


def empty_value(name: str, comparison: Comparison, parameters: Mapping[str, Any], own: float) -> float:
    """Return the value of an empty case under the preset that is named, else our `own`."""
    compat = parameters.get("compat")
    if compat is None:
        return own
    check_choice("compat", compat, (None, *COMPAT))
    direction = parameters.get("direction", "both")
    table = COMPAT[compat].empty
    values = table.get(name) if direction == "both" else table.get(f"{name} directed", table.get(name))
    if values is None:
        raise InputError(f"{comparison.empty_text}, and compat={compat} refuses this")
    candidate, truth, both = values
    if direction == "to_candidate":
        candidate, truth = truth, candidate
    return {"candidate": candidate, "truth": truth, "both": both}[str(comparison.empty_side)]
