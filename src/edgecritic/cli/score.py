"""``edgecritic score``: all measures of edge maps against truths, or without any."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.measures import Scores

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "score",
        help="compute measures of a binary edge map, or of a folder of them",
        description="Compute measures of a candidate against one truth or several (each file may hold the "
        "maps of several annotators), or with --alone the measures that need no truth. "
        "`edgecritic list measures` shows all of them.",
    )
    parser.add_argument("candidate", type=Path, help="binary edge map, or a folder of them")
    parser.add_argument("truths", type=Path, nargs="*", metavar="truth", help="truth files")
    parser.add_argument("--truth", type=Path, metavar="FOLDER", help="folder of truths, for a folder of maps")
    parser.add_argument("--alone", action="store_true", help="measures without truth")
    parser.add_argument(
        "-m", "--measure", action="append", metavar="ID", help="such as 'baddeley(k=1)'; repeatable"
    )
    parser.add_argument(
        "--binarize", type=float, metavar="SHARE", help="accept grey maps, cut at SHARE of white"
    )
    parser.add_argument(
        "--spacing", type=float, nargs="+", metavar="SIZE", help="pixel size, one or one per axis"
    )
    parser.add_argument("--level", type=int, metavar="N", help="which segmentation of the file, from 1")
    parser.add_argument(
        "--empty", choices=("value", "nan", "raise"), default="value", help="what measures do with empty maps"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, help="images at a time, for folders")
    parser.add_argument(
        "--cluster", metavar="tcp://HOST:PORT", help="run on the workers of a Dask scheduler, for folders"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON document")
    output.add_argument("--csv", action="store_true", help="print comma-separated values")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores; return 0, or 1 if a file of a folder could not be scored."""
    from edgecritic.errors import InputError

    if bool(args.truths or args.truth) == args.alone:
        raise InputError("score needs a truth (edgecritic score CANDIDATE TRUTH …), or --alone to do without")
    if args.candidate.is_dir():
        return _folder(args)
    paths = [*args.truths, *([args.truth] if args.truth else [])]
    found = _one(args.candidate, paths, args)
    if args.json:
        _print_json(found.as_dict())
    elif args.csv:
        rows = found.per_annotator
        names = [str(number + 1) for number in range(len(rows))]
        _print_csv("annotator", found.measures, zip(names, rows, strict=True))
    else:
        print(found)
    return 0


def _folder(args: argparse.Namespace) -> int:
    import sys

    work = [
        (name, path.absolute(), [truth.absolute() for truth in truths], args)
        for name, path, truths in _cases(args)
    ]
    found: dict[str, Scores] = {}
    failures: dict[str, str] = {}
    finished = dict(_parallel(work, args))
    for name, result in ((name, finished[name]) for name, *_ in work):
        if isinstance(result, str):
            failures[name] = result
        else:
            found[name] = result
    for name, message in failures.items():
        print(f"{name}: {message}", file=sys.stderr)
    if found:
        _print_folder(found, failures, args)
    return 1 if failures or not found else 0


def _print_folder(found: dict[str, Scores], failures: dict[str, str], args: argparse.Namespace) -> None:
    from edgecritic.measures.base import plain_number
    from edgecritic.measures.scoring import render

    first = next(iter(found.values()))
    several = any(len(scores.annotators) > 1 for scores in found.values())
    columns = {"mean": _averages([scores.mean for scores in found.values()])}
    if several:
        columns["mean of best"] = _averages([scores.best for scores in found.values()])
    if args.json:
        means = {name: plain_number(value) for name, value in columns["mean"].items()}
        images = {name: scores.as_dict() for name, scores in found.items()}
        _print_json({"scores": means, "images": images, "failures": failures})
    elif args.csv:
        _print_csv("image", first.measures, ((name, scores.mean) for name, scores in found.items()))
    else:
        print(f"{len(found)} images")
        print(render(first.measures, first.better, first.families, columns))


def _one(path: Path, truths: Sequence[Path], args: argparse.Namespace) -> Scores:
    from edgecritic.datasets.files import read_mask, read_truths
    from edgecritic.measures import assess, score

    if _judges_regions(args.measure):
        labels = [found for truth in truths for found in _label_maps(truth)]
        return score(_level(_label_maps(path), args.level, path), labels, args.measure)
    candidate = read_mask(path, binarize=args.binarize)
    if args.alone:
        return assess(candidate, args.measure, on_degenerate=args.empty)
    return score(
        candidate,
        [found for truth in truths for found in read_truths(truth, binarize=args.binarize)],
        args.measure,
        spacing=args.spacing or _voxel_size(path),
        on_degenerate=args.empty,
    )


def _judges_regions(ids: Sequence[str] | None) -> bool:
    from edgecritic.measures import measures

    return bool(ids) and all(measures.bind(text).entry.info.needs == "segmentation" for text in ids or ())


def _label_maps(path: Path) -> list[Any]:
    from edgecritic.datasets.files import read_array, read_segmentations

    if path.suffix.lower() in (".mat", ".seg"):
        return list(read_segmentations(path))
    return [read_array(path)]


def _level(maps: list[Any], level: int | None, path: Path) -> Any:
    from edgecritic.errors import InputError

    if level is None and len(maps) == 1:
        return maps[0]
    if level is None or not 1 <= level <= len(maps):
        raise InputError(f"{path}: holds {len(maps)} segmentations; choose one with --level 1 … {len(maps)}")
    return maps[level - 1]


def _cases(args: argparse.Namespace) -> Iterator[tuple[str, Path, Sequence[Path]]]:
    from edgecritic.datasets.cases import find_cases
    from edgecritic.datasets.folder import list_maps
    from edgecritic.errors import InputError

    if args.alone:
        for name, paths in list_maps(args.candidate).files.items():
            yield name, paths[0], ()
        return
    if args.truths and (args.truth or len(args.truths) > 1):
        raise InputError("a folder of maps has one folder of truths: edgecritic score FOLDER --truth FOLDER")
    dataset = find_cases(args.candidate, args.truth or args.truths[0])
    if not dataset.cases:
        raise InputError("no map has a truth of the same name; " + "; ".join(dataset.problems()))
    for case in dataset.cases:
        if case.prediction is not None:
            yield case.id, case.prediction, case.truths


def _voxel_size(path: Path) -> tuple[float, ...] | None:
    if not path.name.lower().endswith((".nii", ".nii.gz")):
        return None
    from edgecritic.datasets.files import read_volume

    return read_volume(path).spacing


def _judge(task: tuple[str, Path, Sequence[Path], argparse.Namespace]) -> tuple[str, Scores | str]:
    """Score one map of a folder, or say why that is not possible."""
    from edgecritic.errors import EdgeCriticError

    name, path, truths, args = task
    try:
        return name, _one(path, truths, args)
    except EdgeCriticError as error:
        return name, str(error)


def _parallel(work: list[Any], args: argparse.Namespace) -> Iterator[tuple[str, Scores | str]]:
    """Yield results as they come, with a progress bar on a terminal."""
    from contextlib import nullcontext

    from edgecritic.cli._output import progress
    from edgecritic.run.executor import run_tasks

    with nullcontext() if args.quiet else progress("scoring", unit="image") as step:
        yield from run_tasks(_judge, work, jobs=args.jobs, cluster=args.cluster, progress=step)


def _averages(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def _print_json(document: dict[str, Any]) -> None:
    import json

    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def _print_csv(first: str, measures: Sequence[str], rows: Any) -> None:
    import csv
    import sys

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([first, *measures])
    for name, values in rows:
        writer.writerow([name, *(repr(values[measure]) for measure in measures)])
