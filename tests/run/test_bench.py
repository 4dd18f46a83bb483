"""The bench command over folders: results, files, resuming, failures, formats."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import DataError, InputError
from edgecritic.protocols.summary import summarise
from edgecritic.report.bench import load_results, write_run
from edgecritic.report.classic import read_counts, read_curve, read_summary
from edgecritic.run.bench import run_bench
from edgecritic.run.executor import run_tasks
from edgecritic.run.store import safe_name


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A small generated data set: data/predictions/{good,noisy,thick}, data/truth, data/images."""
    folder = tmp_path_factory.mktemp("bench")
    write(folder / "data", 4)
    return folder


def arguments(home, *detectors, out=None, more=()):
    folders = [f"{name}={home / 'data/predictions' / name}" for name in detectors]
    target = [] if out is None else ["--out", str(out)]
    return ["bench", *folders, "--truth", str(home / "data/truth"), "--bootstrap", "200", *target, *more]


NEEDED_BY_REPORTS = ("edgecritic.report.bench", "jinja2", "matplotlib")


def test_what_reports_need_is_imported_after_all_images_are_judged(home, tmp_path):
    """In the end a process draws beside that; before, jobs would wait for it."""
    program = f"""
import sys
import edgecritic.run.bench as bench
from edgecritic.cli.main import command

judge, loaded = bench.judge, set()

def watched(job):
    found = judge(job)
    loaded.update(name for name in {NEEDED_BY_REPORTS!r} if name in sys.modules)
    return found

bench.judge = watched
assert command() == 0
print("while judging:", sorted(loaded))
print("in the end:", sorted(name for name in {NEEDED_BY_REPORTS!r} if name in sys.modules))
"""
    words = arguments(home, "good", out=tmp_path / "run", more=["--jobs", "2"])
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=120
    )
    assert "while judging: []" in done.stdout, done.stderr
    in_the_end = "in the end: ['edgecritic.report.bench', 'jinja2']"
    assert in_the_end in done.stdout  # matplotlib is in the process that draws


def test_everything_is_written_and_agrees(home, tmp_path, capsys):
    assert main(arguments(home, "good", "thick", out=tmp_path, more=["--also", "all"])) == 0
    shown = capsys.readouterr().out
    assert "good" in shown
    assert "px" in shown
    results = load_results(tmp_path)
    assert [entry["name"] for entry in results["detectors"]] == ["good", "thick"]
    assert results["protocol"]["id"] == "bsds"
    assert results["human"]["images"] == 4
    for entry in results["detectors"]:
        place = tmp_path / entry["folder"]
        counts = {row["id"]: read_counts(place / f"{row['id']}_ev1.txt") for row in entry["per_image"]}
        summary = summarise(counts)
        assert summary.ods.f == pytest.approx(entry["ods"]["f"], abs=1e-6)
        assert summary.ap == pytest.approx(entry["ap"], abs=1e-6)
        assert read_summary(place / "eval_bdry.txt").ods.f == pytest.approx(entry["ods"]["f"], abs=1e-5)
        assert len(read_curve(place / "eval_bdry_thr.txt")) == 99
        low, high = entry["intervals"]["ods"]
        assert low <= entry["ods"]["f"] <= high
        assert entry["ceval"]["ods"]["f"] <= 1
        assert [row["ods"] for row in entry["tolerances"]] == sorted(
            (row["ods"] for row in entry["tolerances"]), reverse=True
        )
        assert 0 < entry["crispness"]["mean"] <= 1
    good, thick = results["detectors"]
    assert good["crispness"]["mean"] > thick["crispness"]["mean"]
    assert results["comparisons"][0]["ods"]["difference"] == pytest.approx(
        good["ods"]["f"] - thick["ods"]["f"]
    )
    for name in ("table.csv", "table.tex", "pr.svg", "pr.pdf", "pr.png", "report.html"):
        assert (tmp_path / name).stat().st_size > 100


def test_curves_are_told_before_intervals_and_give_the_same_figure(home, tmp_path):
    from edgecritic.report.figures import write_pr

    told = []
    folders = {name: home / "data/predictions" / name for name in ("good", "noisy")}
    found = run_bench(folders, home / "data/truth", draws=50, on_curves=told.append)
    assert [entry["intervals"] for entry in told[0]["detectors"]] == [None, None]
    assert all(entry["intervals"] for entry in found.results["detectors"])
    for name, results in (("early", told[0]), ("late", found.results)):
        write_pr(results, tmp_path / name)
    for file in (tmp_path / "late").iterdir():
        assert (tmp_path / "early" / file.name).read_bytes() == file.read_bytes()


