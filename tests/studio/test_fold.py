from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label

from edgecritic.errors import InputError
from edgecritic.kernels.edits import _sort
from edgecritic.maps.fold import Edit, check_edit, check_specks, counting, fold, fold_layers, runs_of

pytestmark = pytest.mark.kernels

HEIGHT, WIDTH = 14, 18
xs, ys = st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1)


@st.composite
def paths(draw):
    count = draw(st.integers(1, 5))
    return [value for _ in range(count) for value in (draw(xs), draw(ys))]


edits = st.one_of(
    st.builds(lambda level: Edit("threshold", {"level": level}), st.integers(1, 256)),
    st.builds(lambda points: Edit("draw", {"points": points}), paths()),
    st.builds(lambda r, points: Edit("erase", {"radius": r, "points": points}), st.integers(0, 5), paths()),
    st.builds(
        lambda r, points, level: Edit("reveal", {"radius": r, "points": points, "level": level}),
        *(st.integers(0, 5), paths(), st.integers(1, 256)),
    ),
    st.builds(
        lambda r, points, number, on: Edit(
            "paint", {"radius": r, "points": points, "class": number, "on": on}
        ),
        *(st.integers(0, 5), paths(), st.integers(1, 8), st.booleans()),
    ),
    st.builds(lambda points: Edit("lasso", {"points": points}), paths()),
    st.builds(lambda x, y: Edit("delete", {"at": [x, y], "scope": "component"}), xs, ys),
    st.builds(lambda size: Edit("despeckle", {"size": size}), st.integers(2, 9)),
    st.just(Edit("clear")),
    st.just(Edit("undo")),
    st.just(Edit("redo")),
)


def line(x0, y0, x1, y1):
    """Return the pixels nearest to a straight line, one per column, or per row if it is steep.

    Of two that are equally near it is the one towards the end.
    """
    count = max(abs(x1 - x0), abs(y1 - y0))
    pixels = []
    for step in range(count + 1):
        x, y = (
            (abs(end - start) * step * 2 + count) // (2 * count) if count else 0
            for start, end in ((x0, x1), (y0, y1))
        )
        pixels.append((x0 + (x if x1 > x0 else -x), y0 + (y if y1 > y0 else -y)))
    return pixels


def crossings(points, x, y):
    """Return how many sides of a polygon cross the row of a pixel at or left of it; ends below count."""
    corners = np.reshape(points, (-1, 2)).tolist()
    sides = zip(corners, [*corners[1:], corners[0]], strict=True)
    rows = [(a, b) if a[1] < b[1] else (b, a) for a, b in sides]
    return sum(
        a[1] <= y < b[1] and a[0] + Fraction((y - a[1]) * (b[0] - a[0]), b[1] - a[1]) <= x for a, b in rows
    )


