"""Cases of classes: which predictions, one file or one per class, belong to which labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from edgecritic.datasets.cases import Case, Dataset, not_among
from edgecritic.datasets.content import PathLike, read_content, read_text
from edgecritic.datasets.layouts.base import Listing, Place, find_maps
from edgecritic.datasets.names import natural_key
from edgecritic.errors import DataError

__all__ = ["ClassCase", "find_class_cases"]

_PHOTO = re.compile(r"_leftImg8bit$")
_LABELS = re.compile(r"(?P<id>.+)_gt[A-Za-z]+_(?P<kind>labelIds|instanceIds|color|labelTrainIds|polygons)$")
_READY = re.compile(r"(?P<id>.+)_gtProc_(?P<width>raw|thin)_(?P<kind>edge|isedge)$")
_CLASS = re.compile(r"class_0*(?P<number>[1-9][0-9]*)$")


@dataclass(frozen=True, slots=True)
class ClassCase(Case):
    """One image whose classes are judged.

    Attributes
    ----------
    maps : mapping of class name to Path
        The predictions, where there is one file per class; else `prediction` holds all classes.
    """

    maps: Mapping[str, Path] = field(default_factory=dict)

    def read(self, *, image: bool = False) -> ClassCase:
        """Return this case with the bytes of its files, each read once; the photo only if asked for."""
        paths = [*self.truths, self.prediction, *self.maps.values(), self.mask, self.image if image else None]
        return replace(self, contents={path: read_content(path) for path in paths if path is not None})


def find_class_cases(
    predictions: PathLike,
    truth: PathLike,
    classes: Mapping[str, int],
    *,
    instances: bool = False,
    thin: bool = False,
    masks: PathLike | None = None,
    images: PathLike | None = None,
    split: str | None = None,
) -> tuple[Dataset, dict[str, str]]:
    """Find which files belong together; no map is opened.

    Parameters
    ----------
    predictions : path
        Folder with a folder for each class (``class_001`` or its name), or with one file per image.
    truth : path
        A folder of SBD (`cls`, `inst`), of Cityscapes (``…_gtFine_labelIds.png``, ``…_instanceIds.png``), of
        ready boundaries (``…_gtProc_thin_edge.png``), or one with a file per image.
    classes : mapping of str to int
        Names and numbers of the classes to judge.
    instances, thin : bool
        Which of several truths of one image are wanted.
    masks, images, split
        As in `edgecritic.datasets.cases.find_cases`; a file ``val.txt`` beside the truths lists a split too.

    Returns
    -------
    dataset : Dataset
        Its cases are of the class `ClassCase`.
    missing : dict of str to str
        For classes without a folder of predictions what is missing.
    """
    files, missing, ignored = _predictions(Path(predictions), classes, split)
    found, layout = _truths(Path(truth), instances, thin, split)
    valid = {} if masks is None else _short(find_maps(masks, split=split))
    photos = {} if images is None else _short(find_maps(images, split=split))
    names = sorted((name for name in found if name in files), key=natural_key)
    cases = tuple(
        ClassCase(
            name,
            (found[name],),
            prediction=files[name].get(""),
            image=photos.get(name),
            mask=valid.get(name),
            maps={one: path for one, path in files[name].items() if one},
        )
        for name in names
    )
    return Dataset(
        cases,
        without_truth=not_among(files, found),
        without_prediction=not_among(found, files),
        without_image=not_among(names, photos) if images is not None else (),
        without_mask=not_among(names, valid) if masks is not None else (),
        ignored=tuple(ignored),
        layout=layout,
    ), missing


def _predictions(
    place: Path, classes: Mapping[str, int], split: str | None
) -> tuple[dict[str, dict[str, Path]], dict[str, str], list[Path]]:
    """Return by image the file of every class (of all classes under an empty name), and what is missing."""
    folders = _class_folders(place, classes)
    missing = {
        name: f"there is no folder class_{number:03d} ({name}) of predictions"
        for name, number in classes.items()
        if name not in folders
    }
    if not folders:
        if place.is_dir() and any(map(_CLASS.match, Place(place).folders)):
            raise DataError(f"has folders of other classes only; {next(iter(missing.values()))}", path=place)
        listing = find_maps(place, split=split)
        return {name: {"": path} for name, path in _short(listing).items()}, {}, listing.ignored
    files: dict[str, dict[str, Path]] = {}
    ignored: list[Path] = []
    for name, folder in folders.items():
        listing = find_maps(folder, split=split)
        ignored += listing.ignored
        for image, path in _short(listing).items():
            files.setdefault(image, {})[name] = path
    return files, missing, ignored


def _class_folders(place: Path, classes: Mapping[str, int]) -> dict[str, Path]:
    if not place.is_dir():
        return {}
    numbers = {number: name for name, number in classes.items()}
    found: dict[str, Path] = {}
    for folder, where in Place(place).folders.items():
        told = _CLASS.match(folder)
        name = numbers.get(int(told["number"])) if told else folder if folder in classes else None
        if name is None:
            continue
        if name in found:
            raise DataError(
                f"has two folders of class {name!r}: {found[name].name} and {folder}",
                path=place,
                remedy="keep one of them",
            )
        found[name] = where.path
    return found


def _truths(place: Path, instances: bool, thin: bool, split: str | None) -> tuple[dict[str, Path], str]:
    if place.is_file():
        return _short(find_maps(place)), "one file"
    where = Place(place)
    wanted = "inst" if instances else "cls"
    if {"cls", "inst"} & set(where.folders):
        if wanted not in where.folders:
            raise DataError(
                f"has no folder {wanted!r}, which this protocol takes its truths from",
                path=place,
                remedy="give the folder of SBD that has it, or take another protocol",
            )
        return _of_split(_short(find_maps(place / wanted)), place, split), f"SBD ({wanted})"
    if split is not None and split in where.folders:
        where = Place(place / split)
    tree = {name: paths[0] for name, paths in where.tree().files.items()}
    kinds = {name: path for name, path in tree.items() if _LABELS.match(path_name(name))}
    if kinds:
        kind = "instanceIds" if instances else "labelIds"
        chosen = {name: path for name, path in kinds.items() if name.endswith(f"_{kind}")}
        if not chosen:
            raise DataError(
                f"has no files …_{kind}.png, which this protocol takes its truths from", path=place
            )
        return _named(chosen, _LABELS), f"Cityscapes ({kind})"
    ready = {name: path for name, path in tree.items() if _READY.match(path_name(name))}
    if ready:
        kind = f"_gtProc_{'thin' if thin else 'raw'}_{'isedge' if instances else 'edge'}"
        chosen = {name: path for name, path in ready.items() if name.endswith(kind)}
        if not chosen:
            raise DataError(
                f"has no files …{kind}.png, which this protocol takes its truths from", path=place
            )
        return _named(chosen, _READY), f"boundaries of classes ({kind[1:]})"
    return _of_split(_short(Listing({name: (path,) for name, path in tree.items()})), place, split), (
        "one file per image"
    )


def _of_split(files: dict[str, Path], place: Path, split: str | None) -> dict[str, Path]:
    """Return the files that the list of a split names, all if no split is asked for."""
    if split is None:
        return files
    listed = place / f"{split}.txt"
    if not listed.is_file():
        raise DataError(f"there is no split {split!r}: neither a folder nor {listed.name}", path=place)
    names = set(read_text(listed).split())
    return {name: path for name, path in files.items() if name in names}


def _named(files: Mapping[str, Path], pattern: re.Pattern[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name, path in files.items():
        told = pattern.match(path_name(name))
        if told is None:
            continue
        if told["id"] in found:
            raise DataError(
                f"several files are truths of {told['id']!r}: {found[told['id']].name}, {path.name}"
            )
        found[told["id"]] = path
    return found


def _short(listing: Listing) -> dict[str, Path]:
    """Return the files by the last part of their names, by all of it where that is not clear."""
    short = {name: _PHOTO.sub("", path_name(name)) for name in listing.files}
    clear = len(set(short.values())) == len(short)
    return {(short[name] if clear else name): paths[0] for name, paths in listing.files.items()}


def path_name(name: str) -> str:
    """Return the last part of a name with folders."""
    return name.rpartition("/")[2]
