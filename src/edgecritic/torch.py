"""The accumulators of `edgecritic.training` as metrics of torchmetrics (extra ``torch``).

`BoundaryBenchmark`, `EdgeScores` and `SurfaceScores` take the arguments of their namesakes in
`edgecritic.training`, and those of every ``torchmetrics.Metric``. They work alone, in a
``MetricCollection``, on several ranks, and in Lightning's ``self.log``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from edgecritic import training
from edgecritic.errors import needs_extra
from edgecritic.inputs import Spacing, as_array
from edgecritic.training.batches import split
from edgecritic.training.loop import Loop

with needs_extra("edgecritic.torch", "torch"):
    import torch
    from torch import Tensor
    from torchmetrics import Metric
    from torchmetrics.utilities.distributed import gather_all_tensors

__all__ = ["BoundaryBenchmark", "EdgeScores", "SurfaceScores"]


class _LoopMetric(Metric):
    """A metric whose state is that of an accumulator: a line of bytes for every image."""

    is_differentiable = False
    full_state_update = False
    kind: ClassVar[type[Loop]]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        known = inspect.signature(self.kind).parameters
        super().__init__(**{name: options.pop(name) for name in list(options) if name not in known})
        self._loop = self.kind(*arguments, **options)
        self.add_state("records", [], dist_reduce_fx="cat")

    @property
    def records(self) -> list[Tensor]:
        """The records of all images so far as bytes; waits for those that are being judged."""
        return [torch.frombuffer(bytearray(line), dtype=torch.uint8) for line in self._loop.records]

    @records.setter
    def records(self, records: list[Tensor] | Tensor) -> None:
        parts = [records] if isinstance(records, Tensor) else records
        self._loop.records = [bytes(part.to("cpu", torch.uint8).numpy()) for part in parts]

    def update(
        self, preds: Any, target: Any, ids: Sequence[Any] | None = None, spacing: Spacing = None
    ) -> None:
        """Judge a batch in the background; see the `update` of :class:`edgecritic.training.loop.Loop`.

        Tensors may be on any device, of any float type, and have gradients. They are copied once; from a
        GPU without waiting for it.
        """
        waits: list[Callable[[], object]] = []
        prediction, truth = _copied(preds, waits), _copied(target, waits)
        sizes = self._loop.spacing if spacing is None else spacing
        samples = split(prediction, truth, ids, spacing=sizes)
        self._loop.enqueue(samples, (lambda: [wait() for wait in waits]) if waits else None)

    def compute(self) -> dict[str, Tensor]:
        """Return the numbers of all images so far, of all ranks, by name."""
        kind = torch.float32 if self.device.type == "mps" else torch.float64  # which MPS does not have
        return {
            name: torch.tensor(value, dtype=kind, device=self.device)
            for name, value in self._loop.compute().items()
        }

    def result(self, **options: Any) -> Any:
        """Return everything about all images so far, of all ranks, as one value.

        On several ranks all of them must call it.
        """
        own = not self._is_synced
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn, should_sync=own and self.sync_on_compute, should_unsync=own
        ):
            return self._loop.result(**options)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result of all images so far into `ax`, or into a new figure; return the axes."""
        return self.result().plot(ax)

    def reset(self) -> None:
        """Forget all images, also those that are still being judged."""
        self._loop.reset()
        super().reset()

    def __hash__(self) -> int:
        return object.__hash__(self)

    def _sync_dist(
        self, dist_sync_fn: Callable[..., list[Tensor]] | None = None, process_group: Any = None
    ) -> None:
        """Gather the records of all ranks; one without any image takes part with no bytes."""
        own = torch.frombuffer(bytearray(b"".join(self._loop.records) or b"\n"), dtype=torch.uint8)
        gather = dist_sync_fn or gather_all_tensors
        self.records = gather(own.to(self.device), group=process_group or self.process_group)


class BoundaryBenchmark(_LoopMetric):
    """ODS, OIS, AP and R50 of batches: `edgecritic.training.BoundaryBenchmark` as a metric.

    Examples
    --------
    >>> import torch
    >>> target = torch.zeros(2, 20, 30, dtype=torch.bool)
    >>> target[:, 10, 5:25] = True
    >>> metric = BoundaryBenchmark("bsds")
    >>> metric.update(target * 0.8, target)
    >>> metric.compute()["ODS"]
    tensor(1., dtype=torch.float64)
    >>> print(metric.result(draws=0).ods)
    F 1.0000  R 1.0000  P 1.0000 at threshold 0.01
    """

    higher_is_better = True
    kind = training.BoundaryBenchmark


class EdgeScores(_LoopMetric):
    """Means of measures of edge maps: `edgecritic.training.EdgeScores` as a metric.

    Examples
    --------
    >>> import torch
    >>> target = torch.eye(9, dtype=torch.bool)[None]
    >>> metric = EdgeScores("hausdorff", threshold=0.4)
    >>> float(metric(0.5 * target.roll(1, dims=2), target)["hausdorff"]) > 0
    True
    """

    kind = training.EdgeScores


class SurfaceScores(_LoopMetric):
    """Means of measures of objects: `edgecritic.training.SurfaceScores` as a metric.

    Examples
    --------
    >>> import torch
    >>> target = torch.zeros(1, 9, 9, 9, dtype=torch.bool)
    >>> target[0, 2:7, 2:7, 2:7] = True
    >>> metric = SurfaceScores(["dice", "hd95"], spacing=(3, 1, 1))
    >>> metric.update(target[:, None], target)
    >>> metric.compute()["hd95"]
    tensor(0., dtype=torch.float64)
    """

    kind = training.SurfaceScores


def _copied(data: Any, waits: list[Callable[[], object]]) -> Any:
    """Return a copy on the CPU that nobody else has; `waits` gets what must be waited for before reading."""
    if isinstance(data, list | tuple):
        return [_copied(each, waits) for each in data]
    if not isinstance(data, Tensor):
        return as_array(data, "a batch").copy()
    tensor = data.detach()
    if tensor.dtype is torch.bfloat16:  # which NumPy does not know
        tensor = tensor.float()
    if tensor.device.type == "cpu":
        return tensor.numpy().copy()  # by NumPy: the threads of torch would linger beside ours
    if tensor.device.type != "cuda":
        return tensor.cpu().numpy()
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    copy.copy_(tensor, non_blocking=True)
    done = torch.cuda.Event()
    done.record(torch.cuda.current_stream(tensor.device))
    waits.append(done.synchronize)
    return copy.numpy()
