"""Break the measures on purpose, one small change at a time, and see whether their tests notice.

``make mutants`` tries a sample of the mutants of every module, ``make mutants ARGS=--all`` all of them.
The changes are made in a copy under ``build/mutants``. One process imports everything and runs the tests on
the unchanged copy; then it forks once per mutant, and the child imports the measures anew. The tests that
killed most so far go first, then the quick ones.

Not changed are texts, type hints, metadata in strings, and what no result can show: sizes of caches,
options of ``dataclass``, ``strict`` of ``zip``. Mutants that mean the same as the original are in
``equivalent_mutants.txt`` beside this file, each with its reason, and do not count.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "build" / "mutants"
PACKAGE = Path("src", "edgecritic", "measures")
TESTS = ["tests/measures", "tests/test_registry.py", str(PACKAGE)]
OPTIONS = ["-x", "-q", "--assert=plain", "-m", "not data and not slow and not browser"]
OPTIONS += ["-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:threadexception"]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")

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
HIDDEN_CALLS = {"dataclass", "lru_cache", "TypeVar", "isinstance", "Literal"}


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
    def line(self) -> int:
        """Where the change is in the module."""
        return getattr(self.old, "lineno", 0)

    def __str__(self) -> str:
        """Return the changed line before and after, in the words of `ast.unparse`."""
        lines = zip(ast.unparse(self.tree).splitlines(), self.source().splitlines(), strict=False)
        before, after = next((old.strip(), new.strip()) for old, new in lines if old != new)
        return f"{self.module}.{self.function}: {before}  ->  {after}"

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


def mutants_of(module: str, text: str) -> list[Mutant]:
    """Return every change of a module, from top to bottom."""
    tree = ast.parse(text)
    places = _places(tree, "")
    return [Mutant(module, tree, *place, new) for place in places for new in _changes(place[-1], place[1])]


def _places(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Yield what may be changed below a node: its function, the place where it hangs, and itself."""
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_hidden(child, node, field):
                yield function, node, field, index, child
                yield from _places(child, getattr(child, "name", function))


def _is_hidden(node: ast.AST, parent: ast.AST, field: str) -> bool:
    if field in ("annotation", "returns") or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Call) and _name(node.func) in HIDDEN_CALLS | {
        "InputError",
        "NotImplementedError",
    }:
        return True
    if isinstance(node, ast.keyword) and node.arg in ("strict", "stacklevel"):
        return True
    if isinstance(node, ast.Assign) and isinstance(parent, ast.Module):  # __all__ and names of types
        return _name(node.targets[0]) == "__all__" or isinstance(node.value, ast.BinOp | ast.Subscript)
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


class Order:
    """A plugin of pytest: orders the tests, keeps their times, and notes the one that fails."""

    def __init__(self, kills: Counter[str], times: dict[str, float]) -> None:
        self.kills, self.times = kills, times
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: (-self.kills[item.nodeid], self.times.get(item.nodeid, 0.0)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")  # nobody reads the examples, so they are not made small

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.times[report.nodeid] = self.times.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = "collection"


class Trials:
    """The copy of the project, the process that has everything imported, and its children."""

    def __init__(self) -> None:
        self.kills: Counter[str] = Counter()
        self.times: dict[str, float] = {}
        _copy_project()
        os.chdir(COPY)
        sys.path.insert(0, str(COPY / "src"))
        start = time.perf_counter()
        if failed := self._tests():
            sys.exit(f"the tests fail without any mutant: {failed}")
        self.limit = 20 + 3 * (time.perf_counter() - start)
        sys.dont_write_bytecode = True
        gc.freeze()

    def killer(self, mutant: Mutant) -> str:
        """Return the test that fails on a mutant, or nothing."""
        place = COPY / PACKAGE / f"{mutant.module}.py"
        original = place.read_text()
        for compiled in (place.parent / "__pycache__").glob(f"{mutant.module}.*"):
            compiled.unlink()
        place.write_text(mutant.source())
        try:
            found = self._in_child()
        finally:
            place.write_text(original)
        self.kills[found] += 1
        return found

    def _in_child(self) -> str:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, self.limit)  # its signal ends the child, loops and all
            _forget_measures()
            os.write(writer, self._tests().encode())
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reader) as pipe:
            return pipe.read() if status == 0 else "time limit or crash"

    def _tests(self) -> str:
        """Run the tests quietly; return the first that fails."""
        order = Order(self.kills, self.times)
        out, quiet = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        try:
            code = pytest.main([*OPTIONS, *TESTS], plugins=[order])
        finally:
            os.dup2(out, 1)
        return order.failed or ("" if code == 0 else f"pytest ended with {code}")


