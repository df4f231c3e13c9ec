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
from footfall.engine.other_bodies.near import live
from footfall.engine.other_bodies.pairs import is_pair
from footfall.engine.other_bodies.points import LIVE, Others, OtherTape, Pairs, Points, make_other_tape
from footfall.engine.step import DONE
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds.arrays import Given, Shapes, Space, WorldState, bytes_of, picker, room
from footfall.engine.worlds.one_world import OneWorld, Robot, one_world, set_friction
from footfall.engine.worlds.step import Functions, Plan, Span, Track, advance_world
from footfall.errors import SimulationError
from footfall.given_numbers import is_whole
from footfall.kinds import Int, Ints, Matrix
from footfall.process.machine import cores, machine_memory
from footfall.solve.gather import gather


class Detector(NamedTuple):
    """The data for detection of contacts between bodies by MuJoCo, the same for all worlds."""

    model: int  # address; 0 where no two bodies touch
    clearance: Clearance


class Beside(NamedTuple):
    """The constant data of points that all worlds share; see :class:`Points`."""

    others: Others
    detector: Detector
    begin: Ints
    centre: Matrix


class Kept(NamedTuple):
    """The state of points not on feet in a world; see :class:`Others`."""

    place: Any  # (Q,)
    who: Any  # (S,)
    pair: Any  # (S,)
    spot: Any  # (S, 3) m
    counters: Any  # (5,)
    seen: Any  # (nq,) see :class:`Clearance`, whose ``place`` this is
    room: Any  # (2,) m
    looks: Any  # (3,)


class Laid(NamedTuple):
    """What a thread derives for the world that it computes; see :class:`Points`."""

    local: Any  # (P, 3) m
    radius: Any  # (P,) m
    body: Any  # (K,)
    root: Any  # (K,) row of the body's tree in ``subtree_com``
    chain: Any  # (K, nv)
    chain_length: Any  # (K,)
    shared: Any  # (K, K)
    geom: Any  # (K,)
    partner: Any  # (K,)
    sign: Any  # (K, nv)
    axes: Any  # (P, 3, 3) m
    smooth: Any  # (P,)
    listed: Any  # (P,)
    owner: Any  # (P,) the slot of each point
    slot: Any  # (A,)
    mujoco: Any  # (4,) addresses: MjData, and its qpos, ncon and contact


class WorldPairs(NamedTuple):
    """Data of contacts between bodies in one world, and for their detection; see :class:`Pairs`."""

    body: Any
    root: Any
    chain: Any
    chain_length: Any
    rest: Any
    depth: Any
    model: Any
    clearance: Any
    mujoco: Any


def make_detector(model: mujoco.MjModel, widened: Widened, wanted: bool) -> Detector:
    """The detector of contacts between bodies, if these are ``wanted``; both models must outlive it."""
    return Detector(model._address if wanted else 0, make_clearance(widened))


def make_beside(points: Points, tree: Tree, detector: Detector) -> Beside:
    """The constant part of a robot's contact points; trees are counted as :mod:`footfall.engine.dynamics` does."""
    others = points.others
    pairs = others.pairs._replace(root=tree.body_tree[np.arange(len(others.pairs.root))])
    return Beside(others._replace(root=tree.body_tree[others.body], pairs=pairs), detector, points.begin, points.centre)


def first_kept(points: Points, detector: Detector) -> dict[str, np.ndarray]:
    """The initial state of points not on feet: no point has a place, and no distance is known."""
    seen = detector.clearance
    own = {"seen": seen.place, "room": seen.room, "looks": seen.looks}
    return {name: (own[name] if name in own else getattr(points.others, name))[None] for name in Kept._fields}


def lay_out(points: Points, tree: Tree, owner: np.ndarray, data: list[mujoco.MjData]) -> Laid:
    """Room for each thread, with the feet in it, and its ``data``."""
    own = {name: getattr(points, name) for name in Laid._fields if hasattr(points, name)}
    own |= {"owner": owner, "slot": points.others.slot, "root": tree.body_tree[points.body]}
    rows = {name: np.repeat(array[None], len(data), axis=0) for name, array in own.items()}
    places = [
        [one._address, one.qpos.ctypes.data, *(counter(one, name).ctypes.data for name in ("ncon", "contact"))]
        for one in data
    ]
    return Laid(**rows, mujoco=np.array(places, dtype=np.int64))


def make_other_tapes(worlds: int, places: int, samples: int) -> OtherTape:
    """Room for what is recorded of points not on feet, the world first."""
    one = make_other_tape(places, samples)
    return OtherTape(*(np.zeros((worlds, *array.shape), dtype=array.dtype) for array in one))


#: :class:`Others` with what one world keeps, one thread's slots and one world's tape.
others_of = gather(
    Others,
    {"others": Others, "kept": None, "laid": None, "tape": None, "state": None, "pairs": None},
    place="kept.place",
    who="kept.who[: others.who.size]",
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
    {"pairs": Pairs, "detector": None, "clearance": None, "laid": None},
    model="detector.model",
    mujoco="laid.mujoco",
)
#: The contact points of one world, of feet and as many others as there are places for.
all_points_of = gather(
    Points,
    {"beside": Beside, "laid": Laid, "state": WorldState, "space": Space, "others": None},
    **{name: f"state.{name}[: laid.radius.size]" for name in ("anchor", "force", "mode", "memory")},
)


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
            continue
        points.radius[p] = others.radius[q]
        points.smooth[p] = others.smooth[q]
        for c in range(3):
            points.local[p, c] = others.local[q, c]
            for d in range(3):
                points.axes[p, c, d] = others.axes[q, c, d]


