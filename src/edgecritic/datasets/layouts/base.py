"""The table of layouts, and the one search that goes through it; no map is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from edgecritic.datasets.content import PathLike
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.names import natural_key, split_name
from edgecritic.errors import DataError
from edgecritic.lazy import cached_property
from edgecritic.registry import Registry

__all__ = [
    "SPLITS",
    "Layout",
    "Listing",
    "Place",
    "find_maps",
    "find_truths",
    "is_map",
    "join_splits",
    "layout",
    "layouts",
    "search",
    "some",
]

SPLITS = ("train", "val", "test")
_DEEPEST = 16

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What is known of one layout.

    Attributes
    ----------
    title : str
        How the doctor and reports call it.
    example : str
        Names of files in it.
    rank : int
        When it is tried: small numbers first.
    whole : bool
        Whether it understands a place as a whole; else it takes single files and folders out of one, and
        leaves the others to the layouts that come after.
    """

    title: str
    example: str
    rank: int
    whole: bool = False

    def told(self) -> dict[str, Any]:
        """Return what people want to know of it."""
        return {"title": self.title, "example": self.example}


@dataclass(slots=True)
class Listing:
    """Files by image name, photos, what could not be used, and how the place was understood."""

    files: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    images: dict[str, Path] = field(default_factory=dict)
    ignored: list[Path] = field(default_factory=list)
    layouts: set[str] = field(default_factory=set)

    def add(self, name: str, *paths: Path) -> None:
        """Add files to those of an image."""
        self.files[name] = (*self.files.get(name, ()), *paths)

    def join(self, other: Listing) -> None:
        """Add all that another listing has."""
        for name, paths in other.files.items():
            self.add(name, *paths)
        self.images |= other.images
        self.ignored += other.ignored
        self.layouts |= other.layouts


class Place:
    """A file or folder in which truths are looked for; a folder is listed when that is first needed.

    Attributes
    ----------
    path : Path
    wanted : frozenset of str
        Names of the predictions, which decide what an ambiguous name means.
    split : str or None
        The part of the data set that was asked for.
    """

    def __init__(self, path: PathLike, wanted: Collection[str] = (), split: str | None = None) -> None:
        self.path = Path(path)
        self.wanted = frozenset(wanted)
        self.split = split

    @cached_property
    def _listed(self) -> tuple[dict[str, list[str]], list[str], list[str]]:
        files: dict[str, list[str]] = {}
        folders, others = [], []
        try:
            with os.scandir(self.path) as entries:
                found = [(one.name, _is_folder(one)) for one in entries if not one.name.startswith(".")]
        except OSError as error:
            raise DataError(
                f"cannot be listed ({error.strerror})", path=self.path, remedy="give an existing folder"
            ) from error
        for name, is_folder in sorted(found, key=lambda item: natural_key(item[0])):
            if is_folder:
                folders.append(name)
            elif find_format(name) is not None:
                files.setdefault(split_name(name)[0], []).append(name)
            else:
                others.append(name)
        return files, folders, others

    @cached_property
    def files(self) -> dict[str, Path]:
        """The files of known formats by their stems, in natural order; layouts take theirs out."""
        for stem, names in self._listed[0].items():
            if len(names) > 1:
                raise DataError(
                    f"holds several files called {stem!r} ({', '.join(names)})",
                    path=self.path,
                    remedy="keep one of them",
                )
        return {stem: self.path / names[0] for stem, names in self._listed[0].items()}

    @cached_property
    def folders(self) -> dict[str, Place]:
        """The folders in this one by their names, in natural order; layouts take theirs out."""
        return {name: Place(self.path / name, self.wanted) for name in self._listed[1]}

    @cached_property
    def others(self) -> list[Path]:
        """The files of no known kind."""
        return [self.path / name for name in self._listed[2]]

    def splits(self) -> dict[str, Place]:
        """Return the folders `train`, `val`, `test` of a folder that holds nothing else of use."""
        alone = not self._listed[0] and bool(self.folders) and set(self.folders) <= set(SPLITS)
        return dict(self.folders) if alone else {}

    def tree(self, below: str = "", above: tuple[os.stat_result, ...] = ()) -> Listing:
        """List the files of a folder and of all folders in it, with their folders as part of the names.

        A folder that leads back to one of those `above` it is left out.
        """
        if below.count("/") > _DEEPEST:
            raise DataError(
                f"lies more than {_DEEPEST} folders deep",
                path=self.path,
                remedy="give a folder nearer to the maps",
            )
        result = Listing(ignored=list(self.others))
        here = self.path.stat()
        if any(os.path.samestat(here, each) for each in above):
            return Listing(ignored=[self.path])
        for stem, path in self.files.items():
            result.add(below + stem, path)
        for name, folder in self.folders.items():
            result.join(folder.tree(f"{below}{name}/", (*above, here)))
        return result


