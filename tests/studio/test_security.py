"""What must not be possible."""

from __future__ import annotations

import io
import logging
import re
import struct
import zlib
from datetime import timedelta

import httpx
import numpy as np
import pytest
from PIL import Image as Picture
from sqlalchemy import select, text

from edgecritic.studio import auth, projects
from edgecritic.studio.models import Invitation, LoginSession, Project, now
from edgecritic.studio.pictures import encode_png
from edgecritic.web.guard import HEADERS

HTML = {"accept": "text/html"}
PASSWORD = "correct horse battery"
EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE projects; --",
    "{{7*7}}",
]


@pytest.fixture
def store(database):
    """Every test of this module runs on both databases."""
    return database


@pytest.fixture
def guarded(site):
    """The same studio with a password."""
    with site.database.session() as session:
        auth.set_password(session, PASSWORD)
    return site


def guest_of(site, **target):
    with site.database.session() as session:
        invitation, token = projects.invite(session, "Ada", **target)
    client = site.stranger()
    client.get(f"/i/{token}")
    return client, invitation.id, token


OWNER_ONLY = [
    ("GET", "/"),
    ("GET", "/projects/1"),
    ("GET", "/projects/1/people"),
    ("GET", "/projects/1/experiments"),
    ("GET", "/projects/1/export.zip"),
    ("GET", "/projects/1/images/1"),
    ("GET", "/projects/1/images/1/photo"),
    ("GET", "/projects/1/images/1/strength.png"),
    ("GET", "/projects/1/images/1/layers/photo"),
    ("GET", "/projects/1/images/1/tiles/photo/1/1/1"),
    ("GET", "/experiments/1"),
    ("GET", "/experiments/1/live"),
    ("GET", "/experiments/1/answers.csv"),
    ("GET", "/experiments/1/votes.csv"),
    ("GET", "/experiments/1/risk.svg"),
    ("GET", "/experiments/1/experiment.json"),
    ("GET", "/experiments/1/export.zip"),
    ("GET", "/experiments/1/procedure"),
    ("GET", "/experiments/1/procedure.json"),
    ("GET", "/experiments/1/preview/photo"),
    ("GET", "/experiments/1/preview/maps/1/photo"),
    ("POST", "/projects"),
    ("POST", "/projects/1/images"),
    ("POST", "/projects/1/maps"),
    ("POST", "/projects/1/detect"),
    ("POST", "/projects/1/people"),
    ("POST", "/projects/1/label"),
    ("POST", "/projects/1/experiments"),
    ("POST", "/projects/1/trials"),
    ("POST", "/experiments/1/subjects"),
    ("POST", "/experiments/1/close"),
    ("POST", "/experiments/1/procedure"),
    ("POST", "/experiments/1/recruit"),
    ("POST", "/experiments/1/forget"),
    ("POST", "/experiments/1/subjects/1/delete"),
    ("POST", "/projects/1/rename"),
    ("POST", "/projects/1/delete"),
    ("POST", "/projects/1/guideline"),
    ("POST", "/projects/1/classes"),
    ("POST", "/projects/1/assign"),
    ("POST", "/projects/1/images/1/rename"),
    ("POST", "/projects/1/images/1/delete"),
    ("POST", "/projects/1/images/1/maps/1/delete"),
    ("POST", "/projects/1/images/1/consensus"),
    ("POST", "/projects/1/volumes/1/delete"),
    ("POST", "/annotations/1/comments"),
    ("POST", "/annotations/1/comments/1/delete"),
    ("POST", "/annotations/1/return"),
    ("GET", "/annotations/1/review"),
    ("GET", "/annotations/1/layer"),
    ("POST", "/annotations/1/reopen"),
    ("POST", "/invitations/1/revoke"),
    ("POST", "/invitations/1/renew"),
]


