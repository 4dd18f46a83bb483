"""One page per measure, written from the registry: formula, picture, conventions, reference."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.figures import COLOURS, drawing_settings, new_figure, save_figure
from edgecritic.measures import MeasureInfo, describe, measures
from edgecritic.measures.scoring import FAMILIES
from edgecritic.registry import Entry
from edgecritic.report.measure_pictures import measure_picture
from edgecritic.report.text import markdown_table
from edgecritic.studies.displacement import Displacement, displacement

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["measure_index", "measure_page", "write_measure_pages"]

_SEES = {
    "false alarms": "false alarms only",
    "misses": "misses only",
    "both": "false alarms and misses",
    "neither": "neither: it needs no truth",
}
_SIDES = {"both": "both maps", "candidate": "the candidate", "truth": "the truth"}


def measure_page(
    entry: Entry[MeasureInfo], *, maps: str | None = None, curves: str | None = None, formula: str = ""
) -> str:
    """Return the page of one measure as Markdown.

    `maps` and `curves` are the file names of its two pictures, `formula` its formula in LaTeX.

    Examples
    --------
    >>> page = measure_page(measures.get("hausdorff"))
    >>> page.splitlines()[0]
    '# `hausdorff` (H)'
    """
    about = describe(entry)
    summary, _, rest = (inspect.getdoc(entry.function) or "").partition("\n")
    text, _, example = rest.partition("Examples\n--------\n")
    parts = [f"# `{entry.name}` ({about['symbol']})", summary]
    parts += [f"$$\n{formula.strip()}\n$$" if formula else "", text.strip()]
    if maps:
        parts.append(f"![{entry.name} of six maps]({maps})\n\n*{_maps_text(entry.info)}*")
    if curves:
        parts.append(
            f"![{entry.name} while a line moves away]({curves})\n\n*A line of false alarms (solid) or of "
            "misses (dashed) moves away from a line that is found.*"
        )
    parts += [_facts(about), _parameters(about), _conventions(entry), _empty_cases(about)]
    if example.strip():
        parts.append("## Example\n\n```python\n" + textwrap.dedent(example).strip() + "\n```")
    parts.append(f"## Reference\n\n{about['reference']}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _maps_text(info: MeasureInfo) -> str:
    better = f"{'Smaller' if info.better == 'lower' else 'Larger'} values are better."
    if info.needs == "candidate":
        return f"Six maps that are judged without a truth. {better}"
    if info.needs == "segmentation":
        return f"Six segmentations (coloured) and the regions of the truth (black lines). {better}"
    return f"Six candidates: hits are green, false alarms orange, misses blue. {better}"


def measure_index(entries: Iterable[Entry[MeasureInfo]]) -> str:
    """Return a table of measures by family as Markdown, with links to their pages."""
    lines = ["# Measures", "", "↓ smaller is better, ↑ larger is better."]
    known = list(entries)
    for family in dict.fromkeys([*FAMILIES, *(entry.info.family for entry in known)]):
        own = [entry for entry in known if entry.info.family == family]
        if own:
            rows = (
                (
                    f"[`{entry.name}`]({entry.name}.md)",
                    entry.info.arrow,
                    entry.info.symbol,
                    entry.summary.removeprefix("Return "),
                    entry.info.sees,
                )
                for entry in own
            )
            table = _table(("id", "", "symbol", "what it is", "sees"), rows)
            lines += ["", f"## {family.capitalize()}", "", table]
    return "\n".join(lines) + "\n"


def write_measure_pages(
    folder: str | PathLike[str],
    names: Iterable[str] | None = None,
    *,
    pictures: bool = True,
    formulas: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the pages of measures, their index and their pictures into a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    names : iterable of str, optional
        Which measures; all if not given.
    pictures : bool
        Whether to draw six maps with their values, and the curves of the displacement study, which need
        matplotlib.
    formulas : mapping of str, optional
        Formulas in LaTeX by the names of the measures.

    Returns
    -------
    list of Path
        The Markdown files, the index first.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    entries = list(measures) if names is None else [measures.get(name) for name in names]
    drawn = [entry.name for entry in entries if pictures and _has_curves(entry.info)]
    curves = displacement(drawn) if drawn else None
    written = [_write(place / "index.md", measure_index(entries))]
    for entry in entries:
        named = {"formula": (formulas or {}).get(entry.name, "")}
        maps = measure_picture(entry) if pictures else None
        if maps is not None:
            named["maps"] = f"{entry.name}-maps.svg"
            _write(place / named["maps"], maps)
        if curves is not None and entry.name in curves.measures:
            named["curves"] = f"{entry.name}.svg"
            _draw(curves, entry, place / named["curves"])
        written.append(_write(place / f"{entry.name}.md", measure_page(entry, **named)))
    return written


def _has_curves(info: MeasureInfo) -> bool:
    return info.needs not in ("segmentation", "candidate")


def _facts(about: dict[str, Any]) -> str:
    low, high = about["range"]
    rows = {
        "family": about["family"],
        "better": about["better"],
        "range": f"{low:g} to {'∞' if high == 'inf' else f'{high:g}'}" + _unit(about["units"]),
        "sees": _SEES[about["sees"]],
        "symmetric": "yes" if about["symmetric"] else "no: candidate and truth have different roles",
        "computed from": about["needs"],
    }
    return _table(("", ""), rows.items())


def _unit(units: str) -> str:
    return {"": "", "distance": " (pixels, or the unit of `spacing`)"}.get(units, f" ({units})")


def _parameters(about: dict[str, Any]) -> str:
    if not about["parameters"]:
        return ""
    rows = ((f"`{key}`", f"`{value!r}`") for key, value in about["parameters"].items())
    return "## Parameters\n\n" + _table(("name", "default"), rows)


def _conventions(entry: Entry[MeasureInfo]) -> str:
    """What the module says of all its measures, after its title."""
    module = inspect.getmodule(inspect.unwrap(entry.function))
    text = inspect.cleandoc((module.__doc__ if module else None) or "").partition("\n")[2].strip()
    return f"## Conventions of the family\n\n```text\n{text}\n```" if text else ""


def _empty_cases(about: dict[str, Any]) -> str:
    if about["empty"] is None:
        return ""
    sides = ("candidate",) if about["needs"] == "candidate" else tuple(_SIDES)
    rows = ((_SIDES[side], about["empty"][side]) for side in sides)
    return "## Where a map has no edge pixels\n\n" + _table(("empty", "value"), rows)


def _table(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    return markdown_table(header, [[str(cell) for cell in row] for row in rows], marked=True)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _draw(curves: Displacement, entry: Entry[MeasureInfo], path: Path) -> None:
    with drawing_settings():
        figure = new_figure((4.5, 2.6))
        panel = figure.subplots()
        false_alarms, misses = curves.curves(entry.name)
        panel.plot(curves.shifts, false_alarms, "-", color=COLOURS[4], label="false alarms")
        panel.plot(curves.shifts, misses, "--", color=COLOURS[0], label="misses")
        panel.set_xlabel("displacement (pixels)")
        panel.set_ylabel(f"{entry.info.symbol} {entry.info.arrow}")
        panel.legend(frameon=False)
        save_figure(figure, path)
