"""Protocols: named sets of choices that turn maps into benchmark numbers; no file access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.protocols.class_sweep import sweep_classes as sweep_classes
    from edgecritic.protocols.classes import ClassRules as ClassRules
    from edgecritic.protocols.classes import truth_maps as truth_maps
    from edgecritic.protocols.crispness import average_crispness as average_crispness
    from edgecritic.protocols.human import human_counts as human_counts
    from edgecritic.protocols.human import human_level as human_level
    from edgecritic.protocols.region_summary import summarise_regions as summarise_regions
    from edgecritic.protocols.regions import sweep_hierarchy as sweep_hierarchy
    from edgecritic.protocols.regions import sweep_segmentations as sweep_segmentations

_HOMES = {
    "average_crispness": "crispness",
    "human_counts": "human",
    "human_level": "human",
    "summarise_regions": "region_summary",
    "sweep_hierarchy": "regions",
    "sweep_segmentations": "regions",
    "sweep_classes": "class_sweep",
    "ClassRules": "classes",
    "truth_maps": "classes",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
