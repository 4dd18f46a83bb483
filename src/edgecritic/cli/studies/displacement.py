"""``edgecritic study displacement``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_ids, whole_number
from edgecritic.cli.studies._common import add_output, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "displacement"
PAPER = "Abdulrahman, Magnier, Montesinos 2017"
TEXT = "how do measures grow with the displacement of an edge?"
FIGURES, NEEDS, MINUTES = "Fig. 2", "none (generated lines)", "1 / –"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_ids(
        parser, "-m", "--measures", text="ids such as 'baddeley(k=1)' (default: those of the paper, and more)"
    )
    parser.add_argument(
        "--reach",
        type=whole_number(1),
        default=16,
        metavar="PX",
        help="the greatest shift (16, as the paper)",
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.displacement import displacement_report
    from edgecritic.studies.displacement import displacement

    study = displacement(args.measures, reach=args.reach)
    report = displacement_report(study, figure=args.out is not None)
    return finish(args, report, study.as_dict())
