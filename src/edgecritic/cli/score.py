"""``edgecritic score``: all measures of edge maps against truths, or without any."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import (
    add_binarize,
    add_cluster,
    add_fresh,
    add_ids,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_resample,
    add_spacing,
    add_split,
    add_truth,
    read_spacing,
)

if TYPE_CHECKING:
    from edgecritic.run.score import ScoreRun, ScoreSettings

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "score",
        help="compute measures of a binary edge map, or of a folder of them",
        description="Compute measures of a candidate against one truth or several (each file may hold the "
        "maps of several annotators), or with --alone the measures that need no truth. "
        "`edgecritic list measures` shows all of them. ↑ marks measures of which more is better, ↓ those of "
        "which less is. f and fom are 1 at best; f_star and fom_star are their complements.",
        epilog="Name the files before -m: edgecritic score canny.png truth.png -m fom 'baddeley(k=1)'",
    )
    parser.add_argument("candidate", type=Path, help="binary edge map, or a folder of them")
    parser.add_argument("truths", type=Path, nargs="*", metavar="truth", help="truth files")
    add_truth(parser, required=False)
    parser.add_argument("--alone", action="store_true", help="measures without truth")
    what = parser.add_argument_group("algorithm")
    add_ids(what, "-m", "--measures", "--measure", text="ids such as 'baddeley(k=1)' (default: all)")
    what.add_argument("-s", "--strategy", metavar="ID", help="how all measures match that match pixels")
    what.add_argument("--tolerance", type=float, metavar="D", help="of all measures that have a tolerance")
    add_spacing(what)
    add_resample(what)
    what.add_argument(
        "--empty",
        choices=("value", "nan", "raise"),
        default="value",
        help="what measures do with empty maps: take their declared value; the same, but leave cases "
        "out of the mean in which both maps are empty; or fail",
    )
    files = parser.add_argument_group("input")
    add_split(files)
    add_binarize(files, "maps")
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
    work = parser.add_argument_group("work, for folders")
    add_jobs(work)
    add_cluster(work)
    add_fresh(work)
    form = parser.add_argument_group("output")
    add_out(form, "finished images, so that an interrupted run goes on where it was,")
    output = form.add_mutually_exclusive_group()
    add_json(output)
    output.add_argument("--csv", action="store_true", help="print comma-separated values, a line per image")
    add_quiet(form)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores; return 0, or 1 if a file of a folder could not be scored."""
    from edgecritic.errors import InputError
    from edgecritic.run.score import ScoreSettings, check_measures

    if bool(args.truths or args.truth) == args.alone:
        raise InputError("score needs a truth (edgecritic score CANDIDATE TRUTH …), or --alone to do without")
    if args.alone and (args.strategy is not None or args.tolerance is not None):
        raise InputError("--strategy and --tolerance are for measures with a truth; leave them out")
    settings = ScoreSettings(
        measures=tuple(args.measures) if args.measures else None,
        strategy=args.strategy,
        tolerance=args.tolerance,
        spacing=read_spacing(args.spacing),
        resample=args.resample,
        empty=args.empty,
        binarize=args.binarize,
        label=args.label,
        level=args.level,
    )
    check_measures(settings)
    return _folder(args, settings) if args.candidate.is_dir() else _file(args, settings)


def _file(args: argparse.Namespace, settings: ScoreSettings) -> int:
    from edgecritic.cli._output import print_json
    from edgecritic.geometry import judged_text
    from edgecritic.run.score import score_files

    judged = score_files(args.candidate, [*args.truths, *_truths_of_file(args)], settings)
    found = judged.scores
    if args.json:
        print_json(judged.as_dict())
    elif args.csv:
        rows = found.per_annotator
        names = [str(number + 1) for number in range(len(rows))]
        _print_csv("annotator", found.measures, zip(names, rows, strict=True))
    else:
        print(judged_text(found.shape, judged.spacing))
        for note in judged.notes:
            print(note)
        _tell_surface(args, found.measures)
        print(found)
    return 0


def _truths_of_file(args: argparse.Namespace) -> tuple[Path, ...]:
    """Return the truths of a single map: a file, or what a data set holds of that name."""
    from edgecritic.cli._output import complain
    from edgecritic.datasets.cases import find_cases
    from edgecritic.errors import InputError

    if args.truth is None:
        return ()
    found = find_cases(args.candidate, args.truth, split=args.split, roles=True)
    if not found.cases:
        raise InputError(f"{args.truth}: holds no truth called like {args.candidate}")
    for note in found.notes():
        complain(note)
    return found.cases[0].truths


