"""What all measures share: their metadata, the table of empty cases, and the registry."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import as_mask
from edgecritic.measures.evidence import Comparison, Judged, Single, compare
from edgecritic.registry import Entry, Registry
from edgecritic.values import plain_number

__all__ = [
    "Empty",
    "Special",
    "FAR",
    "FORMULA",
    "MeasureInfo",
    "Needs",
    "Sees",
    "measure",
    "measures",
    "describe",
]

Function = TypeVar("Function", bound=Callable[..., float])
Better = Literal["lower", "higher"]
Sees = Literal["false alarms", "misses", "both", "neither"]
Needs = Literal["confusion", "distances", "transforms", "surface", "matching", "segmentation", "candidate"]


@dataclass(frozen=True, slots=True)
class Special:
    """An entry of the table of empty cases that is not one fixed number.

    Attributes
    ----------
    text : str
        What it is, in words.
    value : callable ``(comparison, parameters) -> float`` or None
        How it is computed; ``None`` means: by the measure's own formula.
    """

    text: str
    value: Callable[[Comparison, Mapping[str, Any]], float] | None = None


FORMULA = Special("the formula, which is defined there too")
FAR = Special("the formula, with every distance to the empty map set to the image diagonal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """The values of a measure where a map has no edge pixels: the only place for them.

    Attributes
    ----------
    both, candidate, truth : float or Special
        Both maps are empty; only the candidate is; only the truth is.
    """

    both: float | Special
    candidate: float | Special
    truth: float | Special


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureInfo:
    """What is known of a measure.

    Attributes
    ----------
    symbol : str
        The letter of the literature, such as ``Δᵏ``.
    family : str
        The group under which tables print it.
    reference : str
        Where it is defined.
    better : "lower" or "higher"
        The direction of good.
    range : (float, float)
        Smallest and largest possible value.
    symmetric : bool
        Whether candidate and truth may be exchanged.
    sees : "false alarms", "misses", "both" or "neither"
        Which errors can change the value.
    empty : Empty or None
        The values where a map has no edge pixels; ``None`` where that cannot be.
    needs : str
        The evidence it is computed from.
    default : bool
        Whether it is computed when no measures are named.
    units : str
        The unit of the value: none, ``"distance"`` (pixels or units of `spacing`), ``"volume"``, ``"bits"``,
        ``"percent"``.
    """

    symbol: str
    family: str
    reference: str
    better: Better
    range: tuple[float, float]
    symmetric: bool
    sees: Sees
    empty: Empty | None
    needs: Needs
    default: bool = True
    units: str = ""

    @property
    def arrow(self) -> str:
        """The direction of good as an arrow."""
        return "↓" if self.better == "lower" else "↑"


measures: Registry[MeasureInfo] = Registry("measure", "edgecritic.measures", "edgecritic.measures")


def measure(
    name: str,
    *,
    symbol: str,
    family: str,
    reference: str,
    better: Better,
    range: tuple[float, float],  # noqa: A002  (the word of the table)
    symmetric: bool,
    sees: Sees,
    empty: Empty | None,
    needs: Needs,
    default: bool = True,
    units: str = "",
    star: bool = False,
) -> Callable[[Function], Function]:
    """Register a function ``(comparison, *, parameters) -> float`` as the measure `name`.

    The function is called only where both maps have edge pixels (or where the table says `FAR`): the
    wrapper takes every other value from the table. The wrapped function also takes
    ``(candidate, truth)`` arrays in place of a comparison. With `star` the complement 1 − `name` of the
    similarity is registered as well, as ``name_star``.
    """
    info = MeasureInfo(
        symbol=symbol,
        family=family,
        reference=reference,
        better=better,
        range=range,
        symmetric=symmetric,
        sees=sees,
        empty=empty,
        needs=needs,
        default=default,
        units=units,
    )

    def register(function: Function) -> Function:
        if star:
            _register(f"{name}_star", _starred(info), _complement(name, function))
        return _register(name, info, function)

    return register


def _register(name: str, info: MeasureInfo, function: Function) -> Function:
    wrapped = guard(name, info, function)
    measures.add(name, wrapped, info)
    return wrapped


def _complement(name: str, function: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(function)
    def complement(evidence: Any, /, **parameters: Any) -> float:
        return 1 - function(evidence, **parameters)

    complement.__name__ = complement.__qualname__ = f"{name}_star"
    complement.__doc__ = f"""Return the complement 1 − `{name}`, which is 0 at best.

    The parameters are those of `{name}`. The papers on measuring edge detection print this form, with a
    star, so that less is better in all their tables.

    Examples
    --------
    >>> from edgecritic.measures import {name}_star
    >>> {name}_star([[1, 1, 0, 0]], [[1, 1, 0, 0]])
    0.0
    """
    return complement


def _starred(info: MeasureInfo) -> MeasureInfo:
    """Return the metadata of the complement of a similarity, which are the similarity's turned round."""
    return replace(
        info,
        symbol=f"{info.symbol}*",
        reference=f"{info.reference} (complemented)",
        better="lower",
        range=(1 - info.range[1], 1 - info.range[0]),
        empty=Empty(**{side: 1 - getattr(info.empty, side) for side in ("both", "candidate", "truth")}),
        default=False,
    )


