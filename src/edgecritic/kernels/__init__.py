"""Every compiled kernel, and the tables and memory that it works on.

Kernels take exact dtypes (`edgecritic.kernels.arrays`) and check nothing: the callers in the other rooms do.
They may call each other across files: the machine code on disk is keyed by all of them.
"""
