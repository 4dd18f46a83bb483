"""Folders of maps: one file per image, several files per image, or sub-folders.

Maps may lie in folders within folders; then the folders are part of the names (``scene/name``) and must
be the same for predictions and truths. Else truth folders may be laid out in four ways, also mixed:

=========================  =====================================================================
``name.png``               one file per image (a ``.mat`` or ``.npz`` file may hold many annotators)
``name.1.png``             one file per image and annotator, numbered before the ending
``name/anything.png``      one folder per image with one file per annotator
``annotator/name.png``     one folder per annotator with one file per image
=========================  =====================================================================

The last two are told apart by the names of the predictions. No file is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from edgecritic.datasets.names import MAP_SUFFIXES, natural_key, split_name
from edgecritic.errors import DataError

__all__ = ["Listing", "list_maps", "list_truths", "scan"]

_DEEPEST = 16
_NUMBERED = re.compile(r"(.+)\.([0-9]+)")


@dataclass(slots=True)
class Listing:
    """Files by image name, what could not be used, and how the folder was understood."""

    files: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    ignored: list[Path] = field(default_factory=list)
    layouts: set[str] = field(default_factory=set)
    images: dict[str, Path] = field(default_factory=dict)


def scan(folder: Path) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return file names by stem, sub-folder names, and names of other files, in natural order."""
    files: dict[str, list[str]] = {}
    folders, others = [], []
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        raise DataError(
            f"cannot be listed ({error.strerror})", path=folder, remedy="give an existing folder"
        ) from error
    for name, is_folder in sorted(found, key=lambda item: natural_key(item[0])):
        stem, suffix = split_name(name)
        if is_folder:
            folders.append(name)
        elif suffix in MAP_SUFFIXES:
            files.setdefault(stem, []).append(name)
        else:
            others.append(name)
    return files, folders, others


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle: whoever reads the file is told
        return False


def list_maps(folder: Path) -> Listing:
    """List a folder with exactly one file per image (predictions, images, masks).

    Where there are folders only, what they hold is listed under names such as ``scene/name``.
    """
    files, folders, others = scan(folder)
    if folders and not files:
        return _list_tree(folder)
    maps: dict[str, tuple[Path, ...]] = {
        stem: (_single(folder, stem, names),) for stem, names in files.items()
    }
    return Listing(maps, [folder / name for name in others])


def list_truths(folder: Path, wanted: Collection[str] | None = None) -> Listing:
    """List a folder of truths in any of the layouts of this module.

    Parameters
    ----------
    folder : Path
    wanted : names, optional
        Names of the predictions, which decide what an ambiguous name means.
    """
    known = frozenset(wanted or ())
    if any("/" in name for name in known):
        tree = _list_tree(folder, "the folders of the predictions")
        if not known.isdisjoint(tree.files):
            return tree
    files, folders, others = scan(folder)
    result = Listing(ignored=[folder / name for name in others])
    for stem, names in files.items():
        path = _single(folder, stem, names)
        numbered = _NUMBERED.fullmatch(stem)
        if numbered and stem not in known:
            _append(result, numbered[1], path, "one numbered file per annotator")
        else:
            _append(result, stem, path, "one file per image")
    for name in folders:
        _list_subfolder(folder / name, known, result)
    result.files = {name: result.files[name] for name in sorted(result.files, key=natural_key)}
    return result


def _list_tree(
    folder: Path, layout: str = "", below: str = "", above: tuple[os.stat_result, ...] = ()
) -> Listing:
    """List the files of a folder and of all folders in it, with their folders as part of the names.

    A folder that leads back to one of those `above` it is left out.
    """
    if below.count("/") > _DEEPEST:
        raise DataError(
            f"lies more than {_DEEPEST} folders deep", path=folder, remedy="give a folder nearer to the maps"
        )
    files, folders, others = scan(folder)
    here = folder.stat()
    if any(os.path.samestat(here, each) for each in above):
        return Listing(ignored=[folder])
    result = Listing(ignored=[folder / name for name in others])
    for stem, names in files.items():
        _append(result, below + stem, _single(folder, stem, names), layout)
    for name in folders:
        part = _list_tree(folder / name, layout, f"{below}{name}/", (*above, here))
        result.files |= part.files
        result.ignored += part.ignored
        result.layouts |= part.layouts
    return result


def _list_subfolder(folder: Path, known: frozenset[str], result: Listing) -> None:
    files, _, others = scan(folder)
    result.ignored += [folder / name for name in others]
    per_annotator = folder.name not in known and not known.isdisjoint(files)
    for stem, names in files.items():
        path = _single(folder, stem, names)
        if per_annotator:
            _append(result, stem, path, "one folder per annotator")
        else:
            _append(result, folder.name, path, "one folder per image")


def _append(listing: Listing, name: str, path: Path, layout: str) -> None:
    listing.files[name] = (*listing.files.get(name, ()), path)
    listing.layouts.add(layout)


def _single(folder: Path, stem: str, names: list[str]) -> Path:
    if len(names) > 1:
        raise DataError(
            f"holds several files called {stem!r} ({', '.join(names)})",
            path=folder,
            remedy="keep one of them",
        )
    return folder / names[0]
