"""What is drawn of precision over recall: the frame with its lines of equal F, and curves inside."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.figures import COLOURS, new_figure
from edgecritic.protocols.plots import recall_curve, recall_frame


@pytest.fixture
def axes():
    return new_figure().subplots()


def test_the_frame_goes_from_0_to_1_in_tenths(axes):
    recall_frame(axes)
    tenths = [tenth / 10 for tenth in range(11)]
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)
    assert axes.get_xticks() == pytest.approx(tenths)
    assert axes.get_yticks() == pytest.approx(tenths)
    assert axes.get_aspect() == 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Recall", "Precision")


def test_all_points_of_a_line_have_its_f(axes):
    """F = 2PR / (P + R); a line goes from one border to the other, is even, and has its F beside its end."""
    recall_frame(axes)
    assert len(axes.lines) == len(axes.texts) == 9
    for tenth, line, text in zip(range(1, 10), axes.lines, axes.texts, strict=True):
        recall, precision = line.get_xdata(), line.get_ydata()
        assert 2 * precision * recall / (precision + recall) == pytest.approx(tenth / 10)
        assert (recall[-1], precision[0]) == pytest.approx((1, 1))
        assert text.get_text() == f".{tenth}"
        assert text.xy == pytest.approx((recall[-1], precision[-1]))
        right, up = text.get_position()
        assert right > up == 0
        steps = np.hypot(np.diff(recall), np.diff(precision))
        assert np.all(np.diff(recall) >= 0)
        assert steps.max() < 0.02


def test_a_curve_is_drawn_with_its_best_point(axes):
    drawn = recall_curve(axes, ([0.2, 0.6, 0.9], [0.9, 0.7, 0.3]), (0.6, 0.7), number=2)
    line, point = axes.lines
    assert drawn is line
    assert line.get_xydata().tolist() == [[0.2, 0.9], [0.6, 0.7], [0.9, 0.3]]
    assert point.get_xydata().tolist() == [[0.6, 0.7]]
    assert line.get_color() == point.get_markerfacecolor() == COLOURS[2]


def test_curves_lie_above_the_frame_and_the_level_decides_between_them(axes):
    recall_frame(axes)
    frame = max(line.get_zorder() for line in axes.lines)
    first = recall_curve(axes, ([0, 1], [1, 0]), (0.5, 0.5))
    low = recall_curve(axes, ([0, 1], [1, 0]), (0.5, 0.5), level=9)
    high = recall_curve(axes, ([0, 1], [1, 0]), (0.5, 0.5), level=11, linewidth=3)
    assert frame < low.get_zorder() < first.get_zorder() < high.get_zorder()
    assert (first.get_color(), high.get_linewidth()) == (COLOURS[0], 3)
    assert axes.lines[-1].get_zorder() == high.get_zorder()
