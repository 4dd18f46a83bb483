"""Pixel sizes: what the user asked for, or what the files tell."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from edgecritic.datasets.content import Content
from edgecritic.datasets.files import read_spacing
from edgecritic.errors import InputError

__all__ = ["Sizes", "choose_spacing", "size_text"]

Sizes = tuple[float, ...]


def choose_spacing(
    candidate: Path | Content, truths: Sequence[Path | Content], wanted: Sizes | Literal["file"] | None
) -> Sizes | None:
    """Return the pixel size of a candidate and its truths; ``None`` if neither user nor files tell one.

    Parameters
    ----------
    candidate, truths : files
    wanted : tuple of float, "file" or None
        These sizes; that of the first truth; or by default what all NIfTI files agree in.

    Raises
    ------
    InputError
        If files contradict each other, or "file" is wanted and the truth tells none.
    """
    found = {
        file.path if isinstance(file, Content) else file: sizes
        for file in (*truths, candidate)
        if (sizes := read_spacing(file)) is not None
    }
    first = truths[0].path if isinstance(truths[0], Content) else truths[0]
    if wanted == "file":
        if first not in found:
            raise InputError(f"{first}: tells no voxel size, it is no NIfTI file; give --spacing numbers")
        return found[first]
    if isinstance(wanted, tuple):
        for sizes in found.values():
            if len(wanted) in (1, len(sizes)) and not _alike(wanted * len(sizes), sizes):
                told = f"--spacing is {size_text(wanted)}, but the files tell {size_text(sizes)}"
                warnings.warn(told, stacklevel=2)
        return wanted
    for file, sizes in found.items():
        other, size = next(iter(found.items()))
        if not _alike(size, sizes):
            raise InputError(
                f"{other} has voxels of {size_text(size)} and {file} of {size_text(sizes)}; "
                "say which is right: --spacing file takes that of the truth, or give numbers"
            )
    return next(iter(found.values()), None)


def size_text(sizes: Sizes) -> str:
    """Return pixel sizes for people.

    Examples
    --------
    >>> size_text((3.0, 0.8, 0.8))
    '3 × 0.8 × 0.8'
    """
    return " × ".join(f"{size:.4g}" for size in sizes)


def _alike(first: Sizes, second: Sizes) -> bool:
    """Return whether sizes agree as far as files store them."""
    return all(abs(one - two) <= 1e-3 * max(one, two) for one, two in zip(first, second, strict=False))
