"""``edgecritic study matching``."""

from __future__ import annotations

import argparse

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
    parser.add_argument("--most", type=whole_number(1), metavar="N", help="only the first N images")
    parser.add_argument(
        "--inter",
        default="24",
        metavar="N|all",
        help="compare across N images with one map each (default: 24); all: every map with every other",
    )
    parser.add_argument(
        "--canny", default="16", metavar="N|all", help="compare with Canny maps on N images (default: 16)"
    )
    parser.add_argument("--tolerances", default="2.5,5,10", metavar="LIST", help="in pixels (2.5,5,10)")
    parser.add_argument("--triplet", metavar="REF,ONE,TWO", help="draw these maps: IMAGE#NUMBER,…")
    scale = parser.add_argument_group("large runs")
    scale.add_argument("--plan", action="store_true", help="say what the run needs, and stop")
    scale.add_argument(
        "--share", metavar="N/TOTAL", help="run one share of the work, such as 3/1000, into --out"
    )
    scale.add_argument(
        "--combine", nargs="+", metavar="FOLDER", help="analyse the shares in these folders; computes nothing"
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.cli._output import complain, tell_failures
    from edgecritic.errors import InputError
    from edgecritic.report.matching import matching_figures, matching_report, triplet_figure
    from edgecritic.run.matching import (
        canny_note,
        combine_parts,
        make_plan,
        parse_share,
        run_parts,
        study_parts,
    )
    from edgecritic.run.results import Failure, failure_rows

    if args.share is not None and args.out is None:
        raise InputError("--share needs --out, the folder where finished tasks are kept")
    if args.triplet is not None and args.out is None:
        raise InputError("--triplet needs --out, the folder that the drawing is written into")
    with cases_of(args) as cases:
        drawn = []
        if args.triplet is not None:
            reference, *candidates = _triplet(args.triplet)
            drawn = [triplet_figure(cases, reference, candidates, tolerance=5.0)]
        note = canny_note(cases, images=args.most, canny=_count(args.canny, "--canny"))
        if note is not None:
            complain(f"warning: {note}")
        parts = study_parts(
            cases,
            tolerances=read_numbers(args.tolerances, "--tolerances"),
            images=args.most,
            inter=_count(args.inter, "--inter"),
            canny=_count(args.canny, "--canny"),
        )
        if args.plan:
            print(make_plan(parts, args.out))
            return 0
        failures: list[Failure] = []
        if args.combine:
            studies = combine_parts(parts, folders=[*args.combine, *([args.out] if args.out else [])])
        else:
            share = (1, 1) if args.share is None else parse_share(args.share)
            with bar(args, "comparing", "task") as step:
                scores, failures = run_parts(
                    parts,
                    out=args.out,
                    share=share,
                    jobs=args.jobs,
                    cluster=args.cluster,
                    fresh=args.fresh,
                    progress=step,
                )
            if args.share is not None:
                print(f"share {args.share}: {len(scores)} tasks are finished")
                return tell_failures(failures)
            studies = combine_parts(parts, scores, failures=failures)
        if args.out is not None:
            worst = [row for study in studies for row in study.extremes]
            if worst and not drawn:
                most = min(worst, key=lambda row: row["margin"])
                drawn = [
                    triplet_figure(cases, most["reference"], most["candidates"], tolerance=most["tolerance"])
                ]
            drawn = [*matching_figures(studies), *drawn]
        notes = [] if note is None else [note]
        problems = [failure.message for failure in failures]
        report = matching_report(studies, figures=drawn, notes=notes, problems=problems)
        results = {"studies": [study.as_dict() for study in studies], "failures": failure_rows(failures)}
        return finish(args, report, results, problems)


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
