"""Every compiled kernel, and the tables and memory that it works on.

Kernels take exact dtypes (`edgecritic.kernels.arrays`) and check nothing: the callers in the other rooms do.
Kernels that call each other share a file, because Numba's cache does not see a change in another file.
"""
