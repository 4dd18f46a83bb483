"""Crispness: what share of a map its suppression keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.maps.suppression import suppress
from edgecritic.protocols.crispness import average_crispness, summarise_crispness


def test_it_is_the_share_that_suppression_keeps():
    thick = np.zeros((50, 50))
    thick[10:40, 20:27] = np.exp(-(((np.arange(7) - 3) / 2) ** 2))
    thin = suppress(thick, "crispness(border=0)")
    value = average_crispness(thick)
    assert value == pytest.approx(suppress(thick, "crispness").sum(dtype=float) / thick.sum(), rel=1e-6)
    assert 0 < value < 0.5 < average_crispness(thin, recipe="none")


def test_a_map_without_strength_has_none():
    assert math.isnan(average_crispness(np.zeros((5, 5))))
    assert average_crispness(np.zeros((5, 5)), empty=0.0) == 0
    one = np.zeros((5, 5))
    one[2, 2] = 1
    assert average_crispness(one, recipe="none") == 1


def test_of_many_images():
    total = summarise_crispness([0.2, math.nan, 0.6])
    assert (total.mean, total.least, total.most) == pytest.approx((0.4, 0.2, 0.6))
    assert (total.images, total.empty) == (3, 1)
    assert "1 of them empty" in str(total)
    assert "empty" not in str(summarise_crispness([0.2]))
    assert summarise_crispness([math.nan]).as_dict()["mean"] is None
    with pytest.raises(InputError, match="at least one"):
        summarise_crispness([])
