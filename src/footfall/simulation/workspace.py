"""Workspaces: all arrays of the compiled loop, allocated by name.

:func:`prepared` makes the parts that all runs of a simulation share, :func:`take_workspace` the arrays of one run.
Allocating them takes as long as some hundred steps, so idle ones serve the next runs of the simulation. A workspace
belongs to one run at a time, so that runs in several threads are independent.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

import mujoco
import numba
import numpy as np

from footfall.compiled import ByReference, function_pointer
from footfall.contact.base import CoupledLaw, Law, PointLaw, point_signature
from footfall.contact.event_law import EventLaw
from footfall.contact.springs.stable_step import longest_stable_step, warn_of_light_bodies
from footfall.contact.trial import is_foreign, try_out
from footfall.engine import step
from footfall.engine.clearance import LEARNT, make_clearance
from footfall.engine.constraints.shared_rows import CONTACT_ROWS, make_made_rows, make_shared_rows, most_shared_rows
from footfall.engine.events import integration
from footfall.engine.events.flow import Flow, carry_over, make_flow
from footfall.engine.other_bodies.points import (
    CHANGING,
    SIZES,
    Around,
    Points,
    make_other_tape,
    own_copy,
    with_places,
    with_tape,
)
from footfall.engine.stages import damping_servos
from footfall.engine.tape import Outcome, Tape, make_tape, sample_bytes
from footfall.engine.world import (
    Pushes,
    Scratch,
    make_constraints,
    make_contacts,
    make_points,
    make_scratch,
    make_world,
    makes_constraints,
    with_size,
)
from footfall.ground import Ground
from footfall.kinds import zeros
from footfall.robot import Robot
from footfall.simulation.controls import no_control
from footfall.simulation.setup import RunModel, Setup, pairs_are_the_laws
from footfall.simulation.task import no_pushes
from footfall.solve.contacts import Contacts, coupled_signature
from footfall.solve.problem import Size
from footfall.standing import reach

#: Largest change of the gap to uneven ground per distance travelled (m/m): that on a slope of 60 degrees.
STEEP = 2.0
#: Most cached entries: models with their points, and idle workspaces of a simulation.
MODELS, IDLE = 8, 16


def signal_count(setup: Setup) -> int:
    """Number of signals of a law per step: its own, and those of every foot."""
    return len(setup.law.signals) + len(setup.robot.feet) * len(setup.law.foot_signals)


class Prepared(NamedTuple):
    """The constant parts that all runs of a simulation share, and their idle workspaces."""

    points: Points  # in their initial state, to be copied
    plan: step.Plan  # without the numbers of steps, which each run sets
    ground: step.Surface
    laws: step.Laws | integration.EventLaws
    longest: float | None  # s, see :func:`longest_stable_step`; None also if the law has no stability limit
    law_signals: int
    sample_bytes: int  # size of a sample without signals
    shared_rows: int  # room for constraints of several dofs
    spare: deque[Any]  # each a :class:`footfall.simulation.workspace.Workspace`


def prepared(sim: Setup) -> Prepared:
    """The shared parts of the runs of a simulation; the first run makes them."""
    if sim.prepared is None:
        sim.prepared = _prepare(sim)
    return sim.prepared


def _prepare(sim: Setup) -> Prepared:
    law, longest = sim.law, None
    laws = compiled_laws(sim)
    if not (law.native or law.event_driven):
        longest = longest_stable_step(law, sim.setting)
        warn_of_light_bodies(law, sim.setting)
    return prepared_with(sim, laws, longest)


def prepared_with(sim: Setup, laws: step.Laws | integration.EventLaws, longest: float | None) -> Prepared:
    """The shared parts of the runs of a simulation if the loop uses these laws."""
    robot, law, ground, model = sim.robot, sim.law, sim.ground, sim.scene.model
    damped = (model.dof_damping > 0).any() or damping_servos(model).dof.size
    plan = step.Plan(
        dt=sim.dt,
        margin=law.near(sim.dt),
        coupled=int(law.coupled),
        operator=int(isinstance(law, CoupledLaw) and law.operator),
        native=int(law.native),
        folded=int(not law.native or sim.scene.native.soft.folded),
        constrained=int(makes_constraints(sim.scene.rows)),
        pairs=int(pairs_are_the_laws(sim)),
        rich=int(model.ntendon or model.nflex or (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any()),
        damped=int(damped and not law.event_driven),
        energy=math.inf,
        total=0,
        control=0,
        control_every=1,
        record_every=1,
    )
    soft = not (plan.pairs or sim.scene.widened.never)  # contacts between bodies
    return Prepared(
        points=_points(sim.scene, robot, law.memory_size, around(sim, [ground])),
        plan=plan,
        ground=step.Surface(*ground.compiled(reach(robot)), ground.compiled_friction),
        laws=laws,
        longest=longest,
        law_signals=signal_count(sim),
        sample_bytes=sample_bytes(model, robot.point_count),
        shared_rows=most_shared_rows(sim.scene.rows) + (CONTACT_ROWS if soft else 0),
        spare=deque(maxlen=IDLE),
    )


@lru_cache(maxsize=MODELS)
def _points(scene: RunModel, robot: Robot, memory_size: int, surroundings: Around) -> Points:
    return make_points(scene.model, robot, memory_size, surroundings)


def _scratch_of(law: Law, size: Size) -> list[Any]:
    """The scratch arrays of a law, or None; for an event-driven law also those of its time-stepping fallback."""
    asked = [law, law.in_steps()] if isinstance(law, EventLaw) else [law]
    return [one.scratch(size) if isinstance(one, CoupledLaw) else None for one in asked]


def around(sim: Setup, grounds: Sequence[Ground]) -> Around:
    """The surroundings, on these grounds, of points of bodies other than feet."""
    flat = all(ground.flat for ground in grounds)
    return Around(
        dt=sim.dt,
        flat=flat,
        lipschitz=1.0 if flat else STEEP,
        highest=max(ground.highest for ground in grounds),
        patient=sim.law.event_driven,
        wanted=sim.body_contacts,
        pairs=pairs_are_the_laws(sim),
    )


def compiled_laws(sim: Setup) -> step.Laws | integration.EventLaws:
    """The law in the form that the loop takes."""
    law, laws = sim.law, idle_laws()
    bends, lag = int(not sim.ground.flat), 0.5 * sim.dt
    if isinstance(law, PointLaw):
        laws = laws._replace(point=law.pointer())
    elif isinstance(law, CoupledLaw):
        laws = laws._replace(coupled=law.pointer())
    if law.native:
        return laws
    resolved = law.resolve(sim.setting)
    laws = laws._replace(values=np.array(resolved, dtype=float))
    if isinstance(law, PointLaw) and is_foreign(law.kernel):
        try_out(law.kernel, law.name, law.memory_size, resolved)
    if not isinstance(law, EventLaw):
        return laws._replace(bends=bends, lag=lag)
    rough = law.in_steps()
    in_steps = idle_laws()._replace(
        coupled=rough.pointer(), values=np.array(rough.resolve(sim.setting), dtype=float), bends=bends, lag=lag
    )
    return integration.EventLaws(laws, law.impact_pointer(), in_steps)


def idle_laws() -> step.Laws:
    """A law without forces."""
    return step.Laws(idle_point_law(), idle_coupled_law(), np.zeros(1), 0)


@cache
def idle_point_law() -> Any:
    """A point law for runs that have none."""
    return function_pointer(point_signature(), step.idle_point)


@cache
def idle_coupled_law() -> Any:
    """A coupled law for runs that have none."""
    return function_pointer(coupled_signature(), step.idle_coupled)


@dataclass(eq=False)
class Room:
    """The parts of the loop whose size depends on the capacity for points of bodies other than feet."""

    points: Points
    contacts: Contacts
    scratch: Scratch
    conditions: step.Conditions
    laws: step.Laws | integration.EventLaws
    flow: Flow | None
    of_laws: list[ByReference | None]  # scratch arrays of the laws; ``laws`` holds their addresses
    references: dict[str, ByReference] = field(default_factory=dict)

    def refer(self) -> tuple[ByReference, ...]:
        """References to the present points, contacts, scratch, conditions, laws and, if there is one, flow."""
        names = ("points", "contacts", "scratch", "conditions", "laws", "flow")
        known = self.current()
        parts = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        self.references = {name: known.get(name) or ByReference(named) for name, named in parts.items()}
        return tuple(self.references.values())

    def current(self) -> dict[str, ByReference]:
        """The references whose parts have not been replaced."""
        return {name: one for name, one in self.references.items() if one.named is getattr(self, name)}


class Workspace:
    """MuJoCo's data and all arrays of one run; it grows as points of bodies other than feet come near the ground."""

    def __init__(self, sim: Setup, shared: Prepared) -> None:
        model, ground = sim.scene.model, sim.ground
        self.model, self.data = model, mujoco.MjData(model)
        self.world = make_world(model, self.data)
        self.outcome = ByReference(zeros(Outcome, {}))
        self.warned: np.ndarray = self.data.warning.number  # (kinds,) how often MuJoCo warned, live
        self._points = own_copy(shared.points)
        self._contacts = make_contacts(
            self._points, ground.static_friction, ground.dynamic_friction, shared.shared_rows
        )
        self._laws = shared.laws
        self._world = ByReference(self.world)
        conditions = step.Conditions(
            plan=shared.plan,
            clearance=make_clearance(sim.scene.widened),
            constraints=make_constraints(
                make_made_rows(sim.scene.rows, self.data),
                sim.scene.joints,
                make_shared_rows(model, shared.shared_rows),
            ),
            native=sim.scene.native.copy(),
            pushes=no_pushes(),
            ground=shared.ground,
            control=no_control().control,
        )
        self.size = 0
        self.room = self._make_room(sim, 0, conditions, shared.law_signals)
        self._rooms = {0: self.room}
        self._first = [(array, array.copy()) for array in self._changing()]

    def _make_room(self, sim: Setup, size: int, conditions: step.Conditions, signals: int) -> Room:
        """Room for ``SIZES[size]`` points of bodies other than feet."""
        points, contacts = with_size(self._points, self._contacts, size)
        law, count, slots, flow = sim.law, len(points.local), len(points.body), None
        if isinstance(law, EventLaw):
            flow = make_flow(
                self.model,
                count,
                slots,
                sim.dt,
                tolerance=law.tolerance,
                ground=sim.ground,
                margin=law.in_steps().near(sim.dt),
            )
        room = Size(count, slots, contacts.response.shape[1])
        of_laws = [None if one is None else ByReference(one) for one in _scratch_of(law, room)]
        scratch, laws = make_scratch(self.model, points, contacts, signals), _computing_in(self._laws, of_laws)
        return Room(points, contacts, scratch, conditions, laws, flow, of_laws)

    def reset(self) -> None:
        """Reset to the initial state, for another run of the simulation."""
        mujoco.mj_resetData(self.model, self.data)
        for array, first in self._first:
            array[...] = first
        for one in self.outcome.named:
            one[0] = 0

    def sizes(self) -> list[int]:
        """The capacity of each size for points of bodies other than feet."""
        return [min(places, len(self._points.others.who)) for places, _ in SIZES]

    def for_run(self, plan: step.Plan, pushes: Pushes, control: step.Control, signals: int) -> None:
        """Take plan, pushes and controller of a run that records this many signals."""
        room, known = self.room, self.room.conditions
        if plan != known.plan or pushes is not known.pushes or control is not known.control:
            room.conditions = known._replace(plan=plan, pushes=pushes, control=control)
        if signals != len(room.scratch.signals):
            room.scratch = room.scratch._replace(signals=np.zeros(signals))
        room.scratch.signals[:] = 0.0

    def resize(self, sim: Setup, size: int, samples: int) -> None:
        """Make room, in the loop and in the record, for ``SIZES[size]`` points of bodies other than feet.

        Values that a step passes to the next are copied; the rest is reset, except scratch arrays of laws.
        """
        before = self.room
        self._points = self._points._replace(others=with_tape(self._points.others, size, samples))
        self._points.others.who[self.sizes()[size] :] = -1  # places beyond the new size are empty
        if size not in self._rooms:
            self._rooms[size] = self._make_room(sim, size, before.conditions, 0)
        self.size, self.room = size, self._rooms[size]
        room, known, run = self.room, before.scratch, before.conditions
        if room is not before:
            for array in _arrays((room.scratch.held, room.scratch.half, room.contacts.mobility)):
                array[...] = 0
            feet = [*range(self._points.others.feet), -1]
            room.scratch.held.peak[feet] = known.held.peak[feet]
            if room.flow is not None and before.flow is not None:
                carry_over(before.flow, room.flow)
        room.points = room.points._replace(others=with_places(self._points.others, size))
        room.scratch = room.scratch._replace(signals=known.signals, back=known.back, clock=known.clock)
        room.conditions = run

    def _changing(self) -> Iterator[np.ndarray]:
        """All arrays that one step passes to the next, and the small scratch arrays.

        For constraints over several dofs the number suffices: each step writes the rows before it reads them.
        """
        room, others = self.room, self._points.others
        constraints, clearance = room.conditions.constraints, room.conditions.clearance
        of_points = tuple(value for name, value in self._points._asdict().items() if name != "others")
        of_others = tuple(getattr(others, name) for name in CHANGING)
        of_contacts = tuple(value for name, value in self._contacts._asdict().items() if "friction" not in name)
        operators = (room.points.shared, room.contacts.mobility)
        of_laws = tuple(one.named for one in room.of_laws if one is not None)
        few = constraints._replace(shared=constraints.shared.number, made=())
        looked = tuple(getattr(clearance, name) for name in LEARNT)
        rest = (room.scratch, of_laws, few, looked, room.conditions.native, room.flow or ())
        return _arrays((of_points, of_others, of_contacts, operators, rest))

    def release(self) -> None:
        """Drop the record and the controller of a run, and return to the smallest size."""
        idle = no_control().control
        if self._points.others.tape.who.size:
            nothing = make_other_tape(0, 0)
            self._points = self._points._replace(others=self._points.others._replace(tape=nothing))
            for room in self._rooms.values():
                room.points = room.points._replace(others=room.points.others._replace(tape=nothing))
        for room in self._rooms.values():
            if room.conditions.control is not idle:
                room.conditions = room.conditions._replace(control=idle)
            room.references = room.current()
        self.size, self.room = 0, self._rooms[0]

    def laid_out(self, tape: Tape) -> tuple[ByReference, ...]:
        """The arguments of the loop except the steps, for recording to ``tape``."""
        points, contacts, scratch, conditions, laws, *flow = self.room.refer()
        parts = step.Loop(self._world, points, contacts, scratch, conditions, laws, ByReference(tape), self.outcome)
        return ByReference(parts), *flow


