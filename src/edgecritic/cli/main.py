"""The command ``edgecritic``: finds its sub-commands, runs one, turns known errors into one line.

A sub-command is a module of this package with ``add_parser(subparsers)``, which sets ``run`` as the
default of its parser; ``run(args)`` returns the exit status. Such modules import only what a parser needs.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import os
import pkgutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import edgecritic
from edgecritic.cli._folder import held_output
from edgecritic.cli._output import complain, print_json
from edgecritic.cli._streams import OutputLostError, standard_streams
from edgecritic.cores import ONE_THREAD
from edgecritic.errors import EdgeCriticError

__all__ = ["command", "main", "build_parser", "prepare_process"]

GROUPS = {
    "judge": ("bench", "score", "match", "doctor"),
    "look": ("view", "report", "demo", "list"),
    "detect and learn": ("detect", "tune", "fit"),
    "people": ("annotators", "propose", "studio"),
    "papers": ("study", "consensus"),
    "this installation": ("warmup", "completion"),
}
"""Commands by what people want, in the order of the help page; those that are not named come last."""

_AGAIN_SECONDS = 0.05

_OBJECTS_OF_MODULES = 150_000
"""About as many as those that a benchmark imports have."""

_SERVERS = ("studio", "view")
"""Commands that run for long, and give memory back in between."""

_KEPT_MEMORY = {-1: 2**29, -2: 2**25, -3: 2**25}
"""Options of ``mallopt``: how many bytes may stay unused, are asked for at once, and arrays have at the most.

They are ``M_TRIM_THRESHOLD``, ``M_TOP_PAD`` and ``M_MMAP_THRESHOLD``. The last cannot be more, and has to be
set with the others, or the C library would keep short arrays only.
"""

_FIRST_SCREEN = """\
EdgeCritic {version} says how good an edge map is.

judge
  edgecritic bench FOLDER --truth FOLDER      ODS, OIS and AP of a detector
  edgecritic score CANDIDATE TRUTH            all measures of one map
  edgecritic match CANDIDATE TRUTH            hits, misses and false alarms
  edgecritic doctor FOLDER --truth FOLDER     what is wrong with these files?
look
  edgecritic view RUN                         a run, image by image
  edgecritic report RUN RUN --out FOLDER      finished runs side by side
  edgecritic demo                             everything on generated data
  edgecritic list measures                    what there is, with parameters
detect and learn
  edgecritic detect sobel IMAGE --out FOLDER  edges by a classical detector
  edgecritic tune IMAGE --truth TRUTH         the best threshold of detectors
  edgecritic fit pb PHOTOS --truth FOLDER --out FILE  learn from labels
people
  edgecritic annotators FOLDER                how far annotators agree
  edgecritic propose PHOTO --out FOLDER       a first truth and its edits
  edgecritic studio                           label edges in a browser
