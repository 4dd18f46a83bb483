"""What the studies share: options, generated data, and how they end."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
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
)

__all__ = ["add_data", "add_output", "add_work", "bar", "cases_of", "finish", "home_of"]


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add where a data set with several annotators is; without it one is generated."""
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        help="a data set with several annotators per image, such as the folder of BSDS500",
    )
    add_split(parser)
    parser.add_argument("--images", metavar="FOLDER", help="photos, if they are not beside the truths")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add where results go."""
    output = parser.add_argument_group("output")
    add_out(output, "results, figures and report")
    add_json(output)
    add_quiet(output)


def add_work(parser: argparse.ArgumentParser, *, kept: bool = False, cache: bool = False) -> None:
    """Add where the work is done; `kept` if finished work is kept in ``--out``, `cache` if across runs."""
    work = parser.add_argument_group("work")
    add_jobs(work, "tasks")
    add_cluster(work)
    if kept:
        add_fresh(work)
    if cache:
        add_cache(work)


def bar(args: argparse.Namespace, text: str, unit: str) -> AbstractContextManager[Any]:
    """Show how far the work is."""
    from edgecritic.cli._output import progress

    return progress(text, unit=unit, quiet=args.quiet)


@contextmanager
def home_of(args: argparse.Namespace) -> Iterator[tuple[Path, Path | None, Path]]:
    """Give the truths, the photos and a folder for results; generate a data set where none is given."""
    import tempfile

    from edgecritic.datasets.synthetic import write

    with tempfile.TemporaryDirectory() as spare:
        out = Path(spare) / "out" if args.out is None else Path(args.out)
        if args.data is not None:
            yield Path(args.data), None if args.images is None else Path(args.images), out
        else:
            home = write((Path(spare) if args.out is None else out) / "data", 8)
            yield home / "truth", home / "images", out


@contextmanager
def cases_of(args: argparse.Namespace) -> Iterator[list[Any]]:
    """Give the images of the data set."""
    from edgecritic.datasets.cases import find_cases

    with home_of(args) as (truth, photos, _):
        found = find_cases(
            None,
            truth.absolute(),
            images=None if photos is None else photos.absolute(),
            split=args.split,
        )
        yield list(found.cases)


def finish(
    args: argparse.Namespace,
    report: Any,
    results: dict[str, Any],
    failures: Iterable[object] = (),
    timed: tuple[Any, dict[str, Any]] | None = None,
) -> int:
    """Print the study and write its files; what was timed goes into the folder ``times``.

    Times differ from run to run: apart from that folder the same input gives the same bytes.
    """
    from edgecritic.cli._output import print_json, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.text import report_text
    from edgecritic.report.write import write_report

    if args.out is not None:
        write_report(args.out, report, results, name=args.study)
        if timed is not None:
            write_report(Path(args.out) / "times", timed[0], timed[1], name="times")
    if args.json:
        print_json(results | (timed[1] if timed else {}))
    else:
        print(report_text(report, width=terminal_width()))
        if timed is not None:
            print(f"\n{report_text(timed[0], width=terminal_width())}")
        if args.out is not None:
            print(f"\nReport: {report_page(args.out)}")
    return tell_failures(failures)
