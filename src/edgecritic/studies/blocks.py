"""The work of the matching study in pieces of some seconds, each of which can run anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import Content
from edgecritic.datasets.files import read_image, read_strength, read_truths
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray
from edgecritic.studies.pairs import STRATEGIES, Comparer

__all__ = [
    *("Source", "Block", "BlockScores", "compare_block", "intra_blocks", "inter_blocks", "canny_blocks"),
    *("OwnMaps", "own_blocks", "closer_blocks"),
]

CANNY = {
    f"canny({smooth},{sigma})": f"canny(sigma={sigma}, smooth={smooth}, neighbours=nearest)"
    for smooth in (1, 2)
    for sigma in (1, 2, 3)
}
"""The six Canny maps: scale of the smoothing and of the differentiation, and the detector's id."""

IMAGES_PER_BLOCK = 10
"""Ten by ten images of BSDS have about 3,000 pairs of maps: seconds, hardly any of them for loading."""

NOTHING: Mapping[Path, Content] = MappingProxyType({})

OwnMaps = Mapping[str, Mapping[str, Path]]
"""The user's maps, by detector and image."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where maps come from; they are loaded where they are compared.

    Attributes
    ----------
    image : str
    truths : tuple of Path
    photo : Path or None
    kind : "human", "canny" or "own"
    most : int or None
        Only so many of the human maps.
    own : tuple of (str, Path)
        The user's maps of the image, by the names of the detectors.
    threshold : float
        Where these are cut if they are soft.
    """

    image: str
    truths: tuple[Path, ...]
    photo: Path | None = None
    kind: str = "human"
    most: int | None = None
    own: tuple[tuple[str, Path], ...] = ()
    threshold: float = 0.5

    @classmethod
    def of(cls, case: Case, *, kind: str = "human", most: int | None = None) -> Source:
        """Make the source of a case."""
        return cls(case.id, case.truths, case.image, kind, most)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the maps are made of."""
        if self.kind == "own":
            return tuple(path for _, path in self.own)
        if self.kind != "canny":
            return self.truths
        if self.photo is None:
            raise DataError(
                f"{self.image}: Canny maps need its photo", remedy="give the folder of photos with --images"
            )
        return (self.photo,)

    def load(self, contents: Mapping[Path, Content] = NOTHING) -> dict[str, BoolArray]:
        """Return the maps by name, ``image#number``; those of upright images are transposed.

        Files whose bytes are in `contents` are not read again.
        """
        sources = [contents.get(path, path) for path in self.files]
        if self.kind == "canny":
            maps = self._canny(sources[0])
        elif self.kind == "own":
            found = [read_strength(source) >= self.threshold for source in sources]
            maps = {f"{self.image}#{name}": one for (name, _), one in zip(self.own, found, strict=True)}
        else:
            found = [one for source in sources for one in read_truths(source)]
            maps = {f"{self.image}#{number}": one for number, one in enumerate(found[: self.most], start=1)}
        return {name: _lying(one) for name, one in maps.items()}

    def _canny(self, photo: Path | Content) -> dict[str, BoolArray]:
        from edgecritic.detectors import detect

        grey = read_image(photo)
        return {f"{self.image}#{name}": detect(grey, found).hysteresis() for name, found in CANNY.items()}


@dataclass(frozen=True, slots=True)
class Block:
    """All pairs of a map of `rows` with a map of `columns`; of equal sources every two maps once."""

    rows: tuple[Source, ...]
    columns: tuple[Source, ...]
    tolerances: tuple[float, ...]

    @property
    def name(self) -> str:
        """A hash of the names of what is compared, and how; the contents of the files are not part of it."""
        parts = [_record(self.rows), _record(self.columns), list(self.tolerances), list(STRATEGIES)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that its maps are made of, each once."""
        return tuple(dict.fromkeys(path for source in (*self.rows, *self.columns) for path in source.files))


