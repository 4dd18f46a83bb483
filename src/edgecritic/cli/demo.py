"""``edgecritic demo``: the whole tool on generated data, without any download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import add_fresh, add_jobs, add_out, add_quiet
from edgecritic.errors import DataError, InputError

if TYPE_CHECKING:
    from edgecritic.tuning.result import Tuning
    from edgecritic.tuning.summary import TuningSummary

__all__ = ["add_parser", "run"]

MEASURES = ("sk", "psi", "fom_star", "f_star", "baddeley", "hausdorff")
THRESHOLDS = 41


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "demo",
        help="show what EdgeCritic does, on generated data",
        description="Generate a small data set with five simulated annotators, run all detectors on it, "
        "judge them (bench), find their best thresholds (tune) and leave one report.",
    )
    add_out(parser, "all", default="demo")
    parser.add_argument("--scenes", type=int, default=8, metavar="N", help="how many are drawn (default: 8)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random scenes (default: 0)")
    add_jobs(parser)
    add_fresh(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import progress, report_page
    from edgecritic.cli._wide import terminal_width
    from edgecritic.datasets.synthetic import write
    from edgecritic.report.bench import write_run
    from edgecritic.report.benchmark.leaderboard import leaderboard_text
    from edgecritic.report.tuning import tuning_section
    from edgecritic.run.bench import run_bench

    if args.scenes < 2:
        raise InputError(f"--scenes must be at least 2, got {args.scenes}")
    if args.seed < 0:
        raise InputError(f"--seed must be at least 0, got {args.seed}")
    home, data = Path(args.out), Path(args.out) / "data"
    print(f"1. Drawing {args.scenes} scenes, each with the edges of five annotators: {data}")
    write(data, args.scenes, seed=args.seed, detectors=())
    _forget_other_scenes(data, args.scenes)
    folders = _detect(data, args.jobs)
    print(f"2. Found their edges with {len(folders)} detectors: {data / 'edges'}")
    print("3. Judging them as boundary benchmarks do (the first run compiles the kernels)")
    with progress("judging", unit="image", quiet=args.quiet) as step:
        finished = run_bench(
            folders,
            data / "truth",
            images=data / "images",
            extras=("tolerances",),
            out=home,
            jobs=args.jobs,
            fresh=args.fresh,
            progress=step,
        )
    print(f"4. Letting measures choose the best thresholds: {home / 'tuning'}\n")
    summary, figures = _tune(data, home / "tuning", args)
    write_run(home, finished, more=[(70, tuning_section(summary, figures))])
    width = terminal_width()
    print(f"{leaderboard_text(finished.results, width=width or 100)}\n{summary.table(width)}")
    print(f"\nOpen {report_page(home)} in a browser. The same by hand:")
    print(f"  edgecritic detect sobel {data / 'images'} --thin -o {data / 'edges' / 'sobel'}")
    places = f"--truth {data / 'truth'} --images {data / 'images'}"
    print(f"  edgecritic bench {data / 'edges'}/* {places} --out {home}")
    print(f"  edgecritic tune {data / 'images'} --truth {data / 'truth'} --out {home / 'tuning'}")
    print("  edgecritic study noise --out noise     who finds edges in noise?")
    return 1 if finished.failed else 0


def _forget_other_scenes(data: Path, scenes: int) -> None:
    """Remove the scenes that an earlier demo with more of them left: they would be judged as well."""
    for folder in ("images", "truth", "edges/*"):
        for path in data.glob(f"{folder}/synthetic-*"):
            number = path.stem.removeprefix("synthetic-")
            if number.isdecimal() and int(number) > scenes:
                path.unlink()


def _detect(data: Path, jobs: int | None) -> dict[str, str | Path]:
    """Write the crests that every detector finds, as folders that ``bench`` reads."""
    from edgecritic.run.detect import detect_folder

    places: dict[str, str | Path] = {name: data / "edges" / name for name in _detectors()}
    for name, place in places.items():
        detect_folder(data / "images", name, place, thin=True, jobs=jobs)
    return places


def _tune(data: Path, out: Path, args: argparse.Namespace) -> tuple[TuningSummary, dict[str, Path]]:
    """Tune all detectors on all scenes; return the best values, and figures by their captions."""
    from edgecritic.report.tuning import write_summary, write_tuning
    from edgecritic.run.tune import tune_folder

    shown = f"synthetic-{min(3, args.scenes)}"

    def save(name: str, tuning: Tuning, image: Any) -> None:
        if name == shown:
            write_tuning(out / name, tuning, image)

    found = tune_folder(
        data / "images",
        data / "truth",
        detectors=_detectors(),
        measures=MEASURES,
        thresholds=THRESHOLDS,
        out=out,
        jobs=args.jobs,
        fresh=args.fresh,
        each=save,
    )
    summary = found.summary
    if summary is None:
        raise DataError(f"no scene could be tuned: {found.failures[0]}")
    write_summary(out, summary)
    return summary, {
        f"Best maps of {shown} by measure and detector": out / shown / "montage.png",
        f"Measures over the thresholds, {shown}": out / shown / "curves.png",
        "Best values over all scenes": out / "boxes.png",
    }


def _detectors() -> list[str]:
    from edgecritic.detectors.base import detectors

    return [entry.name for entry in detectors if 2 in entry.info.ndim]
