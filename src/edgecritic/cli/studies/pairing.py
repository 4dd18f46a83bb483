"""``edgecritic study pairing``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import read_named, read_numbers, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "pairing"
PAPER = "Smith, Williams 2020"
TEXT = "how close do cheap pairings come to the optimal one, and how fast are they?"
FIGURES, NEEDS, MINUTES = "Figs. 4 to 10, Table 1", "none; MNI152 for real sub-images", "1 / 2"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--predictions",
        nargs="+",
        metavar="NAME=FOLDER",
        help="edge maps of the images or volumes of --data, in place of a detector's",
    )
    parser.add_argument(
        "--most", type=whole_number(1), metavar="N", help="only the first N images or volumes"
    )
    parser.add_argument(
        "--planes", type=whole_number(1), default=8, metavar="N", help="along each axis of a volume (8)"
    )
    parser.add_argument(
        "--samples", type=whole_number(2), default=200, metavar="N", help="sub-images per side (200)"
    )
    parser.add_argument("--detector", default="sobel", metavar="ID", help="for real images (sobel)")
    parser.add_argument(
        "--points", default="300,1000,3000,10000,30000", metavar="LIST", help="sizes that are timed"
    )
    parser.add_argument(
        "--slabs", default="1,2,4,8", metavar="LIST", help="planes of the surfaces that are timed (1,2,4,8)"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=30.0,
        metavar="S",
        help="a method that has needed so many seconds is not run on larger sets (30)",
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.pairing import pairing_report, pairing_times_report
    from edgecritic.run.pairing import run_pairing

    with bar(args, "pairing", "task") as step:
        study = run_pairing(
            args.data,
            images=args.images,
            split=args.split,
            predictions=read_named(args.predictions) if args.predictions else None,
            most=args.most,
            planes=args.planes,
            samples=args.samples,
            points=read_numbers(args.points, "--points"),
            slabs=read_numbers(args.slabs, "--slabs"),
            limit=args.limit,
            detector=args.detector,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            progress=step,
        )
    results = study.as_dict()
    timed = (pairing_times_report(study), {"times": results.pop("times")})
    report = pairing_report(study, figure=args.out is not None)
    return finish(args, report, results, study.failures, timed=timed)
