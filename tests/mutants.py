"""Break the code on purpose, one small change at a time, and see whether its tests notice.

``make mutants ARGS=matching`` tries a sample of the mutants of every module of one part (see `PARTS`; of all
parts if none is named), with ``--all`` all of them. The changes are made in a copy under ``build/mutants``.
One process imports everything and runs the part's tests on the unchanged copy; then it forks once per mutant,
and the child imports the package anew and runs the tests that call the changed function. Those that killed
most so far go first, then the quick ones.

Compiled kernels are left out: a mutant would be compiled anew, and as plain Python their tests take minutes.
Their answers are compared with slow twins in the tests of the parts that call them.

Not changed are texts, type hints, metadata in strings, and what no result can show: sizes of caches,
options of ``dataclass``, ``strict`` of ``zip``; nor how thick, large or opaque something is drawn, which is a
matter of taste (where it is drawn is not). Mutants that mean the same as the original are in
``equivalent_mutants.txt`` beside this file, each with its reason, and do not count; a function named there
without a change tells how long something takes, and no more.
"""

from __future__ import annotations

import argparse
import ast
import copy
import dataclasses
import fcntl
import functools
import gc
import os
import random
import shutil
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "build" / "mutants"
PACKAGE = Path("src", "edgecritic")
OPTIONS = ["-x", "-q", "--assert=plain", "-m", "not data and not slow and not browser"]
OPTIONS += ["-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:threadexception"]
EXAMPLES = 25  # of a test with random input: more kill hardly more, and every mutant waits for them
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")


@dataclass(frozen=True)
class Part:
    """Modules that are changed, as patterns below the package, and the tests that are to notice."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self) -> list[Path]:
        """Return the files of the modules."""
        found = (path for pattern in self.modules for path in sorted((ROOT / PACKAGE).glob(pattern)))
        return [path for path in found if path.stem != "__init__"]

    def all_tests(self) -> list[str]:
        """Return the tests, and the modules themselves for their examples."""
        return [*self.tests, *(str(path.relative_to(ROOT)) for path in self.paths())]


PARTS = {
    "measures": Part(
        ("measures/*.py", "maps/nearest.py"),
        ("tests/measures", "tests/maps/test_nearest.py", "tests/test_registry.py"),
    ),
    "matching": Part(("matching/*.py", "assignment/*.py"), ("tests/matching", "tests/maps/test_walk.py")),
    "protocols": Part(
        ("protocols/*.py", "tuning/*.py", "maps/walk.py"),
        ("tests/protocols", "tests/tuning", "tests/maps/test_walk.py"),
    ),
}
KEPT = ("kernels", "lazy", "inputs", "ids", "errors", "registry", "values")
"""What is built on none of the parts, so that a child need not import it anew."""

COMPARES: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.MatMult: ast.Mult,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
SWAPS = {"min": "max", "any": "all", "ceil": "floor", "argmin": "argmax", "nanargmin": "nanargmax"}
SWAPS |= {new: old for old, new in SWAPS.items()}
HIDDEN_CALLS = {"dataclass", "lru_cache", "TypeVar", "isinstance", "InputError"}
HIDDEN_CALLS |= {"axes_of", "tick_params"}  # sizes of a figure and of its ticks
HIDDEN_CALLS |= {"plainly"}  # an amount of work, by which the quicker way to the same result is taken
HIDDEN_OPTIONS = {"strict", "stacklevel", "linewidth", "lw", "ms", "markeredgewidth", "alpha", "fontsize"}


@dataclass(frozen=True)
class Mutant:
    """One change: put `new` in place of ``getattr(parent, field)`` (its item `index`, if it is a list)."""

    module: str
    tree: ast.Module
    function: str
    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST

    @property
    def place(self) -> str:
        """What is changed, such as ``measures.merit.fom``; ``measures.merit.@fom`` is its head."""
        return f"{self.module}.{self.function}"

    @property
    def line(self) -> int:
        """Where the change is in the module."""
        return getattr(self.old, "lineno", 0)

    def __str__(self) -> str:
        """Return the changed line before and after, in the words of `ast.unparse`."""
        lines = zip(_lines(self.tree), self.source().splitlines(), strict=False)
        before, after = next((old.strip(), new.strip()) for old, new in lines if old != new)
        return f"{self.place}: {before}  ->  {after}"

    def source(self) -> str:
        """Return the text of the changed module."""
        self._put(self.new)
        try:
            return ast.unparse(ast.fix_missing_locations(self.tree))
        finally:
            self._put(self.old)

    def _put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@functools.lru_cache(maxsize=1)
def _lines(tree: ast.Module) -> list[str]:
    return ast.unparse(tree).splitlines()


def mutants_of(module: str, text: str) -> list[Mutant]:
    """Return every change of a module, from top to bottom."""
    tree = ast.parse(text)
    places = _places(tree, "")
    return [Mutant(module, tree, *place, new) for place in places for new in _changes(place[-1], place[1])]


def _places(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Yield what may be changed below a node: its function, the place where it hangs, and itself."""
    named = isinstance(node, ast.FunctionDef | ast.ClassDef)
    for field, value in ast.iter_fields(node):
        home = (node.name if field == "body" else f"@{node.name}") if named else function
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_hidden(child, node, field):
                yield home, node, field, index, child
                yield from _places(child, home)


