"""Tasks in threads: all are done, at a time, and none is begun after an error or when nobody wants more."""

from __future__ import annotations

import threading

import pytest

from edgecritic.errors import InputError
from edgecritic.run.executor import run_tasks


@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_every_task_is_done_once(jobs, count):
    assert sorted(run_tasks(lambda n: n * n, range(count), jobs=jobs)) == [n * n for n in range(count)]


def test_tasks_run_at_a_time():
    meeting = threading.Barrier(3, timeout=20)
    assert sorted(run_tasks(lambda n: (meeting.wait(), n)[1], range(3), jobs=3)) == [0, 1, 2]


def test_results_come_as_they_finish():
    told = threading.Event()

    def act(number):
        if number == 0:
            assert told.wait(20)
        return number

    results = run_tasks(act, range(3), jobs=2)
    assert {next(results), next(results)} == {1, 2}
    told.set()
    assert list(results) == [0]


def test_an_error_is_raised_and_no_other_task_begins():
    begun, failed = [], threading.Event()

    def act(number):
        begun.append(number)
        if number == 0:
            raise InputError("this one is wrong")
        assert failed.wait(20)

    with pytest.raises(InputError, match="this one is wrong"):
        list(run_tasks(act, range(100), jobs=2))
    failed.set()
    for thread in threading.enumerate():
        if thread.name == "edgecritic":
            thread.join(20)
    assert len(begun) < 5


def test_no_other_task_begins_when_nobody_wants_results():
    begun, go_on = [], threading.Event()

    def act(number):
        begun.append(number)
        assert number == 0 or go_on.wait(20)

    results = run_tasks(act, range(100), jobs=2)
    next(results)
    results.close()
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "edgecritic":
            thread.join(20)
    assert len(begun) < 5
