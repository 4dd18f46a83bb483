"""What several annotators of one image tell: strength of labels, consensus, agreement, forced choice."""

from __future__ import annotations

from edgecritic.annotators.census import Census, Shares, shares
from edgecritic.annotators.choice import Risk, Trial, dataset_risk, majority, simulate_subject, trials
from edgecritic.annotators.outputs import OutputStrength, output_strength, pool_output_strength
from edgecritic.annotators.partial import partial_labels
from edgecritic.annotators.perceptual import LabelStrength, strength

__all__ = [
    "LabelStrength",
    "strength",
    "Census",
    "Shares",
    "shares",
    "partial_labels",
    "OutputStrength",
    "output_strength",
    "pool_output_strength",
    "Trial",
    "trials",
    "majority",
    "Risk",
    "dataset_risk",
    "simulate_subject",
]
