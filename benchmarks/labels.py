"""Scores of all labels of a folder of volumes, beside reading its files; lesions of one volume.

    python benchmarks/labels.py --cases 30 --side 256

Volumes are made: five organs with wavy surfaces, whose prediction has other waves, packed as NIfTI files.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from bars import Figure, Given, best, check, seconds
from edgecritic.datasets.files import read_array
from edgecritic.measures.label_maps import as_labels
from edgecritic.measures.lesions import evaluate
from edgecritic.run.executor import run_tasks
from edgecritic.run.score import score_folder
from edgecritic.run.score_files import ScoreSettings

PART = "measures"
MEASURES = ("dice", "hd95", "assd", "nsd")
LABELS = 5

Volume = NDArray[np.uint8]


@check(PART, ("volumes × 5 labels × 4 measures, 2 cores, against reading the files", "≤ 3 times"))
def labels_of_a_folder(given: Given) -> Iterator[Figure]:
    """30 cases of 256³ are measured by calling this file; here fewer and smaller ones stand for them."""
    cases, side = given.size(2, 6), given.size(96, 192)
    ours, reading = folder_times(cases, side)
    yield Figure(f"{cases} cases of {side}³: {ours:.2f} s, {ours / reading:.2f} times", ours <= 3 * reading)


@check(PART, ("lesions of a volume of 128³ with about 200 of them, by the rules", "none, for information"))
def lesions_of_a_volume(given: Given) -> Iterator[Figure]:
    del given
    rng = np.random.default_rng(0)
    field = ndimage.gaussian_filter(rng.normal(size=(128, 128, 128)), 3)
    truth = field > np.quantile(field, 0.975)
    candidate = np.roll(truth, 1, axis=0)
    count = ndimage.label(truth, np.ones((3, 3, 3)))[1]
    times = [
        f"{rule} {best(lambda rule=rule: evaluate(candidate, truth, rule=rule), 1) * 1e3:.0f} ms"
        for rule in ("brats-gli", "panoptica", "overlap")
    ]
    yield Figure(f"{count} lesions: {', '.join(times)}", None)


def folder_times(cases: int, side: int, repeats: int = 3) -> tuple[float, float]:
    """Return the least seconds of scoring all cases and of reading their files, by turns, on two cores."""
    settings = ScoreSettings(measures=MEASURES, labels=as_labels("all"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_cases(home, cases, side)
        files = sorted(home.rglob("*.nii.gz"))

        def score_all() -> None:
            score_folder(home / "predictions", home / "truths", settings=settings, jobs=2)

        def read_all() -> None:
            for _ in run_tasks(_read, files, jobs=2):
                pass

        score_all()
        runs = [(seconds(score_all), seconds(read_all)) for _ in range(repeats)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def write_cases(home: Path, cases: int, side: int) -> None:
    rng = np.random.default_rng(0)
    waves = [_waves(rng, side) for _ in range(2)]
    for case in range(cases):
        middles, radii = rng.uniform(0.3, 0.7, (LABELS, 3)) * side, rng.uniform(0.08, 0.18, LABELS) * side
        for folder, wave in zip(("truths", "predictions"), waves, strict=True):
            moved = np.roll(wave, tuple(rng.integers(0, side, 3)), axis=(0, 1, 2))
            place = home / folder / f"case{case}.nii.gz"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(gzip.compress(_nifti(_organs(middles, radii, moved)), 6))


def _waves(rng: np.random.Generator, side: int) -> NDArray[np.float32]:
    wave = ndimage.gaussian_filter(rng.normal(size=(side,) * 3).astype(np.float32), 2, mode="wrap")
    return (1.5 * wave / wave.std()).astype(np.float32)


def _organs(middles: NDArray[np.float64], radii: NDArray[np.float64], wave: NDArray[np.float32]) -> Volume:
    axes = np.ogrid[tuple(slice(0, n) for n in wave.shape)]
    volume = np.zeros(wave.shape, np.uint8)
    for label, (middle, radius) in enumerate(zip(middles, radii, strict=True), start=1):
        away = np.sqrt(sum((axis - at) ** 2 for axis, at in zip(axes, middle, strict=True)))
        volume[away + wave < radius] = label
    return volume


def _nifti(volume: Volume) -> bytes:
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *volume.shape, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1.5, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    header[344:348] = b"n+1\0"
    return bytes(header) + volume.tobytes(order="F")


def _read(path: Path) -> int:
    return read_array(path).size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=6)
    parser.add_argument("--side", type=int, default=192)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    ours, reading = folder_times(options.cases, options.side, options.repeats)
    print(f"scoring {ours:.2f} s, reading {reading:.2f} s: {ours / reading:.2f} times")


if __name__ == "__main__":
    main()
