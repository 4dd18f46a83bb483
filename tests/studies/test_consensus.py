"""Truth without people: votes and central maps against the formulas written out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.files import read_mask
from edgecritic.datasets.write import write_map
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.measures import score
from edgecritic.studies.consensus import consensus, most_central


def noisy_maps(number=6, seed=0, grade=1):
    rng = np.random.default_rng(seed)
    truth = np.zeros((30, 40), bool)
    truth[8, 3:37] = truth[8:25, 20] = True
    return truth, [
        (truth & (rng.random(truth.shape) < 0.9)) | (rng.random(truth.shape) < 0.01 * (1 + grade * k))
        for k in range(number)
    ]


def test_levels_equal_the_formulas_written_out():
    """Means over maps of counts against each level, one pixel at a time."""
    _, maps = noisy_maps()
    found = consensus(maps)
    votes = sum(one.astype(int) for one in maps)
    size, number = votes.size, len(maps)
    expected, apart = [], []
    for level in range(1, number + 1):
        tp = fp = fn = tn = 0.0
        for one in maps:
            for set_, vote in zip(one.ravel(), votes.ravel(), strict=True):
                wanted = vote >= level
                tp += set_ and wanted
                fp += set_ and not wanted
                fn += wanted and not set_
                tn += not set_ and not wanted
        tp, fp, fn, tn = (count / size / number for count in (tp, fp, fn, tn))
        q, p, tpr, fpr = tp + fp, tp + fn, tp / (tp + fn), fp / (fp + tn)
        assert (found.tpr[level - 1], found.fpr[level - 1]) == pytest.approx((tpr, fpr))
        expected.append((tpr - q) / (1 - q) * (q - fpr) / q)
        ends = np.array([0.0, 1.0]), np.array([p, p])
        along, to = ends[1] - ends[0], np.array([fpr, tpr]) - ends[0]
        apart.append(abs(along[0] * to[1] - along[1] * to[0]) / np.hypot(*along))
    assert found.chi2 == pytest.approx(expected)
    assert found.from_line == pytest.approx(apart)
    assert found.level == 1 + int(np.argmax(expected))
    assert consensus(maps, method="roc").level == 1 + int(np.argmin(apart))
    assert np.array_equal(found.truth, votes >= found.level)
    assert found.scores == pytest.approx([score(one, found.truth, "chi2").mean["chi2"] for one in maps])


def test_votes_find_a_truth_better_than_its_maps():
    truth, maps = noisy_maps(9, grade=0)
    best = max(score(one, truth, "f").mean["f"] for one in maps)
    estimate = consensus(maps, method="roc").truth
    assert score(estimate, truth, "f").mean["f"] > best


def test_displaced_maps_vote_together_after_matching():
    edge = np.zeros((20, 30), bool)
    edge[10, 4:26] = True
    maps = [np.roll(edge, shift, axis=0) for shift in (-1, 0, 1)]
    assert consensus(maps).truth.sum() == 3 * edge.sum()  # pixel by pixel all have one vote
    for method in ("chi2", "roc"):
        found = consensus(maps, method=method, tolerance=2)
        assert np.array_equal(found.truth, edge)  # the middle of each unit
        assert found.tpr == pytest.approx([1, 1, 1])
        assert found.scores == pytest.approx([1, 1, 1])
    other = np.zeros_like(edge)
    other[:, 2] = True
    assert np.array_equal(consensus([*maps, other], method="chi2", tolerance=2).truth, edge)


def test_units_of_maps_that_lie_on_each_other_are_their_pixels():
    """Within less than a pixel nothing but the same pixel is matched: the counts are those of pixels."""
    _, maps = noisy_maps()
    one, two = consensus(maps), consensus(maps, tolerance=0.5)
    assert (two.level, two.chi2.tolist()) == (one.level, pytest.approx(one.chi2.tolist()))
    assert np.array_equal(one.truth, two.truth)
    assert two.scores == pytest.approx(one.scores)
    nothing = np.zeros((4, 5), bool)
    with pytest.warns(UndefinedMeasureWarning):
        assert not consensus([nothing, nothing], tolerance=2).truth.any()
    with pytest.raises(InputError, match="for votes"):
        consensus(maps, method="minimax", tolerance=2)
    with pytest.raises(InputError, match="> 0"):
        consensus(maps, tolerance=-1)


def test_the_central_map_has_the_least_distance_to_the_others():
    _, maps = noisy_maps(4)
    apart = np.array([[score(a, b, "baddeley").mean["baddeley"] for b in maps] for a in maps])
    assert most_central(maps) == int(np.argmin(apart.sum(axis=1)))
    assert most_central(maps, largest=True) == int(np.argmin(apart.max(axis=1)))
    chosen = consensus(maps, method="minimean")
    assert np.array_equal(chosen.truth, maps[chosen.chosen])
    with pytest.raises(InputError, match="no dissimilarity"):
        most_central(maps, distance="f")
    with pytest.raises(InputError, match="two maps or more"):
        consensus(maps[:1])
    with pytest.raises(InputError, match="must be one of"):
        consensus(maps, method="vote")


def test_the_command_writes_estimates_that_commands_take_as_truths(tmp_path, capsys):
    truth, maps = noisy_maps(3)
    for k, one in enumerate(maps):
        write_map(tmp_path / f"d{k}" / "a.png", one)
        write_map(tmp_path / f"d{k}" / "b.png", one[::-1])
    folders = [str(tmp_path / f"d{k}") for k in range(3)]
    out = tmp_path / "out"
    assert main(["consensus", *folders, "-o", str(out), "--quiet"]) == 0
    assert "agrees best with the estimated truths" in capsys.readouterr().out
    assert np.array_equal(read_mask(out / "truth" / "a.png"), consensus(maps).truth)
    assert main(["score", folders[0], "--truth", str(out / "truth"), "-m", "f", "--json"]) == 0
    capsys.readouterr()
    assert main(["consensus", *folders, "--tolerance", "1.5", "-o", str(tmp_path / "near"), "--quiet"]) == 0
    assert np.array_equal(
        read_mask(tmp_path / "near" / "truth" / "a.png"), consensus(maps, tolerance=1.5).truth
    )
    capsys.readouterr()
    assert main(["consensus", *folders, "--method", "minimax", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["chosen"] for row in found["images"]} <= {"d0", "d1", "d2"}
    write_map(tmp_path / "d0" / "c.png", truth)
    assert main(["consensus", *folders, "--quiet"]) == 1
    assert "d0: c: has no map in every folder" in capsys.readouterr().err
    for wrong, words in ((folders[:1], "two folders"), ([*folders, "--threshold", "0"], "threshold")):
        assert main(["consensus", *wrong]) == 1
        assert words in capsys.readouterr().err
