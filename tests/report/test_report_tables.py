"""Tables: order, numbers, width, marks, escapes; the layout of results and the files of the report."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import pytest

from edgecritic.errors import DataError
from edgecritic.report.bench import load_results, write_benchmark
from edgecritic.report.benchmark.leaderboard import leaderboard_csv, leaderboard_tex, leaderboard_text
from edgecritic.report.schema import check_results
from edgecritic.report.text import tex_escape
from edgecritic.report.view import View
from edgecritic.run.files import replace_file


def empty(make_results):
    return {**make_results(1, 1), "detectors": [], "comparisons": [], "curves": [], "human": None}


def cells(text):
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide


def test_terminal_table_is_sorted_and_names_the_origin(make_results):
    results = make_results(3)
    results["detectors"].reverse()
    text = leaderboard_text(results)
    rows = [line for line in text.splitlines() if re.match(r"\d  ", line)]
    names = sorted(results["detectors"], key=lambda d: -d["ods"]["f"])
    assert [row.split("  ")[1] for row in rows] == [d["name"] for d in names]
    for detector, row in zip(names, rows, strict=True):
        low, high = detector["intervals"]["ods"]
        for value in (detector["ods"]["f"], low, high, detector["ois"]["f"], detector["ap"]):
            assert f"{value:.3f}"[1:] in row
    for words in (
        "protocol bsds",
        "4.34 px",
        "NMS none",
        "AP rule interpolated-101",
        "human",
        "1 file failed",
    ):
        assert words in text
    assert "***" not in rows[0]


def test_significance_marks_come_from_the_leaders_comparisons(make_results):
    results = make_results(3)
    leader, second, third = (d["name"] for d in results["detectors"])
    # One comparison is written the other way round; the last does not concern the leader.
    score = {"difference": 0.01, "low": 0.0, "high": 0.02}
    results["comparisons"] = [
        {"first": second, "second": leader, "ods": {**score, "p": 0.03}},
        {"first": leader, "second": third, "ods": {**score, "p": 0.5}},
        {"first": second, "second": third, "ods": {**score, "p": 0.0001}},
    ]
    rows = {
        name: line
        for line in leaderboard_text(results).splitlines()
        for name in (second, third)
        if name in line
    }
    assert re.search(r"\]  \*  ", rows[second])
    assert "*" not in rows[third]
    assert "$^{*}$" in leaderboard_tex(View(results))
    assert "***" not in leaderboard_tex(View(results)).split(r"\begin{tabular}")[1].split(r"\end{tabular}")[0]


@pytest.mark.parametrize("name", ["n" * 300, "邊緣" * 80, "a\x1b[31mred\nline\x00\udcff"])
@pytest.mark.parametrize("width", [80, 100])
def test_any_name_fits_into_the_terminal(make_results, name, width):
    text = leaderboard_text(make_results(names=[name, "other"]), width=width)
    assert max(cells(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    text.encode("utf-8")
    assert len({cells(line) for line in text.splitlines()[2:4]}) == 1


def test_names_that_differ_at_their_ends_stay_different(make_results):
    names = [f"a_network_that_was_trained_for_long/checkpoint_{epoch:05}" for epoch in (100, 200)]
    text = leaderboard_text(make_results(names=names), width=80)
    assert re.findall(r"^\d  (a_netw\S*…\S*00100) ", text, re.MULTILINE)
    assert re.findall(r"^\d  (a_netw\S*…\S*00200) ", text, re.MULTILINE)


def test_the_header_names_intervals_only_where_there_are_some(make_results):
    results = make_results(2)
    assert "ODS [95 %]" in leaderboard_text(results).splitlines()[0]
    for detector in results["detectors"]:
        detector["intervals"] = None
    header = leaderboard_text(results).splitlines()[0]
    assert "ODS" in header
    assert "%" not in header


def test_empty_and_bare_results(make_results):
    results = empty(make_results)
    assert "No detector" in leaderboard_text(results)
    assert len(leaderboard_csv(View(results)).splitlines()) == 1
    assert r"\bottomrule" in leaderboard_tex(View(results))
    bare = bare_results(make_results)
    check_results(bare)
    assert "AP" not in leaderboard_text(bare).splitlines()[0]
    assert "–" not in leaderboard_text(bare)


def bare_results(make_results):
    """Return the least that the layout allows."""
    full = make_results(1, 2)
    keep = ("name", "images", "ods", "ois", "curve", "per_image")
    return {
        "schema": 1,
        "protocol": {"id": "mine"},
        "versions": {},
        "detectors": [{key: full["detectors"][0][key] for key in keep}],
    }


def test_csv_round_trips(make_results):
    results = make_results(3)
    results["detectors"][1]["name"] = 'a "quoted", name'
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(View(results)))))
    assert [row["name"] for row in rows] == [d["name"] for d in results["detectors"]]
    first, given = rows[0], results["detectors"][0]
    assert float(first["ods_f"]) == given["ods"]["f"]
    assert float(first["ap_high"]) == given["intervals"]["ap"][1]
    assert float(first["ceval_ods"]) == given["ceval"]["ods"]["f"]
    assert first["ods_p_against_leader"] == ""
    assert first["tolerance_pixels_max"] == "4.3372"
    assert first["ap_rule"] == "interpolated-101"


def test_tex_escapes_and_marks_the_best(make_results):
    text = leaderboard_tex(View(make_results(names=["a_b & 50% #1 {x} $y$ \\z ~^", "plain"])))
    body = text.split(r"\midrule")[2]
    assert body.splitlines()[1].startswith(
        r"a\_b \& 50\% \#1 \{x\} \$y\$ \textbackslash{}z \textasciitilde{}\textasciicircum{} & \textbf{."
    )
    assert r"\textbf" not in body.splitlines()[2]
    columns = {line.count("&") - line.count(r"\&") for line in text.splitlines() if line.endswith(r"\\")}
    assert columns == {5}


def test_tex_escape_keeps_letters():
    assert tex_escape("Canny σ=2") == "Canny σ=2"


BREAKS = {
    "schema": (lambda r: r.update(schema=2), "schema 1, got 2"),
    "no schema": (lambda r: r.pop("schema"), "schema 1, got nothing"),
    "missing": (lambda r: r["detectors"][0].pop("ods"), r"detectors\[0\].ods: missing"),
    "text": (lambda r: r["detectors"][1]["ods"].update(f="1"), r"detectors\[1\].ods.f: .* number, got '1'"),
    "nan": (lambda r: r["detectors"][0].update(ap=float("nan")), "ap: expected a finite number"),
    "bool": (lambda r: r["detectors"][0].update(images=True), "images: expected a whole number"),
    "range": (lambda r: r["human"].update(f=1.5), r"human.f: expected a number in \[0, 1\], got 1.5"),
    "length": (
        lambda r: r["detectors"][0]["curve"]["f"].pop(),
        "one length, got recall 99, precision 99, f 98",
    ),
    "pair": (lambda r: r["detectors"][0]["intervals"].update(ods=[1]), "list of 2, got a list of 1"),
    "twice": (lambda r: r["detectors"].append(r["detectors"][0]), "comes twice"),
    "list": (lambda r: r.update(notes="one"), "notes: expected a list, got 'one'"),
    "object": (lambda r: r.update(protocol=[]), "protocol: expected an object, got a list of 0"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_results_are_refused_in_words(make_results, name):
    results = copy.deepcopy(make_results(2, 3))
    check_results(results)
    change, message = BREAKS[name]
    change(results)
    with pytest.raises(DataError, match=message):
        check_results(results)


def keys_of(value):
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys_of(item)}
    return {key for item in value for key in keys_of(item)} if isinstance(value, list) else set()


def test_every_key_is_documented(make_results):
    page = (Path(__file__).parents[2] / "docs/reference/results.md").read_text(encoding="utf-8")
    results = make_results(2, 1)
    for detector in results["detectors"]:
        detector.pop("ap_rules")
    assert [key for key in sorted(keys_of(results)) if not re.search(rf"[`\"]{key}[`\"]", page)] == []


def test_load_results(make_results, tmp_path):
    results = make_results(2, 3)
    file = tmp_path / "results.json"
    file.write_text(json.dumps(results), encoding="utf-8")
    assert load_results(file) == load_results(tmp_path) == results
    file.write_text('{"schema": 3}', encoding="utf-8")
    with pytest.raises(DataError, match=r"results\.json: results: this version reads schema 1, got 3"):
        load_results(file)
    file.write_bytes(b"\xff\xfe{")
    with pytest.raises(DataError, match="is no UTF-8 text"):
        load_results(file)
    with pytest.raises(DataError, match="no such file"):
        load_results(tmp_path / "none.json")


def test_write_report_writes_the_same_bytes_again_and_nothing_else(make_results, tmp_path):
    pytest.importorskip("matplotlib")
    results = make_results(2, 4)
    given = copy.deepcopy(results)
    files = write_benchmark(tmp_path / "new" / "folder", results)
    names = ["pr.pdf", "pr.png", "pr.svg", "report.html", "report.md", "rows.tex", "table.csv", "table.tex"]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == names
    before = [path.read_bytes() for path in files]
    assert [path.read_bytes() for path in write_benchmark(tmp_path / "new" / "folder", results)] == before
    assert results == given
    with pytest.raises(DataError):
        write_benchmark(tmp_path / "other", {"schema": 9})
    assert not (tmp_path / "other").exists()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    file = tmp_path / "kept.txt"
    file.write_text("old")

    def fail_half_way():
        with replace_file(file) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert file.read_text() == "old"
    with pytest.raises(DataError, match="cannot be written"), replace_file(file / "below a file"):
        pass
