"""File names: what a file's stem is, the order of names, and names that differ in their role only."""

from __future__ import annotations

import re
from collections.abc import Collection

from edgecritic.datasets.formats.base import split_known

__all__ = ["ROLES", "natural_key", "pair_by_role", "split_name", "without_role"]

ROLES = (
    *("seg", "segmentation", "pred", "prediction", "mask", "label", "labels", "gt", "truth", "manual"),
    *("auto", "out", "output", "result", "edges"),
)
"""Words at the end of a name, after ``_``, ``-`` or ``.``, that say what a file is and not of which image."""

_ROLE = re.compile(rf"(.+)[-_.](?:{'|'.join(ROLES)})", re.IGNORECASE)


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


def without_role(name: str) -> str:
    """Return a name without the word at its end that says what the file is, if there is one.

    Examples
    --------
    >>> [without_role(name) for name in ("case0_seg", "case0-GT", "case0", "mask")]
    ['case0', 'case0', 'case0', 'mask']
    """
    found = _ROLE.fullmatch(name)
    return name if found is None else found[1]


def pair_by_role(predictions: Collection[str], truths: Collection[str]) -> dict[str, str]:
    """Return which truth belongs to each prediction that has none of its own name, as far as that is sure.

    Two names belong together if they are equal without their roles (`without_role`), and no other name on
    either side is the same without its role: where there is any choice, nothing is paired.

    Examples
    --------
    >>> pair_by_role(["a_seg", "b_seg", "b_pred", "c"], ["a", "b", "c", "c_gt"])
    {'a_seg': 'a'}
    """
    sides: list[dict[str, list[str]]] = []
    for names in (predictions, truths):
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(without_role(name), []).append(name)
        sides.append(groups)
    single = {bare: names[0] for bare, names in sides[0].items() if len(names) == 1}
    return {
        name: sides[1][bare][0]
        for bare, name in single.items()
        if name not in truths and len(sides[1].get(bare, ())) == 1 and sides[1][bare][0] not in predictions
    }
