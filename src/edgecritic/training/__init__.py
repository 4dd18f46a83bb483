"""Validation inside of training loops: batches of any array library, judged while the training goes on.

`BoundaryBenchmark`, `EdgeScores` and `SurfaceScores` are fed batch by batch and asked for their numbers at
the end of an epoch. NumPy, JAX, Keras and torch arrays are taken as they are; `edgecritic.torch` has the same
three as metrics of torchmetrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.training.boundary import BoundaryBenchmark as BoundaryBenchmark
    from edgecritic.training.scores import EdgeScores as EdgeScores
    from edgecritic.training.scores import SurfaceScores as SurfaceScores

_HOMES = {"BoundaryBenchmark": "boundary", "EdgeScores": "scores", "SurfaceScores": "scores"}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