def slow_fold(levels, level, steps):
    """The same rules, one pixel at a time, with all of the past kept."""
    past, future = [], []
    marks, threshold = np.zeros((9, *levels.shape), int), level  # the map, and a layer for each class
    for edit in steps:
        if edit.op == "undo":
            if past:
                future.append((marks, threshold))
                marks, threshold = past.pop()
            continue
        if edit.op == "redo":
            if future:
                past.append((marks, threshold))
                marks, threshold = future.pop()
            continue
        past.append((marks, threshold))
        future = []
        every = marks.copy()
        marks = every[0]
        on = (marks == 1) | ((marks == 0) & (levels > 0) & (levels >= threshold))
        if edit.op == "threshold":
            threshold = edit.data["level"]
        elif edit.op == "clear":
            marks[:], every[1:] = 2, 0
        elif edit.op == "despeckle":
            parts, count = label(on, np.ones((3, 3)))
            for part in range(1, count + 1):
                if (parts == part).sum() < edit.data["size"]:
                    marks[parts == part] = 2
        elif edit.op == "delete":
            parts, _ = label(on, np.ones((3, 3)))
            x, y = edit.data["at"]
            if on[y, x]:
                marks[parts == parts[y, x]] = 2
        else:
            points = edit.data["points"]
            pixels = [tuple(points[:2])]
            for at in range(2, len(points), 2):
                pixels += line(*points[at - 2 : at + 2])
            if edit.op == "lasso":
                ring = [*pixels, *line(*points[-2:], *points[:2])]
                for row, column in np.ndindex(HEIGHT, WIDTH):
                    within = (column, row) in ring or crossings(points, column, row) % 2
                    if within and (marks[row, column] == 1 or levels[row, column]):
                        marks[row, column] = 2
                pixels = []
            for x, y in pixels:
                if edit.op == "draw":
                    marks[y, x] = 1
                    continue
                for row in range(HEIGHT):
                    for column in range(WIDTH):
                        if (row - y) ** 2 + (column - x) ** 2 > edit.data["radius"] ** 2:
                            continue
                        if edit.op == "paint":
                            every[edit.data["class"], row, column] = edit.data["on"]
                        elif edit.op == "erase":
                            marks[row, column] = 2
                        elif levels[row, column] >= edit.data["level"]:
                            marks[row, column] = 1
        marks = every
    on = (marks[0] == 1) | ((marks[0] == 0) & (levels > 0) & (levels >= threshold))
    bits = sum(marks[number].astype(int) << (number - 1) for number in range(1, 9))
    return on, np.where(on, bits, 0)


@settings(max_examples=60)
@given(st.lists(edits, max_size=12), st.integers(0, 2**32 - 1))
def test_fold_agrees_with_the_plain_rules(steps, seed):
    rng = np.random.default_rng(seed)
    levels = (rng.integers(0, 256, (HEIGHT, WIDTH)) * (rng.random((HEIGHT, WIDTH)) < 0.5)).astype(np.uint8)
    for edit in steps:
        check_edit(edit.op, dict(edit.data), levels.shape)
    counted = [steps[place] for place in counting([step.op for step in steps])]
    found = fold_layers(levels, 64, counted)
    wanted = slow_fold(levels, 64, steps)
    assert np.array_equal(found[0], wanted[0])
    assert np.array_equal(found[1], wanted[1])
    assert np.array_equal(fold(levels, 64, counted), wanted[0])


@given(xs, ys, xs, ys)
def test_a_line_is_connected_and_straight(x0, y0, x1, y1):
    drawn = fold(np.zeros((HEIGHT, WIDTH), np.uint8), 1, [Edit("draw", {"points": [x0, y0, x1, y1]})])
    ahead = (1 if x1 >= x0 else -1), (1 if y1 >= y0 else -1)
    pixels = sorted(
        ((int(x), int(y)) for y, x in np.argwhere(drawn)), key=lambda at: (at[0] * ahead[0], at[1] * ahead[1])
    )
    assert pixels[0] == (x0, y0)
    assert pixels[-1] == (x1, y1)
    assert len(pixels) == max(abs(x1 - x0), abs(y1 - y0)) + 1
    steps = np.abs(np.diff(pixels, axis=0)).max(axis=1) if len(pixels) > 1 else np.ones(1)
    assert (steps == 1).all()
    length = np.hypot(x1 - x0, y1 - y0)
    away = [abs((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) for x, y in pixels]
    assert max(away) <= 0.5 * length + 1e-9 or length == 0


def test_a_segment_ends_at_junctions():
    levels = np.zeros((9, 9), np.uint8)
    levels[4, :] = levels[:, 4] = 200
    left = fold(levels, 64, [Edit("delete", {"at": [0, 4], "scope": "segment"})])
    assert not left[4, :4].any()
    assert left[4, 5:].all()
    assert left[:, 4].all()
    alone = fold(levels, 64, [Edit("delete", {"at": [4, 4], "scope": "segment"})])
    assert alone.sum() == 16


def test_erased_pixels_stay_away_when_the_threshold_falls():
    levels = np.full((5, 9), 50, np.uint8)
    steps = [Edit("erase", {"radius": 1, "points": [4, 2]}), Edit("threshold", {"level": 10})]
    found = fold(levels, 64, steps)
    assert found.sum() == 45 - 5


def test_a_lasso_removes_what_lies_inside():
    """Where no pixel centre lies on the line, inside is what matplotlib calls so."""
    from matplotlib.path import Path

    rng = np.random.default_rng(8)
    levels = np.full((40, 50), 9, np.uint8)
    for _ in range(10):
        corners = np.stack([rng.integers(0, 50, 7), rng.integers(0, 40, 7)], axis=1)
        points = corners.ravel().tolist()
        removed = ~fold(levels, 1, [Edit("lasso", {"points": points})])
        ring = fold(np.zeros_like(levels), 1, [Edit("draw", {"points": [*points, *points[:2]]})])
        assert removed[ring].all()
        columns, rows = np.meshgrid(np.arange(50), np.arange(40))
        closed = Path([*corners, corners[0]], closed=True)
        inside = closed.contains_points(np.stack([columns.ravel(), rows.ravel()], axis=1)).reshape(40, 50)
        turns = np.array([[crossings(points, x, y) for x in range(50)] for y in range(40)])
        even_odd = turns % 2 == 1
        assert np.array_equal(removed, even_odd | ring)
        clear = ~ring & (turns < 2)
        assert np.array_equal(removed[clear], inside[clear])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40, 41, 500])
