"""Detections, the registry of detectors, and the function that runs one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.operators import Operator, Outcome, WholeImage, apply
from edgecritic.detectors.picture import Kind, Picture, as_picture
from edgecritic.errors import InputError
from edgecritic.figures import show_map
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray, FloatArray, Spacing
from edgecritic.registry import Bound, Registry
from edgecritic.values import Value

__all__ = ["Detection", "DetectorInfo", "detectors", "detector", "detect", "bind", "respond"]

Function = TypeVar("Function", bound=Callable[..., Operator | WholeImage])
Colour = Literal["joint", "luminance"]


class Detection(Value):
    """What a detector found.

    Attributes
    ----------
    detector : str
        The id, such as ``canny(sigma=2)``.
    strength : float array in [0, 1]
        Edge strength divided by its maximum.
    thin : float array in [0, 1]
        The strength where it is a crest (after non-maximum suppression), 0 elsewhere.
    orientation : float32 array or None
        Direction of the gradient. In images the angle in radians from the column axis (right) towards
        growing rows (down), from −π to π; in volumes unit vectors, shape (3, planes, rows, columns), with
        components along plane, row and column. None where a map from elsewhere does not tell.
    maximum : float
        The largest strength before it was divided, in units of the image (unsigned integers count as
        [0, 1]); 0 for an image without any edge.
    posterior : float array or None
        The chance of a boundary at each pixel, from detectors that learn. Their strength has a scale of
        its own and is not divided by its maximum.
    notes : tuple of str
        What a reader of the map should know.
    """

    _hidden = ("strength", "thin", "orientation", "posterior")

    detector: str
    strength: FloatArray
    thin: FloatArray
    orientation: NDArray[np.float32] | None
    maximum: float
    posterior: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def binary(self, threshold: float = 0.0) -> BoolArray:
        """Return the candidate at a threshold: crests with 0 < strength and `threshold` ≤ strength."""
        result: BoolArray = (self.thin >= threshold) & (self.thin > 0)
        return result

    def hysteresis(self, low: float | None = None, high: float | None = None) -> BoolArray:
        """Return crests above `low` that are connected with one of at least `high`.

        Without thresholds those of :func:`edgecritic.detectors.bowstring.bowstring` are taken; `high`
        alone goes with low = 0.4·high.
        """
        from edgecritic.detectors.bowstring import bowstring
        from edgecritic.maps.hysteresis import hysteresis

        if high is None:
            if low is not None:
                raise InputError("low needs high", remedy="give both, high alone, or neither")
            low, high = bowstring(self.strength)
        return hysteresis(self.thin, 0.4 * high if low is None else low, high)

    def plot(self, ax: Any = None) -> Any:
        """Draw the crests, darker the stronger, into `ax` or a new figure; return the axes.

        Of a volume the plane with most of them is drawn.
        """
        crests = self.thin
        if crests.ndim == 3:
            crests = crests[int((crests > 0).sum(axis=(1, 2)).argmax())]
        return show_map(ax, crests, self.detector)

    def __str__(self) -> str:
        count = int(np.count_nonzero(self.thin))
        shape = "×".join(map(str, self.strength.shape))
        return f"{self.detector} on {shape}: {count} crest pixels, largest response {self.maximum:.4g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorInfo:
    """What is known of a detector.

    Attributes
    ----------
    ndim : tuple of int
        Dimensions it works in.
    reference : str
        Where it is defined.
    colour : str
        What it does with colours: "tensor", "channel maximum", "luminance" or "L*a*b*".
    complete : callable or None
        Takes an id and adds what else its results depend on: the digest of a model.
    model : callable or None
        Takes an id and returns the model of a detector that learns, see :class:`edgecritic.learned.Model`.
    """

    ndim: tuple[int, ...]
    reference: str
    colour: str
    complete: Callable[[Id], Id] | None = None
    model: Callable[[Id], Any] | None = None

    def told(self) -> dict[str, Any]:
        """Return what lists and the reference show of a detector."""
        return {"ndim": self.ndim, "reference": self.reference, "colour": self.colour}


detectors: Registry[DetectorInfo] = Registry("detector", "edgecritic.detectors", "edgecritic.detectors")


def detector(
    name: str,
    *,
    ndim: tuple[int, ...],
    reference: str,
    colour: str = "tensor",
    complete: Callable[[Id], Id] | None = None,
    model: Callable[[Id], Any] | None = None,
) -> Callable[[Function], Function]:
    """Register a function ``(spacing, *, options) -> Operator | WholeImage`` as the detector `name`."""
    info = DetectorInfo(ndim=ndim, reference=reference, colour=colour, complete=complete, model=model)

    def register(function: Function) -> Function:
        detectors.add(name, function, info)
        return function

    return register


def detect(
    image: Any,
    detector: str | Id | Callable[[Any], Any],
    *,
    kind: Kind = "auto",
    colour: Colour = "joint",
    spacing: Spacing = None,
    name: str | None = None,
    **parameters: Any,
) -> Detection:
    """Find the edges of an image.

    Parameters
    ----------
    image : array_like
        (rows, columns), (rows, columns, 1 | 3 | 4) or (planes, rows, columns); integers of 8 or 16 bits
        or floats. A fourth channel is taken as transparency and left out.
    detector : str or callable
        An id such as ``"canny(sigma=2)"``; ``edgecritic list detectors`` shows them. Or a function that
        takes the image and returns a strength map in [0, 1] or a :class:`Detection`; or a
        :class:`~edgecritic.detectors.external.FolderDetector`.
    kind : {"auto", "grey", "colour", "volume"}
        What a 3-D array is; "auto" takes a last axis of 1, 3 or 4 as channels.
    colour : {"joint", "luminance"}
        Use all channels as the detector does, or mix them first: 0.299 R + 0.587 G + 0.114 B.
    spacing : float or one per axis, optional
        Pixel sizes, for detectors of gradients; scales are then in the same units.
    name : str, optional
        Name of the image, for detectors that look maps up.
    **parameters
        Parameters of the detector, in addition to those in the id: ``style="matlab"``, ``sigma=2``.

    Returns
    -------
    Detection

    Raises
    ------
    UnknownNameError
        If no detector has this name.
    InputError
        For an image or a parameter that cannot be used.

    Notes
    -----
    The image goes on beyond its frame by mirroring (c b a | a b c), with ``style="matlab"`` by repeating
    the border pixel. Responses below 10⁻¹² of the largest pixel value are rounding errors and count as 0.
    Large images are worked on in blocks: memory is needed for the results only.

    Examples
    --------
    >>> import numpy as np
    >>> step = np.repeat([[0, 0, 0, 0.5, 1, 1, 1]], 5, axis=0)
    >>> found = detect(step, "central")
    >>> found.thin[2], found.maximum
    (array([0., 0., 0., 1., 0., 0., 0.]), 1.0)
    """
    if isinstance(image, str | Id) or callable(image):
        raise InputError('the image comes first, then the detector: detect(image, "canny")')
    if callable(detector):
        from edgecritic.detectors.external import run_external

        return run_external(detector, image, name, parameters)
    bound = bind(detector, **parameters)
    picture = as_picture(image, kind, spacing)
    operator = operator_for(bound, picture, colour)
    return _finish(str(bound), apply(operator, picture), picture)


def bind(detector: str | Id, **parameters: Any) -> Bound[DetectorInfo]:
    """Return the detector of an id with further parameters.

    Examples
    --------
    >>> str(bind("canny(sigma=2)", style="matlab"))
    'canny(sigma=2, style=matlab)'
    """
    parsed = Id.parse(detector)
    twice = set(parsed.options) & set(parameters)
    if twice:
        raise InputError(f"{', '.join(sorted(twice))} is given twice: in the id {parsed} and as an argument")
    bound = detectors.bind(Id(parsed.name, (*parsed.params, *parameters.items())))
    complete = bound.entry.info.complete
    return bound if complete is None else detectors.bind(complete(bound.id))


def operator_for(
    bound: Bound[DetectorInfo], picture: Picture, colour: Colour = "joint"
) -> Operator | WholeImage:
    """Return the operator of a detector for a picture, or say why there is none."""
    from dataclasses import replace

    ndim = len(picture.shape)
    if ndim not in bound.entry.info.ndim:
        able = ", ".join(entry.name for entry in detectors if ndim in entry.info.ndim)
        raise InputError(
            f"{bound} does not work in {ndim}-D (the image has shape {picture.shape}); these do: {able}"
        )
    if colour not in ("joint", "luminance"):
        raise InputError(f'colour must be "joint" or "luminance", got {colour!r}')
    operator: Operator | WholeImage = bound(picture.spacing)
    return replace(operator, colour="luminance") if colour == "luminance" else operator


def respond(bound: Bound[DetectorInfo], picture: Picture) -> Outcome:
    """Return the unscaled results of a detector."""
    return apply(operator_for(bound, picture), picture)


def _finish(name: str, outcome: Outcome, picture: Picture) -> Detection:
    largest = float(outcome.magnitude.max())
    if largest > 0 and outcome.posterior is None:
        for part in (outcome.magnitude, outcome.thin):
            np.divide(part, largest, out=part)
    for array in (outcome.magnitude, outcome.thin, outcome.orientation):
        array.setflags(write=False)
    return Detection(
        detector=name,
        strength=outcome.magnitude,
        thin=outcome.thin,
        orientation=outcome.orientation,
        maximum=largest * (picture.scale if outcome.posterior is None else 1.0),
        posterior=outcome.posterior,
        notes=outcome.notes,
    )
