"""The protocols that come with the package, and how one is named."""

from __future__ import annotations

import difflib
from types import MappingProxyType

import numpy as np

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.ids import Id, shown
from edgecritic.protocols.class_presets import class_presets
from edgecritic.protocols.protocol import Protocol

__all__ = ["PRESETS", "get_protocol"]

EPS = float(np.finfo(np.float64).eps)

_ALL = (
    Protocol(
        id="bsds",
        title="BSDS500 boundary benchmark",
        relative_tolerance=0.0075,
        source="BSDS500 benchmark code of 2011",
        notes="Maps are taken as they are; apply NMS first if they are thick.",
    ),
    Protocol(
        id="pdollar",
        title="Structured-edge toolbox evaluation",
        relative_tolerance=0.0075,
        threshold_floor=EPS,
        source="evaluation code of Dollár and Zitnick, used by HED, RCF, PiDiNet and many others",
        notes="Adds R50. Strength 0 is never on. Detectors apply their own NMS before it.",
    ),
    Protocol(
        id="edter",
        title="EDTER family evaluation on BSDS500",
        relative_tolerance=0.0075,
        threshold_floor=EPS,
        zero_threshold=True,
        nms="hed",
        ap_rule="interpolated-101+zero",
        source="EDTER; counts of UAED, MuGE and SAUGE have the same 100 rows",
        notes="AP is higher by .01 to .04 than in other families with the same maps; do not compare across.",
    ),
    Protocol(
        id="pyedgeeval",
        title="pyEdgeEval on BSDS500",
        relative_tolerance=0.0075,
        ap_rule="interpolated-100",
        source="pyEdgeEval",
        notes="Its NMS is optional (recipe pyedgeeval) and off; on SBD and Cityscapes it prints rule d.",
    ),
    Protocol(
        id="nyud",
        title="NYUDv2 boundaries",
        relative_tolerance=0.011,
        threshold_floor=EPS,
        nms="rcf_nyud",
        source="RCF on NYUDv2",
        notes="EDTER's released script uses tolerance .0075 and recipe edter_nyud; CATS uses cats_nyud.",
    ),
    Protocol(
        id="biped",
        title="BIPED edges",
        relative_tolerance=0.0075,
        threshold_floor=EPS,
        nms="dexined",
        source="DexiNed",
        notes="11 px on 1280×720. Published tolerances differ: others use .003 (see strict).",
    ),
    Protocol(
        id="multicue",
        title="Multicue (MDBD) boundaries and edges",
        relative_tolerance=0.0075,
        threshold_floor=EPS,
        nms="rcf",
        source="RCF on Multicue",
        notes="11 px on 1280×720. Report the mean over three random 80/20 splits.",
    ),
    Protocol(
        id="strict",
        title="strict tolerance",
        relative_tolerance=0.003,
        threshold_floor=EPS,
        nms="sdped",
        source="SDPED",
        notes="1.73 px on 481×321, 4.41 px on 1280×720.",
    ),
    Protocol(
        id="pixels",
        title="fixed tolerance in pixels",
        tolerance=2,
        threshold_floor=EPS,
        source="2 px, whatever the size of an image; pixels(tolerance=1) for another",
        notes="For papers that print a tolerance in pixels, which is no share of the diagonal.",
    ),
    Protocol(
        id="ceval",
        title="crispness-aware evaluation (C-Eval)",
        relative_tolerance=0.0075,
        threshold_floor=EPS,
        thin=False,
        source="CATS, DiffusionEdge",
        notes="Neither NMS nor thinning: one-to-one matching punishes thick edges.",
    ),
    Protocol(
        id="volume",
        title="surfaces in volumes",
        tolerance=2.0,
        thin=False,
        truth="inner",
        source="the boundary benchmark in 3-D, with exact matching",
        notes="Tolerance in mm; volumes are not thinned, so thick surfaces cost precision: nms = surface.",
    ),
    Protocol(
        id="bsds-regions",
        title="BSDS500 region benchmark",
        judges="regions",
        source="BSDS500 benchmark code of 2011",
        notes="Covering, PRI and VOI of hierarchies (ucm2) and segmentations (segs).",
    ),
)

PRESETS = MappingProxyType(
    {protocol.id: protocol for protocol in (*_ALL, *(Protocol(**one) for one in class_presets()))}
)
"""The protocols that come with the package, by id."""


def get_protocol(protocol: str | Protocol) -> Protocol:
    """Return a preset by id; a protocol is returned as it is.

    An id may change fields of the preset, as in ``volume(tolerance=3)`` or ``bsds(thresholds=33, nms=hed)``:
    the protocol is then called ``volume-tolerance-3``, see :meth:`Protocol.with_fields`.

    Raises
    ------
    UnknownNameError
        If no preset has this id. Files are read by `edgecritic.run.protocol_file.load_protocol`.

    Examples
    --------
    >>> get_protocol("nyud").relative_tolerance
    0.011
    >>> get_protocol("volume(tolerance=3)").tolerance
    3
    """
    if isinstance(protocol, Protocol):
        return protocol
    if not isinstance(protocol, str):
        raise InputError(f"a protocol is named by text such as 'bsds', got {shown(protocol)}")
    name, bracket, rest = protocol.strip().partition("(")
    if name in PRESETS:
        return _changed(PRESETS[name], bracket + rest)
    near = difflib.get_close_matches(name, PRESETS, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(f"unknown protocol {protocol!r}{hint} (known: {', '.join(PRESETS)})")


def _changed(preset: Protocol, fields_text: str) -> Protocol:
    """Return a preset with the fields that the text in brackets names; preset ids need not be identifiers."""
    if not fields_text:
        return preset
    try:
        options = Id.parse(f"protocol{fields_text}").options
    except InputError as error:
        raise InputError(
            "fields of a preset are changed as in volume(tolerance=3, thresholds=33), "
            f"got {shown(preset.id + fields_text)}"
        ) from error
    values = {name: str(value) if isinstance(value, Id) else value for name, value in options.items()}
    return preset.with_fields(**values)
