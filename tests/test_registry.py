"""Registries: find, name, bind, refuse."""

from __future__ import annotations

import sys
import threading

import pytest

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.registry import Registry


def blur(image, *, sigma: float = 1.0, order: int = 2):
    """Blur an image.

    More words.
    """
    return image, sigma, order


def cut(image, *, threshold: float):
    """Cut an image."""
    return image, threshold


@pytest.fixture
def tools(tmp_path, monkeypatch) -> Registry[str]:
    """A registry whose package registers one more tool when it is searched."""
    package = tmp_path / "some_tools"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "sharpen.py").write_text(
        "from test_registry_home import registry\n"
        "def sharpen(image, *, amount=0.5):\n    '''Sharpen.'''\n"
        "registry.add('sharpen', sharpen, 'found')\n",
        encoding="utf-8",
    )
    registry: Registry[str] = Registry("tool", "some_tools", "edgecritic.no-such-group")
    home = type(sys)("test_registry_home")
    home.registry = registry
    monkeypatch.setitem(sys.modules, "test_registry_home", home)
    monkeypatch.syspath_prepend(tmp_path)
    registry.add("blur", blur, "soft")
    registry.add("cut", cut, "hard")
    yield registry
    for name in [name for name in sys.modules if name.startswith("some_tools")]:
        del sys.modules[name]


def test_modules_are_found_on_first_use(tools):
    assert "some_tools.sharpen" not in sys.modules
    assert tools.names() == ["blur", "cut", "sharpen"]


def test_an_entry_knows_parameters_summary_and_metadata(tools):
    entry = tools.get("blur")
    assert dict(entry.parameters) == {"sigma": 1.0, "order": 2}
    assert entry.summary == "Blur an image."
    assert entry.info == "soft"


def test_bind_calls_with_the_parameters_of_the_id(tools):
    assert tools.bind("blur(sigma=3)")("picture") == ("picture", 3, 2)
    assert tools.bind("blur(sigma=3)")("picture", sigma=4) == ("picture", 4, 2)


def test_bound_ids_are_canonical(tools):
    assert str(tools.bind("blur(sigma=1)")) == "blur"
    assert str(tools.bind("blur(order=3, sigma=2)")) == "blur(sigma=2, order=3)"


def test_unknown_names_say_what_comes_near(tools):
    with pytest.raises(
        UnknownNameError, match=r"unknown tool 'blurr'; did you mean 'blur'\? \(known: blur, cut"
    ):
        tools.get("blurr")
    with pytest.raises(UnknownNameError, match=r"unknown tool 'zzz' \(known"):
        tools.bind("zzz(a=1)")


def test_unknown_parameters_say_what_comes_near(tools):
    with pytest.raises(InputError, match="no parameter 'sigmma'; did you mean 'sigma'"):
        tools.bind("blur(sigmma=2)")


def test_a_required_parameter_must_be_given(tools):
    with pytest.raises(InputError, match=r"tool 'cut' needs a value: cut\(threshold=…\)"):
        tools.bind("cut")
    assert tools.bind("cut(threshold=0.5)")("picture") == ("picture", 0.5)


def test_a_name_is_given_once(tools):
    tools.add("blur", blur, "soft")
    with pytest.raises(InputError, match="'blur' is registered already"):
        tools.add("blur", cut, "hard")


def test_a_function_of_the_same_name_elsewhere_is_another_one(tools):
    def other(image):
        return image

    other.__qualname__ = blur.__qualname__
    other.__module__ = "elsewhere"
    with pytest.raises(InputError, match="registered already"):
        tools.add("blur", other, "")


def test_threads_never_see_a_half_filled_registry(tools, tmp_path):
    (tmp_path / "some_tools" / "slow.py").write_text("import time\ntime.sleep(0.2)\n", encoding="utf-8")
    found, barrier = [], threading.Barrier(4)

    def look():
        barrier.wait()
        found.append(tools.names())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["blur", "cut", "sharpen"]] * 4


def test_a_module_that_fails_fails_every_time(tools, tmp_path):
    (tmp_path / "some_tools" / "broken.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            tools.names()
