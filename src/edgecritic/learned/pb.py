"""Pb: the chance of a boundary from local brightness, colour and texture, learned from people's labels."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.base import detector
from edgecritic.detectors.operators import Outcome, WholeImage
from edgecritic.detectors.options import choice, positive
from edgecritic.detectors.picture import FloatMap, Picture
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray
from edgecritic.learned.base import DIGITS, Arrays, Marks, Model, Stage, trainable
from edgecritic.learned.cues import CUES, GREY, TEXTONS, cue_maps, planes_of, scales_of, texton_vectors
from edgecritic.learned.gradients import ORIENTATIONS
from edgecritic.learned.logistic import fit_best_view
from edgecritic.learned.models import load_model, shipped
from edgecritic.learned.textons import cluster

__all__ = ["pb", "pb_stages", "thin_maps"]

Floats = NDArray[np.float32]

REFERENCE = "Martin, Fowlkes, Malik 2004"
LARGEST = 1000.0
NEAR = 0.0075
"""Pixels nearer to a label than this share of the diagonal are no background."""

POSITIVES, NEGATIVES = 400, 800
_VECTORS, _MOST_VECTORS = 1200, 60_000
_QUANTILE = 0.999
_SETS = tuple("+".join(one) for size in (1, 2, 3) for one in combinations(CUES, size))


def _with_digest(parsed: Id) -> Id:
    """Add the digest of the model to an id, so that records and results tell which weights were used."""
    digest = _model(parsed.options.get("model", "default")).digest[:DIGITS]
    given = parsed.options.get("digest", "")
    if given and given != digest:
        raise InputError(
            f"{parsed} asks for the model with digest {given}, but the file holds {digest}",
            remedy="leave the digest out, or give the file that was meant",
        )
    return Id(
        parsed.name, (*((key, one) for key, one in parsed.params if key != "digest"), ("digest", digest))
    )


def _known(parsed: Id) -> Model:
    return _model(parsed.options.get("model", "default"))


@detector("pb", ndim=(2,), reference=REFERENCE, colour="L*a*b*", complete=_with_digest, model=_known)
def pb(
    spacing: Sequence[float],
    /,
    *,
    model: str = "default",
    cues: str | tuple[str, ...] = "auto",
    scale: str = "score",
    largest: float = LARGEST,
    digest: str = "",
) -> WholeImage:
    """Tell the chance of a boundary from the brightness, colour and texture on both sides (Pb).

    Parameters
    ----------
    spacing : one float per axis
        Pixels must be square.
    model : str
        ``default`` comes with this package, ``default_grey`` is the same without colours; or a file that
        ``edgecritic fit pb`` wrote.
    cues : str or tuple of str
        Any of ``brightness``, ``colour``, ``texture``, joined by +, such as ``"brightness+texture"``. By
        default all that the image has: a grey image has no colours. Each choice has weights of its own.
    scale : {"score", "posterior"}
        "score": β·f over its 99.9 % quantile in training, clipped to [0, 1], which spreads over the
        thresholds of benchmarks. "posterior": 1/(1 + exp(−β0 − β·f)).
    largest : float
        Radii are shares of the diagonal, of at most so many pixels: the time of larger images then grows with
        their pixels alone. The detection says so.
    digest : str
        First digits of the model's digest. It is added to the id by itself, and checked where it is given.

    Notes
    -----
    At each pixel a disc is cut by a diameter at eight orientations. Histograms of both halves are compared by
    χ²: L* in a radius of 1 % of the diagonal, a*, b* and textons (64 typical responses of 13 filters) in 2 %.
    Each is smoothed by a parabola fitted across the orientation. Logistic regression joins them; the largest
    of the eight orientations counts. A pixel is kept by suppression if it is at least as strong as both
    bilinear neighbours one pixel across its orientation; the frame of the image is never kept. The
    orientation tells the axis across the boundary, from −π/2 to π/2: its sense is not known.

    The strength is not divided by its maximum. The colours of photos are taken for sRGB.

    References
    ----------
    .. [1] D. Martin, C. Fowlkes and J. Malik, "Learning to detect natural image boundaries using local
       brightness, color, and texture cues", IEEE TPAMI 26(5), 2004. https://doi.org/10.1109/TPAMI.2004.1273918

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.detectors import detect
    >>> photo = np.zeros((40, 60), np.uint8); photo[:, 30:] = 200
    >>> found = detect(photo, "pb")
    >>> int(found.thin[20].argmax()) in (29, 30), found.posterior is not None
    (True, True)
    """
    if len(set(spacing)) > 1:
        raise InputError(f"pb needs square pixels, got a pixel size of {tuple(spacing)}")
    choice("scale", scale, ("score", "posterior"))
    wide = positive("largest", largest)
    known = _model(model)
    if digest and not known.digest.startswith(str(digest)):
        raise InputError(f"the model has the digest {known.digest[:DIGITS]}, not {digest}")
    chosen = GREY if model == "default_grey" and cues == "auto" else _cues(cues)

    def run(picture: Picture, luminance: bool) -> Outcome:
        return _detected(picture, known, chosen, scale, wide, luminance)

    return WholeImage(run=run)


def _model(name: object) -> Model:
    if name in ("default", "default_grey"):
        return load_model(shipped("pb"))
    if not isinstance(name, str | Path) or not str(name):
        raise InputError(f"model must be default, default_grey or a file, got {name!r}")
    found = load_model(name)
    weights = found.parameters.get("weights")
    if found.detector != "pb" or not isinstance(weights, dict) or "textons" not in found.parameters:
        raise InputError(f"{name}: is a model of {found.detector}, not of pb")
    return found


def _cues(given: str | tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the cues of an option in their order, None for those that the image has."""
    if given == "auto":
        return None
    names = given.split("+") if isinstance(given, str) else list(given)
    if not names or not set(names) <= set(CUES) or len(set(names)) < len(names):
        raise InputError(f'cues must be "auto" or some of {", ".join(CUES)} joined by +, got {given!r}')
    return tuple(one for one in CUES if one in names)


