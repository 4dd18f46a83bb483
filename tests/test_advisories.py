"""No lower bound of pyproject.toml lets a version in that is known to be vulnerable.

The table is `tests/advisories.txt`, so this needs no network; ``make audit`` asks pip-audit too, where it is
installed.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = [
    line.split(maxsplit=3)
    for line in (ROOT / "tests/advisories.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def as_numbers(version):
    return tuple(int(number) for number in version.split("."))


def lower_bounds(project, groups=None):
    """Return (package, lowest version) of everything that is asked for, in any extra or dependency group."""
    lists = [*project["optional-dependencies"].values(), *(groups or {}).values()]
    asked = [*project["dependencies"], *(item for one in lists for item in one if isinstance(item, str))]
    found = [re.match(r"([\w.-]+)(?:\[.*?\])?>=([0-9.]+)", item) for item in asked]
    return [(item[1].lower(), item[2]) for item in found if item]


def too_low(bounds, table):
    return [
        f"{name}>={lowest}: {advisory} is repaired in {safe}"
        for name, lowest in bounds
        for package, safe, advisory, _ in table
        if package == name and as_numbers(lowest) < as_numbers(safe)
    ]


@pytest.fixture
def bounds():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return lower_bounds(told["project"], told["dependency-groups"])


def test_no_lower_bound_is_known_to_be_vulnerable(bounds):
    assert too_low(bounds, TABLE) == []


def test_the_table_names_packages_that_are_asked_for(bounds):
    names = {name for name, _ in bounds}
    for package, safe, advisory, reason in TABLE:
        assert package in names
        assert as_numbers(safe)
        assert re.fullmatch(r"CVE-\d{4}-\d+|GHSA(-\w{4}){3}|PYSEC-\d{4}-\d+", advisory)
        assert reason


def test_a_bound_that_is_too_low_is_found():
    project = {
        "dependencies": ["one>=1.9"],
        "optional-dependencies": {"more": ["two[all]>=2.10; python_version>'3'"]},
    }
    found = lower_bounds(project)
    assert found == [("one", "1.9"), ("two", "2.10")]
    assert too_low(found, [["one", "1.10", "CVE-1-1", ""], ["two", "2.9", "CVE-1-2", ""]]) == [
        "one>=1.9: CVE-1-1 is repaired in 1.10"
    ]
