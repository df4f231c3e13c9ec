"""Many worlds on the cores of a CPU: threads in compiled code, each with its own scratch space.

One thread computes a world from the first to the last step of a call, so that its numbers stay in the cache and the
result does not depend on the number of threads.

Contact points of bodies other than feet are those of a single run (:mod:`footfall.engine.other_bodies.points`), but all
places exist from the start. The state of a world includes which points have a place. A thread derives the rest when it
turns to a world (positions of these points on their bodies, slots of bodies), so these arrays exist once per thread.
MuJoCo detects contacts between bodies, with a ``MjData`` for each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numba import types

from footfall.compiled import ByReference, cold, inlined, kernel
from footfall.engine.bridge import counter
from footfall.engine.clearance import Clearance, Widened, make_clearance
from footfall.engine.dynamics.tree import Tree
from footfall.engine.other_bodies.near import live, put_in_place
from footfall.engine.other_bodies.pairs import is_pair
from footfall.engine.other_bodies.points import Others, OtherTape, Pairs, Points, make_other_tape
from footfall.engine.step import DONE
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds.arrays import Given, Shapes, Space, WorldState, bytes_of, picker, room
from footfall.engine.worlds.one_world import Robot, one_world, set_friction
from footfall.engine.worlds.step import Functions, Plan, Run, Span, Track, advance_world
from footfall.errors import SimulationError
from footfall.kinds import Int, Ints, Matrix
from footfall.process.machine import cores, machine_memory
from footfall.solve.gather import gather, tuple_of


class Beside(NamedTuple):
    """The constant data of points that all worlds share; see :class:`Points`."""

    others: Others
    model: int  # address of MuJoCo's, which finds contacts between bodies; 0 where no two bodies touch
    clearance: Clearance
    begin: Ints
    centre: Matrix


#: The state of points not on feet in a world: of :class:`Others`, and of :class:`Clearance`, whose ``place`` is
#: ``seen``.
Kept = tuple_of("Kept", ("place", "who", "pair", "spot", "counters", "seen", "room", "looks"), __name__)
#: What a thread derives for the world that it computes: of :class:`Points`; the slot of each point, and the body of
#: each slot; addresses of MuJoCo's data, and of its qpos, ncon and contact.
Laid = tuple_of(
    "Laid",
    (
        *("local", "radius", "body", "root", "chain", "chain_length", "shared", "geom", "partner", "sign", "axes"),
        *("smooth", "listed", "owner", "slot", "mujoco"),
    ),
    __name__,
)
#: Data of contacts between bodies in one world, and for their detection.
WorldPairs = tuple_of("WorldPairs", (*Pairs._fields, "model", "clearance", "mujoco"), __name__)


def make_beside(points: Points, tree: Tree, model: mujoco.MjModel, seen: Clearance) -> Beside:
    """The constant part of a robot's contact points; trees are counted as :mod:`footfall.engine.dynamics` does."""
    others, pairs = points.others, points.others.pairs
    own = others._replace(
        root=tree.body_tree[others.body], pairs=pairs._replace(root=tree.body_tree[np.arange(len(pairs.root))])
    )
    return Beside(own, model._address if len(pairs.chain) else 0, seen, points.begin, points.centre)


def first_kept(points: Points, seen: Clearance) -> dict[str, np.ndarray]:
    """The initial state of points not on feet: no point has a place, and no distance is known."""
    own = {"seen": seen.place, "room": seen.room, "looks": seen.looks}
    return {name: (own[name] if name in own else getattr(points.others, name))[None] for name in Kept._fields}


def lay_out(points: Points, tree: Tree, owner: np.ndarray, data: list[mujoco.MjData]) -> Any:
    """Room for each thread, with the feet in it, and its ``data``."""
    own = {name: getattr(points, name) for name in Laid._fields if hasattr(points, name)}
    own |= {"owner": owner, "slot": points.others.slot, "root": tree.body_tree[points.body]}
    rows = {name: np.repeat(array[None], len(data), axis=0) for name, array in own.items()}
    places = [
        [one._address, one.qpos.ctypes.data, *(counter(one, name).ctypes.data for name in ("ncon", "contact"))]
        for one in data
    ]
    return Laid(**rows, mujoco=np.array(places, dtype=np.int64))


#: :class:`Others` with what one world keeps, one thread's slots and one world's tape.
others_of = gather(
    Others,
    {"others": Others, "kept": None, "laid": None, "tape": None, "state": None, "pairs": None},
    place="kept.place",
    who="kept.who",
    pair="kept.pair",
    spot="kept.spot",
    counters="kept.counters",
    slot="laid.slot",
    seated="state.seated",
)
#: :class:`Clearance` of one world.
clearance_of = gather(
    Clearance,
    {"known": Clearance, "kept": None},
    place="kept.seen",
    **{name: f"kept.{name}" for name in ("room", "looks")},
)
#: What finds contacts between bodies in one world, with one thread's data.
pairs_of = gather(
    WorldPairs,
    {"pairs": Pairs, "beside": None, "clearance": None, "laid": None},
    model="beside.model",
    mujoco="laid.mujoco",
)
#: The contact points of one world, of feet and as many others as there are places for.
all_points_of = gather(Points, {"beside": Beside, "laid": Laid, "state": WorldState, "space": Space, "others": None})


