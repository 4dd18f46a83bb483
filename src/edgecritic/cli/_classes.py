"""Options of ``edgecritic bench`` for protocols that judge classes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.protocols.protocol import Protocol

__all__ = ["add_class_options", "with_class_options"]


def add_class_options(group: Any) -> None:
    """Add the options."""
    group.add_argument(
        "--classes",
        metavar="LIST",
        help="judge these classes only, comma-separated, by name or number, such as person,car or 15",
    )
    group.add_argument(
        "--resize",
        choices=("nearest", "bilinear", "bicubic"),
        help="resize predictions that have not the size of their truth; without it they are refused",
    )


def with_class_options(protocol: Protocol, args: argparse.Namespace) -> Protocol:
    """Return the protocol for the classes that were asked for; refuse what does not go with classes."""
    from edgecritic.errors import InputError

    if protocol.classes is not None and args.strength is not None:
        raise InputError(
            "--strength judges the labels of several annotators; protocols of classes have one truth"
        )
    if args.classes is None:
        return protocol
    names = [part.strip() for part in args.classes.split(",") if part.strip()]
    if not names:
        raise InputError("--classes names no class", remedy="give one or more, such as person,car or 15")
    return protocol.with_classes(names)
