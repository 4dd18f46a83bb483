"""What runs over many images have in common: their results and what failed, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from edgecritic.datasets.cases import Case
from edgecritic.errors import EdgeCriticError, MissingExtraError, OutputError
from edgecritic.values import Value

__all__ = ["Failure", "Run", "attempt", "failure_rows"]

Good = TypeVar("Good")
Bad = TypeVar("Bad")


class Failure(Value):
    """Why something could not be worked on.

    Attributes
    ----------
    id : str
        The name of the image.
    message : str
    path : str
        The file, within the folder that was given; empty if there is none.
    detector : str
        Whose map it is, where several are judged.
    """

    id: str
    message: str
    path: str = ""
    detector: str = ""

    @classmethod
    def of_case(cls, case: Case, message: str, *, detector: str = "") -> Failure:
        """Return the failure of a case; its file is told by its name alone, wherever the folders are."""
        file = case.prediction or (case.truths[0] if case.truths else case.image)
        return cls(id=case.id, message=message, path="" if file is None else file.name, detector=detector)

    def as_dict(self) -> dict[str, Any]:
        """Return id, path and message, and the detector where there is one."""
        detector = {"detector": self.detector} if self.detector else {}
        return {**detector, "id": self.id, "path": self.path, "message": self.message}

    def __str__(self) -> str:
        """Return one line: whose map, which image, and why."""
        return ": ".join(filter(None, (self.detector, self.id, self.message)))


def attempt(work: Callable[[], Good], failed: Callable[[str], Bad]) -> Good | Bad:
    """Return what the work on one image gives, or what `failed` makes of the message: the others go on.

    A folder that cannot be written and a library that is missing stop everything: no other image would
    fare better.

    Examples
    --------
    >>> from edgecritic.errors import DataError
    >>> def read():
    ...     raise DataError("a.png: is damaged")
    >>> attempt(read, lambda message: Failure(id="a", message=message))
    Failure(id='a', message='a.png: is damaged', path='', detector='')
    """
    try:
        return work()
    except (MissingExtraError, OutputError):
        raise
    except EdgeCriticError as error:
        return failed(str(error))
    except MemoryError:
        return failed("not enough memory for this image")


def failure_rows(failures: Iterable[Failure]) -> list[dict[str, Any]]:
    """Return failures as they stand in all results and JSON documents, sorted."""
    return [one.as_dict() for one in sorted(failures, key=lambda one: (one.detector, one.id, one.message))]


class Run(Value, Mapping[str, Any]):
    """A finished run over many images; ``run["detectors"]`` is a part of its results.

    Attributes
    ----------
    results : dict
        All that was found, as the JSON file of the run holds it.
    """

    results: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be worked on."""
        return tuple(Failure(**row) for row in self.results["failures"])

    @property
    def failed(self) -> bool:
        """Whether at least one image could not be worked on."""
        return bool(self.results["failures"])

    def as_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        return self.results
