"""The command that makes a number that is shown."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

from edgecritic.ids import Id
from edgecritic.protocols.presets import PRESETS
from edgecritic.protocols.protocol import Protocol
from edgecritic.view.gallery import Detector
from edgecritic.view.opened import State

__all__ = ["command_of", "protocol_text"]

_NAMES = ("id", "title", "judges", "classes", "source", "notes")


def protocol_text(protocol: Protocol, **changes: Any) -> str:
    """Return a protocol as the option ``--protocol`` takes it: a preset and the fields that differ from it.

    Examples
    --------
    >>> protocol_text(PRESETS["strict"], thresholds=(0.5,))
    'strict(thresholds=(0.5,))'
    """
    base = PRESETS.get(protocol.id, PRESETS["volume" if protocol.truth == "inner" else "bsds"])
    given = {one.name: getattr(protocol, one.name) for one in fields(protocol) if one.name not in _NAMES}
    given |= changes
    if changes.get("tolerance") is not None:
        given["relative_tolerance"] = None
    other = {name: value for name, value in given.items() if value != getattr(base, name)}
    if other.get("tolerance") is not None:
        other.pop("relative_tolerance", None)
    elif other.get("relative_tolerance") is not None:
        other.pop("tolerance", None)
    text = str(Id("preset", tuple(other.items())))
    return base.id + text.removeprefix("preset")


def command_of(detector: Detector, image: str, state: State) -> str:
    """Return the command whose P, R and F of ODS are those of an image in a state."""
    case, reading = detector.cases[image], detector.reading
    own = state.protocol.strategy == state.strategy
    changes: dict[str, Any] = {"tolerance": state.tolerance} | ({} if own else {"strategy": state.strategy})
    if not _is_level(state.threshold):
        changes["thresholds"] = (state.threshold,)
    words = ["edgecritic", "bench", f"{detector.name}={case.prediction}", "--truth"]
    words += [str(case.truths[0]) if len(case.truths) == 1 else detector.truth]
    words += ["--protocol", protocol_text(state.protocol, **changes)]
    if case.mask is not None:
        words += ["--masks", str(case.mask)]
    if reading.binarize is not None:
        words += ["--binarize", repr(reading.binarize)]
    if reading.spacing is not None:
        sizes = reading.spacing
        words += ["--spacing", sizes if isinstance(sizes, str) else ",".join(map(repr, sizes))]
    if reading.resample is not None:
        words += ["--resample", reading.resample]
    return shlex.join([*words, "--also", "none", "--bootstrap", "0"])


def _is_level(threshold: float) -> bool:
    """Tell whether a threshold is the number of a segmentation."""
    return threshold >= 1 and threshold == round(threshold)
