"""Protocols of classes: rules, truths, counts class by class, means, and the published example of SBD."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.ndimage import distance_transform_edt

from edgecritic.datasets import read_classes, read_strength
from edgecritic.errors import InputError
from edgecritic.maps.classes import class_boundaries
from edgecritic.maps.thinning import thin
from edgecritic.protocols.benchmark import Benchmark
from edgecritic.protocols.bootstrap import bootstrap, paired_bootstrap
from edgecritic.protocols.class_sweep import class_candidates, sweep_classes
from edgecritic.protocols.classes import ClassRules, nearest_indices, scaled_labels, truth_maps
from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.granularity import granularity_oracle
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import summarise
from edgecritic.protocols.sweep import sweep, sweep_maps

NAMES = ("road", "car")


def scene(seed=0, shape=(40, 60)):
    """Return labels 0, 1, 2 in blocks, the truths of both classes, and strength maps near them."""
    rng = np.random.default_rng(seed)
    labels = np.kron(rng.integers(0, 3, (shape[0] // 10, shape[1] // 10)), np.ones((10, 10), int))
    truth = class_boundaries(labels, [1, 2], radius=1, thin=True)
    near = np.roll(truth, 1, axis=2) * rng.uniform(0.3, 1, truth.shape)
    return labels, truth, np.maximum(near, (rng.random(truth.shape) < 0.05) * rng.random(truth.shape))


def mine(**rules):
    return Protocol(
        id="mine", title="mine", tolerance=2.0, thresholds=9, classes={"names": list(NAMES), **rules}
    )


@pytest.fixture(scope="module")
def oracle(data):
    benchmark = Benchmark(get_protocol("sbd").with_classes(["person"]))
    home = data / "sbd_bench"
    for path in sorted((home / "datadir/cls").glob("*.mat")):
        content = loadmat(path)["GTcls"][0, 0]
        truth = content["Boundaries"].ravel()[14].toarray() > 0
        strength = read_strength(home / f"indir/class_015/{path.stem}.bmp")
        labels = content["Segmentation"]
        benchmark.update({"person": strength}, {"person": truth}, labels=labels, id=path.stem)
    return benchmark.result(draws=0), home / "outdir"


@pytest.fixture(scope="module")
def counts():
    found = {}
    for seed in range(6):
        _, truth, strength = scene(seed)
        if seed % 2:
            truth[1], strength[1] = False, 0
        found[str(seed)] = sweep_classes(strength, truth, protocol=mine()).counts
    return found


class TestOracle:
    """The two images of SBD's own example: class 15 (person), 99 thresholds, counts and scores published."""

    def test_scores(self, oracle):
        result, folder = oracle
        wanted = np.loadtxt(folder / "eval_bdry.txt")
        one = result.groups["person"]
        numbers = [one.ods.threshold, one.ods.recall, one.ods.precision, one.ods.f]
        numbers += [one.ois.recall, one.ois.precision, one.ois.f]
        assert numbers == pytest.approx(wanted[:7], abs=5.1e-7)
        assert result.mf_ods == one.ods.f
        aps = [one.aps["interpolated-101"], one.aps["max-precision-100"]]
        assert aps == pytest.approx(wanted[7:], abs=2e-4)
        assert result.ap == aps[1]

    def test_counts(self, oracle):
        result, folder = oracle
        more = 0
        for name, counts in result.counts.items():
            own, theirs = counts.group("person").table(), np.loadtxt(folder / f"{name}_ev1.txt")
            assert np.array_equal(own[:, [2, 4]], theirs[:, [2, 4]])
            gap = own[:, [1, 3]] - theirs[:, [1, 3]]
            assert gap.min() == 0
            assert gap.max() == 1
            more += int(gap[:, 0].sum())
        assert more == 5

    def test_published_counts_give_all_nine_numbers(self, oracle):
        _, folder = oracle
        counts = {path.stem: Counts.from_rows(np.loadtxt(path)) for path in sorted(folder.glob("*_ev1.txt"))}
        one = summarise(counts, protocol="sbd")
        numbers = [one.ods.threshold, one.ods.recall, one.ods.precision, one.ods.f, one.ois.recall]
        numbers += [one.ois.precision, one.ois.f, one.aps["interpolated-101"], one.ap]
        assert numbers == pytest.approx(np.loadtxt(folder / "eval_bdry.txt"), abs=5.1e-7)


