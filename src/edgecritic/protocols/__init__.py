"""Protocols: named sets of choices that turn maps into benchmark numbers; no file access."""
