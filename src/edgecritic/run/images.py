"""The images that runs are given: which files they are, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgecritic.datasets.content import Content
from edgecritic.datasets.files import read_geometry, read_image
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.layouts import find_maps
from edgecritic.datasets.names import split_name
from edgecritic.detectors.picture import Kind
from edgecritic.errors import InputError
from edgecritic.geometry import Geometry

__all__ = ["list_images", "load_geometry", "load_image"]


def list_images(places: Iterable[str | Path]) -> list[Path]:
    """Return the files, and the files in the folders, among `places`; no two may share their name."""
    files: list[Path] = []
    for place in map(Path, places):
        files += [paths[0] for paths in find_maps(place).files.values()] if place.is_dir() else [place]
    stems: dict[str, Path] = {}
    for file in files:
        stem = split_name(file.name)[0]
        if stem in stems:
            raise InputError(f"{stems[stem]} and {file} would be written to the same map; rename one of them")
        stems[stem] = file
    return files


def load_image(file: Path | Content, *, grey: bool) -> tuple[Any, Kind]:
    """Read an image or a volume and say which of them it is; grey pictures get one channel."""
    found = find_format(file.path if isinstance(file, Content) else file)
    picture = found is not None and found.info.picture
    image = read_image(file, colour=picture and not grey)
    if picture and image.ndim == 3 and (image == image[..., :1]).all():
        image = image[..., 0]
    return image, "volume" if image.ndim == 3 and not picture else "auto"


def load_geometry(file: Path) -> Geometry | None:
    """Return where the voxels of a volume lie, if its file tells."""
    return read_geometry(file, verify=False)