def test_strangers_and_guests_reach_nothing_of_the_owner(guarded):
    guest, _, _ = guest_of(guarded, project_id=1)
    with guarded.database.session() as session:
        mine = projects.owner_invitation(session, 1).id
    for client in (guarded.stranger(), guest):
        for method, path in OWNER_ONLY:
            content = b"{}" if method == "POST" else None
            assert client.request(method, path, content=content).status_code == 403, path
        assert client.get(f"/g/{mine}/").status_code == 404
        assert client.get("/projects/1", headers=HTML).headers["location"] == "/login"


def test_every_route_of_the_owner_is_in_the_list(site):
    """A new route that forgets its guard fails here."""
    free = {"/login", "/logout", "/healthz", "/i/{token}", "/join/{token}", "/enter/{token}", "/static"}
    known = {path for _, path in OWNER_ONLY}
    for route in site.server.app.routes:
        path = route.path
        if path in free or path.startswith("/g/"):
            continue
        filled = path
        filled = re.sub(r"\{\w+:id\}", "1", filled)
        assert re.sub(r"\{(kind|part|side)\}", "photo", filled) in known, path


def test_the_password_opens_and_closes(guarded):
    client = guarded.stranger()
    assert client.post("/login", data={"password": "wrong password"}).status_code == 403
    reply = client.post("/login", data={"password": PASSWORD})
    assert reply.status_code == 303
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/projects/1").status_code == 200
    kept = dict(client.cookies)
    assert client.post("/logout").status_code == 303
    assert guarded.stranger().get("/projects/1", cookies=None).status_code == 403
    again = httpx.Client(base_url=guarded.url, cookies=kept, trust_env=False)
    assert again.get("/projects/1").status_code == 403
    again.close()


def test_guessing_is_slowed_down_but_what_is_right_enters(guarded):
    client = guarded.stranger()
    guarded.server.app.state.studio.login_limit.pause = 0.1
    seen = [client.post("/login", data={"password": f"guess {n}"}).status_code for n in range(12)]
    assert seen[:10] == [403] * 10
    assert seen[-1] == 429
    assert guarded.stranger().post("/login", data={"password": PASSWORD}).status_code == 303
    seen = [client.get(f"/{way}/guess{n}").status_code for n in range(31) for way in ("i", "enter")]
    assert seen[0] == 404
    assert seen[-1] == 429
    with guarded.database.session() as session:
        _, token = projects.invite(session, "Ada", project_id=1)
    assert client.get(f"/i/{token}").status_code == 303
    assert client.get(guarded.link()).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "x-edgecritic": "1"},
        {"origin": "http://evil.example", "x-edgecritic": "1"},
    ],
)
def test_cross_site_requests_are_refused(site, headers):
    client = site.new_owner(headers)
    assert client.post("/projects", data={"name": "forged"}).status_code == 403
    with site.database.reading() as session:
        assert len(session.scalars(select(Project)).all()) == 1


def test_our_own_pages_may_post(site):
    for headers in ({"origin": site.url}, {"origin": site.url, "sec-fetch-site": "same-origin"}):
        assert site.new_owner(headers).post("/projects", data={"name": "x"}).status_code == 303


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "[::", "a b"]
)
def test_another_name_for_this_server_is_refused(site, host):
    reply = site.stranger().get("/projects/1", headers={"host": host})
    assert reply.status_code in (400, 421)


def test_a_proxy_is_not_taken_for_the_owner(site, serve_site):
    assert site.owner.get("/projects/1").status_code == 200
    for header in ("x-forwarded-for", "forwarded", "x-forwarded-host", "x-real-ip", "via"):
        for client in (site.stranger(), site.owner):
            assert client.get("/projects/1", headers={header: "10.0.0.1"}).status_code == 403
    trusted = {"proxy_user_header": "x-remote-user", "trusted_proxies": ("127.0.0.1",)}
    behind = serve_site(public_url="https://studio.example", **trusted)
    assert behind.stranger().get("/projects/1").status_code == 403
    assert behind.stranger().get("/projects/1", headers={"x-remote-user": "ada"}).status_code == 200
    assert behind.stranger().get("/healthz", headers={"host": "studio.example"}).status_code == 200
    elsewhere = serve_site(**trusted | {"trusted_proxies": ("10.9.9.9",)})
    assert elsewhere.stranger().get("/projects/1", headers={"x-remote-user": "ada"}).status_code == 403


