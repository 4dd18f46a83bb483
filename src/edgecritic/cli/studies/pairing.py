"""``edgecritic study pairing``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import read_numbers, whole_number
from edgecritic.cli.studies._common import add_output, add_work, bar, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "pairing"
PAPER = "Smith, Williams 2020"
TEXT = "how close do cheap pairings come to the optimal one, and how fast are they?"
FIGURES, NEEDS, MINUTES = "Figs. 4 to 10, Table 1", "none; MNI152 for real sub-images", "1 / 2"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    parser.add_argument(
        "--data", metavar="FOLDER", help="the folder of the MNI152 template, for real sub-images"
    )
    parser.add_argument(
        "--samples", type=whole_number(2), default=200, metavar="N", help="sub-images per side (200)"
    )
    parser.add_argument("--detector", default="sobel", metavar="ID", help="for the real slices (sobel)")
    parser.add_argument(
        "--points", default="300,1000,3000,10000,30000", metavar="LIST", help="sizes that are timed"
    )
    add_output(parser)
    add_work(parser)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.studies import pairing_report, pairing_times_report
    from edgecritic.run.studies import run_pairing

    with bar(args, "pairing", "task") as step:
        study = run_pairing(
            args.data,
            samples=args.samples,
            points=read_numbers(args.points, "--points"),
            detector=args.detector,
            jobs=args.jobs,
            cluster=args.cluster,
            progress=step,
        )
    results = study.as_dict()
    timed = (pairing_times_report(study), {"times": results.pop("times")})
    return finish(args, pairing_report(study), results, timed=timed)
