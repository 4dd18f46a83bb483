"""The boundary benchmark beside the reference program: counts, speed, memory, and being killed.

python benchmarks/boundary.py [--quick]
"""

from __future__ import annotations

import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from bars import Bar, best, boundaries, child, data_root, seconds, ucm
from edgecritic import Benchmark, get_protocol, human_counts, human_level, sweep
from edgecritic.datasets.files import read_candidates, read_strength
from edgecritic.datasets.synthetic import write
from edgecritic.protocols.summary import summarise
from edgecritic.protocols.sweep import sweep_maps

PART = "boundary benchmark"


def golden_images(data: Path, kind: str) -> dict[str, tuple[np.ndarray, list[np.ndarray], np.ndarray]]:
    """Strength, truths and reference counts of the images with golden counts."""
    golden = json.loads((data.parent / "golden" / f"bsds500_val_{kind}_reference.json").read_text())["images"]
    found = {}
    for name, image in golden.items():
        if kind == "ucm":
            strength = ucm(data / f"bsds500/ucm2/val/{name}.mat")
        else:
            strength = np.array(Image.open(data / f"bsds500/gradient/val/{name}.png")) / 255
        truths = boundaries(data / f"bsds500/groundTruth/val/{name}.mat")
        found[name] = (strength, truths, np.array(image["rows"], dtype=float))
    return found


def counts(data: Path) -> Iterator[Bar]:
    for kind, steps in (("ucm", 99), ("gradient", 33)):
        protocol = get_protocol("bsds").with_changes("golden", thresholds=steps)
        ours, theirs, wrong = {}, {}, 0
        for name, (strength, truths, reference) in golden_images(data, kind).items():
            found = sweep(strength, truths, protocol=protocol).counts
            more = found[:, 1] - reference[:, 1]
            sums = (found[:, [2, 4]] == reference[:, [2, 4]]).all(axis=1)
            within = (more >= 0) & (more <= np.maximum(3, 0.006 * reference[:, 1]))
            wrong += int(np.count_nonzero(~(sums & within)))
            ours[name] = found
            theirs[name] = np.column_stack([found[:, 0], reference[:, 1:]])
        first, second = summarise(ours), summarise(theirs)
        gaps = [first.ods.f - second.ods.f, first.ois.f - second.ois.f, first.ap - second.ap]
        yield Bar(
            PART,
            f"golden counts, {kind}",
            f"{wrong} points out of bounds; ODS, OIS, AP differ by "
            + ", ".join(f"{gap:+.5f}" for gap in gaps),
            "0 points, differences ≤ 0.0005",
            wrong == 0 and max(map(abs, gaps)) <= 5e-4,
        )


def published(data: Path) -> Iterator[Bar]:
    home = data / "bsds_bench"
    worst = 0.0
    for test, kind in (("test_1", "ucm2"), ("test_2", "png"), ("test_3", "segs"), ("test_4", "segs")):
        benchmark = Benchmark(get_protocol("bsds").with_changes("five", thresholds=5))
        for path in sorted((home / kind).iterdir()):
            truths = boundaries(home / f"groundTruth/{path.stem}.mat")
            if kind == "segs":
                counted = sweep_maps(read_candidates(path), truths, protocol=benchmark.protocol)
                benchmark.add_counts(path.stem, counted)
            else:
                benchmark.update(read_strength(path), truths, id=path.stem)
        found = benchmark.result(draws=0).summary
        row = [found.ods.threshold, found.ods.recall, found.ods.precision, found.ods.f]
        row += [found.ois.recall, found.ois.precision, found.ois.f, found.ap]
        worst = max(worst, float(np.abs(row - np.loadtxt(home / test / "eval_bdry.txt")).max()))
    yield Bar(
        PART,
        "published outputs test_1 to test_4",
        f"largest difference {worst:.5f}",
        "≤ 0.0005",
        worst <= 5e-4,
    )


def human(data: Path) -> Iterator[Bar]:
    paths = sorted((data / "bsds500/groundTruth/val").iterdir())
    level = human_level(human_counts(boundaries(path)) for path in paths)
    met = abs(level.recall - 0.700762) <= 1e-3 and abs(level.precision - 0.897659) <= 1e-3
    yield Bar(
        PART,
        "human level of the 100 val images",
        f"R {level.recall:.4f}, P {level.precision:.4f}",
        "R .700762, P .897659 within .001",
        met,
    )


