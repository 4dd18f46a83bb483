"""Strangers before the door: behind proxies, with bodies nobody asked for, and with much time."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from edgecritic.studio import auth, projects
from edgecritic.studio.app import OWNER_COOKIE
from edgecritic.studio.auth import Pace
from edgecritic.studio.problems import NotNow
from edgecritic.studio.routing import Body, RuledMount, RuledRoute, post
from edgecritic.studio.settings import Settings
from edgecritic.web import connection

SECURITY_PAGE = Path(__file__).parents[2] / "docs/explanation/security.md"
PASSWORD = "correct horse battery"
OWNERS = [("GET", "/projects/1"), ("GET", "/projects/1/export.zip"), ("POST", "/projects")]


def exchange(port: int, sent: bytes) -> bytes:
    """Send bytes on a new connection; return what comes until the server closes, or for two seconds."""
    with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
        line.sendall(sent)
        return receive(line)


def receive(line: socket.socket) -> bytes:
    got = b""
    try:
        while piece := line.recv(65536):
            got += piece
    except TimeoutError:
        pass
    return got


# Behind proxies


@contextmanager
def plain_proxy(port: int) -> Iterator[int]:
    """Forward as a plain ``proxy_pass`` does: a new head that names the server, nothing on the caller."""

    def serve(caller: socket.socket) -> None:
        with caller, socket.create_connection(("127.0.0.1", port), timeout=5) as server:
            caller.settimeout(5)
            head = b""
            while b"\r\n\r\n" not in head:
                head += caller.recv(65536)
            head, _, body = head.partition(b"\r\n\r\n")
            lines = [
                one for one in head.split(b"\r\n") if not one.lower().startswith((b"host:", b"connection:"))
            ]
            lines[1:1] = [b"Host: 127.0.0.1:%d" % port, b"Connection: close"]
            server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            while piece := server.recv(65536):
                caller.sendall(piece)

    def accept() -> None:
        while True:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=[caller], daemon=True).start()

    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def ask(port: int, method: str, path: str, **headers: str) -> httpx.Response:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as client:
        content = b"name=x" if method == "POST" else None
        return client.request(method, path, content=content, headers={"x-edgecritic": "1", **headers})


def assert_strangers_stay_outside(port: int) -> None:
    for host in ("studio.example", "localhost", "127.0.0.1"):
        for method, path in OWNERS:
            assert ask(port, method, path, host=host).status_code in (403, 421), (host, path)


def test_a_plain_proxy_makes_nobody_the_owner(site):
    with plain_proxy(site.server.port) as port:
        assert_strangers_stay_outside(port)
    assert_strangers_stay_outside(site.server.port)
    assert site.owner.get("/projects/1").status_code == 200


def test_the_link_makes_one_browser_the_owners(site):
    link = site.link()
    first, second = site.stranger(), site.stranger()
    assert second.head(link).status_code == 200
    assert second.get("/projects/1").status_code == 403
    reply = first.get(link)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert first.get("/projects/1").status_code == 200
    assert second.get(link).status_code == 404
    assert second.get("/projects/1").status_code == 403
    older = site.link()
    site.link()
    assert second.get(older).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {name: "1"}
        for name in (
            "Forwarded",
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "X-Forwarded-Port",
            "X-Real-IP",
            "Via",
        )
    ],
)
def test_a_link_does_not_work_through_a_proxy_while_there_is_no_password(site, headers):
    link = site.link()
    assert site.stranger().get(link, headers=headers).status_code == 403
    assert site.owner.get("/projects/1", headers=headers).status_code == 403
    assert site.stranger().get(link).status_code == 303  # it was not used up
    with site.database.session() as session:
        auth.set_password(session, PASSWORD)
    assert site.stranger().get(link).status_code == 404
    assert site.stranger().get(site.link(), headers=headers).status_code == 303


def test_requests_of_old_proxies_are_not_the_owners(site):
    cookie = f"{OWNER_COOKIE}={site.owner.cookies[OWNER_COOKIE]}".encode()
    for version, status in ((b"1.1", b"200"), (b"1.0", b"403")):
        head = b"GET /projects/1 HTTP/%s\r\nHost: localhost\r\nConnection: close\r\nCookie: %s\r\n\r\n"
        assert exchange(site.server.port, head % (version, cookie)).split(b" ")[1] == status


def test_a_public_address_ends_ownership_without_a_password(site, serve_site):
    public = serve_site(public_url="https://studio.example")
    public.owner.cookies.update(site.owner.cookies)
    assert public.owner.get("/projects/1").status_code == 403
    assert public.stranger().get(public.link()).status_code == 403


# Limits count callers, not proxies


def test_a_stranger_does_not_use_up_the_owners_attempts(serve_site, store):
    with store.session() as session:
        auth.set_password(session, PASSWORD)
    site = serve_site(public_url="https://studio.example", trusted_proxies=("127.0.0.1",))
    lanes = site.server.app.state.studio.login_limit._seen

    def log_in(told: str) -> int:
        headers = {"x-edgecritic": "1", "x-forwarded-for": told}
        return site.stranger(headers).post("/login", data={"password": PASSWORD[1:]}).status_code

    # What the caller wrote itself is on the left; only the last address is the proxy's word.
    assert [log_in(f"10.0.0.{n}, 192.0.2.7") for n in range(3)] == [403] * 3
    assert log_in("2001:db8::1") == log_in("2001:db8::2") == 403
    assert log_in("not an address") == 403
    assert {caller: len(lane.wrong) for caller, lane in lanes.items()} == {
        "192.0.2.7": 3,
        "2001:db8::/64": 2,
        "127.0.0.1": 1,
    }


def test_nobody_is_believed_who_is_no_trusted_proxy(guarded):
    for number in range(3):
        headers = {"x-edgecritic": "1", "x-forwarded-for": f"192.0.2.{number}"}
        guarded.stranger(headers).post("/login", data={"password": "wrong password"})
    assert list(guarded.server.app.state.studio.login_limit._seen) == ["127.0.0.1"]


@pytest.fixture
def guarded(site):
    with site.database.session() as session:
        auth.set_password(session, PASSWORD)
    return site


def test_attempts_of_one_caller_come_one_after_the_other():
    import asyncio

    pace = Pace(1, 60, pause=0.05, patience=5)
    under_way, most = 0, 0

    async def check(right: bool) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return right

    async def attack() -> tuple[list[object], bool]:
        wrong = [asyncio.create_task(pace.attempt("one", lambda: check(False))) for _ in range(6)]
        right = await pace.attempt("one", lambda: check(True))
        return await asyncio.gather(*wrong, return_exceptions=True), right

    wrong, right = asyncio.run(attack())
    assert right
    assert most == 1
    assert wrong.count(False) == 1
    assert sum(isinstance(one, NotNow) for one in wrong) == 5
    pace.patience = 0
    with pytest.raises(NotNow, match="at once"):
        asyncio.run(pace.attempt("one", lambda: check(True)))


# Each route says what it allows


def routes_of(site) -> list[RuledRoute | RuledMount]:
    return site.server.app.routes


def filled(path: str) -> str:
    return re.sub(r"\{\w+(?::id)?\}", "1", path)


def test_every_route_has_a_rule(site):
    for route in routes_of(site):
        assert isinstance(route, RuledRoute | RuledMount), route
        writes = isinstance(route, RuledRoute) and "POST" in route.methods
        assert writes == (route.rule.body is not None), route.path
        assert route.rule.locks or not writes, route.path


def test_the_caller_is_known_before_the_body_is_read(guarded):
    """Each route is knocked at with a head alone; the refusal does not wait for the body."""
    expected = {"owner": b"403", "guest": b"404"}
    knocked = 0
    for route in routes_of(guarded):
        if route.rule.body is None or route.rule.role == "anyone":
            continue
        most = route.rule.body.most or guarded.settings.upload_bytes
        own = "Host: localhost\r\nX-Edgecritic: 1\r\n"
        head = f"POST {filled(route.path)} HTTP/1.1\r\n{own}Content-Length: {most}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", guarded.server.port), timeout=10) as line:
            line.sendall(head.encode())
            assert line.recv(65536).split(b" ")[1] == expected[route.rule.role], route.path
        knocked += 1
    assert knocked > 10


def test_bodies_above_the_rule_are_refused(site):
    with site.database.session() as session:
        guest, token = projects.invite(session, "Ada", project_id=1)
    site.owner.get(f"/i/{token}")
    for route in routes_of(site):
        if route.rule.body is None:
            continue
        path = route.path.replace("{guest:id}", str(guest.id))
        reply = http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=10)
        reply.putrequest("POST", filled(path))
        cookie = "; ".join(f"{name}={value}" for name, value in site.owner.cookies.items())
        most = route.rule.body.most or site.settings.upload_bytes
        for name, value in (("cookie", cookie), ("x-edgecritic", "1"), ("content-length", str(most + 1))):
            reply.putheader(name, value)
        reply.endheaders()
        assert reply.getresponse().status == 413, route.path
        reply.close()


def test_a_body_must_come_in_time(site):
    async def take(_request, _form):
        return PlainTextResponse("taken")

    rule = Body("form", 100, 0.2)
    site.server.app.router.routes.insert(0, post("/slow", take, "anyone", rule, locks="nothing"))
    head = b"POST /slow HTTP/1.1\r\nHost: localhost\r\nX-Edgecritic: 1\r\nContent-Length: 3\r\n\r\n"
    assert exchange(site.server.port, head + b"a=b").endswith(b"taken")
    assert exchange(site.server.port, head + b"a=").startswith(b"HTTP/1.1 408")


# Connections end


@pytest.fixture
def hasty(monkeypatch, serve_site):
    """A studio whose connections have little time."""
    for name in ("HEAD_SECONDS", "IDLE_SECONDS", "REST_SECONDS", "STUCK_SECONDS"):
        monkeypatch.setattr(connection, name, 0.3)
    return serve_site()


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("begin", "answered"),
    [
        (b"", False),
        (HEAD, False),
        (HEAD + b"\r\n", True),
        (HEAD + b"\r\n" + HEAD, True),
        (
            b"POST /projects HTTP/1.1\r\nHost: localhost\r\nX-Edgecritic: 1\r\nContent-Length: 999\r\n\r\n",
            True,
        ),
    ],
    ids=["nothing", "half a head", "idle", "half a second head", "a refused body"],
)
def test_what_is_sent_slowly_is_closed(hasty, begin, answered):
    with socket.create_connection(("127.0.0.1", hasty.server.port), timeout=5) as line:
        line.sendall(begin)
        got = b""
        try:
            for _ in range(100):
                line.settimeout(0.05)
                try:
                    piece = line.recv(65536)
                except TimeoutError:
                    line.sendall(b"x" if begin else b"")
                    continue
                if not piece:
                    break
                got += piece
            else:
                pytest.fail("the connection is still open")
        except ConnectionError:
            pass
    assert got.startswith(b"HTTP/1.1") == answered


def test_a_reply_that_nobody_reads_is_given_up(hasty):
    ended = threading.Event()

    class Transport:
        def abort(self):
            ended.set()

    import asyncio

    async def stall():
        made = connection.Connection.__new__(connection.Connection)
        made.loop, made.transport = asyncio.get_running_loop(), Transport()
        made.flow = type(
            "Flow", (), {"pause_writing": lambda self: None, "resume_writing": lambda self: None}
        )()
        made.pause_writing()
        made.resume_writing()
        await asyncio.sleep(0.5)
        assert not ended.is_set()
        made.pause_writing()
        await asyncio.sleep(0.5)

    asyncio.run(stall())
    assert ended.is_set()


def drip(line: socket.socket, count: int) -> None:
    for _ in range(count):
        line.sendall(b"x" * 65536)
        time.sleep(0.001)


def test_a_head_without_end_is_cut_off(site):
    with socket.create_connection(("127.0.0.1", site.server.port), timeout=5) as line:
        line.sendall(HEAD + b"X-Long: ")
        with pytest.raises(ConnectionError):
            drip(line, 500)


def test_the_oldest_waiting_connection_makes_room(monkeypatch, site):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 5)
    lines = [socket.create_connection(("127.0.0.1", site.server.port), timeout=5) for _ in range(9)]
    try:
        assert ask(site.server.port, "GET", "/healthz").status_code == 200
        with suppress(ConnectionError):
            assert lines[0].recv(1) == b""
        lines[-1].sendall(HEAD + b"\r\n")
        assert lines[-1].recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        for line in lines:
            line.close()


# What the documentation shows


def documented(kind: str) -> str:
    """Return the configuration of a proxy on the page on security."""
    found = re.search(rf"```{kind}\n(.*?)```", SECURITY_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_table_of_routes_is_the_one_in_the_code(site):
    rows = ["| route | who | body at most | in | locks |", "|---|---|---|---|---|"]
    rows += sorted(table_row(route) for route in routes_of(site))
    page = SECURITY_PAGE.read_text(encoding="utf-8").splitlines()
    shown = [line for line in page[page.index(rows[0]) :] if line.startswith("|")][: len(rows)]
    assert shown == rows, "docs/explanation/security.md should have this table:\n" + "\n".join(rows)
    after = page[page.index(rows[0]) + len(rows)]
    assert not after.startswith("|"), f"no route has the line {after}"


def table_row(route: RuledRoute | RuledMount) -> str:
    path = re.sub(r"\{(\w+)(?::id)?\}", lambda found: found[1].upper(), route.path)
    body, locks = route.rule.body, route.rule.locks or "–"
    if isinstance(route, RuledMount):
        path = f"{path}/…"
    method = "POST" if body else "GET"
    if body is None:
        return f"| `{method} {path}` | {route.rule.role} | – | – | {locks} |"
    most = body.most or Settings(data=Path()).upload_bytes
    size = f"{most // 2**20} MiB" if most >= 2**20 else f"{most // 2**10} KiB"
    return f"| `{method} {path}` | {route.rule.role} | {body.kind}, {size} | {body.seconds} s | {locks} |"


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a proxy until the end of the block."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env={"HOME": str(folder)})
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            else:
                pytest.fail((folder / "log").read_text())
            yield
        finally:
            process.terminate()
            process.wait(20)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start_nginx(server: str, folder: Path, port: int):
    folder.mkdir()
    paths = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = f"""daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;
    events {{ worker_connections 256; }}
    http {{ access_log {folder}/access.log; {paths} {server} }}"""
    (folder / "nginx.conf").write_text(text)
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    return running([nginx, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")], port, folder)


def start_caddy(text: str, folder: Path, port: int):
    folder.mkdir()
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + text)
    return running(["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"], port, folder)


def needs(program: str) -> None:
    if not (shutil.which(program) or Path(f"/usr/sbin/{program}").exists()):
        pytest.skip(f"{program} is not installed")


def nginx_as_documented(target: int, port: int) -> str:
    text = documented("nginx").replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    text = re.sub(r" *ssl_certificate(_key)? .*\n", "", text)
    return text.replace("127.0.0.1:8600", f"127.0.0.1:{target}")


def caddy_as_documented(target: int, port: int) -> str:
    text = documented("caddy").replace("studio.example.org {", f"http://studio.example.org:{port} {{")
    return text.replace("127.0.0.1:8600", f"127.0.0.1:{target}")


PROXIES = {
    "nginx": (
        start_nginx,
        nginx_as_documented,
        lambda target, port: (
            f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{target}; }} }}"
        ),
    ),
    "caddy": (
        start_caddy,
        caddy_as_documented,
        lambda target, port: f"http://:{port} {{\n\treverse_proxy 127.0.0.1:{target}\n}}\n",
    ),
}


@pytest.mark.parametrize("program", list(PROXIES))
def test_a_proxy_without_settings_makes_nobody_the_owner(site, tmp_path, program):
    needs(program)
    start, _, plain = PROXIES[program]
    port = free_port()
    with start(plain(site.server.port, port), tmp_path / program, port):
        assert_strangers_stay_outside(port)
        link = site.link().removeprefix(site.url)
        assert ask(port, "GET", link, host="localhost").status_code == 403


@pytest.mark.parametrize("program", list(PROXIES))
def test_a_proxy_as_documented(guarded, serve_site, tmp_path, program):
    needs(program)
    start, as_documented, _ = PROXIES[program]
    port = free_port()
    name = f"studio.example.org:{port}"
    site = serve_site(public_url=f"https://{name}", trusted_proxies=("127.0.0.1",))
    own = {"host": name, "origin": f"https://{name}"}
    with start(as_documented(site.server.port, port), tmp_path / program, port):
        studio = site.server.app.state.studio
        for method, path in OWNERS:
            assert ask(port, method, path, **own).status_code == 403, path
        forged = own | {"x-forwarded-for": "192.0.2.1", "x-remote-user": "ada"}
        assert ask(port, "GET", "/projects/1", **forged).status_code == 403
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=own, trust_env=False) as client:
            wrong = client.post("/login", data={"password": "wrong password"}, headers=forged)
            assert wrong.status_code == 403
            reply = client.post("/login", data={"password": PASSWORD})
            assert reply.status_code == 303
            cookie = {"cookie": reply.headers["set-cookie"].split(";")[0]}
            assert client.get("/projects/1", headers=cookie).status_code == 200
            photo = client.post("/projects/1/images?name=x", content=bytes(500_000), headers=cookie)
            assert photo.status_code == 400  # it has got through, and is no picture
        assert list(studio.login_limit._seen) == ["127.0.0.1"]
        with site.database.session() as session:
            _, token = projects.invite(session, "Ada", project_id=1)
        assert ask(port, "GET", f"/i/{token}", **own).status_code == 303
    written = "".join(
        path.read_text(errors="replace") for path in (tmp_path / program).rglob("*log*") if path.is_file()
    )
    assert token not in written
