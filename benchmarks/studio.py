"""The studio: many subjects at once, a server that is killed, a large image, and hostile input."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bars import Figure, Given, check, run_tests

PART = "studio"
LIMITS = {"SQLite": 600, "PostgreSQL": 250}
"""The 95th percentile of an answer's time in milliseconds."""


@contextmanager
def database(kind: str) -> Iterator[tuple[str, Path]]:
    """Make an empty database; yield its URL and a folder for logs."""
    from studio_server import postgresql

    with tempfile.TemporaryDirectory(prefix="studio-") as name:
        folder = Path(name)
        if kind == "SQLite":
            yield f"sqlite:///{folder / 'studio.db'}", folder
        else:
            with postgresql(folder) as url:
                yield url, folder


def many_people(kind: str, given: Given, kills: int = 0) -> Figure:
    from studio_load import Size, run_load

    size = Size(40, 10, 4, 15) if given.quick else Size()
    with database(kind) as (url, folder):
        found = run_load(url, folder, size=size, kills=kills)
    answers, edits = found.expected
    text = (
        f"{found.stored:,} of {answers:,} answers, {found.drawn} of {edits} edits stored, {found.wrong} lost"
    )
    if kills:
        return Figure(f"{text}; {found.kills} kills", found.complete and found.kills == kills)
    return Figure(f"{text}; 95 % within {found.late:.0f} ms", found.complete and found.late <= LIMITS[kind])


def competing(kind: str, given: Given) -> Figure:
    """Let clients compete for the same rows on every writing route, run after run."""
    from edgecritic.studio.database import open_database
    from studio_contests import CONTESTS
    from studio_server import Server
    from studio_writers import compete

    runs, rounds = given.size(2, 20), given.size(26, 200)
    operations, problems = 0, []
    with database(kind) as (url, folder):
        server = Server(url, folder)
        store = open_database(url)
        try:
            for seed in range(runs):
                found = compete(f"http://127.0.0.1:{server.port}", store, CONTESTS, rounds=rounds, seed=seed)
                operations += found.operations.total()
                problems.append(found.problems)
        finally:
            store.close()
            server.stop()
    good = sum(not one for one in problems)
    text = f"{good} of {runs} runs, {operations:,} operations on {len(found.operations)} routes"
    different = sorted({problem for one in problems for problem in one})
    return Figure("; ".join([text, *different[:3]]), good == runs)


def loaded(kind: str) -> None:
    """Make the checks of one kind of database."""

    @check(
        PART,
        (
            f"200 subjects × 50 answers, two a second, {kind}",
            f"none lost or doubled, 95 % ≤ {LIMITS[kind]} ms",
        ),
        needs=("sqlalchemy", "starlette", "uvicorn"),
    )
    def calm(given: Given) -> Iterator[Figure]:
        yield many_people(kind, given)

    @check(
        PART,
        (f"SIGKILL 10 times during that load, {kind}", "every acknowledged answer and edit is there"),
        needs=("sqlalchemy", "starlette", "uvicorn"),
    )
    def killed(given: Given) -> Iterator[Figure]:
        yield many_people(kind, given, given.size(2, 10))

    @check(
        PART,
        (
            f"all writing routes, 8 clients × 200 operations on the same rows, {kind}",
            "nothing acknowledged missing or doubled, no broken invariant: 20 of 20 runs",
        ),
        needs=("httpx", "sqlalchemy", "starlette", "uvicorn"),
    )
    def contested(given: Given) -> Iterator[Figure]:
        yield competing(kind, given)


for each in LIMITS:
    loaded(each)


def in_chromium(size: str, upload: str, most: float) -> None:
    """Make the check of an image of one size."""

    @check(
        PART,
        (f"first useful view of a {size} image, Chromium", f"≤ {most:.0f} s"),
        (f"longest frame while a brush draws on a {size} image", "≤ 50 ms"),
        (f"longest step of the threshold of a {size} image", "≤ 150 ms"),
        needs=("sqlalchemy", "starlette", "uvicorn", "playwright", "chromium"),
    )
    def large_image(given: Given) -> Iterator[Figure]:
        import studio_browser

        del given
        with database("SQLite") as (url, folder):
            found = studio_browser.draw_on_large_image(url, folder, getattr(studio_browser, upload)())
        text = ", ".join(f"{view:.2f}" for view in found.views)
        yield Figure(f"{text} s, without GPU", max(found.views) <= most)
        text = f"{max(found.frames):.0f} ms of {len(found.frames)} frames"
        yield Figure(text, max(found.frames) <= 50)
        text = f"{max(found.steps):.0f} ms of {len(found.steps)} steps"
        yield Figure(text, max(found.steps) <= 150)


