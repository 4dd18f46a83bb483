"""Maps as networks give them: thick, soft, with false alarms, 8 bit, one PNG for every photo of BSDS500.

No network is needed: lines that people drew are blurred, moved a little and weakened where few drew them, and
the gradient of the photo is mixed in as what a network finds and nobody drew. The numbers of a benchmark on
them mean nothing; the work is that on real ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

from bars import boundaries

SHIFT, WIDTH, TEXTURE = 1.2, 1.6, 0.55


def write_maps(data: Path, home: Path, count: int) -> tuple[Path, Path]:
    """Write maps of the first training photos and copy their truths; return the two folders."""
    maps, truths = home / "maps", home / "truth"
    for folder in (maps, truths):
        folder.mkdir(parents=True)
    for photo in sorted((data / "bsds500/images/train").glob("*.jpg"))[:count]:
        truth = data / f"bsds500/groundTruth/train/{photo.stem}.mat"
        (truths / truth.name).write_bytes(truth.read_bytes())
        grey = np.asarray(Image.open(photo).convert("L"), dtype=np.float64) / 255
        drawn = np.mean(boundaries(truth), axis=0)
        Image.fromarray(as_network(grey, drawn, seed=int(photo.stem))).save(maps / f"{photo.stem}.png")
    return maps, truths


def as_network(grey: np.ndarray, drawn: np.ndarray, seed: int) -> np.ndarray:
    """Return a thick soft map of what people drew (shares of them) and of the gradient, as 8-bit numbers."""
    rng = np.random.default_rng(seed)
    shift = [SHIFT * 8 * ndimage.gaussian_filter(rng.standard_normal(grey.shape), 8) for _ in range(2)]
    places = np.indices(grey.shape) + np.array(shift)
    lines = ndimage.gaussian_filter(ndimage.map_coordinates(drawn, places, order=1), WIDTH) * 2.2 * WIDTH
    slope = ndimage.gaussian_gradient_magnitude(grey, WIDTH)
    soft = lines + TEXTURE * slope / max(float(np.quantile(slope, 0.99)), 1e-9) * (0.35 + lines)
    return np.rint(255 * np.clip(soft, 0, 1)).astype(np.uint8)
