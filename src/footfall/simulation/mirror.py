"""A copy of MuJoCo's data, to compute with while the engine uses the original."""

from __future__ import annotations

import copy
import ctypes

import mujoco

from footfall.engine import bridge

#: Counts of what lies outside the buffer.
CONSTRAINTS = ("ncon", "ne", "nf", "nl", "nefc", "nJ", "nA", "nisland", "nidof")


class Mirror:
    """A copy of an ``MjData``: made when it is first asked for, and kept up to date from then on.

    It copies MuJoCo's buffer, which holds all arrays whose size the model fixes, and the time. ``mj_copyData`` would
    also copy contacts, constraints and solver statistics, at ten times the cost. It has a model of its own, since all
    simulations of a robot share the engine's.
    """

    def __init__(self, source: mujoco.MjData) -> None:
        self._source = source
        self._copy: mujoco.MjData | None = None
        self._fresh = False

    def renew(self) -> None:
        """Note that the original has changed."""
        self._fresh = False
        if self._copy is not None:
            self.data()

    def data(self) -> mujoco.MjData:
        """The copy, up to date."""
        if self._copy is None:
            self._copy = mujoco.MjData(copy.copy(self._source.model))
            self._to, self._from = (int(bridge.counter(one, "buffer")[0]) for one in (self._copy, self._source))
            self._size = int(bridge.counter(self._source, "nbuffer")[0])
            self._constraints = [bridge.counter(self._copy, name) for name in CONSTRAINTS]
        if not self._fresh:
            ctypes.memmove(self._to, self._from, self._size)
            self._copy.time = self._source.time
            for count in self._constraints:
                count[0] = 0
            self._fresh = True
        return self._copy
