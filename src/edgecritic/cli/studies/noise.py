"""``edgecritic study noise``."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_ids, read_numbers, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, cases_of, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "noise"
PAPER = "Abdulrahman, Magnier, Montesinos 2017"
TEXT = "which detector finds edges in noise or blur, and which measures say so?"
FIGURES, NEEDS, MINUTES = "Figs. 5, 7 and 8", "none (generated shapes); photos with truths", "1 / 60"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--most", type=whole_number(1), default=3, metavar="N", help="only the first N photos (3)"
    )
    parser.add_argument(
        "--own",
        metavar="FOLDER",
        help="semi-automatic truths of the photos (default: a simulated editor follows those of --data)",
    )
    levels = parser.add_mutually_exclusive_group()
    levels.add_argument(
        "--snr",
        default="0,2,3.3,4,6,10",
        metavar="LIST",
        help="signal-to-noise ratios in dB (0,2,3.3,4,6,10)",
    )
    levels.add_argument("--blur", metavar="LIST", help="blur of these σ in pixels, in place of noise")
    parser.add_argument("--scenes", type=whole_number(1), default=3, metavar="N", help="per level (3)")
    add_ids(parser, "-d", "--detectors", text="default: all, at stated scales")
    add_ids(parser, "-m", "--measures", text="default: all without matching")
    parser.add_argument(
        "--thresholds", type=whole_number(2), default=51, metavar="N", help="to choose from (51)"
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.noise import noise_report
    from edgecritic.run.noise import photo_scenes, run_noise
    from edgecritic.studies.noise import combine
    from edgecritic.studies.noise_scenes import DETECTORS, Kind, noise_tasks

    photos = {}
    if args.data is not None:
        with cases_of(args) as cases:
            photos = photo_scenes(cases[: args.most], own=args.own)
    kind: Kind = "noise" if args.blur is None else "blur"
    tasks = noise_tasks(
        detectors=args.detectors or DETECTORS,
        measures=args.measures,
        ratios=read_numbers(args.snr, "--snr") if kind == "noise" else read_numbers(args.blur, "--blur"),
        seeds=args.scenes,
        thresholds=args.thresholds,
        kind=kind,
        photos=list(photos.values()),
    )
    with bar(args, "judging", "scene") as step:
        trials = run_noise(
            tasks, out=args.out, jobs=args.jobs, cluster=args.cluster, fresh=args.fresh, progress=step
        )
        study = combine(trials, kind=kind, photos=tuple(photos))
    report = noise_report(study, figure=args.out is not None, tasks=tasks)
    return finish(args, report, study.as_dict())
