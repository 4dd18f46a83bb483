"""Parts that are compiled by several processes, where there are such processes and where not."""

import subprocess
import sys
import threading

import pytest

from edgecritic.run import warmup


def ended(*words, **streams):
    return subprocess.Popen([sys.executable, "-c", ""], **streams)


@pytest.mark.parametrize("beside", [ended, lambda *words, **streams: None], ids=["ends", "none"])
def test_this_process_does_what_no_other_does(monkeypatch, beside):
    called = []
    parts = [[(name, lambda name=name: called.append(name))] for name in "abcd"]
    monkeypatch.setattr(warmup, "families", lambda: parts)
    monkeypatch.setattr(warmup, "python_beside", beside)
    steps = []
    done = warmup.warm_up(progress=lambda *step: steps.append(step), jobs=3)
    assert sorted(called) == [part.name for part in done] == list("abcd")
    assert steps == [(count, 4) for count in (1, 2, 3, 4)]


SAYS = """
import sys
for line in sys.stdin:
    print('[{"name": "b", "seconds": 2.5, "skipped": "no"}]', flush=True)
"""


def saying(*words, **streams):
    return subprocess.Popen([sys.executable, "-c", SAYS], **streams)


def test_what_another_process_says_is_told(monkeypatch):
    heard = threading.Event()
    monkeypatch.setattr(warmup, "families", lambda: [[("a", lambda: heard.wait(60))], [("b", pytest.fail)]])
    monkeypatch.setattr(warmup, "python_beside", saying)
    done = warmup.warm_up(lambda *_: heard.set(), jobs=2)
    assert done[1] == warmup.WarmedPart("b", 2.5, "no")
