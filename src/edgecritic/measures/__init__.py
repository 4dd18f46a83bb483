"""Measures: one family per file, one small function per measure."""
