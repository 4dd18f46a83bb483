"""``edgecritic report``: the report of finished runs, drawn anew or put together, without judging again."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from edgecritic.cli._options import add_json, add_out, add_quiet, read_named, whole_number
from edgecritic.cli._shown import add_curves, add_follow, shown_curves

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Draw the report of a finished benchmark run anew, or put several runs together: one leaderboard, with paired
tests from the counts that the runs kept. Nothing is judged again, only the folders of the runs are needed.
Runs whose protocols, images or truths differ are refused with the reason.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "report",
        help="the report of finished runs, put together without judging again",
        description=_DESCRIPTION,
        epilog="Example: edgecritic report run-a run-b --out both --published; of a run that goes on: "
        "edgecritic report run --follow",
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="[NAME=]RUN",
        help="the folder --out of edgecritic bench; names tell detectors of one name apart",
    )
    parser.add_argument("--common", action="store_true", help="compare on the images that all detectors have")
    parser.add_argument("--oracle", action="store_true", help="add the upper bound over all predictions")
    parser.add_argument(
        "--bootstrap",
        type=whole_number(0),
        metavar="N",
        help="draws for confidence intervals, 0 for none (default: as the runs say)",
    )
    add_follow(parser)
    add_curves(parser)
    add_out(parser, "results and report, of one run into its own folder if not given,")
    add_json(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import complain, print_json, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.cores import usable_cores
    from edgecritic.report.benchmark.leaderboard import leaderboard_text
    from edgecritic.report.beside import artist_beside
    from edgecritic.report.join import follow_runs, write_joined
    from edgecritic.run.finished import join_runs, load_run
    from edgecritic.run.lock import hold_folder

    places = read_named(args.runs, what="run")
    out = args.out or (next(iter(places.values())) if len(places) == 1 else None)
    options = {"common": args.common, "oracle": args.oracle}
    if args.follow is not None:
        from edgecritic.errors import InputError

        if out is None:
            raise InputError("where the page is to be written is not told", remedy="add --out FOLDER")
        say = None if args.quiet or args.json else complain
        follow_runs(places, out, every=args.follow, options=options, tell=say)
    with artist_beside(out is not None and usable_cores() > 1) as artist:
        runs = {name: load_run(place) for name, place in places.items()}
        curves, told = shown_curves(args, next(iter(runs.values())).plan.protocol)
        joined = join_runs(runs, draws=args.bootstrap, curves=curves, **options)
        if out is not None:
            with nullcontext() if args.out else hold_folder(out, args.parser.prog, wait=args.wait):
                write_joined(out, joined, artist=artist)
    if args.json:
        print_json(joined.as_dict())
    else:
        print(leaderboard_text(joined.results, width=terminal_width() or 100))
        if out is not None:
            print(f"Report: {report_page(Path(out))}")
    for note in told:
        complain(f"warning: {note}")
    return tell_failures(joined.failures)