def _is_hidden(node: ast.AST, parent: ast.AST, field: str) -> bool:
    if field in ("annotation", "returns") or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    call = node.value if isinstance(node, ast.Expr) else node
    if isinstance(call, ast.Call) and _name(call.func) in HIDDEN_CALLS:
        return True
    if isinstance(node, ast.keyword) and node.arg in HIDDEN_OPTIONS:
        return True
    if isinstance(node, ast.Assign) and isinstance(parent, ast.Module):  # __all__ and names of types
        is_union = isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.BitOr)
        return _name(node.targets[0]) == "__all__" or is_union or isinstance(node.value, ast.Subscript)
    if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node)


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    match node:
        case ast.Compare():
            for index, own in enumerate(node.ops):
                for other in COMPARES[type(own)]:
                    yield _with(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.BinOp() | ast.AugAssign():
            yield _with(node, op=OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
        case ast.Name(id=name) if name in SWAPS and isinstance(parent, ast.Call):
            yield ast.Name(SWAPS[name])
        case ast.Attribute(attr=name) if name in SWAPS:
            yield _with(node, attr=SWAPS[name])
        case ast.Slice():
            yield from _moved_bounds(node)
        case ast.Return(value=ast.AST()) if not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            yield ast.Return(ast.Constant(None))
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    if _may_go(node):
        yield ast.Pass()


def _moved_bounds(node: ast.Slice) -> Iterator[ast.AST]:
    for side in ("lower", "upper"):
        bound = getattr(node, side)
        if bound is not None and not isinstance(bound, ast.Constant):
            yield _with(node, **{side: ast.BinOp(bound, ast.Add(), ast.Constant(1))})


def _may_go(node: ast.AST) -> bool:
    """Whether a statement can be left out and the rest still has all its names."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Subscript | ast.Attribute)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    changed = copy.copy(node)
    for field, value in changes.items():
        setattr(changed, field, value)
    return changed


def _name(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


@dataclass
class Knowledge:
    """What the runs so far tell about the tests.

    Attributes
    ----------
    kills : how many mutants every test has killed
    times : seconds that every test took
    calls : the functions of the package that every test calls; under "" those called before the tests
    """

    kills: Counter[str] = dataclasses.field(default_factory=Counter)
    times: Counter[str] = dataclasses.field(default_factory=Counter)
    calls: dict[str, set[str]] = dataclasses.field(default_factory=lambda: defaultdict(set))

    def time_of(self, function: str) -> float:
        """Return the seconds that the tests which can notice a change of a function take."""
        return sum(spent for test, spent in self.times.items() if self.may_notice(test, function))

    def may_notice(self, test: str, function: str) -> bool:
        """Whether a test can notice a change of a function; what nobody calls may concern all."""
        everywhere = function in self.calls[""] or not any(function in each for each in self.calls.values())
        return everywhere or function in self.calls[test]


class Plugin:
    """A plugin of pytest: chooses and orders the tests, and notes which one fails."""

    def __init__(self, known: Knowledge, function: str | None) -> None:
        self.known, self.function = known, function
        self.failed = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")  # nobody reads the examples, so they are not made small
        with self._watching(""):
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from hypothesis import settings

        for item in items:
            test = getattr(item, "obj", None)
            if own := getattr(test, "_hypothesis_internal_use_settings", None):
                few = settings(own, max_examples=min(own.max_examples, EXAMPLES))
                test._hypothesis_internal_use_settings = few  # type: ignore[union-attr]
        if self.function is not None:
            items[:] = [item for item in items if self.known.may_notice(item.nodeid, self.function)]
        items.sort(key=lambda item: (-self.known.kills[item.nodeid], self.known.times[item.nodeid]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with self._watching(item.nodeid):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.known.times[report.nodeid] += report.duration
        if report.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = "collection"

    @contextmanager
    def _watching(self, test: str) -> Iterator[None]:
        """Without a mutant, note the functions that are called."""
        if self.function is not None:
            yield
            return
        home, calls = str(COPY / PACKAGE), self.known.calls[test]
        for module in [each for name, each in sys.modules.items() if name.startswith("edgecritic.")]:
            for cached in vars(module).values():
                if hasattr(cached, "cache_clear"):  # the answer may be there because of another test
                    cached.cache_clear()

        def note(frame: FrameType, event: str, _: object) -> None:
            if frame.f_code.co_filename.startswith(home):
                calls.add(f"{_dotted(Path(frame.f_code.co_filename), COPY)}.{frame.f_code.co_name}")

        sys.settrace(note)
        try:
            yield
        finally:
            sys.settrace(None)


class Trials:
    """The copy of the project, the process that has everything imported, and its children."""

    def __init__(self, tests: list[str]) -> None:
        self.known, self.tests = Knowledge(), tests
        COPY.mkdir(parents=True, exist_ok=True)
        self.lock = (COPY / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run works in {COPY}; wait until it has ended")
        _copy_project()
        os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / PACKAGE / "kernels" / "__pycache__"))
        os.chdir(COPY)
        sys.path.insert(0, str(COPY / "src"))
        sys.dont_write_bytecode = False
        if failed := self._tests(None):
            sys.exit(f"the tests fail without any mutant: {failed}")
        sys.dont_write_bytecode = True
        gc.freeze()

    def killer(self, mutant: Mutant) -> str:
        """Return the test that fails on a mutant, or nothing."""
        place = COPY / PACKAGE / f"{mutant.module.replace('.', '/')}.py"
        original = place.read_text()
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*"):
            compiled.unlink()
        place.write_text(mutant.source())
        try:
            found = self._in_child(mutant.place)
        finally:
            place.write_text(original)
        self.known.kills[found] += 1
        return found

    def _in_child(self, function: str) -> str:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            limit = 20 + 2 * self.known.time_of(function)
            signal.setitimer(signal.ITIMER_REAL, limit)  # its signal ends the child, loops and all
            _forget_package()
            os.write(writer, self._tests(function).encode())
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reader) as pipe:
            return pipe.read() if status == 0 else "time limit or crash"

    def _files(self, function: str | None) -> list[str]:
        """Return the files of the tests that concern a function, or all."""
        if function is None:
            return self.tests
        concerned = (test for test in self.known.times if self.known.may_notice(test, function))
        return sorted({test.partition("::")[0] for test in concerned})

    def _tests(self, function: str | None) -> str:
        """Run the tests quietly, those that concern a function or all; return the first that fails."""
        plugin = Plugin(self.known, function)
        out, quiet = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        try:
            code = pytest.main([*OPTIONS, *self._files(function)], plugins=[plugin])
        finally:
            os.dup2(out, 1)
        return plugin.failed or ("" if code == 0 else f"pytest ended with {code}")


def _copy_project() -> None:
    """Refresh the copy."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tests"):
        shutil.rmtree(COPY / folder, ignore_errors=True)
        shutil.copytree(ROOT / folder, COPY / folder, ignore=unwanted)
    shutil.copy2(ROOT / "pyproject.toml", COPY)


def _forget_package() -> None:
    """Forget all modules of the package but those in `KEPT`, and the tests."""
    package = sys.modules["edgecritic"]
    for name, module in list(sys.modules.items()):
        room = name.removeprefix("edgecritic.").partition(".")[0]
        ours = str(COPY) in (getattr(module, "__file__", "") or "")
        if ours and module is not package and room not in KEPT:
            del sys.modules[name]
            vars(package).pop(room, None)


def _dotted(path: Path, root: Path) -> str:
    """Return the name of a module below the package, such as ``measures.merit``."""
    return ".".join(path.relative_to(root / PACKAGE).with_suffix("").parts)


def equivalent() -> set[str]:
    """Return what is known to mean the same as the original: mutants, and functions with all of theirs."""
    lines = EQUIVALENT.read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith(("#", " "))}


