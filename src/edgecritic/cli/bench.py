"""``edgecritic bench``: the boundary benchmark over folders."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._classes import add_class_options, with_class_options
from edgecritic.cli._options import (
    add_cache,
    add_cluster,
    add_data_options,
    add_fresh,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_resample,
    add_seen,
    add_spacing,
    add_tiles,
    add_truth,
    read_named,
    read_numbers,
    read_spacing,
)
from edgecritic.cli._shown import add_curves, add_follow, followed, shown_curves

if TYPE_CHECKING:
    from edgecritic.protocols.protocol import Protocol
    from edgecritic.report.beside import Artist
    from edgecritic.report.sections import Section
    from edgecritic.run.bench import BenchRun
    from edgecritic.run.results import Failure
    from edgecritic.run.strength import StrengthRun

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
        epilog="Example: edgecritic bench mine=results --truth BSDS500 --protocol pdollar --nms hed -o run; "
        "of volumes: edgecritic bench mine=results --truth labels --protocol 'volume(tolerance=3)' -o run",
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
        help="see edgecritic list protocols (default: bsds); fields are changed as in 'volume(tolerance=3)'",
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
        help="measure as well, comma-separated: crispness, ceval, tolerances (all: these three), strategies, "
        "regions, calibration, or none (default: crispness)",
    )
    judge.add_argument(
        "--strength",
        metavar="LIST",
        help="judge as well on labels of at least these perceptual strengths, such as 0,.2,.4,.6,.8,1",
    )
    judge.add_argument(
        "--oracle",
        action="store_true",
        help="add the upper bound: what choosing the best of the given predictions per image would reach",
    )
    judge.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="draws for confidence intervals, 0 for none (default: 1000)",
    )
    add_class_options(parser.add_argument_group("classes (protocols sbd…, cityscapes…)"))
    data = parser.add_argument_group("data")
    add_data_options(data)
    add_spacing(data)
    add_resample(data)
    add_seen(data)
    add_tiles(data)
    output = parser.add_argument_group("output")
    add_out(output, "results and report")
    add_curves(output)
    add_follow(output)
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
    from edgecritic.report.beside import artist_beside
    from edgecritic.run.executor import resolve_jobs

    # What draws is started first, and imports matplotlib while this process imports what judges.
    with artist_beside(args.out is not None and resolve_jobs(args.jobs) > 1) as artist:
        return _judge(args, artist)


def _judge(args: argparse.Namespace, artist: Artist) -> int:
    from edgecritic.cli._output import print_json, progress, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.run.bench import run_bench
    from edgecritic.run.protocol_file import find_protocol

    protocol = find_protocol(args.protocol)
    if args.nms is not None:
        protocol = protocol.with_nms(args.nms)
    protocol = with_class_options(protocol, args)
    detectors = read_named(args.predictions)
    if protocol.judges == "regions":
        return _judge_regions(args, detectors, protocol)
    curves, told = shown_curves(args, protocol)
    with followed(args), progress("judging", unit="image", quiet=args.quiet) as step:
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
            spacing=read_spacing(args.spacing),
            resample=args.resample,
            tiles=args.tiles,
            fresh=args.fresh,
            draws=args.bootstrap,
            curves=curves,
            oracle=args.oracle,
            cache=args.cache,
            resize=args.resize,
            seen=args.seen,
            progress=step,
            on_curves=None if args.out is None else lambda found: artist.begin(found, Path(args.out)),
        )
    from edgecritic.report.bench import write_run
    from edgecritic.report.benchmark.leaderboard import leaderboard_text

    if args.out is not None:
        write_run(args.out, finished, more=_linked(args), artist=artist)
    if not args.json:
        print(leaderboard_text(finished.results, width=terminal_width() or 100))
        _tell_more(finished.results)
        if args.out is not None:
            print(f"Report: {report_page(args.out)}")
    _warn([*finished["notes"], *told])
    tell_failures(finished.failures)
    strengths = None if args.strength is None else _judge_by_strength(args, detectors, protocol)
    if args.json:
        more = {} if strengths is None else {"strength": strengths.as_dict()}
        print_json({**finished.as_dict(), **more})
    lost = () if strengths is None else _lost_by_strength(strengths, finished)
    tell_failures(lost)
    return 1 if finished.failed or lost else 0


def _linked(args: argparse.Namespace) -> Sequence[tuple[int, Section]]:
    """Return the sections of the report that lead to others, with their places."""
    if args.strength is None:
        return ()
    from edgecritic.report.strength import strength_link

    return ((115, strength_link()),)


def _tell_more(results: Mapping[str, Any]) -> None:
    """Print the tables of what was judged beside the protocol's own numbers."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.benchmark import regions, strategies
    from edgecritic.report.text import section_text
    from edgecritic.report.view import View

    view = View(results)
    for module in (strategies, regions):
        section = module.section(view)
        if section is not None:
            print(section_text(section, width=terminal_width() or 100))