def test_https_gives_secure_cookies(serve_site, fill, store):
    fill(store)
    site = serve_site(public_url="https://studio.example")
    with store.session() as session:
        _, token = projects.invite(session, "Ada", project_id=1)
    assert "Secure" in site.stranger().get(f"/i/{token}").headers["set-cookie"]


def test_every_reply_has_strict_headers(site):
    for path in ("/", "/nowhere", "/static/label.js", "/projects/1/images/1/photo", "/g/9/", "/healthz"):
        reply = site.owner.get(path)
        for name, value in HEADERS.items():
            assert reply.headers[name] == value, path
        assert "cache-control" in reply.headers
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_pages_have_no_inline_code(site):
    parts = ["/projects/1", "/projects/1/people", "/projects/1/experiments"]
    pages = ["/", *parts, "/projects/1/images/1"]
    guest, number, _ = guest_of(site, project_id=1)
    shown = [site.owner.get(path, headers=HTML).text for path in pages]
    shown += [guest.get(f"/g/{number}/").text, guest.get(f"/g/{number}/label/1").text]
    for page in shown:
        lower = page.lower()
        assert "<script>" not in lower
        assert " onclick" not in lower
        assert " style=" not in lower
        assert "javascript:" not in lower


@pytest.mark.parametrize("name", EVIL)
def test_names_are_never_code(site, name):
    assert site.owner.post("/projects", data={"name": name}).status_code == 303
    reply = site.owner.post("/projects/1/people", json={"names": [name]})
    assert reply.status_code == 200
    photo = encode_png(np.zeros((20, 20), np.uint8))
    assert (
        site.owner.post("/projects/1/images", params={"name": f"{name}.png"}, content=photo).status_code
        == 201
    )
    paths = ("/", "/projects/1", "/projects/1/people")
    page = "".join(site.owner.get(path, headers=HTML).text for path in paths)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "49" not in site.owner.get("/projects/2", headers=HTML).text.split("<h1>")[1].split("</h1>")[0]
    with site.database.reading() as session:
        assert session.scalar(select(Project.name).where(Project.id == 2)) == name
    assert site.owner.get("/projects/1/export.zip").status_code == 200


def test_names_in_the_figure_are_never_code():
    from edgecritic.annotators import Answer, Trial, dataset_risk
    from edgecritic.studio.risk_figure import risk_figure

    trial = Trial.bare("left", id="1", image="a", detector=EVIL[1], mode="hard")
    assert "<img" not in risk_figure([dataset_risk([trial], [Answer("1", "2", "left")])])


def test_exported_names_stay_inside_the_folder(site):
    import zipfile

    photo = encode_png(np.zeros((20, 20), np.uint8))
    for name in ("..png", "...", "a/../../b.png", "..\\..\\c.png", "con:.png"):
        site.owner.post("/projects/1/images", params={"name": name}, content=photo)
    with zipfile.ZipFile(io.BytesIO(site.owner.get("/projects/1/export.zip").content)) as archive:
        for name in archive.namelist():
            assert ".." not in name.split("/")
            assert not name.startswith("/")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
        "/static//etc/passwd",
        "/static/..%5capp.py",
        "/projects/1/images/1/..%2f..%2fphoto",
        "/projects/1/images/1/../../../etc/passwd",
        "/projects/1/images/%2e%2e%2fetc",
        "/g/1/images/1/%2e%2e%2fphoto",
    ],
)
def test_paths_do_not_leave_the_house(site, path):
    with httpx.Client(trust_env=False) as client:
        raw = httpx.URL(site.url).copy_with(raw_path=path.encode())
        reply = client.get(raw)
    assert reply.status_code in (400, 404)
    assert "root:" not in reply.text
    assert "import " not in reply.text