def guard(name: str, info: MeasureInfo, function: Function) -> Function:
    """Wrap a measure so that empty maps get the values of its table."""
    if info.needs == "segmentation":
        return function
    if info.needs == "candidate":
        return _guard_single(name, info, function)

    @functools.wraps(function)
    def wrapped(candidate: Any, truth: Any = None, /, **parameters: Any) -> float:
        if isinstance(candidate, Comparison):
            comparison = candidate
        else:
            own = {"spacing"} - set(inspect.signature(function).parameters)
            options = {key: parameters.pop(key) for key in own & set(parameters)}
            comparison = compare(candidate, truth, **options)
        value = None
        if comparison.empty_side is not None:
            value = _table_value(name, info.empty, comparison, parameters)
        return _computed(name, function, comparison, parameters) if value is None else value

    return wrapped  # type: ignore[return-value]


def _guard_single(name: str, info: MeasureInfo, function: Function) -> Function:
    @functools.wraps(function)
    def wrapped(candidate: Any, /, **parameters: Any) -> float:
        single = candidate if isinstance(candidate, Single) else Single(as_mask(candidate, "candidate"))
        value = None
        if single.count == 0:
            value = _table_value(name, info.empty, single, parameters)
        return _computed(name, function, single, parameters) if value is None else value

    return wrapped  # type: ignore[return-value]


def _computed(
    name: str, function: Callable[..., float], evidence: Judged, parameters: Mapping[str, Any]
) -> float:
    """Compute a measure, or refuse parameters that lead beyond what a float can hold."""
    try:
        with np.errstate(over="raise"):
            value = float(function(evidence, **parameters))
    except ArithmeticError:
        value = math.inf
    if not math.isfinite(value) and evidence.empty_side is None:
        given = ", ".join(f"{key}={parameter}" for key, parameter in parameters.items())
        raise InputError(
            f"{name}({given}) is beyond the range of floating-point numbers; take less extreme parameters"
        )
    return value


def _table_value(
    name: str, empty: Empty | None, comparison: Comparison | Single, parameters: Mapping[str, Any]
) -> float | None:
    entry = getattr(empty, str(comparison.empty_side))
    if comparison.on_degenerate == "raise":
        raise InputError(
            f"{name} is not defined: {comparison.empty_text}; "
            'on_degenerate="value" (--empty value) takes the declared value, "nan" does so too '
            "unless both maps are empty"
        )
    if comparison.on_degenerate == "nan" and comparison.nothing_to_judge:
        return math.nan
    if not isinstance(entry, Special):
        value: float | None = float(entry)
    elif entry.value is None or isinstance(comparison, Single):
        value = None
    else:
        value = entry.value(comparison, parameters)
    comparison.warn_empty()
    return value


def describe(entry: Entry[MeasureInfo]) -> dict[str, Any]:
    """Return all metadata of a measure, ready for JSON.

    Examples
    --------
    >>> about = describe(measures.get("hausdorff"))
    >>> about["symbol"], about["better"], about["parameters"]
    ('H', 'lower', {'percent': 0, 'mode': 'rank'})
    """
    info = entry.info
    sides = ("both", "candidate", "truth")
    return {
        "id": entry.name,
        "summary": entry.summary,
        "symbol": info.symbol,
        "family": info.family,
        "reference": info.reference,
        "better": info.better,
        "range": [plain_number(bound) for bound in info.range],
        "symmetric": info.symmetric,
        "sees": info.sees,
        "empty": info.empty and {side: _show(getattr(info.empty, side)) for side in sides},
        "needs": info.needs,
        "default": info.default,
        "units": info.units,
        "parameters": dict(entry.parameters),
    }


def _show(value: float | Special) -> float | str | None:
    return value.text if isinstance(value, Special) else plain_number(value)