@inlined
def turn_to(points: Points) -> None:
    """Turn to another world: free all slots, and restore the world's points to their places."""
    others = points.others
    for a in range(others.slot.size):
        others.slot[a] = -1
    if live(points) > others.first:
        take_places_again(points)


@cold(types.none)
def take_places_again(points: Points) -> None:
    """Write the positions, on their bodies, of the points that have a place."""
    others = points.others
    for s in range(live(points) - others.first):
        q, p = others.who[s], others.first + s
        if q < 0:
            continue
        if is_pair(others, q):
            points.radius[p], points.smooth[p] = 0.0, 0
        else:
            put_in_place(points, q, p)


#: Steps of worlds in a thread's portion of work: some milliseconds, between two checks for Ctrl-C.
PORTION = 2000

pick_given = picker(Given, world_last=False)
pick_state = picker(WorldState, world_last=False)
pick_space = picker(Space, world_last=False)
pick_tape = picker(Tape, world_last=False)
pick_kept = picker(Kept, world_last=False)
pick_laid = picker(Laid, world_last=False)
pick_other_tape = picker(OtherTape, world_last=False)


class Memory(NamedTuple):
    """All arrays of the worlds, the world first, and the scratch space of threads, the thread first."""

    given: Given
    state: WorldState
    kept: Any  # Kept
    beside: Beside
    space: Space
    laid: Any  # Laid


class Tapes(NamedTuple):
    """Recordings of chosen worlds, the world first."""

    feet: Tape
    others: OtherTape
    chosen: Ints  # (W,) row of each world, -1 if it is not recorded


@kernel
def advance_worlds(
    robot: Robot, memory: Memory, tapes: Tapes, plan: Plan, functions: Functions, who: tuple[Int, Int, Int], span: Span
) -> None:
    """Take the steps of some worlds with one thread: ``who`` is (thread, first world, last), ``span`` the steps.

    The final instant is evaluated only for worlds that are recorded.
    """
    thread, first, last = who
    for w in range(first, last):
        row = tapes.chosen[w]
        if row < 0 and span.look == 1:
            continue
        given, state, kept = pick_given(memory.given, w), pick_state(memory.state, w), pick_kept(memory.kept, w)
        tape_row = max(row, 0)
        track = Track(pick_tape(tapes.feet, tape_row), pick_other_tape(tapes.others, tape_row), row >= 0)
        space, laid, beside = pick_space(memory.space, thread), pick_laid(memory.laid, thread), memory.beside
        pairs = pairs_of(beside.others.pairs, beside, clearance_of(beside.clearance, kept), laid)
        others = others_of(beside.others, kept, laid, track.others, state, pairs)
        points = all_points_of(beside, laid, state, space, others)
        turn_to(points)
        set_friction(given, space, space.gap.size)
        one = one_world(robot, given, state, space, points, laid.owner)
        advance_world(Run(one, given, state, track, plan, functions, span, ()))


class Team:
    """Threads that share the worlds."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pool = ThreadPoolExecutor(size) if size > 1 else None

    def share(self, worlds: int, steps: int, work: Callable[[int, int, int], Any]) -> None:
        """Call ``work(thread, first, last)`` for portions of the worlds until all are done; free threads take the next
        one. After Ctrl-C each ends the portion that it is at.
        """
        portion = min(worlds, max(1, PORTION // max(1, steps)))
        alone = self.pool is None or worlds <= portion
        portion = portion if alone else min(portion, -(-worlds // self.size))
        waiting = iter(range(0, worlds, portion))  # safe under the interpreter's lock

        def take(thread: int) -> None:
            for first in waiting:
                work(thread, first, min(first + portion, worlds))

        if self.pool is None or alone:
            take(0)
            return
        futures = [self.pool.submit(take, thread) for thread in range(self.size)]
        try:
            for future in futures:
                future.result()
        finally:
            list(waiting)
            wait(futures)


def check_memory(count: int, each: int) -> None:
    """Refuse more worlds of ``each`` bytes than fit into this machine's memory, and say how many do."""
    there = machine_memory()
    if count * each > there:
        raise SimulationError(
            f"{count} worlds need {count * each / 1e9:.3g} GB of memory, and this machine has {there / 1e9:.3g} GB: "
            f"{there // each} worlds fit"
        )


