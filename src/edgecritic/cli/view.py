"""``edgecritic view``: look into runs, image by image, in a browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import (
    add_data_options,
    add_resample,
    add_spacing,
    add_truth,
    read_named,
    read_spacing,
)

if TYPE_CHECKING:
    from edgecritic.view.gallery import Gallery

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Open a page on this computer that shows finished runs (or runs that go on) image by image: hits, false alarms
and misses while threshold and tolerance move, detectors side by side. Folders of predictions, or single maps,
are shown with --truth, without any run; they are judged while they are shown. Nothing is written.
"""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "view",
        help="look into runs, image by image, in a browser",
        description=_DESCRIPTION,
        epilog="Example: edgecritic view run-a run-b; of maps: edgecritic view mine=results --truth BSDS500, "
        "edgecritic view found.png truth.png",
    )
    parser.add_argument(
        "what",
        nargs="+",
        metavar="[NAME=]RUN",
        help="the folder --out of edgecritic bench; with --truth predictions, a folder or a file; or a map "
        "and its truth",
    )
    add_truth(parser, required=False)
    maps = parser.add_argument_group("predictions without a run")
    maps.add_argument(
        "--protocol",
        metavar="ID|FILE.toml",
        help="by which they are judged; see edgecritic list protocols (default: bsds)",
    )
    add_data_options(maps)
    add_spacing(maps)
    add_resample(maps)
    server = parser.add_argument_group("page")
    server.add_argument("--port", type=int, default=8610, help="default: 8610; 0 takes any free one")
    server.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from edgecritic.errors import InputError, needs_extra

    with needs_extra("the viewer", "view"):
        from edgecritic.view import serve
    if not 0 <= args.port <= 65535:
        raise InputError(f"port must lie in 0 … 65535, got {args.port}")
    gallery = _gallery(args)
    serve.serve(gallery, args.port, lambda address: _say_ready(address, args.no_browser))
    return 0


def _gallery(args: argparse.Namespace) -> Gallery:
    from edgecritic.view.gallery import gallery_of_folders, gallery_of_runs

    places, truth = list(args.what), args.truth
    if (
        truth is None
        and len(places) == 2
        and all(Path(one.partition("=")[2] or one).is_file() for one in places)
    ):
        truth = places.pop()
    if truth is None:
        _refuse_options(args)
        return gallery_of_runs(read_named(places, what="run"))
    from edgecritic.run.executor import absolute
    from edgecritic.run.judge import Reading
    from edgecritic.run.protocol_file import find_protocol
    from edgecritic.run.sources import Sources

    sources = Sources(
        detectors={name: str(absolute(place)) for name, place in read_named(places).items()},
        truth=str(absolute(truth)),
        images=None if args.images is None else str(absolute(args.images)),
        masks=None if args.masks is None else str(absolute(args.masks)),
        split=args.split,
        reading=Reading(args.binarize, read_spacing(args.spacing), args.resample),
    )
    return gallery_of_folders(sources, find_protocol(args.protocol or "bsds"))


def _refuse_options(args: argparse.Namespace) -> None:
    """Refuse what a run has decided already."""
    from edgecritic.errors import InputError

    for name in ("protocol", "images", "masks", "split", "binarize", "spacing", "resample"):
        if getattr(args, name) is not None:
            raise InputError(
                f"--{name} is for predictions with --truth; a run has its own", remedy=f"leave --{name} out"
            )


def _say_ready(address: str, no_browser: bool) -> None:
    from edgecritic.web.serving import open_browser

    print(f"EdgeCritic view: {address}", flush=True)
    sys.stderr.write("Ctrl+C ends it.\n")
    if not no_browser:
        open_browser(address)
