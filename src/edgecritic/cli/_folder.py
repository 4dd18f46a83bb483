"""The folder that a command writes into, held while it runs."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext

__all__ = ["held_output"]


def held_output(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Keep other commands out of the folder ``--out``, if there is one and something will be written.

    Where ``--out`` is a file, the folder beside it is held, whose name ends with what ``held`` tells.

    Shares of a study only add records, whole and under keys of their contents: each excludes itself only.
    """
    out = getattr(args, "out", None)
    if out is None or getattr(args, "plan", False):
        return nullcontext()
    from edgecritic.run.lock import hold_folder

    share = getattr(args, "share", None)
    return hold_folder(
        f"{out}{getattr(args, 'held', '')}",
        " ".join(filter(None, (args.parser.prog, getattr(args, "study", None)))),
        part="run" if share is None else f"share-{share}",
        wait=args.wait,
        tell=lambda line: print(f"edgecritic: {line}", file=sys.stderr),
    )
