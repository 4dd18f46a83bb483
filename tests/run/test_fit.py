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
from edgecritic.run.bench import run_bench
from edgecritic.run.detect import detect_folder
from edgecritic.run.fit import Labels, fit_folder
from edgecritic.run.folds import cross_validate, folds_of
from edgecritic.run.seen import LIST
from edgecritic.run.strength import run_strength
from edgecritic.run.tune import tune_folder


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
    weighted = Labels.parse("weighted").marks(maps)
    assert weighted.boundary.any(axis=1).nonzero()[0].tolist() == [5, 20, 28]
    assert weighted.weight is not None
    assert weighted.weight[[5, 20, 28], 0].tolist() == pytest.approx([1, 2 / 3, 1 / 3])
    assert Labels.parse("all").marks(maps).weight is None
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
    maps = tmp_path / "maps"
    found = detect_folder(home / "images", detector, maps, seen=True)
    assert [one.learned_from for one in found.images] == [True] * 3
    with pytest.raises(DataError, match="pb has learned from this photo"):
        run_bench({"own": maps}, home / "truth", draws=0, human=False, extras=())
    listed = json.loads((maps / LIST).read_text())
    (maps / LIST).write_text(json.dumps(dict(list(listed.items())[:2])))  # as if one were of another model
    judged = run_bench({"own": maps}, home / "truth", draws=0, human=False, extras=())
    assert [one.id for one in judged.failures] == list(listed)[:2]
    assert list(judged.details["own"].counts) == list(listed)[2:]
    (maps / LIST).write_text(json.dumps(listed))
    assert len(run_bench({"own": maps}, home / "truth", draws=0, human=False, seen=True).details) == 1
    with pytest.raises(DataError, match="has learned from this photo"):
        run_strength({"own": maps}, home / "truth", draws=0, cache=False)
    tuned = tune_folder(home / "images", home / "truth", detectors=[detector], measures=["f"], jobs=1)
    assert len(tuned.failures) == 3
    assert "has learned from this photo" in tuned.failures[0].message
    taken = tune_folder(
        home / "images", detectors=[detector], measures=["complexity"], thresholds=3, seen=True, jobs=1
    )
    assert len(taken.images) == 3
    # Maps of a detector that has not learned from these photos take the place of the others.
    assert (maps / LIST).exists()
    assert len(detect_folder(home / "images", "pb", maps).images) == 3
    assert not (maps / LIST).exists()
    (maps / LIST).write_text("[]")
    with pytest.raises(DataError, match="no list of maps"):
        run_bench({"own": maps}, home / "truth", draws=0, human=False)


def test_cross_validation(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = cross_validate(
        home / "images", home / "truth", folds=3, out=tmp_path, cache=False, draws=9, jobs=1
    )
    assert [len(model.photos) for model in found.models] == [2, 2, 2]
    assert set.intersection(*(set(model.photos) for model in found.models)) == set()
    cases = module.photo_cases(home / "images", home / "truth")
    assert sorted(found.result.counts) == sorted(case.id for case in cases)
    assert not found.failures
    assert 0 < found.result.ods.f <= 1
    assert "3 folds" in str(found)
    # The map of a photo is that of the model without it.
    for number, part in enumerate(folds_of(sorted(found.result.counts), 3, 0), start=1):
        assert set(part).isdisjoint(load_model(tmp_path / f"{number}.json").photos)
    with pytest.raises(InputError, match="folds"):
        folds_of(["a", "b"], 3, 0)
    where = [str(home / "images"), "--truth", str(home / "truth"), "--out", str(tmp_path / "m.json")]
    assert main(["fit", "pb", *where, "--folds", "3", "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)["cross_validation"]
    assert told["digests"] == [model.digest for model in found.models]
    assert told["ods"] == pytest.approx(found.result.ods.f)


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
