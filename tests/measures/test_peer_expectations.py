"""The presets against what the libraries expect of themselves.

Inputs and numbers are those of the libraries' own tests: surface-distance 0.1 (``surface_distance_test.py``),
MONAI 1.6 (``tests/metrics``), MetricsReloaded (``test_pairwise_measures.py``, figures of the paper on
pitfalls), MedPy 0.5.2 (``tests/metric_/binary.py``), panoptica 2 (``unit_tests``). What they expect of
chessboard and taxicab distances, of batches and components, and of measures of classification is not here.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from edgecritic.measures import compare, measures

INF, NAN = math.inf, math.nan
ANISOTROPIC = (0.85, 1.2, 0.9)


def boxes(shape, *places):
    """A map in which boxes are set; a place has indices, (from, to) pairs, and None for everything."""
    mask = np.zeros(shape, dtype=bool)
    for place in places:
        mask[tuple(_part(part) for part in place)] = True
    return mask


def _part(part):
    return slice(None) if part is None else slice(*part) if isinstance(part, tuple) else part


def sphere(radius=20, centre=(49, 49, 49), spacing=(1, 1, 1)):
    axes = np.ogrid[:99, :99, :99]
    squares = [(axis * size - c) ** 2 for axis, size, c in zip(axes, spacing, centre, strict=True)]
    return sum(squares) <= radius**2


def row(*runs):
    """A row of pixels: lengths of runs, set and not set in turn."""
    return np.concatenate([np.full(n, k % 2 == 0) for k, n in enumerate(runs)])[None]


def rows(text):
    return np.array([[int(cell) for cell in line] for line in text.split()], dtype=bool)


NOTHING = np.zeros((99, 99, 99), dtype=bool)


def deepmind_cases():
    plane, volume = (128, 128), (128, 128, 128)
    none, one = boxes(plane), boxes(plane, (50, 60))
    none3, one3 = boxes(volume), boxes(volume, (50, 60, 70))
    #       candidate, truth, spacing, (truth → candidate, candidate → truth), hd, hd95, overlaps, nsd, dice
    yield boxes(plane, (50, 72)), boxes(plane, (50, 70)), (2, 1), (1.5, 1.5), 2, 2, (0.5, 0.5), 0.5, 0
    yield none, one, (3, 2), (INF, NAN), INF, INF, (0, NAN), 0, 0
    yield one, none, (3, 2), (NAN, INF), INF, INF, (NAN, 0), 0, 0
    yield none, none, (3, 2), (NAN, NAN), INF, INF, (NAN, NAN), NAN, NAN
    second = boxes(volume, (50, 60, 72))
    yield second, one3, (3, 2, 1), (1.5, 1.5), 2, 2, (0.5, 0.5), 0.5, 0
    half, more = boxes((100,) * 3, ((0, 50),)), boxes((100,) * 3, ((0, 51),))
    yield more, half, (2, 1, 1), (0.322, 0.339), 2, 2, (0.842, 0.830), 0.836, 0.990
    yield none3, one3, (3, 2, 1), (INF, NAN), INF, INF, (0, NAN), 0, 0
    yield second, none3, (3, 2, 1), (NAN, INF), INF, INF, (NAN, 0), 0, 0
    yield none3, none3, (3, 2, 1), (NAN, NAN), INF, INF, (NAN, NAN), NAN, NAN


def deepmind():
    for candidate, truth, spacing, averages, hd, hd95, overlaps, nsd, dice in deepmind_cases():
        expected = {
            "asd(direction=to_candidate, compat=deepmind)": averages[0],
            "asd(compat=deepmind)": averages[1],
            "hd(compat=deepmind)": hd,
            "hd95(percent=100, compat=deepmind)": hd,
            "hd95(compat=deepmind)": hd95,
            "nsd(direction=to_candidate, compat=deepmind)": overlaps[0],
            "nsd(direction=to_truth, compat=deepmind)": overlaps[1],
            "nsd(compat=deepmind)": nsd,
            "dice(compat=deepmind)": dice,
        }
        for text, value in expected.items():
            yield text, candidate, truth, spacing, value, 5e-4


def squares_by_hand():
    """Two rectangles, one longer by a row of pixels 2 high and 1 wide, whose elements the test lists."""
    truth, candidate = boxes((6, 6), ((1, 3), (1, 3))), boxes((6, 6), ((1, 4), (1, 3)))
    diag = math.hypot(2, 1) / 2
    # Clockwise from the top left corner: how far from the other outline, how long.
    of_truth = zip([0, 0, 0, 0, 0, 1, 0, 0], [diag, 1, diag, 2, diag, 1, diag, 2], strict=True)
    lengths = [diag, 1, diag, 2, 2, diag, 1, diag, 2, 2]
    of_candidate = zip([0, 0, 0, 0, 0, 2, 2, 2, 0, 0], lengths, strict=True)
    first, second = (np.array(list(each)).T for each in (of_truth, of_candidate))
    averages = [np.average(distances, weights=lengths) for distances, lengths in (first, second)]
    within = [lengths[distances <= 1].sum() for distances, lengths in (first, second)]
    total = [lengths.sum() for _, lengths in (first, second)]
    yield "asd(direction=to_candidate, compat=deepmind)", candidate, truth, (2, 1), averages[0], 1e-9
    yield "asd(compat=deepmind)", candidate, truth, (2, 1), averages[1], 1e-9
    yield "hd(compat=deepmind)", candidate, truth, (2, 1), 2, 1e-9
    yield "hd95(compat=deepmind)", candidate, truth, (2, 1), 2, 1e-9
    for way, near, whole in zip(("to_candidate", "to_truth"), within, total, strict=True):
        yield f"nsd(direction={way}, compat=deepmind)", candidate, truth, (2, 1), near / whole, 1e-9
    yield "nsd(compat=deepmind)", candidate, truth, (2, 1), sum(within) / sum(total), 1e-9
    yield "dice", candidate, truth, (2, 1), 0.8, 1e-9


def monai_distances():
    near, nearer = sphere(20, (20, 20, 20)), sphere(20, (19, 19, 19))
    wide, wider = sphere(33, (19, 33, 22)), sphere(33, (20, 33, 22))
    small, large = sphere(20, (20, 33, 22)), sphere(40, (20, 33, 22))
    stretched = [sphere(20, centre, ANISOTROPIC) for centre in ((20, 20, 20), (19, 19, 19))]
    nested = [sphere(radius, (20, 33, 22), ANISOTROPIC) for radius in (15, 30)]
    table = [
        # candidate, truth, spacing, to the truth, both ways
        (sphere(), sphere(), None, 0, 0),
        (near, nearer, None, 1.7320508075688772, 1.7320508075688772),
        (wide, wider, None, 1, 1),
        (small, large, None, 20.09975124224178, 20.223748416156685),
        (NOTHING, large, None, INF, INF),
        (sphere(), NOTHING, None, INF, INF),
        (*stretched, ANISOTROPIC, 2.0808651447296143, 2.2671568),
        (*nested, ANISOTROPIC, 15.439640998840332, 15.62594),
        (NOTHING, NOTHING, None, NAN, NAN),
        (NOTHING, NOTHING, ANISOTROPIC, NAN, NAN),
    ]
    for candidate, truth, spacing, directed, both in table:
        yield "hd(direction=to_truth, compat=monai)", candidate, truth, spacing, directed, 1e-5
        yield "hd(compat=monai)", candidate, truth, spacing, both, 1e-5
    yield "hd95(percent=1, direction=to_truth, compat=monai)", sphere(), sphere(), None, 0, 0
    yield "hd95(percent=1, compat=monai)", sphere(), sphere(), None, 0, 0
    yield "hd95(direction=to_truth, compat=monai)", small, large, None, 19.924858845171276, 1e-5
    yield "hd95(compat=monai)", small, large, None, 20.09975124224178, 1e-5
    shifted = [sphere(33, centre, ANISOTROPIC) for centre in ((42, 45, 52), (43, 45, 52))]
    for candidate, truth, spacing, both, directed in [
        (sphere(), sphere(), None, 0, 0),
        (wide, wider, None, 0.350217, 0.3483278807706289),
        (small, large, None, 15.117741, 12.040033513150455),
        (NOTHING, large, None, INF, INF),
        (*shifted, ANISOTROPIC, 0.4951, 0.4951),
        (NOTHING, NOTHING, None, NAN, NAN),
        (NOTHING, NOTHING, ANISOTROPIC, NAN, NAN),
    ]:
        yield "assd(compat=monai)", candidate, truth, spacing, both, 2e-5
        yield "asd(compat=monai)", candidate, truth, spacing, directed, 2e-5


def monai_dice():
    plane, volume = (480, 640), (200, 110, 80)
    first, second = boxes(plane, (None, (50, None))), boxes(plane, (None, (60, None)))
    moved = 478 + 480 + 9 * 2
    for spacing in (None, (0.85, 1.2)):
        yield "nsd(tolerance=0)", first, second, spacing, 1 - moved / (480 * 4 + 588 * 2 + 578 * 2), 1e-7
        yield "nsd(tolerance=0)", ~first, ~second, spacing, 1 - moved / (480 * 4 + 48 * 2 + 58 * 2), 1e-7
        yield "nsd(tolerance=0)", ~boxes(plane), ~boxes(plane), spacing, 1, 0
        yield "nsd(tolerance=0)", boxes(plane), boxes(plane), spacing, NAN, 0
    # Ten columns of 1.2 are a tolerance of 12, and ten of 1 one of 10: from there on all is near.
    for tolerance, spacing in ((12, (0.85, 1.2)), (13, (0.85, 1.2)), (10, None), (11, None)):
        yield f"nsd(tolerance={tolerance})", first, second, spacing, 1, 0
    first, second = boxes(volume, (None, None, (20, None))), boxes(volume, (None, None, (30, None)))
    moved = 200 * 110 + 198 * 108 + 9 * 200 * 2 + 9 * 108 * 2
    whole = 200 * 110 * 4 + (58 + 48) * 200 * 2 + (58 + 48) * 108 * 2
    rest = 200 * 110 * 4 + (28 + 18) * 200 * 2 + (28 + 18) * 108 * 2
    yield "nsd(tolerance=0)", first, second, None, 1 - moved / whole, 1e-7
    yield "nsd(tolerance=0)", ~first, ~second, None, 1 - moved / rest, 1e-7
    yield "nsd(tolerance=10)", first, second, None, 1, 0
    first, second = boxes((10, 10), ((1, 4), 1)), boxes((10, 10), ((5, 8), 6))
    for tolerances, background, object_ in (((0, 0), 12, 6), ((2.8, 5.5), 3, 4), ((3, 6), 1, 2)):
        yield (
            f"nsd(tolerance={tolerances[0]})",
            ~first,
            ~second,
            None,
            1 - background / (36 * 2 + 8 + 4),
            1e-7,
        )
        yield f"nsd(tolerance={tolerances[1]})", first, second, None, 1 - object_ / 6, 1e-7
    square, none = boxes((80, 80), ((10, 20), (10, 20))), boxes((80, 80))
    for candidate, truth, value in [
        (~square, ~square, 1),
        (square, none, 0),
        (none, square, 0),
        (none, none, NAN),
        (np.zeros((1, 1), dtype=bool), np.zeros((1, 1), dtype=bool), NAN),
    ]:
        yield "nsd(tolerance=1)", candidate, truth, None, value, 0


def monai():
    yield from monai_distances()
    for text, *rest in monai_dice():
        yield text.replace(")", ", compat=monai)"), *rest
    # Its option use_subvoxels is the preset of surface-distance.
    volume = (128, 128, 128)
    one, other, none = boxes(volume, (50, 60, 70)), boxes(volume, (50, 60, 72)), boxes(volume)
    for candidate, truth, value in [(none, one, 0), (other, none, 0), (other, one, 0.5)]:
        yield "nsd(compat=deepmind)", candidate, truth, (3, 2, 1), value, 1e-6
    half, more = boxes((100,) * 3, ((0, 50),)), boxes((100,) * 3, ((0, 51),))
    yield "nsd(compat=deepmind)", more, half, (2, 1, 1), 0.836145, 1e-3
    cubes = [boxes((8, 8, 8), ((0, n),) * 3) for n in (4, 3)]
    yield "volume_difference", *cubes, None, 37, 0
    yield "volume_difference", row(7, 3), row(4, 6), None, 3, 0
    yield "volume_difference", row(5, 1), row(0, 6), None, 5, 0
    yield "volume_difference", boxes((8, 8), ((0, 6), (0, 6))), boxes((8, 8), ((0, 4), (0, 4))), None, 20, 0


def vessels():
    """Figure S 2.14 of the paper on pitfalls, which the test of the centre line draws."""
    strokes = (
        "1:10,7:12 10:12,3:19 12:15,3:5 12:15,15:19 14:20,15:17 14:15,1:5 14:17,2:3 14:19,4:5 17:18,4:8 "
    )
    strokes += "14:15,15:24 12:15,22:23 14:17,21:22 17:20,5:6 17:22,12:13 19:20,12:17 18:19,15:20 17:18,19:20"
    rubbed = "10:14,3:4 10:11,3:9 10:11,10:19 1:11,7:9 1:11,10:12 10:14,18:19 12:14,15:17 14:19,15:16"

    def places(text):
        return [[tuple(map(int, side.split(":"))) for side in stroke.split(",")] for stroke in text.split()]

    truth = boxes((24, 24), *places(strokes))
    first = boxes((24, 24), ((1, 10), (7, 12)), ((10, 12), (3, 15)))
    return truth, first, truth & ~boxes((24, 24), *places(rubbed))


def metricsreloaded():
    plus = boxes((11, 11), ((3, 8), (3, 8)), (5, (1, 10)), ((1, 10), 5))
    square = boxes((11, 11), ((3, 8), (3, 8)))
    corner = boxes((11, 11), ((2, 5), (2, 9)), ((5, 9), (2, 6)))
    bitten = corner & ~boxes((11, 11), (8, 2))
    middle = boxes((14, 14), ((5, 9), (5, 9)))
    less, more = boxes((14, 14), ((6, 8), (6, 8))), boxes((14, 14), ((4, 10), (4, 10)))
    outlier = boxes((14, 14), (1, 1), ((9, 12), (9, 12)))
    alone = boxes((14, 14), ((9, 12), (9, 12)))
    bands = boxes((22, 22), ((3, 21), (2, 21))), boxes((22, 22), ((2, 21), (2, 21)))
    vessel, trunk, thinned = vessels()
    stem = boxes((14, 14), ((1, 4), 1), (3, (1, 4)))
    shorter, foot = boxes((14, 14), ((2, 4), 1), (3, (1, 4))), boxes((14, 14), (3, (1, 4)))
    balanced = row(45, 5, 10, 40), row(50, 50)
    skewed = row(81, 9, 2, 8), row(90, 10)
    rare, found, missed = row(3, 97), row(6, 94), row(0, 100)
    shifted = boxes((14, 14), ((3, 5), (3, 5))), boxes((14, 14), ((2, 4), (2, 4)))
    for text, candidate, truth, value, error in [
        ("dice", plus, square, 0.862, 0.001),
        ("f", plus, square, 0.862, 0.001),
        ("assd(compat=metricsreloaded)", plus, square, 0.44, 0.01),
        ("masd(compat=metricsreloaded)", plus, square, 0.425, 0.001),
        ("nsd(tolerance=1, compat=metricsreloaded)", plus, square, 0.89, 0.01),
        ("nsd(tolerance=2, compat=metricsreloaded)", plus, square, 1, 0.01),
        ("jaccard", plus, square, 0.76, 0.01),
        ("f", bitten, corner, 0.986, 0.001),
        ("hd(compat=metricsreloaded)", less, middle, 1.41, 0.01),
        ("hd(compat=metricsreloaded)", more, middle, 1.41, 0.01),
        ("masd(compat=metricsreloaded)", less, middle, 1.07, 0.01),
        ("masd(compat=metricsreloaded)", more, middle, 1.04, 0.01),
        ("assd(compat=metricsreloaded)", less, middle, 1.10, 0.01),
        ("assd(compat=metricsreloaded)", more, middle, 1.05, 0.01),
        ("nsd(compat=metricsreloaded)", less, middle, 0.75, 0.01),
        ("nsd(compat=metricsreloaded)", more, middle, 0.875, 0.01),
        ("hd(compat=metricsreloaded)", alone, outlier, 11.31, 0.01),
        ("hd95(compat=metricsreloaded)", alone, outlier, 6.79, 0.01),
        ("boundary_iou(distance=1)", *bands, 0.6, 0.1),
        ("boundary_iou(distance=2)", *bands, 0.8, 0.1),
        ("cldice", trunk, vessel, 0.475, 0.01),
        ("cldice", thinned, vessel, 0.78, 0.01),
        ("dice", trunk, vessel, 0.666, 0.01),
        ("dice", thinned, vessel, 0.685, 0.01),
        ("cldice", shorter, stem, 0.86, 0.01),
        ("cldice", foot, stem, 0.67, 0.01),
        ("specificity", found, rare, 0.97, 0.01),
        ("specificity", missed, rare, 1, 0.01),
        ("sensitivity", found, rare, 1, 0.01),
        ("sensitivity", missed, rare, 0, 0.01),
        ("recall", found, rare, 1, 0.01),
        ("recall", missed, rare, 0, 0.01),
        ("sensitivity", row(40, 30, 1), row(70, 1), 0.57, 0.01),
        ("precision", *balanced, 0.82, 0.01),
        ("precision", *skewed, 0.98, 0.01),
        ("mcc", *balanced, 0.70, 0.01),
        ("mcc", *skewed, 0.56, 0.02),
        ("mcc", row(1499, 501), row(1999, 1), 0.0386, 0.001),
        ("kappa", *balanced, 0.70, 0.01),
        ("kappa", *skewed, 0.53, 0.01),
        ("kappa", row(1499, 501), row(1999, 1), 0.003, 0.001),
        ("f", *balanced, 0.86, 0.01),
        ("f", *skewed, 0.94, 0.01),
        ("relative_volume_difference", *shifted, 0, 0),
        ("hd(compat=metricsreloaded)", balanced[0], np.zeros_like(rare), NAN, 0),
        ("hd95(compat=metricsreloaded)", balanced[0], np.zeros_like(rare), NAN, 0),
        ("masd(compat=metricsreloaded)", balanced[0], np.zeros_like(rare), NAN, 0),
        ("assd(compat=metricsreloaded)", np.zeros_like(rare), balanced[1], NAN, 0),
        ("hd(compat=metricsreloaded)", np.zeros_like(rare), balanced[1], NAN, 0),
        # Of two empty objects some versions of the test want the best, others NaN.
        ("hd(compat=metricsreloaded)", np.zeros_like(rare), np.zeros_like(rare), 0, 0),
        ("assd(compat=metricsreloaded)", np.zeros_like(rare), np.zeros_like(rare), 0, 0),
        ("masd(compat=metricsreloaded)", np.zeros_like(rare), np.zeros_like(rare), 0, 0),
        ("dice(compat=metricsreloaded)", np.zeros_like(rare), np.zeros_like(rare), 1, 0),
    ]:
        yield text, candidate, truth, None, value, error


def medpy():
    first, second = row(1, 1), ~row(1, 1)
    long, short = rows("1000 1000 1000 1100"), rows("1100 1000 1000 0000")
    for name in ("asd(compat=medpy)", "assd(compat=medpy)"):
        yield name, first, first, None, 0, 0
        yield name, first, second, None, 1, 0
        yield name, first, second, 2, 2, 0
    # It wants them to differ by direction. By hand: two of five are 1 and √2 away, one of four is 1.
    yield "asd(compat=medpy)", long, short, None, (1 + math.sqrt(2)) / 5, 1e-9
    yield "asd(compat=medpy)", short, long, None, 1 / 4, 1e-9


def panoptica():
    same = rows("0111 0111 0100 0100")
    bars = rows("0101 0101 0100 0100")
    large, small = rows("0010 1110 1111 0110"), rows("0000 0110 0110 0000")
    for candidate, truth, rvd, dice, assd, cldice in [
        (same, same, 0, 1, 0, 1),
        (bars, ~bars, -0.4, 0, 1.05, None),
        (large, small, 1.5, 0.5714285714285714, 0.625, 1),
        (small, large, -0.6, 0.5714285714285714, 0.625, 1),
    ]:
        yield "relative_volume_difference(signed=True)", candidate, truth, None, rvd, 1e-12
        yield "dice", candidate, truth, None, dice, 1e-12
        yield "assd(compat=panoptica)", candidate, truth, None, assd, 1e-12
        # Of objects that do not meet it divides 0 by 0 and expects NaN; a share of nothing found is 0.
        yield "cldice", candidate, truth, None, 0 if cldice is None else cldice, 1e-12
    first, second = boxes((50, 50), ((21, 30), (20, 30))), boxes((50, 50), ((20, 30), (20, 30)))
    yield "assd(compat=panoptica)", first, second, None, 2 * 0.12826797385620914, 1e-12
    yield "hd(compat=panoptica)", first, second, None, 1, 1e-12
    yield "hd95(compat=panoptica)", first, second, None, 1, 1e-12
    yield "nsd(tolerance=1, compat=panoptica)", first, second, None, 1, 1e-12
    yield "dice", first, second, None, 2 * 0.9736842105263157 - 1, 1e-12
    yield "relative_volume_difference(signed=True)", first, second, None, -0.1, 1e-12
    squares = ((5, 15), (5, 15)), ((40, 48), (40, 48))
    candidate = first | boxes((50, 50), *squares)
    truth = second | boxes((50, 50), squares[0], ((40, 48), (5, 13)))
    yield "dice", candidate, truth, None, 0.7335907335907336, 1e-12
    yield "jaccard", candidate, truth, None, 0.5792682926829268, 1e-12
    yield "cldice", candidate, truth, None, 0.6829268292682926, 1e-12
    yield "relative_volume_difference(signed=True)", candidate, truth, None, -0.03787878787878788, 1e-12
    yield "relative_volume_difference", candidate, truth, None, 0.03787878787878788, 1e-12
    # Of whole images it measures without voxel size, where its tolerance is one half.
    yield "nsd(tolerance=0.5, compat=panoptica)", candidate, truth, None, 0.626326530612245, 1e-12


LIBRARIES = {
    "surface-distance": [*deepmind(), *squares_by_hand()],
    "MONAI": list(monai()),
    "MetricsReloaded": list(metricsreloaded()),
    "MedPy": list(medpy()),
    "panoptica": list(panoptica()),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_expectations_of_the_library(library):
    if any(text == "cldice" for text, *_ in LIBRARIES[library]):
        pytest.importorskip("skimage.morphology")
    wrong, known = [], {}
    for text, candidate, truth, spacing, expected, error in LIBRARIES[library]:
        key = id(candidate), id(truth), spacing
        if key not in known:
            known[key] = compare(candidate, truth, spacing=spacing)
        with warnings.catch_warnings(action="ignore"):
            found = measures.bind(text)(known[key])
        if found != pytest.approx(expected, abs=error, rel=1e-6, nan_ok=True):
            wrong.append((text, candidate.shape, spacing, expected, found))
    assert wrong == []


def test_expectations_are_not_lost():
    assert {library: len(found) for library, found in LIBRARIES.items()} == {
        "surface-distance": 89,
        "MONAI": 72,
        "MetricsReloaded": 53,
        "MedPy": 8,
        "panoptica": 28,
    }
