"""Models as files, and those that come with this package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from edgecritic.atomic import replace_file
from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError
from edgecritic.learned.base import Model

__all__ = ["FORMAT", "load_model", "save_model", "shipped"]

FORMAT = "edgecritic model 1"
_SHIPPED = Path(__file__).parent / "data"
_MOST_BYTES = 2**26


def shipped(name: str) -> Path:
    """Return where the model of a detector that comes with this package is."""
    return _SHIPPED / f"{name}.json"


def save_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write a model as JSON with its digest."""
    content = {"format": FORMAT, "digest": model.digest, **model.content()}
    with replace_file(path) as stream:
        stream.write((json.dumps(content, indent=None, allow_nan=False) + "\n").encode("ascii"))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model and check its digest.

    Raises
    ------
    DataError
        If there is no such file, it is no model, or it was changed or damaged.

    Examples
    --------
    >>> import tempfile
    >>> model = Model(detector="pb", parameters={"a": [1.5]}, labels="all", seed=0, photos={"x": "ab"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(f"{folder}/model.json", model)
    ...     load_model(f"{folder}/model.json") == model
    True
    """
    try:
        found: Any = json.loads(read_text(path, limit=_MOST_BYTES))
        if found["format"] != FORMAT:
            raise ValueError("another format")
        parts = {name: found[name] for name in ("detector", "labels", "seed", "parameters", "photos")}
        if not all(
            isinstance(parts[name], kind)
            for name, kind in zip(parts, (str, str, int, dict, dict), strict=True)
        ):
            raise TypeError("parts of other types")
        model = Model(**parts)
        digest = model.digest
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f'is no model: expected JSON with "format": "{FORMAT}"',
            path=path,
            remedy="make one with edgecritic fit",
        ) from error
    if digest != found.get("digest"):
        raise DataError(
            f"is damaged or changed: the digest is {digest[:12]}…, told is {str(found.get('digest'))[:12]}…",
            path=path,
            remedy="make it anew with edgecritic fit",
        )
    return model
