"""Batches of any array library, taken apart into the maps of single images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing, as_array

__all__ = ["Sample", "left_out", "probabilities", "split"]

Array = NDArray[Any]


class Sample(NamedTuple):
    """One image of a batch.

    Attributes
    ----------
    prediction : (channels, …) array
        With two or three axes of space.
    targets : list of arrays
        Maps of the same space: of annotators, or of channels.
    id : str or None
        The name of the image, if it has one.
    spacing : float, sequence of float or None
    """

    prediction: Array
    targets: list[Array]
    id: str | None = None
    spacing: Spacing = None


def split(
    prediction: Any,
    target: Any,
    ids: Sequence[Any] | None = None,
    *,
    spacing: Spacing = None,
    copy: bool = False,
) -> list[Sample]:
    """Take a batch apart; only shapes are looked at.

    Parameters
    ----------
    prediction : array_like, or list of array_like
        (N, H, W), (N, C, H, W) or (N, C, D, H, W); or a list of N arrays without the first axis, which may
        differ in size.
    target : array_like, or list
        The same without channels; or with a second axis, of annotators or channels. In a list every item
        may be a list of maps again, so that images may have different numbers of annotators.
    ids : sequence, optional
        A name for every image.
    spacing : float or sequence of float, optional
        Pixel size.
    copy : bool
        Copy what is the caller's memory, which may be used again while the images are judged.

    Examples
    --------
    >>> found = split(np.zeros((2, 1, 4, 5)), np.zeros((2, 3, 4, 5), bool), ["a", "b"])
    >>> [(one.id, one.prediction.shape, len(one.targets)) for one in found]
    [('a', (1, 4, 5), 3), ('b', (1, 4, 5), 3)]
    """
    predictions, targets = _items(prediction, "prediction", copy), _items(target, "target", copy)
    names = [None] * len(predictions) if ids is None else [str(each) for each in ids]
    for others, what in ((targets, "targets"), (names, "ids")):
        if len(others) != len(predictions):
            raise InputError(
                f"a batch of {len(predictions)} predictions needs as many {what}, got {len(others)}"
            )
    return [
        _sample(one, other, name, spacing)
        for one, other, name in zip(predictions, targets, names, strict=True)
    ]


def probabilities(maps: Array, *, from_logits: bool) -> Array:
    """Return values in [0, 1]: the logistic function of logits, anything else as it is.

    Examples
    --------
    >>> probabilities(np.zeros(2, np.float16), from_logits=True)
    array([0.5, 0.5], dtype=float32)
    """
    if not from_logits:
        return maps
    from scipy.special import expit

    wide = maps if maps.dtype == np.float64 else maps.astype(np.float32)
    found: Array = expit(wide)
    return found


def left_out(targets: Sequence[Array], ignore_index: int | None) -> tuple[list[Array], BoolArray | None]:
    """Return the targets without pixels to ignore, and where nothing is ignored; ``None`` for everywhere.

    A pixel is ignored where any of the targets has the number `ignore_index`; the others then have 0 there.

    Examples
    --------
    >>> left_out([np.array([[0, 1, 255]])], 255)
    ([array([[0, 1, 0]])], array([[ True,  True, False]]))
    """
    if ignore_index is None:
        return list(targets), None
    valid = np.logical_and.reduce([target != ignore_index for target in targets])
    return [np.where(valid, target, np.zeros((), target.dtype)) for target in targets], valid


def _sample(prediction: Any, target: Any, name: str | None, spacing: Spacing) -> Sample:
    if not isinstance(prediction, np.ndarray) or prediction.ndim not in (2, 3, 4):
        raise InputError(
            "predictions must have the shape (N, H, W), (N, C, H, W) or (N, C, D, H, W), got an image of "
            f"shape {np.shape(prediction)}",
            remedy="give volumes a channel axis: prediction[:, None]",
        )
    channels = prediction[None] if prediction.ndim == 2 else prediction
    shape = channels.shape[1:]
    maps = _maps(target, len(shape))
    for one in maps:
        if one.shape != shape:
            last = channels.shape[:-1] == one.shape
            raise InputError(
                f"target must have the size of the prediction {shape}, got {one.shape}",
                remedy="give the channels before the axes of space: numpy.moveaxis(prediction, -1, 1)"
                if last
                else "resize the prediction (never the target)",
            )
    return Sample(channels, maps, name, spacing)


def _maps(target: Any, ndim: int) -> list[Array]:
    """Return the maps of annotators or channels, each of `ndim` axes."""
    if isinstance(target, list):
        if not target:
            raise InputError("target has no map for an image", remedy="give one or more")
        return [one[0] if one.ndim == ndim + 1 and len(one) == 1 else one for one in target]
    if target.ndim == ndim + 1 and len(target):
        return list(target)
    return [target]


def _items(data: Any, name: str, copy: bool) -> list[Any]:
    """Return the images of a batch: arrays, or lists of them."""
    if isinstance(data, list | tuple):
        return [
            [_array(each, name, copy) for each in one]
            if isinstance(one, list | tuple)
            else _array(one, name, copy)
            for one in data
        ]
    array = _array(data, name, copy)
    if array.ndim < 3:
        raise InputError(
            f"{name} must be a batch of images, its first axis their number, got shape {array.shape}",
            remedy=f"give a single image as {name}[None]",
        )
    return list(array)


def _array(data: Any, name: str, copy: bool) -> Array:
    """Return an array on the CPU, without gradients; torch is not imported for its tensors."""
    if hasattr(data, "detach"):
        data = data.detach().cpu()
        if str(data.dtype) == "torch.bfloat16":  # which NumPy does not know
            data = data.float()
    array = as_array(data, name)
    return array.copy() if copy else array