@pytest.mark.parametrize(
    ("name", "folder", "pixels"),
    [
        ("sbd", "cls", (713, 1420)),
        ("sbd-seal-raw", "cls", (2811, 5711)),
        ("sbd-seal-raw-inst", "inst", (4257, 5737)),
        ("sbd-seal-thin-inst", "inst", (1081, 1430)),
    ],
)
def test_truths_of_sbd_have_the_pixels_that_were_counted_elsewhere(data, name, folder, pixels):
    rules = get_protocol(name).classes
    found = []
    for path in sorted((data / "sbd_bench/datadir" / folder).glob("*.mat")):
        maps = read_classes(path)
        truths = truth_maps(rules, labels=maps.labels, instances=maps.instances, stored=maps.stored)
        assert list(truths) == list(rules.names)
        found.append(int(truths["person"].sum()))
    assert tuple(found) == pixels


class TestSweep:
    def test_each_class_is_an_ordinary_sweep(self):
        _, truth, strength = scene()
        protocol = mine()
        found = sweep_classes(strength, truth, protocol=protocol).counts
        plain = protocol.with_changes("plain", classes=None)
        for place, name in enumerate(NAMES):
            alone = sweep(strength[place], truth[place], protocol=plain).counts
            assert found.group(name) == alone

    def test_crop_takes_rows_and_columns_off_both_maps(self):
        _, truth, strength = scene(1)
        found = sweep_classes(strength, truth, protocol=mine(crop=5)).counts
        inner = np.s_[:, 5:-5, 5:-5]
        assert found == sweep_classes(strength[inner], truth[inner], protocol=mine()).counts

    def test_something_must_be_left_each_way(self):
        maps = np.zeros((2, 40, 11))
        for shown in (maps, maps.transpose(0, 2, 1)):
            found = sweep_classes(shown, shown > 0, protocol=mine(crop=5))
            assert found.counts.candidate.sum() == 0
            with pytest.raises(InputError, match="more than 10 pixels each way"):
                sweep_classes(shown[:, :10, :10], shown[:, :10, :10] > 0, protocol=mine(crop=5))
            short = shown[:, : shown.shape[1] - 1, : shown.shape[2] - 1]
            with pytest.raises(InputError, match="more than 10 pixels each way"):
                sweep_classes(short, short > 0, protocol=mine(crop=5))

    def test_crop_decides_the_diagonal(self):
        _, truth, strength = scene(1)
        protocol = mine(crop=5).with_changes("share", relative_tolerance=0.1)
        assert sweep_classes(strength, truth, protocol=protocol).tolerance == pytest.approx(
            0.1 * np.hypot(30, 50)
        )

    def test_internal_pixels_are_removed_after_thinning(self):
        labels, truth, strength = scene(2)
        strength = np.maximum(strength, 0.35)  # thick everywhere: thinning before or after differs
        protocol = mine(internal="remove")
        found = sweep_classes(strength, truth, protocol=protocol, labels=labels).counts
        plain = protocol.with_changes("plain", classes=None, thin=False)
        for place, name in enumerate(NAMES):
            inside = (labels == place + 1) & (distance_transform_edt(~truth[place]) > 2.0)
            maps = [thin(strength[place] >= level) & ~inside for level in found.thresholds]
            alone = sweep_maps(maps, truth[place], protocol=plain).counts
            for column in COLUMNS:
                assert np.array_equal(getattr(found.group(name), column), getattr(alone, column))
            assert inside.any()

    def test_one_map_is_not_judged_by_a_protocol_of_classes(self):
        _, truth, strength = scene()
        for judge, given in ((sweep, strength[0]), (sweep_maps, [truth[0]])):
            with pytest.raises(InputError, match="sweep_classes"):
                judge(given, truth[0], protocol=mine())

    def test_internal_pixels_need_labels(self):
        _, truth, strength = scene()
        with pytest.raises(InputError, match="label image"):
            sweep_classes(strength, truth, protocol=mine(internal="remove"))

    def test_absent_classes_are_counted_or_skipped(self):
        _, truth, strength = scene()
        truth[1] = False
        counted = sweep_classes(strength, truth, protocol=mine(absent="count")).counts.group("car")
        assert counted.candidate[0] > 0
        assert not counted.matched_candidate.any()
        found = sweep_classes(strength, truth, protocol=mine(absent="skip")).counts
        assert not found.group("car").with_zero().table()[:, 1:].any()
        road = sweep_classes(strength, truth, protocol=mine(absent="count")).counts.group("road")
        assert found.group("road") == road

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_masks_act_as_the_protocol_says(self, when):
        _, truth, strength = scene(3)
        mask = np.zeros(truth.shape[1:], dtype=bool)
        mask[:, :33] = True
        protocol = mine().with_changes("masked", mask=when, thresholds=[0.0, 0.3, 0.6])  # 0 takes all pixels
        found = sweep_classes(strength, truth, protocol=protocol, mask=mask).counts
        plain = protocol.with_changes("plain", classes=None)
        for place, name in enumerate(NAMES):
            assert found.group(name) == sweep(strength[place], truth[place], protocol=plain, mask=mask).counts

    def test_candidates_are_those_that_were_counted(self):
        labels, truth, strength = scene(4)
        protocol = mine(internal="remove", crop=3)
        counts = sweep_classes(strength, truth, protocol=protocol, labels=labels).counts
        for step, level in enumerate(counts.thresholds):
            levels = dict.fromkeys(NAMES, float(level))
            shown = class_candidates(strength, truth, levels, protocol=protocol, labels=labels)
            assert set(shown) == set(NAMES)
            for name, (candidate, real) in shown.items():
                assert candidate.sum() == counts.group(name).candidate[step]
                assert real.sum() == counts.group(name).truth[step]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"groups": ("road", "car", "sky")},
            {"strength": np.zeros((40, 60))},
            {"truth": {"road": np.zeros((40, 60), bool)}},
            {"strength": {"boat": np.zeros((40, 60))}},
            {"strength": np.zeros((2, 40, 61))},
            {"mask": np.ones((4, 4), bool)},
            {"labels": np.ones((4, 4), int)},
            {"protocol": "bsds"},
        ],
    )
    def test_refusals(self, wrong):
        _, truth, strength = scene()
        with pytest.raises(InputError):
            sweep_classes(**{"strength": strength, "truth": truth, "protocol": mine(), **wrong})


