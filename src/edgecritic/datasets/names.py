"""File names: what a file's stem is, and the order of names."""

from __future__ import annotations

import re

from edgecritic.datasets.formats.base import split_known

__all__ = ["natural_key", "split_name"]


def split_name(name: str) -> tuple[str, str]:
    """Split a file name into stem and lower-case suffix; ``.nii.gz`` is one suffix.

    Examples
    --------
    >>> split_name("brain.1.NII.gz")
    ('brain.1', '.nii.gz')
    >>> split_name("4100_left.6.png")
    ('4100_left.6', '.png')
    """
    stem, suffix = split_known(name)
    if suffix:
        return stem, suffix
    stem, dot, suffix = name.rpartition(".")
    return (stem, dot + suffix.lower()) if stem else (name, "")


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that counts digits as numbers: ``im2`` comes before ``im10``.

    Examples
    --------
    >>> sorted(["im10", "im2", "3b", "im2b"], key=natural_key)
    ['3b', 'im2', 'im2b', 'im10']
    """
    pieces = re.findall(r"[0-9]+|[^0-9]+", name)
    key = [
        (0, int(piece[:400]), piece) if piece.isascii() and piece.isdigit() else (1, 0, piece)
        for piece in pieces
    ]
    return tuple(key)