papers
  edgecritic study                            the experiments that can be redone

  edgecritic --help                           all commands
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 good, 1 known failure, 2 wrong usage.

    A signal N that ends it gives 128 + N, as does a reader of the output that leaves early.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.

    Examples
    --------
    >>> main(["--version"])
    edgecritic 0.2.0
    0
    """
    with standard_streams():
        try:
            with _short_warnings(), _stopped_by_signals():
                status = _run(argv)
                sys.stdout.flush()
        except OutputLostError as error:
            if error.reader_left:
                return 128 + signal.SIGPIPE
            return _fail(f"cannot write the output: {error}")
        except KeyboardInterrupt as stop:
            number = stop.number if isinstance(stop, _Stopped) else signal.SIGINT
            return _fail("interrupted" if number == signal.SIGINT else "stopped", 128 + number)
        except MemoryError:
            return _fail("not enough memory for this input")
        except EdgeCriticError as error:
            return _fail(str(error))
        except OSError as error:
            if error.filename is None and error.errno is None:
                raise
            place = "" if error.filename is None else f"{error.filename}: "
            return _fail(f"{place}{error.strerror or error}")
        return status


def command() -> int:
    """Run the command in a process that ends with it; return the exit status.

    All that is in memory goes with the process, so Python need not look through it for garbage, which takes a
    tenth of a second after a benchmark.
    """
    prepare_process(serves=bool(sys.argv[1:2]) and sys.argv[1] in _SERVERS)
    status = main()
    gc.freeze()
    return status


def prepare_process(*, serves: bool = False) -> None:
    """Let this process, which ends soon unless it serves, spare itself what pays in long ones only.

    NumPy, if it is not loaded yet, calculates in one thread unless the environment says how many, so that
    results do not depend on the cores of a machine.
    """
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    _spare_modules()
    if not serves:
        _keep_memory()


def _spare_modules() -> None:
    """Spare modules that nobody asked for, and look for garbage later.

    Numba imports the package coverage wherever it is installed; who measures what a command does has
    imported it before. Garbage is looked for when there are as many objects as modules have, and never among
    these again.
    """
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
    usual = gc.get_threshold()

    def begin(phase: str, _info: object) -> None:
        if phase == "stop":
            gc.callbacks.remove(begin)
            gc.freeze()
            gc.set_threshold(*usual)

    gc.callbacks.append(begin)
    gc.set_threshold(_OBJECTS_OF_MODULES)


def _keep_memory() -> None:
    """Let the C library keep what arrays leave for the next ones, where it is that of GNU.

    Otherwise threads give the memory of every image back to the system, and get it anew, page by page, for
    the next one. What the environment tells that library stays.
    """
    if any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return
    with suppress(ImportError, OSError, AttributeError, TypeError):  # another C library, or another system
        import ctypes

        set_option = ctypes.CDLL(None).mallopt
        for option, size in _KEPT_MEMORY.items():
            set_option(option, size)


def build_parser(wanted: str = "") -> argparse.ArgumentParser:
    """Return the parser with all sub-commands, or with the one that is wanted if a module has its name."""
    parser = _Parser(
        prog="edgecritic",
        description="Says how good an edge map is: against one truth, many annotators, or none; 2-D and 3-D.",
        epilog="Tables go to stdout, progress to stderr. Exit status: 0 good, 1 known failure, 2 usage, "
        "128 + N stopped by signal N.",
    )
    parser.add_argument("--version", action="version", version=f"edgecritic {edgecritic.__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    modules = _command_modules()
    for name in [modules[wanted]] if wanted in modules else modules.values():
        module = importlib.import_module(name)
        if hasattr(module, "add_parser"):
            module.add_parser(subparsers)
    if wanted in modules and wanted not in subparsers.choices:
        return build_parser()
    for one in subparsers.choices.values():
        one.set_defaults(parser=one)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose help page groups the commands by what people want."""

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        (commands,) = (one for one in self._actions if isinstance(one, argparse._SubParsersAction))
        left = {one.dest: one for one in commands._choices_actions}
        groups = {
            title: [left.pop(name) for name in names if name in left] for title, names in GROUPS.items()
        }
        options = [one for one in self._actions if one.option_strings]
        for title, actions in {**groups, "more": list(left.values()), "options": options}.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def _run(argv: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if argv is None else argv
        args = _parsed(build_parser(given[0] if given else ""), given)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    if not hasattr(args, "run"):
        print(_FIRST_SCREEN.format(version=edgecritic.__version__), end="")
        return 0
    try:
        with held_output(args):
            return int(args.run(args))
    except EdgeCriticError as error:
        if getattr(args, "json", False):
            print_json({"failures": [{"id": "", **error.as_dict()}]})
        raise


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse; let the sub-command itself say what it does not know, with its own usage."""
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        own = getattr(args, "parser", parser)
        known = [option for option in own._option_string_actions if option.startswith("--")]
        near = difflib.get_close_matches(unknown[0].partition("=")[0], known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        own.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return args


def _command_modules() -> dict[str, str]:
    """Return the modules of this package that may have a command, by their short names."""
    package = importlib.import_module("edgecritic.cli")
    names = [module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg]
    public = [name for name in names if not name.startswith("_") and name != "main"]
    return {name: f"edgecritic.cli.{name}" for name in public}


def _fail(message: str, status: int = 1) -> int:
    complain(message)
    return status


class _Stopped(KeyboardInterrupt):
    """A signal ends the command.

    A class of its own: after a plain KeyboardInterrupt that passed through ``exec``, as libraries call it,
    the interpreter kills itself by SIGINT in place of the exit status.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP leave all blocks, so that half-made files are removed.

    Signals that somebody else takes or ignores, as nohup does, stay with them. A signal that comes while
    foreign code calls back, as the compiler of the kernels does, is swallowed there: it is sent again.
    """

    def stop(number: int, _frame: object) -> None:
        raise _Stopped(number)

    def again(swallowed: sys.UnraisableHookArgs) -> None:
        if not isinstance(swallowed.exc_value, _Stopped):
            usual_hook(swallowed)
            return
        later = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), swallowed.exc_value.number))
        later.daemon = True
        later.start()

    names = [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    here = threading.current_thread() is threading.main_thread()
    before = {name: signal.getsignal(name) for name in names if here}
    usual = (signal.SIG_DFL, signal.default_int_handler)
    taken = {name: handler for name, handler in before.items() if handler in usual}
    usual_hook, sys.unraisablehook = sys.unraisablehook, again
    for name in taken:
        signal.signal(name, stop)
    try:
        yield
    finally:
        sys.unraisablehook = usual_hook
        for name, handler in taken.items():
            signal.signal(name, handler)


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print warnings as one line, without the place in the source."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_args, **_more: f"edgecritic: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before