def test_other_peoples_ids_are_not_there(site):
    with site.database.session() as session:
        other = projects.create_project(session, "Other")
        image = projects.add_image(session, other.id, "secret", _upload())
    guest, number, _ = guest_of(site, project_id=1)
    stranger, second, _ = guest_of(site, project_id=other.id)
    assert guest.get(f"/g/{number}/images/{image.id}/photo").status_code == 404
    assert guest.get(f"/g/{number}/label/{image.id}").status_code == 404
    assert guest.get(f"/g/{second}/").status_code == 404
    work = stranger.get(f"/g/{second}/label/{image.id}").text.split('data-annotation="')[1].split('"')[0]
    for tail in ("events", "map.png", "scores", "compare"):
        assert guest.get(f"/g/{number}/annotations/{work}/{tail}").status_code == 404
        assert guest.get(f"/g/{second}/annotations/{work}/{tail}").status_code == 404
    reply = guest.post(f"/g/{number}/annotations/{work}/submit", json={"count": 0})
    assert reply.status_code == 404
    assert guest.get(f"/g/{number}/schedule").status_code == 404


def test_forged_and_ended_tokens_do_not_open(site):
    guest, number, token = guest_of(site, project_id=1)
    assert guest.get(f"/g/{number}/").status_code == 200
    for forged in (token[:-1], token + "A", token.swapcase(), "", "%00", "a" * 5000, str(number)):
        assert site.stranger().get(f"/i/{forged}").status_code in (404, 400)
    fake = site.stranger()
    fake.cookies.set(f"edgecritic_guest_{number}", auth.hash_token(token))
    assert fake.get(f"/g/{number}/").status_code == 404
    with site.database.session() as session:
        for one in session.scalars(select(LoginSession)):
            one.expires = now() - timedelta(seconds=1)
    assert guest.get(f"/g/{number}/").status_code == 404
    assert guest.get(f"/i/{token}").status_code == 303
    with site.database.session() as session:
        session.get_one(Invitation, number).expires = now() - timedelta(seconds=1)
    assert guest.get(f"/g/{number}/").status_code == 404
    assert guest.get(f"/i/{token}").status_code == 404


def test_a_revoked_invitation_closes_open_browsers(site):
    guest, number, token = guest_of(site, project_id=1)
    assert site.owner.post(f"/invitations/{number}/revoke").status_code == 303
    assert guest.get(f"/g/{number}/").status_code == 404
    assert site.stranger().get(f"/i/{token}").status_code == 404


def test_a_guests_cookie_is_not_the_owners(guarded):
    guest, number, _ = guest_of(guarded, project_id=1)
    secret = guest.cookies[f"edgecritic_guest_{number}"]
    thief = guarded.stranger()
    thief.cookies.set("edgecritic_owner", secret)
    assert thief.get("/projects/1").status_code == 403


def _upload():
    from edgecritic.studio.pictures import read_photo

    return read_photo(encode_png(np.zeros((20, 20), np.uint8)), 10**6)


