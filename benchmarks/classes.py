"""Boundaries of classes: published counts, the conversion of labels, speed, and pyEdgeEval beside it.

pyEdgeEval has wheels for Python 3.8 only: ``EDGECRITIC_PYEDGEEVAL`` names a Python that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bars import Figure, Given, MissingError, check
from streets import predicted, street

CLASS = "person"
CONVERTED = {
    ("sbd-seal-raw", "cls"): (2811, 5711),
    ("sbd-seal-raw-inst", "inst"): (4257, 5737),
    ("sbd-seal-thin-inst", "inst"): (1081, 1430),
}
"""Pixels of the class in the truths of the two images, by the rules of SEAL."""


@check(
    "classes",
    ("sbd_bench: ODS and OIS", ".642639 and .668263"),
    ("sbd_bench: area and AP", "within .0002 of .680153 and .663051"),
    ("sbd_bench: sums equal at all 198 points, matches never fewer", "0 and 0"),
    needs=("sbd_bench",),
)
def published(given: Given) -> Iterator[Figure]:
    from edgecritic.run.bench import run_bench

    home = _home(given)
    run = run_bench({"x": home / "indir"}, home / "datadir", protocol=_only("sbd"), draws=0, jobs=1)
    found = run.details["x"].groups[CLASS]
    scores = f"{found.ods.f:.6f}", f"{found.ois.f:.6f}"
    yield Figure(" and ".join(scores), scores == ("0.642639", "0.668263"))
    area, ap = found.aps["interpolated-101"], found.aps["max-precision-100"]
    near = abs(area - 0.680153) < 2e-4 and abs(ap - 0.663051) < 2e-4
    yield Figure(f"{area:.6f} and {ap:.6f}", near)
    wrong = fewer = more = 0
    for name, counts in run.details["x"].counts.items():
        table, theirs = counts.group(CLASS).table(), np.loadtxt(home / "outdir" / f"{name}_ev1.txt")
        wrong += int((table[:, [2, 4]] != theirs[:, [2, 4]]).sum())
        fewer += int((table[:, [1, 3]] < theirs[:, [1, 3]]).sum())
        more += int((table[:, 1] > theirs[:, 1]).sum())
    yield Figure(f"{wrong} and {fewer} (more at {more})", wrong == fewer == 0)


@check("classes", ("labels to boundaries: pixels of SEAL's truths", "all equal"), needs=("sbd_bench",))
def converted(given: Given) -> Iterator[Figure]:
    from edgecritic.datasets.files import read_classes
    from edgecritic.protocols.classes import truth_maps

    home = _home(given) / "datadir"
    wrong = []
    for (protocol, folder), wanted in CONVERTED.items():
        for path, pixels in zip(sorted((home / folder).glob("*.mat")), wanted, strict=True):
            found = read_classes(path)
            maps = truth_maps(
                _only(protocol).classes, labels=found.labels, instances=found.instances, stored=found.stored
            )
            wrong += [path.name] * (int(maps[CLASS].sum()) != pixels)
    yield Figure(f"{6 - len(wrong)} of 6 equal", not wrong)


@check(
    "classes",
    ("20 images × 19 classes, thin: beside the same pixels in one class", "≤ 1.5 ×"),
    ("20 images × 19 classes, raw: beside the same pixels in one class", "≤ 1.5 ×"),
)
def many_classes(given: Given) -> Iterator[Figure]:
    """The same pixels in one class: the maps of the 19 classes below each other, as one image."""
    from edgecritic.protocols.class_sweep import sweep_classes
    from edgecritic.protocols.presets import get_protocol
    from edgecritic.protocols.sweep import sweep

    for name in ("cityscapes-thin", "cityscapes-raw"):
        protocol = get_protocol(name)
        cases = [_case(protocol, seed, (1024, 2048)) for seed in range(given.size(1, 20))]
        maps, truths = cases[0]
        one = protocol.with_changes("one", classes=None, tolerance=protocol.tolerance_for(truths.shape[1:]))
        sweep_classes(maps, truths, protocol=protocol)
        sweep(maps[0], truths[0], protocol=one)
        start = time.process_time()
        for maps, truths in cases:
            sweep_classes(maps, truths, protocol=protocol)
        apart = time.process_time() - start
        start = time.process_time()
        for maps, truths in cases:
            sweep(_mosaic(maps), _mosaic(truths), protocol=one)
        together = time.process_time() - start
        yield Figure(
            f"{apart / together:.2f} × ({apart:.1f} s and {together:.1f} s)", apart <= 1.5 * together
        )


@check(
    "classes",
    ("pyEdgeEval on 20 generated streets, thin: MF(ODS)", "within .002"),
    ("pyEdgeEval on 20 generated streets, raw: MF(ODS)", "within .002"),
)
def beside_pyedgeeval(given: Given) -> Iterator[Figure]:
    """Both convert the same labels and judge the same maps, small ones, at some of the thresholds."""
    from edgecritic.protocols.counts import Counts
    from edgecritic.protocols.summary import summarise

    peer = _peer()
    for name in ("cityscapes-thin", "cityscapes-raw"):
        protocol = _whole_size(name, 0.014, given.size(9, 19))
        labels, maps, truths = _streets(protocol, range(given.size(2, 20)), (128, 256))
        own = {str(k): one for k, one in enumerate(_own_counts(protocol, labels, maps))}
        theirs, their_truths, _ = _counts_of_peer(peer, labels, maps, protocol)
        others = {
            str(number): Counts.of_groups(
                {
                    group: Counts.from_rows(np.column_stack([protocol.threshold_values(), *columns]))
                    for group, columns in zip(protocol.classes.names, one, strict=True)
                }
            )
            for number, one in enumerate(theirs)
        }
        mine, other = (summarise(one, protocol=protocol).ods.f for one in (own, others))
        pixels = int(np.stack(truths).sum())
        told = f"{mine:.4f}, theirs {other:.4f}; truth pixels {pixels} and {int(their_truths.sum())}"
        yield Figure(told, abs(mine - other) <= 0.002)


@check(
    "classes",
    ("pyEdgeEval on a generated street, 99 thresholds, thin", "≥ 200 × faster"),
    ("pyEdgeEval on a generated street, 99 thresholds, raw", "≥ 200 × faster"),
)
def faster_than_pyedgeeval(_: Given) -> Iterator[Figure]:
    """pyEdgeEval judges every threshold anew: it is timed at 3 of the 99, which is multiplied by 33."""
    peer = _peer()
    for name in ("cityscapes-thin", "cityscapes-raw"):
        protocol = _whole_size(name, 0.007, 99)
        labels, maps, _ = _streets(protocol, [1], (256, 512))
        _own_counts(protocol, labels, maps)
        start = time.process_time()
        _own_counts(protocol, labels, maps)
        seconds = time.process_time() - start
        theirs = 33 * _counts_of_peer(peer, labels, maps, _whole_size(name, 0.007, 3))[2]
        told = f"{theirs / seconds:.0f} × ({seconds:.2f} s and {theirs:.0f} s of CPU)"
        yield Figure(told, theirs >= 200 * seconds)


def _whole_size(name: str, tolerance: float, thresholds: int):
    """Return a protocol of Cityscapes that does not halve; a larger share goes with smaller pictures."""
    from edgecritic.protocols.presets import get_protocol

    return get_protocol(name).with_changes(
        f"{name}-small", relative_tolerance=tolerance, thresholds=thresholds, classes={"scale": 1.0}
    )


def _streets(protocol, seeds, shape):
    """Return labels, maps and truths."""
    from edgecritic.protocols.classes import truth_maps

    labels = [_labels(street(seed, shape)) for seed in seeds]
    truths = [np.stack(list(truth_maps(protocol.classes, labels=one).values())) for one in labels]
    maps = [predicted(one, seed, 0.75) for seed, one in zip(seeds, truths, strict=True)]
    return labels, maps, truths


def _own_counts(protocol, labels, maps):
    from edgecritic.protocols.class_sweep import sweep_classes
    from edgecritic.protocols.classes import truth_maps

    found = []
    for one, stack in zip(labels, maps, strict=True):
        truths = np.stack(list(truth_maps(protocol.classes, labels=one).values()))
        found.append(sweep_classes(stack / 255, truths, protocol=protocol).counts)
    return found


def _counts_of_peer(peer, labels, maps, protocol):
    rules = protocol.classes
    numbers = np.full(256, 254, dtype=np.uint8)
    numbers[list(rules.labels)] = np.arange(len(rules.labels))
    numbers[list(rules.ignored)] = 255
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npz"
        np.savez(
            given,
            labels=numbers[np.stack(labels)],
            maps=np.stack(maps),
            thresholds=protocol.threshold_values(),
            tolerance=protocol.relative_tolerance,
            radius=rules.radius,
            thin=rules.thin,
        )
        script = Path(__file__).with_name("classes_peer.py")
        plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([peer, str(script), str(given), str(found)], check=True, env=plain)
        with np.load(found) as content:
            return content["counts"], content["truths"], float(content["seconds"])


def _peer() -> str:
    """Return a Python that has pyEdgeEval."""
    for python in (os.environ.get("EDGECRITIC_PYEDGEEVAL"), sys.executable):
        needed = "import pyEdgeEval.common.multi_label.evaluate_boundaries"  # with OpenCV, which it imports
        if python and not subprocess.run([python, "-c", needed], capture_output=True).returncode:
            return python
    raise MissingError("needs pyEdgeEval with OpenCV: name a Python that has both in EDGECRITIC_PYEDGEEVAL")


def _home(given: Given) -> Path:
    if given.data is None:
        raise MissingError("needs sbd_bench")
    return given.data / "sbd_bench"


def _only(name: str):
    from edgecritic.protocols.presets import get_protocol

    return get_protocol(name).with_classes([CLASS])


def _labels(ids: np.ndarray) -> np.ndarray:
    return np.where(ids >= 1000, ids // 1000, ids).astype(np.uint8)


def _case(protocol, seed: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    from edgecritic.protocols.classes import truth_maps

    truths = np.stack(list(truth_maps(protocol.classes, labels=_labels(street(seed, shape))).values()))
    return predicted(truths, seed) / np.float32(255), truths


def _mosaic(maps: np.ndarray) -> np.ndarray:
    return maps.reshape(-1, maps.shape[2])
