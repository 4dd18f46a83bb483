"""Protocols: frozen, named sets of choices; results carry theirs and are never mixed silently."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import as_spacing, as_tolerance
from edgecritic.lazy import cached_property
from edgecritic.maps.boundaries import TRUTH_RULES, check_truth_rule
from edgecritic.maps.suppression import get_recipe
from edgecritic.protocols.classes import ClassRules, as_class_rules
from edgecritic.protocols.curves import AP_RULES, ap_rule_name
from edgecritic.values import Value

__all__ = ["Protocol"]

_tolerance = lru_cache(maxsize=64)(as_tolerance)  # most images of a run have one of a few shapes

DIGEST_VERSION = 1
"""Raised when the meaning of a protocol field changes, so that stored results are not mistaken."""

DUPLICATES = ("first", "last")

JUDGED = ("boundaries", "regions")

MASKS = ("before", "after")
"""When a mask takes pixels away from the candidate: before thinning, or after it."""

ANNOTATORS = ("each", "union")
"""Whether an image is judged by each annotator, or by one map with the pixels of all."""


class Protocol(Value):
    """How maps become benchmark numbers.

    Attributes
    ----------
    id : str
        Its name; a protocol with any other value has another name.
    title : str
        One line for people.
    relative_tolerance : float or None
        Largest distance of a match as a share of the image diagonal.
    tolerance : float or None
        The same in pixels, in volumes whose voxel size is known in millimetres; exactly one of the two is
        given.
    judges : "boundaries" or "regions"
        What is judged: contours that are matched within the tolerance, or the segments that they part (see
        :mod:`edgecritic.protocols.regions`), for which the thresholds alone matter.
    thresholds : int or tuple of float
        Thresholds in ascending order; a number K stands for K equal steps,
        linspace(1/(K+1), 1 − 1/(K+1), K).
    strategy : str
        How candidate and truth are matched: the id of a strategy, without its tolerance. ``eps`` and
        ``closest`` search a window of side 2·⌊tolerance⌋ + 1; ``area`` counts pixels of dilated maps.
    threshold_floor : float
        A pixel is on where strength ≥ max(threshold_floor, threshold).
    zero_threshold : bool
        Whether one more threshold, 0, is evaluated: every pixel on, not thinned.
    thin : bool
        Whether candidates are thinned after the threshold (truths never are). Images only: a protocol that
        thins refuses volumes.
    truth : "given" or "inner"
        What of a truth is its boundary: the pixels that it marks, or the inner boundary of the objects that
        it marks or numbers (:func:`edgecritic.maps.boundaries.inner_boundary`).
    annotators : "each" or "union"
        Whether candidates are matched with the truth of every annotator and the counts added, or with one
        truth that has the pixels of all: quicker, but another benchmark.
    mask : "before" or "after"
        Whether masks take pixels away from the candidate before it is thinned, or after. Before, lines are
        thinned as if they ended where the mask does; after, as in the whole image.
    nms : str
        The recipe of non-maximum suppression before the threshold, or ``none``.
    ap_rule : str
        The rule of average precision that is printed: a name of
        :data:`edgecritic.protocols.curves.AP_RULES`, or its letter.
    duplicates : "first" or "last"
        Which of several points with the same recall AP keeps, in ascending order of thresholds.
    classes : ClassRules or None
        How labels become boundaries of classes, and which count; ``None`` where there are no classes.
    source : str
        Whose numbers it reproduces.
    notes : str
        What to know before comparing.

    Examples
    --------
    >>> from edgecritic import get_protocol
    >>> strict = get_protocol("strict")
    >>> round(strict.tolerance_for((321, 481)), 2)
    1.73
    >>> coarse = get_protocol("bsds").with_changes("coarse", thresholds=33)
    >>> len(coarse.threshold_values()), coarse.relative_tolerance
    (33, 0.0075)
    """

    id: str
    title: str
    relative_tolerance: float | None = None
    tolerance: float | None = None
    strategy: str = "exact"
    judges: str = "boundaries"
    thresholds: int | tuple[float, ...] = 99
    threshold_floor: float = 0.0
    zero_threshold: bool = False
    thin: bool = True
    truth: str = "given"
    annotators: str = "each"
    mask: str = "before"
    nms: str = "none"
    ap_rule: str = "interpolated-101"
    duplicates: str = "first"
    classes: ClassRules | None = None
    source: str = ""
    notes: str = ""

    def __post_init__(self) -> None:
        for name in ("id", "title", "source", "notes"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} of a protocol must be text, got {getattr(self, name)!r}")
        if not self.id.replace("-", "_").isidentifier():
            raise InputError(f"id of a protocol must be a word such as bsds or my-lab, got {self.id!r}")
        for name in ("zero_threshold", "thin"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be true or false, got {getattr(self, name)!r}")
        if self.judges not in JUDGED:
            raise InputError(f"judges must be one of {', '.join(JUDGED)}, got {self.judges!r}")
        self._check_tolerance()
        object.__setattr__(self, "thresholds", _checked_thresholds(self.thresholds))
        if not (_is_number(self.threshold_floor) and 0 <= self.threshold_floor <= 1):
            raise InputError(f"threshold_floor must lie in [0, 1], got {self.threshold_floor!r}")
        if not isinstance(self.nms, str):
            raise InputError(f"nms must be the name of a recipe or 'none', got {self.nms!r}")
        get_recipe(self.nms)
        object.__setattr__(self, "strategy", _checked_strategy(self.strategy))
        object.__setattr__(self, "classes", as_class_rules(self.classes))
        object.__setattr__(self, "ap_rule", ap_rule_name(self.ap_rule))
        if self.duplicates not in DUPLICATES:
            raise InputError(f"duplicates must be one of {', '.join(DUPLICATES)}, got {self.duplicates!r}")
        check_truth_rule(self.truth, "truth")
        if self.annotators not in ANNOTATORS:
            raise InputError(f"annotators must be one of {', '.join(ANNOTATORS)}, got {self.annotators!r}")
        if self.mask not in MASKS:
            raise InputError(f"mask must be one of {', '.join(MASKS)} (thinning), got {self.mask!r}")
        if self.ap_rule == "interpolated-101+zero" and not self.zero_threshold:
            raise InputError("the AP rule interpolated-101+zero needs zero_threshold = true")

    def _check_tolerance(self) -> None:
        if self.judges == "regions":
            if self.classes is not None:
                raise InputError(f"protocol {self.id!r} judges regions, which have no classes")
            if not self.tolerance is self.relative_tolerance is None:
                raise InputError(
                    f"protocol {self.id!r} judges regions, which have no tolerance", remedy="leave it out"
                )
        elif (self.tolerance is None) == (self.relative_tolerance is None):
            raise InputError(
                f"protocol {self.id!r} needs either relative_tolerance (share of the diagonal) or tolerance "
                f"(pixels), got {self.relative_tolerance!r} and {self.tolerance!r}"
            )
        for name in ("tolerance", "relative_tolerance"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and value >= 0):
                raise InputError(f"{name} must be a finite number ≥ 0, got {value!r}")
        if self.relative_tolerance is not None and self.relative_tolerance >= 1:
            raise InputError(
                f"relative_tolerance is a share of the diagonal below 1, got {self.relative_tolerance!r}",
                remedy="give pixels as tolerance",
            )

    def threshold_values(self) -> NDArray[np.float64]:
        """Return the thresholds in ascending order, without the extra threshold 0."""
        return self._thresholds.copy()

    @cached_property
    def _thresholds(self) -> NDArray[np.float64]:
        if isinstance(self.thresholds, int):
            step = 1 / (self.thresholds + 1)
            return np.linspace(step, 1 - step, self.thresholds)
        return np.asarray(self.thresholds, dtype=np.float64)

    def tolerance_for(self, shape: Sequence[int], spacing: float | Sequence[float] | None = None) -> float:
        """Return the tolerance in pixels (in units of `spacing`) for an image of the given shape."""
        if self.judges == "regions":
            raise InputError(
                f"protocol {self.id} judges regions, not contours, and has no tolerance",
                remedy="take bsds, or edgecritic.protocols.regions",
            )
        sizes = as_spacing(spacing, len(shape))
        return _tolerance(tuple(map(int, shape)), sizes, self.tolerance, self.relative_tolerance)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that decides numbers; id, title, source and notes do not count.

        Thresholds and the NMS recipe enter with their values, so two ways of writing the same choice agree.
        """
        values = self.as_dict()
        for name in ("id", "title", "source", "notes"):
            del values[name]
        younger = (("classes", None), ("truth", "given"), ("annotators", "each"))  # than the first digests
        for name, usual in younger:
            if values[name] == usual:
                del values[name]
        values["thresholds"] = self.threshold_values().tolist()
        values["nms"] = get_recipe(self.nms).as_dict()
        for name in ("tolerance", "relative_tolerance", "threshold_floor"):
            values[name] = None if values[name] is None else float(values[name])
        text = json.dumps({"version": DIGEST_VERSION, **values}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def with_changes(self, name: str, /, **changes: Any) -> Protocol:
        """Return a protocol with the id `name` that differs from this one in the given fields.

        A new tolerance takes the place of a relative one, and the other way round.
        """
        for this, other in (("tolerance", "relative_tolerance"), ("relative_tolerance", "tolerance")):
            if changes.get(this) is not None:
                changes.setdefault(other, None)
        if changes.get("judges") == "regions":  # has no tolerance; one that is given is refused
            changes = {"tolerance": None, "relative_tolerance": None, **changes}
        if "classes" in changes:
            changes["classes"] = as_class_rules(changes["classes"], self.classes)
        changes.setdefault("source", "")
        changes.setdefault("notes", "")
        changes.setdefault("title", f"{self.title}, changed")
        return replace(self, id=name, **changes)

    def with_nms(self, recipe: str) -> Protocol:
        """Return this protocol with another recipe of suppression, and an id that says so.

        Examples
        --------
        >>> from edgecritic import get_protocol
        >>> get_protocol("pdollar").with_nms("rcf(radius=4)").id
        'pdollar-rcf-radius-4'
        """
        changed = self.with_changes("changed", nms=recipe, title=self.title)
        if changed.nms == self.nms:
            return self
        return replace(changed, id=f"{self.id}-{_word(recipe)}")

    def with_fields(self, **changes: Any) -> Protocol:
        """Return this protocol with other values in the given fields, and an id that says so.

        Examples
        --------
        >>> from edgecritic import get_protocol
        >>> get_protocol("bsds").with_fields(thresholds=33, tolerance=2.5).id
        'bsds-thresholds-33-tolerance-2-5'
        """
        _check_fields(changes, _CHANGEABLE)
        changed = self.with_changes("changed", title=self.title, **changes)
        if changed.digest == self.digest:
            return self
        return replace(changed, id=f"{self.id}-{_word(' '.join(f'{k} {v}' for k, v in changes.items()))}")

    def with_classes(self, chosen: Sequence[str]) -> Protocol:
        """Return this protocol for some of its classes, by name or number, with an id that says so.

        Examples
        --------
        >>> from edgecritic import get_protocol
        >>> get_protocol("sbd").with_classes(["person", "3"]).id
        'sbd-bird-person'
        """
        if self.classes is None:
            raise InputError(f"protocol {self.id} has no classes")
        rules = self.classes.only(chosen)
        if set(rules.chosen) == set(self.classes.chosen):
            return self
        words = "-".join(rules.judged) if len(rules.judged) <= 4 else f"{len(rules.judged)}-classes"
        return replace(self, id=f"{self.id}-{_word(words)}", classes=rules)

    @classmethod
    def from_toml(cls, text: str) -> Protocol:
        """Read a protocol from TOML: the fields, optionally ``base = "bsds"`` for what is not given.

        Raises
        ------
        InputError
            If the text is not TOML, a field is unknown or wrong, or the id is that of a preset.
        """
        from edgecritic.protocols.presets import PRESETS, get_protocol

        try:
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InputError(f'a protocol must be TOML text, for instance base = "bsds": {error}') from error
        _check_fields(values, ["base", *(field.name for field in fields(cls))])
        name = values.pop("id", None)
        if not isinstance(name, str):
            raise InputError('a protocol of your own needs a name: add a line such as id = "my-lab"')
        if name in PRESETS:
            raise InputError(f"{name!r} is the name of a preset", remedy="give your protocol another id")
        base = values.pop("base", None)
        if base is not None:
            return get_protocol(base).with_changes(name, **values)
        values.setdefault("title", name)
        return cls(id=name, **values)

    def __str__(self) -> str:
        if self.judges == "regions":
            return self._regions_text()
        if self.tolerance is None:
            reach = f"{self.relative_tolerance:g} of the diagonal"
        else:
            reach = f"{self.tolerance:g} px (mm in volumes whose voxel size is known)"
        rule = f"{self.ap_rule} (rule {AP_RULES[self.ap_rule]})"
        steps = self._steps_text()
        lines = [
            f"{self.id}: {self.title}",
            f"  tolerance   {reach}",
            f"  matching    {self.strategy}",
            f"  thresholds  {steps}{' and 0 (every pixel on, not thinned)' if self.zero_threshold else ''}",
            f"  NMS         {self._nms_text()}",
            f"  thinning    {'on' if self.thin else 'off'}",
            *([] if self.truth == "given" else [f"  truths      {TRUTH_RULES[self.truth]}"]),
            *([] if self.annotators == "each" else ["  annotators  one truth with the pixels of all"]),
            f"  masks       act {self.mask} thinning",
            f"  AP          {rule}, {self.duplicates} of equal recalls",
        ]
        if self.classes is not None:
            lines.append(f"  classes     {len(self.classes.names)}: {', '.join(self.classes.names)}")
        return "\n".join([*lines, *self._told()])

    def _regions_text(self) -> str:
        lines = [f"{self.id}: {self.title}", "  judges      regions", f"  thresholds  {self._steps_text()}"]
        return "\n".join([*lines, *self._told()])

    def _steps_text(self) -> str:
        values = self.threshold_values()
        return f"{values.size} from {values[0]:g} to {values[-1]:g}"

    def _told(self) -> list[str]:
        told = {"source": self.source, "notes": self.notes}
        return [f"  {name:<11} {text}" for name, text in told.items() if text]

    def _nms_text(self) -> str:
        numbers = str(get_recipe(self.nms))
        return self.nms if numbers == self.nms else f"{self.nms} = {numbers}"


_CHANGEABLE = tuple(
    field.name
    for field in fields(Protocol)
    if field.name not in ("id", "title", "judges", "classes", "source", "notes")
)
"""What an id such as ``volume(tolerance=3)`` may name."""


def _check_fields(given: Iterable[str], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"a protocol has no field {key!r}{hint} (its fields: {', '.join(known)})")


def _word(text: str) -> str:
    """Return text as a part of an id: letters and digits, the rest becomes hyphens."""
    return re.sub("[^A-Za-z0-9]+", "-", text).strip("-")


def _is_number(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**53  # larger ones may not even be converted
    return isinstance(value, float) and math.isfinite(value)


def _checked_thresholds(thresholds: Any) -> int | tuple[float, ...]:
    if isinstance(thresholds, int) and not isinstance(thresholds, bool):
        if not 1 <= thresholds <= 100_000:
            raise InputError(f"a number of thresholds must lie in 1 … 100000, got {thresholds}")
        return thresholds
    if isinstance(thresholds, str | bytes) or not isinstance(thresholds, Sequence | np.ndarray):
        raise InputError(f"thresholds must be a number of steps or a list of numbers, got {thresholds!r}")
    values = list(thresholds)
    if not values or not all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values
    ):
        raise InputError(f"thresholds must be a list of at least one number, got {thresholds!r}")
    numbers = tuple(float(value) for value in values)
    if not all(0 <= value <= 1 for value in numbers):
        raise InputError(f"thresholds must lie in [0, 1], got {min(numbers):g} to {max(numbers):g}")
    if any(second <= first for first, second in itertools.pairwise(numbers)):
        raise InputError("thresholds must be in ascending order without repeats")
    return numbers


def _checked_strategy(strategy: Any) -> str:
    if strategy == "exact":  # all presets; the others are looked up, which loads the strategies
        return "exact"
    if not isinstance(strategy, str):
        raise InputError(f"strategy of a protocol must be an id such as exact, got {strategy!r}")
    from edgecritic.matching.base import strategies

    bound = strategies.bind(strategy)
    if Id.parse(strategy).options.get("window") is not None:
        raise InputError(
            f"a protocol has a tolerance, from which a window gets its side, but {strategy} names a window",
            remedy=f"write {bound.entry.name} alone, and choose the tolerance",
        )
    return str(bound)