def _png_bomb(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


def _bad_files():
    good = encode_png(np.zeros((40, 40), np.uint8))
    gif = io.BytesIO()
    Picture.new("L", (9, 9)).save(gif, "GIF")
    npy = io.BytesIO()
    np.save(npy, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return {
        "empty": b"",
        "text": b"hello",
        "html": b"<html><script>alert(1)</script>",
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        "gif": gif.getvalue(),
        "cut": good[:40],
        "damaged": good[:-30] + bytes(30),
        "tiny": encode_png(np.zeros((1, 1), np.uint8)),
        "bomb": _png_bomb(60000, 60000),
        "wide": _png_bomb(2**31 - 1, 1),
        "large": _png_bomb(2000, 2000),
        "pickle": npy.getvalue(),
        "jpeg head": b"\xff\xd8\xff" + bytes(100),
        "tiff head": b"II*\x00" + bytes(100),
        "pgm": b"P5 99999999 99999999 255\n",
        "mat": b"MATLAB 5.0 MAT-file" + bytes(200),
        "zip": b"PK\x03\x04" + bytes(100),
    }


def test_uploads_are_checked_by_content(site):
    guest, number, _ = guest_of(site, project_id=1)
    work = guest.get(f"/g/{number}/label/1").text.split('data-annotation="')[1].split('"')[0]
    for name, content in _bad_files().items():
        targets = [
            (site.owner, "/projects/1/images?name=x.png"),
            (site.owner, "/projects/1/maps?kind=label&file=scene-0.png"),
            (site.owner, "/projects/1/maps?kind=detector&file=scene-0.png"),
            (guest, f"/g/{number}/annotations/{work}/import"),
        ]
        for client, path in targets:
            reply = client.post(path, content=content)
            assert reply.status_code == 400, (name, path, reply.text)
            assert "/tmp" not in reply.text
            assert "Traceback" not in reply.text


def test_too_large_requests_are_cut_off(site):
    assert site.owner.post("/projects/1/images?name=x.png", content=bytes(2**20 + 1)).status_code == 413
    assert (
        site.owner.post("/projects/1/images?name=x.png", content=iter([bytes(2**19)] * 5)).status_code == 413
    )
    assert site.owner.post("/login", content=b"password=" + b"x" * 70000).status_code == 413


def test_errors_show_nothing_of_the_inside(site, monkeypatch):
    def fail(*_args, **_more):
        raise RuntimeError("secret detail in /srv/x")

    monkeypatch.setattr("edgecritic.studio.projects.image_rows", fail)
    for headers in (HTML, {}):
        reply = site.owner.get("/projects/1", headers=headers)
        assert reply.status_code == 500
        assert reply.headers["content-security-policy"] == HEADERS["content-security-policy"]
        assert "secret" not in reply.text
        assert "Traceback" not in reply.text


def test_tokens_are_in_no_log(guarded, monkeypatch, caplog, capfd):
    """Neither when all goes well, nor when a request with a token fails, nor when the database does."""
    with guarded.database.session() as session:
        _, token = projects.invite(session, "Ada", project_id=1)
    link, hidden = guarded.link(), auth.new_token()
    client = guarded.stranger()
    assert client.get(f"/i/{token}").status_code == 303

    def fail(session, *_args):
        session.execute(text("SELECT nothing FROM nowhere WHERE a = :secret"), {"secret": hidden})

    monkeypatch.setattr("edgecritic.studio.auth.find_invitation", fail)
    monkeypatch.setattr("edgecritic.studio.auth.is_link", fail)
    with caplog.at_level("DEBUG"):
        assert client.get(f"/i/{token}").status_code == 503
        assert client.get(link).status_code == 503
        client.post("/login", data={"password": PASSWORD})
    ours = [one for one in caplog.records if not one.name.startswith("http")]  # not the browser's log
    written = "".join(map(logging.Formatter().format, ours)) + "".join(capfd.readouterr())
    assert "request failed: GET enter" in written
    for secret in (token, link.rpartition("/")[2], hidden, PASSWORD):
        assert secret not in written


def test_cells_are_no_formulas():
    from edgecritic.annotators.answers import exact_csv

    cells = exact_csv(["x"], [[text] for text in ("=1+1", "+1", "-1", "@x", "a", "'=1")]).split("\n")
    assert cells[1:7] == ["'=1+1", "'+1", "'-1", "'@x", "a", "''=1"]


def test_sql_is_never_made_of_text(site):
    for evil in ("1 OR 1=1", "1; DROP TABLE images", "' OR ''='", "1)--"):
        assert site.owner.get(f"/projects/{evil}").status_code == 404
        assert site.owner.get("/projects/1/images/1/" + evil).status_code == 404
        given = {"kind": "label", "file": f"{evil}.png", "name": evil}
        content = encode_png(np.zeros((20, 20), bool))
        assert site.owner.post("/projects/1/maps", params=given, content=content).status_code == 404
        assert site.stranger().get(f"/i/{evil}").status_code == 404
    with site.database.reading() as session:
        assert session.execute(text("SELECT COUNT(*) FROM images")).scalar() == 3
