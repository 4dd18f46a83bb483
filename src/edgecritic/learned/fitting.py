"""Learning: the stages of a detector over photos."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from edgecritic.detectors.picture import Picture, as_picture
from edgecritic.errors import InputError
from edgecritic.inputs import as_mask
from edgecritic.learned.base import Arrays, Marks, Model, Stage, photo_hash, trainables
from edgecritic.registry import Bound

__all__ = ["fit", "learn", "photo_seed"]

Each = Callable[[Stage, Any], Sequence[Arrays]]


def fit(
    photos: Mapping[str, Any],
    labels: Mapping[str, Any],
    detector: str = "pb",
    *,
    unsure: Mapping[str, Any] | None = None,
    weight: Mapping[str, Any] | None = None,
    told: str = "all",
    seed: int = 0,
) -> Model:
    """Let a detector learn from photos and labels.

    Parameters
    ----------
    photos : mapping of name to image
        Arrays as :func:`edgecritic.detect` takes them.
    labels : mapping of name to map or maps
        For each photo a binary map of boundaries, or those of several annotators, of which any counts. For
        labels that everybody agrees on give ``edgecritic.annotators.strength(truths).consensus()``.
    detector : str
        ``pb``, or another of ``edgecritic.learned.trainables``.
    unsure : mapping of name to map or maps, optional
        Labels that are neither boundary nor background.
    weight : mapping of name to array, optional
        How much each label counts, for example ``np.max(strength(truths).strengths, axis=0)``; numbers from
        0 on, of the shape of the photo.
    told : str
        How the model calls its labels.
    seed : int
        Of the pixels that are drawn and of the clusters. Same photos, labels and seed, same model.

    Returns
    -------
    Model
        :func:`edgecritic.learned.save_model` writes it; ``detect(image, "pb(model='FILE')")`` uses it.

    Raises
    ------
    InputError
        If there is nothing to learn from, or shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> photo = np.zeros((40, 60, 3)); photo[:, 30:] = (0.9, 0.7, 0.2)
    >>> photo += 0.02 * np.random.default_rng(0).random(photo.shape)
    >>> label = np.zeros((40, 60), bool); label[:, 29] = True
    >>> model = fit({"step": photo}, {"step": label})
    >>> model.labels, list(model.photos)
    ('all', ['step'])
    """
    missing = sorted(set(photos) - set(labels))
    if missing or not photos:
        raise InputError(
            "learning needs at least one photo, and labels for each; "
            + (f"there are none for {', '.join(missing[:5])}" if missing else "there is no photo")
        )
    names = sorted(photos)
    pictures = {name: as_picture(photos[name]) for name in names}
    marks = {}
    for name in names:
        left_out = None if unsure is None else _union(unsure[name], pictures[name], name)
        counts = None if weight is None else _weights(weight[name], pictures[name].shape, name)
        marks[name] = {told: Marks(_union(labels[name], pictures[name], name), left_out, counts)}
    hashes = {name: photo_hash(one) for name, one in pictures.items()}

    def each(stage: Stage, known: Any) -> Sequence[Arrays]:
        return [
            stage.extract(pictures[name], marks[name], known, photo_seed(seed, hashes[name]))
            for name in names
        ]

    return learn(trainables.bind(detector), each, [told], hashes, seed)[told]


def learn(
    bound: Bound[Any], each: Each, schemes: Sequence[str], photos: Mapping[str, str], seed: int
) -> dict[str, Model]:
    """Run all stages; `each` runs one over all photos. Return a model for each scheme of labels."""
    known: Any = None
    for stage in bound():
        known = stage.join(each(stage, known), schemes, known, seed)
    return {
        scheme: Model(
            detector=bound.entry.name,
            parameters=known[scheme],
            labels=scheme,
            seed=seed,
            photos={name: photos[name] for name in sorted(photos)},
        )
        for scheme in schemes
    }


def photo_seed(seed: int, hashed: str) -> int:
    """Return the seed of one photo: neither its name nor the other photos matter."""
    return (seed << 32) + int(hashed[:8], 16)


def _union(maps: Any, picture: Picture, name: str) -> Any:
    several = maps if isinstance(maps, list | tuple) and len(maps) and _ndim(maps[0]) == 2 else [maps]
    found = None
    for one in _checked(several, picture.shape, name):
        found = one if found is None else found | one
    return found


def _weights(given: Any, shape: tuple[int, ...], name: str) -> Any:
    import numpy as np

    found = np.asarray(given, np.float64)
    if found.shape != shape or not (np.isfinite(found).all() and (found >= 0).all()):
        raise InputError(f"weights of {name} must be numbers from 0 on, of the shape {shape} of the photo")
    return found


def _ndim(one: Any) -> int:
    import numpy as np

    return np.ndim(one)


def _checked(maps: Iterable[Any], shape: tuple[int, ...], name: str) -> Iterable[Any]:
    for one in maps:
        mask = as_mask(one, f"labels of {name}")
        if mask.shape != shape:
            raise InputError(f"labels of {name} have shape {mask.shape}, the photo has {shape}")
        yield mask
