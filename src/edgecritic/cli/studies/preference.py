"""``edgecritic study preference``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import read_named, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, finish, home_of

if TYPE_CHECKING:
    from edgecritic.run.preference import PreferenceRun

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "preference"
PAPER = "nobody yet; Bradley, Terry 1952"
TEXT = "which edge maps do people prefer, and which measures know it?"
FIGURES, NEEDS, MINUTES = "none", "photos with truths; people's answers", "1 / –"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--answers", metavar="FILE", help="choices of people, CSV or JSON; without it trials.json is written"
    )
    parser.add_argument(
        "--trials", metavar="FILE", help="trials.json, if the file of answers does not have the maps"
    )
    parser.add_argument(
        "--maps",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="binary maps of a condition, for answers from elsewhere; repeatable",
    )
    parser.add_argument(
        "-m", "--measure", action="append", metavar="ID", help="judge this measure; repeatable (default: all)"
    )
    made = parser.add_argument_group("trials")
    made.add_argument(
        "--predictions",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="strength maps of a detector; repeatable (default: three detectors on the photos)",
    )
    made.add_argument("--most", type=whole_number(1), default=20, metavar="N", help="use N images (20)")
    made.add_argument("--pairs", type=whole_number(1), default=100, metavar="N", help="of maps (100)")
    made.add_argument(
        "--kinds",
        default="detector,threshold,damage",
        metavar="LIST",
        help="of pairs (detector,threshold,damage)",
    )
    made.add_argument("--practice", type=whole_number(0), default=3, metavar="N", help="trials before (3)")
    made.add_argument("--checks", type=whole_number(0), default=4, metavar="N", help="of attention (4)")
    made.add_argument(
        "--simulate", metavar="ID", help="let simulated subjects answer, who use this measure, with noise"
    )
    made.add_argument("--subjects", type=whole_number(1), default=30, metavar="N", help="simulated (30)")
    made.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="of everything drawn (0)")
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.preference import preference_report

    with home_of(args) as (truth, photos, out), bar(args, "judging", "image") as step:
        study = _study(args, truth, photos, out, step)
        return finish(args, preference_report(study), study.as_dict(), study.failures)


def _study(args: argparse.Namespace, truth: Path, photos: Path | None, out: Path, step: Any) -> PreferenceRun:
    from edgecritic.annotators.pairs import judging_measures
    from edgecritic.run.preference import prepare_trials, run_preference, simulate_judges

    common: dict[str, Any] = {"split": args.split, "jobs": args.jobs, "cluster": args.cluster}
    shared = common | {"seed": args.seed, "progress": step}
    judging = shared | {"measures": args.measure, "out": out, "fresh": args.fresh}
    if args.answers is not None:
        return run_preference(
            args.answers,
            None if args.data is None else truth,
            trials=args.trials,
            maps=read_named(args.maps, must_name=True),
            **judging,
        )
    made = prepare_trials(
        truth,
        out,
        predictions=read_named(args.predictions, must_name=True),
        images=photos,
        most=args.most,
        pairs=args.pairs,
        kinds=tuple(word.strip() for word in args.kinds.split(",")),
        practice=args.practice,
        checks=args.checks,
        **shared,
    )
    if args.simulate is None:
        return made
    asked = made.trials
    given = simulate_judges(asked, truth, args.simulate, subjects=args.subjects, seed=args.seed, **common)
    judging["measures"] = args.measure or judging_measures(objects=False)
    return run_preference((asked, given), truth, hidden=args.simulate, **judging)
