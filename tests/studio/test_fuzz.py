"""Any input to any address: no error of ours, no trace of the inside."""

from __future__ import annotations

import contextlib
import json
import re
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edgecritic.studio import projects

TEXT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "0", "-1", "99999999999", "1e9", "null", "\x00", "\ud800", "%00", "../..", "' OR 1=1 --", "NaN"]
    ),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.integers(-2, 90), st.floats(), TEXT
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
POINTS = st.lists(st.integers(-3, 90), max_size=8)
NEARLY_EDITS = st.fixed_dictionaries(
    {
        "seq": st.one_of(st.integers(-1, 3), SCALARS),
        "key": st.one_of(st.text("abc-_", max_size=5), SCALARS),
        "op": st.sampled_from(
            [
                "threshold",
                "erase",
                "reveal",
                "draw",
                "lasso",
                "delete",
                "replace",
                "despeckle",
                "clear",
                "undo",
                "redo",
                "x",
            ]
        ),
        "data": st.one_of(
            st.fixed_dictionaries({"points": st.one_of(POINTS, JSON)}),
            st.fixed_dictionaries({"points": POINTS, "radius": SCALARS}),
            st.fixed_dictionaries({"at": POINTS, "scope": st.sampled_from(["segment", "component", "x"])}),
            st.fixed_dictionaries({"runs": POINTS}),
            st.fixed_dictionaries({"level": SCALARS}),
            st.just({}),
            JSON,
        ),
        "at": SCALARS,
    }
)
NEARLY_SEGMENTS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["label", "false alarm", 1]),
        "centre": st.one_of(st.just([3, 4]), POINTS),
        "pixels": st.one_of(st.just([[3, 4]]), st.lists(POINTS, max_size=3), SCALARS),
    }
)
NEARLY_TRIALS = st.fixed_dictionaries(
    {
        "id": TEXT,
        "image": st.sampled_from(["scene-0", "x"]),
        "detector": TEXT,
        "mode": st.sampled_from(["hard", "easy", 1]),
        "left": NEARLY_SEGMENTS,
        "right": NEARLY_SEGMENTS,
    }
)
PROCEDURE = st.sampled_from(
    ["language", "texts", "consent", "before", "after", "size", "code", "address", "keep_until", "enlarged"]
)
DOCUMENTS = st.one_of(
    JSON,
    st.fixed_dictionaries({"events": st.lists(NEARLY_EDITS, max_size=3)}),
    st.fixed_dictionaries({"names": st.one_of(JSON, st.lists(TEXT, max_size=3))}),
    st.fixed_dictionaries(
        {"slot": SCALARS, "side": st.sampled_from(["left", "right", 1]), "reaction_ms": SCALARS}
    ),
    st.fixed_dictionaries({"count": SCALARS}),
    st.fixed_dictionaries({"places": SCALARS}),
    st.fixed_dictionaries({"procedure": st.dictionaries(PROCEDURE, JSON), "practice": SCALARS}),
    st.fixed_dictionaries({"trials": st.lists(st.one_of(JSON, NEARLY_TRIALS), max_size=3), "seed": SCALARS}),
)
FORMS = st.dictionaries(
    st.sampled_from(
        [
            *("name", "mode", "seed", "square", "practice", "checks", "password", "detector", "image"),
            *("agree", "part", "participant", "STUDY_ID"),
        ]
    ),
    TEXT,
)
STARTS = st.sampled_from(
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"BM",
        b"II*\x00",
        b"P5 ",
        b"\x93NUMPY",
        b"MATLAB 5.0 MAT-file",
    ]
)
BODIES = st.one_of(
    DOCUMENTS.map(lambda one: json.dumps(one).encode()),
    FORMS.map(lambda one: "&".join(f"{k}={quote(v, errors='replace')}" for k, v in one.items()).encode()),
    st.builds(lambda start, rest: start + rest, STARTS, st.binary(max_size=200)),
)


@pytest.fixture
def doors(site):
    """A client that is owner and guest at once, and every address it can knock at."""
    with site.database.session() as session:
        people, token = projects.invite(session, "Ada", project_id=1)
        projects.invite(session, "Bo", project_id=1)
    assert site.owner.post("/projects/1/experiments", data={"name": "x", "checks": "1"}).status_code == 303
    link = site.owner.post("/experiments/1/subjects", json={"names": ["S"]}).json()["invited"][0]["path"]
    site.owner.get(f"/i/{token}")
    subject = site.owner.get(link).headers["location"].strip("/").split("/")[-1]
    work = site.owner.get(f"/g/{people.id}/label/1").text.split('data-annotation="')[1].split('"')[0]
    patterns = [
        (method, route.path)
        for route in site.server.app.routes
        for method in sorted(getattr(route, "methods", None) or {"GET"})
    ]
    return site, patterns, {"guest": [str(people.id), subject], "annotation": [work]}


def test_no_input_makes_an_error(doors):
    site, patterns, known = doors
    codes = set()

    @settings(max_examples=800, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(patterns),
        BODIES,
        st.dictionaries(st.sampled_from(["name", "file", "kind", "with"]), TEXT),
        st.data(),
    )
    def knock(door, body, query, data):
        method, pattern = door

        def fill(match):
            name = match.group(1)
            choices = [*known.get(name, []), "1", "2", "999"]
            return quote(data.draw(st.one_of(st.sampled_from(choices), TEXT)), safe="", errors="replace")

        path = re.sub(r"\{(\w+)(?::id)?\}", fill, pattern)
        safe = {key: value.encode("utf-8", "replace").decode() for key, value in query.items()}
        if pattern.endswith(("/login", "/revoke", "/close", "/forget", "/delete")):
            site.server.app.state.studio.login_limit._seen.clear()
            method = "GET"
        site.server.app.state.studio.token_limit._seen.clear()
        headers = data.draw(st.sampled_from([{}, {"accept": "text/html"}]))
        try:
            reply = site.owner.request(
                method, path, params=safe, content=body if method == "POST" else None, headers=headers
            )
        except (httpx.InvalidURL, httpx.LocalProtocolError):
            return
        codes.add(reply.status_code)
        assert reply.status_code < 500, (method, path, reply.text)
        if "text" in reply.headers.get("content-type", "") or "json" in reply.headers.get("content-type", ""):
            assert "Traceback" not in reply.text
            assert "sqlalchemy" not in reply.text

    knock()
    assert {200, 400, 404} <= codes


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(edits=st.lists(NEARLY_EDITS, max_size=4))
def test_nearly_right_edits_never_fail(edits):
    from edgecritic.errors import InputError
    from edgecritic.studio.labelling import parse_events
    from edgecritic.studio.models import Image

    with contextlib.suppress(InputError):
        parse_events({"events": edits}, Image(width=80, height=64))
