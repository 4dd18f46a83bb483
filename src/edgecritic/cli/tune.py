"""``edgecritic tune``: choose thresholds and detectors by measures, for an image or a data set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from edgecritic.cli._options import (
    add_binarize,
    add_cluster,
    add_fresh,
    add_ids,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_seen,
    add_split,
    add_surface,
    add_truth,
)

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "tune",
        help="find the best threshold of detectors by measures",
        description="Sweep the threshold of detectors over one image or many and let measures choose: "
        "supervised with --truth, without it by the statistical complexity of the edge map.",
    )
    parser.add_argument("images", nargs="+", help="image files, volumes, or folders of them")
    add_truth(parser, required=False)
    parser.add_argument("--masks", metavar="FOLDER", help="maps that are on where pixels count")
    add_split(parser)
    add_binarize(parser)
    add_surface(parser)
    what = parser.add_argument_group("algorithm")
    add_ids(
        what,
        "-d",
        "--detectors",
        text="ids of detectors, or folders of saved maps (default: six classical ones)",
    )
    add_ids(what, "-m", "--measures", text="ids such as 'baddeley(k=1)' (default: all)")
    what.add_argument(
        "--thresholds",
        default="101",
        metavar="N|LIST",
        help="how many from 0 to 1 (default: 101), which ones (0.1,0.2,0.4), or 'matlab' for the grids of "
        "the complexity paper",
    )
    what.add_argument(
        "-s", "--strategy", metavar="ID", help="draw ROC and precision-recall curves under this strategy too"
    )
    what.add_argument("--grey", action="store_true", help="use the luminance of colour images")
    add_seen(what)
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_cluster(work)
    add_fresh(work)
    form = parser.add_argument_group("output")
    add_out(form, "figures, tables and the best maps")
    add_json(form)
    add_quiet(form)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the table; return 0 if every image was used, else 1."""
    from edgecritic.cli._output import print_json, progress, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.tuning import write_summary, write_tuning
    from edgecritic.run.tune import tune_folder

    def save(name: str, tuning: Any, image: Any) -> None:
        write_tuning(
            Path(args.out) / name, tuning, image, matching=args.strategy, every=args.measures is not None
        )

    with progress("tuning", unit="image", quiet=args.quiet or args.json) as step:
        found = tune_folder(
            args.images,
            args.truth,
            detectors=args.detectors,
            measures=args.measures,
            thresholds=_thresholds(args.thresholds),
            strategy=args.strategy,
            grey=args.grey,
            split=args.split,
            masks=args.masks,
            binarize=args.binarize,
            surface=args.surface,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            seen=args.seen,
            each=save if args.out else None,
            progress=step,
        )
    summary = found.summary
    if args.out and summary is not None:
        write_summary(args.out, summary)
    if args.json:
        print_json(found.as_dict())
    elif summary is not None:
        one = next(iter(found.images.values())) if len(found.images) == 1 else summary
        print(one.table(terminal_width()))
        if args.out:
            print(f"\nTables, figures and the best maps: {args.out}")
    return tell_failures(found.failures)


def _thresholds(text: str) -> Any:
    from edgecritic.errors import InputError

    if text == "matlab":
        return text
    if text.isdigit():
        return int(text)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--thresholds must be a whole number, numbers such as 0.1,0.2,0.4, or 'matlab', got {text!r}"
        ) from None
