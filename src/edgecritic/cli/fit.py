"""``edgecritic fit``: let a detector learn from photos and people's labels."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edgecritic.cli._options import (
    add_binarize,
    add_cache,
    add_fresh,
    add_jobs,
    add_json,
    add_model_out,
    add_quiet,
    add_split,
    add_truth,
    whole_number,
)

if TYPE_CHECKING:
    from edgecritic.run.fit import Labels
    from edgecritic.run.folds import CrossRun

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "fit",
        help="let a detector learn from photos and labels",
        description="Learn the weights of a detector from photos and truths and write them as a model, which "
        "detect, tune and others take as pb(model='FILE'). What is taken out of each photo is kept beside "
        "the model: a run that was stopped goes on where it was. Photos that cannot be used are reported, "
        "and the command exits with 1.",
    )
    parser.add_argument("detector", help="id of a detector that learns, such as pb")
    parser.add_argument("photos", help="folder of colour photos")
    add_truth(parser)
    add_split(parser)
    add_binarize(parser)
    add_model_out(parser)
    what = parser.add_argument_group("algorithm")
    what.add_argument(
        "--labels",
        default="all",
        metavar="all|consensus|weighted|S",
        help="labels of any annotator (default), of all annotators, of any but weighted by the share of "
        "annotators who drew them, or of at least this strength: 0.6",
    )
    what.add_argument(
        "--weak",
        choices=("negative", "ignore"),
        default="negative",
        help="take the other labels as background (default) or leave them out",
    )
    what.add_argument(
        "--folds",
        type=whole_number(2),
        metavar="K",
        help="cross-validate as well: learn K times without a part of the photos and judge that part; models "
        "and maps go into the folder FILE.folds",
    )
    what.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="of what is drawn (0)")
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_fresh(work)
    add_cache(work)
    form = parser.add_argument_group("output")
    add_json(form)
    add_quiet(form)
    parser.set_defaults(run=run, held=".records")


def run(args: argparse.Namespace) -> int:
    """Write the model; return 0 if every photo was used, else 1."""
    from edgecritic.cli._output import print_json, progress, tell_failures
    from edgecritic.learned import save_model
    from edgecritic.run.fit import Labels, fit_folder

    labels = Labels.parse(args.labels, args.weak)
    with progress("learning", unit="photo", quiet=args.quiet) as step:
        found = fit_folder(
            args.photos,
            args.truth,
            args.detector,
            labels=[labels],
            seed=args.seed,
            split=args.split,
            binarize=args.binarize,
            records=f"{args.out}.records",
            jobs=args.jobs,
            fresh=args.fresh,
            cache=args.cache,
            progress=step,
        )
    (model,) = found.models.values()
    save_model(args.out, model)
    crossed = None if args.folds is None else _crossed(args, labels)
    failures = list(dict.fromkeys([*found.failures, *(crossed.failures if crossed else ())]))
    if args.json:
        more = {} if crossed is None else {"cross_validation": crossed.as_dict()}
        print_json({**found.as_dict(), **more})
    else:
        print(model)
        print(f"Model: {args.out}")
        if crossed is not None:
            print(f"{crossed}\nMaps: {args.out}.folds/maps")
    return tell_failures(failures)


def _crossed(args: argparse.Namespace, labels: Labels) -> CrossRun:
    from edgecritic.cli._output import progress
    from edgecritic.run.folds import cross_validate

    with progress("cross-validating", unit="photo", quiet=args.quiet) as step:
        return cross_validate(
            args.photos,
            args.truth,
            args.detector,
            folds=args.folds,
            out=f"{args.out}.folds",
            labels=labels,
            seed=args.seed,
            split=args.split,
            binarize=args.binarize,
            jobs=args.jobs,
            fresh=args.fresh,
            cache=args.cache,
            progress=step,
        )
