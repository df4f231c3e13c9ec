"""Groups of worlds on a GPU that take their turns side by side, see :mod:`.together`.

A launch lasts as long as the world that takes longest in it, and at its end most of the GPU has nothing to do. So
worlds are in groups, each with lists and a stream of its own, and while one group waits for its last warps, the others
go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled.gpu_cache import launcher
from footfall.engine.worlds.queues import AFTER, GUESS, NEWTON, NONE, QUEUES, SEARCH, Queues
from footfall.engine.worlds.step import Span
from footfall.engine.worlds.together import Turn
from footfall.solve.together.desk import LANES as LANES_OF_WARP

#: The most groups, and the least lanes of one: of 4,096 worlds that stand, four groups were slower than one by up to a
#: twentieth, of 65,536 they were as fast. Where states are searched there is one group: four gave restless worlds 3 %,
#: and took 4 % from those that stand in one-step mode.
GROUPS, LEAST = 4, 16384
#: Linear problems that a search for states solves in a turn: while all worlds take steps, and in turns that are added.
SOLUTIONS, MORE_SOLUTIONS = 48, 128
#: The most warps that are started where states are searched, each of which may take several worlds: most need none, and
#: 65,536 warps that find nothing to do take 40 us. Elsewhere there is one for each world.
WARPS = 8192
#: A turn in which nothing is done, to compile kernels for.
NO_TURN = Turn(0, 0, 0, 0, 0)


class Kernels(NamedTuple):
    """What worlds take turns in, and what each is launched with before its lists."""

    clear: Any
    step: Any
    solvers: Sequence[Any]  # guesses, Newton and, if there is one, the search
    stepped: tuple[Any, ...]
    solved: tuple[Any, ...]


class Group(NamedTuple):
    """Worlds with lists and a stream of their own."""

    going: Any  # (1,) on the device
    stream: Any
    move: Callable[[Span, int, int], None]  # ends and begins steps: span, world of lane 0, whether a call begins
    solve: Callable[[int, int], None]  # finds forces: world of lane 0, most linear problems of a search


def empty_queues(cuda: Any, lanes: int) -> Queues:
    """Lists for so many lanes, on the device."""
    shapes = (QUEUES, lanes), (QUEUES,), (1,)
    return Queues(*(cuda.to_device(np.zeros(shape, dtype=np.int64)) for shape in shapes))


def make_groups(cuda: Any, kernels: Kernels, lanes: int, block: int) -> list[Group]:
    """Groups of so many lanes in all, which take steps in blocks of ``block`` lanes."""
    search = len(kernels.solvers) > 2
    number = 1 if search else max(1, min(GROUPS, lanes // LEAST))
    size = block * -(-lanes // (block * number))
    return [_make_group(cuda, kernels, first, min(size, lanes - first), block) for first in range(0, lanes, size)]


def _make_group(cuda: Any, kernels: Kernels, lane: int, lanes: int, block: int) -> Group:
    queues, stream = empty_queues(cuda, lanes), cuda.stream()
    clear = launcher(kernels.clear, (1, 1, stream), (queues,))
    step_on = launcher(kernels.step, (-(-lanes // block), block, stream), (*kernels.stepped, queues))
    shape = min(lanes, WARPS) if len(kernels.solvers) > 2 else lanes, LANES_OF_WARP, stream
    guess, newton, *search = (launcher(solver, shape, (*kernels.solved, queues)) for solver in kernels.solvers)
    searched = ((search[0], SEARCH),) if search else ()
    parts_of_a_turn = (guess, GUESS), (newton, NEWTON), *searched, (guess, AFTER)

    def move(span: Span, first: int, start: int) -> None:
        clear()
        step_on(span, Turn(first, lane, start, NONE, 0))

    def solve(first: int, most: int) -> None:
        for part, queue in parts_of_a_turn:
            part(Turn(first, lane, 0, queue, most))

    return Group(queues.going, stream, move, solve)


def take_turns(groups: Sequence[Group], span: Span, first: int) -> None:
    """Take the steps of a span with the worlds from ``first`` on, one for each lane of the groups."""
    for turn in range(span.steps + span.look):
        for group in groups:
            group.move(span, first, int(turn == 0))
            group.solve(first, SOLUTIONS)
    for group in groups:
        group.move(span, first, 0)
    left = list(groups)
    while left := [group for group in left if _is_going(group)]:  # laws were asked again, or took long
        for group in left:
            group.solve(first, MORE_SOLUTIONS)
            group.move(span, first, 0)


def _is_going(group: Group) -> bool:
    """Whether any of its worlds has steps to take; waits for the group alone."""
    going = group.going.copy_to_host(stream=group.stream)
    group.stream.synchronize()
    return bool(going[0])
