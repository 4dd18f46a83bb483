"""The best, median and worst image of each detector."""

from __future__ import annotations

from edgecritic.report.sections import Pictures, Section
from edgecritic.report.view import View

__all__ = ["ORDER", "section"]

ORDER = 90
KEYS = (
    ("hit", "hit: a detected edge that people drew"),
    ("alarm", "false alarm: a detected edge that nobody drew"),
    ("miss", "miss: the stronger the blue, the more annotators drew it"),
)


def section(view: View) -> Section | None:
    """Return the pictures by detector, best ODS first, each in the given order."""
    if not view.pictures:
        return None
    places = {detector["name"]: place for place, detector in enumerate(view.ranked)}
    names = sorted(
        {one.group for one in view.pictures}, key=lambda name: (places.get(name, len(places)), name)
    )
    groups = tuple(
        (view.name(name), tuple(one for one in view.pictures if one.group == name)) for name in names
    )
    return Section(key="pictures", title="Pictures", blocks=(Pictures(groups=groups, keys=KEYS),))
