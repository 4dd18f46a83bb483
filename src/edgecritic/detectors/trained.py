"""The detectors of the room `learned`, found together with the others."""

from __future__ import annotations

from edgecritic.learned.base import trainables

trainables.names()  # importing them registers them
