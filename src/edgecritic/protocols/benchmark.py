"""The benchmark as an object: feed it images one by one, merge parts, ask for the result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edgecritic.errors import InputError, ProtocolMismatchError
from edgecritic.inputs import Spacing, as_array, as_strength
from edgecritic.protocols.bootstrap import Bootstrap, PairedTest, bootstrap, paired_bootstrap
from edgecritic.protocols.class_sweep import sweep_classes
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import BestPoint, Summary, summarise
from edgecritic.protocols.sweep import Sweep, as_truths, sweep
from edgecritic.values import Value

__all__ = ["Benchmark", "BenchmarkResult"]


class BenchmarkResult(Value):
    """The numbers of one detector on a set of images.

    Attributes
    ----------
    summary : Summary
        The pooled curve, ODS, OIS, AP by every rule, R50, and the best point of every image.
    intervals : Bootstrap or None
        Confidence intervals of ODS, OIS and AP over images; ``None`` for a single image.
    counts : dict of Counts
        The counts of every image.
    """

    summary: Summary
    intervals: Bootstrap | None
    counts: dict[str, Counts]

    @property
    def ods(self) -> BestPoint:
        """Best point with one threshold for all images."""
        return self.summary.ods

    @property
    def ois(self) -> BestPoint:
        """Every image at its own best threshold."""
        return self.summary.ois

    @property
    def ap(self) -> float | None:
        """Average precision by the protocol's rule."""
        return self.summary.ap

    @property
    def r50(self) -> float:
        """Recall at precision ½."""
        return self.summary.r50

    @property
    def mf_ods(self) -> float:
        """MF(ODS): the mean over classes of the F of their ODS; of counts without groups the F itself."""
        return self.summary.ods.f

    @property
    def groups(self) -> dict[str, Summary]:
        """The numbers of every class of which there is a truth; none if counts have no groups."""
        return dict(self.summary.groups)

    def against(self, other: BenchmarkResult, *, draws: int = 1000, seed: int = 0) -> PairedTest:
        """Test by a paired bootstrap over images whether this detector and another differ."""
        _check_kind(other, BenchmarkResult, "the result of a benchmark, benchmark.result()")
        mine, theirs = self.summary.protocol, other.summary.protocol
        if mine.digest != theirs.digest:
            raise ProtocolMismatchError(f"results of protocols {mine.id} and {theirs.id} cannot be compared")
        return paired_bootstrap(
            self.counts,
            other.counts,
            protocol=mine,
            draws=draws,
            seed=seed,
        )

    def only(self, names: Iterable[str]) -> BenchmarkResult:
        """Return the result over some of the images, without intervals."""
        chosen = {name: self.counts[name] for name in names}
        summary = summarise(chosen, protocol=self.summary.protocol)
        return BenchmarkResult(summary=summary, intervals=None, counts=chosen)

    def with_intervals(self, *, draws: int = 1000, level: float = 0.95, seed: int = 0) -> BenchmarkResult:
        """Return the same with intervals of so many draws; without them for none, or for a single image."""
        intervals = None
        if draws and len(self.counts) > 1:
            protocol = self.summary.protocol
            intervals = bootstrap(self.counts, protocol=protocol, draws=draws, level=level, seed=seed)
        return replace(self, intervals=intervals)

    def plot(self, ax: Any = None, *, label: str = "") -> Any:
        """Draw precision over recall as `Summary.plot` does; return the axes."""
        return self.summary.plot(ax, label=label)

    def rows(self) -> list[dict[str, Any]]:
        """Return the best point of every image."""
        return [image.as_dict() for image in self.summary.images]

    def __repr__(self) -> str:
        return repr(self.summary).replace(type(self.summary).__name__, type(self).__name__, 1)

    def __str__(self) -> str:
        return str(self.summary) if self.intervals is None else f"{self.summary}\n{self.intervals}"


