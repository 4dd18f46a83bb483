"""The options that several commands have: one name and one wording for each."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

__all__ = [
    *("add_truth", "add_data_options", "add_tolerance", "add_out", "add_json", "add_jobs", "add_cluster"),
    *("add_fresh", "add_ids", "read_numbers", "whole_number"),
]


def add_truth(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the truths are."""
    parser.add_argument(
        "--truth",
        required=True,
        metavar="FOLDER",
        help="truths in any known layout: folder, BSDS folder, pair list (.lst) or one file; "
        "see edgecritic list datasets",
    )


def add_data_options(group: argparse._ActionsContainer) -> None:
    """Add photos, masks, split and the cut of grey truths."""
    group.add_argument("--images", metavar="FOLDER", help="photos")
    group.add_argument("--masks", metavar="FOLDER", help="maps that are on where pixels count")
    group.add_argument("--split", metavar="NAME", help="split of a BSDS folder: train, val or test")
    group.add_argument(
        "--binarize",
        type=float,
        metavar="SHARE",
        help="accept grey truths, cut at this share of the largest possible value, such as 0.5",
    )


def add_tolerance(group: argparse._ActionsContainer) -> None:
    """Add the largest distance of a match, absolute or as a share of the diagonal."""
    reach = group.add_mutually_exclusive_group()
    reach.add_argument(
        "-t",
        "--tolerance",
        type=float,
        metavar="PX",
        help="largest distance of a match, in pixels or in the units of the pixel size",
    )
    reach.add_argument(
        "--relative-tolerance",
        type=float,
        metavar="SHARE",
        help="the same as a share of the diagonal (default: 0.0075)",
    )


def add_out(
    group: argparse._ActionsContainer, what: str, *, required: bool = False, default: str | None = None
) -> None:
    """Add the folder that `what` is written into, and what to do if another command is at work there."""
    told = "" if default is None else f" (default: {default})"
    group.add_argument(
        "-o",
        "--out",
        metavar="FOLDER",
        required=required,
        default=default,
        help=f"write {what} into this folder{told}",
    )
    group.add_argument(
        "--wait", action="store_true", help="wait while another command writes into that folder"
    )


def add_json(group: argparse._ActionsContainer) -> None:
    """Add the choice of JSON for stdout."""
    group.add_argument("--json", action="store_true", help="print one JSON document in place of the text")


def add_jobs(group: argparse._ActionsContainer, what: str = "images") -> None:
    """Add how many of `what` are worked on at a time."""
    group.add_argument("-j", "--jobs", type=int, metavar="N", help=f"{what} at a time (default: all cores)")


def add_cluster(group: argparse._ActionsContainer) -> None:
    """Add the scheduler whose workers do the work."""
    group.add_argument("--cluster", metavar="tcp://HOST:PORT", help="run on the workers of a Dask scheduler")


def add_fresh(group: argparse._ActionsContainer) -> None:
    """Add the choice not to use what an earlier run has left."""
    group.add_argument("--fresh", action="store_true", help="compute everything anew")


def add_cache(group: argparse._ActionsContainer) -> None:
    """Add the choice not to use what runs keep across folders."""
    group.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="neither read nor keep what depends on the truths alone in the user's cache folder",
    )


def add_ids(group: argparse._ActionsContainer, *names: str, text: str) -> None:
    """Add an option of several ids, which may be repeated."""
    group.add_argument(*names, nargs="+", action="extend", metavar="ID", help=text)


def read_numbers(text: str, option: str) -> list[float]:
    """Read the numbers of an option, such as ``0,.5,1``."""
    from edgecritic.errors import InputError

    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [math.nan]
    if not all(map(math.isfinite, found)):
        raise InputError(f"{option} expects numbers such as 0,.5,1, got {text!r}")
    return found


def whole_number(least: int) -> Callable[[str], int]:
    """Return the type of an option that takes whole numbers of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got {text!r}")
        return number

    return read
