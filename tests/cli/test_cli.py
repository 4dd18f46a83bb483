"""The command, called in process: exit status, stdout, stderr, files."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import edgecritic
from edgecritic.cli import _output, listing
from edgecritic.cli import main as command
from edgecritic.cli.main import _keep_memory, build_parser, main
from edgecritic.cores import ONE_THREAD
from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import InputError
from edgecritic.figures import MISS
from edgecritic.matching import strategies
from edgecritic.tables import text_table

KEYS = ["strategy", "tolerance", "tp", "fp", "fn", "precision", "recall", "f", "mean_distance", "judged"]
KEYS += ["coherence", "jumps"]


@pytest.fixture
def maps(tmp_path) -> tuple[Path, Path]:
    """Eight truth pixels; six of them found, three moved by one pixel, and one false alarm."""
    truth, candidate = np.zeros((10, 12), bool), np.zeros((10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return write_map(tmp_path / "candidate.png", candidate), write_map(tmp_path / "truth.png", truth)


def load(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture)


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_first_screen(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    assert "edgecritic match" in out
    assert len(out.splitlines()) <= 24
    assert max(len(line) for line in out.splitlines()) <= 80


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"edgecritic {edgecritic.__version__}\n", "")


def test_help_names_every_command(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in ("match", "doctor", "list", "warmup"):
        assert f"\n  {name} " in out


def commands() -> list[str]:
    actions = build_parser()._subparsers._group_actions
    return list(actions[0].choices)


def test_a_wanted_command_is_the_same_without_the_others(monkeypatch):
    """And what names no module of a command, as a package of this room, leaves all of them."""
    monkeypatch.setenv("COLUMNS", "100")
    everything = build_parser()._subparsers._group_actions[0].choices
    for name in everything:
        alone = build_parser(name)._subparsers._group_actions[0].choices
        assert alone[name].format_help() == everything[name].format_help()
    assert list(build_parser("bench")._subparsers._group_actions[0].choices) == ["bench"]
    for name in ("", "studies", "main", "listing", "_options", "no-such-command"):
        assert list(build_parser(name)._subparsers._group_actions[0].choices) == list(everything)


def test_garbage_is_looked_for_as_usual_once_there_are_many_objects():
    code = """
import gc, sys
from edgecritic.cli import main
usual = gc.get_threshold()
main.main = lambda: seen()