def _computing_in(laws: step.Laws | integration.EventLaws, of_laws: list[ByReference | None]) -> Any:
    """Laws with the addresses of their scratch arrays."""
    own, *in_steps = [0 if one is None else one.address for one in of_laws]
    if isinstance(laws, step.Laws):
        return laws._replace(scratch=own)
    return laws._replace(
        between=laws.between._replace(scratch=own), in_steps=laws.in_steps._replace(scratch=in_steps[0])
    )


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The writable arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _arrays(one)


def take_workspace(sim: Setup, shared: Prepared) -> Workspace:
    """A workspace in its initial state for one run, to be returned to ``shared.spare`` once its arrays are unused."""
    try:
        found = shared.spare.pop()
    except IndexError:
        return Workspace(sim, shared)
    found.reset()
    return found


def loop_of(law: Law) -> Any:
    """The module whose ``advance`` is the loop of a law: event-driven, or in time steps."""
    return integration if law.event_driven else step


def idle_workspace(sim: Setup) -> Workspace:
    """A workspace with an idle law, whose types are the same as for any law and known before a law is compiled."""
    idle = idle_laws()
    laws = integration.EventLaws(idle, idle.coupled, idle) if sim.law.event_driven else idle
    return Workspace(sim, prepared_with(sim, laws, None))


def loop_types(sim: Setup) -> list[Any]:
    """The types of the loop's arguments except the steps."""
    space = idle_workspace(sim)
    tape = make_tape(space.model, 1, sim.robot.point_count, 0)
    return [numba.typeof(part) for part in space.laid_out(tape)]
