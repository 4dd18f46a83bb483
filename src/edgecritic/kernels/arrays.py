"""The types of the arrays that kernels take and return, and the instruction that fetches entries early."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.kernels._jit import instruction

__all__ = [
    *(
        "Bools",
        "Bytes",
        "Int16s",
        "Int32s",
        "Int64s",
        "UInt16s",
        "UInt32s",
        "UInt64s",
        "Float32s",
        "Float64s",
    ),
    "prefetch",
]

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt16s = NDArray[np.uint16]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


@instruction("prefetch")
def prefetch(array: NDArray[Any], at: np.uint64) -> None:
    """Tell the processor that an entry of an array is needed soon, so that it need not wait for memory then.

    Results do not change. In problems much larger than the processor's cache, waiting takes as long as work.
    """
