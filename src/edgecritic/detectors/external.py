"""Detectors from elsewhere: any function, or a folder of saved maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecritic.detectors.base import Detection
from edgecritic.detectors.picture import as_picture
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import FloatArray, as_strength
from edgecritic.maps.suppression import get_recipe, suppress

if TYPE_CHECKING:
    from edgecritic.datasets.content import Content

__all__ = ["FunctionDetector", "FolderDetector", "run_external"]


@dataclass(frozen=True, slots=True)
class FunctionDetector:
    """A function ``image -> strength map`` that takes part as a detector.

    Attributes
    ----------
    function : callable
        Takes the image as it was given; returns a map in [0, 1], or a :class:`Detection`.
    name : str
        What results call it; the function's name if empty.
    recipe : str
        How its maps are thinned, a recipe of :func:`edgecritic.maps.suppression.suppress` such as
        ``hed``; "none" takes them as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.detectors import detect
    >>> def bright(image):
    ...     return image > 0.5
    >>> detect(np.eye(3), bright).binary(0.5).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """

    function: Callable[..., Any]
    name: str = ""
    recipe: str = "none"

    def __str__(self) -> str:
        named = self.name or getattr(self.function, "__name__", "") or type(self.function).__name__
        return str(named)

    def __call__(self, image: Any, **parameters: Any) -> Detection:
        """Run the function on an image and check what it returns."""
        found = self.function(image, **parameters)
        if isinstance(found, Detection):
            return found
        strength = as_strength(found, f"the map returned by {self}")
        shape = as_picture(image).shape
        if strength.shape != shape:
            raise InputError(f"{self} returned a map of shape {strength.shape} for an image of shape {shape}")
        return _from_map(str(self), strength, self.recipe)


@dataclass(frozen=True, slots=True)
class FolderDetector:
    """A folder with one saved map per image that takes part as a detector.

    Attributes
    ----------
    folder : path
        Holds soft or binary maps called like the images, in any format that the benchmark reads.
    name : str
        What results call it; the folder's name if empty.
    recipe : str
        How the maps are thinned; "none" takes them as they are.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from edgecritic.datasets.write import write_map
    >>> from edgecritic.detectors import detect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_map(folder + "/lena.png", np.eye(3))
    ...     found = detect(np.zeros((3, 3)), FolderDetector(folder), name="lena")
    >>> found.thin[1]
    array([0., 1., 0.])
    """

    folder: Path | str
    name: str = ""
    recipe: str = "none"
    _files: dict[str, Path | Content] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return self.name or Path(self.folder).name

    def names(self) -> list[str]:
        """The names of the images that have a map."""
        from edgecritic.datasets.layouts import find_maps

        if not self._files:
            found = find_maps(self.folder).files
            self._files.update({name: paths[0] for name, paths in found.items()})
        return list(self._files)

    def read(self, name: str) -> FolderDetector:
        """Return this detector with the bytes of the map of one image, read once: see `content`."""
        from edgecritic.datasets.content import Content, read_content

        held = replace(self)
        if name in self.names():
            source = self._files[name]
            held._files[name] = source if isinstance(source, Content) else read_content(source)
        return held

    def content(self, name: str) -> Content | None:
        """Return the bytes of the map that `read` has read; the detector decodes them and no others."""
        source = self._files.get(name)
        return None if isinstance(source, Path) else source

    def __call__(self, image: Any, *, name: str | None = None) -> Detection:
        """Return the map that was saved for the image called `name`."""
        from edgecritic.datasets.files import read_strength

        if name is None:
            raise InputError(f"{self} looks maps up by the image's name", remedy="give name=")
        if name not in self.names():
            raise DataError(f"holds no map called {name!r}", path=self.folder)
        source = self._files[name]
        strength = read_strength(source)
        shape = strength.shape if image is None else as_picture(image).shape
        if strength.shape != shape:
            raise InputError(
                f"has shape {strength.shape}, the image has {shape}",
                path=source if isinstance(source, Path) else source.path,
                remedy="save maps in the size of their image",
            )
        return _from_map(str(self), strength, self.recipe)


def run_external(
    detector: Callable[..., Any], image: Any, name: str | None, parameters: Mapping[str, Any]
) -> Detection:
    """Run a function or a folder as a detector."""
    if isinstance(detector, FolderDetector):
        if parameters:
            raise InputError(f"a folder of maps has no parameters, got {', '.join(parameters)}")
        return detector(image, name=name)
    if not isinstance(detector, FunctionDetector):
        detector = FunctionDetector(detector)
    result: Detection = detector(image, **parameters)
    return result


def _from_map(name: str, strength: FloatArray, recipe: str) -> Detection:
    chosen = get_recipe(recipe)
    thin = strength if chosen.radius == 0 else np.clip(suppress(strength, chosen), 0, 1)
    return Detection(
        detector=name, strength=strength, thin=thin, orientation=None, maximum=float(strength.max())
    )
