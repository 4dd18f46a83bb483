"""The formats of files, one record each: a new module of this package that registers one is all it takes."""

from __future__ import annotations

from edgecritic.datasets.formats.base import Format, file_format, format_of, formats

__all__ = ["Format", "file_format", "format_of", "formats"]
