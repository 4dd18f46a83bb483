"""Values that are made on first use."""

from __future__ import annotations

import threading

import pytest

from edgecritic.lazy import cached_property
from edgecritic.maps.target import Target
from edgecritic.run.judge import Loaded


class Slow:
    """Its value is there when so many objects are making theirs at the same time."""

    made = 0
    meeting = threading.Barrier(2)

    @cached_property
    def value(self) -> int:
        """Wait for another object."""
        self.meeting.wait(10)
        Slow.made += 1
        return id(self)


def test_objects_do_not_wait_for_each_other():
    """In Python 3.11 functools has one lock for all objects of a class, so jobs would read files in turn."""
    objects, found = (Slow(), Slow()), []
    threads = [threading.Thread(target=lambda one=one: found.append(one.value)) for one in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(map(id, objects))
    assert [one.value for one in objects] == list(map(id, objects))  # kept, so nobody waits
    assert Slow.made == 2


def test_it_is_found_on_the_class_and_can_be_thrown_away():
    one = Slow()
    vars(one)["value"] = 7
    assert one.value == 7
    assert Slow.value.__doc__ == "Wait for another object."
    del one.value
    assert "value" not in vars(one)


@pytest.mark.parametrize(
    ("kind", "name"), [(Loaded, "truths"), (Loaded, "strength"), (Loaded, "hashes"), (Target, "to_border")]
)
def test_what_jobs_make_is_such_a_value(kind, name):
    assert isinstance(vars(kind)[name], cached_property)
