"""What several annotators of one image tell: strength of labels, consensus, agreement, forced choice."""

from __future__ import annotations

from edgecritic.annotators.calibration import Reliability, pool_reliability, reliability
from edgecritic.annotators.census import Census, Shares, shares
from edgecritic.annotators.choice import Answer, EdgeMap, Trial, trials
from edgecritic.annotators.outputs import OutputStrength, output_strength, pool_output_strength
from edgecritic.annotators.pairs import MapPool, pair_trials, pool_of
from edgecritic.annotators.partial import partial_labels
from edgecritic.annotators.perceptual import LabelStrength, strength
from edgecritic.annotators.preference import Agreement, Preference, preference, simulate_judge
from edgecritic.annotators.raters import RatedLabels, Raters, dawid_skene, rated_labels, staple
from edgecritic.annotators.scale import Scale, bradley_terry
from edgecritic.annotators.votes import (
    Risk,
    Screening,
    dataset_risk,
    majority,
    risks,
    screening,
    simulate_subject,
)

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
    "Answer",
    "majority",
    "Risk",
    "dataset_risk",
    "risks",
    "Screening",
    "screening",
    "simulate_subject",
    "Reliability",
    "reliability",
    "pool_reliability",
    "Raters",
    "staple",
    "dawid_skene",
    "RatedLabels",
    "rated_labels",
    "EdgeMap",
    "MapPool",
    "pool_of",
    "pair_trials",
    "Scale",
    "bradley_terry",
    "Agreement",
    "Preference",
    "preference",
    "simulate_judge",
]
