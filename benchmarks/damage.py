"""Damaged files: whether a single wrong bit or a missing end ever gives other numbers without a word.

python benchmarks/run.py files

Every sample of `tests/datasets/corpus.py` whose format keeps a checksum is damaged in one bit, or cut, and
read in every way that works on the whole file. The result must be an error, or that of the whole file. Where
zlib's own checksum stays right no reader can know: Adler-32 is weak on maps of zeros and ones. Such bits are
told apart.
"""

from __future__ import annotations

import io
import runpy
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bars import ROOT, Figure, Given, check, run_tests
from edgecritic.datasets import files
from edgecritic.datasets.content import Content
from edgecritic.errors import EdgeCriticError

CORPUS = runpy.run_path(str(ROOT / "tests" / "datasets" / "corpus.py"))
SHAPE = (90, 110)
"""Large enough for 2,000 different cuts of most samples."""

Reader = Callable[[Content], Any]
READERS: tuple[Reader, ...] = (files.read_array, files.read_truths, files.read_strength, files.read_spacing)


def works(reader: Reader, content: Content) -> bool:
    try:
        return reader(content) is not None
    except EdgeCriticError:
        return False


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def outcomes(name: str, whole: bytes, versions: Iterable[bytes]) -> Counter[str]:
    """Count damaged versions that are refused, read alike, or read as something else."""
    path = Path(name)
    readers = [reader for reader in READERS if works(reader, Content(path, whole))]
    expected = [reader(Content(path, whole)) for reader in readers]
    found: Counter[str] = Counter()
    for version in versions:
        results = []
        for reader, wanted in zip(readers, expected, strict=True):
            try:
                results.append("alike" if same(reader(Content(path, version)), wanted) else "silent")
            except EdgeCriticError:
                results.append("refused")
        result = max(results, key=("refused", "alike", "silent").index)
        found["collision" if result == "silent" and collides(name, version) else result] += 1
    return found


def collides(name: str, content: bytes) -> bool:
    """Tell whether the checksums of all zlib streams of a file are right, as Python's zlib sees it."""
    streams = list(zlib_streams(name, content))
    try:
        return bool(streams) and all(zlib.decompress(one) is not None for one in streams)
    except zlib.error:
        return False


def zlib_streams(name: str, content: bytes) -> Iterator[bytes]:
    """Yield the parts of a file whose only checksum is Adler-32."""
    if name == "packed.mha":
        yield content.partition(b"LOCAL\n")[2]
    position = 128 if name in ("cells.mat", "soft.mat") else len(content)
    while position < len(content):
        (size,) = struct.unpack_from("<I", content, position + 4)
        yield content[position + 8 : position + 8 + size]
        position += 8 + size


def checked_bytes(name: str, content: bytes) -> range:
    """Return the places that a checksum covers: in a TIFF file the rows, else everything."""
    if name != "deflate.tif":
        return range(len(content))
    with Image.open(io.BytesIO(content)) as picture:
        (start,), (size,) = picture.tag_v2[273], picture.tag_v2[279]
    return range(start, start + size)


def flips(name: str, content: bytes, most: int, rng: np.random.Generator) -> Iterator[bytes]:
    places = checked_bytes(name, content)
    bits = 8 * len(places)
    for bit in rng.choice(bits, min(most, bits), replace=False):
        yield CORPUS["flipped"](content, 8 * places.start + int(bit))


def cuts(content: bytes, most: int, rng: np.random.Generator) -> Iterator[bytes]:
    for end in rng.choice(len(content), min(most, len(content)), replace=False):
        yield content[:end]


def told(found: dict[str, Counter[str]]) -> Figure:
    total = sum(sum(each.values()) for each in found.values())
    silent = {name: each["silent"] for name, each in found.items() if each["silent"]}
    words = [f"{name} {count}" for name, count in silent.items()]
    words += [
        f"{name}: Adler-32 stays right {each['collision']}×"
        for name, each in found.items()
        if each["collision"]
    ]
    text = f"{sum(silent.values())} of {total:,} in {len(found)} files"
    return Figure(f"{text} ({', '.join(words)})" if words else text, not silent)


@check(
    "files",
    ("one wrong bit in a file with checksums: other numbers without a word, 2,000 per file", "0"),
    ("a cut file with checksums: other numbers without a word, up to 2,000 per file", "0"),
    ("a cut file without checksums: other numbers without a word, up to 2,000 per file", "0"),
)
def damage(given: Given) -> Iterator[Figure]:
    rng = np.random.default_rng(5)
    most = given.size(100, 2000)
    samples = CORPUS["samples"](SHAPE)
    checked = {name: samples.pop(name) for name in CORPUS["CHECKED"] if name in samples}
    yield told(
        {name: outcomes(name, whole, flips(name, whole, most, rng)) for name, whole in checked.items()}
    )
    yield told({name: outcomes(name, whole, cuts(whole, most, rng)) for name, whole in checked.items()})
    yield told({name: outcomes(name, whole, cuts(whole, most, rng)) for name, whole in samples.items()})


@check(
    "files",
    ("two runs on one --out: tests of the lock", "the second is refused or waits: tests pass"),
    ("every command twice, later and elsewhere", "equal bytes: tests pass"),
    needs=("pytest",),
)
def repeated(given: Given) -> Iterator[Figure]:
    del given
    yield run_tests("tests/run/test_lock.py")
    yield run_tests("tests/test_same_bytes.py")
