"""The best of many line patterns at every edge pixel, by counting in parallel on the bits of words."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Int64s, UInt64s

__all__ = ["best_patterns"]


@kernel
def best_patterns(
    padded: Bools,
    pixels: Int64s,
    offsets: Int64s,
    cover: UInt64s,
    side: int,
) -> float:
    """Sum over the pixels the best cosine between the window around one and a line pattern.

    Every pattern is one bit of a row of `words` machine words; ``cover[o]`` says which patterns contain
    the window's pixel `o`. Adding these rows for all set pixels of the window, with one word of sums
    per binary digit (carries ripple upwards), counts the overlap with all patterns at once.

    Parameters
    ----------
    padded : flat bool array with a margin of half a window
    pixels : flat indices of the edge pixels to judge
    offsets : step in flat index to every pixel of the window
    cover : (len(offsets), words) uint64
    side : side of the window, which is also the number of pixels of a pattern: at most 15, so that an
        overlap has no more than four binary digits
    """
    words = cover.shape[1]
    digits = 4
    sums = np.zeros((digits, words), dtype=np.uint64)
    alive = np.zeros(words, dtype=np.uint64)
    zero = np.uint64(0)
    total = 0.0
    for index in range(pixels.size):
        sums[:] = zero
        inside = 0
        for o in range(offsets.size):
            if not padded[pixels[index] + offsets[o]]:
                continue
            inside += 1
            for word in range(words):
                carry = cover[o, word]
                digit = 0
                while carry != zero:
                    rest = sums[digit, word] & carry
                    sums[digit, word] ^= carry
                    carry = rest
                    digit += 1
        best = 0
        alive[:] = ~zero
        for digit in range(digits - 1, -1, -1):
            some = False
            for word in range(words):
                if alive[word] & sums[digit, word] != zero:
                    some = True
                    break
            if some:
                best += 1 << digit
                for word in range(words):
                    alive[word] &= sums[digit, word]
        total += best / np.sqrt(side * inside)
    return total
