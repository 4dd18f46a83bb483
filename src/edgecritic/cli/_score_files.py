"""What ``edgecritic score`` does with one map and its truths: read, check voxel sizes, judge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.inputs import BoolArray
    from edgecritic.measures import Scores

__all__ = ["Judged", "judge_files", "check_measures", "read_sizes", "size_text"]

Sizes = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The scores of one map, the voxel size that was used, and which side is empty."""

    scores: Scores
    spacing: Sizes | None = None
    empty: str = ""


def judge_files(path: Path, truths: Sequence[Path], args: argparse.Namespace) -> Judged:
    """Read a candidate and its truths and compute the measures."""
    from edgecritic.measures import score

    if _judges_regions(args.measures):
        labels = [found for truth in truths for found in _label_maps(truth)]
        return Judged(score(_choose(_label_maps(path), args.level, path), labels, args.measures))
    held = _masks(path, args)
    if args.alone:
        chosen = held if args.level is None else [_choose(held, args.level, path)]
        return Judged(_score_all_alone(chosen, args))
    candidate = _choose(held, args.level, path)
    maps = [found for truth in truths for found in _masks(truth, args)]
    spacing = _spacing(path, truths, args.spacing)
    scores = score(
        candidate,
        maps,
        args.measures,
        strategy=args.strategy,
        tolerance=args.tolerance,
        spacing=spacing,
        on_degenerate=args.empty,
    )
    return Judged(scores, spacing, _empty_side(candidate, maps))


def _score_all_alone(maps: Sequence[BoolArray], args: argparse.Namespace) -> Scores:
    """Score every map of a file without truth, a row for each."""
    from dataclasses import replace

    import numpy as np

    from edgecritic.measures import score_alone

    found = [score_alone(one, args.measures, on_degenerate=args.empty) for one in maps]
    return replace(found[0], annotators=np.concatenate([one.annotators for one in found]))


def check_measures(
    ids: Sequence[str] | None, *, strategy: str | None = None, tolerance: float | None = None
) -> None:
    """Refuse unknown ids and bad parameters before any file is read."""
    import numpy as np

    from edgecritic.measures.evidence import Single, compare
    from edgecritic.measures.scoring import choose, default_measures

    line = np.zeros((16, 16), dtype=np.bool_)
    line[8, 2:14] = True
    for bound in choose(ids, default_measures(), strategy=strategy, tolerance=tolerance):
        if bound.entry.info.needs == "candidate":
            bound(Single(line))
        elif bound.entry.info.needs != "segmentation":
            bound(compare(line, line))


def read_sizes(words: Sequence[str] | None) -> Sizes | str | None:
    """Read the words of ``--spacing``: numbers apart by blanks or commas, or ``file``."""
    from edgecritic.errors import InputError

    if words is None:
        return None
    if list(words) == ["file"]:
        return "file"
    try:
        return tuple(float(number) for word in words for number in word.split(","))
    except ValueError:
        told = " ".join(words)
        raise InputError(f"--spacing expects numbers such as 1 or 2,0.5,0.5, or file, got {told!r}") from None


def size_text(sizes: Sizes) -> str:
    """Return voxel sizes for people.

    Examples
    --------
    >>> size_text((3.0, 0.8, 0.8))
    '3 × 0.8 × 0.8'
    """
    return " × ".join(f"{size:.4g}" for size in sizes)


def _spacing(path: Path, truths: Sequence[Path], wanted: Sizes | str | None) -> Sizes | None:
    """Return the voxel size that was asked for, or what the NIfTI files tell if they agree."""
    import warnings

    from edgecritic.datasets.files import read_spacing
    from edgecritic.errors import InputError

    found = {file: sizes for file in (*truths, path) if (sizes := read_spacing(file)) is not None}
    if wanted == "file":
        if truths[0] not in found:
            raise InputError(f"{truths[0]}: tells no voxel size, it is no NIfTI file; give --spacing numbers")
        return found[truths[0]]
    if isinstance(wanted, tuple):
        for sizes in found.values():
            if len(wanted) in (1, len(sizes)) and not _alike(wanted * len(sizes), sizes):
                told = f"--spacing is {size_text(wanted)}, but the files tell {size_text(sizes)}"
                warnings.warn(told, stacklevel=2)
        return wanted
    for file, sizes in found.items():
        first, size = next(iter(found.items()))
        if not _alike(size, sizes):
            raise InputError(
                f"{first} has voxels of {size_text(size)} and {file} of {size_text(sizes)}; "
                "say which is right: --spacing file takes that of the truth, or give numbers"
            )
    return next(iter(found.values()), None)


def _alike(first: Sizes, second: Sizes) -> bool:
    """Return whether sizes agree as far as files store them."""
    return all(abs(one - two) <= 1e-3 * max(one, two) for one, two in zip(first, second, strict=False))


def _masks(path: Path, args: argparse.Namespace) -> list[BoolArray]:
    from edgecritic.datasets.files import read_array, read_truths
    from edgecritic.errors import NotBinaryError

    if args.label is not None:
        return [read_array(path) == args.label]
    try:
        return read_truths(path, binarize=args.binarize)
    except NotBinaryError as error:
        remedy = f"{error.remedy}; of a label map --label N takes one object"
        raise NotBinaryError(error.message, path=error.path, remedy=remedy) from error


def _empty_side(candidate: BoolArray, maps: Sequence[BoolArray]) -> str:
    sides = [("candidate", not candidate.any()), ("truth", not all(one.any() for one in maps))]
    return " and ".join(name for name, empty in sides if empty)


def _judges_regions(ids: Sequence[str] | None) -> bool:
    from edgecritic.measures import measures

    return bool(ids) and all(measures.bind(text).entry.info.needs == "segmentation" for text in ids or ())


def _label_maps(path: Path) -> list[Any]:
    from edgecritic.datasets.files import read_array, read_segmentations
    from edgecritic.datasets.formats.base import find_format

    found = find_format(path)
    if found is not None and found.info.labels is not None:
        return list(read_segmentations(path))
    return [read_array(path)]


def _choose(maps: list[Any], number: int | None, path: Path) -> Any:
    from edgecritic.errors import InputError

    if number is None and len(maps) == 1:
        return maps[0]
    if number is None or not 1 <= number <= len(maps):
        raise InputError(
            f"{path}: holds {len(maps)} maps; choose one with --candidate-annotator 1 … {len(maps)}"
        )
    return maps[number - 1]