class Benchmark:
    """A boundary benchmark that is fed image by image.

    The result does not depend on the order of the images, nor on how they were divided among parts
    that were merged. Parts can be pickled.

    Parameters
    ----------
    protocol : str or Protocol

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((20, 30), bool)
    >>> truth[10, 5:25] = True
    >>> benchmark = Benchmark("bsds")
    >>> benchmark.update(np.where(truth, 0.8, 0.0), [truth], id="line")
    >>> benchmark.result().ods.f
    1.0
    """

    def __init__(self, protocol: str | Protocol = "bsds") -> None:
        self.protocol = get_protocol(protocol)
        self._counts: dict[str, Counts] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def __repr__(self) -> str:
        return f"<Benchmark: {len(self)} image{'s' * (len(self) != 1)}, protocol {self.protocol.id}>"

    def update(
        self,
        strength: Any,
        truths: Any,
        *,
        id: str | None = None,  # noqa: A002
        mask: Any = None,
        spacing: Spacing = None,
        groups: Sequence[str] | None = None,
        labels: Any = None,
    ) -> None:
        """Judge one image or volume.

        Parameters
        ----------
        strength : array_like, 2-D or 3-D
            NumPy, torch or any array with ``__array__`` or DLPack, on the CPU; values in [0, 1] or 8-bit.
        truths : array_like, or list or stack of array_like
            The maps of one or several annotators.
        id : str, optional
            The image's name; a hash of its maps if absent.
        mask : array_like, optional
            Where it is off nothing is counted.
        spacing : float or sequence of float, optional
            Pixel size, one number or one per axis: the tolerance is in its unit, such as millimetres.
        groups : sequence of str, optional
            Names of classes: `strength` and `truths` then hold one map for each, (classes, rows, columns) or
            by name. A protocol that has classes judges its own without being asked.
        labels : (rows, columns) array_like, optional
            The label image, for protocols that remove candidates inside of regions.

        Examples
        --------
        >>> import numpy as np
        >>> from edgecritic.maps.classes import class_boundaries
        >>> labels = np.repeat([[7], [8]], 40, axis=0) * np.ones(60, int)
        >>> truth = class_boundaries(labels, [7, 8])
        >>> benchmark = Benchmark("ceval")
        >>> benchmark.update(0.9 * truth, truth, groups=("road", "sidewalk"), id="one")
        >>> benchmark.result().mf_ods
        1.0
        """
        if groups is not None or self.protocol.classes is not None:
            if spacing is not None:
                raise InputError("classes are judged in pixels", remedy="leave spacing out")
            swept = sweep_classes(
                strength, truths, protocol=self.protocol, groups=groups, labels=labels, mask=mask
            )
            name = _fingerprint_of_classes(strength, truths) if id is None else str(id)
            self.add_counts(name, swept)
            return
        swept = sweep(strength, truths, protocol=self.protocol, mask=mask, spacing=spacing)
        self.add_counts(_fingerprint(strength, truths, self.protocol) if id is None else str(id), swept)

    def add_counts(self, id: str, counted: Sweep | Counts) -> None:  # noqa: A002
        """Add the counts of one image that was judged before, by this protocol."""
        if isinstance(counted, Sweep):
            self._check_protocol(counted.protocol)
            counted = counted.counts
        _check_kind(counted, Counts, "the counts of an image, edgecritic.sweep(…)")
        if id in self._counts:
            raise InputError(f"the image {id!r} was judged already", remedy="give every image its own id")
        self._counts[id] = counted

    def merge(self, other: Benchmark) -> Benchmark:
        """Take over the images of another part; return this benchmark."""
        _check_kind(other, Benchmark, "another Benchmark")
        self._check_protocol(other.protocol)
        twice = sorted(self._counts.keys() & other._counts.keys())
        if twice:
            raise InputError(f"both parts hold the image(s) {', '.join(twice[:5])}")
        self._counts |= other._counts
        return self

    def reset(self) -> None:
        """Forget all images."""
        self._counts = {}

    def result(self, *, draws: int = 1000, level: float = 0.95, seed: int = 0) -> BenchmarkResult:
        """Return the numbers of all images so far.

        Parameters
        ----------
        draws, level, seed
            Of the bootstrap over images; 0 draws leaves the intervals out.
        """
        if not self._counts:
            raise InputError("no image was judged yet", remedy="call update first")
        counts = {name: self._counts[name] for name in sorted(self._counts)}
        summary = summarise(counts, protocol=self.protocol)
        found = BenchmarkResult(summary=summary, intervals=None, counts=counts)
        return found.with_intervals(draws=draws, level=level, seed=seed)

    def _check_protocol(self, protocol: Protocol) -> None:
        if protocol.digest != self.protocol.digest:
            raise ProtocolMismatchError(
                f"this benchmark follows the protocol {self.protocol.id}, the new images {protocol.id}"
            )


def _check_kind(value: object, kind: type, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"expected {wanted}, got {type(value).__name__}")


def _fingerprint_of_classes(strength: Any, truths: Any) -> str:
    digest = hashlib.sha256()
    for maps in (strength, truths):
        named = maps.items() if isinstance(maps, Mapping) else enumerate(maps)
        for name, one in sorted(named, key=lambda pair: str(pair[0])):
            array = np.ascontiguousarray(as_array(one))
            digest.update(f"{name} {array.shape} {array.dtype}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def _fingerprint(strength: Any, truths: Any, protocol: Protocol) -> str:
    """Return a name for an image that has none; the maps alone decide it."""
    map_ = as_strength(strength)
    digest = hashlib.sha256(f"{map_.shape} {map_.dtype}".encode() + map_.tobytes())
    for truth in as_truths(truths, map_.shape, rule=protocol.truth):
        digest.update(truth.tobytes())
    return digest.hexdigest()[:16]