layouts: Registry[Layout] = Registry("layout", __package__ or "", "edgecritic.layouts")
"""All layouts; the function of an entry takes a `Place` and returns a `Listing`, or None."""


def layout(name: str, **info: Any) -> Callable[[Function], Function]:
    """Register the function that finds truths in one layout; `info` are the fields of `Layout`."""

    def register(function: Function) -> Function:
        layouts.add(name, function, Layout(**info))
        return function

    return register


def find_truths(place: PathLike, wanted: Collection[str] = (), *, split: str | None = None) -> Listing:
    """Find the truth files of every image, in whatever layout they lie.

    Parameters
    ----------
    place : path
        A file or folder in one of the layouts that ``edgecritic list layouts`` shows.
    wanted : names, optional
        Names of the predictions, which decide what an ambiguous name means.
    split : str, optional
        Which split of a BSDS folder; without it, the splits that know a wanted name.

    Returns
    -------
    Listing
        Files by image name in natural order, photos where the layout tells them.
    """
    return search(Place(place, wanted, split))


def search(where: Place, *, beyond: int = 0) -> Listing:
    """Go through the layouts of a rank higher than `beyond` until one understands the place, or all did."""
    result = Listing()
    for entry in sorted(layouts, key=lambda entry: entry.info.rank):
        found: Listing | None = entry.function(where) if entry.info.rank > beyond else None
        if found is None or not (found.files or entry.info.whole):
            continue
        found.layouts = found.layouts or {entry.info.title}
        result.join(found)
        if entry.info.whole:
            break
    else:
        result.ignored += where.others
    result.files = {name: result.files[name] for name in sorted(result.files, key=natural_key)}
    return result


def find_maps(place: PathLike, *, split: str | None = None) -> Listing:
    """List a folder with exactly one file per image (predictions, photos, masks), or one file.

    Where there are folders only, what they hold is listed under names such as ``scene/name``; folders
    `train`, `val`, `test` are joined, or `split` chooses one of them.
    """
    where = Place(place)
    if is_map(where.path):
        return Listing({split_name(where.path.name)[0]: (where.path,)})
    splits = where.splits()
    if splits:
        return join_splits({name: find_maps(part.path) for name, part in splits.items()}, split)
    if where.folders and not where.files:
        return where.tree()
    return Listing({stem: (path,) for stem, path in where.files.items()}, ignored=where.others)


def join_splits(listings: dict[str, Listing], split: str | None, wanted: Collection[str] = ()) -> Listing:
    """Join the listing of `split`, or of the splits that know at least one of the wanted names."""
    if split is not None and split not in listings:
        raise DataError(f"there is no split {split!r} (found: {', '.join(listings)})")
    names = set(wanted)
    known = [name for name, one in listings.items() if not names.isdisjoint(one.files)]
    chosen = [split] if split is not None else known or list(listings)
    result = Listing()
    for name in chosen:
        repeated = sorted(set(result.files) & set(listings[name].files), key=natural_key)
        if repeated:
            raise DataError(
                f"several splits hold the name(s) {some(repeated)}", remedy="choose one with split (--split)"
            )
        result.join(listings[name])
    if result.layouts:
        result.layouts.add(f"split {'+'.join(chosen)}")
    return result


def is_map(path: Path) -> bool:
    """Tell whether this is a file of a known format."""
    return find_format(path) is not None and path.is_file()


def some(names: Collection[str], most: int = 8) -> str:
    """Return the first of many names, and how many there are."""
    listed = list(names)
    return ", ".join(listed[:most]) + (f", … ({len(listed)} in all)" if len(listed) > most else "")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle: whoever reads the file is told
        return False
