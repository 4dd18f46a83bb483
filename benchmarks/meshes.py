"""How well and how fast surfaces are measured: voxels, subvoxels, meshes; on closed forms, beside a peer.

    python benchmarks/meshes.py

prints the errors as a Markdown table; those of pymeshmetrics stand in it where that is installed
(``pip install pymeshmetrics``; it brings vtk along, so it is not part of the extra ``bench``).
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import ndimage

from bars import Figure, Given, check
from closed_forms import MEASURES, Form, forms
from edgecritic.measures import score

PART = "measures"
FLOOR = 0.01
"""Errors up to this are called equal when factors are taken: single voxels decide them."""
OWN = {"voxel": "surface=voxel", "subvoxel": "surface=subvoxel, weights=area", "mesh": "surface=mesh"}
Values = dict[str, float]


def ours(form: Form, option: str) -> Values:
    """Return the values of one surface."""
    ids = [f"{name[:-1]}, {option})" if name.endswith(")") else f"{name}({option})" for name in MEASURES]
    found = score(*form.masks(), ids, spacing=form.spacing).annotators[0]
    return dict(zip(MEASURES, map(float, found), strict=True))


def theirs(form: Form) -> Values:
    """Return the values of pymeshmetrics."""
    found = _peer(*form.masks(), form.spacing)
    near = [found.nsd(float(tolerance)) for tolerance in (1, 2, 3)]
    return dict(zip(MEASURES, map(float, (found.hd(95), found.masd(), found.assd(), *near)), strict=True))


def errors(values: Values, truth: Values) -> Values:
    """Return the errors: of distances as a share, of NSD as they are."""
    return {
        name: (values[name] - true) / (1 if name.startswith("nsd") else true) for name, true in truth.items()
    }


@check(
    PART,
    ("errors of surface=mesh on closed forms against pymeshmetrics", "no larger in ≥ 80 % of the cells"),
    ("the others, but for a box on the axes", "≤ 1.2× (NSD under .01 and distances under 1 % are equal)"),
    ("a box on the axes with compat=meshmetrics", "no larger"),
    needs=("meshmetrics",),
)
def accuracy(given: Given) -> Iterator[Figure]:
    del given
    cells, worse, aligned = [], [], True
    for form in forms():
        truth = form.truth()
        peer = errors(theirs(form), truth)
        if form.name == "box on the axes":
            plain = errors(ours(form, "compat=meshmetrics"), truth)
            aligned = all(abs(plain[name]) <= abs(peer[name]) + 1e-9 for name in truth)
        for name, error in errors(ours(form, OWN["mesh"]), truth).items():
            cells.append(abs(error) <= abs(peer[name]) + 1e-9)
            if form.name != "box on the axes" and abs(error) > max(1.2 * abs(peer[name]), FLOOR):
                worse.append(f"{form.name} {form.spacing} {name}: {error:+.3f}, theirs {peer[name]:+.3f}")
    yield Figure(f"{sum(cells)} of {len(cells)}, {np.mean(cells):.0%}", np.mean(cells) >= 0.8)
    yield Figure("; ".join(worse) or "none", not worse)
    yield Figure("no larger" if aligned else "larger", aligned)


@check(
    PART,
    ("five measures with surface=mesh of white matter against pymeshmetrics", "≥ 10×"),
    needs=("mni152", "nibabel", "meshmetrics"),
)
def speed(given: Given) -> Iterator[Figure]:
    import nibabel

    path = next((given.data / "mni152").glob("*_wm_*.nii*"))
    matter = np.ascontiguousarray(nibabel.load(path).get_fdata(dtype=np.float32))
    matter /= matter.max()
    candidate, truth = ndimage.gaussian_filter(matter, 1) >= 0.5, matter >= 0.5
    ids = [f"{name}(surface=mesh)" for name in ("hd", "hd95", "masd", "assd", "nsd")]

    def peer() -> None:
        found = _peer(candidate, truth, (1.0, 1.0, 1.0))
        _ = found.hd(), found.hd(95), found.masd(), found.assd(), found.nsd(1.0)

    score(candidate[60:90], truth[60:90], ids)
    own = min(_busy(lambda: score(candidate, truth, ids)) for _ in range(3))
    other = _busy(peer)
    yield Figure(f"{own:.2f} s of processor time, {other / own:.1f}×", other >= 10 * own)


def _peer(candidate: Any, truth: Any, spacing: tuple[float, ...]) -> Any:
    from meshmetrics import DistanceMetrics

    found = DistanceMetrics()
    found.set_input(ref=truth, pred=candidate, spacing=spacing)
    return found


def _busy(call: Callable[[], object]) -> float:
    """Return seconds of processor time, which other programs on the machine do not lengthen."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def main() -> None:
    """Print a row for every form and surface."""
    there = importlib.util.find_spec("meshmetrics") is not None
    print("| pair | voxels, mm | surface | HD95 | MASD | ASSD | NSD 1 | NSD 2 | NSD 3 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for form in forms():
        truth = form.truth()
        rows = {name: ours(form, option) for name, option in OWN.items()}
        if there:
            rows["pymeshmetrics"] = theirs(form)
        size = " × ".join(f"{side:g}" for side in form.spacing)
        for name, values in rows.items():
            found = errors(values, truth)
            shown = [f"{e:+.3f}" if m.startswith("nsd") else f"{100 * e:+.1f} %" for m, e in found.items()]
            print("|", " | ".join([form.name, size, name, *shown]), "|")


if __name__ == "__main__":
    main()
