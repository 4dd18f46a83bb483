"""The command `edgecritic score`: tables, JSON, CSV, folders, bad files."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import struct

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.cli import score as command
from edgecritic.datasets.write import write_bsds_mat
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.measures import score, score_alone

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
    assert heads[0].startswith("judged in 2-D: an image of ")
    assert heads[1:] == ["confusion", "figures of merit", "distances", "surfaces"]
    assert any(line.split()[:2] == ["hausdorff", "↓"] for line in lines)


def test_json_of_one_truth(files, capsys):
    assert (
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "fom", "-m", "baddeley(k=1)", "--json") == 0
    )
    expected = score(draw(0), draw(10), ["fom", "baddeley(k=1)"]).mean
    assert json.loads(capsys.readouterr().out)["scores"] == expected


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
    (failure,) = document["failures"]
    assert failure["id"] == "1"
    assert failure["path"].endswith("1.npy")
    assert "same shape" in failure["message"]
    assert captured.err.startswith("edgecritic: 1: ")


def test_without_truth(files, capsys):
    assert main(files / "maps/0.npy", "--alone", "--json") == 0
    assert json.loads(capsys.readouterr().out)["scores"] == score_alone(draw(0)).mean
    assert main(files / "maps", "--alone", "-m", "entropy", "--csv") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_all_maps_of_a_file_without_truth(files, capsys):
    write_bsds_mat(files / "several.mat", [draw(0), draw(1)])
    assert main(files / "several.mat", "--alone", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    each = [score_alone(draw(seed)).mean for seed in (0, 1)]
    assert found["annotators"] == each
    assert found["scores"]["entropy"] == pytest.approx(np.mean([one["entropy"] for one in each]))
    assert main(files / "several.mat", "--alone", "--level", 2, "--json") == 0
    assert json.loads(capsys.readouterr().out)["scores"] == each[1]


def test_infinite_values_are_valid_json(files, capsys):
    np.save(files / "empty.npy", np.zeros((12, 15), dtype=bool))
    with pytest.warns(UserWarning, match="no edge pixels"):
        main(files / "maps/0.npy", files / "empty.npy", "-m", "gamma", "--json")
    assert json.loads(capsys.readouterr().out)["scores"] == {"gamma": "inf"}


def test_spacing_changes_distances(files, capsys):
    main(files / "maps/0.npy", files / "truths/0.npy", "-m", "hausdorff", "--spacing", 2, "--json")
    found = json.loads(capsys.readouterr().out)["scores"]["hausdorff"]
    assert found == pytest.approx(2 * score(draw(0), draw(10), "hausdorff")["hausdorff"])


def test_regions_of_label_maps(files, capsys):
    first, second = np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 1]])
    np.save(files / "first.npy", first)
    np.save(files / "second.npy", second)
    assert main(files / "first.npy", files / "second.npy", "-m", "covering", "-m", "voi", "--json") == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {"covering": 0.5, "voi": 1.0}


@pytest.mark.data
def test_published_regions(data, capsys):
    root = data / "bsds_bench"
    words = root / "segs/2018.mat", root / "groundTruth/2018.mat", "-m", "covering", "--json"
    assert main(*words, "--level", 3) == 0
    found = json.loads(capsys.readouterr().out)["scores"]["covering"]
    assert found == pytest.approx(np.loadtxt(root / "test_4/eval_cover_img.txt")[0, 2], abs=2e-6)
    with pytest.raises(InputError, match="holds 5 maps"):
        main(*words)


def test_wrong_use(files):
    with pytest.raises(InputError, match="needs a truth"):
        main(files / "maps/0.npy")
    with pytest.raises(UnknownNameError, match="did you mean 'hausdorff'"):
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "hausdorf")
    with pytest.raises(InputError, match="no parameter"):
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "fom(kapa=1)")


def nifti(path, array, spacing):
    """Write a volume as NIfTI-1, after the layout of its 348 bytes of header."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, array.ndim, *array.shape, *[1] * (7 - array.ndim))
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, *spacing, *[1] * (7 - array.ndim))
    struct.pack_into("<f", header, 108, 352)
    header[344:348] = b"n+1\0"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(header) + array.astype(np.uint8).tobytes(order="F"))


