"""``edgecritic consensus``: a truth estimated from the maps of several detectors."""

from __future__ import annotations

import argparse
from typing import Any

from edgecritic.cli._options import add_jobs, add_json, add_out, add_quiet

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Estimate the truth of every image from the maps of several detectors, or of one with several parameters: the
pixels that enough of them have set (Yitzhaky and Peli), or the map that is most central among them
(Fernandez-Garcia and others). The folders are ranked by their agreement with the estimate, and by edge
coherence (Kitchen and Rosenfeld), which needs no estimate. What all maps miss, the estimate misses.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "consensus",
        help="estimate a truth from the maps of several detectors",
        description=_DESCRIPTION,
    )
    parser.add_argument(
        "maps", nargs="+", metavar="[NAME=]FOLDER", help="folders of maps of the same images, two or more"
    )
    parser.add_argument(
        "--method",
        choices=("chi2", "roc", "minimean", "minimax"),
        default="chi2",
        help="how many votes are enough: largest χ² (default), or nearest to the diagnosis line of the ROC; "
        "or the map with the least mean, or least largest, distance to the others",
    )
    parser.add_argument(
        "--distance",
        default="baddeley",
        metavar="ID",
        help="dissimilarity for minimean and minimax (baddeley)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="PX",
        help="for chi2 and roc: pixels that are matched one to one within so many pixels vote together "
        "(default: the same pixel)",
    )
    parser.add_argument("--threshold", type=float, default=0.5, metavar="T", help="cut soft maps at T (0.5)")
    output = parser.add_argument_group("output")
    add_out(output, "the estimated truths (folder truth), results and tables")
    add_json(output)
    add_quiet(output)
    add_jobs(parser.add_argument_group("work"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._options import read_named
    from edgecritic.cli._output import print_json, progress, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.consensus import consensus_report
    from edgecritic.report.text import report_text
    from edgecritic.report.write import write_report
    from edgecritic.run.consensus import run_consensus

    with progress("voting", unit="image", quiet=args.quiet) as step:
        found = run_consensus(
            read_named(args.maps),
            method=args.method,
            distance=args.distance,
            threshold=args.threshold,
            tolerance=args.tolerance,
            out=args.out,
            jobs=args.jobs,
            progress=step,
        )
    report = consensus_report(found)
    if args.out is not None:
        write_report(args.out, report, found.as_dict(), name="consensus")
    if args.json:
        print_json(found.as_dict())
    else:
        print(report_text(report, width=terminal_width()))
        if args.out is not None:
            print(f"\nReport: {report_page(args.out)}\nTruths: {args.out}/truth")
    return tell_failures(found.failures)
