"""Every compiled kernel and nothing else.

Kernels take exact dtypes and check nothing: the callers in the other rooms do. Kernels that call
each other share a file, because Numba's cache does not see a change in another file.
"""
