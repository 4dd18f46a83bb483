"""The boundary benchmark of batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import Spacing
from edgecritic.protocols.benchmark import Benchmark, BenchmarkResult
from edgecritic.protocols.class_sweep import sweep_classes
from edgecritic.protocols.classes import truth_maps
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import sweep
from edgecritic.training.batches import Sample, left_out, probabilities
from edgecritic.training.loop import Loop

__all__ = ["FAST_THRESHOLDS", "BoundaryBenchmark"]

FAST_THRESHOLDS = (0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.31, 0.38, 0.47, 0.57, 0.68, 0.8, 0.92)
"""The thresholds of the fast mode: close where maps change much from one to the next, wide elsewhere."""


class BoundaryBenchmark(Loop):
    """ODS, OIS, AP and R50 of batches, equal to those of ``edgecritic bench``.

    Parameters
    ----------
    protocol : str or Protocol
        How maps become numbers, such as ``"bsds"``, ``"pdollar"`` or ``"bsds(annotators=union)"``.
    classes : sequence of str, optional
        Names of classes: predictions then have a channel for each. A protocol with classes names its own.
    fast : bool
        Take 14 thresholds in place of 99. ODS differs a little from that of the full benchmark and AP more;
        the protocol has another name, such as ``bsds-fast``.
    from_logits, ignore_index, spacing, workers
        See :class:`edgecritic.training.loop.Loop`. Where something is ignored, neither candidate nor truth
        has pixels.

    Notes
    -----
    Shapes of `update`: predictions (N, H, W) or (N, 1, H, W) with targets (N, H, W), or (N, A, H, W) for A
    annotators. With classes, predictions (N, C, H, W) and targets of the same shape, a boundary map for
    each class, or (N, H, W) label images if the protocol says how they become boundaries. Volumes
    (N, 1, D, H, W) with a protocol such as ``volume``.

    `compute` has the keys ``ODS``, ``OIS``, ``AP``, ``R50`` and ``threshold`` (where ODS is reached); of
    classes, the means over them, and ``ODS/name`` for each. `result` takes `draws`, `level` and `seed` of
    the bootstrap over images, and returns a `BenchmarkResult`.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros((2, 20, 30), bool)
    >>> target[:, 10, 5:25] = True
    >>> benchmark = BoundaryBenchmark("bsds")
    >>> benchmark.update(np.where(target, 0.8, 0.0), target)
    >>> benchmark.compute()["ODS"]
    1.0
    >>> print(benchmark.result(draws=0).ods)
    F 1.0000  R 1.0000  P 1.0000 at threshold 0.01
    """

    _quickest: ClassVar[dict[str, Any]] = {"draws": 0}

    def __init__(
        self,
        protocol: str | Protocol = "bsds",
        *,
        classes: Sequence[str] | None = None,
        fast: bool = False,
        from_logits: bool = False,
        ignore_index: int | None = None,
        spacing: Spacing = None,
        workers: int | None = None,
    ) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, spacing=spacing, workers=workers)
        self.protocol = _fewer_thresholds(get_protocol(protocol)) if fast else get_protocol(protocol)
        self.classes = None if classes is None else tuple(classes)

    def _judge(self, sample: Sample) -> Counts:
        maps = probabilities(sample.prediction, from_logits=self.from_logits)
        if self.classes is not None or self.protocol.classes is not None:
            if sample.spacing is not None:
                raise InputError("classes are judged in pixels", remedy="leave spacing out")
            return self._judge_classes(maps, sample.targets)
        if len(maps) != 1:
            raise InputError(
                f"prediction has {len(maps)} channels, but protocol {self.protocol.id} has no classes",
                remedy="give the one map of edges, or name the classes: classes=(…)",
            )
        truths, valid = left_out(sample.targets, self.ignore_index)
        swept = sweep(maps[0], truths, protocol=self.protocol, mask=valid, spacing=sample.spacing)
        return swept.counts

    def _judge_classes(self, maps: Any, targets: list[Any]) -> Counts:
        rules = self.protocol.classes
        labels: Any = None
        if rules is not None and len(targets) == 1 != len(maps):
            labels = targets[0]
            more = () if self.ignore_index is None else (self.ignore_index,)
            truths: Any = truth_maps(replace(rules, ignored=(*rules.ignored, *more)), labels=labels)
            _, valid = left_out(targets, self.ignore_index)
        else:
            maps_of_classes, valid = left_out(targets, self.ignore_index)
            truths = np.stack(maps_of_classes)
        swept = sweep_classes(
            maps, truths, protocol=self.protocol, groups=self.classes, labels=labels, mask=valid
        )
        return swept.counts

    def _plain(self, found: Counts) -> dict[str, Any]:
        return found.as_dict()

    def _value(self, content: dict[str, Any]) -> Counts:
        return Counts.from_dict(content)

    def _result(self, cases: dict[str, Counts], **options: Any) -> BenchmarkResult:
        benchmark = Benchmark(self.protocol)
        for name, counts in cases.items():
            benchmark.add_counts(name, counts)
        return benchmark.result(**options)

    def _numbers(self, result: BenchmarkResult | None) -> dict[str, float]:
        if result is None:
            return dict.fromkeys(("ODS", "OIS", "AP", "R50", "threshold"), math.nan)
        where = result.ods.threshold
        return {
            "ODS": result.ods.f,
            "OIS": result.ois.f,
            "AP": math.nan if result.ap is None else result.ap,
            "R50": result.r50,
            "threshold": math.nan if where is None else where,
            **{f"ODS/{name}": summary.ods.f for name, summary in result.groups.items()},
        }

    def _settings(self) -> str:
        names = "" if self.classes is None else f" of {', '.join(self.classes)}"
        return f"protocol {self.protocol.id} ({self.protocol.digest[:8]}){names}"


def _fewer_thresholds(protocol: Protocol) -> Protocol:
    """Return a protocol with the thresholds of the fast mode, unless it has no more than those."""
    if len(protocol.threshold_values()) <= len(FAST_THRESHOLDS):
        return protocol
    title = f"{protocol.title}, few thresholds"
    return protocol.with_changes(f"{protocol.id}-fast", thresholds=FAST_THRESHOLDS, title=title)
