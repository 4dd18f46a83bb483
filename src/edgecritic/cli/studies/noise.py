"""``edgecritic study noise``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_ids, read_numbers, whole_number
from edgecritic.cli.studies._common import add_output, add_work, bar, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "noise"
PAPER = "Abdulrahman, Magnier, Montesinos 2017"
TEXT = "which detector finds shapes in noise, and which measures say so?"
FIGURES, NEEDS, MINUTES = "Figs. 5, 7 and 8", "none (generated shapes)", "1 / –"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    parser.add_argument(
        "--snr",
        default="0,2,3.3,4,6,10",
        metavar="LIST",
        help="signal-to-noise ratios in dB (0,2,3.3,4,6,10)",
    )
    parser.add_argument("--scenes", type=whole_number(1), default=3, metavar="N", help="per ratio (3)")
    add_ids(parser, "-d", "--detectors", text="default: all, at stated scales")
    add_ids(parser, "-m", "--measures", text="default: all without matching")
    parser.add_argument(
        "--thresholds", type=whole_number(2), default=51, metavar="N", help="to choose from (51)"
    )
    add_output(parser)
    add_work(parser)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.noise import noise_report
    from edgecritic.run.executor import run_tasks
    from edgecritic.studies.noise import DETECTORS, combine, noise_tasks, noise_trial

    tasks = noise_tasks(
        detectors=args.detectors or DETECTORS,
        measures=args.measures,
        ratios=read_numbers(args.snr, "--snr"),
        seeds=args.scenes,
        thresholds=args.thresholds,
    )
    with bar(args, "judging", "scene") as step:
        trials = run_tasks(noise_trial, tasks, jobs=args.jobs, cluster=args.cluster, progress=step)
        study = combine(trials)
    report = noise_report(study, figure=args.out is not None)
    return finish(args, report, study.as_dict())
