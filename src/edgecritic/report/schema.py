"""What ``results.json`` must look like, checked in words (described in ``docs/reference/results.md``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from edgecritic.errors import DataError

__all__ = ["SCHEMA", "check_results"]

SCHEMA = 1
"""The version of the layout that this package writes and reads."""

Check = Callable[[Any, str], None]


def check_results(results: Any) -> None:
    """Check that `results` has the layout of ``results.json``, schema 1.

    Keys that are not known are left alone; keys that may be absent count as ``null`` or empty.

    Parameters
    ----------
    results : dict
        As loaded from the file.

    Raises
    ------
    DataError
        The message names the place, what was expected and what was got.

    Examples
    --------
    >>> check_results({"schema": 1, "protocol": {"id": 5}})
    Traceback (most recent call last):
    edgecritic.errors.DataError: protocol.id: expected text, got 5
    """
    if not isinstance(results, Mapping):
        raise DataError(f"results: expected an object, got {_kind(results)}")
    schema = results.get("schema")
    if isinstance(schema, bool) or schema != SCHEMA:
        raise DataError(
            f"results: this version reads schema {SCHEMA}, got {_kind(schema)}; "
            "write the results again with this version of edgecritic, or install the one that wrote them"
        )
    _RESULTS(results, "")
    _check_names(results["detectors"])


def _check_names(detectors: list[Any]) -> None:
    seen: set[str] = set()
    for number, detector in enumerate(detectors):
        if detector["name"] in seen:
            raise DataError(f"detectors[{number}].name: {detector['name']!r} comes twice; names must differ")
        seen.add(detector["name"])


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def _refuse(place: str, expected: str, got: Any) -> DataError:
    return DataError(f"{place or 'results'}: expected {expected}, got {_kind(got)}")


def _number(value: Any, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refuse(place, "a finite number", value)


def _share(value: Any, place: str) -> None:
    _number(value, place)
    if not 0 <= value <= 1.01:
        raise _refuse(place, "a number in [0, 1]", value)


def _count(value: Any, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _refuse(place, "a whole number ≥ 0", value)


def _text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise _refuse(place, "text", value)


def _maybe(check: Check) -> Check:
    def checked(value: Any, place: str) -> None:
        if value is not None:
            check(value, place)

    return checked


def _list(check: Check, length: int | None = None) -> Check:
    def checked(value: Any, place: str) -> None:
        if not isinstance(value, list | tuple):
            raise _refuse(place, "a list", value)
        if length is not None and len(value) != length:
            raise _refuse(place, f"a list of {length}", value)
        for number, item in enumerate(value):
            check(item, f"{place}[{number}]")

    return checked


def _table(check: Check) -> Check:
    """Check an object whose keys are free and whose values are all alike."""

    def checked(value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            raise _refuse(place, "an object", value)
        for key, item in value.items():
            check(item, f"{place}.{key}")

    return checked


def _record(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    def checked(value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            raise _refuse(place, "an object", value)
        start = f"{place}." if place else ""
        for key, check in needed.items():
            if key not in value:
                raise DataError(f"{start}{key}: missing")
            check(value[key], start + key)
        for key, check in (optional or {}).items():
            _maybe(check)(value.get(key), start + key)

    return checked


def _pixels(value: Any, place: str) -> None:
    (_list(_number, 2) if isinstance(value, list | tuple) else _number)(value, place)


def _curve(value: Any, place: str) -> None:
    columns = {"recall": _list(_share), "precision": _list(_share), "f": _list(_share)}
    _record(columns, {"threshold": _list(_number)})(value, place)
    lengths = {key: len(value[key]) for key in (*columns, "threshold") if value.get(key) is not None}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise DataError(f"{place}: expected columns of one length, got {shown}")


_POINT = {"f": _share, "precision": _share, "recall": _share}

_PUBLISHED = _record(
    {
        **dict.fromkeys(("dataset", "title", "source"), _text),
        "year": _count,
        "relative_tolerance": _number,
        "ap": _share,
        "quoted": _list(_text),
        "ods": _record(_POINT),
        "ois": _record(_POINT),
    },
    {"ap_by_rule": _share},
)


def _named_curve(value: Any, place: str) -> None:
    _record({"name": _text}, {"published": _PUBLISHED})(value, place)
    _curve(value, place)


_INTERVAL = _list(_number, 2)
_DIFFERENCE = _record({"difference": _number, "low": _number, "high": _number, "p": _share})

_PER_IMAGE = _record(
    {"id": _text, **_POINT},
    {"threshold": _number, "annotators": _count, "prediction_hash": _text, "truth_hash": _text}
    | {"spacing": _list(_number)},
)

_BIN = {"from": _share, "to": _share, "pixels": _count}
_ERRORS = ("expected_error", "largest_error", "mean_error", "any_error", "brier")

_CLASS = _record(
    {"ods": _record(_POINT, {"threshold": _number}), "ois": _record(_POINT)},
    {
        "folder": _text,
        "images": _count,
        "ap": _share,
        "ap_rules": _table(_maybe(_share)),
        "r50": _share,
        "intervals": _record({"level": _share}, {"ods": _INTERVAL, "ois": _INTERVAL, "ap": _INTERVAL}),
        "curve": _curve,
    },
)

_CURVE_OF_REGIONS = {name: _list(_number) for name in ("threshold", "covering", "pri", "voi")}

_REGIONS = _record(
    {
        "covering": _record({"ods": _share, "ois": _share, "best": _share, "threshold": _number}),
        "pri": _record({"ods": _share, "ois": _share, "threshold": _number}),
        "voi": _record({"ods": _number, "ois": _number, "threshold": _number}),
    },
    {
        "images": _count,
        "curve": _record(_CURVE_OF_REGIONS),
        "per_image": _list(
            _record(
                {"id": _text, "threshold": _number, "recall": _share, "precision": _share},
                {"pri": _share, "voi": _number, "annotators": _count},
            )
        ),
    },
)

_ONLY_REGIONS = _record({"name": _text, "images": _count, "regions": _REGIONS}, {"folder": _text})

_BOUNDARIES = _record(
    {
        "name": _text,
        "images": _count,
        "ods": _record(_POINT, {"threshold": _number}),
        "ois": _record(_POINT),
        "curve": _curve,
        "per_image": _list(_PER_IMAGE),
    },
    {
        "ap": _share,
        "ap_rule": _text,
        "ap_rules": _table(_maybe(_share)),
        "r50": _share,
        "intervals": _record({"level": _share}, {"ods": _INTERVAL, "ois": _INTERVAL, "ap": _INTERVAL}),
        "crispness": _record({"mean": _number}, {"min": _number, "max": _number, "images": _count}),
        "calibration": _record(
            {"bins": _list(_record({"strength": _maybe(_share), "drawn": _maybe(_share)}, _BIN))},
            {"pixels": _count, **dict.fromkeys(_ERRORS, _maybe(_number))},
        ),
        "ceval": _record({"ods": _record(_POINT), "ois": _record(_POINT)}, {"ap": _share}),
        "tolerances": _list(
            _record({"ods": _share, "ois": _share}, {"relative_tolerance": _number, "pixels": _pixels})
        ),
        "folder": _text,
        "regions": _REGIONS,
        "strategies": _list(
            _record({"strategy": _text, "ods": _record(_POINT), "ois": _record(_POINT)}, {"ap": _share})
        ),
        "classes": _table(_CLASS),
        "mf_ods": _share,
        "mean_ap": _share,
    },
)


def _detector(value: Any, place: str) -> None:
    """Check a detector; one that was judged by its regions alone has neither ODS nor a curve."""
    alone = isinstance(value, Mapping) and "regions" in value and "ods" not in value
    (_ONLY_REGIONS if alone else _BOUNDARIES)(value, place)


_RESULTS = _record(
    {
        "protocol": _record(
            {"id": _text},
            {"title": _text, "nms": _text, "ap_rule": _text, "digest": _text, "tolerance_pixels": _INTERVAL}
            | {"tolerance_unit": _text},
        ),
        "versions": _table(_maybe(_text)),
        "detectors": _list(_detector),
    },
    {
        "truth": _text,
        "human": _record(_POINT, {"images": _count}),
        "oracle": _record({"label": _text, "ods": _record(_POINT), "ois": _record(_POINT), "images": _count}),
        "comparisons": _list(
            _record(
                {"first": _text, "second": _text},
                {
                    "ods": _DIFFERENCE,
                    "ois": _DIFFERENCE,
                    "ap": _DIFFERENCE,
                    "classes": _table(
                        _record({}, {"ods": _DIFFERENCE, "ois": _DIFFERENCE, "ap": _DIFFERENCE})
                    ),
                },
            )
        ),
        "curves": _list(_named_curve),
        "failures": _list(_record({"message": _text}, {"detector": _text, "id": _text})),
        "notes": _list(_text),
    },
)