@pytest.fixture
def volumes(tmp_path):
    """Balls in voxels of 1 × 1 × 3 mm; one of them is missed."""
    ball = np.hypot(*np.ogrid[-8:9, -8:9])[..., None] <= np.full(6, 5.0)
    nifti(tmp_path / "truth/a.nii", ball, (1, 1, 3))
    nifti(tmp_path / "truth/b.nii", ball, (1, 1, 3))
    nifti(tmp_path / "found/a.nii", np.roll(ball, 2, axis=0), (1, 1, 3))
    nifti(tmp_path / "found/b.nii", np.zeros_like(ball), (1, 1, 3))
    return tmp_path, ball


def surface_distances(first, second, spacing):
    """Distances from the surface of one object to that of the other, voxel by voxel."""

    def border(mask):
        padded = np.pad(mask, 1)
        inner = ndimage.binary_erosion(padded)
        return np.argwhere(padded & ~inner) * spacing

    return [np.linalg.norm(border(second) - point, axis=1).min() for point in border(first)]


def test_a_volume_has_the_voxel_size_of_its_file(volumes, capsys):
    home, ball = volumes
    cut = ball.copy()
    cut[:, :, 4:] = False
    cut[0, 0, 0] = True
    nifti(home / "cut.nii", cut, (1, 1, 3))
    assert main(home / "cut.nii", home / "truth/a.nii", "-m", "hd", "--json") == 0
    expected = max(
        *surface_distances(cut, ball, (1, 1, 3)),
        *surface_distances(ball, cut, (1, 1, 3)),
    )
    assert json.loads(capsys.readouterr().out)["scores"]["hd"] == pytest.approx(expected)
    assert main(home / "cut.nii", home / "truth/a.nii", "-m", "hd") == 0
    assert "pixel size 1 × 1 × 3" in capsys.readouterr().out


def test_voxel_sizes_that_contradict_each_other(volumes, capsys):
    home, ball = volumes
    nifti(home / "bare.nii", ball, (1, 1, 1))
    with pytest.raises(InputError, match=r"1 × 1 × 3 and .*bare\.nii of 1 × 1 × 1"):
        main(home / "bare.nii", home / "truth/a.nii", "-m", "hd95")
    assert main(home / "bare.nii", home / "truth/a.nii", "-m", "hd95", "--spacing", "file") == 0
    assert "1 × 1 × 3" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="3 × 1 × 1, but the truth a.nii tells 1 × 1 × 3"):
        main(home / "found/a.nii", home / "truth/a.nii", "-m", "hd95", "--spacing", 3, 1, 1)
    assert main(home / "found/a.nii", home / "truth/a.nii", "-m", "hd95", "--spacing", "1,1,3") == 0
    with pytest.raises(SystemExit):
        main(home / "found/a.nii", home / "truth/a.nii", "-m", "hd95", "--spacing", "mm")
    np.save(home / "plain.npy", ball)
    with pytest.raises(InputError, match="tells no voxel size"):
        main(home / "plain.npy", home / "plain.npy", "-m", "hd95", "--spacing", "file")


