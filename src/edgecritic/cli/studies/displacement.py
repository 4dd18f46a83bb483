"""``edgecritic study displacement``."""

from __future__ import annotations

import argparse

from edgecritic.cli.studies._common import add_output, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "displacement"
PAPER = "Abdulrahman, Magnier, Montesinos 2017"
TEXT = "how do measures grow with the displacement of an edge?"
FIGURES, NEEDS, MINUTES = "Fig. 2", "none (generated lines)", "1 / –"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.displacement import displacement_report
    from edgecritic.studies.displacement import displacement

    study = displacement()
    report = displacement_report(study, figure=args.out is not None)
    return finish(args, report, study.as_dict())
