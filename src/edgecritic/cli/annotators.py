"""``edgecritic annotators``: how far the annotators of a data set agree."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Weigh every label by the share of the annotators who drew it (exact matching of every two maps): orphan and
consensus labels, agreement between annotators, human level, with figures.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "annotators",
        help="strength of labels, agreement and human level of a data set",
        description=_DESCRIPTION,
    )
    parser.add_argument("truth", metavar="TRUTH", help="truths with several annotators, in any known layout")
    parser.add_argument("--split", metavar="NAME", help="which split of a data set (default: all)")
    parser.add_argument("--images", metavar="FOLDER", help="photos, shown faintly below the labels")
    reach = parser.add_mutually_exclusive_group()
    reach.add_argument("--tolerance", type=float, metavar="PIXELS", help="largest distance of a match")
    reach.add_argument(
        "--relative-tolerance",
        type=float,
        metavar="SHARE",
        help="the same as a share of the diagonal (.0075)",
    )
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--out", metavar="DIR", help="where results, tables and report are written")
    output.add_argument("--json", action="store_true", help="print one JSON document instead of the tables")
    work = parser.add_argument_group("work")
    work.add_argument("-j", "--jobs", type=int, metavar="N", help="images at a time (default: all cores)")
    work.add_argument("--cluster", metavar="tcp://HOST:PORT", help="run on the workers of a Dask scheduler")
    work.add_argument("--fresh", action="store_true", help="compute everything anew")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import print_json, progress
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.annotators import annotators_document, write_annotators
    from edgecritic.report.document import document_text
    from edgecritic.run.annotators import run_annotators

    with progress("weighing", unit="image") as step:
        finished = run_annotators(
            args.truth,
            tolerance=args.tolerance,
            relative_tolerance=args.relative_tolerance,
            split=args.split,
            images=args.images,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            progress=step,
        )
    if args.out is not None:
        write_annotators(args.out, finished)
    if args.json:
        print_json(finished.results)
    else:
        document = annotators_document(finished, pictures=False)
        few = [table for table in document.tables if table.name != "images"]
        from dataclasses import replace

        print(document_text(replace(document, tables=tuple(few)), width=terminal_width()))
        if args.out is not None:
            print(f"\nReport: {Path(args.out) / 'report.html'}")
    for failure in finished.results["failures"]:
        sys.stderr.write(f"edgecritic: {failure['id']}: {' '.join(failure['message'].split())}\n")
    return 1 if finished.failed else 0
