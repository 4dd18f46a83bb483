"""``edgecritic annotators``: how far the annotators of a data set agree."""

from __future__ import annotations

import argparse
from typing import Any

from edgecritic.cli._options import (
    add_cache,
    add_cluster,
    add_fresh,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_split,
    add_surface,
    add_tolerance,
)

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
    add_split(parser)
    parser.add_argument("--images", metavar="FOLDER", help="photos, shown faintly below the labels")
    add_tolerance(parser)
    add_surface(parser)
    output = parser.add_argument_group("output")
    add_out(output, "results, tables and report")
    output.add_argument(
        "--write",
        nargs="+",
        default=[],
        metavar="consensus|orphans|S|k=N",
        help="also write these labels as truth files into folders below --out: those that all annotators "
        "drew, that one drew, of at least the strength S, or that at least N annotators drew",
    )
    add_json(output)
    add_quiet(output)
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_cluster(work)
    add_fresh(work)
    add_cache(work)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import print_json, progress, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.errors import InputError
    from edgecritic.report.annotators import annotators_report, write_annotators
    from edgecritic.report.text import report_text
    from edgecritic.run.annotators import run_annotators
    from edgecritic.run.strong_labels import Kept, write_labels

    kept = [Kept.parse(one) for one in args.write]
    if kept and args.out is None:
        raise InputError("--write needs a folder to write into: give --out")
    with progress("weighing", unit="image", quiet=args.quiet) as step:
        finished = run_annotators(
            args.truth,
            tolerance=args.tolerance,
            relative_tolerance=args.relative_tolerance,
            surface=args.surface,
            split=args.split,
            images=args.images,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            cache=args.cache,
            progress=step,
        )
    failures = list(finished.failures)
    folders: list[str] = []
    if args.out is not None:
        write_annotators(args.out, finished)
        with progress("writing", unit="file", quiet=args.quiet or not kept) as step:
            written = write_labels(
                finished,
                kept,
                args.out,
                jobs=args.jobs,
                cluster=args.cluster,
                cache=args.cache,
                progress=step,
            )
        failures += written.failures
        folders = [
            f"{written.folders[name]} ({count} images, {written.left_out[name]} with too few annotators)"
            for name, count in written.files.items()
        ]
    if args.json:
        print_json(finished.as_dict())
    else:
        print(report_text(annotators_report(finished, pictures=False), width=terminal_width()))
        if args.out is not None:
            print(f"\nReport: {report_page(args.out)}")
        for line in folders:
            print(f"Truths: {line}")
    return tell_failures(failures)
