"""Which files belong together, in every layout."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import DataError, InputError

MASK = np.eye(6, 8, dtype=bool)


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def truths_by_id(dataset, root):
    return {case.id: [str(path.relative_to(root)) for path in case.truths] for case in dataset}


def test_names_match_by_stem_in_natural_order(tmp_path):
    predictions = touch(tmp_path / "p", "im10.png", "im2.npy", "im1.mat", ".hidden", "notes.doc")
    truth = touch(tmp_path / "t", "im1.mat", "im2.png", "im10.nii.gz")
    dataset = find_cases(predictions, truth)
    assert [case.id for case in dataset] == ["im1", "im2", "im10"]
    assert dataset.problems() == []
    assert [path.name for path in dataset.ignored] == ["notes.doc"]
    assert dataset.layout == "one file per image"


def test_missing_names_on_both_sides_are_reported(tmp_path):
    predictions = touch(tmp_path / "p", "a.png", "b.png", "only_p.png")
    truth = touch(tmp_path / "t", "a.png", "b.png", "only_t.png")
    images = touch(tmp_path / "i", "a.jpg")
    masks = touch(tmp_path / "m", "b.png")
    dataset = find_cases(predictions, truth, images=images, masks=masks)
    assert len(dataset) == 2
    assert dataset.without_truth == ("only_p",)
    assert dataset.without_prediction == ("only_t",)
    assert dataset.without_image == ("b",)
    assert dataset.without_mask == ("a",)
    assert dataset.cases[0].image == images / "a.jpg"
    assert dataset.cases[1].mask == masks / "b.png"
    assert len(dataset.problems()) == 4
    assert "only_p" in dataset.problems()[0]


def test_folders_within_folders(tmp_path):
    names = ("day/1.png", "day/2.png", "night/rain/1.png")
    predictions = touch(tmp_path / "p", *names, "day/notes.doc")
    truth = touch(tmp_path / "t", *names, "night/2.png")
    images = touch(tmp_path / "i", "day/1.jpg")
    dataset = find_cases(predictions, truth, images=images)
    assert truths_by_id(dataset, truth) == {
        "day/1": ["day/1.png"],
        "day/2": ["day/2.png"],
        "night/rain/1": ["night/rain/1.png"],
    }
    assert dataset.without_prediction == ("night/2",)
    assert dataset.cases[0].image == images / "day/1.jpg"
    assert [path.name for path in dataset.ignored] == ["notes.doc"]
    assert dataset.layout == "the folders of the predictions"


def test_very_deep_folders_are_refused(tmp_path):
    with pytest.raises(DataError, match="folders deep"):
        find_cases(touch(tmp_path / "p", "a/" * 20 + "1.png"), touch(tmp_path / "t", "a/1.png"))


def test_without_any_common_name_both_sides_are_quoted(tmp_path):
    truth = touch(tmp_path / "t", "a1_mask.png", "a2_mask.png", "a3_mask.png")
    told, remedy = find_cases(touch(tmp_path / "p", "a1.png", "a2.png"), truth).no_case()
    assert "called a1, a2; truths a1_mask, a2_mask, … (3 in all)" in told
    assert "pair list" in remedy
    nets = touch(tmp_path / "nets", "old/a1_mask.png", "new/a1_mask.png")
    assert "one by one" in find_cases(nets, truth).no_case()[1]
    (tmp_path / "empty").mkdir()
    assert "no predictions" in find_cases(tmp_path / "empty", truth).no_case()[0]
    assert "no truths" in find_cases(truth, tmp_path / "empty").no_case()[0]


def test_two_files_of_one_name_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"several files called 'a' \(a\.npy, a\.png\)"):
        find_cases(touch(tmp_path / "p", "a.png", "a.npy"), touch(tmp_path / "t", "a.png"))


def test_numbered_files_are_annotators(tmp_path):
    predictions = touch(tmp_path / "p", "4100_left.png", "v1.5.png")
    truth = touch(tmp_path / "t", "4100_left.10.png", "4100_left.2.png", "4100_left.1.png", "v1.5.png")
    found = truths_by_id(find_cases(predictions, truth), truth)
    assert found["4100_left"] == ["4100_left.1.png", "4100_left.2.png", "4100_left.10.png"]
    assert found["v1.5"] == ["v1.5.png"]


def test_one_folder_per_image(tmp_path):
    predictions = touch(tmp_path / "p", "a.png", "b.png")
    truth = touch(tmp_path / "t", "a/anna.png", "a/bert.png", "b/anna.png")
    dataset = find_cases(predictions, truth)
    assert truths_by_id(dataset, truth) == {"a": ["a/anna.png", "a/bert.png"], "b": ["b/anna.png"]}
    assert dataset.layout == "one folder per image"


def test_one_folder_per_annotator(tmp_path):
    predictions = touch(tmp_path / "p", "a.png", "b.png")
    truth = touch(tmp_path / "t", "1105/a.seg", "1105/b.seg", "1102/a.seg")
    dataset = find_cases(predictions, truth)
    assert truths_by_id(dataset, truth) == {"a": ["1102/a.seg", "1105/a.seg"], "b": ["1105/b.seg"]}
    assert dataset.layout == "one folder per annotator"


def test_bsds_tree(tmp_path):
    root = tmp_path / "BSDS500"
    for split, name in (("train", "1"), ("val", "2"), ("test", "3")):
        touch(root / "data", f"groundTruth/{split}/{name}.mat", f"images/{split}/{name}.jpg")
    predictions = touch(tmp_path / "p", "2.png")
    for place in (root, root / "data", root / "data/groundTruth", root / "data/groundTruth/val"):
        dataset = find_cases(predictions, place)
        assert [case.id for case in dataset] == ["2"]
        assert dataset.cases[0].image == root / "data/images/val/2.jpg"
        assert dataset.problems() == []
    assert find_cases(predictions, root, split="test").problems() == [
        "no truth for 1 prediction(s): 2",
        "no prediction for 1 truth(s): 3",
    ]
    assert len(find_cases(None, root)) == 3
    assert len(find_cases(touch(tmp_path / "q", "val/2.png", "test/3.png"), root)) == 2
    with pytest.raises(DataError, match="no split 'dev'"):
        find_cases(predictions, root, split="dev")


@pytest.mark.parametrize("form", ["spaces", "tabs", "json"])
def test_pair_lists(tmp_path, form):
    rows = [
        ["imgs/x 1.png" if form != "spaces" else "imgs/x1.png", "gt/one.png"],
        ["imgs/y.jpg", "gt/two.png"],
    ]
    separator = "\t" if form == "tabs" else " "
    text = (
        json.dumps(rows) if form == "json" else "# list\n\n" + "\n".join(separator.join(row) for row in rows)
    )
    (tmp_path / "test_pair.lst").write_text(text)
    name = "x1" if form == "spaces" else "x 1"
    dataset = find_cases(touch(tmp_path / "p", f"{name}.png", "y.png"), tmp_path / "test_pair.lst")
    assert [case.id for case in dataset] == [name, "y"]
    assert dataset.cases[0].truths == (tmp_path / "gt/one.png",)
    assert dataset.cases[1].image == tmp_path / "imgs/y.jpg"


def test_one_prediction_and_one_truth_may_have_other_names(tmp_path):
    touch(tmp_path, "mine.png", "truth.mat")
    (case,) = find_cases(tmp_path / "mine.png", tmp_path / "truth.mat")
    assert case.id == "mine"
    assert case.truths == (tmp_path / "truth.mat",)


def test_cases_load_after_pickling(tmp_path):
    write_map(tmp_path / "p/a.png", MASK * 0.2)
    write_bsds_mat(tmp_path / "t/a.mat", [MASK, ~MASK])
    write_map(tmp_path / "m/a.png", MASK)
    dataset = find_cases(tmp_path / "p", tmp_path / "t", masks=tmp_path / "m")
    case = pickle.loads(pickle.dumps(dataset)).cases[0]
    assert np.array_equal(case.load_strength(), MASK * 0.2)
    assert np.array_equal(case.load_truths()[1], ~MASK)
    assert np.array_equal(case.load_mask(), MASK)
    with pytest.raises(DataError, match="a: has no image"):
        case.load_image()


def test_annotators_of_different_sizes_are_refused(tmp_path):
    write_map(tmp_path / "t/a/1.png", MASK)
    write_map(tmp_path / "t/a/2.png", MASK.T)
    (case,) = find_cases(None, tmp_path / "t")
    with pytest.raises(InputError, match="a: the annotators' maps differ in shape"):
        case.load_truths()


def test_no_file_is_opened(tmp_path, monkeypatch):
    touch(tmp_path / "p", *(f"{n}.png" for n in range(50)))
    touch(tmp_path / "t", *(f"{n}.mat" for n in range(50)))
    monkeypatch.setattr("builtins.open", None)
    monkeypatch.setattr("pathlib.Path.open", None)
    assert len(find_cases(tmp_path / "p", tmp_path / "t")) == 50


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: cannot be listed"):
        find_cases(tmp_path / "nowhere", tmp_path)


@pytest.mark.data
def test_real_folders(data):
    dataset = find_cases(data / "bsds500/ucm2/val", data / "bsds500")
    assert len(dataset) == 100
    assert dataset.problems() == []
    counts = [len(case.load_truths()) for case in dataset.cases[:10]]
    assert min(counts) >= 5
    assert max(counts) <= 8
    assert dataset.cases[0].load_image().shape == dataset.cases[0].load_strength().shape
