"""What the studio refuses to store, and what happens when the database does."""

from __future__ import annotations

import asyncio
import io
import json
import queue
import sys

import numpy as np
import pytest
from PIL import Image as Picture
from sqlalchemy.exc import OperationalError

from edgecritic.errors import DataError, InputError
from edgecritic.maps.fold import check_key
from edgecritic.studio import exports, labelling, projects
from edgecritic.studio.answers import AnswerWriter, NewAnswer, parse_answer
from edgecritic.studio.auth import RateLimit
from edgecritic.studio.database import make_engine, open_database
from edgecritic.studio.labelling import parse_time
from edgecritic.studio.pictures import deep_values, encode_png, kind_of, read_map_file, read_photo
from edgecritic.studio.problems import NotFound, NotNow
from edgecritic.studio.settings import Settings

ANSWER = {"slot": 1, "side": "left", "reaction_ms": 400}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "an object"),
        (ANSWER | {"slot": True}, "slot must be"),
        (ANSWER | {"slot": 0}, "slot must be"),
        (ANSWER | {"side": "middle"}, "left or right"),
        (ANSWER | {"reaction_ms": -1}, "milliseconds"),
        (ANSWER | {"reaction_ms": 3_600_001}, "at most an hour"),
        (ANSWER | {"at": "noon"}, "milliseconds"),
    ],
)
def test_broken_answers(document, message):
    assert parse_answer(ANSWER, "secret", 1).side == "left"
    with pytest.raises(InputError, match=message):
        parse_answer(document, "secret", 1)


class BrokenDatabase:
    """A database whose transactions fail, always or while several answers come at once."""

    def __init__(self, error):
        self.error = error

    def write(self, work):
        raise self.error


@pytest.mark.parametrize("error", [OperationalError("INSERT", {}, OSError("disk full")), RuntimeError("odd")])
def test_answers_that_could_not_be_stored_are_not_confirmed(error):
    answer = NewAnswer(secret="s", invitation_id=1, slot=1, side="left", reaction_ms=5)

    async def hand_over():
        writer = AnswerWriter(BrokenDatabase(error))
        waiting = [writer.put(answer) for _ in range(4)]
        waiting.pop().cancel()
        writer.close()
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert asyncio.run(hand_over()) == [error] * 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Settings(data=None, port=70000), "port must lie in"),
        (lambda: Settings(data=None, public_url="studio.example"), "http:// or https://"),
        (lambda: make_engine("mysql://nowhere/x"), "sqlite:///FILE or postgresql"),
        (lambda: make_engine("sqlite://"), "needs a file"),
        (lambda: make_engine("::"), "cannot understand"),
        (lambda: projects.clean_name(3), "must be text"),
        (lambda: projects.invite(None, "Ada"), "one project or one experiment"),
        (lambda: projects.add_maps(None, None, "truth", "x", []), "label or a detector"),
        (lambda: exports.encode_map([np.eye(3)], "gif"), "is written as"),
        (lambda: check_key("a b"), "letters, digits"),
        (lambda: parse_time(True), "milliseconds"),
        (lambda: kind_of(b"nothing known"), "no picture or map"),
    ],
)
def test_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_plain_url_of_postgresql_gets_its_driver():
    engine = make_engine("postgresql://somebody@localhost/studio")
    assert engine.url.drivername == "postgresql+psycopg"
    engine.dispose()


def test_a_database_that_cannot_be_opened(tmp_path):
    (tmp_path / "studio.db").mkdir()
    with pytest.raises(DataError, match="cannot open the database"):
        open_database(f"sqlite:///{tmp_path / 'studio.db'}")


def test_things_that_are_not_there(sqlite, fill):
    project = fill(sqlite)
    with sqlite.session() as session:
        for call in (
            lambda: projects.file_of(session, 1, "thumbnail"),
            lambda: projects.revoke(session, 99),
            lambda: projects.revoke(session, projects.owner_invitation(session, project).id),
        ):
            with pytest.raises(NotFound):
                call()


def test_equal_names_of_annotators_are_shown_with_their_numbers(sqlite, fill):
    project = fill(sqlite)
    with sqlite.session() as session:
        image = projects.images_of(session, project)[0]
        people = [projects.invite(session, name, project_id=project)[0] for name in ("Ada", "Bo", "Ada")]
        for person in reversed(people):
            work = labelling.open_annotation(session, person, image.id)
            assert labelling.open_annotation(session, person, image.id) is work
            labelling.submit(session, work, 0)
        shown = [label for label in labelling.labels_of(session, image.id) if label.person is not None]
        first, second, third = (person.id for person in people)
        assert [label.person for label in shown] == [first, second, third]
        assert [label.name for label in shown] == [f"Ada (no. {first})", "Bo", f"Ada (no. {third})"]


