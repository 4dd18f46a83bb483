"""Options mean the same everywhere; commands and studies are found by themselves."""

from __future__ import annotations

import argparse
import json
import struct

import numpy as np
import pytest

from edgecritic.cli.main import GROUPS, build_parser, main
from edgecritic.cli.study import find_studies
from edgecritic.datasets.write import write_bsds_mat, write_map

SHARED = (
    "--spacing",
    "--binarize",
    "--jobs",
    "--quiet",
    "--fresh",
    "--json",
    "--wait",
    "--no-cache",
    "--split",
)


def commands(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield name, command
                yield from commands(command)


@pytest.mark.parametrize("option", SHARED)
def test_shared_options_are_read_in_one_way(option):
    found = [
        (type(action).__name__, tuple(action.option_strings), action.nargs, action.type, action.dest)
        for name, command in commands(build_parser())
        if name not in ("studio", "serve")
        for action in command._actions
        if option in action.option_strings
    ]
    assert len(found) > 1
    assert len(set(found)) == 1


def test_every_command_has_its_place_in_the_help():
    named = [name for names in GROUPS.values() for name in names]
    (action,) = (one for one in build_parser()._actions if isinstance(one, argparse._SubParsersAction))
    assert sorted(named) == sorted(action.choices)
    page = build_parser().format_help()
    assert [page.index(f"\n{title}:") for title in GROUPS] == sorted(
        page.index(f"\n{title}:") for title in GROUPS
    )
    for name in named:
        assert f"\n  {name} " in page


def test_study_alone_lists_the_studies(capsys):
    assert main(["study"]) == 0
    shown = capsys.readouterr().out
    for study in find_studies():
        assert study.NAME in shown
        assert study.PAPER in shown
        assert study.TEXT in shown


def nifti(path, array, spacing):
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, array.ndim, *array.shape, *[1] * (7 - array.ndim))
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, *spacing, *[1] * (7 - array.ndim))
    struct.pack_into("<f", header, 108, 352)
    header[344:348] = b"n+1\0"
    path.write_bytes(bytes(header) + array.astype(np.uint8).tobytes(order="F"))


@pytest.fixture
def volumes(tmp_path):
    """Two planes, one voxel of 3 mm apart."""
    for name, plane in (("one", 1), ("two", 2)):
        volume = np.zeros((6, 6, 5), bool)
        volume[:, :, plane] = True
        nifti(tmp_path / f"{name}.nii", volume, (1, 1, 3))
    return [str(tmp_path / "one.nii"), str(tmp_path / "two.nii")]


@pytest.mark.parametrize(
    ("words", "hits"),
    [
        ([], 0),
        (["--spacing", "file"], 0),
        (["--spacing", "1"], 36),
        (["--spacing", "1", "1", "1"], 36),
        (["--spacing", "1,1,1"], 36),
    ],
)
@pytest.mark.filterwarnings("ignore:--spacing is")
def test_match_takes_the_voxel_size_of_the_file(volumes, capsys, words, hits):
    assert main(["match", *volumes, "--tolerance", "2", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tp"] == hits
    main(["match", *volumes, "--tolerance", "2", *words])
    assert "pixel size 1" in capsys.readouterr().out


def test_match_gives_its_pairs(tmp_path, capsys):
    first, second = np.zeros((5, 6), bool), np.zeros((5, 6), bool)
    first[1, 1:4] = second[2, 1:4] = True
    write_map(tmp_path / "a.png", first)
    write_map(tmp_path / "b.png", second)
    words = ["match", str(tmp_path / "a.png"), str(tmp_path / "b.png"), "--tolerance", "1"]
    assert main([*words, "--json", "--pairs"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert pairs == [{"candidate": [1, k], "truth": [2, k], "distance": 1.0} for k in (1, 2, 3)]
    assert main([*words, "--pairs"]) == 1
    assert "--pairs needs --json" in capsys.readouterr().err


LAYOUTS = {
    "a folder": lambda home, truth: write_map(home / "truth/a.png", truth) and home / "truth",
    "a .mat file each": lambda home, truth: write_bsds_mat(home / "truth/a.mat", [truth]) or home / "truth",
    "a folder each": lambda home, truth: write_map(home / "truth/a/1.png", truth) and home / "truth",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("single", [True, False])
def test_truths_of_every_layout_in_score_and_tune(tmp_path, capsys, layout, single):
    truth = np.random.default_rng(1).random((12, 15)) < 0.2
    place = str(tmp_path / "truth")
    LAYOUTS[layout](tmp_path, truth)
    write_map(tmp_path / "maps/a.png", truth)
    maps = str(tmp_path / "maps/a.png") if single else str(tmp_path / "maps")
    assert main(["score", maps, "--truth", place, "-m", "dice", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {"dice": 1.0}
    words = ["-d", str(tmp_path / "maps"), "-m", "dice", "--thresholds", "0.5", "--json"]
    assert main(["tune", maps, "--truth", place, *words]) == 0
    (measure,) = json.loads(capsys.readouterr().out)["images"]["a"]["measures"]
    assert measure["best"]["maps"]["value"] == 1.0


def test_the_oracle_is_the_best_of_both(tmp_path, capsys):
    truth = np.zeros((30, 40), bool)
    truth[10, 5:35] = True
    for image, good in (("a", "one"), ("b", "two")):
        write_map(tmp_path / f"truth/{image}.png", truth)
        for name in ("one", "two"):
            found = truth if name == good else np.roll(truth, 12, axis=0)
            write_map(tmp_path / f"{name}/{image}.png", found * 0.8)
    places = [
        str(tmp_path / "one"),
        str(tmp_path / "two"),
        "--truth",
        str(tmp_path / "truth"),
        "--bootstrap",
        "0",
    ]
    assert main(["bench", *places, "--oracle", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert [round(one["ods"]["f"], 6) for one in results["detectors"]] == [0.5, 0.5]
    oracle = results["oracle"]
    assert oracle["ods"]["f"] == oracle["ois"]["f"] == 1
    assert oracle["label"] == "oracle over the given predictions (upper bound)"
    assert main(["bench", *places, "--oracle", "--out", str(tmp_path / "out")]) == 0
    assert "oracle over the given predictions (upper bound)" in capsys.readouterr().out
    assert "oracle over the given predictions (upper bound)" in (tmp_path / "out/report.html").read_text()
    assert main(["bench", *places[:1], *places[2:], "--oracle"]) == 1
    assert "at least two detectors" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["match", "no.png", "no.png"], ["score", "no.png", "no.png"], ["bench", "no", "--truth", "no"]]
)
def test_a_command_that_fails_says_so_in_json_too(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--json"]) == 1
    out, told = capsys.readouterr()
    (failure,) = json.loads(out)["failures"]
    assert {"id", "path", "message"} <= set(failure)
    assert failure["message"] in told
