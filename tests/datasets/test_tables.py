"""The tables of formats and layouts: what every record must keep, and that one record is all it takes."""

from __future__ import annotations

import gc
import json
import runpy
import threading
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from edgecritic.catalogue import available
from edgecritic.cli.main import main
from edgecritic.datasets import find_cases, find_truths, read_array, read_mask, read_strength, read_truths
from edgecritic.datasets._guard import quiet
from edgecritic.datasets.content import Content
from edgecritic.datasets.formats import file_format, format_of, formats
from edgecritic.datasets.layouts import Listing, layout, layouts
from edgecritic.datasets.names import split_name
from edgecritic.datasets.write import write_map
from edgecritic.errors import EdgeCriticError

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
SAMPLES = CORPUS["samples"]()
MASK = np.eye(6, 8, dtype=bool)


@pytest.fixture
def tables():
    """Leave the tables as they were."""
    before = [(table, {entry.name: entry for entry in table}) for table in (formats, layouts)]
    yield
    for table, entries in before:
        table._entries.clear()
        table._entries.update(entries)


@pytest.mark.parametrize("entry", list(formats), ids=lambda entry: entry.name)
def test_every_format_has_samples(entry):
    if entry.name == "dicomseg":
        pytest.importorskip("pydicom")
    names = [name for name in SAMPLES if format_of(name).name == entry.name]
    assert names, "add a sample to tests/datasets/corpus.py"
    checked = [name for name in CORPUS["CHECKED"] if format_of(name).name == entry.name]
    assert bool(checked) != entry.info.checksums.startswith("none")


def test_endings_are_those_of_one_format():
    endings = [suffix for entry in formats for suffix in entry.info.suffixes]
    assert len(endings) == len(set(endings))
    for ending in endings:
        assert ending == ending.lower()
        assert split_name(f"a.b{ending.upper()}") == ("a.b", ending)


@pytest.mark.parametrize("entry", [one for one in formats if one.info.write], ids=lambda entry: entry.name)
def test_what_is_written_is_read(tmp_path, entry):
    for suffix in entry.info.suffixes:
        np.testing.assert_array_equal(read_mask(write_map(tmp_path / f"a{suffix}", MASK)), MASK)


@pytest.mark.usefixtures("tables")
def test_one_record_is_a_format(tmp_path, capsys):
    @file_format("bits", suffixes=(".bits", ".bits.gz"), summary="eight columns of packed bits")
    def read_bits(data, _):
        return np.unpackbits(np.frombuffer(data, np.uint8)).reshape(-1, 8)

    for folder in ("found", "truth"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.bits").write_bytes(np.packbits(MASK).tobytes())
    (case,) = find_cases(tmp_path / "found", tmp_path / "truth")
    np.testing.assert_array_equal(case.load_truths()[0], MASK)
    np.testing.assert_array_equal(read_strength(tmp_path / "found/a.bits"), MASK / 255)
    assert split_name("a.bits.gz") == ("a", ".bits.gz")
    assert "bits" in available("formats")
    assert main(["list", "formats"]) == 0
    assert "eight columns of packed bits" in capsys.readouterr().out


@pytest.mark.usefixtures("tables")
def test_one_record_is_a_layout(tmp_path, capsys):
    @layout("dated", title="one file per day", example="2024-01-31_NAME.png", rank=55)
    def dated(place):
        """One file per image and day."""
        result = Listing()
        for stem in [stem for stem in place.files if "_" in stem]:
            result.add(stem.partition("_")[2], place.files.pop(stem))
        return result

    for name in ("d1_a.png", "d2_a.png", "b.png"):
        write_map(tmp_path / "truth" / name, MASK)
    write_map(tmp_path / "found/a.png", MASK)
    found = find_cases(tmp_path / "found", tmp_path / "truth")
    assert [path.name for path in found.cases[0].truths] == ["d1_a.png", "d2_a.png"]
    assert found.without_prediction == ("b",)
    assert found.layout == "one file per day, one file per image"
    assert main(["list", "layouts", "dated"]) == 0
    assert "2024-01-31_NAME.png" in capsys.readouterr().out


@pytest.mark.parametrize("entry", list(layouts), ids=lambda entry: entry.name)
def test_the_example_of_every_layout_is_found(tmp_path, entry):
    files = [tmp_path / name for name in entry.info.example.replace("SPLIT", "val").split(", ")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [["NAME.jpg", "a.png", "b.png"]]
        file.write_text(json.dumps(rows) if file.suffix == ".json" else "NAME.jpg a.png b.png")
    wanted = {"scene/NAME"} if entry.name == "nested" else {"NAME"}
    places = files if entry.name in ("file", "list") else [tmp_path]
    for place in places:
        found = find_truths(place, wanted)
        assert set(found.files) == ({"truth"} if entry.name == "file" else wanted)
        assert entry.info.title in found.layouts or found.images


def test_ranks_of_layouts_differ():
    ranks = [entry.info.rank for entry in layouts]
    assert len(ranks) == len(set(ranks))


def test_quiet_is_of_one_thread():
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with quiet():
            inside.set()
            leave.wait(10)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        other = threading.Thread(target=stay)
        other.start()
        assert inside.wait(10)
        warnings.warn("of another thread", stacklevel=1)
        with quiet():
            warnings.warn("hidden", stacklevel=1)
            leave.set()
            other.join(10)
        warnings.warn("afterwards", stacklevel=1)
    assert [str(one.message) for one in seen] == ["of another thread", "afterwards"]


@pytest.mark.parametrize("name", ["cells.mat", "packed.npz", "a.npy", "grey.png", "a.nii.gz"])
def test_a_refused_file_leaves_nothing_in_memory(name):
    content = Content(Path(name), SAMPLES[name][:-9])
    gc.collect()
    gc.disable()
    try:
        for read in (read_array, read_truths, read_strength):
            try:
                read(content)
            except EdgeCriticError:
                continue
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kept = [one.f_code.co_name for one in gc.garbage if isinstance(one, types.FrameType)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert kept == []