def _folder(args: argparse.Namespace, settings: ScoreSettings) -> int:
    from edgecritic.cli._output import progress, tell_failures
    from edgecritic.errors import InputError
    from edgecritic.run.score import score_folder

    if args.truths and (args.truth or len(args.truths) > 1):
        raise InputError("a folder of maps has one folder of truths: edgecritic score FOLDER --truth FOLDER")
    with progress("scoring", unit="image", quiet=args.quiet) as step:
        found = score_folder(
            args.candidate,
            None if args.alone else args.truth or args.truths[0],
            settings=settings,
            split=args.split,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            progress=step,
        )
    status = tell_failures(found.failures)
    if found.maps:
        _tell_empty(found, args.empty)
        _print_folder(found, args)
    return status if found.maps else 1


def _tell_empty(found: ScoreRun, rule: str) -> None:
    from edgecritic.cli._output import complain

    empty = [f"{name} ({judged.empty})" for name, judged in found.maps.items() if judged.empty]
    if not empty:
        return
    more = f", … {len(empty) - 5} more" if len(empty) > 5 else ""
    meant = (
        "measures have the values of their table of empty cases; where both are empty, none"
        if rule == "nan"
        else "measures have the values of their table of empty cases; --empty nan leaves out the empty pairs"
    )
    complain(f"empty: {', '.join(empty[:5])}{more}: {meant}")


def _print_folder(found: ScoreRun, args: argparse.Namespace) -> None:
    from edgecritic.cli._output import print_json
    from edgecritic.datasets.spacing import size_text
    from edgecritic.measures.scoring import render

    scores = {name: judged.scores for name, judged in found.maps.items()}
    first = next(iter(scores.values()))
    if args.json:
        print_json(found.as_dict())
        return
    if args.csv:
        _print_csv("image", first.measures, ((name, one.mean) for name, one in scores.items()))
        return
    sizes = {judged.spacing for judged in found.maps.values()}
    used = [size_text(size) for size in sizes if size is not None]
    told = f", pixel size {used[0] if len(sizes) == 1 else 'of each file'}" if used else ""
    kinds = sorted({len(one.shape) for one in scores.values()})
    print(f"{len(scores)} images, judged in {' and '.join(f'{ndim}-D' for ndim in kinds)}{told}")
    for note in (
        *found.notes,
        *(f"{name}: {one}" for name, each in found.maps.items() for one in each.notes),
    ):
        print(note)
    _tell_surface(args, first.measures)
    if args.measures:
        print(_rows(found))
        return
    columns = {"mean": found.means}
    if any(len(one.annotators) > 1 for one in scores.values()):
        columns["mean of best"] = found.best
    print(render(first.measures, first.better, first.families, columns))


def _tell_surface(args: argparse.Namespace, measures: Sequence[str]) -> None:
    """Print which surface the measures took that were asked for without naming one."""
    from edgecritic.measures.surface import surface_note

    note = surface_note(measures) if args.measures else ""
    if note:
        print(note)


def _rows(found: ScoreRun) -> str:
    """Return a table with a line per image, in blocks that a terminal can show."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.tables import arrow, text_table

    means, counts = found.means, found.counts
    better = next(iter(found.maps.values())).scores.better
    header = ["image", *(f"{name} {arrow(way)}" for name, way in zip(means, better, strict=True))]
    values = {**{name: one.scores.mean for name, one in found.maps.items()}, "mean": means}
    rows = [[name, *(_number(row[measure]) for measure in means)] for name, row in values.items()]
    if min(counts.values()) < len(found.maps):
        rows.append(["mean of", *(f"{count} of {len(found.maps)}" for count in counts.values())])
    return text_table(rows, header, align="lr", width=terminal_width())


def _number(value: float) -> str:
    import math

    return "–" if math.isnan(value) else f"{value:.5g}"


def _print_csv(first: str, measures: Sequence[str], rows: Any) -> None:
    from edgecritic.tables import csv_text

    lines = ([name, *(repr(values[measure]) for measure in measures)] for name, values in rows)
    print(csv_text([first, *measures], lines), end="")
