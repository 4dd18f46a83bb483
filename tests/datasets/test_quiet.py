"""Silence while a library reads a file, among threads too."""

from __future__ import annotations

import threading
import warnings

import pytest

from edgecritic.datasets._guard import quiet


def test_what_threads_silence_together_is_heard_again_after_the_last():
    """The first thread leaves while the second is still inside: each once put back what it had found."""
    before = list(warnings.filters)
    inside, gone = threading.Event(), threading.Event()

    def second():
        with quiet():
            inside.set()
            assert gone.wait(10)
            warnings.warn("nobody hears this", stacklevel=1)

    thread = threading.Thread(target=second)
    with quiet():
        thread.start()
        assert inside.wait(10)
    gone.set()
    thread.join(10)
    assert not thread.is_alive()
    assert list(warnings.filters) == before
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)


def test_an_error_ends_the_silence():
    before = list(warnings.filters)
    with pytest.raises(ValueError, match="damaged"), quiet():
        raise ValueError("damaged")
    assert list(warnings.filters) == before