def _judge_regions(args: argparse.Namespace, detectors: dict[str, str | Path], protocol: Protocol) -> int:
    """Run the benchmark of regions alone; what belongs to boundaries is refused."""
    from edgecritic.cli._output import print_json, progress, report_page, tell_failures
    from edgecritic.cli._wide import terminal_width
    from edgecritic.errors import InputError
    from edgecritic.report.regions import region_findings, region_table, write_region_run
    from edgecritic.report.text import table_text, wrapped
    from edgecritic.run.regions import run_regions

    refused = (
        "spacing",
        "resample",
        "strength",
        "nms",
        "curve",
        "published",
        "follow",
        "oracle",
        "resize",
        "binarize",
        "tiles",
    )
    wrong = [f"--{name}" for name in refused if getattr(args, name)]
    if wrong or args.also not in ("crispness", "regions", "none"):
        names = ", ".join([*wrong, *(["--also"] if not wrong else [])])
        raise InputError(f"protocol {protocol.id} judges regions alone", remedy=f"leave {names} out")
    with progress("judging regions", unit="image", quiet=args.quiet) as step:
        finished = run_regions(
            detectors,
            args.truth,
            protocol=protocol,
            out=args.out,
            jobs=args.jobs,
            cluster=args.cluster,
            masks=args.masks,
            split=args.split,
            fresh=args.fresh,
            progress=step,
        )
    if args.out is not None:
        write_region_run(args.out, finished)
    if args.json:
        print_json(finished.as_dict())
    else:
        width = terminal_width() or 100
        ranked = sorted(finished["detectors"], key=lambda one: -float(one["regions"]["covering"]["ods"]))
        print("\n".join(wrapped(line, width) for line in region_findings(ranked)))
        if ranked:
            print(f"\n{table_text(region_table(ranked), width=width)}")
        if args.out is not None:
            print(f"Report: {report_page(args.out)}")
    _warn(finished["notes"])
    return tell_failures(finished.failures)


def _lost_by_strength(strengths: StrengthRun, finished: BenchRun) -> list[Failure]:
    """Return the failures by strength of images that the benchmark itself could judge."""
    told = {(one.detector, one.id) for one in finished.failures}
    return [
        replace(one, message=f"by strength: {one.message}")
        for one in strengths.failures
        if (one.detector, one.id) not in told
    ]


def _warn(notes: Sequence[str]) -> None:
    """Write the first warnings to stderr, one line each."""
    from edgecritic.cli._output import complain

    for note in notes[:_SHOWN]:
        complain(f"warning: {note}")
    if len(notes) > _SHOWN:
        complain(f"… and {len(notes) - _SHOWN} more warnings; edgecritic doctor tells them all")


def _judge_by_strength(
    args: argparse.Namespace, detectors: dict[str, str | Path], protocol: Protocol
) -> StrengthRun:
    from edgecritic.cli._output import progress, report_page
    from edgecritic.report.strength import strength_report, write_strength
    from edgecritic.report.text import report_text
    from edgecritic.run.strength import run_strength

    with progress("judging by strength", unit="image", quiet=args.quiet) as step:
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
            spacing=read_spacing(args.spacing),
            resample=args.resample,
            fresh=args.fresh,
            seen=args.seen,
            cache=args.cache,
            progress=step,
        )
    if args.out is not None:
        write_strength(args.out, found)
    if not args.json:
        print(f"\n{report_text(strength_report(found, pictures=False))}")
        if args.out is not None:
            print(f"\nReport by label strength: {report_page(Path(args.out) / 'strength')}")
    return found


def _extras(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    if text == "all":
        return ("crispness", "ceval", "tolerances")
    return tuple(part.strip() for part in text.split(",") if part.strip())
