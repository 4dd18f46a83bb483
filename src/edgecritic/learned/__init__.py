"""Detectors that learn: models, how they are fitted, and the files they are kept in."""

from __future__ import annotations

from edgecritic.learned.base import Marks, Model, Stage, trainable, trainables
from edgecritic.learned.fitting import fit
from edgecritic.learned.models import load_model, save_model

__all__ = ["Marks", "Model", "Stage", "fit", "load_model", "save_model", "trainable", "trainables"]
