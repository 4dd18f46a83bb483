"""``edgecritic demo``: the whole tool on generated data, without any download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "demo",
        help="show what EdgeCritic does, on generated data",
        description="Generate a small data set with five simulated annotators, judge simulated detectors "
        "on it and leave a report.",
    )
    parser.add_argument("-o", "--out", default="demo", metavar="DIR", help="default: demo")
    parser.add_argument("--images", type=int, default=8, metavar="N", help="default: 8")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="images at a time (default: all cores)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import progress
    from edgecritic.datasets.synthetic import write
    from edgecritic.errors import InputError
    from edgecritic.report.bench import write_run
    from edgecritic.report.tables import terminal_table
    from edgecritic.run.bench import run_bench

    if args.images < 2:
        raise InputError(f"--images must be at least 2, got {args.images}")
    home = Path(args.out)
    print(f"Generating {args.images} scenes with five annotators in {home / 'data'}")
    write(home / "data", args.images, seed=args.seed)
    folders: dict[str, str | Path] = {
        path.name: path for path in sorted((home / "data" / "predictions").iterdir())
    }
    print(f"Judging {len(folders)} detectors (the first run compiles the kernels)\n")
    with progress("judging", unit="image") as step:
        finished = run_bench(
            folders,
            home / "data" / "truth",
            images=home / "data" / "images",
            extras=("crispness", "ceval", "tolerances"),
            out=home,
            jobs=args.jobs,
            progress=step,
        )
    write_run(home, finished)
    print(terminal_table(finished.results))
    print(f"\nOpen {home / 'report.html'} in a browser. The same by hand:")
    print(f"  edgecritic bench {' '.join(map(str, folders.values()))} \\")
    print(f"    --truth {home / 'data' / 'truth'} --also all --out {home}")
    return 1 if finished.failed else 0
