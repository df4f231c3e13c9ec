"""A log of conditions that come and go, written by compiled controllers: one row per episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from footfall.compiled import inlined
from footfall.record import RunWarning

#: Two episodes of a kind are one if less than this (s) lies between them.
CALM = 0.1
#: Columns of a row: the kind, its first and last moment (s), its worst extent, and what else is to be said of it.
KIND, START, LAST, WORST, MORE = 0, 1, 2, 3, 4
DETAILS = 6


class EpisodeLog(NamedTuple):
    """What happened, in order."""

    rows: np.ndarray  # (N, 10)
    count: Any  # (2,) rows written, and those for which there was no room
    open: np.ndarray  # (kinds,) row of the last episode of each kind, or -1


def empty_log(kinds: int, room: int) -> EpisodeLog:
    """A log for this many kinds of episodes, with room for this many episodes."""
    return EpisodeLog(np.zeros((room, MORE + DETAILS)), np.zeros(2, dtype=np.int64), np.full(kinds, -1, dtype=np.int64))


@inlined
def note(log, time, kind, size):
    """Write down that something of a kind happened at ``time`` (s), to the extent of ``size``; gives its row, or -1."""
    row = log.count[0]
    if row >= log.rows.shape[0]:
        log.count[1] += 1
        return -1
    log.rows[row, KIND], log.rows[row, START], log.rows[row, LAST], log.rows[row, WORST] = kind, time, time, size
    log.count[0] = row + 1
    return row


@inlined
def see_episode(log, time, kind, size):
    """The condition ``kind`` holds at ``time`` (s), to the extent of ``size``.

    Gives the row of its episode where that is at its worst now, to add details; otherwise -1.
    """
    row = log.open[kind]
    if row < 0 or time - log.rows[row, LAST] > CALM:
        log.open[kind] = note(log, time, kind, size)
        return log.open[kind]
    log.rows[row, LAST] = time
    if size <= log.rows[row, WORST]:
        return -1
    log.rows[row, WORST] = size
    return row


class LoggedWarnings(Sequence[RunWarning]):
    """A log read as warnings; ``describe`` gives kind and sentence of a row, and may look at the rows before it."""

    def __init__(self, log: EpisodeLog, describe: Callable[[np.ndarray, np.ndarray], tuple[str, str]]) -> None:
        self._log, self._describe = log, describe

    def __len__(self) -> int:
        return int(self._log.count[0]) + int(self._log.count[1] > 0)

    @overload
    def __getitem__(self, index: int) -> RunWarning: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunWarning]: ...
    def __getitem__(self, index: int | slice) -> RunWarning | list[RunWarning]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        written, lost = self._log.count.tolist()
        rows = self._log.rows
        if index == written:
            last = float(rows[written - 1, START])
            return RunWarning(last, "more warnings", f"{lost} more after this one are not listed (t = {last:.4g} s)")
        row = rows[index]
        kind, sentence = self._describe(row, rows[:index])
        start, end = float(row[START]), float(row[LAST])
        when = f"t = {start:.4g} s" if end == start else f"t = {start:.4g} s to {end:.4g} s"
        return RunWarning(start, kind, f"{sentence} ({when})")