class TestMeans:
    def test_numbers_are_means_over_classes(self, counts):
        whole = summarise(counts, protocol=mine())
        each = {
            name: summarise(
                {key: one.group(name) for key, one in counts.items() if one.group(name).truth.any()}
            )
            for name in NAMES
        }
        assert whole.ods.f == pytest.approx(np.mean([one.ods.f for one in each.values()]))
        assert whole.ois.f == pytest.approx(np.mean([one.ois.f for one in each.values()]))
        for rule, value in whole.aps.items():
            assert value == pytest.approx(np.mean([one.aps[rule] for one in each.values()]))
        for curve in ("recall", "precision", "f"):
            means = np.mean([getattr(one, curve) for one in each.values()], axis=0)
            np.testing.assert_allclose(getattr(whole, curve), means)
        assert whole.r50 == pytest.approx(np.mean([one.r50 for one in each.values()]))
        assert set(whole.as_dict()["groups"]) == set(NAMES)
        assert "groups" not in whole.groups["road"].as_dict()
        assert all("6 images, mean of 2 classes" in text for text in (str(whole), repr(whole)))
        assert "classes" not in str(whole.groups["road"])
        assert [len(one.images) for one in whole.groups.values()] == [6, 3]
        both = [next(i.best.f for i in one.images if i.name == "0") for one in whole.groups.values()]
        assert next(i.best.f for i in whole.images if i.name == "0") == pytest.approx(np.mean(both))

    def test_a_class_without_truth_does_not_count(self, counts):
        empty = {
            name: Counts.of_groups(
                {"road": one.group("road"), "car": one.group("car")._with(lambda column: column * 0)}
            )
            for name, one in counts.items()
        }
        whole = summarise(empty, protocol=mine())
        assert list(whole.groups) == ["road"]
        assert whole.ods.f == whole.groups["road"].ods.f

    def test_no_truth_at_all_is_refused(self, counts):
        nothing = {name: one._with(lambda column: column * 0) for name, one in counts.items()}
        with pytest.raises(InputError, match="any of the classes"):
            summarise(nothing, protocol=mine())

    def test_intervals_of_a_class_in_all_images_are_its_own(self, counts):
        found = bootstrap(counts, protocol=mine(), draws=200)
        alone = bootstrap({key: one.group("road") for key, one in counts.items()}, protocol=mine(), draws=200)
        assert (found.groups["road"].ods, found.groups["road"].ap) == (alone.ods, alone.ap)
        assert found.ods.estimate == summarise(counts, protocol=mine()).ods.f
        assert found.ods.low <= found.ods.estimate <= found.ods.high

    def test_pairs_are_tested_class_by_class(self, counts):
        worse = {
            name: Counts(
                thresholds=one.thresholds,
                matched_truth=np.floor(one.matched_truth / 2),
                truth=one.truth,
                matched_candidate=np.floor(one.matched_candidate / 2),
                candidate=one.candidate,
                groups=one.groups,
            )
            for name, one in counts.items()
        }
        test = paired_bootstrap(counts, worse, protocol=mine(), draws=99)
        assert set(test.groups) == set(NAMES)
        gaps = [one.ods.estimate for one in test.groups.values()]
        assert min(gaps) > 0
        assert test.ods.estimate == pytest.approx(np.mean(gaps))

    def test_an_oracle_chooses_class_by_class(self, counts):
        found = granularity_oracle([counts, counts], protocol=mine())
        assert found.ods.f == pytest.approx(summarise(counts, protocol=mine()).ods.f)

    def test_the_benchmark_takes_groups(self):
        benchmark = Benchmark("ceval")
        for seed in range(2):
            _, truth, strength = scene(seed)
            benchmark.update(strength, truth, groups=NAMES)
        result = benchmark.result(draws=50)
        assert [len(bytes.fromhex(name)) for name in result.counts] == [8, 8]  # named by their maps
        assert set(result.groups) == set(NAMES)
        assert result.mf_ods == pytest.approx(np.mean([one.ods.f for one in result.groups.values()]))
        assert set(result.intervals.groups) == set(NAMES)
        assert result.against(result, draws=50).ods.estimate == 0

    def test_the_order_of_classes_does_not_make_another_image(self):
        benchmark = Benchmark("ceval")
        _, truth, strength = scene()
        for names in (NAMES, NAMES[::-1]):
            maps = [{name: stack[NAMES.index(name)] for name in names} for stack in (strength, truth)]
            with nullcontext() if names == NAMES else pytest.raises(InputError, match="already"):
                benchmark.update(*maps, groups=NAMES)


