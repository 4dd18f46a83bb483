"""Ground truth with little handiwork: a proposal by filtering, and edits that can be replayed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.atomic import replace_file
from edgecritic.datasets.content import read_text
from edgecritic.detectors.base import detect
from edgecritic.detectors.picture import Kind
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray

__all__ = ["Action", "Edit", "Proposal", "propose", "write_edits", "read_edits"]

Action = Literal["accept", "delete", "add"]
ACTIONS = ("accept", "delete", "add")
_FORMAT = "edgecritic-edits-1"


@dataclass(frozen=True, slots=True)
class Edit:
    """One step of an annotator: what to do with which pixels, given as (plane,) row, column."""

    action: Action
    pixels: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise InputError(f"an edit must accept, delete or add, got {self.action!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A proposed ground truth and the edits made to it so far; every edit gives a new proposal.

    Attributes
    ----------
    candidate : bool array
        The proposed edge pixels.
    strength : float array
        Thin edge strength in [0, 1], to show the candidates by their strength.
    threshold : float
        What the candidate's strength reaches.
    edits : tuple of Edit
        The annotator's steps, oldest first.
    """

    candidate: BoolArray
    strength: FloatArray
    threshold: float
    edits: tuple[Edit, ...] = ()

    def accept(self, pixels: Any) -> Proposal:
        """Confirm candidate pixels: a mask (its pixels that are no candidates are left out) or a list."""
        return self._with("accept", pixels)

    def delete(self, pixels: Any) -> Proposal:
        """Remove pixels: a mask or a list of coordinates."""
        return self._with("delete", pixels)

    def add(self, pixels: Any) -> Proposal:
        """Set pixels that the filter missed: a mask or a list of coordinates."""
        return self._with("add", pixels)

    def undo(self) -> Proposal:
        """Take the last edit back."""
        return replace(self, edits=self.edits[:-1])

    def replay(self, edits: Iterable[Edit]) -> Proposal:
        """Apply edits that were made before, in their order."""
        result = self
        for edit in edits:
            result = result._with(edit.action, edit.pixels)
        return result

    def truth(self, *, pending: Literal["keep", "drop"] = "keep") -> BoolArray:
        """Return the ground truth after all edits.

        Parameters
        ----------
        pending : {"keep", "drop"}
            What happens to candidates that were neither accepted nor deleted.
        """
        if pending not in ("keep", "drop"):
            raise InputError(f'pending must be "keep" or "drop", got {pending!r}')
        result = self.candidate.copy() if pending == "keep" else np.zeros_like(self.candidate)
        for edit in self.edits:
            if edit.pixels:
                result[tuple(np.transpose(edit.pixels))] = edit.action != "delete"
        return result

    @property
    def pending(self) -> BoolArray:
        """The candidates on which no edit has decided yet."""
        result = self.candidate.copy()
        for edit in self.edits:
            if edit.pixels:
                result[tuple(np.transpose(edit.pixels))] = False
        return result

    def _with(self, action: Action, pixels: Any) -> Proposal:
        places = _coordinates(pixels, self.candidate.shape)
        if action == "accept" and len(places):
            places = places[self.candidate[tuple(places.T)]]
        chosen = tuple(tuple(int(number) for number in place) for place in places)
        return replace(self, edits=(*self.edits, Edit(action, chosen)))


def propose(image: Any, *, threshold: float = 0.02, kind: Kind = "auto") -> Proposal:
    """Propose a ground truth: central differences, suppression along the gradient, a low threshold.

    Parameters
    ----------
    image : array_like
        Grey, colour (Di Zenzo's tensor) or a volume.
    threshold : float
        Share of the strongest response that a candidate needs.
    kind : {"auto", "grey", "colour", "volume"}
        What a 3-D array is.

    Notes
    -----
    The weights [−1 0 1] put the maximum exactly onto a rim of half height, so on clean synthetic shapes the
    proposal holds the whole truth and a few weaker pixels at corners. A person then deletes and adds pixels;
    the lists can be saved (:func:`write_edits`) and replayed on the same image.

    References
    ----------
    .. [1] H. Abdulrahman, B. Magnier and P. Montesinos, "From contours to ground truth: how to evaluate edge
       detectors by filtering", Journal of WSCG 25, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> found = propose(np.repeat([[0, 0, 0.5, 1, 1]], 4, axis=0))
    >>> edited = found.delete([(1, 2)]).add([(0, 2)])
    >>> np.argwhere(edited.truth()).tolist()
    [[0, 2], [2, 2]]
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold must lie in [0, 1], got {threshold!r}")
    found = detect(image, "central", kind=kind)
    return Proposal(candidate=found.binary(threshold), strength=found.thin, threshold=float(threshold))


def write_edits(path: Path | str, proposal: Proposal) -> Path:
    """Save the edits of a proposal as JSON and return the path."""
    file = Path(path)
    document = {
        "format": _FORMAT,
        "shape": list(proposal.candidate.shape),
        "threshold": proposal.threshold,
        "edits": [{"action": edit.action, "pixels": edit.pixels} for edit in proposal.edits],
    }
    with replace_file(file) as stream:
        stream.write(json.dumps(document).encode())
    return file


def read_edits(path: Path | str, proposal: Proposal) -> Proposal:
    """Replay saved edits on a proposal for the same image."""
    file = Path(path)
    try:
        document = json.loads(read_text(file))
        known = document["format"] == _FORMAT
        shape = tuple(document["shape"])
        edits = [
            Edit(edit["action"], tuple(tuple(pixel) for pixel in edit["pixels"]))
            for edit in document["edits"]
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"is not a list of edits ({error})", path=file) from error
    if not known:
        raise DataError(f"has the format {document['format']!r}, expected {_FORMAT!r}", path=file)
    if shape != proposal.candidate.shape:
        raise InputError(
            f"was made for an image of shape {shape}, this one has {proposal.candidate.shape}", path=file
        )
    return proposal.replay(edits)


def _coordinates(pixels: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    array = np.asarray(pixels)
    if array.dtype == np.bool_ and array.shape == shape:
        return np.argwhere(array)
    if array.size == 0:
        return np.empty((0, len(shape)), dtype=np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != len(shape):
        raise InputError(
            f"pixels must be a boolean mask of shape {shape} or a list of {len(shape)} coordinates each"
        )
    if (array < 0).any() or (array >= np.array(shape)).any():
        raise InputError(f"pixels must lie inside of the image of shape {shape}")
    return array.astype(np.int64)
