"""The time in compiled code: the loop returns to Python when its time is over, to check for Ctrl-C."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numba import types

from footfall.compiled import inlined
from footfall.engine.bridge import address_of

clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

NEVER = np.iinfo(np.int64).max


class Clock(NamedTuple):
    """A clock that compiled code reads."""

    now: np.ndarray  # (2,) s and ns, as ``timespec`` has them
    limit: np.ndarray  # (2,) the system's number of its steady clock; when to come back, ns


def make_clock() -> Clock:
    """A clock without a limit."""
    return Clock(np.zeros(2, dtype=np.int64), np.array([time.CLOCK_MONOTONIC, NEVER]))


def set_limit(clock: Clock, seconds: float) -> None:
    """Come back ``seconds`` from now, or never if that is infinite."""
    forever = math.isinf(seconds)
    clock.limit[1] = NEVER if forever else time.clock_gettime_ns(time.CLOCK_MONOTONIC) + round(1e9 * seconds)


@inlined
def nanoseconds(clock):
    """The system's steady time."""
    clock_gettime(clock.limit[0], address_of(clock.now))
    return 1_000_000_000 * clock.now[0] + clock.now[1]


@inlined
def overdue(clock):
    """Whether it is time to come back."""
    if clock.limit[1] == NEVER:
        return False
    clock_gettime(clock.limit[0], address_of(clock.now))
    return 1_000_000_000 * clock.now[0] + clock.now[1] >= clock.limit[1]