def _detected(
    picture: Picture, model: Model, cues: tuple[str, ...] | None, scale: str, largest: float, luminance: bool
) -> Outcome:
    grey = luminance or len(picture.channels) == 1
    chosen = cues or (GREY if grey else CUES)
    if grey and "colour" in chosen:
        raise InputError("the image is grey and has no colour cue", remedy="leave cues at auto")
    scales = scales_of(picture.shape, largest)
    maps = cue_maps(planes_of(picture, grey=grey), scales, chosen, model.parameters["textons"])
    return _judged(maps, model, chosen, scale)._replace(notes=_notes(picture.shape, largest))


def _judged(maps: Mapping[str, Floats], model: Model, cues: Sequence[str], scale: str) -> Outcome:
    """Join the maps of cues by the weights of a model."""
    weights = model.parameters["weights"].get("+".join(cues))
    if weights is None:
        raise InputError(f"the model has no weights for {'+'.join(cues)}", remedy="fit it anew")
    activity = np.zeros(maps[cues[0]].shape, np.float32)
    for beta, cue in zip(weights["beta"][1:], cues, strict=True):
        activity += np.float32(beta) * maps[cue]
    best = activity.argmax(axis=0)
    crest = activity.max(axis=0)
    posterior = _logistic(weights["beta"][0] + crest.astype(np.float64))
    strength = posterior
    if scale == "score":
        strength = np.clip(crest.astype(np.float64) / weights["quantile"], 0, 1)
    across = np.pi * best / ORIENTATIONS + np.pi / 2
    return Outcome(
        strength,
        np.where(_kept(crest, best), strength, 0.0),
        np.where(across > np.pi / 2, across - np.pi, across).astype(np.float32),
        posterior,
    )


def thin_maps(
    picture: Picture, models: Mapping[str, Model], sets: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], FloatMap]:
    """Return the suppressed scores of several models of the same textons, each with several sets of cues.

    The cues, by far the most work, are computed once.
    """
    textons = {json.dumps(model.parameters["textons"]) for model in models.values()}
    if len(textons) != 1:
        raise InputError("models that are compared on the same cues must have the same textons")
    maps = cue_maps(_three_planes(picture), scales_of(picture.shape), CUES, json.loads(textons.pop()))
    return {
        (name, told): _judged(maps, model, cues, "score").thin
        for name, model in models.items()
        for told, cues in sets.items()
    }


def _three_planes(picture: Picture) -> list[Floats]:
    """Return L*, a*, b*; a grey photo has no colour anywhere, and so no gradient of it."""
    planes = planes_of(picture)
    return planes if len(planes) == 3 else [planes[0], np.zeros_like(planes[0]), np.zeros_like(planes[0])]


def _notes(shape: tuple[int, ...], largest: float) -> tuple[str, ...]:
    diagonal = math.hypot(*shape)
    if diagonal <= largest:
        return ()
    return (f"radii are those of a diagonal of {largest:g} pixels, the image has {diagonal:.0f}",)


def _kept(crest: Floats, best: NDArray[np.int64]) -> BoolArray:
    """Mark pixels that are at least both bilinear neighbours one pixel across the best orientation."""
    kept = np.zeros(crest.shape, np.bool_)
    if min(crest.shape) < 3:
        return kept
    inner, number = crest[1:-1, 1:-1], best[1:-1, 1:-1]
    for o in range(ORIENTATIONS):
        angle = np.pi * o / ORIENTATIONS
        down, right = np.cos(angle), -np.sin(angle)
        ahead, behind = _shifted(crest, down, right), _shifted(crest, -down, -right)
        kept[1:-1, 1:-1] |= (number == o) & (inner >= ahead) & (inner >= behind)
    return kept


def _shifted(plane: Floats, down: float, right: float) -> Floats:
    """Return the plane without its frame, read `down` and `right` beside each pixel, bilinearly."""
    rows, columns = plane.shape
    y, x = (-1 if value < -1e-12 else 0 for value in (down, right))
    v, u = abs(down), abs(right)
    total = np.zeros((rows - 2, columns - 2), np.float32)
    step_y, step_x = (-1 if y else 1), (-1 if x else 1)
    for dy, weight_y in ((0, 1 - v), (step_y, v)):
        for dx, weight_x in ((0, 1 - u), (step_x, u)):
            weight = weight_y * weight_x
            if weight > 1e-12:
                part = plane[1 + dy : rows - 1 + dy, 1 + dx : columns - 1 + dx]
                total += np.float32(weight) * part
    return total


