"""``edgecritic bench``: the boundary benchmark over folders."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import (
    add_cluster,
    add_data_options,
    add_fresh,
    add_jobs,
    add_json,
    add_out,
    add_truth,
    read_numbers,
)

if TYPE_CHECKING:
    from edgecritic.protocols.presets import Protocol

__all__ = ["add_parser", "run"]

_SHOWN = 5

_DESCRIPTION = """\
Judge folders of predictions against a folder of truths: ODS, OIS, AP with confidence intervals under a named
protocol. Files belong together by name. A run that was interrupted goes on where it was when it is started
again with the same --out.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "bench",
        help="ODS, OIS and AP of detectors over a data set, with a report",
        description=_DESCRIPTION,
        epilog="Example: edgecritic bench mine=results --truth BSDS500 --protocol pdollar --nms hed -o run",
    )
    parser.add_argument(
        "predictions",
        nargs="+",
        metavar="[NAME=]FOLDER",
        help="predictions of a detector, one file per image; several folders are compared",
    )
    add_truth(parser)
    judge = parser.add_argument_group("how to judge")
    judge.add_argument(
        "--protocol",
        default="bsds",
        metavar="ID|FILE.toml",
        help="see edgecritic list protocols (default: bsds)",
    )
    judge.add_argument(
        "--nms",
        metavar="RECIPE",
        help="suppress non-maxima by this recipe in place of the protocol's, such as hed, rcf or none; "
        "see edgecritic list recipes",
    )
    judge.add_argument(
        "--also",
        default="crispness",
        metavar="LIST",
        help="measure as well, comma-separated: crispness, ceval, tolerances, all or none "
        "(default: crispness)",
    )
    judge.add_argument(
        "--strength",
        metavar="LIST",
        help="judge as well on labels of at least these perceptual strengths, such as 0,.2,.4,.6,.8,1",
    )
    judge.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="draws for confidence intervals, 0 for none (default: 1000)",
    )
    add_data_options(parser.add_argument_group("data"))
    output = parser.add_argument_group("output")
    add_out(output, "results and report")
    output.add_argument(
        "--curve",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="draw a published curve (eval_bdry_thr.txt) as well",
    )
    add_json(output)
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_cluster(work)
    add_fresh(work)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.cli._output import print_json, progress, report_page
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.bench import read_curves, write_run
    from edgecritic.report.benchmark.leaderboard import leaderboard_text
    from edgecritic.run.bench import run_bench
    from edgecritic.run.protocol_file import find_protocol

    protocol = find_protocol(args.protocol)
    if args.nms is not None:
        protocol = protocol.with_nms(args.nms)
    detectors = _named(args.predictions)
    curves = read_curves(_named(args.curve, must_name=True))
    with progress("judging", unit="image") as step:
        finished = run_bench(
            detectors,
            args.truth,
            protocol=protocol,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            extras=_extras(args.also),
            images=args.images,
            masks=args.masks,
            split=args.split,
            binarize=args.binarize,
            fresh=args.fresh,
            draws=args.bootstrap,
            curves=curves,
            progress=step,
        )
    if args.out is not None:
        write_run(args.out, finished)
    if not args.json:
        print(leaderboard_text(finished.results, width=terminal_width() or 100))
        if args.out is not None:
            print(f"Report: {report_page(args.out)}")
    _tell(finished.results["failures"], finished.results["notes"])
    strengths = None if args.strength is None else _judge_by_strength(args, detectors, protocol)
    if args.json:
        print_json(finished.results if strengths is None else {**finished.results, "strength": strengths})
    lost = [] if strengths is None else _lost_by_strength(strengths, finished.results)
    _tell(lost)
    return 1 if finished.failed or lost else 0


def _lost_by_strength(strengths: dict[str, Any], results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the failures by strength of images that the benchmark itself could judge."""
    told = {(row["detector"], row["id"]) for row in results["failures"]}
    return [
        {**row, "message": f"by strength: {row['message']}"}
        for row in strengths["failures"]
        if (row["detector"], row["id"]) not in told
    ]


def _tell(failed: Sequence[Mapping[str, Any]], warned: Sequence[str] = ()) -> None:
    """Write every failure and the first warnings to stderr, one line each."""
    from edgecritic.cli._output import complain

    failures = [f"{row['detector']}: {row['id']}: {row['message']}" for row in failed]
    notes = [f"warning: {note}" for note in warned]
    if len(notes) > _SHOWN:
        notes[_SHOWN:] = [f"… and {len(notes) - _SHOWN} more warnings; edgecritic doctor tells them all"]
    for line in (*notes, *failures):
        complain(line)


def _named(items: list[str], *, must_name: bool = False) -> dict[str, str | Path]:
    """Read NAME=PATH; without a name the last part of the path is one."""
    from edgecritic.errors import InputError

    found: dict[str, str | Path] = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals or (Path(item).exists() and not must_name):
            if must_name:
                raise InputError(f"expected NAME=FILE, got {item!r}")
            place = Path(item)
            name = place.name if place.name not in ("", "..") else place.resolve().name
            path = item
        if not name or not path:
            raise InputError(f"expected NAME=PATH, got {item!r}")
        if name in found:
            raise InputError(
                f"two {'curves' if must_name else 'detectors'} are called {name!r}; name them: NAME={path}"
            )
        found[name] = path
    return found


def _judge_by_strength(
    args: argparse.Namespace, detectors: dict[str, str | Path], protocol: Protocol
) -> dict[str, Any]:
    from edgecritic.cli._output import progress
    from edgecritic.report.strength import strength_report, write_strength
    from edgecritic.report.text import report_text
    from edgecritic.run.strength import run_strength

    with progress("judging by strength", unit="image") as step:
        found = run_strength(
            detectors,
            args.truth,
            protocol=protocol,
            levels=read_numbers(args.strength, "--strength"),
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            masks=args.masks,
            split=args.split,
            binarize=args.binarize,
            fresh=args.fresh,
            progress=step,
        )
    if args.out is not None:
        write_strength(args.out, found)
    if not args.json:
        print(f"\n{report_text(strength_report(found, pictures=False))}")
    return found


def _extras(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    if text == "all":
        return ("crispness", "ceval", "tolerances")
    return tuple(part.strip() for part in text.split(",") if part.strip())
