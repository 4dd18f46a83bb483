"""How soon commands start: their help, their first work, and the compilation of the kernels."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bars import Figure, Given, check, child, surroundings
from edgecritic.cli.main import build_parser
from edgecritic.datasets.synthetic import write

PART = "adoption"
EDGECRITIC = ("-m", "edgecritic")


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and sub-command."""
    yield path
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, (*path, name))


def slowest(spent: dict[str, float]) -> str:
    """Return the slowest few in words."""
    three = sorted(spent.items(), key=lambda item: -item[1])[:3]
    return f"{len(spent)} commands; slowest " + ", ".join(f"{name} {took:.2f} s" for name, took in three)


@check(PART, ("--help of every command", "≤ 0.5 s"))
def helps(given: Given) -> Iterator[Figure]:
    spent = {}
    for words in commands(build_parser()):
        runs = [child(*EDGECRITIC, *words, "--help")[0] for _ in range(given.size(2, 3))]
        spent[" ".join(words) or "edgecritic"] = min(runs)
    yield Figure(slowest(spent), max(spent.values()) <= 0.5)


@check(PART, ("first work of every command, warm cache", "≤ 1.5 s"))
def first_work(given: Given) -> Iterator[Figure]:
    """Whole runs on as little as possible; of demo and studio, until the first line and the first answer."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "data", 2)
        spent = {}
        for words in small_work(home / "data"):
            child(*EDGECRITIC, *words, cwd=home)
            runs = [child(*EDGECRITIC, *words, cwd=home)[0] for _ in range(given.size(2, 3))]
            spent[words[0]] = min(runs)
        spent["demo"] = min(first_line(home, "demo") for _ in range(2))
        spent["studio"] = min(first_line(home, "studio", "--port", "0", "--no-example") for _ in range(2))
    yield Figure(slowest(spent), max(spent.values()) <= 1.5)


def small_work(data: Path) -> Iterator[list[str]]:
    """Yield the words of each command that does its work and ends."""
    image = sorted((data / "images").iterdir())[0]
    maps, truths = data / "predictions/good", data / "truth"
    one = [str(maps / image.name), str(truths / f"{image.stem}.mat"), "--binarize", "0.5", "--json"]
    yield ["match", *one]
    yield ["score", *one]
    yield ["detect", "canny", str(image), "-o", "edges"]
    tuned = ["--truth", str(truths / f"{image.stem}.mat"), "-d", "canny", "-m", "f", "--thresholds", "11"]
    yield ["tune", str(image), *tuned, "--json"]
    yield ["bench", f"good={maps}", "--truth", str(truths), "--json"]
    yield ["doctor", str(maps), "--truth", str(truths)]
    yield ["annotators", str(truths), "--json"]
    yield ["study", "displacement", "--json"]
    yield ["list", "measures"]
    yield ["completion", "bash"]


def first_line(home: Path, *words: str) -> float:
    """Return the seconds until a command prints its first line; it is ended then."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-u", *EDGECRITIC, *words],
        cwd=home,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        said = process.stdout.readline()
        spent = time.perf_counter() - start
        process.kill()
    if not said:
        raise RuntimeError(f"{' '.join(words)} ended without a word")
    return spent


SMALL_SWEEP = """
import numpy as np, edgecritic
strength = np.zeros((40, 50))
strength[20] = 0.5
edgecritic.Benchmark().update(strength, [strength > 0])
"""

LARGE_SWEEP = """
import numpy as np, edgecritic
strength = np.zeros((321, 481))
strength[20:300:4] = 0.5
edgecritic.Benchmark().update(strength, [strength > 0])
"""

MATCH = """
import numpy as np, edgecritic
maps = np.random.default_rng(0).random((2, 321, 481)) < 0.1
edgecritic.match(*maps)
"""


@check(
    PART,
    ("first edgecritic match from nothing, a small pair and a large one", "≤ 4 s"),
    ("first sweep from nothing, of a small map and of a large one", "≤ 7 s"),
    ("second start of edgecritic match on a small pair", "≤ 0.7 s"),
    ("all kernels (warmup), compiled from nothing", "≤ 18 s"),
)
def compilation(given: Given) -> Iterator[Figure]:
    """Small maps are judged before anything is compiled; the large ones, of 15,000 pixels, are not."""
    del given
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "data", 1)
        words = [*EDGECRITIC, *next(small_work(home / "data"))]
        small, _ = child(*words, NUMBA_CACHE_DIR=str(home / "small"))
        large, _ = child("-c", MATCH, NUMBA_CACHE_DIR=str(home / "large"))
        yield Figure(f"{small:.1f} s and {large:.1f} s", max(small, large) <= 4)
        small, large = (
            child("-c", code, NUMBA_CACHE_DIR=str(home / "sweep"))[0] for code in (SMALL_SWEEP, LARGE_SWEEP)
        )
        yield Figure(f"{small:.1f} s and {large:.1f} s", max(small, large) <= 7)
        second = min(child(*words, NUMBA_CACHE_DIR=str(home / "large"))[0] for _ in range(3))
        yield Figure(f"{second:.2f} s", second <= 0.7)
        whole, _ = child(*EDGECRITIC, "warmup", NUMBA_CACHE_DIR=str(home / "all"))
        yield Figure(f"{whole:.1f} s", whole <= 18)
