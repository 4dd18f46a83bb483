"""The input doctor: finds what would falsify a score before any score is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import reading
from edgecritic.datasets.cases import Case, Dataset, find_cases
from edgecritic.datasets.content import PathLike
from edgecritic.datasets.doctor_volumes import VOLUMES, check_volumes, read_volumes
from edgecritic.datasets.files import holds_segmentations
from edgecritic.datasets.findings import Finding
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.formats.pictures import picture_shape
from edgecritic.errors import EdgeCriticError
from edgecritic.inputs import SIDEWAYS, BoolArray, FloatArray
from edgecritic.values import Value

__all__ = ["Finding", "Diagnosis", "check_case", "check_lossy", "diagnose"]

_INVERTED_SHARE = 0.5
_FILLED_SHARE = 0.2
_FAINT = 0.02


class Diagnosis(Value, kw_only=False):
    """What the doctor says about a data set.

    Attributes
    ----------
    findings : tuple of Finding
        Errors first, then warnings, then notes.
    cases : int
        Images that have a prediction and a truth.
    annotators : tuple of int
        Smallest and largest number of annotators' maps of an image; (0, 0) without cases.
    layout : str
        How the truth folder was understood.
    """

    findings: tuple[Finding, ...]
    cases: int
    annotators: tuple[int, int]
    layout: str

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that would falsify a score."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def ok(self) -> bool:
        """Whether no error was found."""
        return not self.errors

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "ok": self.ok,
            "cases": self.cases,
            "annotators": list(self.annotators),
            "layout": self.layout,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def check_case(
    strength: FloatArray | None,
    truths: Sequence[BoolArray],
    *,
    name: str = "",
    mask: BoolArray | None = None,
) -> list[Finding]:
    """Check one image's loaded maps; quick enough to run before every evaluation.

    Parameters
    ----------
    strength : float array or None
        The prediction with values in [0, 1].
    truths : sequence of bool arrays
        One map per annotator.
    name : str
        What to call the image in findings.
    mask : bool array, optional
        Where pixels count.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((8, 8), dtype=bool); truth[4] = True
    >>> strength = np.where(truth, 0.1, np.linspace(0.8, 1.0, 8))
    >>> [finding.kind for finding in check_case(strength, [truth])]
    ['inverted prediction']
    """
    found = [*_check_truths(truths, name), *_check_mask(truths, mask, name)]
    if strength is None:
        return found
    if truths and strength.shape != truths[0].shape:
        found.append(_size_finding(strength.shape, truths[0].shape, name))
        return found
    return [*found, *_check_strength(strength, truths, name)]


def diagnose(
    predictions: PathLike | None,
    truth: PathLike,
    *,
    images: PathLike | None = None,
    masks: PathLike | None = None,
    split: str | None = None,
    binarize: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Read every file of a data set once and say what is wrong with it.

    Parameters
    ----------
    predictions, truth, images, masks, split
        As in `edgecritic.datasets.cases.find_cases`.
    binarize : float, optional
        Accept grey truths, cut at this share of the largest value.
    progress : callable, optional
        Called with (done, total) after each image.

    Returns
    -------
    Diagnosis
    """
    dataset = find_cases(predictions, truth, images=images, masks=masks, split=split, roles=True)
    findings = list(_check_names(dataset, str(truth)))
    counts: list[int] = []
    levels: dict[str, list[str]] = {}
    for done, case in enumerate(dataset, start=1):
        checked = _check_files(case, binarize)
        findings += checked.findings
        if checked.annotators:
            counts.append(checked.annotators)
        if checked.depth:
            levels.setdefault(checked.depth, []).append(case.id)
        if progress is not None:
            progress(done, len(dataset))
    annotators = (min(counts), max(counts)) if counts else (0, 0)
    findings += _check_set(levels, str(predictions or truth))
    order = {"error": 0, "warning": 1, "note": 2}
    findings.sort(key=lambda finding: order[finding.severity])
    return Diagnosis(tuple(findings), len(dataset), annotators, dataset.layout)


@dataclass(slots=True)
class _Checked:
    findings: list[Finding]
    annotators: int = 0
    depth: str = ""

    def has(self, kind: str) -> bool:
        """Whether a finding of this kind was made."""
        return any(finding.kind == kind for finding in self.findings)


