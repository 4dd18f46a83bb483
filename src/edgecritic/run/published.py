"""Published precision-recall curves of other methods, carried as plain figures, and files of a user's own.

The figures are those that the authors, or the plotting programs of the field, pass on for the test splits of
BSDS500 and NYU Depth V2: recall and precision at ascending thresholds, and the summary beside them. Nothing
is measured anew, so they never enter a test of significance.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.content import PathLike, read_text
from edgecritic.errors import DataError, InputError, UnknownNameError
from edgecritic.lazy import cached_property
from edgecritic.protocols.curves import (
    Array,
    average_precision,
    best_interpolated_f,
    f_measure,
)
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import BestPoint
from edgecritic.values import Value

__all__ = ["PUBLISHED", "Published", "find_published", "read_published"]

_SHIPPED = Path(__file__).parent / "data" / "published"
_MOST_BYTES = 2**24
_MOST_CURVES = 1000
_POINT = ("recall", "precision", "f")

AP_RULE = "interpolated-101"
"""The rule by which the APs of the field's own programs are made."""

ROUNDING = 5e-4
"""How far a summary may be from what its curve says and still follow from it."""


class Published(Value):
    """The curve of one method as its authors, or others, published it.

    Attributes
    ----------
    name : str
    dataset : str
        As in ``bsds500``.
    title : str
        The data set in words.
    year : int
    source : str
        Where the method was published.
    relative_tolerance : float
        Of the matching, as a share of the diagonal.
    recall, precision : (points,) arrays
        At ascending thresholds, which are not known.
    ods, ois : BestPoint
        As published.
    ap : float
        As published.
    """

    name: str
    dataset: str
    title: str
    year: int
    source: str
    relative_tolerance: float
    recall: Array
    precision: Array
    ods: BestPoint
    ois: BestPoint
    ap: float

    @property
    def f(self) -> Array:
        """F at every point."""
        return f_measure(self.recall, self.precision)

    def ap_by(self, rule: str) -> float | None:
        """Return the AP of the curve by a rule; ``None`` if the rule needs the point at threshold 0."""
        return average_precision(self.recall, self.precision, rule)

    @property
    def quoted(self) -> tuple[str, ...]:
        """Which numbers are quoted, because they do not follow from the curve; those of OIS never do."""
        best = float(best_interpolated_f(self.recall[None], self.precision[None])[0])
        ap = self.ap_by(AP_RULE)
        found = ["ods"] if abs(best - self.ods.f) > ROUNDING else []
        found.append("ois")
        return (*found, *(["ap"] if ap is None or abs(ap - self.ap) > ROUNDING else []))

    def told(self) -> dict[str, Any]:
        """Return what a list says of it."""
        numbers = f"ODS {self.ods.f:.3f}, OIS {self.ois.f:.3f}, AP {self.ap:.3f}"
        return {
            "summary": f"{self.year}  {numbers}  {self.source}",
            "family": self.title,
            "year": self.year,
            "source": self.source,
            "relative_tolerance": self.relative_tolerance,
            "ods": self.ods.f,
            "ois": self.ois.f,
            "ap": self.ap,
            "ap_rule": AP_RULE,
            "quoted": self.quoted,
        }

    def for_results(self, rule: str) -> dict[str, Any]:
        """Return the curve as ``results.json`` keeps it, with the AP by the rule of the run."""
        return {
            "name": self.name,
            "threshold": None,
            "recall": self.recall.tolist(),
            "precision": self.precision.tolist(),
            "f": self.f.tolist(),
            "published": {
                "dataset": self.dataset,
                "title": self.title,
                "year": self.year,
                "source": self.source,
                "relative_tolerance": self.relative_tolerance,
                **{name: getattr(self, name).as_dict() for name in ("ods", "ois")},
                "ap": self.ap,
                "ap_by_rule": self.ap_by(rule),
                "quoted": list(self.quoted),
            },
        }


