"""``edgecritic study truths``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_ids, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, cases_of, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "truths"
PAPER = "Abdulrahman, Magnier, Montesinos 2017"
TEXT = "does a truth on the crests of the gradient judge detectors otherwise than a hand-made one?"
FIGURES, NEEDS, MINUTES = "Figs. 3, 6, 8 and 9, Table 4", "photos with one or more truths", "2 / 30"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument("--most", type=whole_number(1), metavar="N", help="only the first N images")
    parser.add_argument(
        "--own",
        metavar="FOLDER",
        help="semi-automatic truths, such as those of edgecritic propose (default: a simulated editor)",
    )
    parser.add_argument(
        "--radius", type=float, default=3.0, metavar="PX", help="how far the simulated editor looks (3)"
    )
    add_ids(parser, "-d", "--detectors", text="default: the paper's six")
    add_ids(parser, "-m", "--measures", text="default: those of Table 4, and those of one kind of error")
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.datasets.cases import find_cases
    from edgecritic.report.truths import truths_report
    from edgecritic.run.truths import load_truths, run_truths

    with cases_of(args) as found, bar(args, "judging", "image") as step:
        cases = found[: args.most]
        study = run_truths(
            cases,
            own=args.own,
            radius=args.radius,
            detectors=args.detectors,
            measures=args.measures,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            progress=step,
        )
        shown = None
        if args.out is not None:
            name = study.study.typical()
            case = next(one for one in cases if one.id == name)
            own = {one.id: one.truths[0] for one in find_cases(None, args.own)} if args.own else {}
            shown = (name, *load_truths(case, own.get(name), args.radius))
        report = truths_report(study, shown=shown)
    return finish(args, report, study.as_dict(), study.failures)
