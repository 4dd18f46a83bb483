"""Protocols in files: the only place that opens them."""

from __future__ import annotations

import os

from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError, EdgeCriticError
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol

__all__ = ["load_protocol", "find_protocol"]

_LIMIT = 2**14
"""Most bytes of a protocol file: a key of very many parts takes the square of its length to read."""


def load_protocol(path: str | os.PathLike[str]) -> Protocol:
    """Read a protocol from a TOML file.

    The file holds the fields of :class:`~edgecritic.protocols.protocol.Protocol`, and usually a base::

        id = "my-lab"
        base = "bsds"
        relative_tolerance = 0.005
        nms = "hed(radius=2)"

    Raises
    ------
    DataError
        If the file cannot be read, or does not hold a protocol.
    """
    text = read_text(path, limit=_LIMIT)
    try:
        return Protocol.from_toml(text)
    except EdgeCriticError as error:
        raise DataError(f"{error}", path=os.fspath(path)) from error


def find_protocol(protocol: str | os.PathLike[str] | Protocol) -> Protocol:
    """Return a protocol given itself, a preset's id, or the path of a file that ends with ``.toml``."""
    if isinstance(protocol, Protocol):
        return protocol
    if isinstance(protocol, str) and not protocol.lower().endswith(".toml"):
        return get_protocol(protocol)
    return load_protocol(protocol)
