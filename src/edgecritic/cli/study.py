"""``edgecritic study``: the experiments of the source papers.

A study is a module of this package named in `STUDIES`, with ``add_parser(subparsers)`` like a sub-command.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["STUDIES", "add_parser"]

STUDIES = ("_study_noise",)


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "study", help="repeat an experiment of the source papers", description="Repeat an experiment."
    )
    inner = parser.add_subparsers(title="studies", metavar="STUDY", required=True)
    for name in STUDIES:
        importlib.import_module(f"edgecritic.cli.{name}").add_parser(inner)
