"""Edge detectors and the pieces they share."""

from __future__ import annotations

from edgecritic.detectors.base import Detection, DetectorInfo, detect, detector, detectors

__all__ = ["Detection", "DetectorInfo", "detect", "detector", "detectors"]
