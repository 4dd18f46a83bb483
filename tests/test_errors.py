"""The contract of every error: what happened, where and what to do are fields; the text is made of them."""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic.errors import (
    DataError,
    EdgeCriticError,
    InputError,
    MissingExtraError,
    NotBinaryError,
    needs_extra,
)

SOURCE = Path(edgecritic.__file__).parent
TEXT_METHODS = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "replace",
    "partition",
    "rpartition",
}
TEXT_METHODS |= {"find", "index", "count"}


def error_classes() -> list[type[EdgeCriticError]]:
    for module in pkgutil.walk_packages([str(SOURCE)], "edgecritic."):
        if not module.name.endswith("__main__") and ".migrations" not in module.name:
            with contextlib.suppress(MissingExtraError):  # torch is not everywhere
                importlib.import_module(module.name)
    found, waiting = [], [EdgeCriticError]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += [each for each in one.__subclasses__() if each.__module__.startswith("edgecritic.")]
    return sorted(set(found), key=lambda one: one.__name__)


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_fields_and_text(kind):
    whole = kind("holds nothing", path="maps/a.png", remedy="save it again")
    assert str(whole) == f"{Path('maps/a.png')}: holds nothing; save it again"
    assert (whole.message, whole.path, whole.remedy) == ("holds nothing", Path("maps/a.png"), "save it again")
    bare = kind("holds nothing")
    assert str(bare) == "holds nothing"
    assert bare.path is None
    assert bare.remedy is None
    assert bare.as_dict() == {
        "error": kind.__name__,
        "path": None,
        "message": "holds nothing",
        "remedy": None,
    }
    assert whole.as_dict()["path"] == str(Path("maps/a.png"))


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_pickled_and_copied_errors_keep_their_fields(kind):
    whole = kind("holds nothing", path="maps/a.png", remedy="save it again")
    for again in (pickle.loads(pickle.dumps(whole)), copy.copy(whole), copy.deepcopy(whole)):
        assert type(again) is kind
        assert (str(again), again.as_dict()) == (str(whole), whole.as_dict())


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_an_error_learns_its_path_once(kind):
    found = kind("holds nothing", remedy="save it again").at("a.png")
    assert type(found) is kind
    assert str(found) == "a.png: holds nothing; save it again"
    assert str(found.at("b.png")) == str(found)


def test_errors_of_a_process_arrive_whole():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(DataError) as caught:
        pool.submit(_fail, 1).result()
    assert caught.value.path == Path("a.png")
    assert caught.value.remedy == "save it again"


def _fail(number: int) -> None:
    raise DataError(f"is bad {number}", path="a.png", remedy="save it again")


def test_missing_extras_name_the_command():
    error = MissingExtraError.of("reading NIfTI files", "volumes")
    assert error.remedy == 'pip install "edgecritic[volumes]"'
    assert isinstance(error, ImportError)
    words = r"dowsing needs .*edgecritic\[wood\]"
    with pytest.raises(MissingExtraError, match=words) as told, needs_extra("dowsing", "wood"):
        importlib.import_module("hazel_twig")
    assert told.value.__cause__.name == "hazel_twig"


@pytest.mark.parametrize("module", ["edgecritic.hazel_twig", "edgecritic.errors.hazel_twig"])
def test_a_fault_of_the_package_is_no_missing_extra(module):
    with pytest.raises(ModuleNotFoundError) as told, needs_extra("dowsing", "wood"):
        importlib.import_module(module)
    assert not isinstance(told.value, MissingExtraError)


def test_readers_name_the_file_and_the_remedy(tmp_path):
    import numpy as np

    from edgecritic.datasets import read_array, read_mask

    with pytest.raises(DataError) as caught:
        read_array(tmp_path / "none.npy")
    assert caught.value.path == tmp_path / "none.npy"
    assert "none.npy" not in caught.value.message
    np.save(tmp_path / "grey.npy", np.linspace(0, 1, 12).reshape(3, 4))
    with pytest.raises(NotBinaryError) as grey:
        read_mask(tmp_path / "grey.npy")
    assert grey.value.path == tmp_path / "grey.npy"
    assert grey.value.remedy is not None
    assert "binarize" in grey.value.remedy
    assert isinstance(grey.value, InputError)


def messages_that_decide(tree: ast.AST) -> list[int]:
    """Return the lines where the text of a caught error is searched, compared or taken apart."""
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}

    def is_text(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and node.attr in ("message", "remedy"):
            return isinstance(node.value, ast.Name) and node.value.id in caught
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"):
            return False
        return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id in caught

    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            absent = any(isinstance(side, ast.Constant) and side.value is None for side in sides)
            if any(map(is_text, sides)) and not absent:
                lines.append(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in TEXT_METHODS and is_text(node.value):
            lines.append(node.lineno)
    return lines


def test_the_search_for_deciding_messages_finds_them():
    bad = (
        "try:\n    f()\nexcept E as error:\n    if 'x' in str(error): pass\n    str(error).replace('a', 'b')"
    )
    assert messages_that_decide(ast.parse(bad)) == [4, 5]


@pytest.mark.parametrize(
    "file", sorted(SOURCE.rglob("*.py")), ids=lambda file: file.relative_to(SOURCE).as_posix()
)
def test_no_message_decides(file):
    assert messages_that_decide(ast.parse(file.read_text(encoding="utf-8"))) == []


def test_arrays_in_place_of_words_are_refused_in_words():
    image = np.zeros((9, 9))
    for call in (
        lambda: edgecritic.detect(image, "sobel", kind=image),
        lambda: edgecritic.score(image > 1, image > 1, "dice", on_degenerate=image),
    ):
        with pytest.raises(InputError, match=r"an array of shape \(9, 9\)"):
            call()
