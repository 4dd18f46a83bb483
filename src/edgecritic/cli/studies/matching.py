"""``edgecritic study matching``."""

from __future__ import annotations

import argparse
from typing import Any

from edgecritic.cli._options import read_numbers, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, cases_of, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "matching"
PAPER = "survey of boundary matching, group of Lopez-Molina"
TEXT = "does the choice of the matching strategy matter?"
FIGURES, NEEDS, MINUTES = "Figs. 1 to 7", "photos with several annotators", "1 / 10"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    own = parser.add_argument_group("your own detectors")
    own.add_argument(
        "--predictions",
        nargs="+",
        metavar="[NAME=]FOLDER",
        help="would another strategy rank these detectors differently? two folders of maps or more",
    )
    own.add_argument("--truth", metavar="FOLDER", help="their truths; the same as --data")
    own.add_argument("--threshold", type=float, default=0.5, metavar="T", help="cut soft maps at T (0.5)")
    parser.add_argument("--most", type=whole_number(1), metavar="N", help="only the first N images")
    parser.add_argument(
        "--inter",
        metavar="N|all",
        help="compare across N images with one map each (default: 24, with --predictions none); all: every "
        "map with every other",
    )
    parser.add_argument(
        "--canny",
        metavar="N|all",
        help="compare with Canny maps on N images (default: 16, with --predictions none)",
    )
    parser.add_argument(
        "--closer", default="8", metavar="N|all", help="look closer at the maps of N images (default: 8)"
    )
    parser.add_argument("--tolerances", default="2.5,5,10", metavar="LIST", help="in pixels (2.5,5,10)")
    parser.add_argument("--triplet", metavar="REF,ONE,TWO", help="draw these maps: IMAGE#NUMBER,…")
    scale = parser.add_argument_group("large runs")
    scale.add_argument("--plan", action="store_true", help="say what the run needs, and stop")
    scale.add_argument(
        "--share", metavar="N/TOTAL", help="run one share of the work, such as 3/1000, into --out"
    )
    scale.add_argument(
        "--combine", nargs="+", metavar="FOLDER", help="analyse the shares in these folders; compares nothing"
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.cli._output import complain
    from edgecritic.run.matching import canny_note

    _check(args)
    with cases_of(args) as cases:
        triplets, figures = _chosen_triplet(args, cases)
        note = canny_note(cases, images=args.most, canny=_count(args.canny, "--canny"))
        if note is not None:
            complain(f"warning: {note}")
        return _run(args, cases, triplets, figures, [] if note is None else [note])


def _run(
    args: argparse.Namespace, cases: list[Any], triplets: list[Any], figures: list[Any], notes: list[str]
) -> int:
    from edgecritic.cli._output import tell_failures
    from edgecritic.report.matching import matching_report
    from edgecritic.run.closer import closer_parts, run_closer
    from edgecritic.run.matching import combine_parts, make_plan, parse_share, run_parts
    from edgecritic.run.results import failure_rows

    cases, maps, parts, failures = _parts(args, cases)
    if args.plan:
        print(make_plan(parts, args.out))
        return 0
    work = {"out": args.out, "jobs": args.jobs, "cluster": args.cluster, "fresh": args.fresh}
    if args.combine:
        studies = combine_parts(parts, folders=[*args.combine, *([args.out] if args.out else [])])
    else:
        share = (1, 1) if args.share is None else parse_share(args.share)
        with bar(args, "comparing", "task") as step:
            scores, failed = run_parts(parts, share=share, progress=step, **work)
        failures += failed
        if args.share is not None:
            print(f"share {args.share}: {len(scores)} tasks are finished")
            return tell_failures(failures)
        studies = combine_parts(parts, scores, failures=failures)
    with bar(args, "looking closer", "image") as step:
        closer = closer_parts(
            cases[: args.most],
            parts,
            tolerances=read_numbers(args.tolerances, "--tolerances"),
            most=_count(args.closer, "--closer"),
            maps=maps,
            threshold=args.threshold,
        )
        looks, failed = run_closer(closer, progress=step, **work)
    failures += [one for one in failed if one.message not in {known.message for known in failures}]
    if not triplets:
        triplets, figures = _found_triplets(args, cases, studies)
    figures = [*_figures(args, cases, studies), *figures]
    problems = [str(failure) if failure.detector else failure.message for failure in failures]
    report = matching_report(
        studies, looks=looks, triplets=triplets, figures=figures, notes=notes, problems=problems
    )
    results = {
        "studies": [study.as_dict() for study in studies],
        "closer": [look.as_dict() for look in looks],
        "triplets": [triplet.as_dict() for triplet in triplets],
        "failures": failure_rows(failures),
    }
    return finish(args, report, results, problems)


def _check(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and fill in those that follow from others."""
    from edgecritic.errors import InputError

    if args.share is not None and args.out is None:
        raise InputError("--share needs --out, the folder where finished tasks are kept")
    if args.triplet is not None and args.out is None:
        raise InputError("--triplet needs --out, the folder that the drawing is written into")
    if args.truth is not None and args.data is not None:
        raise InputError("--truth and --data name the same thing; give one of them")
    args.data = args.data or args.truth
    if args.predictions and args.data is None:
        raise InputError("--predictions needs --truth, the folder of their truths")
    own = bool(args.predictions)
    args.asked = not own or args.inter is not None or args.canny is not None
    args.inter = args.inter or ("0" if own else "24")
    args.canny = args.canny or ("0" if own else "16")


def _parts(args: argparse.Namespace, cases: list[Any]) -> tuple[list[Any], Any, list[Any], list[Any]]:
    """Return the images, the user's maps, the work, and what is missing."""
    from edgecritic.cli._options import read_named
    from edgecritic.run.closer import own_parts
    from edgecritic.run.matching import study_parts

    tolerances = read_numbers(args.tolerances, "--tolerances")
    parts: list[Any] = []
    maps: Any = {}
    failures: list[Any] = []
    if args.predictions:
        cases, maps, parts, failures = own_parts(
            cases,
            read_named(args.predictions),
            tolerances=tolerances,
            images=args.most,
            threshold=args.threshold,
        )
    if args.asked:
        parts += study_parts(
            cases,
            tolerances=tolerances,
            images=args.most,
            inter=_count(args.inter, "--inter"),
            canny=_count(args.canny, "--canny"),
        )
    return cases, maps, parts, failures


def _chosen_triplet(args: argparse.Namespace, cases: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the triplet that was asked for and its figures."""
    from edgecritic.report.matching_figures import find_triplet, triplet_figures

    if args.triplet is None:
        return [], []
    reference, *candidates = _triplet(args.triplet)
    found = find_triplet(cases, reference, candidates, tolerance=5.0)
    return [found], triplet_figures(cases, found, name="triplet", why="the triplet that was asked for")


def _found_triplets(
    args: argparse.Namespace, cases: list[Any], studies: list[Any]
) -> tuple[list[Any], list[Any]]:
    """Return the triplet that is sorted most oppositely, and the survey's own if the data have it."""
    from edgecritic.report.matching_figures import find_triplet, triplet_figures
    from edgecritic.studies.triplets import PUBLISHED

    triplets, figures = [], []
    worst = [row for study in studies if study.maps != "own" for row in study.extremes]
    if worst and args.out is not None:
        most = min(worst, key=lambda row: row["margin"])
        triplets.append(
            find_triplet(cases, most["reference"], most["candidates"], tolerance=most["tolerance"])
        )
        why = "of all triplets within images the one that two strategies sort most oppositely"
        figures += triplet_figures(cases, triplets[0], name="triplet", why=why)
    case = next((one for one in cases if one.id == PUBLISHED[0].partition("#")[0]), None)
    if not args.predictions and case is not None and case.image is not None and len(case.load_truths()) >= 5:
        triplets.append(find_triplet(cases, PUBLISHED[0], PUBLISHED[1], tolerance=5.0))
        if args.out is not None:
            figures += triplet_figures(cases, triplets[-1], name="published", why="the survey's own triplet")
    return triplets, figures


def _figures(args: argparse.Namespace, cases: list[Any], studies: list[Any]) -> list[Any]:
    from edgecritic.report.matching_figures import matching_figures, panel_figure

    if args.out is None:
        return []
    panels = panel_figure(cases) if any(study.maps == "canny" for study in studies) else None
    return [*matching_figures(studies), *([] if panels is None else [panels])]


def _triplet(text: str) -> list[str]:
    """Read the names of three maps; those such as 12#canny(1,2) hold commas themselves."""
    from edgecritic.errors import InputError

    names: list[str] = []
    for part in text.split(","):
        if names and names[-1].count("(") > names[-1].count(")"):
            names[-1] += f",{part}"
        else:
            names.append(part)
    if len(names) != 3:
        raise InputError(f"--triplet expects three maps, REF,ONE,TWO, got {text!r}")
    return names


def _count(text: str, option: str) -> int | None:
    from edgecritic.errors import InputError

    if text == "all":
        return None
    if not text.isdigit():
        raise InputError(f"{option} expects a number or all, got {text!r}")
    return int(text)
