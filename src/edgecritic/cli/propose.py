"""``edgecritic propose``: semi-automatic truths of photos, with lists of edits that can be replayed."""

from __future__ import annotations

import argparse
from pathlib import Path

from edgecritic.cli._options import add_jobs, add_json, add_out, add_quiet, whole_number

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "propose",
        help="propose truths of photos and apply lists of edits",
        description="Write the crests of central differences [−1 0 1] as a truth to begin with, and apply "
        "edits: those of the studio (--edits), lists of pixels (--accept, --delete, --add), or those of a "
        "simulated editor who follows a hand-made truth (--like). For every photo maps/NAME.png and "
        "edits/NAME.json are written; the edits can be replayed with --edits.",
    )
    parser.add_argument("images", nargs="+", help="photos, or folders of them")
    add_out(parser, "truths and edits", required=True)
    what = parser.add_argument_group("edits")
    what.add_argument(
        "--level",
        type=whole_number(1),
        metavar="N",
        help="threshold of the crests, 1 (all) to 256 (none): 255·√(share of the strongest) (default: chosen "
        "so that at most 5 %% of the pixels are on)",
    )
    what.add_argument("--edits", metavar="PLACE", help="a list of edits (.json), or a folder of NAME.json")
    what.add_argument("--accept", metavar="FOLDER", help="maps of the pixels that are kept of the proposal")
    what.add_argument("--delete", metavar="FOLDER", help="maps of the pixels that are taken away")
    what.add_argument("--add", metavar="FOLDER", help="maps of the pixels that are added")
    what.add_argument("--like", metavar="FOLDER", help="hand-made truths that a simulated editor follows")
    what.add_argument(
        "--radius", type=float, default=3.0, metavar="PX", help="how far the simulated editor looks (3)"
    )
    form = parser.add_argument_group("output")
    add_json(form)
    add_quiet(form)
    add_jobs(parser.add_argument_group("work"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the truths; return 0 if every photo was used, else 1."""
    from edgecritic.cli._output import print_json, progress, tell_failures
    from edgecritic.errors import InputError
    from edgecritic.run.propose import propose_folder
    from edgecritic.tables import text_table

    if args.level is not None and args.level > 256:
        raise InputError(f"--level is at most 256, got {args.level}")
    with progress("proposing", unit="photo", quiet=args.quiet) as step:
        found = propose_folder(
            args.images,
            args.out,
            level=args.level,
            edits=args.edits,
            accept=args.accept,
            delete=args.delete,
            add=args.add,
            like=args.like,
            radius=args.radius,
            jobs=args.jobs,
            progress=step,
        )
    if args.json:
        print_json(found.as_dict())
    elif found.images:
        rows = [
            [Path(one.image).name, *map(str, (one.level, one.proposed, one.deleted, one.added, one.pixels))]
            for one in found.images
        ]
        print(text_table(rows, ["photo", "level", "proposed", "deleted", "added", "truth"], align="lr"))
        print(f"\nTruths: {Path(args.out) / 'maps'}; edits: {Path(args.out) / 'edits'}")
    return tell_failures(found.failures)
