"""What tuning adds to the HTML report: the table of best scores, and figures."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from edgecritic.datasets.content import read_content
from edgecritic.report.markup import plural, safe, scroll_table, section
from edgecritic.report.tuning import short_id
from edgecritic.tuning.summary import TuningSummary

__all__ = ["tuning_section"]


def tuning_section(summary: TuningSummary, figures: Mapping[str, Path]) -> str:
    """Return the section of the report: mean best values with their thresholds, then the figures.

    Parameters
    ----------
    summary : TuningSummary
    figures : mapping of str to path
        PNG files by their captions; those that were not drawn are left out.
    """
    lead = (
        "Another way to judge: every measure takes, image by image, the threshold it likes best. Cells show "
        f"the mean best value over {plural(len(summary.images), 'image')} @ the mean threshold; the best "
        "detector of a measure is bold. ↓ smaller is better, ↑ larger is better."
    )
    heads = ["Measure", *(safe(short_id(name)) for name in summary.detectors)]
    rows = []
    for column, (measure, way) in enumerate(zip(summary.measures, summary.better, strict=True)):
        values, levels = summary.mean[:, column], summary.mean_threshold[:, column]
        first = int(np.argmin(values) if way == "lower" else np.argmax(values))
        cells = [f"{value:.3g} @ {level:.2f}" for value, level in zip(values, levels, strict=True)]
        cells[first] = f"<b>{cells[first]}</b>"
        rows.append([f"{safe(measure)} {'↓' if way == 'lower' else '↑'}", *cells])
    table = scroll_table("Best values and thresholds by measure and detector", heads, rows)
    drawn = [_figure(caption, path) for caption, path in figures.items() if path.exists()]
    return section("tuning", "\n".join([table, *drawn]), lead)


def _figure(caption: str, path: Path) -> str:
    data = read_content(path).data
    text = base64.b64encode(data).decode("ascii")
    width, height = struct.unpack(">II", data[16:24])
    return (
        f'<figure style="margin-top:1.5rem"><img src="data:image/png;base64,{text}" '
        f'width="{width}" height="{height}" style="width:100%;height:auto" alt="{safe(caption)}">'
        f"<figcaption>{safe(caption)}</figcaption></figure>"
    )