def seen():
    kept = []
    for _ in range(main._OBJECTS_OF_MODULES // 2):
        kept.append([])
    few = gc.get_threshold() == usual, gc.get_freeze_count() > 0
    for _ in range(main._OBJECTS_OF_MODULES):
        kept.append([])
    print(few, gc.get_threshold() == usual, gc.get_freeze_count() > 0, gc.callbacks)
    return 0

main.command()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(False, False) True True []\n"


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help(capsys, name):
    status, out, err = run(capsys, name, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: edgecritic {name}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["--no-such-option"],
        ["match"],
        ["match", "only-one"],
        ["match", "a", "b", "--tolerance", "near"],
        ["match", "a", "b", "--tolerance", "1", "--relative-tolerance", "0.1"],
        ["match", "a", "b", "--spacing", "1;2"],
        ["list", "nonsense"],
    ],
)
def test_wrong_usage_exits_with_2(capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("usage: edgecritic")


def test_match_prints_a_table(capsys, maps):
    status, out, err = run(capsys, "match", *maps, "--tolerance", 2.5)
    assert (status, err) == (0, "")
    rows = {line[:15].strip(): line[15:].strip() for line in out.splitlines()}
    assert rows["strategy"] == "exact"
    assert rows["tolerance"].startswith("2.5 px")
    assert (rows["hits"], rows["false alarms"], rows["misses"], rows["F"]) == ("6", "1", "2", "0.8000")
    assert rows["mean distance"] == "0.5000 px"


def test_match_json(capsys, maps):
    status, out, err = run(capsys, "match", *maps, "--tolerance", 2.5, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found) == KEYS
    assert found.pop("coherence") >= found.pop("jumps") >= 0
    assert found == {
        "strategy": "exact",
        "tolerance": 2.5,
        "tp": 6,
        "fp": 1,
        "fn": 2,
        "precision": pytest.approx(6 / 7),
        "recall": pytest.approx(6 / 8),
        "f": pytest.approx(0.8),
        "mean_distance": pytest.approx(0.5),
        "judged": {"dimensions": 2, "shape": [10, 12], "spacing": None},
    }


def test_match_default_tolerance_is_a_share_of_the_diagonal(capsys, maps):
    _, out, _ = run(capsys, "match", *maps, "--json")
    assert json.loads(out)["tolerance"] == pytest.approx(0.0075 * np.hypot(10, 12))
    _, out, _ = run(capsys, "match", *maps, "--relative-tolerance", 0.1, "--json")
    assert json.loads(out)["tolerance"] == pytest.approx(0.1 * np.hypot(10, 12))


@pytest.mark.parametrize("name", strategies.names())
def test_match_takes_every_strategy(capsys, maps, name):
    status, out, _ = run(capsys, "match", *maps, "--strategy", name, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["strategy"] == name
    assert (found["tolerance"] is None) == (strategies.get(name).info.reach == "window")


def test_match_shows_a_window(capsys, maps):
    status, out, _ = run(capsys, "match", *maps, "-s", "eps(window=7)")
    assert status == 0
    assert "eps(window=7)" in out
    assert "a window" in out


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mat"])
def test_match_reads_other_files(capsys, maps, tmp_path, ending):
    array = load(maps[1]) > 0
    path = tmp_path / f"other{ending}"
    if ending == ".npy":
        np.save(path, array)
    elif ending == ".npz":
        np.savez(path, map=array)
    else:
        write_bsds_mat(path, [array])
    status, out, _ = run(capsys, "match", maps[0], path, "--tolerance", 2.5, "--json")
    assert status == 0
    assert json.loads(out)["tp"] == 6


@pytest.mark.filterwarnings("ignore:--spacing is 1, but")
def test_match_reads_volumes_with_their_voxel_size(capsys, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    volume = np.zeros((6, 7, 8), np.uint8)
    volume[2, :, :] = 1
    paths = []
    for name, array in (("candidate", np.roll(volume, 1, axis=0)), ("truth", volume)):
        image = nibabel.Nifti1Image(array, np.diag([2.0, 1.0, 1.0, 1.0]))
        paths.append(tmp_path / f"{name}.nii.gz")
        nibabel.save(image, paths[-1])
    for spacing, hits in ((None, 0), ("file", 0), ("1", 56), ("2,1,1", 0)):
        options = [] if spacing is None else ["--spacing", spacing]
        status, out, _ = run(capsys, "match", *paths, "--tolerance", 1.5, "--json", *options)
        assert status == 0
        assert json.loads(out)["tp"] == hits
    _, told, _ = run(capsys, "match", *paths)
    assert "pixel size 2 × 1 × 1" in told
    overlay = tmp_path / "overlay.png"
    status, out, _ = run(capsys, "match", *paths, "--spacing", "file", "--tolerance", 2, "--overlay", overlay)
    assert status == 0
    assert "(plane 2 of 6)" in out
    assert " px" not in out
    assert load(overlay).shape == (7, 8, 3)


def test_match_chooses_an_annotator(capsys, maps, tmp_path):
    array = load(maps[1]) > 0
    truths = write_bsds_mat(tmp_path / "several.mat", [array, np.zeros_like(array), array])
    status, out, _ = run(capsys, "match", maps[0], truths, "--tolerance", 2.5)
    assert status == 0
    assert "annotator 1 of 3 (--annotator N chooses)" in out
    _, out, _ = run(capsys, "match", maps[0], truths, "--tolerance", 2.5, "--annotator", 2, "--json")
    assert json.loads(out)["tp"] == 0
    _, out, _ = run(capsys, "match", truths, truths, "--candidate-annotator", 2, "--json")
    assert (json.loads(out)["tp"], json.loads(out)["fn"]) == (0, 8)
    status, _, err = run(capsys, "match", maps[0], truths, "--annotator", 4)
    assert status == 1
    assert "holds 3 map(s); --annotator must lie in 1…3, got 4" in err


def test_match_draws(capsys, maps, tmp_path):
    overlay = tmp_path / "new" / "overlay.png"
    photo = tmp_path / "photo.png"
    Image.fromarray(np.full((10, 12, 3), 200, np.uint8)).save(photo)
    status, out, _ = run(capsys, "match", *maps, "--tolerance", 2.5, "--overlay", overlay, "--image", photo)
    assert status == 0
    assert f"overlay: {overlay}" in out
    picture = load(overlay)
    assert picture.shape == (10, 12, 3)
    assert tuple(picture[4, 9]) == MISS
    status, _, err = run(capsys, "match", *maps, "--overlay", tmp_path / "overlay.gif")
    assert (status, err.count("\n")) == (1, 1)
    assert "must name a .png file" in err


def test_match_cuts_grey_maps_on_demand(capsys, maps, tmp_path):
    soft = tmp_path / "soft.png"
    Image.fromarray(load(maps[0]) // 2 + 40).save(soft)
    status, _, err = run(capsys, "match", soft, maps[1])
    assert status == 1
    assert "binarize" in err
    status, out, _ = run(capsys, "match", soft, maps[1], "--binarize", 0.5, "--tolerance", 2.5, "--json")
    assert status == 0
    assert json.loads(out)["tp"] == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--strategy", "exakt"], "did you mean 'exact'?"),
        (["--strategy", "exact("], "an id has the form"),
        (["--tolerance", "-1"], "tolerance must be a finite number"),
        (["--tolerance", "1e9"], "smaller"),
        (["--spacing", "1,2,3"], "spacing must have 2 numbers"),
        (["--image", "no-such-photo.png", "--overlay", "overlay.png"], "no-such-photo.png: no such file"),
    ],
)
def test_known_errors_are_one_line(capsys, maps, change, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "match", *maps, *change)
    assert (status, out) == (1, "")
    assert err.startswith("edgecritic: ")
    assert err.count("\n") == 1
    assert words in err


def test_missing_and_broken_files_are_named(capsys, maps, tmp_path):
    for name, content in (("absent.png", None), ("broken.png", b"not a picture"), ("text.xyz", b"")):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        status, out, err = run(capsys, "match", path, maps[1])
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
        assert name in err


@pytest.fixture
def break_match(monkeypatch):
    """Let ``edgecritic match`` raise an error."""

    def install(error: BaseException) -> None:
        def fail(args):
            raise error

        monkeypatch.setattr("edgecritic.cli.match.run", fail)

    return install


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "edgecritic: interrupted\n"),
        (InputError("two\nlines"), 1, "edgecritic: two lines\n"),
        (MemoryError(), 1, "edgecritic: not enough memory for this input\n"),
        (PermissionError(13, "Permission denied", "a.png"), 1, "edgecritic: a.png: Permission denied\n"),
    ],
)
def test_errors_become_one_line(capsys, break_match, error, status, said):
    break_match(error)
    assert run(capsys, "match", "a", "b") == (status, "", said)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), OSError("no file is to blame")])
