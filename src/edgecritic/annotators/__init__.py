"""What several annotators of one image tell: strength of labels, consensus, agreement, forced choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.annotators.calibration import Reliability as Reliability
    from edgecritic.annotators.calibration import pool_reliability as pool_reliability
    from edgecritic.annotators.calibration import reliability as reliability
    from edgecritic.annotators.census import Census as Census
    from edgecritic.annotators.census import Shares as Shares
    from edgecritic.annotators.census import shares as shares
    from edgecritic.annotators.choice import Answer as Answer
    from edgecritic.annotators.choice import EdgeMap as EdgeMap
    from edgecritic.annotators.choice import Trial as Trial
    from edgecritic.annotators.choice import trials as trials
    from edgecritic.annotators.outputs import OutputStrength as OutputStrength
    from edgecritic.annotators.outputs import output_strength as output_strength
    from edgecritic.annotators.outputs import pool_output_strength as pool_output_strength
    from edgecritic.annotators.pairs import MapPool as MapPool
    from edgecritic.annotators.pairs import pair_trials as pair_trials
    from edgecritic.annotators.pairs import pool_of as pool_of
    from edgecritic.annotators.partial import partial_labels as partial_labels
    from edgecritic.annotators.perceptual import LabelStrength as LabelStrength
    from edgecritic.annotators.perceptual import strength as strength
    from edgecritic.annotators.preferences import Agreement as Agreement
    from edgecritic.annotators.preferences import Preference as Preference
    from edgecritic.annotators.preferences import preference as preference
    from edgecritic.annotators.preferences import simulate_judge as simulate_judge
    from edgecritic.annotators.raters import RatedLabels as RatedLabels
    from edgecritic.annotators.raters import Raters as Raters
    from edgecritic.annotators.raters import dawid_skene as dawid_skene
    from edgecritic.annotators.raters import rated_labels as rated_labels
    from edgecritic.annotators.raters import staple as staple
    from edgecritic.annotators.scale import Scale as Scale
    from edgecritic.annotators.scale import bradley_terry as bradley_terry
    from edgecritic.annotators.votes import Risk as Risk
    from edgecritic.annotators.votes import Screening as Screening
    from edgecritic.annotators.votes import dataset_risk as dataset_risk
    from edgecritic.annotators.votes import majority as majority
    from edgecritic.annotators.votes import risks as risks
    from edgecritic.annotators.votes import screening as screening
    from edgecritic.annotators.votes import simulate_subject as simulate_subject

_HOMES = {
    "LabelStrength": "perceptual",
    "strength": "perceptual",
    "Census": "census",
    "Shares": "census",
    "shares": "census",
    "partial_labels": "partial",
    "OutputStrength": "outputs",
    "output_strength": "outputs",
    "pool_output_strength": "outputs",
    "Trial": "choice",
    "trials": "choice",
    "Answer": "choice",
    "majority": "votes",
    "Risk": "votes",
    "dataset_risk": "votes",
    "risks": "votes",
    "Screening": "votes",
    "screening": "votes",
    "simulate_subject": "votes",
    "Reliability": "calibration",
    "reliability": "calibration",
    "pool_reliability": "calibration",
    "Raters": "raters",
    "staple": "raters",
    "dawid_skene": "raters",
    "RatedLabels": "raters",
    "rated_labels": "raters",
    "EdgeMap": "choice",
    "MapPool": "pairs",
    "pool_of": "pairs",
    "pair_trials": "pairs",
    "Scale": "scale",
    "bradley_terry": "scale",
    "Agreement": "preferences",
    "Preference": "preferences",
    "preference": "preferences",
    "simulate_judge": "preferences",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