def test_one_detector_has_the_classic_files_on_top(home, tmp_path):
    assert main(arguments(home, "good", out=tmp_path)) == 0
    for name in ("eval_bdry.txt", "eval_bdry_thr.txt", "eval_bdry_img.txt"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "good" / name).read_bytes()


def test_json_is_what_the_file_holds(home, tmp_path, capsys):
    assert main(arguments(home, "good", out=tmp_path, more=["--json"])) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "results.json").read_text())


def test_jobs_and_resuming_do_not_change_a_byte(home, tmp_path):
    texts = []
    for jobs in ("1", "2", "4"):
        out = tmp_path / jobs
        assert main(arguments(home, "good", "noisy", out=out, more=["--jobs", jobs])) == 0
        texts.append((out / "results.json").read_bytes())
    records = sorted((tmp_path / "1/records/good").iterdir())
    records[0].unlink()
    records[1].write_bytes(records[1].read_bytes()[:50])
    with pytest.warns(UserWarning, match="a damaged record is thrown away"):
        assert main(arguments(home, "good", "noisy", out=tmp_path / "1")) == 0
    texts.append((tmp_path / "1/results.json").read_bytes())
    assert len(set(texts)) == 1


def test_finished_images_are_not_judged_again(home, tmp_path, monkeypatch):
    assert main(arguments(home, "good", out=tmp_path)) == 0

    def forbidden(*_, **__):
        raise AssertionError("swept again")

    monkeypatch.setattr("edgecritic.run.judge.sweep_checked", forbidden)
    assert main(arguments(home, "good", out=tmp_path)) == 0
    with pytest.raises(AssertionError, match="swept again"):
        main(arguments(home, "good", out=tmp_path, more=["--fresh", "--jobs", "1"]))
    with pytest.raises(AssertionError, match="swept again"):
        main(arguments(home, "good", out=tmp_path, more=["--protocol", "strict", "--jobs", "1"]))


@pytest.mark.slow
def test_a_killed_run_goes_on(home, tmp_path):
    command = [sys.executable, "-m", "edgecritic", *arguments(home, "good", "noisy", "thick")]
    subprocess.run([*command, "--out", str(tmp_path / "calm")], check=True, capture_output=True)
    records = tmp_path / "killed/records"
    done = 0
    for wanted in (1, 4, 9):
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path / "killed"), "--jobs", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and done < wanted:
            done = sum(1 for _ in records.glob("*/[!.]*.json"))
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "--out", str(tmp_path / "killed")], check=True, capture_output=True)
    assert (tmp_path / "killed/results.json").read_bytes() == (tmp_path / "calm/results.json").read_bytes()


def make_set(folder, count=4, size=(40, 50)):
    rng = np.random.default_rng(4)
    (folder / "truth").mkdir(parents=True)
    (folder / "pred").mkdir()
    for k in range(count):
        truth = np.zeros(size, bool)
        truth[rng.integers(8, 30), 5:45] = True
        write_bsds_mat(folder / f"truth/im{k}.mat", [truth, np.roll(truth, 1, 0)])
        write_map(folder / f"pred/im{k}.png", np.clip(truth * 0.8 + rng.random(size) * 0.2, 0, 1))
    return folder


def test_bad_files_are_named_and_the_rest_is_finished(tmp_path, capsys):
    place = make_set(tmp_path / "set", 6)
    (place / "pred/im0.png").write_bytes((place / "pred/im0.png").read_bytes()[:60])
    Image.fromarray(np.zeros((10, 12), np.uint8)).save(place / "pred/im1.png")
    inverted = 255 - np.array(Image.open(place / "pred/im2.png"))
    Image.fromarray(inverted).save(place / "pred/im2.png")
    (place / "pred/im3.png").unlink()
    status = main(
        ["bench", f"mine={place / 'pred'}", "--truth", str(place / "truth"), "--out", str(tmp_path / "out")]
    )
    assert status == 1
    results = load_results(tmp_path / "out")
    assert {row["id"] for row in results["failures"]} == {"im0", "im1", "im2", "im3"}
    assert results["detectors"][0]["images"] == 2
    told = capsys.readouterr().err.strip().splitlines()
    errors = [line for line in told if " warning: " not in line]
    assert len(errors) == 4
    for name, word in (("im0", "im0.png"), ("im1", "10"), ("im2", "dark"), ("im3", "no prediction")):
        line = next(line for line in errors if f" {name}:" in line)
        assert word in line, line
    assert all("Traceback" not in line for line in errors)


