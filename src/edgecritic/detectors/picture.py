"""Images as detectors see them: checked, with channels apart, unscaled and not copied."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.ids import shown
from edgecritic.inputs import Spacing, as_array, as_spacing

__all__ = ["Picture", "Kind", "Border", "as_picture", "FloatMap", "Block"]

FloatMap = NDArray[np.float64]
Kind = Literal["auto", "grey", "colour", "volume"]
Border = Literal["mirror", "repeat"]
Block = tuple[slice, ...]

LUMINANCE = (0.299, 0.587, 0.114)

_PAD_MODES: dict[str, Literal["symmetric", "edge"]] = {"mirror": "symmetric", "repeat": "edge"}
EXTREME = 1e100
"""Squares of larger values, or of the inverse, would be lost."""

_WHOLE_IMAGE = 1 << 21
"""Larger images are worked on in blocks, so that only the results need memory."""

_BLOCK_SIDES = {2: 1024, 3: 128}


@dataclass(frozen=True, slots=True)
class Picture:
    """A checked image.

    Attributes
    ----------
    channels : tuple of arrays
        One array for a grey image or a volume, three for colours; of any real dtype.
    spacing : tuple of float
        Pixel size along each axis.
    scale : float
        Unsigned integers times `scale` lie in [0, 1]; 1 for other types.
    peak : float
        The largest absolute value of all channels.
    """

    channels: tuple[NDArray[Any], ...]
    spacing: tuple[float, ...]
    scale: float
    peak: float

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one channel."""
        return self.channels[0].shape

    def blocks(self, side: int | None = None) -> Iterator[Block]:
        """Yield blocks that cover the image once; a small image is one block."""
        if side is None:
            small = math.prod(self.shape) <= _WHOLE_IMAGE
            side = max(self.shape) if small else _BLOCK_SIDES[len(self.shape)]
        counts = [math.ceil(n / side) for n in self.shape]
        for index in np.ndindex(*counts):
            yield tuple(
                slice(i * side, min((i + 1) * side, n)) for i, n in zip(index, self.shape, strict=True)
            )

    def cut(self, block: Block, reach: tuple[int, ...], border: Border, luminance: bool) -> list[FloatMap]:
        """Return the channels of a block with a margin of `reach` pixels, continued beyond the frame.

        Parameters
        ----------
        block : slices
        reach : tuple of int
            Width of the margin along each axis.
        border : {"mirror", "repeat"}
            Mirroring repeats the border pixels: c b a | a b c.
        luminance : bool
            Whether colours are mixed into one channel.
        """
        inside, margin = [], []
        for part, n, r in zip(block, self.shape, reach, strict=True):
            start, stop = max(part.start - r, 0), min(part.stop + r, n)
            inside.append(slice(start, stop))
            margin.append((start - (part.start - r), part.stop + r - stop))
        planes = [_pad(channel[tuple(inside)], margin, border) for channel in self.channels]
        if luminance and len(planes) > 1:
            red, green, blue = planes
            planes = [LUMINANCE[0] * red + LUMINANCE[1] * green + LUMINANCE[2] * blue]
        return planes


def as_picture(image: Any, kind: Kind = "auto", spacing: Spacing = None) -> Picture:
    """Check an image and take its channels apart.

    Parameters
    ----------
    image : array_like
        (rows, columns), (rows, columns, 1 | 3 | 4) or (planes, rows, columns); booleans, integers or
        floats. A fourth channel is taken as transparency and left out.
    kind : {"auto", "grey", "colour", "volume"}
        What a 3-D array is; "auto" takes a last axis of 1, 3 or 4 as channels.
    spacing : float or one per axis, optional
        Pixel sizes.

    Raises
    ------
    InputError
        For NaN, infinite values, no pixels, other shapes, complex numbers, text.

    Examples
    --------
    >>> import numpy as np
    >>> as_picture(np.zeros((4, 5, 3))).shape, as_picture(np.zeros((4, 5, 6))).shape
    ((4, 5), (4, 5, 6))
    """
    array = as_array(image, "image")
    if array.dtype.kind not in "biuf":
        raise InputError(f"image must hold numbers, got dtype {array.dtype}")
    if array.size == 0:
        raise InputError(f"image has no pixels: its shape is {array.shape}")
    channels = _channels(array, kind)
    low, high = (float(array.min()), float(array.max()))
    peak = max(abs(low), abs(high))
    if not math.isfinite(peak):
        raise InputError(
            "image holds NaN or infinite values",
            remedy="replace them first, for instance with numpy.nan_to_num",
        )
    if not (peak == 0 or 1 / EXTREME < peak < EXTREME):
        raise InputError(
            f"image values must be between 1e-100 and 1e100 in size, got {peak:g}", remedy="rescale them"
        )
    scale = 1.0 / float(np.iinfo(array.dtype).max) if array.dtype.kind == "u" else 1.0
    sizes = as_spacing(spacing, channels[0].ndim)
    return Picture(channels, sizes, scale, peak)


def _channels(array: NDArray[Any], kind: str) -> tuple[NDArray[Any], ...]:
    if not isinstance(kind, str) or kind not in ("auto", "grey", "colour", "volume"):
        raise InputError(f'kind must be "auto", "grey", "colour" or "volume", got {shown(kind)}')
    shape = array.shape
    if array.ndim == 2 and kind in ("auto", "grey"):
        return (array,)
    if array.ndim == 3 and shape[2] in (1, 3, 4) and kind != "volume":
        count = 1 if shape[2] == 1 else 3
        if kind != "grey" or count == 1:
            return tuple(array[..., index] for index in range(count))
    elif array.ndim == 3 and (kind == "volume" or (kind == "auto" and shape[2] != 2)):
        return (array,)
    raise InputError(
        "image must be (rows, columns), (rows, columns, channels) with 1, 3 or 4 channels, or "
        f"(planes, rows, columns), got shape {shape} with kind={kind!r}",
        remedy='give kind="volume" for a volume of few columns',
    )


def _pad(part: NDArray[Any], margin: list[tuple[int, int]], border: Border) -> FloatMap:
    """Return a part of an image as floats with a margin filled from it."""
    shape = [n + before + after for n, (before, after) in zip(part.shape, margin, strict=True)]
    result = np.empty(shape)
    filled = [slice(before, before + n) for n, (before, _) in zip(part.shape, margin, strict=True)]
    result[tuple(filled)] = part
    for axis, (n, sides) in enumerate(zip(part.shape, margin, strict=True)):
        source = np.pad(np.arange(n), sides, mode=_PAD_MODES[border]) + sides[0]
        for side in (slice(0, sides[0]), slice(sides[0] + n, shape[axis])):
            if side.stop > side.start:
                lead, rest = tuple(filled[:axis]), tuple(filled[axis + 1 :])
                there: Any = (*lead, source[side], *rest)
                result[(*lead, side, *rest)] = result[there]
        filled[axis] = slice(None)
    return result
