"""Maps too large for memory, matched in tiles: the result beside that of the whole, and the memory.

python benchmarks/rasters.py tiles|whole CANDIDATE TRUTH  matches two files in this process.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from bars import Figure, Given, check, child
from growth import peak_memory

PART = "rasters"

TOLERANCE = 3.0
DENSITY = 0.02


@check(
    PART,
    ("exact matching of 20,000 × 20,000 pixels, density 0.02, by tiles, beside the whole", "equal"),
    ("its peak memory, with reading", "≤ 4 GiB"),
)
def large(given: Given) -> Iterator[Figure]:
    """Random pixels; files of 8 bits, one unpacked, one packed; each way in a process of its own."""
    side = given.size(4000, 20_000)
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("candidate.npy", "truth.tif")]
        rng = np.random.default_rng(side)
        for path in files:
            mask = np.concatenate([rng.random((side // 20, side), np.float32) < DENSITY for _ in range(20)])
            if path.endswith(".npy"):
                np.save(path, mask)
            else:
                Image.fromarray(mask.view(np.uint8)).save(path, compression="tiff_adobe_deflate")
            del mask
        whole, tiles = (
            json.loads(child(str(Path(__file__)), way, *files, limit=7200)[1]) for way in ("whole", "tiles")
        )
    same = all(whole[name] == tiles[name] for name in ("tp", "fp", "fn", "cost"))
    told = (
        f"{tiles['tp']:,} hits, {tiles['fp']:,} false alarms, {tiles['fn']:,} misses, cost {tiles['cost']:,}"
    )
    yield Figure(f"{'the same' if same else 'not the same'}: {told}; {tiles['tiles']} tiles", same)
    peak = tiles["peak"] / 2**30
    told = f"{peak:.2f} GiB, {tiles['seconds']:.0f} s of CPU"
    yield Figure(f"{told}; the whole: {whole['peak'] / 2**30:.2f} GiB, {whole['seconds']:.0f} s", peak <= 4)


def in_tiles(candidate: str, truth: str) -> dict[str, int]:
    from edgecritic.matching.tiled import match_pixels
    from edgecritic.run.rasters import read_pixels

    given = read_pixels(candidate, [truth])
    found = match_pixels(given.candidate, given.truths[0], given.shape, tolerance=TOLERANCE)
    return {"tp": found.tp, "fp": found.fp, "fn": found.fn, "cost": found.cost, "tiles": found.tiles}


def as_a_whole(candidate: str, truth: str) -> dict[str, int]:
    from edgecritic import match

    Image.MAX_IMAGE_PIXELS = None
    found = match(np.load(candidate), np.asarray(Image.open(truth)), tolerance=TOLERANCE)
    lone = found.fp * round(10_000 * TOLERANCE)
    cost = int(np.floor(100 * found.distances + 0.5).sum()) + lone
    return {"tp": found.tp, "fp": found.fp, "fn": found.fn, "cost": cost}


def main(way: str, candidate: str, truth: str) -> None:
    found = {"tiles": in_tiles, "whole": as_a_whole}[way](candidate, truth)
    print(json.dumps({**found, "seconds": time.process_time(), "peak": peak_memory()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
