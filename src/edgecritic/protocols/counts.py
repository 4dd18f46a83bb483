"""Counts: matched and all pixels at every threshold, the currency of benchmarks."""

from __future__ import annotations

import math
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.protocols.curves import Array, f_measure, ratio
from edgecritic.values import Value, rows_of

__all__ = ["Counts", "COLUMNS", "counted", "packed", "unpacked"]

COLUMNS = ("matched_truth", "truth", "matched_candidate", "candidate")
"""The four counts, in the order of the classic files: cntR, sumR, cntP, sumP."""

_STORED = np.dtype("<f8")


class Counts(Value):
    """How many pixels are matched, and how many there are, at every threshold.

    Counts of the same thresholds add; ratios are taken of the sums. The arrays may have leading axes: images
    that were stacked, or groups such as classes, whose names are in `groups`.

    Attributes
    ----------
    thresholds : (K,) float64 array
        In ascending order.
    matched_truth, truth : (…, K) float64 arrays
        Matched and all pixels of the truths, summed over annotators.
    matched_candidate, candidate : (…, K) float64 arrays
        Candidate pixels that are matched by any annotator, and all of them.
    zero : Counts or None
        The single row at threshold 0: every pixel on, not thinned.
    groups : tuple of str
        Names of the groups along the last but one axis; none if the counts have no groups.

    Examples
    --------
    >>> one = Counts.from_rows([(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60)])
    >>> both = one + one
    >>> both.truth.tolist(), both.recall.tolist()
    ([200.0, 200.0], [0.9, 0.7])
    """

    thresholds: Array
    matched_truth: Array
    truth: Array
    matched_candidate: Array
    candidate: Array
    zero: Counts | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("thresholds", *COLUMNS):
            object.__setattr__(self, name, _numbers(getattr(self, name), name))
        super().__post_init__()
        self._check()

    def _check(self) -> None:
        shape = self.truth.shape
        if self.thresholds.ndim != 1 or self.thresholds.size == 0:
            raise InputError(
                f"counts need one or more thresholds in a row, got shape {self.thresholds.shape}"
            )
        for name in COLUMNS:
            column = getattr(self, name)
            if column.shape != shape or shape[-1:] != self.thresholds.shape:
                raise InputError(
                    f"{name} must have a number for each of the {self.thresholds.size} thresholds and the "
                    f"shape of truth {shape}, got {column.shape}"
                )
        table = np.array([getattr(self, name) for name in COLUMNS])
        sound = (table >= 0) & (table < np.inf)
        if not sound.all():
            wrong = next(name for name, column in zip(COLUMNS, sound, strict=True) if not column.all())
            raise InputError(f"counts must be finite and not negative, {wrong} is not")
        first, last = self.thresholds[0], self.thresholds[-1]
        ascending = (self.thresholds[1:] > self.thresholds[:-1]).all()
        if not (ascending and math.isfinite(first) and math.isfinite(last)):
            raise InputError("counts must have finite thresholds in ascending order")
        if (table[::2] > table[1::2]).any():
            raise InputError(
                "more pixels are matched than there are: cntR must not exceed sumR, nor cntP sumP",
                remedy="check the columns",
            )
        if self.groups and (len(shape) < 2 or shape[-2] != len(self.groups)):
            raise InputError(f"counts of {len(self.groups)} groups need as many rows, got shape {shape}")
        if self.zero is not None and self.zero.truth.shape != (*shape[:-1], 1):
            raise InputError("zero must hold one row (cntR, sumR, cntP, sumP) for threshold 0")

    @classmethod
    def from_rows(cls, rows: Any, *, zero: Any = None) -> Counts:
        """Make counts of rows (threshold, cntR, sumR, cntP, sumP), as the classic files have them.

        `zero` are the four counts at threshold 0, if they are known.
        """
        table = _numbers(rows, "rows")
        if table.ndim != 2 or table.shape[1] != 1 + len(COLUMNS) or len(table) == 0:
            raise InputError(
                f"counts must have rows (threshold, cntR, sumR, cntP, sumP), got shape {table.shape}"
            )
        order = dict(zip(("thresholds", *COLUMNS), table.T.copy(), strict=True))
        return cls(**order, zero=None if zero is None else cls.of_one(zero, threshold=0.0))

    @classmethod
    def from_frame(cls, frame: Any) -> Counts:
        """Make counts of a table of pandas, polars, or rows, with the columns that `rows` has.

        Examples
        --------
        >>> one = Counts.from_rows([(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60)])
        >>> Counts.from_frame(one.rows()) == one
        True
        """
        names = ("threshold", *COLUMNS)
        rows = sorted(rows_of(frame), key=lambda row: float(row.get("threshold", 0)))
        if not rows or any(name not in row for row in rows for name in names):
            raise InputError(f"a table of counts needs the columns {', '.join(names)}, and rows")
        return cls.from_rows([[row[name] for name in names] for row in rows])

    @classmethod
    def of_one(cls, counts: Any, *, threshold: float) -> Counts:
        """Make the single row of the four counts (cntR, sumR, cntP, sumP) at one threshold."""
        row = _numbers(counts, "zero")
        if row.shape != (len(COLUMNS),):
            raise InputError(f"one row (cntR, sumR, cntP, sumP) is expected, got shape {row.shape}")
        return cls.from_rows([(threshold, *row)])

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Counts:
        """Make counts of what `as_dict` returned."""
        content = {name: plain[name] for name in ("thresholds", *COLUMNS)}
        zero = plain.get("zero")
        return cls(
            **content,
            zero=None if zero is None else cls.from_dict(zero),
            groups=tuple(plain.get("groups", ())),
        )

    @classmethod
    def stack(cls, parts: Sequence[Counts]) -> Counts:
        """Put counts of several images, with the same thresholds and groups, along a new first axis."""
        first = parts[0]
        for part in parts[1:]:
            first._check_alike(part)
        columns = {name: np.stack([getattr(part, name) for part in parts]) for name in COLUMNS}
        zeros = [part.zero for part in parts if part.zero is not None]
        return cls(
            thresholds=first.thresholds,
            **columns,
            zero=cls.stack(zeros) if len(zeros) == len(parts) else None,
            groups=first.groups,
        )

    @classmethod
    def of_groups(cls, parts: Mapping[str, Counts]) -> Counts:
        """Put the counts of groups such as classes, by their names, side by side.

        Examples
        --------
        >>> one = Counts.from_rows([(0.5, 70, 100, 50, 60)])
        >>> Counts.of_groups({"road": one, "car": one + one}).group("car").truth.tolist()
        [200.0]
        """
        if not parts or any(part.truth.ndim != 1 for part in parts.values()):
            raise InputError("groups are made of the counts of one or more, each without further axes")
        stacked = cls.stack(list(parts.values()))
        names = tuple(parts)
        zero = None if stacked.zero is None else stacked.zero._with(lambda column: column, groups=names)
        return stacked._with(lambda column: column, zero=zero, groups=names)

    def as_dict(self) -> dict[str, Any]:
        """Return lists of numbers, ready for JSON."""
        columns = {name: getattr(self, name).tolist() for name in ("thresholds", *COLUMNS)}
        zero = None if self.zero is None else self.zero.as_dict()
        return {**columns, "zero": zero, "groups": list(self.groups)}

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, index: Any) -> Counts:
        """Return a part along the first axis: an image of stacked counts, or some of them."""
        return self._with(lambda column: column[index])

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        self._check_alike(other)
        return Counts.stack([self, other]).sum()

    def sum(self) -> Counts:
        """Return the counts summed over the first axis."""
        return self._with(lambda column: column.sum(axis=0))

    def group(self, name: str) -> Counts:
        """Return the counts of one group."""
        if name not in self.groups:
            raise InputError(f"no group {name!r} was counted; there are: {', '.join(self.groups) or 'none'}")
        place = self.groups.index(name)
        return self._with(lambda column: column[..., place, :], groups=())

    def with_zero(self) -> Counts:
        """Return the counts with the row at 0 as their first threshold."""
        if self.zero is None:
            raise InputError(
                "this protocol evaluates threshold 0 as well, but the counts at 0 are missing",
                remedy="give zero=",
            )
        columns = {
            name: np.concatenate([getattr(self.zero, name), getattr(self, name)], axis=-1) for name in COLUMNS
        }
        return Counts(
            thresholds=np.append(0.0, self.thresholds), **columns, zero=self.zero, groups=self.groups
        )

    def weighted(self, weights: Array) -> Counts:
        """Return sums over the first axis, one for each row of weights (draws, images)."""
        return self._with(lambda column: np.tensordot(weights, column, axes=1))

    @property
    def recall(self) -> Array:
        """Matched share of the truth, 0 where there is none."""
        return ratio(self.matched_truth, self.truth)

    @property
    def precision(self) -> Array:
        """Matched share of the candidate, 0 where there is none."""
        return ratio(self.matched_candidate, self.candidate)

    @property
    def f(self) -> Array:
        """F = 2PR / (P + R), 0 where both are 0."""
        return f_measure(self.recall, self.precision)

    def best(self) -> Counts:
        """Return, with one threshold each, the counts of the largest F; the first one on ties."""
        place = self.f.argmax(axis=-1)[..., None]
        columns: dict[str, Any] = {
            name: np.take_along_axis(getattr(self, name), place, axis=-1) for name in COLUMNS
        }
        return Counts(thresholds=np.zeros(1), **columns, groups=self.groups)

    def table(self) -> Array:
        """Return rows (threshold, cntR, sumR, cntP, sumP) of counts without further axes."""
        return np.column_stack([self.thresholds, *(getattr(self, name) for name in COLUMNS)])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per threshold, and per group if there are groups."""
        if not self.groups:
            names = ("threshold", *COLUMNS)
            return [dict(zip(names, row, strict=True)) for row in self.table().tolist()]
        return [{"group": name, **row} for name in self.groups for row in self.group(name).rows()]

    def __str__(self) -> str:
        axes = tuple(range(self.truth.ndim - 1))  # images and groups
        pooled = self._with(lambda column: column.sum(axis=axes), groups=(), zero=None)
        place = int(np.argmax(pooled.f))
        return (
            f"{self.thresholds.size} thresholds; best at {self.thresholds[place]:.3g}: "
            f"P {pooled.precision[place]:.4f}  R {pooled.recall[place]:.4f}"
        )

    def _with(self, change: Any, **more: Any) -> Counts:
        columns = {name: change(getattr(self, name)) for name in COLUMNS}
        zero = None if self.zero is None else self.zero._with(change, **more)
        return Counts(
            **{"thresholds": self.thresholds, **columns, "zero": zero, "groups": self.groups, **more}
        )

    def _check_alike(self, other: Counts) -> None:
        if not np.array_equal(self.thresholds, other.thresholds):
            raise InputError(
                f"counts of the same thresholds can be added, these differ ({self.thresholds.size} and "
                f"{other.thresholds.size})"
            )
        if self.groups != other.groups:
            raise InputError(f"counts of the same groups can be added, got {self.groups} and {other.groups}")


def counted(thresholds: Any, columns: Any, *, zero: Any = None) -> Counts:
    """Make counts of pixels that were counted here, which need no checks.

    Parameters
    ----------
    thresholds : (K,) array_like
        In ascending order.
    columns : (4, K) array_like
        cntR, sumR, cntP and sumP; they are copied.
    zero : four numbers, optional
        The counts at threshold 0.

    Examples
    --------
    >>> counted([0.5], [[70], [100], [50], [60]]) == Counts.from_rows([(0.5, 70, 100, 50, 60)])
    True
    """
    table = np.array((thresholds, *columns), dtype=np.float64)
    none = None if zero is None else counted([0.0], np.reshape(zero, (-1, 1)))
    return _of_table(table, none)


def _of_table(table: Array, zero: Counts | None) -> Counts:
    """Return counts whose arrays are the rows of a new table."""
    table.flags.writeable = False
    made = object.__new__(Counts)
    thresholds, matched_truth, truth, matched_candidate, candidate = table
    vars(made).update(
        thresholds=thresholds,
        matched_truth=matched_truth,
        truth=truth,
        matched_candidate=matched_candidate,
        candidate=candidate,
        zero=zero,
        groups=(),
    )
    return made


def packed(counts: Counts) -> dict[str, Any]:
    """Return what `unpacked` takes: ready for JSON, and sooner written and read than `Counts.as_dict`."""
    parts = [counts] if counts.zero is None else [counts, counts.zero]
    arrays = [getattr(part, name) for part in parts for name in ("thresholds", *COLUMNS)]
    numbers = np.concatenate(arrays, axis=None, dtype=_STORED)
    return {
        "shape": counts.truth.shape,
        "groups": counts.groups,
        "numbers": b2a_base64(numbers.data, newline=False).decode("ascii"),
        "zero": counts.zero is not None,
    }


def unpacked(plain: Mapping[str, Any]) -> Counts:
    """Return the counts of which `packed` was made.

    Examples
    --------
    >>> one = Counts.from_rows([(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60)], zero=(100, 100, 70, 990))
    >>> unpacked(packed(one)) == one
    True
    """
    shape, groups = tuple(plain["shape"]), tuple(plain["groups"])
    numbers = np.frombuffer(a2b_base64(plain["numbers"]), dtype=_STORED)
    size = shape[-1] + len(COLUMNS) * math.prod(shape)
    zero = _of_numbers(numbers[size:], (*shape[:-1], 1), groups) if plain["zero"] else None
    return _of_numbers(numbers[:size], shape, groups, zero)


def _of_numbers(
    numbers: Array, shape: tuple[int, ...], groups: tuple[str, ...], zero: Counts | None = None
) -> Counts:
    columns = numbers[shape[-1] :].reshape(len(COLUMNS), *shape)
    named = dict(zip(COLUMNS, columns, strict=True))
    return Counts(thresholds=numbers[: shape[-1]], **named, zero=zero, groups=groups)


def _numbers(content: Any, name: str) -> Array:
    try:
        return np.asarray(content, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} of counts must be numbers: {error}") from error
