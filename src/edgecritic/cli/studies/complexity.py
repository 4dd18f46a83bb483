"""``edgecritic study complexity``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, cases_of, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "complexity"
PAPER = "Gimenez, Martinez, Flesia 2014"
TEXT = "can edge maps be chosen without truth?"
FIGURES, NEEDS, MINUTES = "Figs. 1 and 3 to 12, Tables 1 to 3", "photos with one or more truths", "1 / 10"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--most", type=whole_number(1), default=8, metavar="N", help="only the first N images (8)"
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.studies import complexity_report
    from edgecritic.run.studies import run_complexity
    from edgecritic.studies.complexity import best_maps

    with cases_of(args) as cases:
        with bar(args, "studying", "image") as step:
            found = run_complexity(
                cases[: args.most],
                out=args.out,
                jobs=args.jobs,
                cluster=args.cluster,
                fresh=args.fresh,
                progress=step,
            )
        by_id = {case.id: case for case in cases}
        shown = [(one.image, best_maps(by_id[one.image].load_image(), one)) for one in found.study.curves[:3]]
        problems = [str(failure) for failure in found.failures]
        report = complexity_report(found.study, photos=shown, problems=problems)
        return finish(args, report, found.as_dict(), found.failures)
