"""Arrays put back to the values they had, all at once: in Python a hundred of them take as long as ten steps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from footfall.compiled import kernel
from footfall.engine.bridge import words_at

WORD = 8  # bytes


class FirstValues:
    """What arrays hold now, to be put back later."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._arrays: list[np.ndarray] = []  # whose memory is written to
        self._rest: list[tuple[np.ndarray, np.ndarray]] = []
        for array in arrays:
            if array.size and array.nbytes % WORD == 0 and array.flags.c_contiguous:
                self._arrays.append(array)
            else:
                self._rest.append((array, array.copy()))
        self._places = np.array([array.ctypes.data for array in self._arrays], dtype=np.int64)
        self._words = np.array([array.nbytes // WORD for array in self._arrays], dtype=np.int64)
        self._zero = np.zeros_like(self._words)
        values = np.empty(self._words.sum(), dtype=np.int64)
        self._values = values[: read_blocks(self._places, self._words, self._zero, values)].copy()

    def put_back(self) -> None:
        """Write all values again."""
        write_blocks(self._places, self._words, self._zero, self._values)
        for array, value in self._rest:
            array[...] = value


@kernel
def read_blocks(places, words, zero, values):
    """Note which blocks are zeros, and write the others to ``values``, one after the other; gives their words."""
    first = 0
    for b in range(words.size):
        block = words_at(places[b], words[b])
        k = 0
        while k < words[b] and block[k] == 0:
            k += 1
        zero[b] = k == words[b]
        if not zero[b]:
            for k in range(words[b]):
                values[first + k] = block[k]
            first += words[b]
    return first


@kernel
def write_blocks(places, words, zero, values):
    """Write blocks of so many words to their addresses: zeros, or what stands in ``values``, one after the other."""
    first = 0
    for b in range(words.size):
        block = words_at(places[b], words[b])
        if zero[b]:
            for k in range(words[b]):
                block[k] = 0
        else:
            for k in range(words[b]):
                block[k] = values[first + k]
            first += words[b]
