"""Arrays read and written all at once: in Python a hundred of them take as long as ten steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from footfall.compiled import kernel
from footfall.engine.bridge import words_at

WORD = 8  # bytes


class Values(NamedTuple):
    """What the arrays of some ``Blocks`` held."""

    zero: np.ndarray  # of each block, 1 where all of it is zero
    words: np.ndarray  # the others, one after the other
    rest: tuple[np.ndarray, ...]  # the arrays that are no blocks


class Blocks:
    """Arrays that are read and written all at once: those of whole words, and one by one the rest of them."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._arrays: list[np.ndarray] = []  # whose memory is read and written to
        self._rest: list[np.ndarray] = []
        for array in arrays:
            if array.size:
                whole = array.nbytes % WORD == 0 and array.flags.c_contiguous
                (self._arrays if whole else self._rest).append(array)
        self._places = np.array([array.ctypes.data for array in self._arrays], dtype=np.int64)
        self._words = np.array([array.nbytes // WORD for array in self._arrays], dtype=np.int64)
        self._total = int(self._words.sum())

    def read(self) -> Values:
        """What the arrays hold now."""
        zero, values = np.empty_like(self._words), np.empty(self._total, dtype=np.int64)
        used = read_blocks(self._places, self._words, zero, values)
        return Values(zero, values[:used].copy(), tuple(array.copy() for array in self._rest))

    def write(self, values: Values) -> None:
        """Let them hold what arrays of the same sizes, in the same order, held."""
        write_blocks(self._places, self._words, values.zero, values.words)
        for array, value in zip(self._rest, values.rest, strict=True):
            array[...] = value


class FirstValues:
    """What arrays hold now, to be put back later."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._blocks = Blocks(arrays)
        self._values = self._blocks.read()

    def put_back(self) -> None:
        """Write all values again."""
        self._blocks.write(self._values)


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
    """Write blocks of these sizes, in words, to their addresses: zeros, or the ``values``, one after the other."""
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
