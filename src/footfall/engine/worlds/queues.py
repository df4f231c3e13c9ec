"""Who waits for what on a GPU: lists of lanes whose worlds a kernel takes up, so that it does not look at all of them.

The order of a list is by chance; no world depends on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contact_lean import DEFERRED, HARD, SEARCHING, SUGGESTING

#: Worlds whose forces are guessed, are found by Newton, and are guessed from what Newton found in the same turn; and
#: whose states of the feet are searched. Then those that lie: whose steps are taken, and whose forces are found.
GUESS, NEWTON, AFTER, SEARCH, LIE, LIE_SOLVE, QUEUES = range(7)
#: No list.
NONE = -1

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


class Queues(NamedTuple):
    """Lists of lanes, a turn's."""

    member: Any  # (QUEUES, lanes)
    number: Any  # (QUEUES,) how many are in each
    taken: Any  # (QUEUES,) how many of them were taken up by warps that were done with their first
    going: Any  # (2,) 1 if any world has steps to take, and 1 if any has lain in this call
    slot: Any  # (S,) room for worlds that lie: the free ones first
    free: Any  # (1,) how many are free


@inlined
def next_place(number, which):
    """A place at the end of a list, for each lane that asks for one."""
    return cuda.atomic.add(number, which, 1)


@inlined
def next_place_of_warp(number, which):
    """The same for lanes of a warp in their order, whose worlds lie side by side; the simulator does not know it."""
    same = cuda.match_any_sync(cuda.activemask(), which)
    rank = cuda.popc(same & cuda.lanemask_lt())
    place = 0
    if rank == 0:
        place = cuda.atomic.add(number, which, cuda.popc(same))
    return cuda.shfl_sync(same, place, cuda.ffs(same) - 1) + rank


@inlined
def line_up(queues, answer, lane, done):
    """Put a lane, whose world's law has answered so, in the list of those who find the rest of the answer, unless it is
    ``done`` with that list in this turn; ``NONE`` at its beginning.
    """
    which = GUESS if answer == DEFERRED or done == NONE else AFTER
    if answer == SEARCHING:
        which = SEARCH
    elif answer in (HARD, SUGGESTING):
        which = NEWTON
    if which != done and (done != SEARCH or which == AFTER):  # the others are done in this turn
        queues.member[which, next_place(queues.number, which)] = lane


@inlined
def join(queues, which, lane):
    """Put a lane in a list."""
    queues.member[which, next_place(queues.number, which)] = lane


@inlined
def take_slot(queues):
    """Room for a world that lies: one more than its number, or 0 if there is none. In no kernel that gives any back."""
    left = cuda.atomic.sub(queues.free, 0, 1)
    if left <= 0:
        cuda.atomic.add(queues.free, 0, 1)
        return 0
    return queues.slot[left - 1] + 1


@inlined
def give_slot(queues, slot):
    """Give back what :func:`take_slot` gave."""
    queues.slot[cuda.atomic.add(queues.free, 0, 1)] = slot - 1
