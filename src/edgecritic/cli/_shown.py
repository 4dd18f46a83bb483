"""Options of ``edgecritic bench`` and ``edgecritic report`` for what is shown, and when."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import read_named, whole_number

if TYPE_CHECKING:
    from edgecritic.protocols.protocol import Protocol

__all__ = ["add_curves", "add_follow", "followed", "shown_curves"]


def add_curves(group: argparse._ActionsContainer) -> None:
    """Add the curves of others."""
    group.add_argument(
        "--curve",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="draw a curve of your own (eval_bdry_thr.txt) as well",
    )
    group.add_argument(
        "--published",
        nargs="?",
        const="auto",
        metavar="SET[:NAME,…]|FILE.json",
        help="show published curves of other methods as well, of bsds500, nyud or a file of yours; without "
        "a value those with the protocol's tolerance; see edgecritic list published",
    )


def add_follow(group: argparse._ActionsContainer) -> None:
    """Add the choice to see a report that grows."""
    group.add_argument(
        "--follow",
        nargs="?",
        type=whole_number(1),
        const=10,
        metavar="SECONDS",
        help="write the page of the report again while the work goes on (default: every 10 seconds)",
    )


def shown_curves(args: argparse.Namespace, protocol: Protocol) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the curves that were asked for as ``results.json`` keeps them, and what must be said of them."""
    curves: list[dict[str, Any]] = []
    if args.curve:
        from edgecritic.report.bench import read_curves

        curves = read_curves(read_named(args.curve, must_name=True))
    if args.published is None:
        return curves, []
    from edgecritic.run.published import find_published

    others, told = find_published(args.published, protocol)
    return [*curves, *(one.for_results(protocol.ap_rule) for one in others)], told


@contextmanager
def followed(args: argparse.Namespace) -> Iterator[None]:
    """Let the report of the run in ``--out`` grow beside the work, if that is asked for."""
    if args.follow is None:
        yield
        return
    from edgecritic.errors import InputError
    from edgecritic.report.join import follow_runs

    if args.out is None:
        raise InputError("--follow needs a place for the report", remedy="add --out FOLDER")
    ended = threading.Event()
    options: dict[str, Any] = {"every": float(args.follow), "stop": ended.wait}
    watcher = threading.Thread(
        target=follow_runs, args=({"this run": args.out}, args.out), kwargs=options, daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
