"""The costliest edits that an annotator can send: what folding them takes, and what others notice of it."""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SHAPE = (4000, 6000)
STEPS, POINTS, RADIUS = 40_000, 4_100, 64
Row = tuple[str, dict[str, Any]]


def full() -> np.ndarray:
    return np.full(SHAPE, 9, np.uint8)


def noise() -> np.ndarray:
    """The proposal of a photo of noise: a third of all pixels, in millions of pieces."""
    from edgecritic.detectors import detect
    from edgecritic.studio.pictures import levels_of

    photo = np.random.default_rng(0).integers(0, 256, SHAPE).astype(np.uint8)
    thin = detect(photo, "central").thin
    return np.where(thin > 0, np.maximum(levels_of(thin), 1), 0).astype(np.uint8)


def checks() -> np.ndarray:
    return (np.indices(SHAPE).sum(axis=0) % 2 * 9).astype(np.uint8)


def snake(radius: int | None = None) -> Row:
    """As long as a stroke may be, back and forth over the image."""
    corners = [(x, 640 * row + 64) for row in range(6) for x in ((0, 5990) if row % 2 else (5990, 0))]
    points = [int(value) for corner in corners for value in corner]
    return ("draw", {"points": points}) if radius is None else ("erase", {"radius": radius, "points": points})


def scribble(number: int, count: int = POINTS) -> list[int]:
    steps = np.random.default_rng(number).integers(-4, 5, (count, 2)).cumsum(axis=0) + 2000
    return [int(value) for value in np.clip(steps, 0, 3999).ravel()]


def erase(number: int) -> Row:
    return snake(RADIUS) if number % 2 else ("erase", {"radius": RADIUS, "points": scribble(number)})


def lasso(number: int) -> Row:
    """Around the whole image, or back and forth over it."""
    around = [0, 0, SHAPE[1] - 1, 0, SHAPE[1] - 1, SHAPE[0] - 1, 0, SHAPE[0] - 1]
    return ("lasso", {"points": scribble(number) if number % 2 else around})


def delete(scope: str, x: int = 5990, y: int = 64) -> Row:
    return ("delete", {"at": [x, y], "scope": scope})


def specks(number: int) -> list[Row]:
    return [("threshold", {"level": 1 + number % 2}), ("despeckle", {"size": 2 + number})]


def replace(number: int) -> Row:
    return ("replace", {"runs": [value for at in range(300_000) for value in (80 * at + number % 9, 3)]})


SEQUENCES: dict[str, Callable[[], list[Row]]] = {
    "pieces": lambda: [delete("component", 1, 0), *[snake(), delete("component")] * 49],
    "segments": lambda: [delete("segment", 1, 0), *[snake(), delete("segment")] * 49],
    "strokes": lambda: [
        row for n in range(50) for row in (erase(n), ("draw", {"points": scribble(n, 8000)}))
    ],
    "erasing": lambda: [erase(number) for number in range(100)],
    "specks": lambda: [row for n in range(4) for row in specks(n)] + [erase(n) for n in range(90)],
    "lassos": lambda: [row for n in range(50) for row in (lasso(n), snake())],
    "maps": lambda: [*[replace(0), ("undo", {}), ("redo", {})] * 30, *[snake(), delete("segment")] * 5],
    "mixed": lambda: [
        *[row for n in range(4) for row in specks(n)],
        delete("segment", 1, 0),
        *[row for n in range(29) for row in (snake(), delete("segment"), erase(n))],
    ],
}
LEVELS = {"full": full, "noise": noise, "checks": checks}


def measure(levels: str, folder: Path) -> dict[str, tuple[float, float, float]]:
    """Fold every sequence once on one proposal; return seconds of CPU, of the clock, and MiB at most."""
    from edgecritic.maps.fold import check_edit, check_specks, counting, fold
    from edgecritic.run.warmup import warm_edits

    warm_edits()
    proposal = np.load(folder / f"{levels}.npy")
    found = {}
    for name, make in SEQUENCES.items():
        rows = make()
        assert len(rows) <= 100
        check_specks([op for op, _ in rows], SHAPE)
        edits = [check_edit(*rows[place], SHAPE) for place in counting([op for op, _ in rows])]
        start, clock = time.thread_time(), time.perf_counter()
        fold(proposal, 1, edits)
        spent = time.thread_time() - start, time.perf_counter() - clock
        found[name] = (*spent, _peak())
    return found


def _peak() -> float:
    """Return the most memory this process had, in MiB; what its parent had does not count."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def folds(folder: Path) -> dict[str, tuple[float, float, float]]:
    """Return what every sequence costs on every proposal, each proposal in its own process."""
    from bars import child

    found = {}
    for name, make in LEVELS.items():
        np.save(folder / f"{name}.npy", make())
        _, said = child(__file__, name, str(folder))
        found |= {f"{each} on {name}": tuple(cost) for each, cost in json.loads(said).items()}
    return found


def others_wait(url: str, folder: Path) -> tuple[list[float], float]:
    """Return the milliseconds of other requests while maps are folded, and the seconds of a map."""
    from studio_server import Server

    owner, links = _fill(url, folder)
    server = Server(url, folder)
    home, times, spent = f"http://127.0.0.1:{server.port}", [], []
    try:
        people = [_enter(home, token) for token, _ in links]
        _get(people[0], f"{home}{links[0][1]}/map.png")
        workers = [
            threading.Thread(
                target=lambda one=one, path=path: spent.append(_get(one, f"{home}{path}/map.png"))
            )
            for one, (_, path) in zip(people, links, strict=True)
            for _ in range(2)
        ]
        for worker in workers:
            worker.start()
        desk = urllib.request.build_opener()
        desk.addheaders = [("Cookie", f"edgecritic_owner={owner}")]
        while any(worker.is_alive() for worker in workers):
            times += [1000 * _get(desk, f"{home}{path}") for path in ("/healthz", "/")]
            time.sleep(0.02)
    finally:
        server.stop()
    return times, max(spent)


def _fill(url: str, folder: Path) -> tuple[str, list[tuple[str, str]]]:
    """Store an image and two people's costly edits; return the owner's secret, tokens and paths of work."""
    from edgecritic.maps.fold import check_edit
    from edgecritic.studio import auth, labelling, projects
    from edgecritic.studio.database import open_database
    from edgecritic.studio.pictures import Upload, encode_png

    levels = encode_png(np.load(folder / "noise.npy"))
    upload = Upload(SHAPE[1], SHAPE[0], 1, levels, "image/png", levels, levels)
    database, links = open_database(url), []
    with database.session() as session:
        owner = auth.start_session(session, None, 1)
        project = projects.create_project(session, "Large")
        image = projects.add_image(session, project.id, "large", upload)
        for name in ("specks", "mixed"):
            person, token = projects.invite(session, name, project_id=project.id)
            work = labelling.open_annotation(session, person, image.id)
            events = [
                labelling.NewEvent(seq, f"k{seq}", check_edit(op, data, SHAPE))
                for seq, (op, data) in enumerate(SEQUENCES[name]())
            ]
            labelling.append_events(session, work, events)
            links.append((token, f"/g/{person.id}/annotations/{work.id}"))
    database.close()
    return owner, links


def _enter(home: str, token: str) -> urllib.request.OpenerDirector:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    _get(opener, f"{home}/i/{token}")
    return opener


def _get(opener: urllib.request.OpenerDirector, address: str) -> float:
    start = time.perf_counter()
    with opener.open(address, timeout=120) as reply:
        reply.read()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
