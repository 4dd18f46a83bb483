"""``edgecritic score``: all measures of edge maps against truths, or without any."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import add_cluster, add_ids, add_json

if TYPE_CHECKING:
    from edgecritic.cli._score_files import Judged

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "score",
        help="compute measures of a binary edge map, or of a folder of them",
        description="Compute measures of a candidate against one truth or several (each file may hold the "
        "maps of several annotators), or with --alone the measures that need no truth. "
        "`edgecritic list measures` shows all of them. ↑ marks measures of which more is better, ↓ those of "
        "which less is: f and fom are 0 at best, dice is the F-measure, pfom Pratt's figure as he wrote it.",
        epilog="Name the files before -m: edgecritic score canny.png truth.png -m fom 'baddeley(k=1)'",
    )
    parser.add_argument("candidate", type=Path, help="binary edge map, or a folder of them")
    parser.add_argument("truths", type=Path, nargs="*", metavar="truth", help="truth files")
    parser.add_argument("--truth", type=Path, metavar="FOLDER", help="folder of truths, for a folder of maps")
    parser.add_argument("--alone", action="store_true", help="measures without truth")
    what = parser.add_argument_group("algorithm")
    add_ids(what, "-m", "--measures", "--measure", text="ids such as 'baddeley(k=1)' (default: all)")
    what.add_argument(
        "--spacing",
        nargs="+",
        metavar="S",
        help="pixel size, one number or one per axis in the order of the file; 'file' takes the voxel size "
        "of a NIfTI truth (default: that of the NIfTI files, which must agree; 1 for other files)",
    )
    what.add_argument(
        "--empty",
        choices=("value", "nan", "raise"),
        default="value",
        help="what measures do with empty maps: take their declared value, be left out of the mean, or fail",
    )
    files = parser.add_argument_group("input")
    files.add_argument(
        "--binarize", type=float, metavar="SHARE", help="accept grey maps, cut at SHARE of white"
    )
    files.add_argument(
        "--label", type=int, metavar="N", help="judge the object with this number in label maps"
    )
    files.add_argument(
        "--candidate-annotator",
        "--level",
        dest="level",
        type=int,
        metavar="N",
        help="which map or segmentation of the candidate's file, from 1",
    )
    work = parser.add_argument_group("work")
    work.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="images at a time, for folders")
    add_cluster(work)
    form = parser.add_argument_group("output")
    form.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    output = form.add_mutually_exclusive_group()
    add_json(output)
    output.add_argument("--csv", action="store_true", help="print comma-separated values, a line per image")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores; return 0, or 1 if a file of a folder could not be scored."""
    from edgecritic.cli._output import print_json
    from edgecritic.cli._score_files import check_measures, judge_files, read_sizes, size_text
    from edgecritic.errors import InputError

    if bool(args.truths or args.truth) == args.alone:
        raise InputError("score needs a truth (edgecritic score CANDIDATE TRUTH …), or --alone to do without")
    if args.measures:
        check_measures(args.measures)
    args.spacing = read_sizes(args.spacing)
    if args.candidate.is_dir():
        return _folder(args)
    judged = judge_files(args.candidate, [*args.truths, *([args.truth] if args.truth else [])], args)
    found = judged.scores
    if args.json:
        print_json(found.as_dict())
    elif args.csv:
        rows = found.per_annotator
        names = [str(number + 1) for number in range(len(rows))]
        _print_csv("annotator", found.measures, zip(names, rows, strict=True))
    else:
        if judged.spacing is not None:
            print(f"pixel size {size_text(judged.spacing)}")
        print(found)
    return 0


def _folder(args: argparse.Namespace) -> int:
    import warnings

    from edgecritic.cli._output import complain
    from edgecritic.errors import UndefinedMeasureWarning

    work = [
        (name, path.absolute(), [truth.absolute() for truth in truths], args)
        for name, path, truths in _cases(args)
    ]
    with warnings.catch_warnings():
        # Told below for all images at once, with their names.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        finished = dict(_parallel(work, args))
    found: dict[str, Judged] = {}
    failures: dict[str, str] = {}
    for name, result in ((name, finished[name]) for name, *_ in work):
        if isinstance(result, str):
            failures[name] = result
        else:
            found[name] = result
    for name, message in failures.items():
        complain(f"{name}: {message}")
    if found:
        _tell_empty(found, args)
        _print_folder(found, failures, args)
    return 1 if failures or not found else 0