in_chromium("2000×1500", "three_megapixels", 2)
in_chromium("100-megapixel", "hundred_megapixels", 3)


@check(
    PART,
    ("page of a project of 500 images, all that its first view loads", "≤ 1 MB"),
    ("until that page is loaded, the slowest of three", "≤ 1 s"),
    needs=("sqlalchemy", "starlette", "uvicorn", "playwright", "chromium"),
)
def many_images(given: Given) -> Iterator[Figure]:
    from studio_browser import page_of_many

    with database("SQLite") as (url, folder):
        found = page_of_many(url, folder, given.size(100, 500))
    size, slowest = max(size for size, _ in found), max(seconds for _, seconds in found[1:])
    yield Figure(f"{size:.2f} MB", size <= 1)
    text = f"{slowest:.2f} s; {found[0][1]:.2f} s at the moment when the server starts"
    yield Figure(text, slowest <= 1)


@check(
    PART,
    ("photo 103070 labelled in Chromium by a hand that trembles: actions", "≤ 45"),
    ("its F on BSDS", "≥ .58"),
    needs=("sqlalchemy", "starlette", "uvicorn", "playwright", "chromium", "bsds500"),
)
def labelled_photo(given: Given) -> Iterator[Figure]:
    from studio_labelling import label_photo

    assert given.data is not None
    with database("SQLite") as (url, folder):
        actions, before, after = label_photo(url, folder, given.data)
    yield Figure(f"{actions} keys and drags", actions <= 45)
    yield Figure(f"{after:.3f} (the proposal alone {before:.3f})", after >= 0.58)


@check(
    PART,
    ("costliest 100 edits of a 24-megapixel map: CPU time of a fold", "≤ 3 s"),
    ("memory of the process that folds them", "≤ 600 MiB"),
    ("other requests while such maps are folded", "≤ 250 ms"),
    needs=("sqlalchemy", "starlette", "uvicorn"),
)
def costly_edits(given: Given) -> Iterator[Figure]:
    from studio_fold import folds, others_wait

    del given
    with database("SQLite") as (url, folder):
        found = folds(folder)
        slowest = max(found, key=lambda name: found[name][0])
        text = f"{found[slowest][0]:.1f} s ({slowest}; {found[slowest][1]:.1f} s by the clock)"
        yield Figure(text, found[slowest][0] <= 3)
        most = max(cost[2] for cost in found.values())
        yield Figure(f"{most:.0f} MiB", most <= 600)
        times, seconds = others_wait(url, folder)
        text = f"{max(times):.0f} ms of {len(times)} requests; the last of 4 maps came after {seconds:.1f} s"
        yield Figure(text, max(times) <= 250)


@check(
    PART,
    (
        "security suite and fuzz of every endpoint's input",
        "no 5xx, no traceback, nothing reached: tests pass",
    ),
    needs=("pytest", "hypothesis", "httpx", "starlette", "sqlalchemy"),
)
def hostile(given: Given) -> Iterator[Figure]:
    del given
    yield run_tests("tests/studio/test_security.py", "tests/studio/test_fuzz.py")


@check(
    PART,
    ("strangers: 200 slow connections and 60 bodies of 24 MiB", "≤ 200 MiB more memory"),
    ("the owner's slowest page meanwhile", "≤ 1 s"),
    ("until the last of those connections is closed", "≤ 30 s"),
    needs=("sqlalchemy", "starlette", "uvicorn"),
)
def besieged(given: Given) -> Iterator[Figure]:
    from studio_siege import run_siege

    with database("SQLite") as (url, folder):
        found = run_siege(url, folder, slow=given.size(40, 200), large=given.size(12, 60))
    yield Figure(f"{found.memory:.0f} MiB", found.memory <= 200)
    yield Figure(f"{found.page:.2f} s", found.page <= 1)
    left = f", {found.left} still open" if found.left else ""
    yield Figure(f"{found.closed:.1f} s{left}", found.closed <= 30 and not found.left)