class Cores:
    """Worlds in the memory of the CPU, the world as the first index of every array; both models must outlive them."""

    def __init__(
        self,
        robot: Robot,
        points: Points,
        model: mujoco.MjModel,
        widened: Widened,
        shapes: tuple[Shapes, Shapes],
        count: int,
        functions: Functions,
        scratch: Callable[[], Any],
        threads: int | None,
    ) -> None:
        check_memory(count, bytes_of(shapes[0]))
        self.team = Team(min(count, threads or cores()))
        self.robot, self.count, self.functions, self.constant = robot, count, functions, ByReference(robot)
        self.data, seen = [mujoco.MjData(model) for _ in range(self.team.size)], make_clearance(widened)
        self.first_kept = first_kept(points, seen)
        self.state = WorldState(**room(shapes[0], count, world_last=False))
        self.kept = Kept(**{name: np.repeat(array, count, axis=0) for name, array in self.first_kept.items()})
        made = [scratch() for _ in self.data]
        self.of_law = [ByReference(one) for one in made if one is not None]
        law = np.array([one.address for one in self.of_law] or [0 for _ in made])
        self.beside = make_beside(points, robot.tree, model, seen)
        self.space = Space(**room(shapes[1], len(made), world_last=False), law=law, pairs=np.zeros(len(made)))
        owner = np.concatenate([robot.soles.foot, np.zeros(len(points.others.who), dtype=np.int64)])
        self.laid = lay_out(points, robot.tree, owner, self.data)
        self.memory: ByReference | None = None
        self.last: tuple[Any, ...] = (None, None, None)
        self.last_laid_out: list[ByReference] = []

    def give(self, given: Given) -> None:
        """Set the inputs of the worlds."""
        self.memory = ByReference(Memory(given, self.state, self.kept, self.beside, self.space, self.laid))

    def array(self, name: str) -> np.ndarray:
        """An array of the state, live."""
        return getattr(self.state, name)

    host = array  # a copy for reading, elsewhere

    def first(self, name: str) -> np.ndarray:
        """The first number of each world (W,) in an array of the state."""
        return self.array(name)[:, 0]

    def reset(self, which: np.ndarray, start: dict[str, np.ndarray]) -> None:
        """Set the worlds of ``which`` (W,) to their start."""
        for name, array in (self.state._asdict() | self.kept._asdict()).items():
            array[which] = np.broadcast_to(start[name], array.shape)[which] if name in start else 0

    def set_controls(self, ctrl: np.ndarray) -> None:
        """Set the controls, (nu,) or (W, nu)."""
        self.state.ctrl[:] = ctrl

    def make_tape(self, model: mujoco.MjModel, recorded: Sequence[int], samples: int, signals: int) -> Tapes:
        """Room for the recordings of these worlds."""
        worlds, samples = max(1, len(recorded)), samples if recorded else 1

        def room_for(tape: Any) -> Any:
            return type(tape)(*(np.zeros((worlds, *rows.shape), dtype=rows.dtype) for rows in tape))

        feet = make_tape(model, samples, len(self.robot.soles.local), max(1, signals))
        others = make_other_tape(self.first_kept["who"].size, samples)
        chosen = np.full(self.count, -1)
        chosen[list(recorded)] = np.arange(len(recorded))
        return Tapes(room_for(feet), room_for(others), chosen)

    def recordings(self, tapes: Tapes) -> Iterator[tuple[Tape, OtherTape | None]]:
        """The recordings of these worlds."""
        for row in range(np.count_nonzero(tapes.chosen >= 0)):
            yield Tape(*(array[row] for array in tapes.feet)), OtherTape(*(array[row] for array in tapes.others))

    def _laid_out(self, *tuples: Any) -> list[ByReference]:
        """Tuples by reference, laid out again only if they are not those of the last call."""
        if any(one is not before for one, before in zip(tuples, self.last, strict=True)):
            self.last, self.last_laid_out = tuples, [ByReference(one) for one in tuples]
        return self.last_laid_out

    def advance(
        self, plan: Plan, controller: Any, steps: int, tapes: Tapes, *, before: int = 0, last: bool = True
    ) -> None:
        """Take ``steps`` steps with all worlds that have not ended.

        A recording made by several calls had ``before`` steps in earlier ones, and the final instant is recorded by
        the ``last``.
        """
        functions = self.functions
        if controller is not None:
            functions = functions._replace(control=controller.pointer())
        arrays = (self.constant, self.memory, *self._laid_out(tapes, plan, functions))

        for done in range(0, steps, PORTION):
            span = Span(min(PORTION, steps - done), 0, before + done)

            def work(thread: int, first: int, last: int, span: Span = span) -> None:
                advance_worlds(*arrays, (thread, first, last), span)

            self.team.share(self.count, span.steps, work)
        rows = np.flatnonzero(tapes.chosen >= 0)
        if rows.size and last:
            kept = [array[rows] for array in (*self.state, *self.kept)]
            going = self.state.end[rows, 0] == DONE
            advance_worlds(*arrays, (0, 0, self.count), Span(0, 1, before + steps))
            for array, old in zip((*self.state, *self.kept), kept, strict=True):
                array[rows[going]] = old[going]