def test_grey_truth_is_refused(tmp_path):
    place = make_set(tmp_path, 2)
    savemat(place / "truth/im0.mat", {"truth": np.array([[0.0, 0.5], [1.0, 0.2]])})
    run = run_bench({"mine": place / "pred"}, place / "truth", draws=0)
    assert [row["id"] for row in run.results["failures"]] == ["im0"]
    assert "binary" in run.results["failures"][0]["message"]


def test_grey_truth_is_cut_if_asked_for(tmp_path, capsys):
    place = make_set(tmp_path, 2)
    grey = np.zeros((40, 50), np.uint8)
    grey[9, 5:45], grey[10, 5:45] = 255, 100
    write_map(place / "truth/im0.png", grey)
    (place / "truth/im0.mat").unlink()
    base = ["bench", str(place / "pred"), "--truth", str(place / "truth"), "--out", str(tmp_path / "out")]
    for share, pixels in (("0.5", 40), ("0.2", 80)):  # in one folder: records of another cut are not taken
        assert main([*base, "--binarize", share]) == 0
        assert read_counts(tmp_path / "out/pred/im0_ev1.txt").truth[0] == pixels
        assert f"cut at {share}" in load_results(tmp_path / "out")["notes"][0]
    capsys.readouterr()
    assert main([*base, "--binarize", "2"]) == 1
    assert "share in (0, 1]" in capsys.readouterr().err


def test_masks_leave_pixels_out(tmp_path):
    place = make_set(tmp_path, 2)
    (place / "masks").mkdir()
    for k in range(2):
        write_map(place / f"masks/im{k}.png", np.arange(50)[None].repeat(40, 0) < 25)
    whole = run_bench({"mine": place / "pred"}, place / "truth", draws=0).details["mine"]
    half = run_bench({"mine": place / "pred"}, place / "truth", masks=place / "masks", draws=0).details[
        "mine"
    ]
    assert half.counts["im0"].truth[0] == whole.counts["im0"].truth[0] / 2
    assert half.counts["im0"].zero.candidate.item() == 40 * 25


def test_own_protocol_and_curves(tmp_path, capsys):
    place = make_set(tmp_path, 3)
    (tmp_path / "mine.toml").write_text(
        'id = "mine"\ntitle = "my lab"\nbase = "bsds"\nthresholds = 9\nrelative_tolerance = 0.02\n'
    )
    (tmp_path / "theirs_thr.txt").write_text("0.5 0.4 0.444444\n0.3 0.6 0.4\n")
    base = ["bench", f"net={place / 'pred'}", "--truth", str(place / "truth"), "--out", str(tmp_path / "out")]
    more = ["--protocol", str(tmp_path / "mine.toml"), "--curve", f"Theirs={tmp_path / 'theirs_thr.txt'}"]
    assert main([*base, *more]) == 0
    results = load_results(tmp_path / "out")
    assert results["protocol"]["id"] == "mine"
    assert len(results["detectors"][0]["curve"]["threshold"]) == 9
    assert results["curves"][0]["name"] == "Theirs"
    assert "Theirs" in (tmp_path / "out/report.html").read_text()
    capsys.readouterr()
    assert main([*base, "--curve", str(tmp_path / "theirs_thr.txt")]) == 1
    assert "NAME=FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "protocol", ["pdollar", "edter", "pyedgeeval", "nyud", "biped", "multicue", "strict", "ceval"]
)
def test_every_preset_runs(home, protocol):
    run = run_bench(
        {"good": home / "data/predictions/good"}, home / "data/truth", protocol=protocol, draws=0, human=False
    )
    entry = run.results["detectors"][0]
    assert entry["ap"] is not None
    assert 0 < entry["ods"]["f"] <= 1


def test_usage_errors_are_told(home, tmp_path, capsys):
    good = str(home / "data/predictions/good")
    truth = ["--truth", str(home / "data/truth")]
    for command, word in (
        (["bench", good, good, *truth], "two detectors"),
        (["bench", str(tmp_path / "nothing"), *truth], "nothing"),
        (["bench", good, "--truth", str(tmp_path / "none")], "none"),
        (["bench", good, *truth, "--protocol", "bsd"], "bsds"),
        (["bench", good, *truth, "--also", "crisp"], "crispness"),
        (["bench", good, *truth, "--jobs", "0"], "jobs"),
    ):
        assert main(command) == 1, command
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1
        assert word in lines[0]