#: Steps of worlds in a thread's portion of work: some milliseconds, between two checks for Ctrl-C.
PORTION = 2000

pick_given = picker(Given, world_last=False)
pick_state = picker(WorldState, world_last=False)
pick_space = picker(Space, world_last=False)
pick_tape = picker(Tape, world_last=False)
pick_kept = picker(Kept, world_last=False)
pick_laid = picker(Laid, world_last=False)
pick_other_tape = picker(OtherTape, world_last=False)


class Rooms(NamedTuple):
    """Scratch space of threads, the thread first."""

    beside: Beside
    space: Space
    laid: Laid


class Memory(NamedTuple):
    """All arrays of the worlds, the world first, and the scratch space of threads."""

    given: Given
    state: WorldState
    kept: Kept
    small: Rooms  # without places for points of other bodies
    large: Rooms


class Tapes(NamedTuple):
    """Recordings of chosen worlds, the world first."""

    feet: Tape
    others: OtherTape
    chosen: Ints  # (W,) row of each world, -1 if it is not recorded


@cold(types.int64)
def advance_by_reference(
    one: OneWorld, given: Given, state: WorldState, track: Track, plan: Plan, functions: Functions, span: Span
) -> Int:
    """:func:`advance_world` on tuples that are laid out in memory once for a world."""
    return advance_world(one, given, state, track, plan, functions, span)


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
        large = kept.counters[LIVE] > memory.small.beside.others.first
        done = 0
        while done < span.steps + span.look and state.end[0] == DONE:
            rooms = memory.large if large else memory.small
            space, laid = pick_space(rooms.space, thread), pick_laid(rooms.laid, thread)
            detector = rooms.beside.detector
            clearance = clearance_of(detector.clearance, kept)
            pairs = pairs_of(rooms.beside.others.pairs, detector, clearance, laid)
            others = others_of(rooms.beside.others, kept, laid, track.others, state, pairs)
            points = all_points_of(rooms.beside, laid, state, space, others)
            turn_to(points)
            set_friction(given, space, space.gap.size)
            one = one_world(robot, given, state, space, points, laid.owner)
            left = Span(span.steps - done, span.look, span.before + done)
            done += advance_by_reference(one, given, state, track, plan, functions, left)
            large = True


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
    """Worlds in the memory of the CPU, the world as the first index of every array."""

    def __init__(
        self,
        robot: Robot,
        points: tuple[Points, Points],
        detector: Detector,
        data: Callable[[], mujoco.MjData],
        shapes: tuple[Shapes, Shapes, Shapes],
        count: int,
        functions: Functions,
        scratch: Callable[[Points], Any],
        threads: int | None,
    ) -> None:
        if threads is not None and not is_whole(threads, 1):
            raise SimulationError(f"threads = {threads!r}, but it must be a whole number > 0")
        check_memory(count, bytes_of(shapes[0]))
        self.team = Team(min(count, threads or cores()))
        self.robot, self.count, self.functions, self.constant = robot, count, functions, ByReference(robot)
        self.detector, self.data = detector, [data() for _ in range(self.team.size)]
        self.first_kept = first_kept(points[1], detector)
        self.state = WorldState(**room(shapes[0], count, world_last=False))
        self.kept = Kept(**{name: np.repeat(array, count, axis=0) for name, array in self.first_kept.items()})
        self.of_law: list[ByReference] = []  # the law's scratch arrays of each thread
        self.small, self.large = (self._rooms(*one, scratch) for one in zip(points, shapes[1:], strict=True))
        self.memory: ByReference | None = None
        self.last: tuple[Any, ...] = (None, None, None)
        self.last_laid_out: list[ByReference] = []
        self.nobody = np.full(count, -1)

    def _rooms(self, points: Points, shapes: Shapes, scratch: Callable[[Points], Any]) -> Rooms:
        """Scratch space of threads, with as many places for points of other bodies as the worlds have."""
        tree, threads = self.robot.tree, self.team.size
        owner = np.concatenate([self.robot.soles.foot, np.zeros(len(points.others.who), dtype=np.int64)])
        made = [scratch(points) for _ in range(threads)]
        laid = [ByReference(one) for one in made if one is not None]
        self.of_law += laid
        law = np.array([one.address for one in laid] or [0] * threads)
        space = Space(**room(shapes, threads, world_last=False), law=law, pairs=np.zeros(threads))
        threads_own = lay_out(points, tree, owner, self.data)
        return Rooms(make_beside(points, tree, self.detector), space, threads_own)

    def give(self, given: Given) -> None:
        """Set the inputs of the worlds."""
        self.memory = ByReference(Memory(given, self.state, self.kept, self.small, self.large))

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
        one = make_tape(model, samples, len(self.robot.soles.local), max(1, signals))
        feet = Tape(*(np.zeros((worlds, *array.shape), dtype=array.dtype) for array in one))
        chosen = self.nobody.copy()
        chosen[list(recorded)] = np.arange(len(recorded))
        return Tapes(feet, make_other_tapes(worlds, self.first_kept["who"].size, samples), chosen)

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
