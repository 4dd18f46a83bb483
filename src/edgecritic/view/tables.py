"""What pages are told: the gallery, a view of an image, a curve; ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.judge import STRATEGIES, Judged
from edgecritic.view.classes import OpenedClass
from edgecritic.view.gallery import Gallery
from edgecritic.view.opened import Opened, State, View, most_tolerance
from edgecritic.view.packing import places

__all__ = ["curve_record", "facts_record", "gallery_record", "view_record"]


def gallery_record(
    gallery: Gallery, protocols: Mapping[str, Protocol], group: str | None = None
) -> dict[str, Any]:
    """Return all detectors and images with what is known of them, or of one class of them."""
    detectors = [_detector(gallery, key, one.name, group) for key, one in gallery.detectors.items()]
    best = [one["threshold"] for one in detectors]
    total = len(gallery.images) * len(gallery.detectors)
    return {
        "title": gallery.title,
        "protocol": {"id": gallery.protocol.id, "title": gallery.protocol.title},
        "protocols": [{"id": key, "name": one.id, "title": one.title} for key, one in protocols.items()],
        "strategies": list(dict.fromkeys((gallery.protocol.strategy, *STRATEGIES))),
        "detectors": detectors,
        "classes": list(gallery.groups),
        "class": group,
        "images": [_image(gallery, key, name, best, group) for key, name in gallery.images.items()],
        "judged": [total - len(gallery.waiting), total],
        "notes": gallery.notes,
    }


def _detector(gallery: Gallery, key: str, name: str, group: str | None) -> dict[str, Any]:
    """Return what is known of a detector; `threshold` is that of the largest F among those evaluated."""
    summary = gallery.summary(name, group)
    if summary is None:
        return {"id": key, "name": name, "ods": None, "threshold": None, "curve": None}
    whole, threshold = summary.as_dict(), float(summary.thresholds[int(np.argmax(summary.f))])
    return {
        "id": key,
        "name": name,
        "ods": whole["ods"]["f"],
        "threshold": threshold,
        "curve": whole["curve"],
    }


def _image(
    gallery: Gallery, key: str, name: str, best: Sequence[float | None], group: str | None
) -> dict[str, Any]:
    numbers, shape = [], None
    for one, threshold in zip(gallery.detectors.values(), best, strict=True):
        item = gallery.judged.get(one.name, {}).get(name)
        numbers.append(None if item is None else _numbers(item, threshold, group))
        shape = shape if item is None else item.numbers["shape"]
    case = next(iter(gallery.detectors.values())).cases[name]
    photo = case.image is not None and name not in gallery.rasters
    return {
        "id": key,
        "name": name,
        "shape": shape,
        "photo": photo,
        "agreement": gallery.agreement.get(name),
        "numbers": numbers,
    }


def _numbers(item: Judged, threshold: float | None, group: str | None) -> dict[str, Any]:
    """Return F at the data set's threshold, and F and threshold of the image's own best one.

    An image without truth of a class has no best threshold for it, and no F where nothing is found either.
    """
    counts = item.counts["main"] if group is None else item.counts["main"].group(group)
    f, at = counts.f, int(counts.f.argmax())
    place = np.flatnonzero(counts.thresholds == threshold)
    absent = group is not None and not counts.truth.any()
    known = place.size > 0 and not (absent and counts.candidate[place[0]] == 0)
    return {
        "set": float(f[place[0]]) if known else None,
        "best": None if absent else float(f[at]),
        "threshold": None if absent else float(counts.thresholds[at]),
    }


def view_record(view: View, state: State) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the numbers of a view, and its pixels as raster indices.

    Arrays are the `candidate` and for each annotator N either `pairs-N` (candidate pixel, truth pixel, …) or,
    where a strategy has no pairs, `hits-N` and `found-N`: the matched pixels of candidate and truth.
    """
    arrays: dict[str, NDArray[Any]] = {"candidate": places(view.candidate)}
    for at, one in enumerate(view.matchings):
        if one.pairs is None:
            arrays[f"hits-{at}"] = places(one.matched_candidate & view.candidate)
            arrays[f"found-{at}"] = places(one.matched_truth & one.truth)
        else:
            shape = view.candidate.shape
            flat = [np.ravel_multi_index(tuple(one.pairs[:, side].T), shape) for side in (0, 1)]
            arrays[f"pairs-{at}"] = np.stack(flat, axis=1).ravel()
    counts = view.counts
    return {
        "threshold": state.threshold,
        "tolerance": state.tolerance,
        "strategy": view.matchings[0].strategy,
        "counts": {name: int(getattr(counts, name).item()) for name in COLUMNS},
        "precision": counts.precision.item(),
        "recall": counts.recall.item(),
        "f": counts.f.item(),
        "annotators": [_matching(one) for one in view.matchings],
    }, arrays


def _matching(one: Any) -> dict[str, Any]:
    record = one.as_dict()
    return {name: record[name] for name in ("tp", "fp", "fn", "precision", "recall", "f", "mean_distance")}


def facts_record(opened: Opened | OpenedClass, protocol: Protocol, judged: Judged | None) -> dict[str, Any]:
    """Return what must be known of an image before it can be judged in any state.

    Of a window of a raster `window` has its first row and column, `extent` the rows and columns of the whole
    (else of the image), and `whole` what the run has found of it.
    """
    own = protocol.tolerance_for(opened.extent, opened.spacing)
    window = opened.window
    return {
        "shape": list(opened.shape),
        "spacing": None if opened.spacing is None else list(opened.spacing),
        "annotators": opened.annotators,
        "segmentations": len(opened.segmentations),
        "thresholds": opened.thresholds(protocol),
        "tolerance": own,
        "most": max(own, most_tolerance(own, opened.extent, opened.sizes)),
        "strategy": protocol.strategy,
        "changed": opened.changed,
        "window": None if window is None else [part.start for part in window],
        "extent": list(opened.extent),
        "whole": None if window is None or judged is None else _whole(judged.counts["main"]),
    }


def _whole(counts: Counts) -> dict[str, Any]:
    return {**curve_record(counts), **{name: getattr(counts, name).astype(int).tolist() for name in COLUMNS}}


def curve_record(counts: Counts) -> dict[str, Any]:
    """Return a curve, ready for JSON."""
    columns = {
        "threshold": counts.thresholds,
        **{name: getattr(counts, name) for name in ("precision", "recall", "f")},
    }
    return {name: [float(one) for one in column] for name, column in columns.items()}
