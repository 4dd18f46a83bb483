"""Pb: time and memory of one photo, learning, and its ODS on photos that it has not learned from.

Learning is that of the weights that come with the package, from the 200 photos of the split ``train`` of
BSDS500, and of a twin that learns from consensus labels. Scores are on the split ``val``, which is the test
set of BSDS300. A short run takes 10 photos of each and asks for no score.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from bars import Figure, Given, check, child, cpu, seconds
from edgecritic.detectors import detect
from edgecritic.detectors.picture import as_picture
from edgecritic.learned import Model
from edgecritic.learned.cues import CUES, GREY
from edgecritic.learned.models import load_model, shipped
from edgecritic.learned.pb import thin_maps
from edgecritic.protocols.benchmark import Benchmark
from edgecritic.run.fit import NEAR, FitRun, Labels, fit_folder, photo_cases
from edgecritic.run.images import load_image

PART = "learned"
BARS = {
    "all|colour|all": 0.655,
    "all|grey|all": 0.612,
    "all|colour|consensus": 0.475,
    "consensus|colour|consensus": 0.475,
}
"""Least ODS by the labels that were learned from, cues, and the labels that are judged on."""

PUBLISHED = 0.6716
"""ODS of the published curve of Pb on BSDS500."""

MINUTES = 6

PEAK = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from edgecritic import detect
from growth import peak_memory
detect(np.random.default_rng(0).integers(0, 256, (321, 481, 3), dtype=np.uint8), "pb")
print(peak_memory())
"""


@check(PART, ("pb on a photo of 481×321 pixels, one core", "≤ 0.8 s"), needs=("bsds500",))
def one_photo(given: Given) -> Iterator[Figure]:
    case = photo_cases(None, _home(given), split="val")[0]
    image, _ = load_image(case.image, grey=False)
    seconds = cpu(lambda: detect(image, "pb"), 5)
    yield Figure(f"{seconds:.2f} s", seconds <= 0.8)


@check(PART, ("peak memory of a process with pb on 481×321 pixels", "≤ 400 MB"))
def memory(given: Given) -> Iterator[Figure]:
    del given
    peak = int(child("-c", PEAK, str(Path(__file__).parent))[1]) / 1e6
    yield Figure(f"{peak:.0f} MB", peak <= 400)


@check(
    PART,
    ("learning from 200 photos on two cores", f"≤ {MINUTES} min"),
    ("learning again after all photos were kept, as after a stop", "the same digest"),
    ("weights that come with the package, learned anew", "the same digest"),
    *(
        (
            f"ODS of pb learned from {' labels, '.join(key.split('|')[:2])}, on {key.split('|')[2]} labels",
            f"≥ {bar}",
        )
        for key, bar in BARS.items()
    ),
    ("difference of the two on consensus labels", "none, for information"),
    ("ODS on all labels beside that of the published curve on BSDS500", f"{PUBLISHED} ± .02"),
    needs=("bsds500",),
)
def learning(given: Given) -> Iterator[Figure]:
    """Wall time of learning, without what the kernels take to compile."""
    home, number = _home(given), given.size(10, 200)
    whole = number == 200
    names = [case.id for case in photo_cases(None, home, split="train")][:number]
    with tempfile.TemporaryDirectory() as folder:
        one = functools.partial(
            fit_folder, None, home, split="train", only=names, records=folder, jobs=2, cache=False
        )
        _ = detect(np.zeros((40, 60, 3)), "pb")
        first: list[FitRun] = []
        taken = seconds(lambda: first.append(one()))
        yield Figure(f"{taken / 60:.1f} min for {number} photos", taken <= 60 * MINUTES if whole else None)
        again: list[FitRun] = []
        resumed = seconds(lambda: again.append(one()))
    model = first[0].models["all"]
    same = again[0].models["all"].digest == model.digest
    yield Figure(f"{'the same' if same else 'another'}, {resumed:.0f} s", same)
    known = load_model(shipped("pb"))
    if whole:
        yield Figure(model.digest[:12], model.digest == known.digest)
    else:
        yield Figure(f"not asked of {number} photos", None)
    both = (Labels(), Labels(1.0))
    models = fit_folder(None, home, split="train", only=names, labels=both, jobs=2).models
    yield from _accuracy(given, models, whole)


def _accuracy(given: Given, models: Mapping[str, Model], whole: bool) -> Iterator[Figure]:
    cases = photo_cases(None, _home(given), split="val")[: given.size(10, 100)]
    found = {key: Benchmark() for key in BARS}
    for case in cases:
        image, kind = load_image(case.image, grey=False)
        truths = case.load_truths()
        labels = {"all": truths, "consensus": _strong(truths)}
        maps = thin_maps(as_picture(image, kind), models, {"colour": CUES, "grey": GREY})
        for key, benchmark in found.items():
            learned, cues, judged = key.split("|")
            benchmark.update(maps[learned, cues], labels[judged], id=case.id)
    results = {key: one.result(draws=0) for key, one in found.items()}
    for key, bar in BARS.items():
        ods = results[key].ods.f
        yield Figure(f"{ods:.4f} on {len(cases)} photos", ods >= bar if whole else None)
    change = results["consensus|colour|consensus"].against(results["all|colour|consensus"]).ods
    yield Figure(f"{change.estimate:+.4f} [{change.low:+.4f}, {change.high:+.4f}]", None)
    ods = results["all|colour|all"].ods.f
    yield Figure(f"{ods:.4f} on {len(cases)} photos", abs(ods - PUBLISHED) <= 0.02 if whole else None)


def _strong(truths: list[np.ndarray]) -> list[np.ndarray]:
    from edgecritic.annotators import strength

    return strength(truths, relative_tolerance=NEAR).consensus()


def _home(given: Given) -> Path:
    if given.data is None:
        raise AssertionError("there are no data")
    return given.data / "bsds500"