def main(argv: Sequence[str] | None = None) -> int:
    """Try mutants; say which survive and which share of every part was killed."""
    parser = argparse.ArgumentParser(description="Change the code and see whether the tests notice.")
    known = ", ".join(PARTS)
    parser.add_argument(
        "names", nargs="*", help=f"parts ({known}) or modules, such as measures.merit; all if none"
    )
    parser.add_argument("--sample", type=int, default=12, help="mutants per module (default: 12)")
    parser.add_argument("--all", action="store_true", help="all mutants of every module")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--list", action="store_true", help="print the mutants only")
    parser.add_argument("--at-least", type=float, default=90, help="fail below this percentage (default: 90)")
    args = parser.parse_args(argv)

    chosen = choose(args.names, None if args.all else args.sample, args.seed)
    if args.list:
        groups = [group for modules in chosen.values() for group in modules.values()]
        print(*(f"{each.line}: {each}" for group in groups for each in group), sep="\n")
        return 0
    children = []
    for part, groups in chosen.items():
        sys.stdout.flush()
        if (child := os.fork()) == 0:  # a process for every part: each imports the package for itself
            os._exit(int(try_part(part, groups) < args.at_least))
        children.append(os.waitpid(child, 0)[1])
    return int(any(children))


def try_part(part: str, groups: dict[str, list[Mutant]]) -> float:
    """Try the mutants of a part; print the survivors and the counts, return the killed in percent."""
    trials, alike = Trials(PARTS[part].all_tests()), equivalent()
    killed = made = 0
    for module, group in groups.items():
        counted = [each for each in group if not {str(each), each.place} & alike]
        alive = 0
        for each in counted:
            if not trials.killer(each):
                alive += 1
                print(f"    survived: line {each.line} of {each}", flush=True)
        killed, made = killed + len(counted) - alive, made + len(counted)
        print(f"{module:24} {len(counted) - alive:4} of {len(counted):4} killed", flush=True)
    share = 100 * killed / max(made, 1)
    print(f"{part:24} {killed:4} of {made:4} killed: {share:.1f} %", flush=True)
    return share


def choose(names: Sequence[str], sample: int | None, seed: int) -> dict[str, dict[str, list[Mutant]]]:
    """Return the mutants to try by part and module: all, or the same random ones for the same seed."""
    chosen: dict[str, dict[str, list[Mutant]]] = defaultdict(dict)
    for part, path in [(part, path) for part, content in PARTS.items() for path in content.paths()]:
        module = _dotted(path, ROOT)
        if not names or part in names or module in names:
            found = mutants_of(module, path.read_text())
            if sample is not None and sample < len(found):
                kept = sorted(random.Random(f"{seed} {module}").sample(range(len(found)), sample))
                found = [found[index] for index in kept]
            chosen[part][module] = found
    if not chosen:
        sys.exit(f"there is no part or module {', '.join(names)}; parts are {', '.join(PARTS)}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