def test_other_errors_are_not_hidden(break_match, error):
    break_match(error)
    with pytest.raises(type(error)):
        main(["match", "a", "b"])


def test_warnings_are_one_line(monkeypatch):
    said = []

    def warn(args):
        said.append(warnings.formatwarning("look here", UserWarning, "file.py", 7))
        return 0

    monkeypatch.setattr("edgecritic.cli.match.run", warn)
    before = warnings.formatwarning
    assert main(["match", "a", "b"]) == 0
    assert said == ["edgecritic: warning: look here\n"]
    assert warnings.formatwarning is before


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["list", "protocols", "--json"], ["list", "layouts"]])
def test_a_closed_pipe_is_no_error(arguments, unbuffered):
    source = str(Path(edgecritic.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "edgecritic", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": unbuffered},
    )
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 128 + signal.SIGPIPE
    assert said == b""


@pytest.mark.parametrize("kind", listing.KINDS)
def test_list_knows_every_kind(capsys, kind):
    status, out, err = run(capsys, "list", kind, "--json")
    if status == 1:
        assert err == f"edgecritic: this version has no {kind} yet\n"
        return
    found = json.loads(out)[kind]
    names = [entry["name"] for entry in found]
    assert len(set(names)) == len(names) > 0
    assert all(entry["summary"] for entry in found)
    status, out, _ = run(capsys, "list", kind)
    assert status == 0
    for name in names:
        assert f"\n{name}" in f"\n{out}"
    status, out, _ = run(capsys, "list", kind, names[0])
    assert status == 0
    assert names[0] in out


def test_list_shows_parameters_with_defaults(capsys):
    _, out, _ = run(capsys, "list", "strategies")
    assert "eps(window=5)" in out
    _, out, _ = run(capsys, "list", "strategies", "eps", "--json")
    (entry,) = json.loads(out)["strategies"]
    assert entry["parameters"] == {"window": 5}
    assert entry["one_to_one"] is True


def test_list_tells_protocols_apart(capsys):
    assert main(["list", "protocols"]) == 0
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "tolerance 0.011 of the diagonal, NMS rcf_nyud" in told["nyud"]
    assert "AP interpolated-101+zero" in told["edter"]


def test_a_misspelt_option_gets_the_usage_of_its_command(capsys):
    assert main(["bench", "maps", "--truth", "truths", "--protocl", "nyud"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: edgecritic bench ")
    assert "did you mean --protocol?" in told


def test_list_tells_the_conventions_of_one(capsys):
    _, out, _ = run(capsys, "list", "measures", "hd95")
    assert "percent=100" in out
    assert "metricsreloaded" in out
    assert ">>>" not in out


def test_list_fits_a_narrow_terminal():
    found = listing.entries("measures")
    whole, narrow = listing._overview(found, None), listing._overview(found, 80)
    assert max(map(len, whole.splitlines())) > 80 >= max(map(len, narrow.splitlines()))
    assert set(" ".join(narrow.split()).split()) == set(" ".join(whole.split()).split())


def test_list_refuses_unknown_names_and_families(capsys):
    status, _, err = run(capsys, "list", "strategies", "exakt")
    assert status == 1
    assert "did you mean 'exact'?" in err
    status, _, err = run(capsys, "list", "strategies", "--family", "distances")
    assert status == 1
    assert "have no families" in err


def test_warmup_tells_every_part(capsys):
    status, out, err = run(capsys, "warmup", "--json", "--jobs", "2")
    assert (status, err) == (0, "")
    found = json.loads(out)
    names = {part["name"] for part in found["parts"]}
    assert {f"match {name}, {ndim}-D" for name in strategies.names() for ndim in (2, 3)} <= names
    assert 2 * found["seconds"] >= sum(part["seconds"] for part in found["parts"])
    status, out, _ = run(capsys, "warmup", "--jobs", "1")
    assert status == 0
    assert out.splitlines()[-1].startswith("total, with loading")


def test_warmup_names_what_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.graph.python.linear_sum_assignment", None)
    status, out, _ = run(capsys, "warmup", "--jobs", "1")
    assert status == 0
    assert 'pip install "edgecritic[csa]"' in out


def test_json_has_no_nan(capsys):
    _output.print_json(
        {"a": float("nan"), "b": (float("inf"), 1), "c": np.float64(2), "d": Path("x"), 3: {True}}
    )
    assert json.loads(capsys.readouterr().out) == {
        "a": None,
        "b": ["inf", 1],
        "c": 2.0,
        "d": "x",
        "3": [True],
    }


def test_an_empty_table_is_empty():
    assert text_table([]) == ""


def test_progress_shows_a_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _output.progress("working") as step:
        step(1, 4)
        step(4, 4)
    said = capsys.readouterr()
    assert said.out == ""
    assert "working" in said.err


def test_the_order_of_help_names_modules(capsys):
    """Modules of the package that add a command are all found."""
    found = {name.rpartition(".")[2] for name in command._command_modules()}
    assert {"match", "listing", "warmup", "doctor"} <= found
    assert not {name for name in found if name.startswith("_")}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_is_full_is_one_line():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "edgecritic", "list", "protocols"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cannot write the output" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads cannot be counted here")
@pytest.mark.parametrize(("given", "value"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_numpy_has_one_thread_in_commands_unless_the_user_says_otherwise(given, value):
    """With more it adds in another order, and its threads take the cores from others while they wait."""
    code = (
        "import os, sys\nfrom edgecritic.cli.main import command\nassert 'numpy' not in sys.modules\n"
        "sys.argv[1:] = ['--version']\ncommand()\nimport numpy\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], len(os.listdir('/proc/self/task')))"
    )
    bare = {name: one for name, one in os.environ.items() if name not in ONE_THREAD}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare | given, capture_output=True, text=True, check=True
    )
    said, threads = done.stdout.split()[-2:]
    assert said == value
    assert value != "1" or threads == "1"


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="another C library keeps memory by its own rules"
)
@pytest.mark.parametrize(
    ("given", "keeps"),
    [({}, True), ({"MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_MMAP_THRESHOLD_": "131072"}, False)],
)
def test_the_memory_of_an_image_serves_the_next_one(given, keeps):
    """What a thread frees is not fetched from the system again, page by page, unless the user says so."""
    code = """
import resource, sys, threading
from edgecritic.cli import main
sys.argv[1:] = ["bench"]
main.main = lambda: 0
main.command()
import numpy as np

def judge():
    for _ in range(5):
        start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [np.ones(2_000_000) for _ in range(3)]
        arrays.clear()
        found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - start)

found = []
thread = threading.Thread(target=judge)
thread.start()
thread.join()
print(found[0], max(found[2:]))
"""
    bare = {name: one for name, one in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare | given, capture_output=True, text=True, check=True
    )
    first, later = map(int, done.stdout.split())
    assert (later < first / 10) == keeps


@pytest.mark.parametrize(
    ("words", "keeps"), [(["bench"], True), ([], True), (["studio", "--port", "0"], False), (["view"], False)]
)
def test_servers_give_memory_back(monkeypatch, words, keeps):
    """They run for days, and a thread of theirs may have needed much once."""
    called = []
    for name in ONE_THREAD:  # it sets these
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(sys, "argv", ["edgecritic", *words])
    monkeypatch.setattr(command, "main", lambda: 0)
    monkeypatch.setattr(command, "_spare_modules", lambda: None)
    monkeypatch.setattr(command, "_keep_memory", lambda: called.append(True))
    monkeypatch.setattr("gc.freeze", lambda: None)
    assert command.command() == 0
    assert bool(called) == keeps


def test_numba_is_imported_without_coverage():
    """It would import that wherever it is installed; those who measure have imported it before."""
    begin = "import sys{}; from edgecritic.cli.main import prepare_process; prepare_process()"
    program = f"{begin}; print(sys.modules['coverage'])"
    bare = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    for given, expected in (("", "None"), (", coverage", "<module 'coverage'")):
        code = program.format(given)
        done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True)
        assert done.stdout.startswith(expected), done.stderr


@pytest.mark.parametrize("error", [AttributeError("mallopt"), OSError("no library"), TypeError("a name")])
def test_another_c_library_is_left_alone(monkeypatch, error):
    class Library:
        @property
        def mallopt(self):
            raise error

    for name in [name for name in os.environ if name.startswith(("MALLOC_", "GLIBC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("ctypes.CDLL", lambda _: Library())
    _keep_memory()


def test_a_very_long_id_is_clipped(capsys, tmp_path):
    np.save(tmp_path / "a.npy", np.eye(5))
    assert main(["match", *[str(tmp_path / "a.npy")] * 2, "-s", "(" * 5000]) == 1
    assert len(capsys.readouterr().err) < 400
