"""Threads that judge images in the background."""

from __future__ import annotations

import threading

import pytest

from edgecritic.errors import InputError
from edgecritic.training.crew import BACKLOG, Crew


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_results_come_in_the_order_of_the_work(workers):
    crew = Crew(workers)
    for number in range(50):
        crew.put(lambda k: k * k, number)
    assert len(crew) == 50
    assert crew.take() == [k * k for k in range(50)]
    assert len(crew) == 0
    assert crew.take() == []


def test_the_caller_goes_on_meanwhile():
    crew, gate = Crew(2), threading.Event()
    for number in range(3):
        crew.put(lambda k: gate.wait(10) and k, number)
    gate.set()  # never reached if `put` had waited
    assert crew.take() == [0, 1, 2]


def test_work_does_not_pile_up_without_end():
    crew, gate, begun = Crew(1), threading.Event(), threading.Event()

    def bring():
        for _ in range(3 * BACKLOG):
            crew.put(gate.wait, 10)
        begun.set()

    thread = threading.Thread(target=bring)
    thread.start()
    assert not begun.wait(0.05)
    gate.set()
    thread.join(10)
    assert len(crew.take()) == 3 * BACKLOG


def test_no_thread_is_left():
    before = threading.active_count()
    crew = Crew(4)
    for number in range(9):
        crew.put(abs, number)
    crew.take()
    assert threading.active_count() == before


def test_an_error_is_raised_once_and_the_rest_forgotten():
    crew = Crew(1)
    crew.put(int, "seven")
    with pytest.raises(ValueError, match="seven"):
        crew.take()
    assert crew.take() == []
    crew.put(int, "7")
    assert crew.take() == [7]


def test_an_error_is_told_by_the_next_call():
    crew, raised = Crew(1), threading.Event()

    def fail():
        raised.set()
        raise ValueError("seven")

    def bring():
        for _ in range(10_000):
            crew.put(int, "7")

    crew.put(fail)
    raised.wait(10)
    with pytest.raises(ValueError, match="seven"):
        bring()


def test_what_was_dropped_is_gone():
    crew = Crew(1)
    for number in range(5):
        crew.put(abs, number)
    crew.drop()
    assert crew.take() == []


def test_the_number_of_threads_is_checked():
    with pytest.raises(InputError, match="at least 1"):
        Crew(-1)
