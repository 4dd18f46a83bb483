"""Figures drawn beside other work: matplotlib takes as long to start and draw as many images take to judge.

A process of its own imports matplotlib while images are judged, and draws while intervals are computed and
pages are written. It gets the results as a line of its standard input, and puts the same bytes as
:func:`edgecritic.report.figures.write_pr` into files when another line comes. Where no process can be
started, figures are drawn here.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from edgecritic.beside import python_beside

__all__ = ["Artist", "artist_beside"]

_PATIENCE = 5.0  # seconds


class Artist:
    """Draws the figures of one benchmark: in the given process, or here.

    Parameters
    ----------
    process : Popen or None
        One that runs this module and waits for results.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None = None) -> None:
        self._process = process
        self._given: tuple[Mapping[str, Any], Path] | None = None
        self._sender: threading.Thread | None = None  # of what was given, if the process draws it
        self._is_used = False
        self.has_drawn = False

    def begin(self, results: Mapping[str, Any], folder: Path) -> None:
        """Let the figures of a run be drawn, unless that of this folder has begun; they are no files yet."""
        if self._given is not None and self._given[1] == folder:
            return
        self._given, self._sender = (results, folder), None
        if self._process is not None and self._process.stdin is not None and not self._is_used:
            self._is_used = True  # it draws once
            work = json.dumps({"folder": str(folder.absolute()), "results": results}).encode() + b"\n"
            self._sender = threading.Thread(target=_send, args=(work, self._process.stdin), daemon=True)
            self._sender.start()

    def finish(self) -> tuple[Path, ...]:
        """Put the figures into files and return these; draw them here if the process could not.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if self._given is None:
            return ()
        (results, folder), self._given = self._given, None
        process = self._process
        if self._sender is not None and process is not None and process.stdin and process.stdout:
            self._sender.join()
            _send(b"\n", process.stdin)
            with suppress(OSError):
                process.stdin.close()
            said = process.stdout.readline()  # its end is waited for last
            if said:
                self.has_drawn = True
                return tuple(folder / name for name in json.loads(said))
        from edgecritic.report.figures import write_pr

        return write_pr(results, folder)


def _send(words: bytes, stream: IO[bytes]) -> None:
    """Hand a line over, which lasts until matplotlib is imported; if nobody takes it, `finish` draws."""
    with suppress(OSError, ValueError):
        stream.write(words)
        stream.flush()


@contextmanager
def artist_beside(wanted: bool = True) -> Iterator[Artist]:
    """Start the process if it is wanted and matplotlib is there but not yet imported; end it if unused."""
    process = _started() if wanted and not _is_imported() else None
    artist = Artist(process)
    try:
        yield artist
    finally:
        if process is not None:
            if artist.has_drawn:  # it ends by itself, and removes temporary folders of matplotlib
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE)
            if process.poll() is None:
                process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait()


def _is_imported() -> bool:
    return "matplotlib" in sys.modules


def _started() -> subprocess.Popen[bytes] | None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        return None
    return python_beside("-m", "edgecritic.report.beside", stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _import_less() -> None:
    """Leave out what no figure needs and what takes a fifth of the import: help texts, and axes in 3-D."""
    import matplotlib.artist

    vars(matplotlib.artist)["kwdoc"] = repr  # names in help texts in place of all properties
    in_3d = types.ModuleType("mpl_toolkits.mplot3d")
    vars(in_3d)["Axes3D"] = type("Axes3D", (), {"name": "3d"})  # which is asked for its name only
    sys.modules.setdefault(in_3d.__name__, in_3d)


def main() -> None:
    """Import matplotlib with all that its files need, wait for results, and draw them."""
    gc.disable()  # it ends soon
    _import_less()
    from edgecritic.figures import UNDATED, drawing_settings, figure_bytes, new_figure
    from edgecritic.report.figures import draw_pr, put_files

    with drawing_settings():  # much is imported and read when the first figure is written
        first = new_figure((1, 1))
        figure_bytes(first, "pdf")  # a font would be cut to its letters, which takes as long the next time
        first.text(0, 0, "a")
        for kind in UNDATED:
            if kind != "pdf":
                figure_bytes(first, kind)
    given = sys.stdin.buffer.readline()
    if given:
        work = json.loads(given)
        drawn = draw_pr(work["results"])
        if sys.stdin.buffer.readline():  # else the run was stopped, and its old files stay together
            files = put_files(drawn, work["folder"])
            sys.stdout.write(json.dumps([file.name for file in files]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
    atexit._run_exitfuncs()  # matplotlib removes its temporary folders
    os._exit(0)  # sooner than Python takes all modules apart, and the command waits for it
