"""Learning from folders, the command `fit`, and photos that a detector has learned from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write
from edgecritic.errors import DataError, InputError
from edgecritic.learned import fit, load_model
from edgecritic.run import fit as module
from edgecritic.run.detect import detect_folder
from edgecritic.run.fit import Labels, fit_folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data"), 3)


def test_a_folder_gives_the_model_of_its_arrays(home: Path) -> None:
    from edgecritic.run.images import load_image

    found = fit_folder(home / "images", home / "truth", labels=[Labels()], cache=False, jobs=2)
    cases = module.photo_cases(home / "images", home / "truth")
    photos = {case.id: load_image(case.image, grey=False)[0] for case in cases if case.image}
    twin = fit(photos, {case.id: case.load_truths() for case in cases})
    assert found.models["all"].digest == twin.digest
    assert not found.failures


def test_a_run_that_was_stopped_goes_on(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"labels": [Labels.parse("consensus"), Labels.parse("0.5", "ignore")], "records": tmp_path}
    first = fit_folder(home / "images", home / "truth", **options, cache=False, jobs=1)  # type: ignore[arg-type]
    assert list(first.models) == ["consensus", "strength ≥ 0.5, weak left out"]
    monkeypatch.setattr(module, "load_image", None)  # nothing is read again
    again = fit_folder(home / "images", home / "truth", **options, cache=False, jobs=1)  # type: ignore[arg-type]
    assert again == first


def test_marks_by_strength() -> None:
    maps = [np.zeros((30, 30), bool) for _ in range(3)]
    for one in maps:
        one[5] = True
    maps[0][20] = maps[1][20] = True
    maps[0][28] = True
    strong = Labels.parse("consensus").marks(maps)
    assert strong.boundary.any(axis=1).nonzero()[0].tolist() == [5]
    assert strong.unsure is None
    most = Labels.parse(0.6, "ignore").marks(maps)
    assert most.boundary.any(axis=1).nonzero()[0].tolist() == [5, 20]
    assert most.unsure is not None
    assert most.unsure.any(axis=1).nonzero()[0].tolist() == [28]
    assert Labels.parse("all").marks(maps).boundary.any(axis=1).nonzero()[0].tolist() == [5, 20, 28]
    for wrong in ("some", 1.5, "nan"):
        with pytest.raises(InputError, match="labels must be"):
            Labels.parse(wrong)


def test_the_command_and_photos_that_were_seen(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.json"
    where = [str(home / "images"), "--truth", str(home / "truth"), "--out", str(model), "--json", "-q"]
    assert main(["fit", "pb", *where]) == 0
    told = json.loads(capsys.readouterr().out)["models"][0]
    assert told["digest"] == load_model(model).digest
    detector = f"pb(model='{model}')"
    refused = detect_folder(home / "images", detector, tmp_path / "maps")
    assert len(refused.failures) == 3
    assert "has learned from this photo" in refused.failures[0].message
    assert len(detect_folder(home / "images", detector, tmp_path / "maps", seen=True).images) == 3
    assert len(detect_folder(home / "images", "pb", tmp_path / "maps").images) == 3


def test_bad_folders_and_photos(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises((DataError, InputError)):
        fit_folder(tmp_path / "empty", home / "truth", cache=False)
    photos = tmp_path / "photos"
    photos.mkdir()
    files = sorted((home / "images").iterdir())
    for file in files:
        (photos / file.name).write_bytes(file.read_bytes())
    (photos / files[0].name).write_bytes(b"damaged")
    found = fit_folder(photos, home / "truth", cache=False, jobs=1)
    assert len(found.failures) == 1
    assert len(found.models["all"].photos) == 2
