"""Runs that were judged before, read back from their folders and put together without judging again."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.content import PathLike, read_text
from edgecritic.errors import DataError, InputError, ProtocolMismatchError
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.bench import BenchRun
from edgecritic.run.judge import Judged
from edgecritic.run.plan import DetectorPlan, Plan, read_plan, summed_up
from edgecritic.run.results import Failure
from edgecritic.run.store import RECORDS, Store, record_key, safe_name
from edgecritic.values import Value

__all__ = ["FinishedRun", "gather_runs", "join_runs", "keep_pictures", "load_run"]

PICTURES = "@pictures"
"""The folder of the pictures of a run among its records."""

_MOST_BYTES = 2**28
_SHOWN = 3


class FinishedRun(Value):
    """What a folder holds of a run, finished or still going on.

    Attributes
    ----------
    folder : Path
    plan : Plan
    judged : dict of dict of Judged
        By detector and image.
    failures : tuple of Failure
    regions : dict
        Entries of ``results.json`` about regions, by detector.
    pictures : dict of tuple of dict
        Fields of the pictures of every detector.
    finished : bool
        Whether ``results.json`` is there.
    """

    folder: Path
    plan: Plan
    judged: dict[str, dict[str, Judged]]
    failures: tuple[Failure, ...]
    regions: dict[str, dict[str, Any]]
    pictures: dict[str, tuple[dict[str, Any], ...]]
    finished: bool

    @property
    def done(self) -> int:
        """How many maps are judged."""
        return sum(map(len, self.judged.values()))

    @property
    def total(self) -> int:
        """How many maps there are to judge."""
        return sum(len(one.images) for one in self.plan.detectors)


def load_run(folder: PathLike) -> FinishedRun:
    """Read the plan, the records and the results of a run from its folder alone.

    Records that an earlier run with other options left in the folder are not taken.

    Raises
    ------
    DataError
        If the folder holds no run of this version, or less than its results tell.
    """
    home = Path(folder)
    plan = read_plan(home)
    results = _results(home, plan)
    people = {image for one in plan.detectors for image in one.images} if plan.human else set()
    judged = {}
    for one in plan.detectors:
        found = _judged(home, one, people)
        if found:
            judged[one.name] = found
    if results is not None:
        _check_complete(home, results, judged)
    told = [] if results is None else results["failures"]
    return FinishedRun(
        folder=home,
        plan=plan,
        judged=judged,
        failures=tuple(Failure(**{key: str(value) for key, value in row.items()}) for row in told),
        regions={
            one["name"]: one["regions"] for one in (results or {}).get("detectors", ()) if one.get("regions")
        },
        pictures={one.name: _pictures(home, one.name) for one in plan.detectors},
        finished=results is not None,
    )


def _results(home: Path, plan: Plan) -> dict[str, Any] | None:
    """Return the results if they are there and of this plan, not of an earlier one in the same folder."""
    file = home / "results.json"
    if not file.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(read_text(file, limit=_MOST_BYTES))
        if not isinstance(found["failures"], list) or not isinstance(found["detectors"], list):
            raise ValueError("has another layout")
        of_plan = found["protocol"]["digest"] == plan.protocol.digest
        names = {one["name"] for one in found["detectors"]}
        names |= {one.get("detector") for one in found["failures"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"cannot be read as results: {error}", path=file) from error
    return found if of_plan and names >= {one.name for one in plan.detectors} else None


def _judged(home: Path, plan: DetectorPlan, people: set[str]) -> dict[str, Judged]:
    """Return what is known of the images of a detector.

    `people` are the images whose annotators are not counted yet; those that are now are taken out of them.
    """
    store = Store(home / RECORDS / safe_name(plan.name))
    found = {}
    for image in sorted(plan.images):
        content = store.load(image, None)
        if content is None or content.get("settings") != plan.settings:
            continue
        try:
            found[image] = Judged.of_record(plan.name, image, content, human=image in people)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the record of {image} cannot be read: {error}", path=store.folder) from error
        if found[image].human is not None:
            people.remove(image)
    return found


def _check_complete(
    home: Path, results: Mapping[str, Any], judged: Mapping[str, Mapping[str, Judged]]
) -> None:
    """Refuse a folder whose records are not those of its results."""
    for entry in results["detectors"]:
        rows = {row["id"]: row.get("prediction_hash") for row in entry.get("per_image", ())}
        have = {
            name: item.numbers.get("prediction_hash") for name, item in judged.get(entry["name"], {}).items()
        }
        lost = [name for name in rows if have.get(name) != rows[name]]
        if lost:
            raise DataError(
                f"{len(lost)} record(s) of {entry['name']} are missing or of other files, such as {lost[0]}",
                path=home,
                remedy="run edgecritic bench again with this --out",
            )


def keep_pictures(folder: PathLike, detector: str, pictures: Sequence[Mapping[str, Any]]) -> None:
    """Keep the pictures of a detector (fields with `png` as bytes) beside the records of its run."""
    rows = [{**one, "png": base64.b64encode(one["png"]).decode()} for one in pictures]
    content = {"pictures": rows}
    store, key = Store(Path(folder) / RECORDS / PICTURES), record_key(content)
    if not store.holds(detector, key):
        store.save(detector, key, content)


def _pictures(home: Path, detector: str) -> tuple[dict[str, Any], ...]:
    content = Store(home / RECORDS / PICTURES).load(detector, None)
    if content is None:
        return ()
    try:
        return tuple(
            {**one, "png": base64.b64decode(one["png"], validate=True)} for one in content["pictures"]
        )
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise DataError(f"the pictures of {detector} cannot be read: {error}", path=home) from error


def join_runs(
    runs: Mapping[str, FinishedRun],
    *,
    common: bool = False,
    draws: int | None = None,
    curves: Sequence[dict[str, Any]] = (),
    oracle: bool = False,
) -> BenchRun:
    """Put runs together: the results that one `run_bench` of all their detectors would have.

    Parameters
    ----------
    runs : mapping of name to FinishedRun
        Detectors keep their names; where two runs have one in common, the names of the runs tell them apart.
    common : bool
        Take only the images that all detectors have; else runs with other images are refused.
    draws : int, optional
        Of the bootstrap (default: as the runs say).
    curves, oracle
        As for `edgecritic.run.bench.run_bench`.

    Raises
    ------
    ProtocolMismatchError
        If the runs follow protocols that differ.
    InputError
        If images or truths differ, or nothing is judged yet.
    """
    parts = list(runs.values())
    named, judged = gather_runs(runs, common=common)
    plan = _joined_plan(named, parts, draws, not all(run.finished for run in parts))
    names = {(id(run), old): name for name, run, old in named}
    failures = [
        replace(one, detector=names.get((id(run), one.detector), one.detector))
        for run in parts
        for one in run.failures
    ]
    record, details = summed_up(
        plan,
        judged,
        failures,
        curves=curves,
        oracle=oracle,
        regions={name: run.regions[old] for name, run, old in named if old in run.regions},
        notes=_progress_notes(runs),
    )
    pictures = [{**one, "group": name} for name, run, old in named for one in run.pictures.get(old, ())]
    return BenchRun(
        results=record,
        details=details,
        cases={},
        protocol=plan.protocol,
        resize=plan.resize,
        pictures=tuple(one for one in pictures if one["group"] in details),
    )


def gather_runs(
    runs: Mapping[str, FinishedRun], *, common: bool = False
) -> tuple[list[tuple[str, FinishedRun, str]], dict[str, dict[str, Judged]]]:
    """Return what was judged in runs that can be compared, and refuse the others as `join_runs` does.

    Returns
    -------
    named : list of (str, FinishedRun, str)
        The name of every detector, its run, and its name in that run.
    judged : dict of dict of Judged
        By name of the detector and image.
    """
    _check_protocols(runs)
    named = _named(runs)
    judged = {name: run.judged[old] for name, run, old in named if old in run.judged}
    if not judged:
        raise InputError("nothing is judged yet in these runs")
    _check_truths(judged)
    going = not all(run.finished for run in runs.values())
    return named, _same_images(_people_once(judged), common=common, going=going)


def _named(runs: Mapping[str, FinishedRun]) -> list[tuple[str, FinishedRun, str]]:
    """Return (name, run, name within the run) of every detector."""
    all_names = Counter(one.name for run in runs.values() for one in run.plan.detectors)
    found = []
    for name, run in runs.items():
        for one in run.plan.detectors:
            alone = len(run.plan.detectors) == 1
            shown = one.name if all_names[one.name] == 1 else name if alone else f"{name}/{one.name}"
            found.append((shown, run, one.name))
    twice = [name for name, count in Counter(name for name, _, _ in found).items() if count > 1]
    if twice:
        raise InputError(f"two detectors are called {twice[0]!r}", remedy="name the runs: NAME=FOLDER")
    return found


def _check_protocols(runs: Mapping[str, FinishedRun]) -> None:
    (first, one), *others = runs.items()
    for name, other in others:
        mine, theirs = one.plan.protocol, other.plan.protocol
        if mine.digest != theirs.digest:
            raise ProtocolMismatchError(
                f"the runs {first} and {name} follow different protocols: {_differences(mine, theirs)}"
            )
        for what in ("binarize", "resize"):
            values = [getattr(run.plan, what) for run in (one, other)]
            if values[0] != values[1]:
                raise ProtocolMismatchError(
                    f"the runs {first} and {name} differ in {what}: {values[0]} and {values[1]}"
                )


def _differences(one: Protocol, other: Protocol) -> str:
    """Say in which fields that decide numbers two protocols differ."""
    skipped = ("id", "title", "source", "notes")
    pairs = [(each.name, getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
    told = [
        f"{name} {'differ' if name == 'classes' else f'{mine} and {theirs}'}"
        for name, mine, theirs in pairs
        if name not in skipped and mine != theirs
    ]
    return ", ".join(told)


def _check_truths(judged: Mapping[str, Mapping[str, Judged]]) -> None:
    """Refuse images of one name whose truths, or masks, are not the same bytes."""
    known: dict[tuple[str, str], tuple[str, Any]] = {}
    for detector, items in judged.items():
        for image, item in items.items():
            for what in ("truth", "mask"):
                mine = item.numbers.get(f"{what}_hash")
                first, theirs = known.setdefault((image, what), (detector, mine))
                if mine != theirs:
                    raise InputError(
                        f"{image}: {first} and {detector} were judged with different {what}s",
                        remedy="judge both against the same files",
                    )


def _people_once(judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, dict[str, Judged]]:
    """Leave the annotators of every image to the first detector that has them: all runs know them."""
    seen: set[str] = set()
    found: dict[str, dict[str, Judged]] = {}
    for detector, items in judged.items():
        again = {image for image, item in items.items() if item.human is not None and image in seen}
        seen |= {image for image, item in items.items() if item.human is not None}
        found[detector] = {
            image: replace(item, human=None) if image in again else item for image, item in items.items()
        }
    return found


def _same_images(
    judged: dict[str, dict[str, Judged]], *, common: bool, going: bool
) -> dict[str, dict[str, Judged]]:
    shared = set.intersection(*(set(items) for items in judged.values()))
    if common:
        if not shared:
            raise InputError("no image was judged for all detectors")
        return {
            name: {image: items[image] for image in items if image in shared}
            for name, items in judged.items()
        }
    every = set().union(*judged.values())
    for name, items in judged.items():
        lacks = sorted(every - set(items))
        if lacks and not going:
            shown = ", ".join(lacks[:_SHOWN]) + (", …" if len(lacks) > _SHOWN else "")
            raise InputError(
                f"{name} lacks {len(lacks)} of the {len(every)} images: {shown}",
                remedy="compare on the images that all have: --common",
            )
    return judged


def _joined_plan(
    named: Sequence[tuple[str, FinishedRun, str]],
    parts: Sequence[FinishedRun],
    draws: int | None,
    going: bool,
) -> Plan:
    first = parts[0].plan
    by_name = {(id(run), one.name): one for run in parts for one in run.plan.detectors}
    if draws is None:
        draws = 0 if going else max(run.plan.draws for run in parts)
    extras = [one for one in first.extras if all(one in run.plan.extras for run in parts)]
    return replace(
        first,
        extras=tuple(extras),
        draws=draws,
        detectors=tuple(replace(by_name[id(run), old], name=name) for name, run, old in named),
    )


def _progress_notes(runs: Mapping[str, FinishedRun]) -> list[str]:
    going = {name: run for name, run in runs.items() if not run.finished}
    return [
        f"{name}: {run.done} of {run.total} maps are judged so far; numbers will change"
        for name, run in going.items()
    ]
