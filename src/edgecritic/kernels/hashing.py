"""Hashes of pixel positions, which decide between equally good matchings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int64s

__all__ = ["Hashing", "mix", "salts", "scatter"]

_SALT_FACTOR = 0xBF58476D1CE4E5B9
_LOW, _HIGH = np.uint64(_SALT_FACTOR & 0xFFFFFFFF), np.uint64(_SALT_FACTOR >> 32)
_WORD, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


class Hashing(NamedTuple):
    """How the hashes of a problem are made, and what they are taken from.

    Attributes
    ----------
    bits : int
        Of a hash.
    candidate_factor, truth_factor : int
        Odd, for the pixels of the candidate and of the truth.
    most_candidate, most_truth : int
        What staying alone costs a pixel whose hash is 0.
    scale : int
        How many units of prices one of costs is.
    """

    bits: int
    candidate_factor: int
    truth_factor: int
    most_candidate: int
    most_truth: int
    scale: int


def scatter(positions: Int64s, bits: int, factor: int, most: int) -> Int64s:
    """Return `most` less the hash of each position: `bits` bits, at most 32, a bijection of its last ones.

    Three rounds of multiplication by the last bits of the odd `factor` and of mixing high bits into low ones.
    """
    mixed = np.empty(positions.size, dtype=np.int64)
    mix(positions, mixed, bits, factor, most)
    return mixed


@kernel
def mix(positions: Int64s, mixed: Int64s, bits: int, factor: int, most: int) -> None:
    """Do the work of `scatter` into given memory, which may be that of the positions.

    Words have 32 bits: so processors mix several at once.
    """
    mask, half = np.uint32((1 << bits) - 1), np.uint32(bits // 2)
    odd = np.uint64(factor) & mask
    for at in range(np.uint64(positions.size)):
        value = np.uint32(positions[at]) & mask
        for _ in range(3):
            value = np.uint32(value * odd) & mask
            value = np.uint32(value ^ (value >> half))
        mixed[at] = most - np.int64(value)


@kernel
def salts(pixels: Int64s, start: Int64s) -> Int64s:
    """Return the salts of several truths, whose pixels are pixels[start[m] : start[m + 1]].

    Of every position p the last 64 bits of (p + 1) · factor are mixed; all of a truth together, in any order.
    """
    found = np.empty(start.size - 1, dtype=np.int64)
    for map_number in range(found.size):
        total = np.uint64(0)
        for at in range(start[map_number], start[map_number + 1]):
            value = np.uint64(pixels[at] + 1)
            last = value & _WORD  # products of halves need no more than 64 bits
            low = last * _LOW
            high = (last * _HIGH + (value >> _HALF) * _LOW + (low >> _HALF)) & _WORD
            product = high << _HALF | low & _WORD
            total ^= product ^ product >> np.uint64(29)
        found[map_number] = np.int64(total >> np.uint64(2))
    return found