def _copy_project() -> None:
    """Refresh the copy; unchanged files keep their time, so that compiled kernels stay valid."""
    shutil.rmtree(COPY / PACKAGE, ignore_errors=True)
    shutil.rmtree(COPY / "tests", ignore_errors=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, COPY / folder, ignore=unwanted, dirs_exist_ok=True)
    shutil.copy2(ROOT / "pyproject.toml", COPY)


def _forget_measures() -> None:
    """Forget all modules but those that measures are built on, and the tests."""
    kept = ("kernels", "matching", "inputs", "ids", "errors", "registry", "detectors")
    ours = [
        name for name, module in sys.modules.items() if str(COPY) in (getattr(module, "__file__", "") or "")
    ]
    for name in ours:
        if name != "edgecritic" and not name.startswith(tuple(f"edgecritic.{part}" for part in kept)):
            del sys.modules[name]
    vars(sys.modules["edgecritic"]).pop("measures", None)


def equivalent() -> set[str]:
    """Return the mutants that are known to mean the same as the original."""
    lines = EQUIVALENT.read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith(("#", " "))}


def main(argv: Sequence[str] | None = None) -> int:
    """Try mutants; say which survive and which share was killed."""
    parser = argparse.ArgumentParser(description="Change the measures and see whether the tests notice.")
    parser.add_argument("modules", nargs="*", help="modules of the measures, such as merit; all if none")
    parser.add_argument("--sample", type=int, default=40, help="mutants per module (default: 40)")
    parser.add_argument("--all", action="store_true", help="all mutants of every module")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--list", action="store_true", help="print the mutants only")
    parser.add_argument("--at-least", type=float, default=85, help="fail below this percentage (default: 85)")
    args = parser.parse_args(argv)

    chosen = choose(args.modules, None if args.all else args.sample, args.seed)
    if args.list:
        print(*(f"{each.line}: {each}" for group in chosen.values() for each in group), sep="\n")
        return 0
    trials, alike = Trials(), equivalent()
    killed = made = 0
    for module, group in chosen.items():
        group = [each for each in group if str(each) not in alike]
        alive = [each for each in group if not trials.killer(each)]
        killed, made = killed + len(group) - len(alive), made + len(group)
        print(f"{module:16} {len(group) - len(alive):4} of {len(group):4} killed", flush=True)
        for each in alive:
            print(f"    line {each.line}  {each}", flush=True)
    share = 100 * killed / max(made, 1)
    print(f"{'all':16} {killed:4} of {made:4} killed: {share:.1f} %")
    return int(share < args.at_least)


def choose(modules: Sequence[str], sample: int | None, seed: int) -> dict[str, list[Mutant]]:
    """Return the mutants to try by module: all of them, or the same random ones for the same seed."""
    paths = sorted((ROOT / PACKAGE).glob("*.py"))
    chosen = {}
    for path in paths:
        if path.stem in modules or (not modules and path.stem != "__init__"):
            found = mutants_of(path.stem, path.read_text())
            if sample is not None and sample < len(found):
                kept = sorted(random.Random(f"{seed} {path.stem}").sample(range(len(found)), sample))
                found = [found[index] for index in kept]
            chosen[path.stem] = found
    return chosen


if __name__ == "__main__":
    sys.exit(main())
