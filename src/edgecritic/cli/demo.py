"""``edgecritic demo``: the whole tool on generated data, without any download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import add_fresh, add_jobs, add_out

if TYPE_CHECKING:
    from edgecritic.tuning.summary import TuningSummary

__all__ = ["add_parser", "run"]

MEASURES = ("sk", "psi", "fom", "f", "baddeley", "hausdorff")
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import progress, report_page
    from edgecritic.cli._wide import terminal_width
    from edgecritic.datasets.synthetic import write
    from edgecritic.errors import InputError
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
    with progress("judging", unit="image") as step:
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
    summary, figures = _tune(data, home / "tuning", args.jobs)
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
    from edgecritic.cli._images import load_image
    from edgecritic.datasets.write import write_map
    from edgecritic.detectors import detect
    from edgecritic.detectors.base import detectors
    from edgecritic.run.executor import run_tasks

    def one(task: tuple[str, Path]) -> None:
        name, path = task
        write_map(data / "edges" / name / path.name, detect(name, load_image(path, grey=False)[0]).thin)

    images = sorted((data / "images").glob("synthetic-*.png"))
    names = [entry.name for entry in detectors if 2 in entry.info.ndim]
    for _ in run_tasks(one, [(name, path) for name in names for path in images], jobs=jobs):
        pass
    return {name: data / "edges" / name for name in names}


def _tune(data: Path, out: Path, jobs: int | None) -> tuple[TuningSummary, dict[str, Path]]:
    """Tune all detectors on all scenes; return the best values, and figures by their captions."""
    from edgecritic.cli._images import load_image
    from edgecritic.datasets.files import read_truths
    from edgecritic.detectors.base import detectors
    from edgecritic.report.tuning import write_summary, write_tuning
    from edgecritic.run.executor import run_tasks
    from edgecritic.tuning.result import Tuning
    from edgecritic.tuning.summary import summarise_tunings
    from edgecritic.tuning.tune import tune

    names = [entry.name for entry in detectors if 2 in entry.info.ndim]
    images = sorted((data / "images").glob("synthetic-*.png"))

    def one(path: Path) -> tuple[str, Tuning]:
        image, kind = load_image(path, grey=False)
        truths = read_truths(data / "truth" / f"{path.stem}.mat")
        options: dict[str, Any] = {"detectors": names, "measures": MEASURES, "thresholds": THRESHOLDS}
        return path.stem, tune(image, truths, kind=kind, **options)

    found = dict(run_tasks(one, images, jobs=jobs))
    summary = summarise_tunings({path.stem: found[path.stem] for path in images})
    write_summary(out, summary)
    shown = images[min(2, len(images) - 1)]
    write_tuning(out / shown.stem, found[shown.stem], load_image(shown, grey=False)[0])
    return summary, {
        f"Best maps of {shown.stem} by measure and detector": out / shown.stem / "montage.png",
        f"Measures over the thresholds, {shown.stem}": out / shown.stem / "curves.png",
        "Best values over all scenes": out / "boxes.png",
    }
