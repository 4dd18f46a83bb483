"""The figure of the displacement study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgecritic.errors import MissingExtraError
from edgecritic.studies.displacement import Displacement, family_order, normalised

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["draw_displacement"]


def draw_displacement(result: Displacement, path: str | PathLike[str]) -> None:
    """Draw the normalised curves of all measures, one row of panels per family, and save the figure.

    Left: the moved line is a false alarm. Right: it is missed.

    Parameters
    ----------
    result : Displacement
    path : path
        The ending says the format: ``.png``, ``.svg``, ``.pdf``.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError.of("drawing figures", "report") from error
    families = family_order(result)
    figure: Any = Figure(figsize=(10, 3.2 * len(families)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(panels, families, strict=True):
        names = [name for name, own in zip(result.measures, result.families, strict=True) if own == family]
        for index, name in enumerate(names):
            style = ("-", "--", ":", "-.")[index // 8 % 4]
            for panel, curve in zip(row, normalised(*result.curves(name)), strict=True):
                panel.plot(result.shifts, curve, style, color=f"C{index % 8}", label=name)
        row[0].set_ylabel("normalised value")
        row[0].set_title(f"{family}: false alarms")
        row[1].set_title(f"{family}: misses")
        row[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    for panel in panels[-1]:
        panel.set_xlabel("displacement (pixels)")
    figure.savefig(path, dpi=150)
