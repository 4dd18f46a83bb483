"""The options that several commands have: one name and one wording for each."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

__all__ = [
    *("add_truth", "add_data_options", "add_tolerance", "add_out", "add_json", "add_jobs", "add_cluster"),
    *("add_fresh", "add_cache", "add_ids", "add_quiet", "add_split", "add_binarize", "add_spacing"),
    *("add_model_out", "add_resample", "add_seen", "add_surface", "add_tiles"),
    *("read_numbers", "read_spacing", "read_named", "whole_number"),
]


def add_truth(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Add the option that says where the truths are, and which split of them."""
    parser.add_argument(
        "--truth",
        required=required,
        metavar="FOLDER",
        help="truths in any known layout: folder, BSDS folder, pair list (.lst) or one file; "
        "see edgecritic list layouts",
    )


def add_split(group: argparse._ActionsContainer) -> None:
    """Add which split of a data set is meant."""
    group.add_argument("--split", metavar="NAME", help="split of a BSDS folder: train, val or test")


def add_binarize(group: argparse._ActionsContainer, what: str = "truths") -> None:
    """Add where grey maps are cut."""
    group.add_argument(
        "--binarize",
        type=float,
        metavar="SHARE",
        help=f"accept grey {what}, cut at this share of the largest possible value, such as 0.5",
    )


def add_spacing(group: argparse._ActionsContainer) -> None:
    """Add the pixel size; `read_spacing` reads it."""
    group.add_argument(
        "--spacing",
        nargs="+",
        type=_sizes,
        metavar="S",
        help="pixel size, one number or one per axis in the order of the file, apart by blanks or commas; "
        "'file' takes the voxel size that the truth's file tells (default: that of the files, which must "
        "agree; 1 where they tell none)",
    )


def add_resample(group: argparse._ActionsContainer) -> None:
    """Add what is done with a volume that lies on another grid than its truth."""
    group.add_argument(
        "--resample",
        choices=("nearest", "stored"),
        help="bring a volume whose grid is not that of its truth onto it by the nearest voxels, or take its "
        "voxels in their stored order because its header is wrong; without it such a volume is refused, "
        "unless only the order or direction of its axes differs",
    )


def add_tiles(group: argparse._ActionsContainer) -> None:
    """Add the choice to read and judge maps in bands of rows."""
    group.add_argument(
        "--tiles",
        action="store_true",
        help="read and judge .tif and .npy maps in bands of rows, with the same result; maps too large for "
        "memory always are",
    )


def add_surface(group: argparse._ActionsContainer) -> None:
    """Add what of a truth is its boundary."""
    group.add_argument(
        "--surface",
        choices=("given", "inner"),
        default="given",
        help="what of a truth is its boundary: what it marks (default), or the inner boundary of the objects "
        "that it marks or numbers, for masks and label volumes",
    )


def add_data_options(group: argparse._ActionsContainer) -> None:
    """Add photos, masks, split and the cut of grey truths."""
    group.add_argument("--images", metavar="FOLDER", help="photos")
    group.add_argument("--masks", metavar="FOLDER", help="maps that are on where pixels count")
    add_split(group)
    add_binarize(group)


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


def add_model_out(group: argparse._ActionsContainer) -> None:
    """Add the file that a model is written to; what is kept of the work goes into a folder beside it."""
    group.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        required=True,
        help="write the model to this file; what is kept of the photos goes into the folder FILE.records",
    )
    group.add_argument(
        "--wait", action="store_true", help="wait while another command writes into that folder"
    )


def add_seen(group: argparse._ActionsContainer) -> None:
    """Add the consent to photos that a detector has learned from."""
    group.add_argument(
        "--seen", action="store_true", help="take photos that a detector has learned from, too"
    )


def add_json(group: argparse._ActionsContainer) -> None:
    """Add the choice of JSON for stdout."""
    group.add_argument("--json", action="store_true", help="print one JSON document in place of the text")


def add_jobs(group: argparse._ActionsContainer, what: str = "images") -> None:
    """Add how many of `what` are worked on at a time."""
    group.add_argument(
        "-j",
        "--jobs",
        type=int,
        metavar="N",
        help=f"{what} at a time (default: one per core that may be used)",
    )


def add_cluster(group: argparse._ActionsContainer) -> None:
    """Add the scheduler whose workers do the work."""
    group.add_argument("--cluster", metavar="tcp://HOST:PORT", help="run on the workers of a Dask scheduler")


def add_quiet(group: argparse._ActionsContainer) -> None:
    """Add the choice not to be shown how far the work is."""
    group.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


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


def _sizes(word: str) -> tuple[float, ...]:
    """Read one word of ``--spacing``; no number stands for what the file tells."""
    if word == "file":
        return ()
    try:
        return tuple(float(number) for number in word.split(",") if number.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers such as 1 or 2,0.5,0.5, or file, got {word!r}"
        ) from None


def read_spacing(words: Sequence[tuple[float, ...]] | None) -> tuple[float, ...] | Literal["file"] | None:
    """Return the pixel size that the words of ``--spacing`` mean.

    Examples
    --------
    >>> read_spacing([(3.0, 1.0), (1.0,)]), read_spacing([()])
    ((3.0, 1.0, 1.0), 'file')
    """
    if words is None:
        return None
    return tuple(number for word in words for number in word) or "file"


def read_named(
    items: Sequence[str], *, must_name: bool = False, what: str = "detector"
) -> dict[str, str | Path]:
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
                f"two {'curve' if must_name else what}s are called {name!r}",
                remedy=f"name them: NAME={path}",
            )
        found[name] = path
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