def _logistic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import expit

    result: NDArray[np.float64] = expit(values)
    return result


@trainable("pb", reference=REFERENCE)
def pb_stages(*, textons: int = TEXTONS) -> tuple[Stage, ...]:
    """Learn textons, then how brightness, colour and texture tell boundaries.

    Parameters
    ----------
    textons : int
        How many; at most 64.

    Notes
    -----
    From each photo 400 pixels on labels and 800 farther than 0.75 % of the diagonal from all of them,
    weighted by the number of pixels they stand for, labels also by their weight where they have one. The
    orientation of a label is not known: the best one by
    the present weights and the weights take turns until these change by less than 10⁻⁴. A grey photo has no
    gradient of colour.
    """
    if not 2 <= textons <= TEXTONS:
        raise InputError(f"textons must lie in 2 … {TEXTONS}, got {textons!r}")

    def centres(parts: Sequence[Arrays], _: Sequence[str], __: Any, seed: int) -> list[list[float]]:
        vectors = np.concatenate([part["vectors"] for part in parts])
        rng = np.random.default_rng([seed, 1])
        if len(vectors) > _MOST_VECTORS:
            vectors = vectors[np.sort(rng.choice(len(vectors), _MOST_VECTORS, replace=False))]
        found = cluster(vectors, textons, seed=seed)
        return [[float(f"{value:.9g}") for value in row] for row in found]

    return (
        Stage("textons", _vectors, centres),
        Stage("cues", _samples, _weights),
    )


def _vectors(picture: Picture, _: Mapping[str, Marks], __: Any, seed: int) -> Arrays:
    found = texton_vectors(planes_of(picture), scales_of(picture.shape))
    flat = found.reshape(-1, found.shape[-1])
    rng = np.random.default_rng(seed)
    return {"vectors": flat[np.sort(rng.choice(len(flat), min(_VECTORS, len(flat)), replace=False))]}


def _samples(picture: Picture, marks: Mapping[str, Marks], centres: Any, seed: int) -> Arrays:
    """Return the cues of pixels with and without label, (pixels, orientations, cues), and their weights."""
    maps = cue_maps(_three_planes(picture), scales_of(picture.shape), CUES, centres)
    stack = np.stack([maps[cue].reshape(ORIENTATIONS, -1) for cue in CUES], axis=-1)
    found: Arrays = {"centres": np.asarray(centres, np.float32)}
    for scheme, mark in marks.items():
        rng = np.random.default_rng(seed)
        chosen, truth, importance = [], [], []
        for wanted, pixels, on in zip((POSITIVES, NEGATIVES), _classes(mark), (True, False), strict=True):
            drawn = np.sort(rng.choice(pixels, min(wanted, pixels.size), replace=False))
            chosen.append(drawn)
            truth.append(np.full(drawn.size, on))
            share = np.full(drawn.size, pixels.size / max(drawn.size, 1))
            importance.append(share if mark.weight is None or not on else share * mark.weight.flat[drawn])
        found[f"{scheme}:cues"] = stack[:, np.concatenate(chosen)].transpose(1, 0, 2)
        found[f"{scheme}:truth"] = np.concatenate(truth)
        found[f"{scheme}:importance"] = np.concatenate(importance)
    return found


def _classes(mark: Marks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pixels on labels, and those far from labels and from what is left out."""
    from scipy.ndimage import distance_transform_edt

    labels = mark.boundary if mark.unsure is None else mark.boundary | mark.unsure
    near = NEAR * math.hypot(*labels.shape)
    far = distance_transform_edt(~labels) > near if labels.any() else np.ones(labels.shape, np.bool_)
    return np.flatnonzero(mark.boundary), np.flatnonzero(far)


def _weights(parts: Sequence[Arrays], schemes: Sequence[str], centres: Any, _: int) -> dict[str, Any]:
    found = {}
    for scheme in schemes:
        cues, truth, importance = (
            np.concatenate([part[f"{scheme}:{name}"] for part in parts])
            for name in ("cues", "truth", "importance")
        )
        weights = {}
        for names in _SETS:
            used = cues[:, :, [CUES.index(one) for one in names.split("+")]].astype(np.float64)
            fitted = fit_best_view(used, truth.astype(bool), importance)
            best = (used @ fitted[1:]).max(axis=1)
            order = np.argsort(best, kind="stable")
            share = np.cumsum(importance[order]) / importance.sum()
            quantile = best[order][np.searchsorted(share, _QUANTILE)]
            weights[names] = {
                "beta": [float(f"{value:.9g}") for value in fitted],
                "quantile": max(float(f"{quantile:.9g}"), 1e-9),
            }
        found[scheme] = {"textons": centres, "weights": weights}
    return found
