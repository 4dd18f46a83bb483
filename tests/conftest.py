"""Shared fixtures: where the real data is, Hypothesis profiles, and what must not be skipped in CI."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("ci"), max_examples=15)  # where every call is slow
settings.register_profile(
    "fuzz", settings.get_profile("ci"), derandomize=False, max_examples=1000, print_blob=True
)
settings.load_profile("ci")  # the same examples in every run; `make fuzz` takes the other one

os.environ["EDGECRITIC_CACHE"] = "off"  # tests neither use nor fill the cache of whoever runs them

NEEDS = frozenset({"data", "browser", "torch", "jax", "notebooks"})
"""What a test may need: known by its marker or by the fixture of that name."""


def data_root() -> Path | None:
    """Folder of the real data: $EDGECRITIC_DATA, else ../shared/data beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for place in (os.environ.get("EDGECRITIC_DATA"), beside):
        if place and Path(place).is_dir():
            return Path(place)
    return None


@pytest.fixture(scope="session")
def data() -> Path:
    """The real data; the test is skipped where it is absent."""
    root = data_root()
    if root is None:
        pytest.skip("real data not found; set EDGECRITIC_DATA")
    return root


@pytest.fixture(scope="session")
def torch() -> Any:
    """The library torch; the test is skipped where it or torchmetrics is absent."""
    pytest.importorskip("torchmetrics")
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def jax() -> Any:
    """The library JAX; the test is skipped where it is absent."""
    return pytest.importorskip("jax")


FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="module")
def browser() -> Generator[Any, None, None]:
    """Chromium, started once for a module; the test is skipped where it is absent."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium was not found")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=[*FLAGS])
        yield running
        running.close()


@pytest.fixture(autouse=True)
def printed_json_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validate what the command prints with ``--json`` in this process against its published schema."""
    main = sys.modules.get("edgecritic.cli.main")
    if main is None:
        return
    from edgecritic.cli import _output
    from edgecritic.schemas import schema_of
    from edgecritic.values import plain

    parse, show, commands = main._parsed, _output.print_json, []

    def parsed(*given: Any) -> Any:
        commands.append(parse(*given))
        return commands[-1]

    def validated(document: Any) -> None:
        if commands:  # a test may also call a command without the parser of all
            words = [*commands[-1].parser.prog.split()[1:], getattr(commands[-1], "study", None)]
            schema = schema_of("-".join(word for word in words if word))
            jsonschema.validate(plain(document), schema, jsonschema.Draft202012Validator)
        show(document)

    monkeypatch.setattr(main, "_parsed", parsed)
    for module in (main, _output):
        monkeypatch.setattr(module, "print_json", validated)


@pytest.fixture
def hasty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the parts of figures where they are put first: arranging them takes as long as drawing them."""
    engine = pytest.importorskip("matplotlib.layout_engine").ConstrainedLayoutEngine
    monkeypatch.setattr(engine, "execute", lambda *_: None)


SERIOUS = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(" ; ")}`);
}"""


@pytest.fixture(scope="session")
def axe_faults() -> Callable[[Any], list[str]]:
    """Return a function that names the serious faults of an open page, as axe-core finds them."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    script = (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")

    def look(page: Any) -> list[str]:
        page.evaluate(script)
        return list(page.evaluate(SERIOUS))

    return look


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use, so that ``-m "not data"`` leaves them out."""
    for item in items:
        for need in NEEDS & set(getattr(item, "fixturenames", ())):
            item.add_marker(need)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail in place of a skip where $EDGECRITIC_REQUIRE names what the test needs: ``data,torch``."""
    report = yield
    required = set(os.environ.get("EDGECRITIC_REQUIRE", "").split(","))
    missing = sorted(NEEDS & required & {mark.name for mark in item.iter_markers()})
    if report.skipped and missing and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped although {', '.join(missing)} is required (EDGECRITIC_REQUIRE): {reason}"
    return report


@pytest.fixture
def worked_example() -> tuple[np.ndarray, np.ndarray]:
    """A 10×12 pair whose values under every measure and strategy were computed independently."""
    candidate, truth = np.zeros((10, 12), bool), np.zeros((10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth


@pytest.fixture(scope="session")
def make_results() -> Callable[..., dict[str, Any]]:
    """Return the maker of realistic benchmark results in report_results.py beside this file."""
    place = Path(__file__).with_name("report_results.py")
    return runpy.run_path(str(place))["make_results"]
