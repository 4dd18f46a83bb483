"""Work over folders from Python: scores, tunings and detections as values, resumable."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

from edgecritic.datasets.files import read_array
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.run import ScoreSettings, detect_folder, score_folder, tune_folder
from edgecritic.run import score as score_module
from edgecritic.run import tune as tune_module


def draw(seed):
    return np.random.default_rng(seed).random((12, 15)) < 0.2


@pytest.fixture
def home(tmp_path):
    for number in range(2):
        write_map(tmp_path / f"maps/{number}.png", draw(number))
        write_map(tmp_path / f"images/{number}.png", np.random.default_rng(number).random((12, 15)))
        write_bsds_mat(tmp_path / f"truth/{number}.mat", [draw(10 + number), draw(20 + number)])
    return tmp_path


DICE = ScoreSettings(measures=("dice",))


def dice(one, other):
    return 2 * np.count_nonzero(one & other) / (np.count_nonzero(one) + np.count_nonzero(other))


def counted(monkeypatch, module, name):
    calls = []
    real = getattr(module, name)

    def wrapped(*args, **options):
        calls.append(1)
        return real(*args, **options)

    monkeypatch.setattr(module, name, wrapped)
    return calls


def test_scores_of_a_folder_go_on_where_they_were(home, monkeypatch):
    calls = counted(monkeypatch, score_module, "score_files")
    found = score_folder(home / "maps", home / "truth", settings=DICE, out=home / "out")
    expected = [np.mean([dice(draw(n), draw(10 + n)), dice(draw(n), draw(20 + n))]) for n in range(2)]
    assert [case.maps[0].scores["dice"] for case in found.cases.values()] == pytest.approx(expected)
    assert found.means["dice"] == pytest.approx(np.mean(expected))
    assert score_folder(home / "maps", home / "truth", settings=DICE, out=home / "out") == found
    assert len(calls) == 2
    write_map(home / "maps/1.png", draw(5))
    other = score_folder(home / "maps", home / "truth", settings=DICE, out=home / "out")
    assert len(calls) == 3
    assert other.cases["0"] == found.cases["0"]
    assert other.cases["1"] != found.cases["1"]
    score_folder(home / "maps", home / "truth", settings=DICE, out=home / "out", fresh=True)
    assert len(calls) == 5


def test_what_fails_is_a_value(home):
    write_map(home / "maps/1.png", np.ones((3, 3)))
    found = score_folder(home / "maps", home / "truth", settings=DICE)
    (failure,) = found.failures
    assert (failure.id, failure.path) == ("1", str(home / "maps/1.png"))
    assert found.as_dict()["failures"] == [{"id": "1", "path": failure.path, "message": failure.message}]


def test_tunings_go_on_where_they_were(home, monkeypatch):
    calls = counted(monkeypatch, tune_module, "tune")
    saved = []
    options = {
        "detectors": ["sobel", str(home / "maps")],
        "measures": ["jaccard"],
        "thresholds": 5,
        "out": home / "out",
        "each": lambda name, _tuning, image: saved.append((name, image.shape)),
    }
    found = tune_folder(home / "images", home / "truth", **options)
    assert sorted(saved) == [("0", (12, 15)), ("1", (12, 15))]
    assert tune_folder(home / "images", home / "truth", **options) == found
    assert len(calls) == len(saved) == 2
    write_map(home / "maps/0.png", draw(7))  # a saved map is an input as well
    tune_folder(home / "images", home / "truth", **options)
    assert len(calls) == 3


def test_detected_maps(home):
    found = detect_folder(home / "images", "sobel", home / "edges", threshold=0.5)
    assert [one.pixels for one in found.images] == [
        np.count_nonzero(read_array(home / f"edges/{number}.png")) for number in range(2)
    ]
    with pytest.raises(InputError, match="from 0 to 1"):
        detect_folder(home / "images", "sobel", home / "edges", threshold=1.5)


def test_a_run_of_scores_silences_its_own_threads_only(tmp_path, monkeypatch):
    """A warning that another thread gives meanwhile is heard."""
    from edgecritic.run import score as module

    write_map(tmp_path / "maps/a.png", np.zeros((9, 9)))
    write_map(tmp_path / "truths/a.png", np.eye(9))
    real = module.score_files

    def while_another_warns(*given):
        other = threading.Thread(
            target=lambda: warnings.warn("of mine", UndefinedMeasureWarning, stacklevel=1)
        )
        other.start()
        other.join()
        return real(*given)

    monkeypatch.setattr(module, "score_files", while_another_warns)
    with pytest.warns(UndefinedMeasureWarning) as heard:
        module.score_folder(tmp_path / "maps", tmp_path / "truths", jobs=1)
    assert [str(one.message) for one in heard] == ["of mine"]
