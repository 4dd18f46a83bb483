"""Figures: one palette, one way to make and to save them (extra ``report``).

Neither pyplot nor the user's settings are used or changed, and equal input gives equal bytes.
"""

from __future__ import annotations

import base64
import functools
import io
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from edgecritic.atomic import replace_file
from edgecritic.errors import needs_extra

__all__ = [
    *("HIT", "FALSE_ALARM", "MISS", "COLOURS", "SHADES", "HUMAN", "GREY", "look"),
    *("axes_of", "new_figure", "drawing_settings", "figure_bytes", "save_figure", "leave_out"),
    *("show_map", "small_image"),
]

HIT = (0, 158, 115)
FALSE_ALARM = (230, 159, 0)
MISS = (86, 180, 233)

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours of Okabe and Ito, which people with colour vision deficiencies can tell apart."""

DASHES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

SHADES = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fd9a44")
"""From weak to strong: of one annotator, of all."""

HUMAN = "#1a7f37"
GREY = "#888888"

RCPARAMS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "edgecritic",
    "text.parse_math": False,
    "text.usetex": False,
}

_TEXT_TABLES = ("GDEF", "GPOS", "GSUB", "MATH", "kern")
_FONTS = threading.RLock()  # what is said of fonts meanwhile holds for the whole process

UNDATED: dict[str, dict[Any, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {},
}
"""What keeps the time of day out of the files of matplotlib, by their endings."""


def look(number: int) -> dict[str, Any]:
    """Return colour and dashes of a line; 28 differ.

    Examples
    --------
    >>> look(0)
    {'color': '#0072b2', 'linestyle': 'solid'}
    """
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def new_figure(size: tuple[float, float] = (6.4, 4.0), *, layout: Any = "constrained") -> Any:
    """Return an empty figure of a size in inches, without any window.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    with needs_extra("drawing figures", "report"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    figure = Figure(figsize=size, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def axes_of(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """Return the given axes, or those of a new figure: what every ``plot(ax=None)`` draws into."""
    return new_figure(size).subplots() if ax is None else ax


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Use matplotlib's own defaults and ours, whatever the user's are, and put theirs back afterwards."""
    with needs_extra("drawing figures", "report"):
        import matplotlib as mpl
    with mpl.rc_context(), warnings.catch_warnings():
        # A name may hold signs that the font does not have.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(RCPARAMS)
        yield


def figure_bytes(figure: Any, kind: str, *, dpi: float = 150) -> bytes:
    """Return the file of a figure in a format (``png``, ``svg``, ``pdf``), without the time of day."""
    stream = io.BytesIO()
    with _drawn_glyphs_only() if kind == "pdf" else nullcontext():
        figure.savefig(stream, format=kind, metadata=UNDATED.get(kind, {}), dpi=dpi)
    return stream.getvalue()


@contextmanager
def _drawn_glyphs_only() -> Iterator[None]:
    """Let fonts in PDF files have no tables about setting text, which matplotlib has done when it draws.

    To cut these tables to the letters that are used takes long, and nobody reads them.
    """
    try:
        from fontTools.subset import Options
    except ImportError:  # an old matplotlib cuts no fonts
        yield
        return
    with _FONTS:
        usual = getattr(Options, "_drop_tables_default", [])
        Options._drop_tables_default = [*usual, *_TEXT_TABLES]
        try:
            yield
        finally:
            Options._drop_tables_default = usual


def save_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a figure, whole or not at all, in the format that the ending says."""
    content = figure_bytes(figure, Path(path).suffix.lower().lstrip("."), dpi=dpi)
    with replace_file(path) as stream:
        stream.write(content)


def small_image(draw: Callable[[], Any]) -> str:
    """Return the figure that a function draws as an HTML image that holds its own bytes, for notebooks."""
    with drawing_settings():
        content = base64.b64encode(figure_bytes(draw(), "png", dpi=72)).decode()
    return f'<img alt="" src="data:image/png;base64,{content}">'


def show_map(ax: Any, picture: Any, title: str = "") -> Any:
    """Draw the pixels of a map or picture, unsmoothed and without ticks; return the axes."""
    axes = axes_of(ax, (5.2, 4.2))
    axes.imshow(picture, cmap="gray_r", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title)
    return axes


@functools.cache
def leave_out(what: str, reason: str) -> None:
    """Warn that something is left out of the files, but not again for every one of a run."""
    warnings.warn(f"{what} left out: {reason}", stacklevel=3)
