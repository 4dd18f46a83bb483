"""Small pictures for the reference: what a strategy matches, a detector finds, a protocol measures."""

from __future__ import annotations

import functools
import io
from typing import Any, NamedTuple

import numpy as np


class Drawn(NamedTuple):
    """A picture, the ending of its file, and what it shows."""

    content: bytes
    suffix: str
    caption: str


@functools.cache
def _scene() -> Any:
    from edgecritic.datasets import synthetic

    return synthetic.scene(3, (110, 150), grey=True, overlap=True, count=7, blur=0.8, snr=18.0)


def strategy(name: str) -> Drawn | None:
    """Draw hits, false alarms and misses of one candidate under a strategy."""
    import edgecritic
    from edgecritic.errors import MissingExtraError
    from edgecritic.matching import strategies

    scene = _scene()
    candidate = _mixed(scene)
    window = strategies.get(name).info.reach == "window"
    reach = {} if window else {"tolerance": 2}
    try:
        found = edgecritic.match(candidate, scene.truth, strategy=name, **reach)
    except MissingExtraError:
        return None
    limit = "in a window of 5 px" if window else "within 2 px"
    caption = (
        f"A noisy map, thick on the left, under {name}, {limit}: {found.tp} hits (green), {found.fp} false "
        f"alarms (orange), {found.fn} misses (blue), F = {found.f():.3f}"
    )
    return Drawn(_png(found.overlay(), 4), ".png", caption)


def _mixed(scene: Any) -> Any:
    """Return thin edges with false alarms; on the left they are three pixels thick."""
    import edgecritic
    from edgecritic.datasets import synthetic

    image = synthetic.add_noise(scene.image, 8.0, seed=1)
    thin = edgecritic.detect(image, "canny(sigma=1.2)").binary(0.3)
    thick = thin | np.roll(thin, 1, axis=0) | np.roll(thin, 1, axis=1)
    half = thin.shape[1] // 2
    return np.concatenate([thick[:, :half], thin[:, half:]], axis=1)


def detector(name: str) -> Drawn:
    """Draw an image, the strength that a detector gives it, and its crests."""
    import edgecritic

    scene = _scene()
    grey = (scene.image - scene.image.min()) / np.ptp(scene.image)
    found = edgecritic.detect(grey, name)
    gap = np.ones((grey.shape[0], 4))
    row = np.concatenate([grey, gap, 1 - found.strength, gap, 1 - (found.thin >= 0.1)], axis=1)
    return Drawn(
        _png((255 * row).astype(np.uint8), 2),
        ".png",
        f"An image, the strength {name} gives it, its crests from 0.1",
    )


def protocol(name: str) -> Drawn | None:
    """Draw the curve of two simulated detectors under a protocol, if it judges contours of one class."""
    from matplotlib.figure import Figure

    import edgecritic
    from edgecritic.datasets import synthetic

    rules = edgecritic.get_protocol(name)
    if rules.judges != "boundaries" or rules.classes is not None:
        return None
    figure = Figure(figsize=(4.2, 3.4), layout="constrained")
    axes = figure.subplots()
    for detector_name, colour in (("good", "#0072b2"), ("thick", "#d55e00")):
        benchmark = edgecritic.Benchmark(name)
        for case in _cases():
            benchmark.update(synthetic.detect(case.image, detector_name), case.truths, id=case.id)
        result = benchmark.result(draws=2)
        curve = result.summary
        axes.plot(
            curve.recall,
            curve.precision,
            color=colour,
            label=f"{detector_name}: ODS {result.ods.f:.3f}, AP {result.ap:.3f}",
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="recall", ylabel="precision")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", fontsize=8)
    made = io.BytesIO()
    figure.savefig(made, format="svg", metadata={"Date": None})
    return Drawn(made.getvalue(), ".svg", f"Two simulated detectors on two generated scenes under {name}")


@functools.cache
def _cases() -> Any:
    from edgecritic.datasets import synthetic

    return synthetic.dataset(2, size=(96, 120))


def _png(array: Any, scale: int) -> bytes:
    from PIL import Image

    picture = Image.fromarray(array)
    picture = picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST)
    made = io.BytesIO()
    picture.save(made, "png", optimize=True)
    return made.getvalue()
