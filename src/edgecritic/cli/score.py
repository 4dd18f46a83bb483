"""``edgecritic score``: all measures of edge maps against truths, or without any."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
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
    add_tiles,
    add_truth,
    read_named,
    read_spacing,
    whole_number,
)

if TYPE_CHECKING:
    from edgecritic.measures.label_maps import Labels
    from edgecritic.run.score_files import ScoreSettings
    from edgecritic.run.score_results import ScoreRun

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "score",
        help="compute measures of a binary edge map, or of a folder of them",
        description="Compute measures of a candidate against one truth or several (each file may hold the "
        "maps of several annotators), or with --alone the measures that need no truth. "
        "`edgecritic list measures` shows all of them. ↑ marks measures of which more is better, ↓ those of "
        "which less is. f and fom are 1 at best; f_star and fom_star are their complements. With --labels "
        "the objects of label maps are judged one by one. Several folders with --truth are methods, which "
        "are compared case by case.",
        epilog="Name the files before -m: edgecritic score canny.png truth.png -m fom 'baddeley(k=1)'; "
        "edgecritic score ours=FOLDER theirs=FOLDER --truth FOLDER --labels all -m dice hd95",
    )
    parser.add_argument(
        "candidate",
        metavar="[NAME=]candidate",
        help="binary edge map or label map, a folder of them, or a summary.json of scores",
    )
    parser.add_argument(
        "truths", nargs="*", metavar="truth", help="truth files; with --truth further folders of candidates"
    )
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
    what.add_argument(
        "--missing",
        choices=("fail", "worst", "skip"),
        default="fail",
        help="cases of a folder without a prediction: named, left out, and the command fails (the default); "
        "counted as the worst value of every measure; or left out on purpose",
    )
    what.add_argument(
        "--absent",
        choices=("skip", "value"),
        default="skip",
        help="a label that is in neither map of a case: left out of the mean (the default), or what measures "
        "declare for two empty maps",
    )
    what.add_argument(
        "--bootstrap",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="draws for the confidence intervals of folders (default: 1000)",
    )
    files = parser.add_argument_group("input")
    add_split(files)
    add_binarize(files, "maps")
    add_tiles(files)
    files.add_argument(
        "--labels",
        metavar="all|1,2|FILE.toml",
        help="judge the objects of label maps: all numbers but 0, these, or those of a file with names, "
        "tolerances and the label to ignore",
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
    add_out(form, "scores, statistics, report and finished images (an interrupted run goes on where it was)")
    output = form.add_mutually_exclusive_group()
    add_json(output)
    output.add_argument("--csv", action="store_true", help="print comma-separated values, a line per image")
    add_quiet(form)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores; return 0, or 1 if a case of a folder is missing or could not be scored."""
    from edgecritic.errors import InputError
    from edgecritic.run.score_files import ScoreSettings, check_measures

    if args.candidate.endswith(".json"):
        return _summaries(args, read_named([args.candidate, *args.truths], what="method"))
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
        labels=_labels(args.labels),
        absent=args.absent,
        missing=args.missing,
        level=args.level,
        tiles=args.tiles,
    )
    check_measures(settings)
    (place,) = read_named([args.candidate]).values()
    if not Path(place).is_dir():
        return _file(args, settings)
    places = read_named([args.candidate, *(args.truths if args.truth else ())], what="method")
    return _folders(args, settings, {name: Path(place) for name, place in places.items()})


def _labels(text: str | None) -> Labels | None:
    from edgecritic.measures.label_maps import as_labels
    from edgecritic.run.label_file import read_labels

    if text is None:
        return None
    return read_labels(text) if text.lower().endswith(".toml") else as_labels(text)


def _file(args: argparse.Namespace, settings: ScoreSettings) -> int:
    from edgecritic.cli._output import complain, print_json
    from edgecritic.cli._score_text import map_table
    from edgecritic.datasets._guard import quiet
    from edgecritic.geometry import judged_text
    from edgecritic.run.score import check_labels
    from edgecritic.run.score_files import score_files

    truths = [*map(Path, args.truths), *_truths_of_file(args)]
    with quiet() if settings.labels is not None else nullcontext():  # the table says what is missed
        judged = score_files(Path(args.candidate), truths, settings)
    check_labels([judged], settings.labels)
    for one in judged.maps:
        if one.absent:
            complain(f"label {one.label} is in neither map")
    if args.json:
        print_json(judged.as_dict())
    elif args.csv and judged.labelled:
        _print_rows(judged.rows())
    elif args.csv:
        found = judged.maps[0].scores
        _print_rows([{"annotator": place + 1, **row} for place, row in enumerate(found.per_annotator)])
    else:
        if judged.shape:
            print(judged_text(judged.shape, judged.spacing))
        for note in judged.notes:
            print(note)
        _tell_surface(args, judged.maps[0].scores.measures if judged.maps else ())
        print(judged)
        if args.alone and judged.maps and len(judged.maps[0].scores.per_annotator) > 1:
            print(f"\n{map_table(judged.maps[0].scores)}")
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


