"""Work lists on a GPU: the lanes whose worlds wait for a kernel, so that it need not look at all worlds.

The order of a list is arbitrary; no result depends on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contact_lean import DEFERRED, HARD, SEARCHING, SUGGESTING

#: The lists: worlds that wait for guesses, for Newton, for guesses from Newton's forces in the same turn, and for a
#: search of the feet's states; then worlds that lie and wait for their steps, and for their forces.
GUESS, NEWTON, AFTER, SEARCH, LIE, LIE_SOLVE, QUEUES = range(7)
#: No list.
NONE = -1

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


class Queues(NamedTuple):
    """The lists of lanes of one turn."""

    member: Any  # (QUEUES, lanes)
    number: Any  # (QUEUES,) how many are in each
    taken: Any  # (QUEUES,) how many of them were taken by warps that had finished their first
    going: Any  # (2,) 1 if any world has steps to take, and 1 if any has lain in this call
    slot: Any  # (S,) rooms for worlds that lie, the free ones first
    free: Any  # (1,) how many are free


@inlined
def next_place(number, which):
    """The next place at the end of a list, for one lane."""
    return cuda.atomic.add(number, which, 1)


@inlined
def next_place_of_warp(number, which):
    """The same for the lanes of a warp in their order, so that neighbouring worlds stay together; not in
    the simulator.
    """
    same = cuda.match_any_sync(cuda.activemask(), which)
    rank = cuda.popc(same & cuda.lanemask_lt())
    place = 0
    if rank == 0:
        place = cuda.atomic.add(number, which, cuda.popc(same))
    return cuda.shfl_sync(same, place, cuda.ffs(same) - 1) + rank


@inlined
def line_up(queues, answer, lane, done):
    """Put a lane into the list of the kernel that its law's answer asks for, unless that list is ``done`` in this turn
    (``NONE`` at its beginning).
    """
    which = GUESS if answer == DEFERRED or done == NONE else AFTER
    if answer == SEARCHING:
        which = SEARCH
    elif answer in (HARD, SUGGESTING):
        which = NEWTON
    if which != done and (done != SEARCH or which == AFTER):  # the other lists are done in this turn
        queues.member[which, next_place(queues.number, which)] = lane


@inlined
def join(queues, which, lane):
    """Append a lane to a list."""
    queues.member[which, next_place(queues.number, which)] = lane


@inlined
def take_slot(queues):
    """Take a room for a world that lies: its number plus one, or 0 if none is free. Not in a kernel that
    returns rooms.
    """
    left = cuda.atomic.sub(queues.free, 0, 1)
    if left <= 0:
        cuda.atomic.add(queues.free, 0, 1)
        return 0
    return queues.slot[left - 1] + 1


@inlined
def give_slot(queues, slot):
    """Return a room that :func:`take_slot` gave."""
    queues.slot[cuda.atomic.add(queues.free, 0, 1)] = slot - 1
