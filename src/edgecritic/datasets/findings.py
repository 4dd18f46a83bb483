"""One thing that the doctor found."""

from __future__ import annotations

from typing import Literal

from edgecritic.values import Value

__all__ = ["Finding", "Severity"]

Severity = Literal["error", "warning", "note"]


class Finding(Value, kw_only=False):
    """One thing the doctor found.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        An error would falsify a score, a warning may, a note is good to know.
    file : str
        The file, image name or folder it is about.
    what : str
        What was found.
    remedy : str
        What to do about it; empty for notes.
    kind : str
        A short fixed name, the same for all findings of this sort.
    """

    severity: Severity
    file: str
    what: str
    remedy: str
    kind: str
