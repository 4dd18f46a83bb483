"""Every command of the page about the papers runs on small generated data; studies leave their files."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write

PAGE = Path(__file__).parents[2] / "docs/explanation/papers.md"
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if line.startswith("edgecritic ")
]
SMALL = {
    "matching": ["--most", "1", "--inter", "2", "--canny", "1"],
    "pairing": ["--samples", "4", "--points", "30,60"],
    "noise": ["--snr", "4", "--scenes", "1"],
    "truths": ["--most", "1", "-d", "sobel", "canny(sigma=1)", "-m", "fom_star", "hausdorff"],
    "labels": ["--draws", "1"],
    "retrain": ["--most", "1", "--draws", "5"],
    "complexity": ["--most", "1"],
    "displacement": ["--reach", "2", "-m", "f_star", "fom_star"],
}
SLOW = ("noise", "truths", "pairing", "matching", "retrain")
"""Studies that take longer than a moment even on small data."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder laid out as BSDS500, with one image called like the one of Table 3, and what else is named."""
    home = tmp_path_factory.mktemp("papers")
    made = write(home / "made", 6)
    files = sorted((made / "truth").glob("*.mat"))
    for place, split in enumerate(("train", "val", "test")):  # no photo is in two of them
        for number, file in enumerate(files[2 * place : 2 * place + 2]):
            name = "86000" if (split, number) == ("val", 0) else f"{split}-{number}"
            (photo,) = (made / "images").glob(f"{file.stem}.*")
            (output,) = (made / "predictions" / "good").glob(f"{file.stem}.*")
            for source, folder in (
                (file, f"BSDS500/groundTruth/{split}"),
                (photo, f"BSDS500/images/{split}"),
                (output, f"ucm2/{split}"),
            ):
                (home / folder).mkdir(parents=True, exist_ok=True)
                shutil.copy(source, home / folder / f"{name}{source.suffix}")
    shutil.copy(home / "BSDS500/images/val/86000.png", home / "photo.png")
    (home / "answers.csv").write_text(
        "trial,subject,choice,scene,detector,mode,part,false_alarm\n1,ann,left,86000,gPb-ucm,hard,main,left\n"
    )
    return home


def parameters():
    for line in COMMANDS:
        words = shlex.split(line)[1:]
        slow = words[0] == "study" and words[1] in SLOW
        yield pytest.param(
            words, id=line.removeprefix("edgecritic "), marks=[pytest.mark.slow] if slow else []
        )


@pytest.mark.parametrize("words", list(parameters()))
def test_commands_of_the_papers_run(words, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    given = ["BSDS500/groundTruth/val" if word == "mni152" else word for word in words]
    if given[:2] == ["score", "sobel.png"]:
        assert main(["detect", "sobel", "photo.png", "--threshold", "0.5", "-o", "."]) == 0
        shutil.move("photo.png", "sobel.png")
        shutil.copy("BSDS500/images/val/86000.png", "photo.png")
        given[2] = "BSDS500/groundTruth/val/86000.mat"
    if "--beside" in given and not Path("labels/labels.json").exists():  # a command above it leaves it
        assert (
            main(["study", "labels", "--data", "BSDS500", "--split", "val", "--draws", "1", "-o", "labels"])
            == 0
        )
    small = SMALL.get(given[1], []) if given[0] == "study" else []
    status = main([*given, *small])
    told = capsys.readouterr()
    assert status == 0, told.err
    assert told.out
    if given[0] == "study" and "--out" in given:
        folder = Path(given[given.index("--out") + 1])
        there = {path.name for path in folder.iterdir()}
        assert {f"{given[1]}.json", "paper.csv", "report.html", "report.txt"} <= there
        assert any(name.endswith(".png") for name in there)
        json.loads((folder / f"{given[1]}.json").read_text(encoding="utf-8"))
        assert len(told.out.splitlines()) > 5