def _folders(args: argparse.Namespace, settings: ScoreSettings, places: dict[str, Path]) -> int:
    from edgecritic.cli._output import progress
    from edgecritic.errors import InputError
    from edgecritic.run.score import score_folder
    from edgecritic.run.store import safe_name

    if args.truths and not args.truth and len(args.truths) > 1:
        raise InputError("a folder of maps has one folder of truths: edgecritic score FOLDER --truth FOLDER")
    truth = None if args.alone else args.truth or args.truths[0]
    runs = {}
    for name, place in places.items():
        out = None if args.out is None else Path(args.out)
        with progress("scoring", unit="image", quiet=args.quiet) as step:
            runs[name] = score_folder(
                place,
                truth,
                settings=settings,
                split=args.split,
                out=out if out is None or len(places) == 1 else out / safe_name(name),
                jobs=args.jobs,
                cluster=args.cluster,
                fresh=args.fresh,
                progress=step,
            )
    if args.out is not None and any(run.cases for run in runs.values()):
        from edgecritic.report.scores import write_scores

        folders = {name: (place, truth) for name, place in places.items()} if truth is not None else {}
        write_scores(
            args.out, runs, folders=folders, settings=settings, draws=args.bootstrap, split=args.split
        )
    status = [_tell(run, args) for run in runs.values()]
    return max(*status, _print_runs(runs, args))


def _summaries(args: argparse.Namespace, places: dict[str, str | Path]) -> int:
    """Print the statistics of scores that were written before."""
    from edgecritic.errors import InputError
    from edgecritic.run.score_files import ScoreSettings
    from edgecritic.run.summary import read_summary

    options = ("truth", "split", "measures", "strategy", "tolerance", "spacing", "resample", "labels")
    for option in options:
        if getattr(args, option) is not None:
            raise InputError(
                f"{args.candidate} holds scores that were computed before, which --{option} does not change",
                remedy="leave it out, or score the maps anew",
            )
    runs = {name: read_summary(place) for name, place in places.items()}
    if args.out is not None:
        from edgecritic.report.scores import write_scores

        write_scores(args.out, runs, folders={}, settings=ScoreSettings(), draws=args.bootstrap)
    return _print_runs(runs, args)


def _tell(found: ScoreRun, args: argparse.Namespace) -> int:
    """Say what is not as it should be; return the exit status."""
    from edgecritic.cli._output import tell_failures
    from edgecritic.cli._score_text import tell_absent, tell_empty, tell_missing

    status = max(tell_failures(found.failures), tell_missing(found, args.missing))
    tell_absent(found)
    tell_empty(found, args.empty)
    return status if found.cases else 1


def _print_runs(runs: dict[str, ScoreRun], args: argparse.Namespace) -> int:
    from edgecritic.cli._output import print_json, report_page
    from edgecritic.cli._score_text import difference_table
    from edgecritic.run.score_results import compare_runs

    if len(runs) == 1:
        (found,) = runs.values()
        if found.cases:
            _print_folder(found, args)
    else:
        both = compare_runs(runs, draws=args.bootstrap)
        if args.json:
            print_json(both.as_dict(draws=args.bootstrap))
        elif args.csv:
            _print_rows(both.rows())
        else:
            for name, run in runs.items():
                print(f"{name}: ", end="")
                _print_folder(run, args)
                print()
            print(difference_table(both) if both.differences else "too few shared cases for a paired test")
    if args.out is not None and not args.json and not args.csv:
        print(f"Report: {report_page(args.out)}")
    return 0


def _print_folder(found: ScoreRun, args: argparse.Namespace) -> None:
    from edgecritic.cli._output import print_json
    from edgecritic.cli._score_text import case_table, statistics_table
    from edgecritic.datasets.spacing import size_text
    from edgecritic.measures.scoring import render

    if args.json:
        print_json(found.as_dict(draws=args.bootstrap))
        return
    if args.csv:
        _print_rows(found.rows())
        return
    sizes = {case.spacing for case in found.cases.values()}
    used = [size_text(size) for size in sizes if size is not None]
    told = f", pixel size {used[0] if len(sizes) == 1 else 'of each file'}" if used else ""
    lost = [(len(found.missing), "without a prediction"), (len(found.failures), "failed")]
    amiss = "".join(f", {count} {what}" for count, what in lost if count)
    kinds = sorted({len(case.shape) for case in found.cases.values() if case.shape})
    where = f", judged in {' and '.join(f'{ndim}-D' for ndim in kinds)}" if kinds else ""
    images = f"{len(found.cases)} image{'s' * (len(found.cases) != 1)}"
    print(f"{images}{where}{told}{amiss}")
    for note in (
        *found.notes,
        *(f"{name}: {one}" for name, case in found.cases.items() for one in case.notes),
    ):
        print(note)
    _tell_surface(args, found.measures)
    first = found.first
    if first is None:
        print("no label but 0 in any of them")
    elif args.measures or found.labelled:
        print(case_table(found))
        print(f"\n{statistics_table(found, draws=args.bootstrap)}")
    else:
        columns = {"mean": found.means}
        if any(len(one.scores.annotators) > 1 for case in found.cases.values() for one in case.maps):
            columns["mean of best"] = found.best
        print(render(first.measures, first.better, first.families, columns))


def _tell_surface(args: argparse.Namespace, measures: Sequence[str]) -> None:
    """Print which surface the measures took that were asked for without naming one."""
    from edgecritic.measures.surface import surface_note

    note = surface_note(measures) if args.measures else ""
    if note:
        print(note)


def _print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    from edgecritic.tables import csv_text

    names = list(dict.fromkeys(name for row in rows for name in row))
    print(csv_text(names, ([row.get(name) for name in names] for row in rows)), end="")
