"""Pb: time and memory of one photo, and its ODS on photos that it has not learned from.

The score is that of the weights that come with the package on the split ``val`` of BSDS500, which is the
test set of BSDS300; a short run takes 10 of its 100 photos and asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bars import Figure, Given, check, child, cpu
from edgecritic.detectors import detect
from edgecritic.detectors.picture import as_picture
from edgecritic.learned.cues import CUES, GREY
from edgecritic.learned.models import load_model, shipped
from edgecritic.learned.pb import thin_maps
from edgecritic.protocols.benchmark import Benchmark
from edgecritic.run.fit import NEAR, photo_cases
from edgecritic.run.images import load_image

PART = "learned"
BARS = {"colour|all": 0.655, "grey|all": 0.612, "colour|consensus": 0.475}

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
    *((f"ODS of pb, {key.replace('|', ', judged on ')} labels", f"≥ {bar}") for key, bar in BARS.items()),
    needs=("bsds500",),
)
def accuracy(given: Given) -> Iterator[Figure]:
    cases = photo_cases(None, _home(given), split="val")[: given.size(10, 100)]
    models = {"": load_model(shipped("pb"))}
    found = {key: Benchmark() for key in BARS}
    for case in cases:
        image, kind = load_image(case.image, grey=False)
        truths = case.load_truths()
        labels = {"all": truths, "consensus": _strong(truths)}
        maps = thin_maps(as_picture(image, kind), models, {"colour": CUES, "grey": GREY})
        for key, benchmark in found.items():
            cues, judged = key.split("|")
            benchmark.update(maps["", cues], labels[judged], id=case.id)
    for key, bar in BARS.items():
        ods = found[key].result(draws=0).ods.f
        yield Figure(f"{ods:.4f} on {len(cases)} photos", ods >= bar if len(cases) == 100 else None)


def _strong(truths: list[np.ndarray]) -> list[np.ndarray]:
    from edgecritic.annotators import strength

    return strength(truths, relative_tolerance=NEAR).consensus()


def _home(given: Given) -> Path:
    if given.data is None:
        raise AssertionError("there are no data")
    return given.data / "bsds500"