def _check_files(case: Case, binarize: float | None) -> _Checked:
    result = _Checked(list(check_lossy(case)))
    try:
        volumes = read_volumes(case)
    except EdgeCriticError:
        volumes = None  # each file is read again below, and what is wrong said of the one that it is
    if volumes is not None:
        result.annotators = len(case.truths)
        result.findings += check_volumes(case, volumes, binarize)
        return result
    truths = _load(lambda: case.load_truths(binarize=binarize), result, case, "truth") or []
    mask = _load(case.load_mask, result, case, "mask")
    strength: FloatArray | None = None
    if case.prediction is not None:
        if _load(lambda: _is_segmented(case), result, case, "prediction"):
            result.findings += _check_segmentations(case, truths, result)
        elif not result.has("unusable prediction"):
            strength = _load(case.load_strength, result, case, "prediction")
    result.annotators = len(truths)
    result.findings += check_case(strength, truths, name=case.id, mask=mask)
    if any(one.ndim == 3 for one in (strength, *truths) if one is not None):
        result.findings.append(Finding("note", case.id, VOLUMES, "", "volumes"))
    if strength is not None:
        result.depth = "8-bit" if _is_8_bit(strength) else "finer than 8-bit"
        result.findings += _check_photo(case, strength.shape)
    return result


def _is_segmented(case: Case) -> bool:
    return case.prediction is not None and holds_segmentations(case.source(case.prediction))


def _check_segmentations(case: Case, truths: Sequence[BoolArray], result: _Checked) -> list[Finding]:
    maps = _load(case.load_candidates, result, case, "prediction") or []
    shapes = sorted({found.shape for found in maps})
    if truths and shapes and shapes != [truths[0].shape]:
        wrong = next(shape for shape in shapes if shape != truths[0].shape)
        return [_size_finding(wrong, truths[0].shape, case.id)]
    return []


def _load(load: Callable[[], Any], result: _Checked, case: Case, what: str) -> Any:
    try:
        return load()
    except EdgeCriticError as error:
        place = "" if error.path is None else f"{error.path}: "
        told = f"{what} {place}{error.message}"
        result.findings.append(Finding("error", case.id, told, error.remedy or "", f"unusable {what}"))
        return None


def _check_names(dataset: Dataset, truth: str) -> Iterator[Finding]:
    if not dataset.cases:
        told, remedy = dataset.no_case()
        yield Finding("error", truth, told, remedy, "no cases")
        return
    for name in dataset.without_truth:
        yield Finding("warning", name, "prediction has no truth", "remove it or add its truth", "no truth")
    for name in dataset.without_prediction:
        remedy = "add the prediction, or score a smaller truth folder: a missing image is not a zero"
        yield Finding("error", name, "truth has no prediction", remedy, "no prediction")
    for name in dataset.without_image:
        yield Finding("warning", name, "has no photo", "add it to the images folder", "no photo")
    for name in dataset.without_mask:
        yield Finding("warning", name, "has no mask, so all its pixels count", "add the mask", "no mask")
    for note in dataset.notes():
        yield Finding("note", truth, note, "", "names")
    for path in dataset.ignored:
        yield Finding("note", str(path), "is of no known kind and was left out", "", "ignored file")


def check_lossy(case: Case) -> Iterator[Finding]:
    """Warn of predictions and truths in files whose values changed when they were written."""
    for path in (case.prediction, *case.truths):
        found = None if path is None else find_format(path)
        if found is not None and found.info.lossy:
            what = "prediction" if path == case.prediction else "truth"
            told = f"{what} is a {found.name.upper()} file, which blurs edges and changes values"
            yield Finding("warning", str(path), told, "save it as PNG", f"lossy {what}")


def _check_photo(case: Case, shape: tuple[int, ...]) -> Iterator[Finding]:
    found = None if case.image is None else find_format(case.image)
    if case.image is None or found is None or not found.info.picture:
        return
    try:
        with reading(case.image):
            photo = picture_shape(case.image)
    except EdgeCriticError as error:
        yield Finding("warning", case.id, str(error), "replace the photo", "unusable photo")
        return
    if photo != shape:
        told = f"photo has {_size(photo)} pixels, the prediction {_size(shape)}"
        remedy = SIDEWAYS if photo == shape[::-1] else "detect edges at the photo's size"
        yield Finding("warning", case.id, told, remedy, "photo of another size")


def _check_truths(truths: Sequence[BoolArray], name: str) -> Iterator[Finding]:
    if not truths:
        return
    counts = [np.count_nonzero(truth) for truth in truths]
    for number, (truth, count) in enumerate(zip(truths, counts, strict=True), start=1):
        label = f"truth of annotator {number}" if len(truths) > 1 else "truth"
        share = count / truth.size
        if share > _INVERTED_SHARE:
            told = f"{label} marks {share:.0%} of the pixels: edges are dark on white"
            yield Finding("error", name, told, "invert it: edges must be 1 or 255", "inverted truth")
        elif share > _FILLED_SHARE:
            told = f"{label} marks {share:.0%} of the pixels: filled regions rather than edges?"
            yield Finding("warning", name, told, "store boundaries, not regions", "filled truth")
        elif share == 0:
            told = f"{label} is empty: there is nothing to find"
            yield Finding("warning", name, told, "check that the file is the right one", "empty truth")
    alike = len(truths) > 1 and len(set(counts)) == 1
    if alike and all(np.array_equal(truths[0], truth) for truth in truths[1:]):
        told = f"all {len(truths)} annotators' maps are equal"
        yield Finding("warning", name, told, "give the truth once: copies are not annotators", "copied truth")


