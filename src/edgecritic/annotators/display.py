"""How a subject saw a trial and answered it: window, screen, zoom, size of the stimulus, device, input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from edgecritic.errors import InputError

__all__ = ["DISPLAY", "Detail", "checked", "read"]


class Detail(NamedTuple):
    """One thing that is known of how a trial was seen: its type, its range or words, and what it means."""

    kind: type
    values: tuple[Any, ...]
    meaning: str

    def take(self, given: Any) -> Any:
        """Return a value of this type, or raise `ValueError`."""
        if self.kind is str:
            if given not in self.values:
                raise ValueError(f"must be one of {', '.join(self.values)}")
            return given
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise ValueError("must be a number")
        value = float(given)
        low, high = self.values
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"must lie in {low} … {high}")
        return round(value) if self.kind is int else round(value, 4)


_PIXELS, _RATIO = (0, 100_000), (0, 1000)
DISPLAY: Mapping[str, Detail] = {
    "viewport_width": Detail(int, _PIXELS, "width of the page in the window, in CSS pixels"),
    "viewport_height": Detail(int, _PIXELS, "height of the page in the window, in CSS pixels"),
    "screen_width": Detail(int, _PIXELS, "width of the screen, in CSS pixels"),
    "screen_height": Detail(int, _PIXELS, "height of the screen, in CSS pixels"),
    "pixel_ratio": Detail(float, _RATIO, "pixels of the screen per CSS pixel; contains the browser's zoom"),
    "zoom": Detail(float, _RATIO, "how much the page was enlarged with two fingers; 1 if not"),
    "scale": Detail(float, _RATIO, "CSS pixels per pixel of the photo in which the stimulus was shown"),
    "theme": Detail(
        str, ("light", "dark"), "theme of the browser; the surround of stimuli is the same in both"
    ),
    "device": Detail(
        str, ("desktop", "tablet", "phone"), "kind of device, by pointer and size of the screen"
    ),
    "input": Detail(str, ("mouse", "touch", "pen", "key"), "what the answer was given with"),
}
"""What is kept with every answer, by name."""


def checked(values: Any) -> dict[str, Any]:
    """Return what a browser tells of a trial, or refuse it; what it does not tell is left out.

    Examples
    --------
    >>> checked({"zoom": 1, "input": "key"})
    {'zoom': 1.0, 'input': 'key'}
    """
    if not isinstance(values, Mapping):
        raise InputError("display must be an object")
    unknown = [name for name in values if name not in DISPLAY]
    if unknown:
        raise InputError(f"display has no {str(unknown[0])[:40]!r}")
    found = {}
    for name, detail in DISPLAY.items():
        if values.get(name) is not None:
            try:
                found[name] = detail.take(values[name])
            except ValueError as error:
                raise InputError(f"{name} {error}") from error
    return found


def read(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row of a file tells: in columns of their own, or below ``display``."""
    inner = row.get("display")
    told = inner if isinstance(inner, Mapping) else row
    return checked({name: told[name] for name in DISPLAY if told.get(name) not in (None, "")})
