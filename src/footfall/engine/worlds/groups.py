"""Groups of worlds on a GPU that take their turns side by side, see :mod:`.together`.

A launch lasts as long as its slowest world, and at its end most of the GPU is idle. So worlds are in groups, each with
its own lists and stream: while one group waits for its last warps, the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled.gpu_cache import launcher
from footfall.engine.worlds.lying_kernels import Rooms
from footfall.engine.worlds.queues import AFTER, GUESS, LIE_SOLVE, NEWTON, NONE, QUEUES, SEARCH, Queues
from footfall.engine.worlds.step import Span
from footfall.engine.worlds.together import Turn
from footfall.solve.together.desk import LANES as LANES_OF_WARP

#: The most groups, and the least lanes of one: of 4,096 worlds that stand, four groups were slower than one by up to a
#: twentieth, of 65,536 they were as fast.
GROUPS, LEAST = 4, 16384
#: Groups if states are searched: one, and this many after a call at whose end at least so many turns were added. With
#: four, standing worlds are 4 to 8 % slower.
RESTLESS_GROUPS, RESTLESS = 4, 2
#: Least rooms, for worlds that lie, that several groups may share.
ENOUGH_ROOMS = 1024
#: Most linear problems per turn: if states are searched and all worlds take steps, and otherwise. Under time-stepping
#: the second made restless humanoids 2 % faster and bipeds no slower; with a search of states 24 are faster than 48 by
#: 2 to 4 %.
SOLUTIONS, MORE_SOLUTIONS = 24, 128
#: Turns at the end of a call without a check who is done: this many fewer than the last call took, or than the second
#: number.
UNSURE, MOST_SURE = 3, 10
#: Most warps that search states, each of which may take several worlds: most worlds need no search, and 65,536 idle
#: warps take 40 us. Other kernels have a warp for each world.
WARPS = 8192
#: Turns between two checks by the host whether any world lies.
LOOK = 32
#: An empty turn, for which kernels are compiled.
NO_TURN = Turn(0, 0, 0, 0, 0)


class LyingKernels(NamedTuple):
    """The kernels of worlds that lie, and their launch arguments before rooms, desks and lists."""

    step: Any
    solver: Any
    stepped: tuple[Any, ...]
    solved: tuple[Any, ...]
    make_room: Callable[[int, int], Rooms]  # for a group: its first lane, and how many there are


class Kernels(NamedTuple):
    """The kernels of worlds, and their launch arguments before the lists."""

    clear: Any
    step: Any
    solvers: Sequence[Any]  # guesses, Newton and, if there is one, the search
    stepped: tuple[Any, ...]
    solved: tuple[Any, ...]
    lying: LyingKernels | None  # where other bodies than feet meet the ground


class Group:
    """Worlds with lists and a stream of their own.

    Kernels of worlds that lie are launched only once some do: on a busy GPU each takes 7 us even without work.
    """

    def __init__(self, cuda: Any, kernels: Kernels, lane: int, lanes: int, block: int) -> None:
        lying, stream = kernels.lying, cuda.stream()
        rooms = lying.make_room(lane, lanes) if lying else None
        queues = empty_queues(cuda, lanes, rooms.number if rooms else 0)
        self.lane, self.stream, self.state = lane, stream, queues.going
        self.rooms = rooms.number if rooms else lanes
        self.portion = SOLUTIONS if len(kernels.solvers) > 2 else MORE_SOLUTIONS
        self.added = 0  # turns at the end of the last call
        self.may_lie, self.lain = lying is not None, False  # whether any world does, as far as is known
        self.clear = launcher(kernels.clear, (1, 1, stream), (queues,))
        self.step_on = launcher(kernels.step, (-(-lanes // block), block, stream), (*kernels.stepped, queues))
        shape = min(lanes, WARPS) if len(kernels.solvers) > 2 else lanes, LANES_OF_WARP, stream
        guess, newton, *search = (launcher(solver, shape, (*kernels.solved, queues)) for solver in kernels.solvers)
        # If states are searched, 6 to 30 of 65,536 worlds need guesses after Newton; they wait for the next turn.
        last = (search[0], SEARCH) if search else (guess, AFTER)
        self.parts_of_a_turn = (guess, GUESS), (newton, NEWTON), last
        if lying and rooms:
            self.lie_on, self.solve_lying = _launch_lying(lying, rooms, queues, block, stream)

    def move(self, span: Span, first: int, start: int) -> None:
        """End and begin steps: ``first`` is the world of lane 0, ``start`` is 1 at the beginning of a call."""
        turn = Turn(first, self.lane, start, NONE, 0)
        self.clear(start)
        self.step_on(span, turn)
        if self.lain:
            self.lie_on(span, turn)

    def solve(self, first: int, most: int) -> None:
        """Find forces, with at most ``most`` linear problems in a search."""
        if self.lain:
            self.solve_lying(Turn(first, self.lane, 0, LIE_SOLVE, most))
        for part, queue in self.parts_of_a_turn:
            part(Turn(first, self.lane, 0, queue, most))

    def goes_on(self) -> bool:
        """Whether any world has steps to take; waits for this group alone."""
        state = self.state.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        going, lain = state.tolist()
        self.lain = lain == 1
        return going == 1

    def is_done(self, added: int) -> bool:
        """Whether no world has steps to take after this many turns at the end of a call, as far as is known: a check
        makes the GPU wait for the host.
        """
        if added < min(self.added, MOST_SURE) - UNSURE or self.goes_on():
            return False
        self.added = added
        return True


def empty_queues(cuda: Any, lanes: int, rooms: int = 0) -> Queues:
    """Empty lists for this many lanes on the device, and the rooms for worlds that lie, all free."""
    lists = (np.zeros(shape, dtype=np.int64) for shape in ((QUEUES, lanes), (QUEUES,), (QUEUES,), (2,)))
    return Queues(*map(cuda.to_device, (*lists, np.arange(max(rooms, 1)), np.array([rooms]))))


def make_groups(cuda: Any, kernels: Kernels, lanes: int, block: int, most: int) -> list[Group]:
    """Groups of this many lanes in all, at most ``most``, which take steps in blocks of ``block`` lanes."""
    number = max(1, min(most, lanes // LEAST))
    size = block * -(-lanes // (block * number))
    return [Group(cuda, kernels, first, min(size, lanes - first), block) for first in range(0, lanes, size)]


class Company:
    """All worlds of a GPU in groups: few while worlds stand, and more while some are behind at the end of a call."""

    def __init__(self, cuda: Any, kernels: Kernels, lanes: int, block: int) -> None:
        self.made: dict[int, list[Group]] = {}
        self.make = lambda most: make_groups(cuda, kernels, lanes, block, most)
        self.calm, self.restless = (1, RESTLESS_GROUPS) if len(kernels.solvers) > 2 else (GROUPS, GROUPS)
        self.groups = self.in_groups(self.calm)
        if any(group.rooms < ENOUGH_ROOMS for group in self.groups):
            self.restless = self.calm

    def in_groups(self, most: int) -> list[Group]:
        if most not in self.made:
            self.made[most] = self.make(most)
        return self.made[most]

    def take_turns(self, span: Span, first: int) -> None:
        """Take the steps of a span with the worlds from ``first`` on, one for each lane."""
        take_turns(self.groups, span, first)
        added, lain = max(group.added for group in self.groups), any(group.lain for group in self.groups)
        self.groups = self.in_groups(self.calm if added < RESTLESS else self.restless)
        for group in self.groups:
            group.lain = lain


def _launch_lying(lying: LyingKernels, rooms: Rooms, queues: Queues, block: int, stream: Any) -> tuple[Any, Any]:
    """A function that launches the kernels of worlds that lie."""
    arrays, plan = lying.stepped
    step = launcher(lying.step, (-(-rooms.number // block), block, stream), (arrays, rooms.space, plan, queues))
    shape = rooms.warps, LANES_OF_WARP, stream
    return step, launcher(lying.solver, shape, (*lying.solved, rooms.space, rooms.desks, queues))


def take_turns(groups: Sequence[Group], span: Span, first: int) -> None:
    """Take the steps of a span with the worlds from ``first`` on, one for each lane of the groups."""
    for turn in range(span.steps + span.look):
        for group in groups:
            if turn % LOOK == LOOK - 1 and group.may_lie and not group.lain:
                group.goes_on()
            group.move(span, first, int(turn == 0))
            group.solve(first, group.portion)
    for group in groups:
        group.move(span, first, 0)
    left, added = list(groups), 0
    while left := [group for group in left if not group.is_done(added)]:  # laws were asked again, or took long
        added += 1
        for group in left:
            group.solve(first, MORE_SOLUTIONS)
            group.move(span, first, 0)
