"""The command `edgecritic score`: tables, JSON, CSV, folders, bad files."""

from __future__ import annotations

import argparse
import csv
import io
import json

import numpy as np
import pytest

from edgecritic.cli import score as command
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.measures import assess, score

pytest.importorskip("edgecritic.datasets.files")


def main(*words):
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["score", *map(str, words)])
    return args.run(args)


def draw(seed):
    return np.random.default_rng(seed).random((12, 15)) < 0.2


@pytest.fixture
def files(tmp_path):
    for folder in ("maps", "truths"):
        (tmp_path / folder).mkdir()
    for number in range(3):
        np.save(tmp_path / "maps" / f"{number}.npy", draw(number))
        np.save(tmp_path / "truths" / f"{number}.npy", draw(10 + number))
    return tmp_path


def test_table_groups_by_family(files, capsys):
    assert main(files / "maps/0.npy", files / "truths/0.npy") == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == ["confusion", "figures of merit", "distances", "surfaces"]
    assert any(line.split()[:2] == ["hausdorff", "↓"] for line in lines)


def test_json_of_one_truth(files, capsys):
    assert (
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "fom", "-m", "baddeley(k=1)", "--json") == 0
    )
    expected = score(draw(0), draw(10), ["fom", "baddeley(k=1)"]).mean
    assert json.loads(capsys.readouterr().out) == {"scores": expected}


def test_several_truths_have_mean_best_and_each(files, capsys):
    main(files / "maps/0.npy", files / "truths/0.npy", files / "truths/1.npy", "-m", "dice", "--json")
    document = json.loads(capsys.readouterr().out)
    each = [score(draw(0), draw(seed), "dice")["dice"] for seed in (10, 11)]
    assert document["scores"]["dice"] == pytest.approx(sum(each) / 2)
    assert document["best"]["dice"] == max(each)
    assert [row["dice"] for row in document["annotators"]] == each


def test_csv_has_full_precision(files, capsys):
    main(files / "maps/0.npy", files / "truths/0.npy", "-m", "fom", "--csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(rows[0]["fom"]) == score(draw(0), draw(10), "fom")["fom"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_folder(files, capsys, jobs):
    words = (files / "maps", "--truth", files / "truths", "-m", "fom", "-j", jobs)
    assert main(*words, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    expected = {str(n): score(draw(n), draw(10 + n), "fom")["fom"] for n in range(3)}
    assert {name: image["scores"]["fom"] for name, image in document["images"].items()} == expected
    assert document["scores"]["fom"] == pytest.approx(sum(expected.values()) / 3)
    assert main(*words) == 0
    assert "3 images" in capsys.readouterr().out


def test_bad_files_are_reported_and_the_good_ones_scored(files, capsys):
    np.save(files / "maps" / "1.npy", np.zeros((5, 5), dtype=bool))
    assert main(files / "maps", "--truth", files / "truths", "-m", "fom", "--json") == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert set(document["images"]) == {"0", "2"}
    assert "same shape" in document["failures"]["1"]
    assert captured.err.startswith("1: ")


def test_without_truth(files, capsys):
    assert main(files / "maps/0.npy", "--alone", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"scores": assess(draw(0)).mean}
    assert main(files / "maps", "--alone", "-m", "entropy", "--csv") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_infinite_values_are_valid_json(files, capsys):
    np.save(files / "empty.npy", np.zeros((12, 15), dtype=bool))
    with pytest.warns(UserWarning, match="no edge pixels"):
        main(files / "maps/0.npy", files / "empty.npy", "-m", "gamma", "--json")
    assert json.loads(capsys.readouterr().out) == {"scores": {"gamma": "inf"}}


def test_spacing_changes_distances(files, capsys):
    main(files / "maps/0.npy", files / "truths/0.npy", "-m", "hausdorff", "--spacing", 2, "--json")
    found = json.loads(capsys.readouterr().out)["scores"]["hausdorff"]
    assert found == pytest.approx(2 * score(draw(0), draw(10), "hausdorff")["hausdorff"])


def test_regions_of_label_maps(files, capsys):
    first, second = np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 1]])
    np.save(files / "first.npy", first)
    np.save(files / "second.npy", second)
    assert main(files / "first.npy", files / "second.npy", "-m", "covering", "-m", "voi", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"scores": {"covering": 0.5, "voi": 1.0}}


@pytest.mark.data
def test_published_regions(data, capsys):
    root = data / "bsds_bench"
    words = root / "segs/2018.mat", root / "groundTruth/2018.mat", "-m", "covering", "--json"
    assert main(*words, "--level", 3) == 0
    found = json.loads(capsys.readouterr().out)["scores"]["covering"]
    assert found == pytest.approx(np.loadtxt(root / "test_4/eval_cover_img.txt")[0, 2], abs=2e-6)
    with pytest.raises(InputError, match="holds 5 segmentations"):
        main(*words)


def test_wrong_use(files):
    with pytest.raises(InputError, match="needs a truth"):
        main(files / "maps/0.npy")
    with pytest.raises(UnknownNameError, match="did you mean 'hausdorff'"):
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "hausdorf")
    with pytest.raises(InputError, match="no parameter"):
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "fom(kapa=1)")
