"""What was made once and may be needed again, within a bound of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Kept"]

Thing = TypeVar("Thing")


class Kept(Generic[Thing]):
    """Things by key, the latest used of them; what is too much goes.

    Parameters
    ----------
    most : int
        Bytes that all together may have; the latest one stays, however large it is.
    weigh : callable
        Returns the bytes of a thing.

    Examples
    --------
    >>> kept = Kept(10, len)
    >>> [kept.get(key, lambda key=key: key * 6) for key in "aba"]
    ['aaaaaa', 'bbbbbb', 'aaaaaa']
    >>> kept.size
    6
    """

    def __init__(self, most: int, weigh: Callable[[Thing], int]) -> None:
        self.most, self.weigh, self.size = most, weigh, 0
        self._things: OrderedDict[Hashable, tuple[Thing, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """Return the thing of a key; it is made by one caller, and the others wait for it."""
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key][0]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._things:
                    return self._things[key][0]
            try:
                made = make()
                self._add(key, made)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return made

    def _add(self, key: Hashable, made: Thing) -> None:
        weight = self.weigh(made)
        with self._lock:
            self._things[key] = made, weight
            self.size += weight
            while self.size > self.most and len(self._things) > 1:
                _, (_, gone) = self._things.popitem(last=False)
                self.size -= gone