def test_limits_forget_old_attempts_and_old_callers(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("edgecritic.studio.auth.time.monotonic", lambda: clock[0])
    limit = RateLimit(1, 60, most_callers=2)
    limit.check("a")
    with pytest.raises(NotNow):
        limit.check("a")
    clock[0] += 60
    limit.check("a")
    limit.check("b")
    limit.check("c")  # one too many: the oldest caller is forgotten
    limit.check("a")


def test_photos_of_every_depth():
    ramp = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (40, 1))
    stream = io.BytesIO()
    deep = ramp.astype(np.uint16) * 256 + 17
    Picture.fromarray(deep).save(stream, "PNG")
    assert np.array_equal(deep_values(read_photo(stream.getvalue(), 10**6).deep), deep)
    two = io.BytesIO()
    Picture.fromarray(ramp > 100).save(two, "PNG")
    assert read_photo(two.getvalue(), 10**6).photo == read_photo(encode_png((ramp > 100) * 255), 10**6).photo
    floats = io.BytesIO()
    np.save(floats, ramp / 255)
    with pytest.raises((InputError, DataError)):
        read_photo(floats.getvalue(), 10**6)


@pytest.mark.parametrize(
    ("kind", "exif"),
    [("PNG", b"Exif\0\0XXXXXXX"), ("JPEG", b"Exif\0\0MM\0*\0\0\0\x08\0\x09"), ("JPEG", b"Exif\0\0")],
)
def test_broken_exif_data_are_ignored(kind, exif):
    values = np.random.default_rng(1).integers(0, 255, (8, 12)).astype(np.uint8)
    stream = io.BytesIO()
    Picture.fromarray(values).save(stream, kind, exif=exif)
    upload = read_photo(stream.getvalue(), 10**6)
    assert (upload.width, upload.height) == (12, 8)


def test_a_map_on_its_side_is_told_apart():
    stream = io.BytesIO()
    Picture.fromarray(np.eye(8, 12, dtype=bool)).save(stream, "PNG")
    with pytest.raises(InputError, match="EXIF orientation"):
        read_map_file(stream.getvalue(), "label", (12, 8), 10**6)


def test_a_file_that_needs_too_much_memory_or_time_is_refused(monkeypatch, tmp_path):
    from edgecritic.studio import apart

    path = tmp_path / "large.npy"
    np.save(path, np.zeros((9000, 9000), dtype=np.uint8))
    monkeypatch.setattr(apart, "_ready", queue.SimpleQueue())
    monkeypatch.setattr(apart, "_COMMAND", [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(apart, "MOST_SECONDS", 1)
    with pytest.raises(DataError, match="takes more than 1 s"):
        apart.read_apart("read_array", path)
    greedy = "from edgecritic.studio import apart; apart._limit(); bytearray(2**32)"
    monkeypatch.setattr(apart, "_COMMAND", [sys.executable, "-c", greedy])
    monkeypatch.setattr(apart, "MOST_SECONDS", 30)
    with pytest.raises(DataError, match="within the memory"):
        apart.read_apart("read_array", path)


def test_one_process_reads_file_after_file_each_in_a_copy(monkeypatch, tmp_path):
    from edgecritic.studio import apart

    monkeypatch.setattr(apart, "_ready", queue.SimpleQueue())
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.full((4, 5), number))
    np.save(tmp_path / "huge.npy", np.zeros(1))
    with (tmp_path / "huge.npy").open("r+b") as stream:
        stream.truncate(2**33)
    apart.get_ready()
    waiting = apart._ready.get_nowait()
    apart._ready.put(waiting)
    assert apart.read_apart("read_array", tmp_path / "0.npy")[0].max() == 0
    with pytest.raises(DataError):
        apart.read_apart("read_array", tmp_path / "huge.npy")
    assert [int(apart.read_apart("read_array", tmp_path / f"{n}.npy")[0].max()) for n in (1, 2)] == [1, 2]
    assert apart._take() is waiting
    waiting.stop()
    apart._ready.put(waiting)
    assert apart.read_apart("read_array", tmp_path / "1.npy")[0].max() == 1  # one that has ended is replaced
    apart._stop_all()


def test_many_maps_of_one_file_are_bounded(tmp_path, monkeypatch):
    from edgecritic.studio import apart

    np.savez(tmp_path / "many.npz", **{f"a{n}": np.eye(50, dtype=bool) for n in range(9)})
    assert len(apart.read_apart("read_truths", tmp_path / "many.npz")) == 9
    monkeypatch.setattr(apart, "MOST_RESULT", 8 * 50 * 50)
    assert apart._leave_results("read_truths", tmp_path / "many.npz") != 0
    told = json.loads((tmp_path / "reply.json").read_text(encoding="utf-8"))
    assert told["error"] == "DataError"
    assert told["message"].startswith("holds maps of more than")
