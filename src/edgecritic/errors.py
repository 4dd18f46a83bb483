"""The errors users meet; each says what was expected, what was got, where, and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

__all__ = [
    "EdgeCriticError",
    "InputError",
    "NotBinaryError",
    "UnknownNameError",
    "DataError",
    "OutputError",
    "ProtocolMismatchError",
    "MissingExtraError",
    "UndefinedMeasureWarning",
]


class EdgeCriticError(Exception):
    """Root of all errors raised on purpose; commands print them as one line and exit with 1.

    Parameters
    ----------
    message : str
        What was expected and what was got.
    path : path, optional
        The file or folder concerned.
    remedy : str, optional
        What to do about it.

    Examples
    --------
    >>> print(DataError("holds no pairs", path="test.lst", remedy="write one `image truth` per line"))
    test.lst: holds no pairs; write one `image truth` per line
    """

    path: Path | None

    def __init__(
        self, message: str = "", *, path: str | os.PathLike[str] | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else Path(path)
        self.remedy = remedy or None

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}: "
        return place + self.message + (f"; {self.remedy}" if self.remedy else "")

    def at(self, path: str | os.PathLike[str]) -> Self:
        """Note the file or folder concerned, unless one is known already, and return this error."""
        self.path = Path(path) if self.path is None else self.path
        return self

    def as_dict(self) -> dict[str, str | None]:
        """Return the class, the path, what happened and what to do, ready for JSON."""
        return {
            "error": type(self).__name__,
            "path": None if self.path is None else str(self.path),
            "message": self.message,
            "remedy": self.remedy,
        }


class InputError(EdgeCriticError, ValueError):
    """An argument cannot be used as given (grey values in a binary map, shapes that differ, …)."""


class NotBinaryError(InputError):
    """A map has more than two values where a binary one was expected."""


class UnknownNameError(EdgeCriticError, ValueError):
    """No strategy, measure, detector, data set or protocol has this name."""


class DataError(EdgeCriticError):
    """A file or folder cannot be used (unreadable, truncated, of a kind that is not known, …)."""


class OutputError(DataError):
    """Results cannot be written (disk full, no permission, another run at work): the run itself ends."""


class ProtocolMismatchError(EdgeCriticError):
    """Results of two different protocols were about to be mixed."""


class MissingExtraError(EdgeCriticError, ImportError):  # type: ignore[misc] # ImportError.path is text
    """An optional dependency is needed; the message names the extra that brings it."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """Make the error for a feature `what` that needs the optional dependencies `extra`.

        Examples
        --------
        >>> print(MissingExtraError.of("reading NIfTI files", "volumes"))
        reading NIfTI files needs an optional dependency; pip install "edgecritic[volumes]"
        """
        return cls(f"{what} needs an optional dependency", remedy=f'pip install "edgecritic[{extra}]"')


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Say which extra is missing if an import of the block fails; an import of this package fails as it does.

    Examples
    --------
    >>> with needs_extra("dowsing", "wood"):
    ...     import hazel_twig
    Traceback (most recent call last):
    edgecritic.errors.MissingExtraError: dowsing needs an optional dependency; pip install "edgecritic[wood]"
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "edgecritic":
            raise
        raise MissingExtraError.of(what, extra) from error


class UndefinedMeasureWarning(UserWarning):
    """A measure has no value for this input and the declared table value was used."""
