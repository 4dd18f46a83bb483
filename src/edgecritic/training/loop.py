"""What all accumulators of training loops have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self

from edgecritic.errors import EdgeCriticError, InputError, ProtocolMismatchError
from edgecritic.inputs import Spacing
from edgecritic.training.batches import Sample, split
from edgecritic.training.crew import Crew
from edgecritic.values import Value

__all__ = ["Loop"]


class Loop:
    """Judges batches in threads, keeps a record of every image, and sums up at the end.

    A record is one line of JSON: parts of several processes are put together by putting their lines together,
    in any order. A subclass says how an image is judged, written down, and summed up.

    Parameters
    ----------
    from_logits : bool
        Whether predictions are logits, of which the logistic function is taken.
    ignore_index : int, optional
        Pixels whose target has this number count nowhere.
    spacing : float or sequence of float, optional
        Pixel size of all images; `update` may give another.
    workers : int, optional
        So many threads judge images while the training goes on, one per core if not given; with 0 `update`
        itself judges.
    """

    _quickest: ClassVar[dict[str, Any]] = {}
    """Options of `result` that leave out what `compute` does not need."""

    def __init__(
        self,
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        spacing: Spacing = None,
        workers: int | None = None,
    ) -> None:
        self.from_logits, self.ignore_index, self.spacing = from_logits, ignore_index, spacing
        self._crew = Crew(workers)
        self._records: list[bytes] = []

    def update(
        self, prediction: Any, target: Any, *, ids: Sequence[Any] | None = None, spacing: Spacing = None
    ) -> None:
        """Judge a batch.

        Parameters
        ----------
        prediction : array_like, or list of array_like
            (N, H, W), (N, C, H, W) or, of volumes, (N, C, D, H, W); or a list of N arrays without the first
            axis. Of any array library and float type, with gradients or without.
        target : array_like, or list
            Maps of the same size: one per image, or with a second axis several. An item of a list may itself
            be a list of maps.
        ids : sequence, optional
            Names of the images. An image that comes twice, as where a sampler fills up the last batch, is
            then counted once.
        spacing : float or sequence of float, optional
            Pixel size of this batch.

        Raises
        ------
        InputError
            If shapes do not fit. What is wrong with the values of an image is told by a later call,
            because it is judged in the background.
        """
        self.enqueue(
            split(
                prediction,
                target,
                ids,
                spacing=self.spacing if spacing is None else spacing,
                copy=self._crew.workers > 0,
            )
        )

    def enqueue(self, samples: Iterable[Sample], ready: Callable[[], object] | None = None) -> None:
        """Let images be judged as soon as `ready` returns; nobody may change their arrays any more."""
        for sample in samples:
            self._crew.put(self._record, sample, ready)

    @property
    def records(self) -> list[bytes]:
        """A line for every image so far; waits for those that are being judged."""
        self._records += self._crew.take()
        return self._records

    @records.setter
    def records(self, records: Iterable[bytes]) -> None:
        self._crew.drop()
        lines = (line for part in records for line in part.splitlines(keepends=True))
        self._records = [line for line in lines if line.strip()]

    def compute(self) -> dict[str, float]:
        """Return the numbers of all images so far, by name; NaN where there is none."""
        cases = self._cases()
        return self._numbers(self._result(cases, **self._quickest) if cases else None)

    def result(self, **options: Any) -> Any:
        """Return everything about the images so far as one value; `options` are those of the kind."""
        cases = self._cases()
        if not cases:
            raise InputError("no image was judged yet", remedy="call update first")
        return self._result(cases, **options)

    def merge(self, other: Self) -> Self:
        """Take over the images of another part; return this one."""
        if type(other) is not type(self):
            raise InputError(f"expected another {type(self).__name__}, got {type(other).__name__}")
        if other._settings() != self._settings():
            raise ProtocolMismatchError(
                f"parts with different settings cannot be merged: {self._settings()} and {other._settings()}"
            )
        self._records = self.records + other.records
        return self

    def reset(self) -> None:
        """Forget all images, also those that are still being judged."""
        self._crew.drop()
        self._records = []

    def __len__(self) -> int:
        """Number of images so far, those that are still being judged included."""
        return len(self._records) + len(self._crew)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} image{'s' * (len(self) != 1)}, {self._settings()}>"

    def __getstate__(self) -> dict[str, Any]:
        _ = self.records  # threads cannot be pickled
        return self.__dict__.copy()

    def _record(self, sample: Sample, ready: Callable[[], object] | None) -> bytes:
        if ready is not None:
            ready()
        try:
            content = self._plain(self._judge(sample))
        except EdgeCriticError as error:
            if sample.id is not None:
                error.message = f"image {sample.id}: {error.message}"
            raise
        return json.dumps([sample.id, content]).encode() + b"\n"

    def _cases(self) -> dict[str, Any]:
        """Return what was found of every image by its name, in the order of names.

        Images without a name are called by a hash of what was found of them, so that neither order nor
        division into parts changes a result.
        """
        lines: dict[str, bytes] = {}
        for line in self.records:
            name = json.loads(line)[0]
            if name is None:
                name = _free(hashlib.blake2b(line, digest_size=8).hexdigest(), lines)
            elif lines.get(name, line) != line:
                raise InputError(
                    f"the image {name!r} was judged twice, with different results",
                    remedy="give every image its own id, and call reset before every epoch",
                )
            lines[name] = line
        return {name: self._value(json.loads(lines[name])[1]) for name in sorted(lines)}

    def _judge(self, sample: Sample) -> Value:
        """Return what was found of one image; called in threads."""
        raise NotImplementedError

    def _plain(self, found: Any) -> Any:
        """Return what was found of an image as JSON can hold it."""
        raise NotImplementedError

    def _value(self, content: Any) -> Any:
        """Return what `_plain` was made of."""
        raise NotImplementedError

    def _result(self, cases: dict[str, Any], **options: Any) -> Any:
        """Sum up what was found of all images."""
        raise NotImplementedError

    def _numbers(self, result: Any) -> dict[str, float]:
        """Return the numbers of a result by name; NaN if there is no result."""
        raise NotImplementedError

    def _settings(self) -> str:
        """Return in a word what must be the same in all parts."""
        raise NotImplementedError


def _free(name: str, taken: dict[str, bytes]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