def _tell_empty(found: dict[str, Judged], args: argparse.Namespace) -> None:
    from edgecritic.cli._output import complain

    empty = [f"{name} ({judged.empty})" for name, judged in found.items() if judged.empty]
    if not empty:
        return
    more = f", … {len(empty) - 5} more" if len(empty) > 5 else ""
    meant = (
        "they have no value and are left out of the mean"
        if args.empty == "nan"
        else "measures have the values of their table of empty cases; --empty nan leaves them out of the mean"
    )
    complain(f"empty: {', '.join(empty[:5])}{more}: {meant}")


def _print_folder(found: dict[str, Judged], failures: dict[str, str], args: argparse.Namespace) -> None:
    from edgecritic.cli._output import print_json
    from edgecritic.cli._score_files import size_text
    from edgecritic.measures.scoring import render
    from edgecritic.values import plain_number

    scores = {name: judged.scores for name, judged in found.items()}
    first = next(iter(scores.values()))
    means = _averages([one.mean for one in scores.values()])
    if args.json:
        images = {name: one.as_dict() for name, one in scores.items()}
        shown = {name: plain_number(value) for name, value in means.items()}
        counts = _counts([one.mean for one in scores.values()])
        print_json({"scores": shown, "counts": counts, "images": images, "failures": failures})
        return
    if args.csv:
        _print_csv("image", first.measures, ((name, one.mean) for name, one in scores.items()))
        return
    sizes = {judged.spacing for judged in found.values()}
    used = [size_text(size) for size in sizes if size is not None]
    told = f", pixel size {used[0] if len(sizes) == 1 else 'of each file'}" if used else ""
    print(f"{len(found)} images{told}")
    if args.measures:
        print(_rows(scores, means))
        return
    columns = {"mean": means}
    if any(len(one.annotators) > 1 for one in scores.values()):
        columns["mean of best"] = _averages([one.best for one in scores.values()])
    print(render(first.measures, first.better, first.families, columns))


def _rows(scores: dict[str, Any], means: dict[str, float]) -> str:
    """Return a table with a line per image, in blocks that a terminal can show."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.tables import arrow, text_table

    first = next(iter(scores.values()))
    header = ["image", *(f"{name} {arrow(way)}" for name, way in zip(means, first.better, strict=True))]
    values = {**{name: one.mean for name, one in scores.items()}, "mean": means}
    rows = [[name, *(_number(row[measure]) for measure in means)] for name, row in values.items()]
    counts = _counts([one.mean for one in scores.values()])
    if min(counts.values()) < len(scores):
        rows.append(["mean of", *(f"{count} of {len(scores)}" for count in counts.values())])
    return text_table(rows, header, align="lr", width=terminal_width())


def _number(value: float) -> str:
    import math

    return "–" if math.isnan(value) else f"{value:.5g}"


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


def _judge(task: tuple[str, Path, Sequence[Path], argparse.Namespace]) -> tuple[str, Judged | str]:
    """Score one map of a folder, or say why that is not possible."""
    from edgecritic.cli._score_files import judge_files
    from edgecritic.errors import EdgeCriticError, MissingExtraError

    name, path, truths, args = task
    try:
        return name, judge_files(path, truths, args)
    except MissingExtraError:
        raise  # no other image would fare better
    except EdgeCriticError as error:
        return name, str(error)


def _parallel(work: list[Any], args: argparse.Namespace) -> Iterator[tuple[str, Judged | str]]:
    """Yield results as they come, with a progress bar on a terminal."""
    from contextlib import nullcontext

    from edgecritic.cli._output import progress
    from edgecritic.run.executor import run_tasks

    with nullcontext() if args.quiet else progress("scoring", unit="image") as step:
        yield from run_tasks(_judge, work, jobs=args.jobs, cluster=args.cluster, progress=step)


def _averages(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of every measure over the images where it has a value."""
    import math

    defined = {name: [row[name] for row in rows if not math.isnan(row[name])] for name in rows[0]}
    return {name: sum(values) / len(values) if values else math.nan for name, values in defined.items()}


def _counts(rows: list[dict[str, float]]) -> dict[str, int]:
    """Return on how many images every measure has a value."""
    import math

    return {name: sum(not math.isnan(row[name]) for row in rows) for name in rows[0]}


def _print_csv(first: str, measures: Sequence[str], rows: Any) -> None:
    from edgecritic.tables import csv_text

    lines = ([name, *(repr(values[measure]) for measure in measures)] for name, values in rows)
    print(csv_text([first, *measures], lines), end="")