def test_crossings_are_sorted(count):
    values = np.random.default_rng(count).integers(-9, 1 + count, count)
    expected = np.sort(values)
    _sort(values)
    np.testing.assert_array_equal(values, expected)


def test_a_lasso_leaves_no_mark_where_nothing_can_be():
    levels = np.zeros((5, 5), np.uint8)
    levels[2, 2] = 80
    ring = Edit("lasso", {"points": [0, 0, 4, 0, 4, 4, 0, 4]})
    shown = Edit("reveal", {"radius": 3, "points": [2, 2], "level": 80})
    assert not fold(levels, 40, [ring]).any()
    assert np.argwhere(fold(levels, 200, [ring, shown])).tolist() == [[2, 2]]
    assert not fold(levels, 200, [Edit("reveal", {"radius": 3, "points": [2, 2], "level": 81})]).any()


def test_runs_bring_a_map_back():
    rng = np.random.default_rng(1)
    mask = rng.random((7, 11)) < 0.4
    edit = check_edit("replace", {"runs": runs_of(mask)}, mask.shape)
    assert np.array_equal(fold(np.full((7, 11), 99, np.uint8), 1, [edit]), mask)


def test_runs_are_those_of_a_plain_loop():
    rng = np.random.default_rng(4)
    for density in (0, 0.1, 0.5, 0.9, 1):
        mask = rng.random((9, 14)) < density
        found = [
            place
            for start, length in np.reshape(runs_of(mask), (-1, 2))
            for place in range(start, start + length)
        ]
        assert found == np.flatnonzero(mask).tolist()
        starts = np.diff(np.concatenate(([0], mask.ravel().astype(int)))) == 1
        assert runs_of(mask)[::2] == np.flatnonzero(starts).tolist()


def test_a_map_of_too_many_runs_is_refused_before_they_are_listed(monkeypatch):
    board = np.indices((8, 8)).sum(axis=0) % 2 == 0
    monkeypatch.setattr("edgecritic.maps.fold.MOST_RUNS", 58)
    assert len(runs_of(board)) == 58  # 32 pixels, of which 3 pairs touch where a row ends
    monkeypatch.setattr("edgecritic.maps.fold.MOST_RUNS", 56)
    with pytest.raises(InputError, match="more than 28 runs"):
        runs_of(board)


def test_undo_reaches_back_without_limit():
    ops = ["draw"] * 500 + ["undo"] * 500
    assert counting(ops) == []
    assert counting([*ops, "redo"]) == [0]


