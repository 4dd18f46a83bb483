"""What a benchmark says of volumes: in which unit distances are, and what is measured on images only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from edgecritic.run.judge import Judged

__all__ = ["tolerance_unit", "volume_notes"]

ByDetector = Mapping[str, Mapping[str, Judged]]


def tolerance_unit(judged: ByDetector) -> str:
    """Return ``px`` of images, ``mm`` or ``voxels`` of volumes, or several of these."""
    return " or ".join(sorted({_unit(item) for item in _items(judged)})) or "px"


def volume_notes(judged: ByDetector, extras: Sequence[str]) -> list[str]:
    """Say what readers of the numbers of volumes must know."""
    volumes = [item for item in _items(judged) if _is_volume(item)]
    notes = []
    silent = sorted({item.id for item in volumes if _unit(item) == "voxels"})
    if silent:
        notes.append(
            f"the files of {len(silent)} volume(s), such as {silent[0]}, tell no voxel size: tolerance and "
            "distances are in voxels there; --spacing gives one in mm"
        )
    if volumes and "crispness" in extras:
        notes.append("crispness is measured on images only and is left out for volumes")
    return notes


def _items(judged: ByDetector) -> Iterator[Judged]:
    return (item for items in judged.values() for item in items.values())


def _is_volume(item: Judged) -> bool:
    return len(item.numbers["shape"]) == 3


def _unit(item: Judged) -> str:
    if item.numbers.get("spacing"):
        return "mm"
    return "voxels" if _is_volume(item) else "px"
