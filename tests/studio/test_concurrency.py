"""Several clients write to the same rows at the same moment: every writing route, on both databases."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from edgecritic.studio import auth
from edgecritic.studio.routing import RuledRoute

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
writers = importlib.import_module("studio_writers")
CONTESTS = importlib.import_module("studio_contests").CONTESTS
sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def store(database):
    return database


def writing_routes(app):
    """Return the routes that change the database, as ``POST /projects``."""
    return {
        f"{method} {one.path}"
        for one in app.routes
        if isinstance(one, RuledRoute) and one.rule.locks
        for method in one.methods - {"HEAD"}
    }


def test_every_writing_route_has_a_contest(serve_site):
    known = set().union(*(contest.routes() for contest in CONTESTS))
    assert known == writing_routes(serve_site().server.app)


def test_what_was_acknowledged_is_stored_once(serve_site, store, compiled, monkeypatch):
    monkeypatch.setattr(auth, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    server = serve_site().server
    found = writers.compete(server.url, store, CONTESTS, rounds=2 * len(CONTESTS))
    assert found.problems == []
    assert set(found.operations) == writing_routes(server.app)
    assert found.operations.total() == 16 * len(CONTESTS)