def test_segments_agree_with_the_plain_rules():
    """The way from pixel to pixel as the rule says it, on maps of thick and thin lines."""
    rng = np.random.default_rng(3)
    for density in (0.2, 0.4, 0.7, 0.95, 1.0):
        for _ in range(6):
            on = rng.random((37, 45)) < density
            places = np.argwhere(on)
            y, x = (int(value) for value in places[rng.integers(len(places))])
            found = fold(on.astype(np.uint8), 1, [Edit("delete", {"at": [x, y], "scope": "segment"})])
            np.testing.assert_array_equal(on & ~found, slow_segment(on, y, x))


AROUND = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def slow_segment(on, y, x):
    wide = np.pad(on, 2)
    ring = np.array([np.roll(wide, (-down, -right), (0, 1)) for down, right in AROUND])
    junction = wide & ((ring & ~np.roll(ring, 1, axis=0)).sum(axis=0) >= 3)
    beside = np.any([np.roll(junction, (-down, -right), (0, 1)) for down, right in AROUND], axis=0)
    found, waiting = {(y + 2, x + 2)}, [(y + 2, x + 2)]
    while waiting:
        here = waiting.pop()
        for down, right in AROUND if not junction[here] else ():
            there = (here[0] + down, here[1] + right)
            open_way = wide[there] and not junction[there] and not (beside[here] and beside[there])
            if open_way and there not in found:
                found.add(there)
                waiting.append(there)
    result = np.zeros_like(wide)
    result[tuple(np.transpose(list(found)))] = True
    return result[2:-2, 2:-2]


def test_specks_of_a_large_image_can_be_removed_some_times_only():
    shape = (4000, 6000)
    ops = ["despeckle", "draw"] * 4
    check_specks(ops, shape)
    check_specks([*ops, "undo", "undo", "despeckle"], shape)
    check_specks([*ops[:-1], "despeckle", "despeckle"], shape)
    check_specks([*ops, "clear", "despeckle"], shape)
    with pytest.raises(InputError, match="at most 4 times; undo"):
        check_specks([*ops, "despeckle"], shape)


@pytest.mark.parametrize(
    ("op", "data"),
    [
        ("paint", {}),
        ("draw", {}),
        ("draw", {"points": []}),
        ("draw", {"points": [1]}),
        ("draw", {"points": [1.0, 2.0]}),
        ("draw", {"points": [True, False]}),
        ("draw", {"points": [99, 0]}),
        ("draw", {"points": [-1, 0]}),
        ("draw", {"points": [0, 0], "more": 1}),
        ("draw", {"points": [0, 0, WIDTH - 1, 0] * 4000}),
        ("draw", {"points": [0, 0] * 16_001}),
        ("erase", {"radius": 1, "points": [0, 0] * 4_101}),
        ("erase", {"radius": 65, "points": [0, 0]}),
        ("lasso", {"points": [0, 0] * 4_101}),
        ("lasso", {"points": [0, HEIGHT]}),
        ("reveal", {"radius": 1, "points": [0, 0], "level": 0}),
        ("paint", {"radius": 1, "points": [0, 0], "class": 9, "on": True}),
        ("paint", {"radius": 1, "points": [0, 0], "class": 1, "on": 1}),
        ("reveal", {"radius": 1, "points": [0, 0]}),
        ("despeckle", {"size": 1}),
        ("threshold", {"level": 0}),
        ("threshold", {"level": "9"}),
        ("delete", {"at": [0, 0], "scope": "all"}),
        ("delete", {"at": [0, 0, 1, 1], "scope": "segment"}),
        ("replace", {"runs": [0]}),
        ("replace", {"runs": [5, 2, 6, 1]}),
        ("replace", {"runs": [0, HEIGHT * WIDTH + 1]}),
        ("undo", {"n": 1}),
        (None, None),
    ],
)
def test_bad_edits_are_refused(op, data):
    with pytest.raises(InputError):
        check_edit(op, data, (HEIGHT, WIDTH))
