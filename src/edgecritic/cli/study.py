"""``edgecritic study``: the experiments of the source papers, redone; each is a file of ``cli/studies``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from types import ModuleType
from typing import Any

from edgecritic.cli import studies

__all__ = ["add_parser", "find_studies", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "study",
        help="redo the experiments of the papers that EdgeCritic is built on",
        description="Run a study: figure, table, JSON and a short text. Without a name it lists them. "
        "Without --data a small generated data set is used.",
    )
    parser.set_defaults(run=run)
    names = parser.add_subparsers(title="studies", metavar="NAME")
    for study in find_studies():
        text = study.TEXT
        one = names.add_parser(
            study.NAME, help=text, description=f"{text[0].upper()}{text[1:]} ({study.PAPER})"
        )
        study.add_options(one)
        one.set_defaults(run=study.run, study=study.NAME)


def find_studies() -> list[ModuleType]:
    """Return the modules of the studies, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(studies.__path__))
    return [importlib.import_module(f"{studies.__name__}.{name}") for name in names if name[0] != "_"]


def run(args: argparse.Namespace) -> int:
    """List the studies: the question, the paper with its figures, the data, and how long it takes."""
    del args
    for study in find_studies():
        print(f"{study.NAME}: {study.TEXT}")
        print(f"    {study.PAPER}: {_told(study, 'FIGURES')}")
        print(f"    data: {_told(study, 'NEEDS')}; minutes: {_told(study, 'MINUTES')}")
    print(
        "\nMinutes: roughly, on two free cores; with generated data (without --data) / 100 photos of BSDS."
        "\nedgecritic study NAME runs one; edgecritic study NAME --help shows its options."
    )
    return 0


def _told(study: ModuleType, what: str) -> str:
    """Return what a study tells of itself beyond its name; a small one of your own need not."""
    return str(getattr(study, what, "–"))
