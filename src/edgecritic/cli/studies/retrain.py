"""``edgecritic study retrain``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_cache, add_fresh, add_jobs, whole_number
from edgecritic.cli.studies._common import add_data, add_output, bar, finish, home_of

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "retrain"
PAPER = "Hou, Yuille, Koch 2013"
TEXT = "does a detector gain from learning on labels that everybody agrees on?"
FIGURES, NEEDS, MINUTES = "Fig. 8", "photos with several annotators", "1 / 60"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--on",
        metavar="NAME",
        help="split to judge on (default: val); the same as --split halves it",
    )
    parser.add_argument(
        "--labels",
        nargs="+",
        metavar="all|consensus|weighted|S",
        help="learn from these labels, with weak ones as background (default: all, consensus, consensus "
        "with weak ones left out, 0.4, 0.6, 0.8, all weighted by their strength)",
    )
    parser.add_argument(
        "--curve",
        nargs="*",
        type=whole_number(1),
        metavar="N",
        help="learn from so many photos as well, for the learning curve; none if no number follows (default: "
        "an eighth, a quarter and a half of them)",
    )
    parser.add_argument(
        "--most", type=whole_number(1), metavar="N", help="photos to learn from, and to judge"
    )
    parser.add_argument(
        "--draws", type=whole_number(0), default=1000, metavar="N", help="of the tests (1000)"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="of what is drawn (0)")
    add_output(parser)
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_fresh(work)
    add_cache(work)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.retrain import retrain_report
    from edgecritic.run.fit import Labels
    from edgecritic.run.retrain import SCHEMES, run_retrain

    schemes = SCHEMES if args.labels is None else tuple(Labels.parse(one) for one in args.labels)
    given = args.data is not None
    with home_of(args) as (truth, photos, out), bar(args, "learning", "photo") as step:
        found = run_retrain(
            truth,
            out,
            split=args.split or ("train" if given else None),
            on=args.on or ("val" if given else None),
            photos=photos,
            schemes=schemes,
            curve=args.curve,
            most=args.most,
            draws=args.draws,
            seed=args.seed,
            jobs=args.jobs,
            fresh=args.fresh,
            cache=args.cache,
            progress=step,
        )
        report = retrain_report(found, figure=args.out is not None)
        return finish(args, report, found.study.as_dict(), found.failures)