def test_cases_have_a_line_each_and_empty_ones_are_named(volumes, capsys):
    home, _ = volumes
    for folder in ("found", "truth"):
        nifti(home / folder / "c.nii", np.zeros((17, 17, 6)), (1, 1, 3))
    words = home / "found", "--truth", home / "truth", "-m", "dice", "hd95", "--empty", "nan"
    assert main(*words) == 0
    captured = capsys.readouterr()
    table = captured.out.split("\n\n")[0]
    first, second, third, mean, counts = (line.split() for line in table.splitlines()[-5:])
    assert first[0] == "a"
    assert 0 < float(first[1]) < 1
    # What was missed counts as such, with the diagonal of the volume; what neither has, tells nothing.
    assert second[0] == "b"
    assert [float(cell) for cell in second[1:]] == pytest.approx(
        [0, math.sqrt(17**2 + 17**2 + 18**2)], rel=1e-3
    )
    assert third == ["c", "–", "–"]
    assert float(mean[1]) == pytest.approx(float(first[1]) / 2, abs=1e-3)
    assert " ".join(counts) == "mean of 2 of 3 2 of 3"
    assert "b (candidate)" in captured.err
    assert main(*words, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["counts"] == {"dice": 2, "hd95": 2}
    assert document["images"]["c"]["scores"] == {"dice": None, "hd95": None}


def test_one_object_of_a_label_map(files, capsys):
    labels = np.array([[0, 1, 1, 2], [0, 1, 2, 2]])
    np.save(files / "labels.npy", labels)
    np.save(files / "other.npy", np.where(labels == 2, 1, 2 * labels))
    with pytest.raises(InputError, match="--labels all"):
        main(files / "labels.npy", files / "labels.npy", "-m", "dice")
    assert main(files / "labels.npy", files / "other.npy", "-m", "dice", "--labels", 2, "--json") == 0
    found = json.loads(capsys.readouterr().out)["labels"]
    assert found["2"] == {
        "scores": {"dice": 0.0},
        "empty": "",
        "counts": {"tp": 0, "fp": 3, "fn": 3, "tn": 2},
    }


def test_one_map_of_the_candidates_file(files, capsys):
    np.savez(files / "both.npz", first=draw(10), second=draw(11))
    words = files / "both.npz", files / "truths/0.npy", "-m", "dice", "--json"
    assert main(*words, "--candidate-annotator", 1) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {"dice": 1.0}
    with pytest.raises(InputError, match="holds 2 maps"):
        main(*words)


def test_bad_measures_are_refused_before_any_file_is_read(files):
    for text, told in (("hd95(compat=itk)", "compat"), ("FOM", "did you mean 'fom'"), ("pratt", "'fom'")):
        with pytest.raises((InputError, UnknownNameError), match=told):
            main(files / "maps", "--truth", files / "truths", "-m", text)


def test_a_strategy_and_a_tolerance_for_all_measures(files, capsys):
    words = (files / "maps/0.npy", files / "truths/0.npy", "-m", "f", "nsd", "--json")
    assert main(*words, "--strategy", "exact", "--tolerance", "2") == 0
    found = json.loads(capsys.readouterr().out)["scores"]
    assert found == score(draw(0), draw(10), ["f(strategy=exact(tolerance=2))", "nsd(tolerance=2)"]).mean
    with pytest.raises(InputError, match="used by none"):
        main(files / "maps/0.npy", files / "truths/0.npy", "-m", "sk", "--tolerance", "2")
    with pytest.raises(InputError, match="leave them out"):
        main(files / "maps/0.npy", "--alone", "--strategy", "exact")


def missing_cases(home):
    """Eight truths, and the prediction of one of them."""
    for folder in ("one", "eight"):
        (home / folder).mkdir()
    for number in range(8):
        np.save(home / "eight" / f"{number}.npy", draw(number))
    np.save(home / "one/3.npy", draw(3))
    return home / "one", "--truth", home / "eight", "-m", "dice", "hd95"


def test_missing_cases_are_named_and_fail(tmp_path, capsys):
    words = missing_cases(tmp_path)
    assert main(*words, "--json") == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["scores"] == {"dice": 1, "hd95": 0}
    assert document["missing"] == ["0", "1", "2", "4", "5", "6", "7"]
    assert "no prediction for 7 cases (0, 1, 2, 4, 5, 6, 7)" in captured.err
    assert main(*words, "--missing", "skip") == 0


def test_missing_cases_count_as_the_worst(tmp_path, capsys):
    words = missing_cases(tmp_path)
    assert main(*words, "--missing", "worst", "--json", "--spacing", 2) == 0
    document = json.loads(capsys.readouterr().out)
    diagonal = 2 * np.hypot(12, 15)
    assert document["scores"] == pytest.approx({"dice": 1 / 8, "hd95": 7 / 8 * diagonal})
    assert document["statistics"]["dice"]["count"] == 8
    assert main(*words, "--missing", "worst", "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["empty"] for row in rows].count("no prediction") == 7


def test_predictions_without_a_truth_are_named(files, capsys):
    np.save(files / "maps/odd.npy", draw(9))
    assert main(files / "maps", "--truth", files / "truths", "-m", "dice", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["without_truth"] == ["odd"]
    assert "no truth for 1 prediction (odd)" in captured.err


@pytest.fixture
def labelled(tmp_path):
    """Three cases with labels 1, 2 and, in the first, 3; two methods, of which one misses 2 in the last."""
    for folder in ("ours", "theirs", "truth"):
        (tmp_path / folder).mkdir()
    rng = np.random.default_rng(0)
    for number in range(3):
        truth = np.zeros((20, 24), np.uint8)
        truth[2:8, 3:9], truth[10:16, 12:20] = 1, 2
        if number == 0:
            truth[18, 1:5] = 3
        np.save(tmp_path / "truth" / f"{number}.npy", truth)
        np.save(tmp_path / "ours" / f"{number}.npy", np.roll(truth, rng.integers(0, 2, 2), (0, 1)))
        other = np.where((truth == 2) & (number == 2), 0, np.roll(truth, 1 + number, 0))
        np.save(tmp_path / "theirs" / f"{number}.npy", other)
    return tmp_path


def dice(first, second):
    return 2 * (first & second).sum() / (first.sum() + second.sum())


def test_all_labels_of_a_folder(labelled, capsys):
    words = labelled / "ours", "--truth", labelled / "truth", "--labels", "all", "-m", "dice"
    assert main(*words, "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["case"], row["label"]) for row in rows] == [
        *(("0", "1"), ("0", "2"), ("0", "3"), ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")),
    ]
    for row in rows:
        first, second = (np.load(labelled / name / f"{row['case']}.npy") for name in ("ours", "truth"))
        label = int(row["label"])
        assert float(row["dice"]) == pytest.approx(dice(first == label, second == label))
    assert main(*words, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    means = [np.mean([float(row["dice"]) for row in rows if row["label"] == label]) for label in "123"]
    assert document["scores"]["dice"] == pytest.approx(np.mean(means))
    assert document["statistics"]["3"]["dice"]["count"] == 1
    assert main(*words) == 0
    assert "95 % of the mean" in capsys.readouterr().out


def test_a_label_in_neither_map_is_said_and_left_out(labelled, capsys):
    words = labelled / "truth", "--truth", labelled / "truth", "--labels", "1,3", "-m", "dice", "hd95"
    assert main(*words, "--json") == 0
    captured = capsys.readouterr()
    assert "label 3 is in neither map of 2 cases (1, 2)" in captured.err
    document = json.loads(captured.out)
    assert document["statistics"]["3"]["dice"]["left_out"] == 2
    assert document["empty"]["3"] == {"candidate": 0, "truth": 0, "both": 2, "missing": 0}
    assert document["images"]["1"]["labels"]["3"]["scores"] == {"dice": None, "hd95": None}
    assert main(*words, "--absent", "value", "--json") == 0
    assert json.loads(capsys.readouterr().out)["images"]["1"]["labels"]["3"]["scores"] == {
        "dice": 1,
        "hd95": 0,
    }


def test_a_label_in_no_case_is_an_error(labelled):
    folders = labelled / "ours", "--truth", labelled / "truth"
    with pytest.raises(InputError, match="label 5 is in no map; these occur: 1, 2, 3"):
        main(*folders, "--labels", "1,5", "-m", "dice")
    with pytest.raises(InputError, match="label 5 is in no map"):
        main(labelled / "ours/0.npy", labelled / "truth/0.npy", "--labels", 5, "-m", "dice")
    with pytest.raises(InputError, match="all, numbers such as 1,2, or a file"):
        main(*folders, "--labels", "liver", "-m", "dice")


def test_labels_of_a_file(labelled, capsys):
    (labelled / "names.toml").write_text(
        "ignore = 3\n[labels.first]\nvalue = 1\ntolerance = 0.5\n[labels.both]\nvalue = [1, 2]\n"
    )
    words = labelled / "ours", "--truth", labelled / "truth", "--labels", labelled / "names.toml"
    assert main(*words, "-m", "nsd", "--tolerance", 3, "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["label"], row["tolerance"]) for row in rows[:2]] == [("first", "0.5"), ("both", "")]
    for row in rows:
        first, second = (np.load(labelled / name / f"{row['case']}.npy") for name in ("ours", "truth"))
        wanted, limit = ([1], 0.5) if row["label"] == "first" else ([1, 2], 3)
        pair = np.isin(first, wanted) & (second != 3), np.isin(second, wanted)
        assert float(row["nsd"]) == pytest.approx(score(*pair, f"nsd(tolerance={limit})").mean.popitem()[1])
    (labelled / "ours/2.npy").unlink()
    assert main(*words, "-m", "nsd", "--tolerance", 3, "--missing", "worst", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["statistics"]["first"]["nsd"]["count"] == 3
    assert document["images"]["2"]["labels"]["first"]["scores"] == {"nsd": 0}
    (labelled / "names.toml").write_text("[labels.first]\nvalues = 1\n")
    with pytest.raises(InputError, match=r"names\.toml.*no entry 'values'"):
        main(*words, "-m", "nsd")


def test_colours_are_no_labels(tmp_path):
    from PIL import Image

    from edgecritic.datasets.write import write_map

    Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(tmp_path / "a.png")
    write_map(tmp_path / "b.png", np.zeros((4, 5)))
    with pytest.raises(InputError, match="picture in colours"):
        main(tmp_path / "a.png", tmp_path / "b.png", "--labels", "all", "-m", "dice")


def test_two_methods_are_compared_case_by_case(labelled, capsys):
    words = f"a={labelled / 'ours'}", labelled / "theirs", "--truth", labelled / "truth"
    assert main(*words, "--labels", "1,2", "-m", "dice", "--json", "--bootstrap", 200) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["methods"]) == ["a", "theirs"]
    apart = {row["label"]: row for row in document["differences"]}
    values = {
        method: [case["labels"]["2"]["scores"]["dice"] for case in found["images"].values()]
        for method, found in document["methods"].items()
    }
    expected = np.mean(np.subtract(values["a"], values["theirs"]))
    assert apart["2"]["estimate"] == pytest.approx(expected)
    assert apart["2"]["cases"] == 3
    assert main(*words, "--labels", "1,2", "-m", "dice") == 0
    assert "p (Wilcoxon)" in capsys.readouterr().out


def test_what_is_written(labelled, capsys):
    out = labelled / "out"
    words = labelled / "theirs", "--truth", labelled / "truth", "--labels", "all", "-m", "dice", "hd95"
    assert main(*words, "-o", out) == 0
    assert "Report: " in capsys.readouterr().out
    names = {path.name for path in out.iterdir()}
    assert {"scores.csv", "scores.json", "statistics.csv", "summary.json", "report.md"} <= names
    assert main(out / "summary.json", "--json") == 0
    again = json.loads(capsys.readouterr().out)
    first = json.loads((out / "scores.json").read_text())
    assert again["statistics"]["2"]["dice"] == first["statistics"]["2"]["dice"]
    assert again["statistics"]["2"]["hd95"] == first["statistics"]["2"]["hd95"]
