"""``edgecritic study complexity``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from edgecritic.cli._options import read_numbers, whole_number
from edgecritic.cli.studies._common import add_data, add_output, add_work, bar, cases_of, finish

__all__ = ["FIGURES", "MINUTES", "NAME", "NEEDS", "PAPER", "TEXT", "add_options", "run"]

NAME = "complexity"
PAPER = "Gimenez, Martinez, Flesia 2014"
TEXT = "can edge maps be chosen without truth?"
FIGURES, NEEDS, MINUTES = "Figs. 3 to 12, Tables 1 to 3", "photos with one or more truths", "1 / 10"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the study can be told."""
    add_data(parser)
    parser.add_argument(
        "--most", type=whole_number(1), default=8, metavar="N", help="only the first N images (8)"
    )
    parser.add_argument(
        "--show",
        nargs="+",
        default=[],
        metavar="IMAGE|all",
        help="study and draw these images; all: every one (default: draw the one whose C varies most)",
    )
    parser.add_argument(
        "--annotators",
        metavar="LIST",
        help="judge against the truths of these annotators only, such as 1 or 2,3,4,5 (default: all)",
    )
    parser.add_argument(
        "--crop", metavar="TOP,LEFT,BOTTOM,RIGHT", help="draw this part of the shown images enlarged, too"
    )
    parser.add_argument(
        "--patterns", metavar="FOLDER", help="edge patterns of your own: small binary images of one odd side"
    )
    add_output(parser)
    add_work(parser, kept=True)


def run(args: argparse.Namespace) -> int:
    """Run the study."""
    from edgecritic.report.complexity import complexity_report
    from edgecritic.run.complexity import read_patterns, run_complexity

    annotators = None if args.annotators is None else _places(args.annotators, "--annotators", None)
    crop = None if args.crop is None else tuple(_places(args.crop, "--crop", 4))
    patterns = None if args.patterns is None else read_patterns(args.patterns)
    with cases_of(args) as cases:
        with bar(args, "studying", "image") as step:
            found = run_complexity(
                _chosen(cases, args.show, args.most),
                annotators=annotators,
                patterns=patterns,
                out=args.out,
                jobs=args.jobs,
                cluster=args.cluster,
                fresh=args.fresh,
                progress=step,
            )
        report = complexity_report(
            found.study,
            shown=_shown(found.study, cases, args.show, annotators, crop),
            patterns=patterns,
            problems=[str(failure) for failure in found.failures],
        )
        return finish(args, report, found.as_dict(), found.failures)


def _places(text: str, option: str, number: int | None) -> list[int]:
    from edgecritic.errors import InputError

    values = read_numbers(text, option)
    least = 0 if number else 1
    if any(value != int(value) or value < least for value in values) or number not in (None, len(values)):
        raise InputError(
            f"{option} expects {number or 'one or more'} whole numbers from {least}, got {text!r}"
        )
    return [int(value) for value in values]


def _chosen(cases: Sequence[Any], names: Sequence[str], most: int) -> list[Any]:
    """Return the images that are asked for by name, and the first ones."""
    from edgecritic.errors import InputError

    wanted = set(names) - {"all"}
    unknown = wanted - {case.id for case in cases}
    if unknown:
        raise InputError(f"--show: there is no image {', '.join(sorted(unknown))} with a truth")
    first = {case.id for case in cases[:most]}
    return [case for case in cases if case.id in wanted | first]


def _shown(
    study: Any, cases: Sequence[Any], names: Sequence[str], annotators: Sequence[int] | None, crop: Any
) -> list[Any]:
    import numpy as np

    from edgecritic.report.complexity import Shown

    by_id = {case.id: case for case in cases}
    if names:
        chosen = [one for one in study.curves if one.image in names or "all" in names]
        reason = "Shown because it was asked for."
    else:
        chosen = [max(study.curves, key=lambda one: float(np.ptp(one.alone[:, :, 2], axis=1).mean()))]
        reason = "Shown because C varies most over the grids of this image."
    made = []
    for one in chosen:
        truths = by_id[one.image].load_truths()
        made.append(
            Shown(
                curves=one,
                photo=by_id[one.image].load_image(),
                truths=tuple(truths if annotators is None else [truths[place - 1] for place in annotators]),
                reason=reason,
                crop=crop,
            )
        )
    return made
