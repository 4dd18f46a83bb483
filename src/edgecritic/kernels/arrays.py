"""The types of the arrays that kernels take and return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