def test_no_common_names(tmp_path):
    place = make_set(tmp_path, 2)
    for path in list((place / "pred").iterdir()):
        path.rename(path.with_name(f"other-{path.name}"))
    with pytest.raises(DataError, match="no prediction has the name"):
        run_bench({"mine": place / "pred"}, place / "truth")
    with pytest.raises(InputError):
        run_bench({}, place / "truth")


def test_folders_within_folders(tmp_path):
    place = make_set(tmp_path, 2)
    for folder in ("pred", "truth"):
        for path in list((place / folder).iterdir()):
            (place / folder / "scene").mkdir(exist_ok=True)
            path.rename(place / folder / "scene" / path.name)
    run = run_bench({"mine": place / "pred"}, place / "truth", out=tmp_path / "run", draws=0, jobs=1)
    ids = [row["id"] for row in run.results["detectors"][0]["per_image"]]
    assert len(ids) == 2
    assert all(name.startswith("scene/") for name in ids)
    write_run(tmp_path / "run", run)
    assert all((tmp_path / f"run/mine/{name}_ev1.txt").is_file() for name in ids)


def test_thick_maps_without_suppression_are_told(tmp_path, capsys):
    write(tmp_path, 2, detectors=("good", "thick"))
    places = [str(tmp_path / "predictions" / name) for name in ("good", "thick")]
    arguments = ["bench", *places, "--truth", str(tmp_path / "truth"), "--bootstrap", "0", "--jobs", "1"]
    assert main(arguments) == 0
    warned = [line for line in capsys.readouterr().err.splitlines() if "--nms hed" in line]
    assert len(warned) == 1
    assert "thick: the maps are thick" in warned[0]
    assert main([*arguments, "--nms", "hed", "--json"]) == 0
    told = capsys.readouterr()
    assert "--nms" not in told.err
    protocol = json.loads(told.out)["protocol"]
    assert (protocol["id"], protocol["nms"]) == ("bsds-hed", "hed")


def test_results_are_not_written_among_the_maps(tmp_path):
    place = make_set(tmp_path, 2)
    before = sorted(path.name for path in (place / "pred").iterdir())
    with pytest.raises(InputError, match="another folder"):
        run_bench({"mine": place / "pred"}, place / "truth", out=place / "truth" / ".." / "pred")
    assert sorted(path.name for path in (place / "pred").iterdir()) == before


def test_detectors_have_the_names_that_were_given(tmp_path, monkeypatch):
    from edgecritic.cli._options import read_named

    (tmp_path / "deep/maps").mkdir(parents=True)
    (tmp_path / "mine").symlink_to(tmp_path / "deep/maps", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "deep")
    assert list(read_named([str(tmp_path / "mine"), "maps/", "net=maps", "."])) == [
        "mine",
        "maps",
        "net",
        "deep",
    ]


def test_files_in_place_of_their_folder(tmp_path):
    place = make_set(tmp_path, 2)
    files = {path.name: path for path in (place / "pred").iterdir()}
    with pytest.raises(InputError, match=r"a detector is a folder of predictions; give .*pred$"):
        run_bench(files, place / "truth")


def test_names_cannot_leave_their_folder():
    for name in ("../x", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "nul\0", "x" * 300, "é"):
        safe = safe_name(name)
        assert "/" not in safe
        assert "\\" not in safe
        assert safe.strip(".")
        assert len(safe) < 120
    assert safe_name("a/b") != safe_name("a_b")


def test_tasks_report_progress():
    seen = []
    results = sorted(run_tasks(lambda n: n * n, range(5), jobs=2, progress=lambda d, t: seen.append((d, t))))
    assert results == [0, 1, 4, 9, 16]
    assert seen == [(k, 5) for k in range(1, 6)]


@pytest.mark.data
def test_real_set_with_segmentations(data, tmp_path):
    home = data / "bsds_bench"
    run = run_bench(
        {"ucm2": home / "ucm2", "segs": home / "segs"},
        home / "groundTruth",
        protocol="bsds",
        out=tmp_path,
        draws=0,
    )
    assert not run.failed
    assert {entry["images"] for entry in run.results["detectors"]} == {5}
