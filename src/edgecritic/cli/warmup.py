"""``edgecritic warmup``: compile all kernels now, so that no later command has to."""

from __future__ import annotations

import argparse

from edgecritic.cli._options import add_jobs, add_json, add_quiet

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "warmup",
        help="compile everything once and say how long it took",
        description="Run every compiled part once on a tiny input. The machine code is kept on disk, so that "
        "later commands start at once; useful after an installation and when building containers.",
    )
    add_jobs(parser, "parts")
    add_json(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compile and print the seconds of every part and of all."""
    import time

    from edgecritic.cli._output import print_json, progress
    from edgecritic.tables import cell_text, text_table

    begin = time.perf_counter()
    from edgecritic.run.warmup import warm_up

    with progress("compiling", unit="part", quiet=args.quiet) as step:
        parts = warm_up(progress=step, jobs=args.jobs)
    total = time.perf_counter() - begin
    if args.json:
        timed = [{"name": part.name, "seconds": part.seconds, "skipped": part.skipped} for part in parts]
        print_json({"parts": timed, "seconds": total})
        return 0
    rows = [[part.name, cell_text(part.seconds, 2), part.skipped] for part in parts]
    rows.append(["total, with loading", cell_text(total, 2), ""])
    print(text_table(rows, ["part", "seconds", ""], align="lrl"))
    return 0
