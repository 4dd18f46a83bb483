"""The contract of results: found by themselves, made by ordinary calls, all with the same manners."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import importlib
import json
import pickle
import pkgutil
import runpy
import tempfile
import types
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic.values import Value, plain

STRENGTH = np.random.default_rng(1).random((16, 20)).round(2)
TRUTHS = [np.eye(16, 20, k, dtype=bool) for k in (0, 1, 3)]
IMAGE = np.random.default_rng(2).random((16, 20))


def classes() -> list[type[Value]]:
    """All result classes of the package."""
    for module in pkgutil.walk_packages(edgecritic.__path__, "edgecritic."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            with contextlib.suppress(edgecritic.errors.MissingExtraError):  # torch is not everywhere
                importlib.import_module(module.name)
    found: list[type[Value]] = []
    waiting = list(Value.__subclasses__())
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        if one.__module__.startswith("edgecritic") and not one.__name__.startswith("_"):
            found.append(one)
    return sorted(found, key=lambda one: (one.__module__, one.__name__))


def values_in(thing: object) -> Iterator[Value]:
    if isinstance(thing, Value):
        yield thing
        for field in dataclasses.fields(thing):
            yield from values_in(getattr(thing, field.name))
    elif isinstance(thing, Mapping):
        for item in thing.values():
            yield from values_in(item)
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from values_in(item)


@cache
def examples() -> dict[type[Value], Value]:
    """One value of every class, made by the calls of MAKERS."""
    found: dict[type[Value], Value] = {}
    for make in MAKERS:
        for value in values_in(make()):
            found.setdefault(type(value), value)
    return found


def benchmark() -> object:
    runner = edgecritic.Benchmark()
    for k in range(3):
        runner.update(np.roll(STRENGTH, k), TRUTHS, id=str(k))
    result = runner.result(draws=20)
    return [result, result.against(result, draws=9), edgecritic.sweep(STRENGTH, TRUTHS)]


def granularity() -> object:
    from edgecritic.protocols.granularity import granularity_oracle
    from edgecritic.protocols.summary import count_table

    counts = {"a": edgecritic.sweep(STRENGTH, TRUTHS).counts}
    return [granularity_oracle([counts, counts]), count_table(counts)]


def regions() -> object:
    from edgecritic.protocols import summarise_regions, sweep_segmentations
    from edgecritic.run.regions import RegionRun

    segments = np.arange(320).reshape(16, 20)
    found = sweep_segmentations([segments // 40, segments // 80], [segments // 100, segments // 160])
    run = RegionRun(results={"detectors": [], "failures": []}, regions={"mine": {"a": found}})
    return [summarise_regions({"a": found}), run]


def tuning() -> object:
    from edgecritic.tuning.summary import summarise_tunings

    found = edgecritic.tune(IMAGE, TRUTHS, detectors=["sobel"], measures=["f", "sk"], thresholds=5)
    return [found, summarise_tunings({"a": found})]


def people() -> object:
    from edgecritic.annotators import (
        Census,
        dataset_risk,
        output_strength,
        rated_labels,
        reliability,
        screening,
        shares,
        simulate_subject,
        strength,
        trials,
    )

    shared = np.zeros((60, 70), bool)
    shared[10, 5:60] = True
    own, candidate = shared.copy(), shared.copy()
    own[30, 5:40] = candidate[50, 10:50] = True
    found = strength([shared, own, shared], tolerance=2)
    asked = trials([("a", found, candidate), ("b", found, candidate)], mode="hard")
    answers = simulate_subject(asked)
    chosen = [asked, answers, dataset_risk(asked, answers), list(screening(asked, answers).values())]
    judged = reliability(0.5 * candidate, [found.maps[0]])
    people = [found, Census.of(found), shares([found]), output_strength(0.5 * candidate, found), chosen]
    return [*people, judged, rated_labels(found.maps), preferred()]


def preferred() -> object:
    from edgecritic.annotators.choice import Answer, EdgeMap, Trial
    from edgecritic.annotators.pairs import MapPool
    from edgecritic.annotators.preferences import preference
    from edgecritic.run.preference import PreferenceRun

    ends = [EdgeMap.of(np.eye(4, dtype=bool), name) for name in ("a", "b")]
    asked = Trial(id="1", image="i", detector="", mode="detector", left=ends[0], right=ends[1])
    answers = [Answer("1", "ann", "left"), Answer("1", "bob", "tie")]
    found = preference([asked], answers, {"f": [0.1], "fom": [-0.1]}, draws=4)
    origins = (("a", ""), ("b", ""))
    pool = MapPool(image="i", maps=tuple(ends), origins=origins, measures=("f",), goodness=np.ones((2, 1)))
    return [pool, found, PreferenceRun(trials=(asked,), found=found)]


def studies() -> object:
    from edgecritic.measures.coherence import edge_coherence
    from edgecritic.studies.advice import rank_changes
    from edgecritic.studies.claims import claim
    from edgecritic.studies.closer import look_at_pair, summarise_looks
    from edgecritic.studies.complexity import curves_of_image, summarise_curves
    from edgecritic.studies.consensus import consensus
    from edgecritic.studies.cuts import point_sets, synthetic_samples
    from edgecritic.studies.displacement import displacement
    from edgecritic.studies.matching import ScoreTable, analyse
    from edgecritic.studies.noise import noise
    from edgecritic.studies.pairing import accuracy, accuracy_of_samples, count_pairs, time_methods
    from edgecritic.studies.triplets import judge_triplet
    from edgecritic.studies.truths import TruthsStudy, judge_truths
    from edgecritic.studies.walkthrough import paper_example, walk_through

    look = look_at_pair(("a", "b"), (TRUTHS[0], TRUTHS[1]), 2.0)
    ranking = {("exact", 2.0): {"a": 0.4, "b": 0.3}, ("area", 2.0): {"a": 0.3, "b": 0.4}}
    walk = walk_through(*paper_example())
    judged = judge_truths("a", IMAGE, TRUTHS[:2], detectors=["sobel"], measures=["sk"])
    names = {"detectors": ("sobel",), "measures": ("sk",), "better": ("lower",)}
    images = ("a", "a", "b", "b")
    f = np.random.default_rng(0).random((4, 1, 4, 4))
    table = ScoreTable(
        f=np.where(np.eye(4, dtype=bool), np.nan, f),
        reference_images=images,
        candidate_images=images,
        reference_names=("a#0", "a#1", "b#0", "b#1"),
        candidate_names=("a#0", "a#1", "b#0", "b#1"),
        tolerances=(5.0,),
        symmetric=True,
    )
    return [
        summarise_curves([curves_of_image(IMAGE, TRUTHS, name="one")]),
        displacement("sk", reach=2, height=8),
        noise(detectors=["sobel"], measures=["sk"], ratios=[4.0], seeds=[1], thresholds=3, size=(32, 40)),
        accuracy("synthetic", {11: accuracy_of_samples(synthetic_samples(11, 3))}),
        time_methods("points, 2-D", point_sets(2, 30, 0), ["eps"], repeats=1),
        count_pairs("points, 2-D", point_sets(2, 30, 0), ["eps"]),
        [walk, walk.zones],
        [judged, TruthsStudy(**names, images=(judged,), editor="me")],
        [table, analyse(table), claim("r", "> .95", 0.9, source="Fig. 1")],
        [look, summarise_looks([look], maps="own", tolerance=2.0), rank_changes(ranking)],
        judge_triplet(("a", TRUTHS[0]), [("b", TRUTHS[1]), ("c", TRUTHS[2])], tolerance=2),
        consensus([np.eye(5) > 0, np.ones((5, 5)) > 0]),
        edge_coherence(np.eye(5) > 0),
    ]


def files() -> object:
    from edgecritic.datasets import diagnose, read_volume, synthetic

    with tempfile.TemporaryDirectory() as folder:
        synthetic.write(folder, 1)
        map_file = f"{folder}/predictions/good/synthetic-1.png"
        found = diagnose(f"{folder}/predictions/good", f"{folder}/images")
        return [found, read_volume(map_file)]


def runs() -> object:
    from edgecritic.datasets.cases import find_cases
    from edgecritic.datasets.write import write_bsds_mat, write_map
    from edgecritic.report.complexity import Shown
    from edgecritic.run import (
        detect_folder,
        run_annotators,
        run_bench,
        run_strength,
        score_folder,
        tune_folder,
    )
    from edgecritic.run.complexity import ComplexityRun
    from edgecritic.run.consensus import run_consensus
    from edgecritic.run.finished import load_run
    from edgecritic.run.labels import LabelsStudy
    from edgecritic.run.pairing import PairingExample, PairingStudy
    from edgecritic.run.propose import propose_folder
    from edgecritic.run.results import Failure, Run
    from edgecritic.run.score_files import ScoreSettings
    from edgecritic.run.strong_labels import Kept, write_labels
    from edgecritic.run.truths import run_truths
    from edgecritic.studies.complexity import curves_of_image, summarise_curves
    from edgecritic.studies.cuts import point_sets, synthetic_samples
    from edgecritic.studies.pairing import accuracy, accuracy_of_samples, count_pairs, time_methods

    failure = Failure(id="a", message="is grey", path="a.png", detector="mine")
    curves = curves_of_image(IMAGE, TRUTHS, name="one")
    rates = accuracy("synthetic", {11: accuracy_of_samples(synthetic_samples(11, 3))})
    settings = ScoreSettings(measures=("dice",), binarize=0.5)
    with tempfile.TemporaryDirectory() as home:
        for name in ("a", "b"):
            write_map(f"{home}/maps/{name}.png", STRENGTH)
            write_map(f"{home}/images/{name}.png", IMAGE)
            write_bsds_mat(f"{home}/truth/{name}.mat", TRUTHS)
        people = run_annotators(f"{home}/truth")
        judged = run_strength({"mine": f"{home}/maps"}, f"{home}/truth", levels=(0,))
        options = {"detectors": ["sobel"], "measures": ["sk"], "thresholds": 3}
        return [
            [failure, Run(results={"failures": [failure.as_dict()]}), settings],
            run_bench({"mine": f"{home}/maps"}, f"{home}/truth", draws=0, out=f"{home}/run"),
            load_run(f"{home}/run"),
            score_folder(f"{home}/maps", f"{home}/truth", settings=settings),
            tune_folder(f"{home}/images", f"{home}/truth", **options),
            detect_folder(f"{home}/images", "sobel", f"{home}/edges"),
            propose_folder(f"{home}/images", f"{home}/proposed"),
            run_truths(
                list(find_cases(None, f"{home}/truth", images=f"{home}/images")),
                detectors=["sobel"],
                measures=["sk"],
            ),
            LabelsStudy(annotators=people, strength=judged, trials=(), risks={}),
            PairingStudy(
                accuracy=(rates,),
                times=tuple(time_methods("points, 2-D", point_sets(2, 30, 0), ["eps"], repeats=1)),
                pairs=tuple(count_pairs("points, 2-D", point_sets(2, 30, 0), ["eps"])),
                examples=(
                    PairingExample(
                        data="synthetic",
                        side=3,
                        candidate=np.eye(3) > 0,
                        truth=np.eye(3) > 0,
                        scores={"eps": 1.0},
                        why="it is small",
                    ),
                ),
            ),
            ComplexityRun(study=summarise_curves([curves]), failures=(failure,)),
            Shown(curves=curves, photo=np.asarray(IMAGE), truths=tuple(TRUTHS), reason="it is small"),
            [Kept.parse("k=2"), write_labels(people, [Kept.parse("consensus")], f"{home}/strong")],
            run_consensus({"mine": f"{home}/maps", "again": f"{home}/maps"}),
        ]


def reports() -> object:
    from edgecritic.report.benchmark import benchmark_report
    from edgecritic.report.pictures import matching_picture, ranked_picture
    from edgecritic.report.sections import draw, study_report
    from edgecritic.report.view import View

    make_results = runpy.run_path(str(Path(__file__).with_name("report_results.py")))["make_results"]
    results = make_results(2, 3)
    png = matching_picture(TRUTHS[0], TRUTHS[0], TRUTHS, TRUTHS)
    view = View(results, [ranked_picture(results["detectors"][0]["name"], "1", 0.5, "best", png)])
    figure = draw("one", "One", "A line.", lambda figure: figure.subplots().plot([0, 1]))
    return [benchmark_report(view), view.series, study_report("A study", (), figures=[figure])]


def labels_and_lesions() -> object:
    from edgecritic.measures.label_maps import Labels
    from edgecritic.measures.lesions import RULES, evaluate
    from edgecritic.protocols.statistics import compare_cases, describe_cases
    from edgecritic.run.score_results import ScoreRun, compare_runs

    labels = Labels.from_toml("ignore = 9\n[labels.a]\nvalue = 1\ntolerance = 2\n")
    scored = edgecritic.score_labels(TRUTHS[0], TRUTHS[1], "dice", labels=labels)
    run = ScoreRun(cases={"a": scored, "b": scored}, files={"a": ("a.png", "a.png")})
    values = {"a": 1.0, "b": 2.0, "c": 4.0}
    statistics = [describe_cases([1, 2, 4]), compare_cases(values, {**values, "a": 0.5})]
    lesions = [evaluate(TRUTHS[0], TRUTHS[1]), RULES["overlap"]]
    return [labels, scored, run, compare_runs({"x": run, "y": run}, draws=9), statistics, lesions]


def learned() -> object:
    from edgecritic.annotators import output_strength, strength
    from edgecritic.learned import Model
    from edgecritic.protocols.presets import get_protocol
    from edgecritic.run.fit import FitRun
    from edgecritic.run.folds import CrossRun
    from edgecritic.run.retrain import RetrainRun
    from edgecritic.studies.retrain import CurvePoint, RetrainStudy

    model = Model(detector="pb", parameters={"a": [1.0]}, labels="all", seed=0, photos={"1": "ab"})
    runner = edgecritic.Benchmark(get_protocol("bsds"))
    for k in range(2):
        runner.update(np.roll(STRENGTH, k), TRUTHS, id=str(k))
    result = runner.result(draws=9)
    study = RetrainStudy(
        trained=("all", "consensus"),
        cues=("grey",),
        results={
            f"{one}|grey|{judge}": result for one in ("all", "consensus") for judge in ("all", "consensus")
        },
        tests={"consensus|grey|consensus": result.against(result, draws=9)},
        models={"all": model.as_dict()},
        photos=2,
        images=2,
        outputs={"all": output_strength(STRENGTH, strength(TRUTHS, tolerance=2))},
        curve=(CurvePoint.of(2, "all", "all", result),),
    )
    crossed = CrossRun(models=(model, model), maps="maps", result=result, failures=())
    return [crossed, FitRun(models={"all": model}, failures=()), RetrainRun(study=study, failures=())]


MAKERS = [
    learned,
    reports,
    regions,
    files,
    runs,
    people,
    studies,
    lambda: edgecritic.match(TRUTHS[0], TRUTHS[1], tolerance=2),
    lambda: edgecritic.matching.match_pixels(np.array([2, 5]), np.array([3]), (4, 5), tolerance=2, spacing=1),
    labels_and_lesions,
    lambda: edgecritic.score(TRUTHS[0], TRUTHS, ["hausdorff", "jaccard"]),
    lambda: edgecritic.detect(IMAGE, "sobel"),
    lambda: edgecritic.maps.as_mesh([[0, 0], [0, 1], [1, 0]], [[0, 1], [1, 2], [2, 0]]),
    lambda: edgecritic.datasets.Geometry.of(np.diag([1, 1, 3, 1]), (4, 5, 6)),
    lambda: [edgecritic.compare(*TRUTHS[:2]).confusion, edgecritic.compare(*TRUTHS[:2]).distances],
    lambda: edgecritic.compare(*TRUTHS[:2]).explain(tolerance=2),
    lambda: edgecritic.measures.curves(STRENGTH, TRUTHS[0], "jaccard", thresholds=3),
    lambda: edgecritic.protocols.human_level([edgecritic.protocols.human_counts(TRUTHS)]),
    lambda: importlib.import_module("edgecritic.protocols.crispness").summarise_crispness([0.5, 0.7]),
    lambda: importlib.import_module("edgecritic.maps.suppression").get_recipe("hed"),
    lambda: importlib.import_module("edgecritic.maps.suppression").get_recipe("surface"),
    lambda: edgecritic.protocols.ClassRules(names=("road", "car")),
    benchmark,
    granularity,
    tuning,
    lambda: importlib.import_module("edgecritic.annotators.exclusion").Rules(),
    lambda: importlib.import_module("edgecritic.run.published").PUBLISHED["bsds500/HED"],
]


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
class TestContract:
    @pytest.fixture
    def value(self, kind):
        assert kind in examples(), f"MAKERS of {__file__} makes no {kind.__name__}; add a call that does"
        return examples()[kind]

    def test_frozen(self, value):
        field = dataclasses.fields(value)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, None)
        for each in dataclasses.fields(value):
            content = getattr(value, each.name)
            assert not (isinstance(content, np.ndarray) and content.flags.writeable), each.name

    def test_equal_by_content_and_copied(self, value):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert again == value
            assert hash(again) == hash(value)
        assert value != "something else"

    def test_every_content_counts(self, value):
        for field in dataclasses.fields(value):
            if field.compare:
                assert _other(value, field.name) != value, field.name

    def test_says_what_it_is(self, value):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 600
        assert str(value).strip()

    def test_becomes_json_rows_and_html(self, value):
        assert json.loads(json.dumps(value.as_dict(), allow_nan=False)) == plain(value.as_dict())
        for row in value.rows():
            assert all(item is None or isinstance(item, bool | int | float | str) for item in row.values())
        shown = value._repr_html_()
        assert shown.startswith("<div><p>")
        assert "<table>" in shown
        assert ("data:image/png;base64," in shown) is hasattr(value, "plot")


@pytest.mark.parametrize(
    "kind", [kind for kind in classes() if hasattr(kind, "plot")], ids=lambda kind: kind.__name__
)
def test_plot_draws_into_the_given_axes_or_a_new_figure(kind):
    figures = pytest.importorskip("matplotlib.figure")
    value, axes = examples()[kind], figures.Figure().subplots()
    assert value.plot(axes) is axes
    assert axes.has_data()
    own = value.plot()
    assert own is not axes
    assert own.figure.axes == [own]
    assert len(own.lines) == len(axes.lines)


def _other(value: Value, name: str) -> Value:
    """The value with one content exchanged, made without its checks."""
    other = object.__new__(type(value))
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        object.__setattr__(other, field.name, ("changed", content) if field.name == name else content)
    return other


def test_public_results_are_values():
    """A frozen class that a public call returns is a value, not a dataclass of its own kind."""
    rooms = [edgecritic, *(getattr(edgecritic, name) for name in sorted(edgecritic._ROOMS))]
    for room in rooms:
        for name in getattr(room, "__all__", ()):
            thing = getattr(room, name)
            if isinstance(thing, type) and dataclasses.is_dataclass(thing) and name not in METADATA:
                assert issubclass(thing, Value), f"{room.__name__}.{name}"


METADATA = {"MeasureInfo", "StrategyInfo", "DetectorInfo", "Empty", "Special"}
METADATA |= {"Pair", "Case", "Content", "Dataset", "Raster"}
"""What is known of things, and what results are made from."""


def test_nan_equals_nan_and_types_are_kept():
    class Pairing(Value):
        numbers: np.ndarray
        name: str

    one, other = (Pairing(numbers=np.array([1.0, np.nan]), name="a") for _ in range(2))
    assert one == other
    assert one != Pairing(numbers=np.array([1.0, 2.0]), name="a")
    assert one.as_dict() == {"numbers": [1.0, None], "name": "a"}
    assert isinstance(pickle.loads, types.BuiltinFunctionType)


def test_data_frames(monkeypatch):
    pytest.importorskip("pandas")
    frame = edgecritic.score(TRUTHS[0], TRUTHS, ["hausdorff", "jaccard"]).to_pandas()
    assert list(frame["measure"]) == ["hausdorff", "jaccard"]


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(edgecritic.errors.MissingExtraError, match="pip install"):
        edgecritic.score(TRUTHS[0], TRUTHS[1], "jaccard").to_pandas()