def _check_mask(truths: Sequence[BoolArray], mask: BoolArray | None, name: str) -> Iterator[Finding]:
    if mask is None:
        return
    if truths and mask.shape != truths[0].shape:
        told = f"mask has {_size(mask.shape)} pixels, the truth {_size(truths[0].shape)}"
        yield Finding("error", name, told, "give a mask of the truth's size", "mask of another size")
    if not mask.any():
        told = "mask is empty, so no pixel counts"
        yield Finding("error", name, told, "masks are 1 where pixels count", "empty mask")


def _check_strength(strength: FloatArray, truths: Sequence[BoolArray], name: str) -> Iterator[Finding]:
    low, high = float(strength.min()), float(strength.max())
    if high == 0:
        told = "prediction is empty (0 everywhere)"
        yield Finding("warning", name, told, "check that the detector ran", "empty prediction")
    elif low == high:
        told = f"prediction is constant ({low:g} everywhere)"
        yield Finding("error", name, told, "check how it was saved", "constant prediction")
    elif high < _FAINT:
        told = f"prediction's largest value is {high:.2g}: a 0/1 map saved with 8 bits, or scaled twice?"
        yield Finding("error", name, told, "save 0/255, or floats in [0, 1]", "faint prediction")
    else:
        yield from _check_polarity(strength, truths, name)
        if _is_two_valued(strength, low, high):
            told = "prediction holds two values only: it was thresholded before"
            yield Finding("note", name, told, "", "binary prediction")


def _check_polarity(strength: FloatArray, truths: Sequence[BoolArray], name: str) -> Iterator[Finding]:
    mean = float(strength.mean())
    if mean <= _INVERTED_SHARE:
        return
    marked = [float(strength[truth].mean()) for truth in truths if truth.any()]
    if marked and np.mean(marked) > mean:
        told = f"prediction is bright on average ({mean:.2f}), though brighter on the truth"
        remedy = "check that edges are bright on black and values are scaled"
        yield Finding("warning", name, told, remedy, "bright prediction")
    else:
        told = f"prediction is bright on average ({mean:.2f}): edges seem to be dark on white"
        yield Finding("error", name, told, "invert it: 255 - values, or 1 - values", "inverted prediction")


def _size_finding(shape: tuple[int, ...], truth: tuple[int, ...], name: str) -> Finding:
    told = f"prediction has {_size(shape)} pixels, the truth {_size(truth)}"
    return Finding("error", name, told, _size_remedy(shape, truth), "prediction of another size")


def _size_remedy(shape: tuple[int, ...], truth: tuple[int, ...]) -> str:
    if shape == truth[::-1]:
        return f"it is transposed: swap rows and columns; or {SIDEWAYS}"
    if len(shape) != len(truth):
        return "give both as images or both as volumes"
    if all(have == 2 * want + 1 for have, want in zip(shape, truth, strict=True)):
        return "it is a double-sized contour map: take every second sample, map[2::2, 2::2]"
    for factor in (2, 4, 8):
        if all(abs(want - have * factor) < factor for have, want in zip(shape, truth, strict=True)):
            return f"it is 1/{factor} of the size: resize the prediction (never the truth)"
        if all(abs(have - want * factor) < factor for have, want in zip(shape, truth, strict=True)):
            return f"it is {factor} times the size: resize the prediction (never the truth)"
    if all(0 <= have - want < 64 for have, want in zip(shape, truth, strict=True)):
        return "it is a little larger: crop the padding away"
    return "resize or crop the prediction (never the truth) to the truth's size"


def _check_set(levels: dict[str, list[str]], place: str) -> Iterator[Finding]:
    if len(levels) > 1:
        rare = min(levels.values(), key=len)
        told = f"some predictions are 8-bit and others finer ({len(rare)} differ, such as {rare[0]})"
        yield Finding("warning", place, told, "save all predictions in one way", "mixed depth")
    elif levels:
        depth = next(iter(levels))
        yield Finding("note", place, f"all predictions are {depth}", "", "depth")


def _is_8_bit(strength: FloatArray) -> bool:
    scaled = strength.ravel()[: 2**20] * 255.0
    return bool(np.abs(scaled - np.rint(scaled)).max() < 1e-4)


def _is_two_valued(strength: NDArray[Any], low: float, high: float) -> bool:
    if strength.flat[strength.size // 2] not in (low, high):
        return False
    return bool(np.count_nonzero(strength == low) + np.count_nonzero(strength == high) == strength.size)


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(str(length) for length in shape)
