"""``bench --also strategies``: one run by all strategies equals runs by each; the sentence follows."""

from __future__ import annotations

import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write
from edgecritic.report.bench import load_results
from edgecritic.report.benchmark.strategies import ranking_sentence
from edgecritic.run.judge import STRATEGIES


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strategies")
    write(folder / "data", 2)
    return folder


def bench(home, *more):
    folders = [f"{name}={home / 'data/predictions' / name}" for name in ("good", "noisy")]
    return main(["bench", *folders, "--truth", str(home / "data/truth"), "--bootstrap", "0", *more])


def test_one_run_equals_a_run_by_each(home, capsys):
    assert bench(home, "--also", "strategies", "-o", str(home / "all")) == 0
    shown = capsys.readouterr().out
    detectors = load_results(home / "all")["detectors"]
    ranked = sorted(detectors, key=lambda one: -one["ods"]["f"])
    assert ranking_sentence(ranked)[:40] in " ".join(shown.split())
    assert ranking_sentence(ranked)[:40] in (home / "all/report.md").read_text()
    for name in STRATEGIES:
        file = home / f"{name}.toml"
        file.write_text(f'id = "by-{name}"\nbase = "bsds"\nstrategy = "{name}"\n')
        assert bench(home, "--also", "none", "--protocol", str(file), "-o", str(home / name)) == 0
        for together, alone in zip(detectors, load_results(home / name)["detectors"], strict=True):
            row = next(row for row in together["strategies"] if row["strategy"] == name)
            assert row["ods"] == alone["ods"]
            assert row["ap"] == alone["ap"]
            assert row["ois"]["f"] == alone["ois"]["f"]
            assert alone["strategies"] == []


def detector(name, **ods):
    return {"name": name, "strategies": [{"strategy": key, "ods": {"f": f}} for key, f in ods.items()]}


def test_the_sentence_follows_from_the_numbers():
    first = detector("a", exact=0.7, eps=0.6, area=0.5)
    same = ranking_sentence([first, detector("b", exact=0.6, eps=0.5, area=0.4)])
    assert same == "The ranking does not depend on the strategy: all 3 put a before b by ODS."
    swapped = ranking_sentence([first, detector("b", exact=0.6, eps=0.5, area=0.51)])
    assert swapped == "The ranking depends on the strategy: exact puts a before b, area does not."
    both = ranking_sentence([first, detector("b", exact=0.6, eps=0.7, area=0.51)])
    assert both.endswith("exact puts a before b, eps and area do not.")
    level = ranking_sentence([first, detector("b", exact=0.7, eps=0.6, area=0.5)])
    assert level.endswith("all 3 put a level with b by ODS.")
    parted = ranking_sentence([first, detector("b", exact=0.7, eps=0.6, area=0.4)])
    assert parted.endswith("exact has a and b level, area does not.")
    alone = ranking_sentence([first])
    assert (
        alone
        == "The ODS of a lies between .500 (area) and .700 (exact); with one detector there is no ranking."
    )


def test_many_changes_are_counted():
    found = [
        detector(name, exact=0.5 + place / 100, eps=0.5 - place / 100) for place, name in enumerate("abcde")
    ]
    assert ranking_sentence(found).endswith("7 more pairs change places.")


@pytest.mark.parametrize(("strategy", "told"), [("exact", True), ("distance", False)])
def test_the_human_level_is_matched_as_the_detectors_are_or_left_out(home, capsys, strategy, told):
    """People are matched one to one and exactly; beside numbers of another kind that would mislead."""
    (home / f"{strategy}-only.toml").write_text(f'id = "only"\nbase = "bsds"\nstrategy = "{strategy}"\n')
    more = ["--protocol", str(home / f"{strategy}-only.toml"), "-o", str(home / f"human-{strategy}")]
    assert bench(home, *more) == 0
    assert (load_results(home / f"human-{strategy}")["human"] is not None) is told
    capsys.readouterr()
