"""The standard streams of the command: always there, free of control characters, failing in a known way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from edgecritic.tables import plain

__all__ = ["OutputLostError", "standard_streams", "terminal_of"]


class OutputLostError(Exception):
    """What was to be printed could not be written; `reader_left` if nobody reads any more."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.reader_left = isinstance(error, BrokenPipeError)


class _Plain:
    """A text stream that shows nothing but text: what a terminal would obey becomes ``�``.

    A stream that `must_work` raises `OutputLostError` where writing fails; another one falls silent.
    """

    def __init__(self, stream: TextIO, *, must_work: bool) -> None:
        self.stream = stream
        self._must_work = must_work

    def write(self, text: str) -> int:
        """Write text without control characters."""
        with self._failing():
            self.stream.write(plain(text))
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        with self._failing():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _drop(self.stream)
            if self._must_work:
                raise OutputLostError(error) from error


@contextmanager
def standard_streams() -> Iterator[None]:
    """Put streams in place that every command can rely on, and put back what was there.

    Streams that were closed are opened again, so that no file of ours takes their number: reading gives
    nothing, messages go nowhere, and writing results fails.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    for number in (0, 1, 2):
        _occupy(number)
    out = before[1] or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    told = before[2] or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (out, told):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal that cannot show a character shows a substitute
    sys.stdin = before[0] or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = cast(TextIO, _Plain(out, must_work=True))
    sys.stderr = cast(TextIO, _Plain(told, must_work=False))
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def terminal_of(stream: TextIO) -> TextIO:
    """Return the stream itself, for a progress bar that moves the cursor."""
    return stream.stream if isinstance(stream, _Plain) else stream


def _occupy(number: int) -> None:
    """Open a standard stream that is closed: stdin and stdout for reading, so that writing fails."""
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)


def _drop(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere: the interpreter would try to write it when it ends."""
    try:
        number = stream.fileno()
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, number)
        os.close(sink)
    except (OSError, ValueError):
        return  # no file is behind it
