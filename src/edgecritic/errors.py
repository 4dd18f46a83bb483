"""The errors users meet; every message says what was expected, what was got, and what to do."""

from __future__ import annotations

__all__ = [
    "EdgeCriticError",
    "InputError",
    "UnknownNameError",
    "DataError",
    "OutputError",
    "ProtocolMismatchError",
    "MissingExtraError",
    "UndefinedMeasureWarning",
]


class EdgeCriticError(Exception):
    """Root of all errors raised on purpose; commands print them as one line and exit with 1."""


class InputError(EdgeCriticError, ValueError):
    """An argument cannot be used as given (grey values in a binary map, shapes that differ, …)."""


class UnknownNameError(EdgeCriticError, ValueError):
    """No strategy, measure, detector, data set or protocol has this name."""


class DataError(EdgeCriticError):
    """A file or folder cannot be used (unreadable, truncated, of a kind that is not known, …)."""


class OutputError(DataError):
    """Results cannot be written (disk full, no permission, another run at work): the run itself ends."""


class ProtocolMismatchError(EdgeCriticError):
    """Results of two different protocols were about to be mixed."""


class MissingExtraError(EdgeCriticError, ImportError):
    """An optional dependency is needed; the message names the extra that brings it."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """Make the error for a feature `what` that needs the optional dependencies `extra`.

        Examples
        --------
        >>> print(MissingExtraError.of("reading NIfTI files", "volumes"))
        reading NIfTI files needs an optional dependency: pip install "edgecritic[volumes]"
        """
        return cls(f'{what} needs an optional dependency: pip install "edgecritic[{extra}]"')


class UndefinedMeasureWarning(UserWarning):
    """A measure has no value for this input and the declared table value was used."""
