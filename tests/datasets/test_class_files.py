"""Files of classes: SBD, Cityscapes, palettes, bits, arrays; and which of them belong together."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_array

from edgecritic.datasets.class_cases import find_class_cases
from edgecritic.datasets.class_maps import ClassMaps
from edgecritic.datasets.files import read_class_strength, read_classes
from edgecritic.errors import DataError, InputError
from edgecritic.protocols.classes import truth_maps
from edgecritic.protocols.presets import get_protocol

LABELS = np.array([[0, 0, 7, 7], [0, 2, 7, 7], [0, 2, 2, 2]], np.uint8)
RNG = np.random.default_rng(0)


def sparse(maps):
    cells = np.empty((len(maps), 1), dtype=object)
    for place, one in enumerate(maps):
        cells[place, 0] = csc_array(one.astype(float))
    return cells


@pytest.mark.parametrize("packed", [False, True])
def test_classes_of_sbd(tmp_path, packed):
    maps = RNG.random((3, 3, 4)) < 0.4
    content = {"Boundaries": sparse(maps), "Segmentation": LABELS, "CategoriesPresent": np.array([2, 7])}
    savemat(tmp_path / "a.mat", {"GTcls": content}, do_compression=packed)
    found = read_classes(tmp_path / "a.mat")
    assert np.array_equal(found.labels, LABELS)
    assert found.instances is None
    assert list(found.stored) == [1, 2, 3]
    assert all(np.array_equal(found.stored[k + 1], one) for k, one in enumerate(maps))


def test_instances_of_sbd(tmp_path):
    maps = RNG.random((3, 3, 4)) < 0.4
    objects = np.array([[0, 1, 1, 2], [0, 1, 3, 2], [0, 3, 3, 255]], float)
    content = {"Boundaries": sparse(maps), "Segmentation": objects, "Categories": np.array([[7], [7], [2]])}
    savemat(tmp_path / "a.mat", {"GTinst": content})
    found = read_classes(tmp_path / "a.mat")
    assert found.labels.tolist() == [[0, 7, 7, 7], [0, 7, 2, 7], [0, 2, 2, 255]]
    assert np.array_equal(found.instances, objects)
    assert sorted(found.stored) == [2, 7]
    assert np.array_equal(found.stored[7], maps[0] | maps[1])


@pytest.mark.parametrize(
    "content",
    [
        {"GTcls": {"Segmentation": LABELS}},
        {"GTcls": {"Segmentation": LABELS, "Boundaries": sparse(np.zeros((1, 2, 2)))}},
        {"GTinst": {"Segmentation": LABELS, "Boundaries": sparse(np.zeros((1, 3, 4)))}},
        {"GTinst": {"Segmentation": LABELS, "Boundaries": sparse(np.zeros((1, 3, 4))), "Categories": [[1]]}},
        {"GTinst": {"Segmentation": LABELS, "Boundaries": sparse(np.zeros((1, 3, 4))), "Categories": [1, 2]}},
        {
            "GTinst": {
                "Segmentation": LABELS - 0.5,
                "Boundaries": sparse(np.zeros((1, 3, 4))),
                "Categories": 1,
            }
        },
    ],
)
def test_broken_files_of_sbd(tmp_path, content):
    savemat(tmp_path / "a.mat", content)
    with pytest.raises(DataError, match=r"a\.mat"):
        read_classes(tmp_path / "a.mat")


def test_labels_of_cityscapes(tmp_path):
    ids = np.array([[7, 26000, 26001], [7, 7, 26]], np.uint16)
    Image.fromarray(ids).save(tmp_path / "ids.png")
    found = read_classes(tmp_path / "ids.png")
    assert found.labels.tolist() == [[7, 26, 26], [7, 7, 26]]
    assert np.array_equal(found.instances, ids)
    Image.fromarray(LABELS).save(tmp_path / "labels.png")
    found = read_classes(tmp_path / "labels.png")
    assert np.array_equal(found.labels, LABELS)
    assert found.instances is None


def test_a_palette_is_not_looked_up(tmp_path):
    picture = Image.fromarray(LABELS).convert("P")
    picture.putpalette(list(RNG.integers(0, 255, 768)))
    picture.frombytes(LABELS.tobytes())
    picture.save(tmp_path / "a.png")
    assert np.array_equal(read_classes(tmp_path / "a.png").labels, LABELS)


def test_bits_are_blue_then_green_then_red(tmp_path):
    colours = np.zeros((1, 3, 3), np.uint8)
    colours[0, 0] = (0, 0, 1)  # red, green, blue: class 1
    colours[0, 1] = (0, 2, 0)  # class 10
    colours[0, 2] = (4, 0, 128)  # classes 19 and 8
    Image.fromarray(colours).save(tmp_path / "a.png")
    stored = read_classes(tmp_path / "a.png").stored
    on = {number: one.astype(int).tolist() for number, one in stored.items() if one.any()}
    assert on == {1: [[1, 0, 0]], 8: [[0, 0, 1]], 10: [[0, 1, 0]], 19: [[0, 0, 1]]}
    assert read_class_strength(tmp_path / "a.png", 19).sum(axis=(1, 2)).sum() == 4
    with pytest.raises(InputError, match="class 19"):
        read_class_strength(tmp_path / "a.png", 18)


def test_arrays(tmp_path):
    maps = RNG.random((5, 3, 4)) < 0.5
    np.save(tmp_path / "stack.npy", maps)
    assert np.array_equal(read_classes(tmp_path / "stack.npy").stored, maps)
    np.save(tmp_path / "bits.npy", sum(one.astype(np.uint32) << place for place, one in enumerate(maps)))
    assert all(np.array_equal(read_classes(tmp_path / "bits.npy").stored[k + 1], maps[k]) for k in range(5))
    np.savez(tmp_path / "soft.npz", maps=(maps * 200).astype(np.uint8))
    assert np.allclose(read_class_strength(tmp_path / "soft.npz", 5), maps * 200 / 255)
    np.save(tmp_path / "halves.npy", np.full((3, 4), 0.5))
    with pytest.raises(DataError, match="neither labels"):
        read_classes(tmp_path / "halves.npy")


@pytest.mark.parametrize(
    ("shape", "told"), [((3, 4), "shape"), ((4, 3, 4), "5 classes"), ((3, 4, 5), "to the front")]
)
def test_wrong_arrays_of_strength(tmp_path, shape, told):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    with pytest.raises(InputError, match=told):
        read_class_strength(tmp_path / "a.npy", 5)


def test_grey_pictures_are_no_maps_of_all_classes(tmp_path):
    Image.fromarray(LABELS).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="class_001"):
        read_class_strength(tmp_path / "a.png", 5)


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_folders_of_classes(tmp_path):
    touch(tmp_path / "p", "class_001/a.png", "class_1x/b.png", "car/a.bmp", "class_007/z.png")
    touch(tmp_path / "t", "cls/a.mat", "cls/b.mat", "inst/a.mat", "img/a.jpg")
    found, missing = find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1, "car": 2, "sky": 3})
    (case,) = found.cases
    assert {name: path.name for name, path in case.maps.items()} == {"road": "a.png", "car": "a.bmp"}
    assert case.truths == (tmp_path / "t/cls/a.mat",)
    assert found.without_prediction == ("b",)
    assert list(missing) == ["sky"]
    assert "class_003" in missing["sky"]
    again, _ = find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1}, instances=True)
    assert again.cases[0].truths == (tmp_path / "t/inst/a.mat",)


def test_two_folders_of_one_class(tmp_path):
    touch(tmp_path / "p", "class_001/a.png", "road/a.png")
    touch(tmp_path / "t", "cls/a.mat")
    with pytest.raises(DataError, match="two folders"):
        find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1})


def test_trees_of_cityscapes(tmp_path):
    kinds = ("labelIds.png", "instanceIds.png", "color.png")
    touch(
        tmp_path / "t",
        *(f"{split}/x/x_{n}_gtFine_{kind}" for split, n in (("val", 1), ("train", 2)) for kind in kinds),
    )
    touch(tmp_path / "p", "x_1_leftImg8bit.npy", "x_2.npy")
    found, missing = find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1})
    assert [(case.id, case.truths[0].name) for case in found] == [
        ("x_1", "x_1_gtFine_labelIds.png"),
        ("x_2", "x_2_gtFine_labelIds.png"),
    ]
    assert not missing
    some, _ = find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1}, instances=True, split="val")
    assert [case.truths[0].name for case in some] == ["x_1_gtFine_instanceIds.png"]
    touch(
        tmp_path / "r",
        *(f"x_1_gtProc_{width}_{kind}.png" for width in ("raw", "thin") for kind in ("edge", "isedge")),
    )
    ready, _ = find_class_cases(tmp_path / "p", tmp_path / "r", {"road": 1}, thin=True)
    assert [case.truths[0].name for case in ready] == ["x_1_gtProc_thin_edge.png"]


def test_lists_of_splits(tmp_path):
    touch(tmp_path / "p", "a.npy", "b.npy")
    touch(tmp_path / "t", "cls/a.mat", "cls/b.mat")
    (tmp_path / "t/val.txt").write_text("b\n")
    found, _ = find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1}, split="val")
    assert [case.id for case in found] == ["b"]
    with pytest.raises(DataError, match="no split 'test'"):
        find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1}, split="test")


def test_what_a_protocol_needs_is_named(tmp_path):
    touch(tmp_path / "p", "a.npy")
    touch(tmp_path / "s", "cls/a.mat")
    with pytest.raises(DataError, match="no folder 'inst'"):
        find_class_cases(tmp_path / "p", tmp_path / "s", {"road": 1}, instances=True)
    touch(tmp_path / "t", "a_gtFine_labelIds.png")
    with pytest.raises(DataError, match="instanceIds"):
        find_class_cases(tmp_path / "p", tmp_path / "t", {"road": 1}, instances=True)


def test_an_image_without_objects_has_no_boundaries():
    """It counts as any other: what is found in it are false alarms."""
    found = ClassMaps.of_instances(np.zeros((4, 5), np.uint8), np.array([]), [])
    rules = get_protocol("sbd-seal-thin-inst").classes
    truth = truth_maps(rules, labels=found.labels, instances=found.instances, stored=found.stored)
    assert len(truth) == 20
    assert not any(one.any() for one in truth.values())


def test_more_objects_than_numbers_are_refused_in_words():
    edge = np.eye(4, 5, dtype=bool)
    with pytest.raises(DataError, match="holds 300 objects, at most 254 are read"):
        ClassMaps.of_instances(edge.astype(np.uint8), np.full(300, 3), [edge] * 300)
