"""The changes that ``make mutants`` makes, and the list of those that mean nothing."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).with_name("mutants.py")))
SOURCE = '''
"""Text."""
Kind = int | None
LIMIT = 1 / 9

@measure(range=(0, 1), symmetric=True)
def m(values: 3, *, k=2):
    """More text."""
    check(k)
    total = 0
    for value in zip(values, strict=True):
        if value > k and not value == 7:
            total += value
    if total is None:
        raise InputError("never" + "mind")
    axes_of(None, (6, 4)).plot(k, 8, ms=5)
    axes.tick_params(length=3)
    return min(values[k:]) - total
'''


def changes(source=SOURCE):
    return [str(each) for each in TOOL["mutants_of"]("file", source)]


@pytest.mark.parametrize(
    "change",
    [
        "file.: LIMIT = 1 / 9  ->  LIMIT = 1 * 9",
        "file.: LIMIT = 1 / 9  ->  LIMIT = 2 / 9",
        "file.@m: @measure(range=(0, 1), symmetric=True)  ->  @measure(range=(0, 2), symmetric=True)",
        "file.@m: @measure(range=(0, 1), symmetric=True)  ->  @measure(range=(0, 1), symmetric=False)",
        "file.@m: def m(values: 3, *, k=2):  ->  def m(values: 3, *, k=3):",
        "file.m: check(k)  ->  pass",
        "file.m: if value > k and (not value == 7):  ->  if value >= k and (not value == 7):",
        "file.m: if value > k and (not value == 7):  ->  if value > k or not value == 7:",
        "file.m: if value > k and (not value == 7):  ->  if value > k and value == 7:",
        "file.m: if value > k and (not value == 7):  ->  if not (value > k and (not value == 7)):",
        "file.m: total += value  ->  total -= value",
        "file.m: total += value  ->  pass",
        "file.m: raise InputError('never' + 'mind')  ->  pass",
        "file.m: axes_of(None, (6, 4)).plot(k, 8, ms=5)  ->  axes_of(None, (6, 4)).plot(k, 9, ms=5)",
        "file.m: return min(values[k:]) - total  ->  return max(values[k:]) - total",
        "file.m: return min(values[k:]) - total  ->  return min(values[k + 1:]) - total",
        "file.m: return min(values[k:]) - total  ->  return None",
    ],
)
def test_what_is_changed(change):
    assert change in changes()


def test_what_is_left_alone():
    for word in ("values: 4", "Kind", "strict=False", "Text", "text", "'never' -"):
        assert not any(word in change.partition("->")[2] for change in changes())
    for word in ("(7, 4)", "(6, 5)", "ms=6", "length=4"):
        assert not any(word in change for change in changes())
    assert not any("tick_params" in change for change in changes())


def test_a_mutant_leaves_the_original_as_it_was():
    found = TOOL["mutants_of"]("file", SOURCE)
    before = [each.source() for each in found]
    assert len(set(before)) == len(found) > 30
    assert [each.source() for each in found] == before


def test_the_same_seed_gives_the_same_mutants():
    first, again, other = (
        TOOL["choose"](["measures.merit"], 5, seed)["measures"]["measures.merit"] for seed in (0, 0, 1)
    )
    assert [str(each) for each in first] == [str(each) for each in again] != [str(each) for each in other]


def test_equivalent_mutants_are_still_mutants():
    listed = TOOL["equivalent"]()
    modules = sorted({line.partition(":")[0].rpartition(".")[0] for line in listed})
    places = {line.partition(":")[0] for line in listed}
    found = {
        name
        for groups in TOOL["choose"](modules, None, 0).values()
        for group in groups.values()
        for each in group
        if each.place in places
        for name in (str(each), each.place)
    }
    assert listed <= found, sorted(listed - found)
