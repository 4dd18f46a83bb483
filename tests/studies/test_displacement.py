"""The displacement study: what each measure must do, by its formula and its declared sight."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.measures import measures
from edgecritic.studies.displacement import displaced_lines, displacement, normalised


@pytest.fixture(scope="module")
def study():
    return displacement()


def test_the_maps():
    for kind in ("false alarms", "misses"):
        candidate, truth = displaced_lines(kind, 5)
        more, less = (candidate, truth) if kind == "false alarms" else (truth, candidate)
        assert not (less & ~more).any()
        columns = np.flatnonzero(more.any(axis=0))
        assert columns[1] - columns[0] == 5
    assert np.array_equal(*displaced_lines("misses", 0))


def test_blind_measures_stay_at_their_best(study):
    for name in study.measures:
        info = measures.get(name.partition("(")[0]).info
        best = info.range[0] if info.better == "lower" else info.range[1]
        false_alarms, misses = study.curves(name)
        if info.sees == "false alarms":
            assert misses == pytest.approx(best)
        if info.sees == "misses":
            assert false_alarms == pytest.approx(best)
        assert false_alarms[0] == misses[0] == pytest.approx(best)


@pytest.mark.parametrize("name", ["performance_star", "phi_star", "chi2_star", "f_star"])
def test_counts_do_not_see_distance(study, name):
    for curve in study.curves(name):
        assert np.ptp(curve[1:]) == pytest.approx(0, abs=1e-12)
        assert curve[1] > 0


def test_values_by_formula(study):
    d, n = study.shifts, 40
    size = (n + 20) * (17 + 20)
    assert study.curves("hausdorff")[0] == pytest.approx(d)
    assert study.curves("omega")[1] == pytest.approx(d)
    assert study.curves("dk")[0] == pytest.approx(d / 2)
    assert study.curves("yasnoff")[0] == pytest.approx(100 / size * math.sqrt(n) * d)
    expected = np.where(d == 0, 0, 1 - (n + n / (1 + d**2 / 9)) / (2 * n))
    assert study.curves("fom_star")[0] == pytest.approx(expected)
    assert study.curves("fom_star")[1] == pytest.approx(np.where(d == 0, 0, 0.5))
    assert study.curves("mfom")[0] == pytest.approx(study.curves("mfom")[1])


def test_normalisation():
    assert [c.tolist() for c in normalised(np.zeros(2), np.zeros(2))] == [[0, 0], [0, 0]]
    assert [c.tolist() for c in normalised(np.full(2, 3.0), np.full(2, 3.0))] == [[1, 1], [1, 1]]
    inside = np.array([0.2, 0.9])
    assert normalised(inside, inside)[0].tolist() == inside.tolist()
    assert normalised(np.array([0.0, 2.0]), np.array([4.0, 1.0]))[1].tolist() == [1.0, 0.25]


def test_normalisation_to_the_letter():
    """Equation (5) case by case, as printed."""

    def printed(f, g):
        m, big = min(*f, *g), max(*f, *g)
        if big == m:
            return [0.0 if big == 0 else 1.0] * len(f)
        return [(x - m) / (big - m) if big > 1 and m != 0 else x for x in f]

    for f, g in (
        ([0, 0], [0, 0]),
        ([3, 3], [3, 3]),
        ([0, 2], [4, 1]),
        ([1, 2], [4, 1]),
        ([0.2, 0.9], [0.1, 1]),
    ):
        f, g = np.array(f, float), np.array(g, float)
        assert normalised(f, g, printed=True)[0] == pytest.approx(printed(f, g))
        assert normalised(f, g, printed=True)[1] == pytest.approx(printed(g, f))


def test_the_paper_is_contradicted_where_numbers_do(study):
    from dataclasses import replace

    from edgecritic.studies.displacement import published

    assert {one.agrees for one in published(study)} == {True}
    turned = replace(study, false_alarms=study.misses, misses=study.false_alarms)
    wrong = [one.what[:3] for one in published(turned) if one.agrees is False]
    assert wrong == ["FoM", "Ω: ", "FoM", "D_p", "Ψ, "]
    few = published(displacement(["psi"], reach=3))
    assert [one.agrees for one in few] == [None] * 6 + [True]


def test_table_and_json(study):
    assert len(str(study).splitlines()) == 2 + len(study.measures)
    assert set(json.loads(json.dumps(study.as_dict(), allow_nan=False))["measures"]) == set(study.measures)


def test_figure(study):
    pytest.importorskip("matplotlib")
    from edgecritic.report.displacement import displacement_figure

    assert all(len(content) > 10_000 for content in displacement_figure(study).content.values())


def test_findings_tell_which_measures_see_distances(study):
    from edgecritic.report.displacement import displacement_report

    _, counting, blind, _ = displacement_report(study, figure=False).findings
    assert "dice" in counting
    assert "hausdorff" not in counting + blind
    assert {"precision", "recall", "theta", "omega"} <= set(blind.rstrip(".").replace(",", "").split())


def test_bad_use():
    with pytest.raises(InputError, match="reach"):
        displacement(reach=0)
    with pytest.raises(InputError, match="kind"):
        displaced_lines("both", 1)
    with pytest.raises(InputError, match="shift"):
        displaced_lines("misses", 17)
    with pytest.raises(InputError, match="was not computed"):
        displacement("fom", reach=2).curves("dice")