class _Shipped(Mapping[str, Published]):
    """The curves that come with the package, by ``dataset/name``; read when first asked for."""

    @cached_property
    def _all(self) -> dict[str, Published]:
        files = sorted(_SHIPPED.glob("*.json"))
        return {f"{one.dataset}/{one.name}": one for file in files for one in read_published(file)}

    def __getitem__(self, key: str) -> Published:
        return self._all[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


PUBLISHED: Mapping[str, Published] = _Shipped()
"""The published curves that come with the package, by ``dataset/name``."""


def find_published(choice: str, protocol: Protocol) -> tuple[list[Published], list[str]]:
    """Return the curves that ``--published`` names, and what must be said of them.

    Parameters
    ----------
    choice : str
        A data set (``bsds500``, ``nyud``), ``auto`` for the one whose tolerance is the protocol's, or a JSON
        file; with ``:NAME,NAME`` only these.
    protocol : Protocol
        Of the run beside which they are shown.

    Examples
    --------
    >>> from edgecritic.protocols.presets import PRESETS
    >>> curves, notes = find_published("bsds500:HED,Pb", PRESETS["bsds"])
    >>> [one.name for one in curves], notes[0][:27]
    (['Pb', 'HED'], 'published curves are of BSD')
    """
    place, _, names = choice.partition(":")
    found = _of_place(place, protocol)
    if names:
        found = _named(found, [name.strip() for name in names.split(",") if name.strip()])
    titles = ", ".join(dict.fromkeys(one.title for one in found))
    notes = [f"published curves are of {titles}; compare them with runs on the same images"]
    shares = sorted({one.relative_tolerance for one in found})
    if shares != [protocol.relative_tolerance]:
        theirs = ", ".join(f"{share:g}" for share in shares)
        notes.append(
            f"published curves have a tolerance of {theirs} of the diagonal, this run has another: "
            "they cannot be compared"
        )
    return found, notes


def _of_place(place: str, protocol: Protocol) -> list[Published]:
    sets = list(dict.fromkeys(one.dataset for one in PUBLISHED.values()))
    if place == "auto":
        fitting = {
            one.dataset for one in PUBLISHED.values() if one.relative_tolerance == protocol.relative_tolerance
        }
        if len(fitting) != 1:
            raise InputError(
                f"no published curves have the tolerance of the protocol {protocol.id}",
                remedy=f"name a data set, such as --published {sets[0]}",
            )
        (place,) = fitting
    if place in sets:
        return [one for one in PUBLISHED.values() if one.dataset == place]
    if place.lower().endswith(".json"):
        return read_published(place)
    raise UnknownNameError(f"no published curves of {place!r} (known: {', '.join(sets)}, or a .json file)")


def _named(found: Sequence[Published], names: Sequence[str]) -> list[Published]:
    known = {one.name for one in found}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownNameError(
            f"no published curve is called {', '.join(unknown)} (known: {', '.join(sorted(known))})"
        )
    return [one for one in found if one.name in names]


def read_published(path: PathLike) -> list[Published]:
    """Read a JSON file of published curves.

    It holds ``dataset``, ``title``, ``relative_tolerance`` and ``curves``, a list of objects with ``name``,
    ``year``, ``source``, ``recall`` and ``precision`` (lists at ascending thresholds), ``ods`` and ``ois``
    (``recall``, ``precision``, ``f``) and ``ap``.

    Raises
    ------
    DataError
        If the file has another layout or impossible numbers; the message names the place.
    """
    file = Path(path)
    try:
        whole = json.loads(read_text(file, limit=_MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON: {error}", path=file) from error
    try:
        return _curves(whole)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"is no list of published curves: {what}",
            path=file,
            remedy="the layout is described in docs/howto/published.md",
        ) from error


def _curves(whole: Mapping[str, Any]) -> list[Published]:
    curves = whole["curves"]
    if not isinstance(curves, list) or not 0 < len(curves) <= _MOST_CURVES:
        raise ValueError(f"curves must be a list of 1 to {_MOST_CURVES}")
    about = {
        "dataset": str(whole["dataset"]),
        "title": str(whole.get("title") or whole["dataset"]),
        "relative_tolerance": _finite(whole["relative_tolerance"], "relative_tolerance"),
    }
    found = [_curve(one, about) for one in curves]
    if len({one.name for one in found}) < len(found):
        raise ValueError("two curves have one name")
    return found


def _curve(one: Mapping[str, Any], about: Mapping[str, Any]) -> Published:
    name = str(one["name"])
    recall, precision = (_shares(one[key], f"{name}: {key}") for key in ("recall", "precision"))
    if recall.shape != precision.shape or recall.ndim != 1 or not recall.size:
        raise ValueError(f"{name}: recall and precision must be lists of one length")
    ods, ois = (
        BestPoint(**{part: float(_shares(one[key][part], f"{name}: {key}")) for part in _POINT})
        for key in ("ods", "ois")
    )
    ap = _finite(one["ap"], f"{name}: ap")
    year, source = int(one["year"]), str(one["source"])
    return Published(
        name=name,
        year=year,
        source=source,
        recall=recall,
        precision=precision,
        ods=ods,
        ois=ois,
        ap=ap,
        **about,
    )


def _shares(values: Any, place: str) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all()):
        raise ValueError(f"{place} must lie in [0, 1]")
    return found


def _finite(value: Any, place: str) -> float:
    number = float(value)
    if not (math.isfinite(number) and 0 <= number <= 1.01):
        raise ValueError(f"{place} must be a number from 0 to 1")
    return number
