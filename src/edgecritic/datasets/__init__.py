"""Data sets and files: one layout per file, and the input doctor."""
