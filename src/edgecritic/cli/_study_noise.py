"""``edgecritic study noise``: which detector finds shapes in noise, and which measures say so."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the study."""
    parser = subparsers.add_parser(
        "noise",
        help="all detectors on shapes in noise, judged by all measures",
        description="Draw white shapes with a known truth in noise of several levels, run all detectors, let "
        "every measure choose its best threshold, and say who wins.",
    )
    what = parser.add_argument_group("experiment")
    what.add_argument("--snr", type=float, nargs="+", metavar="DB", help="default: 0 2 3.3 4 6 10")
    what.add_argument("--scenes", type=int, default=3, metavar="N", help="scenes per level (default: 3)")
    what.add_argument("-d", "--detectors", nargs="+", metavar="ID", help="default: all, at stated scales")
    what.add_argument("-m", "--measures", nargs="+", metavar="ID", help="default: all without matching")
    what.add_argument("--thresholds", type=int, default=51, metavar="N", help="default: 51")
    form = parser.add_argument_group("output")
    form.add_argument("-o", "--out", metavar="DIR", help="folder for noise.png, noise.csv and noise.txt")
    form.add_argument("-j", "--jobs", type=int, metavar="N", help="scenes at a time (default: all cores)")
    form.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print tables and findings; write them and the figure into a folder."""
    from edgecritic.cli._output import print_json, progress
    from edgecritic.run.executor import run_tasks
    from edgecritic.studies.noise import DETECTORS, RATIOS, combine, noise_tasks, noise_trial

    tasks = noise_tasks(
        detectors=args.detectors or DETECTORS,
        measures=args.measures,
        ratios=args.snr or RATIOS,
        seeds=args.scenes,
        thresholds=args.thresholds,
    )
    with progress("judging", unit="scene") as step:
        found = combine(run_tasks(noise_trial, tasks, jobs=args.jobs, progress=step))
    findings = "\n".join(f"- {line}" for line in found.findings())
    if args.json:
        print_json(found.as_dict())
    else:
        print(f"{found}\n\n{findings}")
    if args.out:
        from edgecritic.report.noise import write_noise

        written = write_noise(found, args.out)
        if not args.json:
            print("\nwritten: " + ", ".join(map(str, written)))
    return 0
