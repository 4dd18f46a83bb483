"""The options of commands that read predictions and truths: one wording for all of them."""

from __future__ import annotations

import argparse

__all__ = ["add_truth", "add_data_options"]


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