@dataclass(frozen=True, slots=True, eq=False)
class BlockScores:
    """F of a block: names of its maps and an array (4, tolerances, 2, rows, columns)."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    f: NDArray[np.float64]

    @property
    def pairs(self) -> int:
        """Number of pairs that were compared."""
        return int(np.isfinite(self.f[0, 0, 0]).sum())


def compare_block(block: Block, contents: Mapping[Path, Content] = NOTHING) -> BlockScores:
    """Load the maps of a block, from the bytes of their files where they are given, and compare them."""
    rows = _load(block.rows, contents)
    same = block.rows == block.columns
    columns = rows if same else _load(block.columns, contents)
    shapes = sorted({one.shape for one in (*rows.values(), *columns.values())})
    if len(shapes) > 1:
        raise InputError(
            f"maps of {_names(block)} differ in shape: {shapes}; only maps of one size can be compared"
        )
    comparer = Comparer(shapes[0], block.tolerances)
    first = [comparer.prepare(one) for one in rows.values()]
    second = first if same else [comparer.prepare(one) for one in columns.values()]
    f = np.full((len(STRATEGIES), len(block.tolerances), 2, len(first), len(second)), np.nan)
    for i, one in enumerate(first):
        for j in range(i + 1 if same else 0, len(second)):
            f[:, :, :, i, j] = comparer.f(one, second[j])
    return BlockScores(tuple(rows), tuple(columns), f)


def intra_blocks(cases: Sequence[Case], tolerances: Sequence[float]) -> list[Block]:
    """Return one block per image: all pairs of its annotators' maps."""
    sources = [(Source.of(case),) for case in cases]
    return [Block(source, source, tuple(tolerances)) for source in sources]


def inter_blocks(
    cases: Sequence[Case],
    tolerances: Sequence[float],
    *,
    most: int | None = None,
    images_per_block: int = IMAGES_PER_BLOCK,
) -> list[Block]:
    """Return the blocks of all pairs of maps of all images, or of the first `most` maps of each."""
    groups = _groups([Source.of(case, most=most) for case in cases], images_per_block)
    return [
        Block(groups[i], groups[j], tuple(tolerances))
        for i in range(len(groups))
        for j in range(i, len(groups))
    ]


def canny_blocks(
    cases: Sequence[Case],
    tolerances: Sequence[float],
    *,
    inter: bool = False,
    most: int | None = None,
    images_per_block: int = IMAGES_PER_BLOCK,
) -> list[Block]:
    """Return blocks of human maps against Canny maps: of the same photo, or of all photos (`inter`).

    All human maps of an image are references, or its first `most`.
    """
    people = [Source.of(case, most=most) for case in cases]
    machines = [Source.of(case, kind="canny") for case in cases]
    if not inter:
        return [Block((a,), (b,), tuple(tolerances)) for a, b in zip(people, machines, strict=True)]
    size = images_per_block if most is None else 2 * images_per_block
    rows, columns = _groups(people, size), _groups(machines, size)
    return [Block(row, column, tuple(tolerances)) for row in rows for column in columns]


def own_blocks(
    cases: Sequence[Case], maps: OwnMaps, tolerances: Sequence[float], *, threshold: float = 0.5
) -> list[Block]:
    """Return one block per image: its human maps against the user's."""
    return [
        Block((Source.of(case),), (_own_source(case, maps, threshold),), tuple(tolerances)) for case in cases
    ]


def closer_blocks(
    cases: Sequence[Case],
    tolerances: Sequence[float],
    *,
    kind: str = "human",
    maps: OwnMaps = MappingProxyType({}),
    threshold: float = 0.5,
) -> list[Block]:
    """Return one block per image: its first human map against its maps of a kind."""
    return [
        Block(
            (Source.of(case, most=1),),
            (_own_source(case, maps, threshold) if kind == "own" else Source.of(case, kind=kind),),
            tuple(tolerances),
        )
        for case in cases
    ]


def _own_source(case: Case, maps: OwnMaps, threshold: float) -> Source:
    own = tuple((name, files[case.id]) for name, files in maps.items())
    return Source(case.id, case.truths, kind="own", own=own, threshold=threshold)


def _groups(sources: Sequence[Source], size: int) -> list[tuple[Source, ...]]:
    return [tuple(sources[begin : begin + size]) for begin in range(0, len(sources), size)]


def _load(sources: Sequence[Source], contents: Mapping[Path, Content]) -> dict[str, BoolArray]:
    return {name: one for source in sources for name, one in source.load(contents).items()}


def _lying(mask: BoolArray) -> BoolArray:
    if mask.ndim == 2 and mask.shape[0] > mask.shape[1]:
        return np.ascontiguousarray(mask.T)
    return mask


def _record(sources: Sequence[Source]) -> list[Any]:
    return [[source.image, _drawn(source), source.most] for source in sources]


def _drawn(source: Source) -> Any:
    if source.kind == "own":
        return ["own", [name for name, _ in source.own], source.threshold]
    return list(CANNY.values()) if source.kind == "canny" else source.kind


def _names(block: Block) -> str:
    names = sorted({source.image for source in (*block.rows, *block.columns)})
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
