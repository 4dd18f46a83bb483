"""What a paper says beside what a study finds: the one place where verdicts come from.

A claim is written as the paper prints it, and its verdict follows from the numbers alone.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from edgecritic.errors import InputError
from edgecritic.values import Value

__all__ = ["Claim", "claim", "claim_of_order", "count_claims"]

_NUMBER = r"[-−+]?\d*\.?\d+"
_PRINTED = re.compile(
    rf"(?P<sign>[<>≤≥])?\s*(?P<low>{_NUMBER})(?: to (?P<high>{_NUMBER}))?\s*(?P<percent>%)?"
)


class Claim(Value):
    """One published statement, what was found here, and whether they agree.

    Attributes
    ----------
    what : str
        What is measured.
    paper : str
        As the paper prints it: ``.049``, ``> .95``, ``.90 to .95``, ``−28.7 %``, ``eps > closest``.
    source : str
        The figure, table or page.
    ours : str
        What was found, in the paper's unit and with one more digit; empty if it was not measured.
    agrees : bool or None
        Whether ours is what the paper says, to its digits; ``None`` if it was not measured.
    verdict : str
        The same in words, with the difference.
    """

    what: str
    paper: str
    source: str
    ours: str
    agrees: bool | None
    verdict: str

    def __str__(self) -> str:
        found = f"here {self.ours}: " if self.ours else ""
        return f"{self.what}: paper {self.paper} ({self.source}), {found}{self.verdict}"


def claim(what: str, paper: str, ours: float | None, *, source: str, why: str = "") -> Claim:
    """Compare a number with what a paper prints.

    Parameters
    ----------
    what : str
    paper : str
        A number, a limit (``> .95``, ``≤ 3``) or a range (``.90 to .95``), each with a ``%`` if `ours`, a
        share, is to be told in percent.
    ours : float or None
        ``None`` or NaN if it was not measured.
    source : str
        The figure, table or page of the paper.
    why : str
        What may explain a difference; said only if there is one.

    Notes
    -----
    Two numbers agree if they differ by no more than half a unit of the paper's last digit. A range reaches as
    far beyond its ends. A limit is taken as it stands.

    Examples
    --------
    >>> claim("lowest r", "> .95", 0.953, source="Fig. 1").verdict
    'holds'
    >>> print(claim("2.5-percentile", "−.049", -0.0293, source="p. 12"))
    2.5-percentile: paper −.049 (p. 12), here −0.0293: differs, here higher by 0.0197
    >>> claim("precision", "−28.7 %", -0.2874, source="Fig. 3").verdict
    'agrees to the printed digits'
    """
    read = _PRINTED.fullmatch(paper.strip())
    if read is None:
        raise InputError(f"a claim is a number, a limit such as '> .95' or a range, got {paper!r}")
    if ours is None or math.isnan(ours):
        return _unmeasured(what, paper, source)
    digits = _digits(read["low"])
    value = 100 * ours if read["percent"] else ours
    low, high = _limits(read["sign"], _value(read["low"]), _value(read["high"] or read["low"]), digits)
    agrees = low < value < high if read["sign"] in ("<", ">") else low <= value <= high
    shown = _shown(value, digits + 1) + (" %" if read["percent"] else "")
    if agrees:
        exact = read["sign"] is None and read["high"] is None
        verdict = "agrees to the printed digits" if exact else "holds"
    else:
        target = _value(read["high"] or read["low"]) if value >= high else _value(read["low"])
        way = "higher" if value > target else "lower" if value < target else "equal"
        by = "" if way == "equal" else f" by {_shown(abs(value - target), digits + 1)}"
        verdict = f"{'does not hold' if read['sign'] else 'differs'}, here {way}{by}"
    return _told(what, paper, source, shown, agrees, verdict, why)


def claim_of_order(
    what: str, paper: Sequence[str], values: Mapping[str, float | None], *, source: str, why: str = ""
) -> Claim:
    """Compare an order, from the largest value to the least, with the one that a paper reports.

    Names without a value make the claim one that was not measured; equal values do not contradict.

    Examples
    --------
    >>> claim_of_order("r", ["eps", "closest"], {"eps": 0.9, "closest": 0.95}, source="Table 2").verdict
    'another order: closest > eps'
    """
    printed = " > ".join(paper)
    found = {name: values.get(name) for name in paper}
    known = {name: value for name, value in found.items() if value is not None and not math.isnan(value)}
    if len(known) < len(found):
        return _unmeasured(what, printed, source)
    ordered = sorted(paper, key=lambda name: -known[name])
    agrees = all(known[one] >= known[two] for one, two in itertools.pairwise(paper))
    verdict = "same order" if agrees else f"another order: {' > '.join(ordered)}"
    shown = ", ".join(f"{name} {known[name]:.4g}" for name in ordered)
    return _told(what, printed, source, shown, agrees, verdict, why)


def count_claims(claims: Sequence[Claim]) -> str:
    """Say in a sentence how many claims agree.

    Examples
    --------
    >>> count_claims([claim("r", "> .9", value, source="Fig. 1") for value in (0.95, 0.8, None)])
    'Of 2 published statements that these data can test, 1 agrees and 1 differs; 1 was not measured.'
    """
    tested = [one for one in claims if one.agrees is not None]
    if not tested:
        return "These data test none of the published statements."
    good = sum(bool(one.agrees) for one in tested)
    bad, left = len(tested) - good, len(claims) - len(tested)
    rest = f"; {left} {'was' if left == 1 else 'were'} not measured" if left else ""
    return (
        f"Of {len(tested)} published statement{'s' if len(tested) > 1 else ''} that these data can test, "
        f"{good} agree{'s' if good == 1 else ''} and {bad} differ{'s' if bad == 1 else ''}{rest}."
    )


def _told(what: str, paper: str, source: str, shown: str, agrees: bool, verdict: str, why: str) -> Claim:
    reason = f" ({why})" if why and not agrees else ""
    return Claim(
        what=what, paper=paper, source=source, ours=shown, agrees=agrees, verdict=f"{verdict}{reason}"
    )


def _unmeasured(what: str, paper: str, source: str) -> Claim:
    return Claim(what=what, paper=paper, source=source, ours="", agrees=None, verdict="not measured here")


def _limits(sign: str | None, low: float, high: float, digits: int) -> tuple[float, float]:
    if sign in ("<", "≤"):
        return -math.inf, low
    if sign in (">", "≥"):
        return low, math.inf
    half = 0.5 * 10.0**-digits * (1 + 1e-9)
    return low - half, high + half


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def _value(text: str) -> float:
    return float(Decimal(text.replace("−", "-")))


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
