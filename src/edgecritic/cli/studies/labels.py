"""``edgecritic study labels``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import read_named, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, finish, home_of

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "labels"
PAPER = "Hou, Yuille, Koch 2013"
TEXT = "how strong are the labels of a data set, and what do they do to detectors?"
FIGURES, NEEDS, MINUTES = "Figs. 1, 3 to 7 and 9", "several annotators; soft maps or photos", "1 / 30"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--predictions",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="soft maps of a detector; repeatable (default: Canny on the photos)",
    )
    parser.add_argument(
        "--most", type=whole_number(1), default=12, metavar="N", help="run Canny on N images (12)"
    )
    parser.add_argument("--draws", type=whole_number(0), default=10, metavar="N", help="of the control (10)")
    parser.add_argument("--answers", metavar="FILE", help="answers to the trials, CSV or JSON")
    parser.add_argument(
        "--beside",
        metavar="FOLDER",
        help="--out of the same study of another data set: compare F of the same detectors there and here",
    )
    add_output(parser)
    add_work(parser, kept=True, cache=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.labels import labels_report
    from edgecritic.run.labels import run_labels

    with home_of(args) as (truth, photos, out), bar(args, "weighing", "image") as step:
        study = run_labels(
            truth,
            out,
            predictions=read_named(args.predictions, must_name=True),
            images=photos,
            split=args.split,
            most=args.most,
            draws=args.draws,
            answers=args.answers,
            beside=args.beside,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            cache=args.cache,
            progress=step,
        )
        return finish(args, labels_report(study), study.as_dict(), study.failures)
