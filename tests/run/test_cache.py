"""What is kept across runs: the labels of annotators are matched once, the results stay the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from edgecritic.annotators.perceptual import strength
from edgecritic.datasets.files import read_truths
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import write_map
from edgecritic.protocols.human import human_counts
from edgecritic.run import cache
from edgecritic.run.annotators import run_annotators
from edgecritic.run.bench import run_bench
from edgecritic.run.strength import run_strength


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("EDGECRITIC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "truths"


@pytest.fixture
def matched(monkeypatch):
    """How often annotators were matched."""
    calls = []

    def counted(*args, **options):
        calls.append(1)
        return strength(*args, **options)

    monkeypatch.setattr(cache, "strength", counted)
    return calls


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data", 2, detectors=("good", "noisy"))


def test_a_second_bench_with_other_predictions_matches_no_annotators(tmp_path, data, place, matched):
    run_bench({"a": data / "predictions/good"}, data / "truth", out=tmp_path / "one", draws=10)
    assert len(matched) == 2
    assert len(list(place.glob("*.json"))) == 2  # of every image the labels
    assert len((place / "people.lines").read_text().split()) == 6  # and the counts of them
    run_bench({"a": data / "predictions/noisy"}, data / "truth", out=tmp_path / "two", draws=10)
    assert len(matched) == 2
    run_bench(
        {"a": data / "predictions/noisy"}, data / "truth", out=tmp_path / "three", draws=10, cache=False
    )
    assert len(matched) == 4
    kept, computed = ((tmp_path / name / "results.json").read_bytes() for name in ("two", "three"))
    assert kept == computed
    run_bench({"a": data / "predictions/noisy"}, data / "truth", draws=0, fresh=True)
    assert len(matched) == 6


def test_annotators_and_strength_use_the_same_records(data, place, matched):
    first = run_annotators(data / "truth")
    assert len(matched) == len(list(place.glob("*.json"))) == 2
    assert run_annotators(data / "truth") == first == run_annotators(data / "truth", cache=False)
    assert len(matched) == 4
    run_bench({"a": data / "predictions/good"}, data / "truth", draws=0)
    judged = run_strength({"a": data / "predictions/good"}, data / "truth", levels=(0, 0.5), draws=1)
    assert len(matched) == 4
    assert (
        run_strength({"a": data / "predictions/good"}, data / "truth", levels=(0, 0.5), draws=1, cache=False)
        == judged
    )


def test_the_labels_come_back_as_they_were(place):
    random = np.random.default_rng(0)
    maps = [random.random((20, 30)) < 0.1 for _ in range(4)]
    found = strength(maps, tolerance=2.0)
    assert cache.weigh_labels(maps, tolerance=2.0, cache=place) == found
    assert cache.weigh_labels(maps, tolerance=2.0, cache=place) == found
    assert len(list(place.iterdir())) == 1
    assert cache.weigh_labels(maps, tolerance=3.0, cache=place) == strength(maps, tolerance=3.0)
    assert cache.weigh_labels(maps[:2], tolerance=2.0, cache=place) == strength(maps[:2], tolerance=2.0)
    assert len(list(place.iterdir())) == 3


def test_people_are_counted_alike_with_and_without_the_cache(place, matched):
    random = np.random.default_rng(0)
    maps = [random.random((20, 30)) < 0.1 for _ in range(4)]
    expected = human_counts(maps, tolerance=2.0)
    assert cache.count_people(maps, source="a", tolerance=2.0) == expected
    for _ in range(2):
        assert cache.count_people(maps, source="a", tolerance=2.0, cache=place) == expected
    assert len(matched) == 2
    assert cache.weigh_labels(maps, tolerance=2.0, cache=place).human_counts() == expected
    assert (
        cache.count_people(maps, source="the same from other files", tolerance=2.0, cache=place) == expected
    )
    assert len(matched) == 2
    options = {"source": "a", "cache": place}
    assert cache.count_people(maps, tolerance=3.0, **options) == human_counts(maps, tolerance=3.0)
    sizes = {"tolerance": 2.0, "spacing": (1.0, 2.0)}
    assert cache.count_people(maps, **sizes, **options) == human_counts(maps, **sizes)


def test_people_are_counted_anew_where_truths_or_their_reading_are_others(data, place):
    """Of truths, masks, thresholds and rules each has an effect, so none may find the counts of another."""

    def human(**options):
        run = run_bench({"a": data / "predictions/good"}, truth, draws=0, **options)
        return run.results["human"]

    truth, masks = data / "truth", data / "masks"
    masks.mkdir()
    names = sorted(path.stem for path in truth.iterdir())
    half = np.zeros(read_truths(next(truth.iterdir()))[0].shape, dtype=bool)
    half[: half.shape[0] // 2] = True
    for name in names:
        write_map(masks / f"{name}.png", half)
    found = [human(), human(masks=masks), human(protocol="bsds(tolerance=1)")]
    for name in names:
        write_map(masks / f"{name}.png", ~half)
    found += [human(masks=masks)]
    for name in names:
        maps = read_truths(truth / f"{name}.mat")
        (truth / f"{name}.mat").unlink()
        np.savez(truth / f"{name}.npz", *(np.maximum(one, 0.4 * np.roll(one, 1, axis=0)) for one in maps))
    found += [human(binarize=share) for share in (0.3, 0.5)]
    assert found[0] == found.pop()  # the same maps, whose matching is known
    assert len({str(one) for one in found}) == len(found)
    anew = [human(binarize=share, cache=False) for share in (0.5, 0.3)]
    assert anew == [found[0], found[-1]]


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    for number in range(5):
        file = tmp_path / f"{number}.json"
        file.write_bytes(b"x" * 100)
        os.utime(file, (1000 + number, 1000 + number))
    cache.Store(tmp_path).touch("0")
    cache.trim_cache(tmp_path, 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.json", "4.json"]


def test_runs_keep_the_folder_within_its_bounds(data, place, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 1)
    run_annotators(data / "truth")
    assert list(place.glob("*.json")) == []


def test_a_cache_that_cannot_be_written_is_left_alone(data, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("EDGECRITIC_CACHE", str(tmp_path / "file"))
    assert not run_annotators(data / "truth").failed


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/edgecritic/truths"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/h/.cache/edgecritic/truths"),
        ("linux", {}, "/h/.cache/edgecritic/truths"),
        ("darwin", {}, "/h/Library/Caches/edgecritic/truths"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/edgecritic/truths"),
        ("linux", {"EDGECRITIC_CACHE": "/c"}, "/c/truths"),
        ("linux", {"EDGECRITIC_CACHE": "off"}, None),
        ("linux", {"EDGECRITIC_CACHE": "0"}, None),
    ],
)
def test_the_folder_follows_the_rules_of_the_platform(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "EDGECRITIC_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/h", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    found = cache.cache_folder()
    assert found == (None if expected is None else Path(expected))