def sweeps(data: Path, images: int) -> Iterator[Bar]:
    """One thread each; the reference loop uses its own matcher and scikit-image's thinning.

    It takes minutes per image, so it runs at evenly spread thresholds, and its time is scaled up.
    """
    try:
        from pyEdgeEval._lib.correspond_pixels import correspond_pixels
    except ImportError:
        yield Bar(PART, "sweep against the reference loop", "pyEdgeEval is missing", "≥ 400×, ≥ 80×", None)
        return
    from skimage.morphology import thin

    def reference(strength: np.ndarray, truths: list[np.ndarray], thresholds: np.ndarray) -> None:
        for threshold in thresholds:
            candidate = thin(strength >= threshold).astype(float)
            union = np.zeros(strength.shape, bool)
            for truth in truths:
                matched, _ = correspond_pixels(candidate, truth.astype(float), 0.0075)[:2]
                union |= matched > 0

    for kind, steps, stride, bar in (("ucm", 99, 11, 400), ("gradient", 33, 3, 80)):
        protocol = get_protocol("bsds").with_changes("golden", thresholds=steps)
        ratios, times = [], []
        for strength, truths, _ in list(golden_images(data, kind).values())[:images]:
            ours = best(lambda s=strength, t=truths, p=protocol: sweep(s, t, protocol=p), 3)
            some = protocol.threshold_values()[stride // 2 :: stride]
            theirs = seconds(lambda s=strength, t=truths, some=some: reference(s, t, some))
            ratios.append(theirs * steps / len(some) / ours)
            times.append(ours)
        median = statistics.median(ratios)
        yield Bar(
            PART,
            f"sweep of {len(ratios)} {kind} maps against the reference loop at every {stride}th threshold",
            f"median {median:.0f}× (from {min(ratios):.0f}×), {1e3 * statistics.median(times):.0f} ms each",
            f"median ≥ {bar}×",
            median >= bar,
        )


def whole_command(data: Path) -> Iterator[Bar]:
    places = (data / "bsds500/ucm2/val", data / "bsds500/groundTruth/val")
    reading = (
        "import time; from edgecritic.datasets.cases import find_cases;"
        f"cases = find_cases({str(places[0])!r}, {str(places[1])!r}); start = time.perf_counter();"
        "[(case.load_strength(), case.load_truths()) for case in cases]; print(time.perf_counter() - start)"
    )
    run = (
        "import sys; sys.path.insert(0, {3!r}); from growth import peak_memory;"
        "from edgecritic.cli.main import main;"
        "status = main(['bench', 'ucm={0}', '--truth', '{1}', '--out', '{2}', '--jobs', '2']);"
        "sys.stderr.write(str(peak_memory())); sys.exit(status)"
    )
    spent, read, peak = [], [], 0.0
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", run.format(*places, folder, str(Path(__file__).parent))],
                check=True,
                capture_output=True,
                text=True,
            )
            spent.append(time.perf_counter() - start)
            peak = max(peak, int(done.stderr.split()[-1]) / 2**20)
        read.append(float(child(reading)[2]))
    ratio = min(spent) / min(read)
    yield Bar(
        PART,
        "edgecritic bench on 100 images, 2 jobs, report included",
        f"{min(spent):.1f} s, {ratio:.1f} times reading the 200 files ({min(read):.2f} s)",
        "≤ 6 times",
        ratio <= 6,
    )
    yield Bar(PART, "its peak memory", f"{peak:.0f} MiB", "≤ 600 MiB", peak <= 600)


def killed(times: int) -> Iterator[Bar]:
    """Kill a run again and again at random moments; the last one must leave the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "data", 12)
        folders = [f"{path.name}={path}" for path in sorted((home / "data/predictions").iterdir())]
        command = [sys.executable, "-m", "edgecritic", "bench", *folders, "--truth", str(home / "data/truth")]
        start = time.perf_counter()
        subprocess.run([*command, "--out", str(home / "calm")], check=True, capture_output=True)
        span = time.perf_counter() - start
        calm = (home / "calm/results.json").read_bytes()
        different = 0
        draw = random.Random(0)
        for k in range(times):
            out = home / f"killed-{k}"
            process = subprocess.Popen(
                [*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(draw.uniform(0.3, 1.0) * span)
            process.send_signal(signal.SIGKILL)
            process.wait()
            jobs = str((1, 2, 4)[k % 3])
            subprocess.run([*command, "--out", str(out), "--jobs", jobs], check=True, capture_output=True)
            different += (out / "results.json").read_bytes() != calm
        yield Bar(
            PART,
            f"killed {times} times and started again with 1, 2 or 4 jobs",
            f"{different} results.json differ from an undisturbed run's",
            "none",
            different == 0,
        )


def bars(data: Path, *, quick: bool = False) -> Iterator[Bar]:
    yield from counts(data)
    yield from published(data)
    yield from human(data)
    yield from sweeps(data, 2 if quick else 10)
    yield from whole_command(data)
    yield from killed(4 if quick else 20)


if __name__ == "__main__":
    for bar in bars(data_root(), quick="--quick" in sys.argv):
        print(bar)
