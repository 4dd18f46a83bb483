"""Names, numbers and tolerances of labels in files: the only place that opens them."""

from __future__ import annotations

import os

from edgecritic.datasets.content import read_text
from edgecritic.errors import EdgeCriticError
from edgecritic.measures.label_maps import Labels

__all__ = ["read_labels"]

_LIMIT = 2**16
"""Most bytes of a file of labels."""


def read_labels(path: str | os.PathLike[str]) -> Labels:
    """Read labels from a TOML file.

    A table per label; its name may stand for several numbers, which are one object then::

        ignore = 255

        [labels.liver]
        value = 1
        tolerance = 3

        [labels."whole tumour"]
        value = [2, 3]

    Raises
    ------
    DataError
        If the file cannot be read.
    InputError
        If it does not hold labels.
    """
    text = read_text(path, limit=_LIMIT)
    try:
        return Labels.from_toml(text)
    except EdgeCriticError as error:
        raise error.at(path) from None
