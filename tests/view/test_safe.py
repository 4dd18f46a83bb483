"""Only this computer, only reading, only files of the run: whatever is asked."""

from __future__ import annotations

import os
import shutil

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edgecritic.view.app import create_app
from edgecritic.view.gallery import gallery_of_runs
from edgecritic.web.guard import HEADERS

PARTS = st.one_of(
    st.sampled_from(
        [
            *("..", "%2e%2e", "..%2f..", "%00", "etc", "passwd", "//", "\\", "0", "-1", "9" * 30, "1e3"),
            *(
                "gallery",
                "thumb",
                "photo",
                "judge",
                "open",
                "curve",
                "truths",
                "strength",
                "static",
                "page.html",
            ),
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="?#/"), max_size=12),
)
VALUES = st.one_of(
    st.sampled_from(
        ["nan", "inf", "-1", "1e999", "", "exact", "area", "run", "x" * 500, "exact(tolerance=1e9)"]
    ),
    st.floats().map(str),
    st.text(max_size=10),
)


def ids(gallery):
    return st.sampled_from([*gallery.images, *gallery.detectors])


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_that_is_asked_breaks_or_leaks(gallery, client, data):
    parts = data.draw(st.lists(st.one_of(PARTS, ids(gallery)), max_size=6))
    query = data.draw(st.dictionaries(st.sampled_from(["t", "tol", "s", "p", "q"]), VALUES, max_size=4))
    method = data.draw(st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]))
    path = "/" + "/".join(parts)
    try:
        url = httpx.URL(client.base_url, raw_path=path.encode("utf-8", "replace"), params=None)
        url = url.copy_merge_params(query) if query else url
    except (httpx.InvalidURL, ValueError, UnicodeError):
        return
    reply = client.request(method, url)
    assert reply.status_code < 500, (path, query)
    assert method in ("GET", "HEAD") or reply.status_code in (403, 405, 404)
    for name, value in HEADERS.items():
        assert reply.headers[name] == value
    assert b"root:" not in reply.content
    assert b"Traceback" not in reply.content


def test_paths_do_not_leave_the_house(site):
    for path in (
        *("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/..%5capp.py"),
        *(
            "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
            "/static//etc/passwd",
            "/thumb/..%2f..%2fetc%2fpasswd",
        ),
    ):
        with httpx.Client(trust_env=False) as client:
            reply = client.get(httpx.URL(site).copy_with(raw_path=path.encode()))
        assert reply.status_code in (400, 404)
        assert "root:" not in reply.text
        assert "import " not in reply.text


def test_foreign_hosts_and_methods_that_write_are_refused(client):
    for host in ("evil.example", "evil.example:8610", "127.0.0.1.evil.example", "", "[", "192.0.2.1"):
        assert client.get("/gallery", headers={"host": host}).status_code == 421
    for host in ("localhost:1", "127.0.0.1:8610", "[::1]:8610"):
        assert client.get("/gallery", headers={"host": host}).status_code == 200
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/gallery").status_code == 403


def test_addresses_name_no_files(client, gallery, home):
    told = client.get("/gallery").text
    assert str(home) not in told
    assert all(len(one) == 12 for one in (*gallery.images, *gallery.detectors))
    page = client.get("/").text
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_links_out_of_the_run_are_not_followed(home, tmp_path, client_of):
    shutil.copytree(home, tmp_path / "copy")
    made = gallery_of_runs({"run": tmp_path / "copy/run"})
    outside = tmp_path / "outside.png"
    prediction = sorted((tmp_path / "copy/data/predictions/good").iterdir())[0]
    shutil.move(prediction, outside)
    prediction.symlink_to(outside)
    image = next(key for key, name in made.images.items() if name == prediction.stem)
    detector = next(key for key, one in made.detectors.items() if one.name == "good")
    client = client_of(made)
    for path in ("judge", "open", "curve"):
        reply = client.get(f"/{path}/{image}/{detector}")
        assert reply.status_code == 400
        assert "link out of the folders" in reply.json()["error"]
        assert str(tmp_path) not in reply.text
    assert client.get(f"/thumb/{image}").status_code == 400


def test_a_fault_is_told_without_the_inside(gallery, monkeypatch, caplog, client_of):
    monkeypatch.setattr("edgecritic.view.app.gallery_record", lambda *_: 1 // 0)
    client = client_of(gallery)
    reply = client.get("/gallery")
    assert reply.status_code == 500
    assert "division" not in reply.text
    assert "request failed" in caplog.text


def test_every_route_is_documented(gallery):
    import re
    from pathlib import Path

    text = (Path(__file__).resolve().parents[2] / "docs/explanation/security.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `GET (\S+)` \|", text.partition("## The viewer")[2], re.MULTILINE))
    known = {
        re.sub(r"{(\w+)(:int)?}", lambda found: found[1].upper(), one.path)
        for one in create_app(gallery).routes
    }
    assert told == {f"{path}/…" if path == "/static" else path for path in known}
