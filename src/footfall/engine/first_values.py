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
        known = list(arrays)
        whole = [array for array in known if array.size and array.nbytes % WORD == 0 and array.flags.c_contiguous]
        taken = {id(array) for array in whole}
        self._arrays = whole  # whose memory is written to
        self._rest = [(array, array.copy()) for array in known if id(array) not in taken]
        blocks = [np.frombuffer(array, dtype=np.int64) for array in whole]
        self._places = np.array([array.__array_interface__["data"][0] for array in whole], dtype=np.int64)
        self._words = np.array([block.size for block in blocks], dtype=np.int64)
        self._zero = np.array([not block.any() for block in blocks], dtype=np.int64)
        self._values = np.concatenate([np.zeros(0, dtype=np.int64), *(block for block in blocks if block.any())])

    def put_back(self) -> None:
        """Write all values again."""
        write_blocks(self._places, self._words, self._zero, self._values)
        for array, value in self._rest:
            array[...] = value


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
