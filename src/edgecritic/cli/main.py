"""The command ``edgecritic``: finds its sub-commands, runs one, turns known errors into one line.

A sub-command is a module of this package with ``add_parser(subparsers)``, which sets ``run`` as the
default of its parser; ``run(args)`` returns the exit status. Such modules import only what a parser needs.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import edgecritic
from edgecritic.cli._folder import held_output
from edgecritic.errors import EdgeCriticError

__all__ = ["main", "build_parser"]

_HELP_ORDER = (
    *("demo", "bench", "score", "match", "detect", "tune"),
    *("annotators", "study", "studio", "doctor", "listing", "warmup", "completion"),
)
"""Modules in the order of the help page; those that are not named come last."""

_FIRST_SCREEN = """\
EdgeCritic {version} says how good an edge map is.

  edgecritic demo                             everything on generated data
  edgecritic bench FOLDER --truth FOLDER      ODS, OIS and AP of a detector
  edgecritic doctor FOLDER --truth FOLDER     what is wrong with these files?
  edgecritic score CANDIDATE TRUTH            all measures of one map
  edgecritic match CANDIDATE TRUTH            hits, misses and false alarms
  edgecritic detect sobel IMAGE --out FOLDER  edges by a classical detector
  edgecritic tune IMAGE --truth TRUTH         the best threshold of detectors
  edgecritic annotators FOLDER                how far annotators agree
  edgecritic studio                           label edges in a browser
  edgecritic list measures                    what there is, with parameters
  edgecritic --help                           all commands
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 good, 1 known failure, 2 wrong usage.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.

    Examples
    --------
    >>> main(["--version"])
    edgecritic 0.1.0
    0
    """
    _accept_any_character()
    try:
        with _short_warnings():
            status = _run(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except MemoryError:
        return _complain("not enough memory for this input", 1)
    except EdgeCriticError as error:
        return _complain(str(error), 1)
    except OSError as error:
        if error.filename is None:
            if error.errno is None:
                raise
            _forget_stdout()  # the output itself failed, as with a full disk behind a redirection
            return _complain(f"cannot write the output: {error.strerror or error}", 1)
        return _complain(f"{error.filename}: {error.strerror or error}", 1)
    return status


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with all sub-commands."""
    parser = argparse.ArgumentParser(
        prog="edgecritic",
        description="Says how good an edge map is: against one truth, many annotators, or none; 2-D and 3-D.",
        epilog="Tables go to stdout, progress to stderr. Exit status: 0 good, 1 known failure, 2 usage.",
    )
    parser.add_argument("--version", action="version", version=f"edgecritic {edgecritic.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in _command_modules():
        module = importlib.import_module(name)
        if hasattr(module, "add_parser"):
            module.add_parser(subparsers)
    for one in subparsers.choices.values():
        one.set_defaults(parser=one)
    return parser


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = _parsed(build_parser(), argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    if not hasattr(args, "run"):
        print(_FIRST_SCREEN.format(version=edgecritic.__version__), end="")
        return 0
    with held_output(args):
        return int(args.run(args))


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse; let the sub-command itself say what it does not know, with its own usage."""
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        own = getattr(args, "parser", parser)
        known = [option for option in own._option_string_actions if option.startswith("--")]
        near = difflib.get_close_matches(unknown[0].partition("=")[0], known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        own.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return args


def _command_modules() -> list[str]:
    package = importlib.import_module("edgecritic.cli")
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    public = [name for name in names if not name.startswith("_") and name != "main"]
    rank = {name: place for place, name in enumerate(_HELP_ORDER)}
    public.sort(key=lambda name: (rank.get(name, len(rank)), name))
    return [f"edgecritic.cli.{name}" for name in public]


def _complain(message: str, status: int) -> int:
    sys.stderr.write(f"edgecritic: {' '.join(message.split())}\n")
    return status


def _accept_any_character() -> None:
    """Let a terminal that cannot show a character show a substitute."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _forget_stdout() -> None:
    """Keep the interpreter from flushing into the closed pipe when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print warnings as one line, without the place in the source."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_args, **_more: f"edgecritic: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before
