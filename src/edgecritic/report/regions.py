"""The report on detectors judged by their regions: covering, PRI and VOI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.report.classic import REGION_FILES, REGION_IMAGE_FILES
from edgecritic.report.sections import Content, Report, Table, study_report
from edgecritic.report.view import short
from edgecritic.report.write import write_report
from edgecritic.run.bench_results import detector_folder
from edgecritic.tables import clean

if TYPE_CHECKING:  # most reports are about no regions
    from edgecritic.protocols.regions import Regions
    from edgecritic.run.regions import RegionRun

__all__ = ["region_findings", "region_table", "regions_report", "write_classic_regions", "write_region_run"]

_SCORES = (
    ("covering", "ods", "Covering ODS"),
    ("covering", "ois", "Covering OIS"),
    ("covering", "best", "Covering best"),
    ("pri", "ods", "PRI ODS"),
    ("pri", "ois", "PRI OIS"),
    ("voi", "ods", "VOI ODS"),
    ("voi", "ois", "VOI OIS"),
)

_LEVEL = 5e-7

_IMAGE = ("threshold", "recall", "precision", "pri", "voi", "annotators")

_NOTE = (
    "Covering: the mean overlap of every region that people drew with its best segment; PRI: the share of "
    "pairs of pixels that are together or apart as people have them; VOI: what one segmentation leaves open "
    "about the other, in bits, where less is better. ODS: one threshold for all images; OIS: each image at "
    "its best; best: each region at its best."
)


def region_table(detectors: Sequence[Mapping[str, Any]], names: Mapping[str, Content] | None = None) -> Table:
    """Return the table of all detectors that have regions, in the given order."""
    order = [one for one in detectors if one.get("regions")]
    rows = tuple(
        (
            (names or {}).get(one["name"], clean(one["name"])),
            *(one["regions"][measure][score] for measure, score, _ in _SCORES),
            one["regions"]["images"],
        )
        for one in order
    )
    return Table(
        name="regions",
        title="Covering, PRI and VOI",
        header=("Detector", *(title for *_, title in _SCORES), "Images"),
        body=rows,
        note=_NOTE,
    )


def region_findings(detectors: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say who leads by each measure, and whether the measures agree; what rounds alike is level."""
    order = [one for one in detectors if one.get("regions")]
    if not order:
        return ["No detector has regions."]
    told, leaders = [], []
    for title in ("covering", "PRI", "VOI"):
        scores = {clean(one["name"]): one["regions"][title.lower()] for one in order}
        best = (min if title == "VOI" else max)(score["ods"] for score in scores.values())
        first = [name for name, score in scores.items() if abs(score["ods"] - best) < _LEVEL]
        leaders.append(first)
        told.append(
            f"{title} {short(best)} at threshold {scores[first[0]]['threshold']:.3g} ({', '.join(first)})"
        )
    lines = [f"Best with one threshold for all images: {'; '.join(told)}."]
    if len(order) > 1:
        lines.append(_agreement(leaders))
    return lines


def _agreement(leaders: list[list[str]]) -> str:
    first = leaders[0]
    if any(others != first for others in leaders):
        return "The measures do not agree on who leads."
    if len(first) == 1:
        return f"{first[0]} leads by all three measures."
    return f"{', '.join(first)} are level by all three measures."


def regions_report(results: Mapping[str, Any]) -> Report:
    """Make text and tables of what `edgecritic.run.regions.run_regions` returned."""
    ranked = sorted(results["detectors"], key=lambda one: -one["regions"]["covering"]["ods"])
    return study_report(
        "Region benchmark",
        tuple(region_findings(ranked)),
        facts=(("truth", str(results["truth"])), ("protocol", str(results["protocol"]["id"]))),
        tables=(region_table(ranked), _image_table(ranked)) if ranked else (),
        problems=tuple(
            ": ".join(filter(None, (row.get("detector"), row["id"], row["message"])))
            for row in results["failures"]
        ),
    )


def write_region_run(folder: str | Path, run: RegionRun) -> tuple[Path, ...]:
    """Write the pages, the tables, and for every detector the classic files, beside ``results.json``."""
    return (
        *write_classic_regions(Path(folder), run.regions),
        *write_report(folder, regions_report(run.results), name="regions"),
    )


def write_classic_regions(home: Path, regions: Mapping[str, Mapping[str, Regions]]) -> tuple[Path, ...]:
    """Write the classic files of every detector into its folder; those of a single one beside it as well."""
    if len(regions) != 1:
        for name in REGION_FILES:  # left by an earlier run with one detector
            (home / name).unlink(missing_ok=True)
    if not regions:
        return ()
    from edgecritic.report.classic_regions import write_regions

    written: list[Path] = []
    for name, images in regions.items():
        place = home / detector_folder(name)
        files = write_regions(place, images)
        ending = {left for kind in REGION_IMAGE_FILES for left in place.rglob(f"*_{kind}.txt")}
        for left in ending - set(files):  # of images that are no longer there
            left.unlink(missing_ok=True)
        written += files
        if len(regions) == 1:
            written += write_regions(home, images, each=False)
    return tuple(written)


def _image_table(detectors: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (clean(one["name"]), clean(row["id"]), *(row[key] for key in _IMAGE))
        for one in detectors
        for row in one["regions"]["per_image"]
    )
    return Table(
        name="images",
        title="Every image at the threshold of its best covering",
        header=(
            "Detector",
            "Image",
            "Threshold",
            "Covering",
            "Precision",
            "Best PRI",
            "Best VOI",
            "Annotators",
        ),
        body=rows,
        most=20,
        folded=True,
        note="Precision: the mean overlap of every segment with the best region of any annotator.",
    )