class TestRules:
    def test_toml_changes_single_rules(self):
        text = 'id = "x"\nbase = "sbd-seal-raw"\nrelative_tolerance = 0.0075\n[classes]\nradius = 1\n'
        found = Protocol.from_toml(text)
        base = get_protocol("sbd-seal-raw")
        assert (found.classes.radius, found.classes.crop, found.relative_tolerance) == (1, 5, 0.0075)
        assert found.digest != base.digest

    def test_plain_protocols_keep_their_digest(self):
        protocol = get_protocol("bsds")
        assert protocol.classes is None
        assert "classes" not in str(protocol)
        assert protocol.with_changes("same").digest == protocol.digest

    def test_some_classes(self):
        found = get_protocol("cityscapes-raw").with_classes(["car", "1"])
        assert found.id == "cityscapes-raw-road-car"
        assert found.classes.chosen == {"road": 1, "car": 14}
        assert found.digest != get_protocol("cityscapes-raw").digest
        whole = get_protocol("sbd")
        names = list(whole.classes.names)
        assert whole.with_classes(names[::-1]) is whole
        assert whole.with_classes(names[:4]).id == "-".join(["sbd", *names[:4]])
        assert whole.with_classes(names[:5]).id == "sbd-5-classes"
        with pytest.raises(InputError, match="did you mean 'person'"):
            get_protocol("sbd").with_classes(["persn"])
        with pytest.raises(InputError, match="no classes"):
            get_protocol("bsds").with_classes(["person"])

    @pytest.mark.parametrize(
        "wrong",
        [
            {"names": []},
            {"names": "road"},
            {"names": ["a", "a"]},
            {"names": ["a", 2]},
            {"names": ["a", ""]},
            {"names": ["a"], "labels": [1, 2]},
            {"names": ["a"], "labels": [0]},
            {"names": ["a"], "others": [1]},
            {"names": ["a"], "labels": ["1"]},
            {"names": ["a"], "truth": "drawn"},
            {"names": ["a"], "instances": 1},
            {"names": ["a"], "radius": 0},
            {"names": ["a"], "crop": 1.5},
            {"names": ["a"], "scale": 2},
            {"names": ["a"], "judged": ["b"]},
            {"names": ["a", "b"], "judged": ["2"]},
            {"names": ["a"], "colour": 1},
            {"radius": 1},
        ],
    )
    def test_wrong_rules_are_refused(self, wrong):
        with pytest.raises(InputError):
            Protocol(id="x", title="x", tolerance=1.0, classes=wrong)

    @pytest.mark.parametrize(
        ("name", "within", "beyond"),
        [
            (
                "names",
                [["a"], [f"c{number}" for number in range(64)]],
                [[f"c{number}" for number in range(65)]],
            ),
            ("radius", [1, 16], [0.9, 16.1]),
            ("frame", [0, 1000], [-1, 1001]),
            ("crop", [0, 1000], [-1, 1001]),
            ("scale", [0.01, 1], [0.009, 1.01]),
        ],
    )
    def test_what_is_at_a_limit_is_taken(self, name, within, beyond):
        """There is a bit for each of 64 classes."""
        for value in within:
            rules = {"names": ["a"], name: value}
            found = Protocol(id="x", title="x", tolerance=1.0, classes=rules).classes
            assert getattr(found, name) == (tuple(value) if name == "names" else value)
        for value in beyond:
            with pytest.raises(InputError, match=f"{name}|classes need"):
                Protocol(id="x", title="x", tolerance=1.0, classes={"names": ["a"], name: value})

    def test_labels_outside_of_the_list_are_named(self):
        with pytest.raises(InputError, match="77"):
            truth_maps(ClassRules(names=NAMES), labels=np.array([[0, 1, 77]]))

    def test_what_is_missing_is_said(self):
        labels = np.zeros((4, 4), int)
        with pytest.raises(InputError, match="stored"):
            truth_maps(get_protocol("sbd").classes, labels=labels)
        with pytest.raises(InputError, match="objects of one class"):
            truth_maps(get_protocol("cityscapes-raw-inst").classes, labels=labels)
        with pytest.raises(InputError, match="3 classes"):
            truth_maps(ClassRules(names=NAMES), stored=np.zeros((3, 4, 4), bool))

    @pytest.mark.parametrize("scaled", ["labels", "boundaries"])
    def test_half_size(self, scaled):
        labels, _, _ = scene()
        rules = ClassRules(names=NAMES, scale=0.5, scaled=scaled)
        found = np.stack(list(truth_maps(rules, labels=labels).values()))
        if scaled == "labels":
            wanted = class_boundaries(labels[1::2, 1::2], [1, 2])
        else:
            wanted = class_boundaries(labels, [1, 2])[:, 1::2, 1::2]
        assert np.array_equal(found, wanted)

    @pytest.mark.parametrize("scale", [1.0, 0.5])
    def test_objects_of_one_class_are_told_apart_if_the_rules_say_so(self, scale):
        """Two roads side by side: pixels of another object next to them, or another class, are boundaries."""
        labels, objects = np.ones((12, 24), int), np.repeat([[1, 2, 2]], 8, axis=1).repeat(12, axis=0)
        labels[:, 16:] = 0
        step = round(1 / scale)
        for told, column_of in ((objects, objects), (None, labels)):
            rules = ClassRules(names=NAMES, radius=1.0, scale=scale, instances=told is not None)
            road = truth_maps(rules, labels=labels, instances=objects)["road"]
            seen, kind = column_of[0, step - 1 :: step], labels[0, step - 1 :: step]
            differs = [
                any(
                    (seen[k], kind[k]) != (seen[n], kind[n])
                    for n in (k - 1, k + 1)
                    if 0 <= n < seen.size and 1 in (kind[k], kind[n])
                )
                for k in range(seen.size)
            ]
            assert road.tolist() == [differs] * road.shape[0]

    @pytest.mark.parametrize(
        ("truth", "scale", "step"), [("labels", 0.5, 2), ("stored", 0.5, 1), ("labels", 1, 1)]
    )
    def test_labels_are_scaled_as_the_truths_that_are_made_of_them(self, truth, scale, step):
        labels, _, _ = scene()
        found = scaled_labels(ClassRules(names=NAMES, truth=truth, scale=scale), labels)
        assert np.array_equal(found, labels[step - 1 :: step, step - 1 :: step])

    def test_nearest_samples(self):
        for size, wanted in ((8, 4), (7, 4), (5, 5), (3, 7)):
            middles = (np.arange(wanted) + 0.5) * size / wanted
            assert np.array_equal(nearest_indices(size, wanted), np.floor(middles))
