"""The studies of ``edgecritic study``: one file each, found by itself.

A study has ``NAME``, ``PAPER``, ``TEXT``, ``add_options(parser)`` and ``run(args) -> int``.
"""
