"""The commands `annotators` and `study`, and `bench --strength`, on generated data."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from edgecritic import figures
from edgecritic.annotators import Answer, Trial, risks, simulate_subject, strength
from edgecritic.annotators.answers import answers_csv, comparisons_csv, read_trials
from edgecritic.cli.main import main
from edgecritic.cli.study import find_studies
from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.files import read_truths
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import write_map
from edgecritic.studies.labels import mean_drops

pytestmark = pytest.mark.usefixtures("hasty_figures")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data"), 3)


def files(folder):
    return {path.name for path in folder.iterdir()}


def test_annotators_prints_json_and_writes_a_report(home, tmp_path, capsys):
    truth = str(home / "truth")
    assert main(["annotators", truth, "--images", str(home / "images"), "-o", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["images"], found["maps"]) == (3, 15)
    assert set(found["human"]) >= {"f", "precision", "recall"}
    assert 0 < found["orphan_share"] < 1
    assert {"annotators.json", "report.html", "images.csv", "labels.png", "strength.svg"} <= files(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert json.loads((tmp_path / "annotators.json").read_text(encoding="utf-8")) == found


def test_annotators_names_bad_images_and_fails(home, tmp_path, capsys):
    for name, sizes in (("good", (20, 20)), ("bad", (20, 21))):
        for number, width in enumerate(sizes, start=1):
            line = np.zeros((15, width), bool)
            line[7] = True
            write_map(tmp_path / name / f"{number}.png", line)
    assert main(["annotators", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "100.00% by all" in told.out
    assert "bad: the annotators' maps differ in shape" in told.err


def test_annotators_writes_strong_labels_as_truths(home, tmp_path, capsys):
    """What is written is what the library keeps, and the next command reads it as truths."""
    truth, out = str(home / "truth"), tmp_path / "out"
    kinds = ["consensus", "orphans", "0.6", "k=2", "k=9"]
    assert main(["annotators", truth, "--write", *kinds, "-o", str(out), "--quiet"]) == 0
    assert "drawn-by-9 (0 images, 3 with too few annotators)" in capsys.readouterr().out
    for case in find_cases(None, home / "truth"):
        found = strength(case.load_truths())
        expected = {
            "consensus": found.at_least(1),
            "orphans": [all_ & ~two for all_, two in zip(found.maps, found.consensus(2), strict=True)],
            "strength-0.6": found.consensus(3),  # 0.6 of five
            "drawn-by-2": found.consensus(2),
        }
        for name, maps in expected.items():
            assert np.array_equal(read_truths(out / name / f"{case.id}.mat"), maps), name
    assert not (out / "drawn-by-9").exists()
    weaker = main(["bench", str(home / "predictions" / "good"), "--truth", str(out / "consensus"), "--json"])
    assert weaker == 0
    capsys.readouterr()
    for wrong in ("2", "k=0", "some"):
        assert main(["annotators", truth, "--write", wrong, "-o", str(out)]) == 1
        assert "a strength from 0 to 1, or k=3" in capsys.readouterr().err
    assert main(["annotators", truth, "--write", "1"]) == 1
    assert "give --out" in capsys.readouterr().err


def test_studies_are_listed_with_paper_figures_data_and_minutes(capsys):
    assert main(["study"]) == 0
    text = capsys.readouterr().out
    for study in find_studies():
        assert f"{study.NAME}: {study.TEXT}" in text
        assert f"{study.PAPER}: {study.FIGURES}" in text
        assert f"data: {study.NEEDS}; minutes: {study.MINUTES}" in text


def test_complexity_of_chosen_images_truths_and_patterns(home, tmp_path, capsys):
    (name,) = sorted(case.id for case in find_cases(None, home / "truth"))[:1]
    write_map(tmp_path / "family" / "a.png", np.eye(3, dtype=bool))
    data = ["--data", str(home / "truth"), "--images", str(home / "images"), "--most", "1", "--quiet"]
    told = ["--show", name, "--annotators", "1,2", "--crop", "5,5,40,40"]
    own = ["--patterns", str(tmp_path / "family"), "--out", str(tmp_path / "out")]
    assert main(["study", "complexity", *data, *told, *own]) == 0
    text = capsys.readouterr().out
    assert "1 of 3 × 3 pixels" in text
    assert "PFoM, truth 2" in text
    assert "PFoM, truth 3" not in text
    there = files(tmp_path / "out")
    assert {f"choices-{name}.png", f"choices-{name}-crop.png", f"annotators-{name}.png"} <= there
    assert {f"curves-{name}.png", "patterns.png", "windows.png", "paper.csv", "curves.csv"} <= there
    lines = (tmp_path / "out" / "curves.csv").read_text().splitlines()
    assert len(lines) == 1 + 5 * 99
    for wrong, words in (
        (["--show", "nobody"], "there is no image nobody"),
        (["--annotators", "0"], "whole numbers from 1"),
        (["--annotators", "9"], "asked for 9"),
        (["--crop", "1,2,3"], "expects 4 whole numbers"),
        (["--patterns", str(home / "images")], "map must be binary"),
    ):
        assert main(["study", "complexity", *data, *wrong]) == 1, wrong
        assert words in capsys.readouterr().err


def test_bench_by_strength(home, tmp_path, capsys):
    where = [str(home / "predictions" / "good"), "--truth", str(home / "truth"), "-o", str(tmp_path)]
    assert main(["bench", *where, "--strength", "0,1", "--bootstrap", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["strength"]["levels"] == [0, 1]
    assert {"report.html", "levels.png", "outputs-good.png"} <= files(tmp_path / "strength")
    assert main(["bench", *where, "--strength", "low"]) == 1
    assert "--strength expects numbers" in capsys.readouterr().err


def test_preference_leaves_figure_table_json_and_text(home, tmp_path, capsys):
    """The studies of papers do so in test_papers.py."""
    data = ["--data", str(home / "truth"), "--images", str(home / "images"), "-o", str(tmp_path)]
    made = ["--most", "2", "--pairs", "6", "--simulate", "fom", "--subjects", "4"]
    assert main(["study", "preference", *data, *made, "-m", "fom", "-m", "hausdorff"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 5
    there = files(tmp_path)
    assert {"preference.json", "report.html", "report.txt"} <= there
    assert {".png", ".csv"} <= {Path(name).suffix for name in there}
    assert "paper.csv" not in there


@pytest.mark.parametrize("name", ["annotators", "complexity", "displacement"])
def test_without_matplotlib_all_but_the_figures_is_written(name, home, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    figures.leave_out.cache_clear()
    truth = str(home / "truth")
    command = {
        "annotators": ["annotators", truth],
        "complexity": [
            "study",
            "complexity",
            "--data",
            truth,
            "--images",
            str(home / "images"),
            "--most",
            "1",
        ],
        "displacement": ["study", "displacement"],
    }
    with pytest.warns(UserWarning, match=r"figures are left out: .*edgecritic\[report\]") as told:
        assert main([*command[name], "-o", str(tmp_path)]) == 0
    assert len(told) == 1
    assert {"report.html", f"{name}.json"} <= files(tmp_path)
    assert not any(file.endswith((".png", ".svg")) for file in files(tmp_path))
    assert "<figure>" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_matching_in_shares(home, tmp_path, capsys):
    base = ["study", "matching", "--data", str(home / "truth"), "--inter", "all", "--canny", "0"]
    base += ["--tolerances", "2.5"]
    assert main([*base, "--plan"]) == 0
    assert "core-hours" in capsys.readouterr().out
    assert main([*base, "--combine", str(tmp_path / "a")]) == 1
    assert "not finished" in capsys.readouterr().err
    assert main([*base, "--share", "1/1", "-o", str(tmp_path / "a")]) == 0
    assert main([*base, "--share", "1/1"]) == 1
    assert "--share needs --out" in capsys.readouterr().err
    assert main([*base, "--combine", str(tmp_path / "a"), "--json"]) == 0
    combined = capsys.readouterr().out
    assert main([*base, "--json"]) == 0
    assert capsys.readouterr().out == combined


def test_a_run_that_was_stopped_half_way_ends_with_the_same_bytes(home, tmp_path, capsys, monkeypatch):
    from edgecritic.run import matching

    monkeypatch.setattr(matching, "inter_blocks", partial(matching.inter_blocks, images_per_block=1))
    base = ["study", "matching", "--data", str(home / "truth"), "--inter", "all", "--canny", "0"]
    base += ["--tolerances", "2.5,5", "--jobs", "1", "--json", "-o"]
    assert main([*base, str(tmp_path / "whole")]) == 0
    printed = capsys.readouterr().out
    done = []
    real = matching.compare_block

    def stopped(*given):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given)
        return real(*given)

    monkeypatch.setattr(matching, "compare_block", stopped)
    assert main([*base, str(tmp_path / "halves")]) == 130
    assert files(tmp_path / "halves") < files(tmp_path / "whole")
    capsys.readouterr()
    monkeypatch.setattr(matching, "compare_block", lambda *given: done.append(given) or real(*given))
    assert main([*base, str(tmp_path / "halves")]) == 0
    assert capsys.readouterr().out == printed
    kept = [file for file in (tmp_path / "whole").rglob("*") if file.is_file()]
    assert len(done) == sum("@matching" in file.parts for file in kept) > 2
    for file in kept:
        assert (tmp_path / "halves" / file.relative_to(tmp_path / "whole")).read_bytes() == file.read_bytes()


def test_a_chosen_triplet_is_drawn(home, tmp_path, capsys):
    base = ["study", "matching", "--data", str(home / "truth"), "--images", str(home / "images")]
    base += ["--most", "1", "--inter", "0", "--canny", "0", "--tolerances", "2.5", "-o", str(tmp_path)]
    names = "synthetic-1#1,synthetic-1#canny(1,2),synthetic-1#3"
    assert main([*base, "--triplet", names]) == 0
    assert "triplet.png" in files(tmp_path)
    assert main([*base, "--triplet", "synthetic-1#1,synthetic-1#99,synthetic-1#3"]) == 1
    assert "has no map '99'" in capsys.readouterr().err


def test_a_wrong_triplet_is_refused_before_anything_is_compared(home, tmp_path, capsys, monkeypatch):
    from edgecritic.run import matching

    monkeypatch.setattr(matching, "compare_block", lambda block: pytest.fail("compared"))
    base = ["study", "matching", "--data", str(home / "truth"), "--canny", "0", "--triplet"]
    assert main([*base, "synthetic-1#1,synthetic-1#99,synthetic-1#3", "-o", str(tmp_path)]) == 1
    assert "has no map '99'" in capsys.readouterr().err
    assert main([*base, "one,two", "-o", str(tmp_path)]) == 1
    assert "expects three maps" in capsys.readouterr().err
    assert main([*base, "synthetic-1#1,synthetic-1#2,synthetic-1#3"]) == 1
    assert "--triplet needs --out" in capsys.readouterr().err


def test_matching_without_photos_says_that_canny_is_left_out(home, tmp_path, capsys):
    base = ["study", "matching", "--data", str(home / "truth"), "--most", "1", "--inter", "0"]
    base += ["--tolerances", "2.5"]
    assert main([*base, "-o", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "Canny" in told.err
    assert "--images" in told.err
    assert "no photo" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert main([*base, "--canny", "0"]) == 0
    assert not capsys.readouterr().err


def test_matching_tells_why_nothing_could_be_compared(tmp_path, capsys):
    for number in (1, 2):
        write_map(tmp_path / "truth" / "a" / f"{number}.png", np.eye(20, 20 + number) > 0)
    base = ["study", "matching", "--data", str(tmp_path / "truth"), "--inter", "0", "--canny", "0"]
    assert main(base) == 1
    assert "differ in shape" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("study", "options", "named"),
    [
        ("pairing", ["--samples", "0"], "samples"),
        ("pairing", ["--samples", "1"], "samples"),
        ("pairing", ["--points", "0,5"], "points"),
        ("pairing", ["--points", "nan"], "points"),
        ("pairing", ["--points", "1e400"], "points"),
        ("pairing", ["--points", "2.5"], "points"),
        ("matching", ["--most", "0"], "most"),
        ("matching", ["--most", "-1"], "most"),
        ("complexity", ["--most", "0"], "most"),
        ("labels", ["--most", "-2"], "most"),
        ("labels", ["--draws", "-1"], "draws"),
        ("noise", ["--scenes", "0"], "scene"),
        ("preference", ["--pairs", "0"], "pairs"),
        ("preference", ["--kinds", "colour"], "kinds of pairs"),
        ("preference", ["--answers", "nothing.csv"], "nothing.csv"),
        ("noise", ["--thresholds", "0"], "thresholds"),
        ("noise", ["--snr", "nan"], "snr"),
    ],
)
def test_numbers_that_make_no_study_are_refused_in_one_line(study, options, named, capsys):
    assert main(["study", study, *options]) in (1, 2)
    told = capsys.readouterr().err
    assert named in told
    assert "Traceback" not in told


def test_pairing_of_samples_that_do_not_vary_has_no_correlation(capsys):
    from edgecritic.report.pairing import pairing_report
    from edgecritic.run.pairing import PairingStudy
    from edgecritic.studies.pairing import accuracy, accuracy_of_samples

    line = np.eye(11, dtype=bool)
    rows = accuracy_of_samples([(line, line), (line, line)])
    study = PairingStudy(accuracy=(accuracy("equal", {11: rows}),), times=())
    assert "no correlation" in pairing_report(study).findings[0]


def test_answers_give_the_risk(home, tmp_path, capsys):
    base = ["study", "labels", "--data", str(home / "truth"), "--images", str(home / "images")]
    base += ["--most", "2", "--draws", "0", "-o", str(tmp_path), "--json"]
    assert main(base) == 0
    capsys.readouterr()
    asked = json.loads((tmp_path / "trials.json").read_text(encoding="utf-8"))["trials"]
    hard = [one for one in asked if one["mode"] == "hard"]
    assert hard
    rows = [f"{one['id']},ann,{'left' if one['left']['kind'] == 'false alarm' else 'right'}" for one in hard]
    quoted = [f'"{row.split(",ann,")[0]}",ann,{row.split(",ann,")[1]}' for row in rows]
    (tmp_path / "answers.csv").write_text("trial,subject,choice\n" + "\n".join(quoted) + "\n")
    assert main([*base, "--answers", str(tmp_path / "answers.csv")]) == 0
    assert json.loads(capsys.readouterr().out)["risks"]["hard"]["risk"] == 1.0


def test_answers_that_tell_their_trials_give_their_risk(home, tmp_path, capsys):
    """Seven answers of three people, one to a check; the trials are not those of the study."""
    about = {"image": "street", "mode": "hard", "detector": "label"}
    asked = [Trial.bare("left", id=name, **about) for name in ("1", "2")]
    asked.append(Trial.bare("right", id="3", part="check", **about))
    chosen = [("1", "left"), ("1", "left"), ("1", "right"), ("2", "right"), ("2", "right"), ("2", "left")]
    answers = [
        Answer(name, str(place % 3), side, mirrored=place % 2 == 0)
        for place, (name, side) in enumerate([*chosen, ("3", "left")])
    ]
    (tmp_path / "answers.csv").write_text(comparisons_csv(asked, answers), encoding="utf-8")
    base = ["study", "labels", "--data", str(home / "truth"), "--images", str(home / "images"), "--json"]
    base += ["--most", "1", "--draws", "0", "-o", str(tmp_path)]
    assert main([*base, "--answers", str(tmp_path / "answers.csv")]) == 0
    found = json.loads(capsys.readouterr().out)["risks"]["hard"]
    assert (found["risk"], found["trials"], found["lost"], found["ties"]) == (0.5, 2, 1, 0)
    assert [found] == [one.as_dict() for one in risks(asked, answers)]


def test_an_unreachable_cluster_is_one_line(home, tmp_path, capsys, monkeypatch):
    pytest.importorskip("distributed")
    from edgecritic.run import cluster

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.3)
    assert main(["annotators", str(home / "truth"), "--cluster", "tcp://127.0.0.1:9"]) == 1
    assert capsys.readouterr().err.startswith("edgecritic: no Dask scheduler answers")


def test_labels_tell_risks_by_detector_and_two_data_sets(home, tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    base = ["study", "labels", "--data", str(home / "truth"), "--images", str(home / "images"), "--quiet"]
    maps = [f"--predictions={name}={home / 'predictions' / name}" for name in ("good", "noisy")]
    assert main([*base, *maps, "--draws", "2", "-o", str(first)]) == 0
    assert "Mean change over 2 detectors" in capsys.readouterr().out
    asked = read_trials(first / "trials.json")
    answers = [one for name in "abc" for one in simulate_subject(asked, name=name, preference=1)]
    (tmp_path / "a.csv").write_text(answers_csv(answers), encoding="utf-8")
    more = ["--answers", str(tmp_path / "a.csv"), "--beside", str(first), "-o", str(second), "--json"]
    assert main([*base, *maps, "--draws", "2", *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(one["detector"], one["mode"]) for one in found["detector_risks"]} == {
        (one.detector, one.mode) for one in asked
    }
    by_name = {one["what"]: one for one in found["claims"]}
    assert by_name["risk, hard, mean over detectors"]["ours"] == "1.00000"
    assert not by_name["risk, hard, mean over detectors"]["agrees"]
    assert by_name["difference of F between the data sets, mean"]["ours"] == "0.0000"
    assert found["drops"] == mean_drops(found["strength"])
    there = files(second)
    assert {"recalls.png", "scores.png", "partial.png", "risks.png", "data-sets.csv", "paper.csv"} <= there
    assert main([*base, "--beside", str(tmp_path), "-o", str(second)]) == 1
    capsys.readouterr()


def test_choices_of_people_tell_which_measure_they_use(home, tmp_path, capsys):
    data = ["--data", str(home / "truth"), "--images", str(home / "images")]
    chosen = ["-m", "recall", "-m", "specificity", "--json"]
    made = ["--most", "2", "--pairs", "12", "-o", str(tmp_path / "made")]
    assert main(["study", "preference", *data, *made]) == 0
    assert "12 pairs of edge maps" in capsys.readouterr().out
    asked = read_trials(tmp_path / "made" / "trials.json")
    rows = ["trial,subject,choice"]
    for trial in asked:
        fewer = "left" if trial.left.map.sum() < trial.right.map.sum() else "right"
        rows += [f'"{trial.id}",{name},{trial.expected or fewer}' for name in ("ann", "bob", "eve")]
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join(rows) + "\n")
    given = ["--answers", str(answers), "--trials", str(tmp_path / "made" / "trials.json")]
    assert main(["study", "preference", *data, *given, *chosen]) == 0
    found = json.loads(capsys.readouterr().out)["found"]
    assert found["answers"] == 36
    assert [one["measure"] for one in found["measures"]] == ["specificity", "recall"]
    assert found["ceiling"] == 1
    assert main(["study", "preference", "--answers", str(answers)]) == 1
    assert "--trials" in capsys.readouterr().err


def test_choices_of_another_program_make_a_scale_and_judge_maps_of_folders(home, tmp_path, capsys):
    image = sorted((home / "truth").iterdir())[0].stem
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        mask = np.zeros((160, 200), bool)
        mask[40 if name == "a" else slice(30, 60), 20:180] = True
        Image.fromarray(mask).save(tmp_path / name / f"{image}.png")
    rows = [f"s{n},{image},a,b,{1 + (n == 0)}" for n in range(5)]
    text = "observer,scene,condition_1,condition_2,selection\n" + "\n".join(rows) + "\n"
    (tmp_path / "choices.csv").write_text(text)
    base = ["study", "preference", "--answers", str(tmp_path / "choices.csv")]
    assert main([*base, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["found"]
    assert found["scale"]["conditions"] == ["a", "b"]
    np.testing.assert_allclose(found["scale"]["values"][0], np.log(4) / 2)
    assert found["measures"] == []
    folders = ["--maps", f"a={tmp_path / 'a'}", "--maps", f"b={tmp_path / 'b'}"]
    data = ["--data", str(home / "truth"), "-m", "precision"]
    assert main([*base, *folders, *data, "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["found"]["measures"]
    assert one["measure"] == "precision"
    assert one["singles"] in (0.2, 0.5, 0.8)
