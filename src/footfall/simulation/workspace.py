"""Workspaces: all arrays of the compiled loop, allocated by name.

:func:`prepared` makes the parts that all runs of a simulation share, :func:`take_workspace` the arrays of one run.
Allocating them takes as long as some hundred steps, so idle ones serve the next runs of the simulation. A workspace
belongs to one run at a time, so that runs in several threads are independent.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
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
from footfall.engine.constraints.shared_rows import (
    CONTACT_ROWS,
    REMEMBERED,
    make_made_rows,
    make_shared_rows,
    most_shared_rows,
)
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
        laws, longest = compiled_laws(sim), None
        if not (sim.law.native or sim.law.event_driven):
            longest = longest_stable_step(sim.law, sim.setting)
            warn_of_light_bodies(sim.law, sim.setting)
        sim.prepared = prepared_with(sim, laws, longest)
    return sim.prepared


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
    law, setting = sim.law, sim.setting
    bends, lag = int(not sim.ground.flat), 0.5 * sim.dt
    if law.native:
        return idle_laws()
    pointers, resolved = law_pointers(law), law.resolve(setting)
    values = np.array(resolved, dtype=float)
    if isinstance(law, PointLaw) and is_foreign(law.kernel):
        try_out(law.kernel, law.name, law.memory_size, resolved)
    if not isinstance(law, EventLaw):
        return step.Laws(*pointers, values, 0, bends, lag)
    between, rough = step.Laws(*pointers, values, 0), law.in_steps()
    in_steps = step.Laws(*law_pointers(rough), np.array(rough.resolve(setting), dtype=float), 0, bends, lag)
    return integration.EventLaws(between, law.impact_pointer(), in_steps)


def idle_laws() -> step.Laws:
    """A law without forces."""
    return step.Laws(*_idle_pointers(), np.zeros(1), 0)


@cache
def _idle_pointers() -> tuple[Any, Any]:
    coupled = function_pointer(coupled_signature(), step.idle_coupled)
    return function_pointer(point_signature(), step.idle_point), coupled


def law_pointers(law: Law) -> tuple[Any, Any]:
    """The law as a compiled point law and as a compiled coupled law, of which at least one is idle."""
    point, coupled = _idle_pointers()
    if isinstance(law, PointLaw):
        return law.pointer(), coupled
    return point, law.pointer() if isinstance(law, CoupledLaw) else coupled


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
        live = live_arrays(self._points, self._contacts, self.room)
        self._first = [(array, array.copy()) for array in live.values()]

    def _make_room(self, sim: Setup, size: int, conditions: step.Conditions, signals: int) -> Room:
        """Room for ``SIZES[size]`` points of bodies other than feet."""
        points, contacts = with_size(self._points, self._contacts, size)
        law, count, slots, flow = sim.law, len(points.local), len(points.body), None
        if isinstance(law, EventLaw):
            flow = make_flow(self.model, count, slots, sim.dt, law, sim.ground)
        asked, room = [law], Size(count, slots, contacts.response.shape[1])
        if isinstance(law, EventLaw):
            asked.append(law.in_steps())
        made = [one.scratch(room) if isinstance(one, CoupledLaw) else None for one in asked]
        of_laws = [None if one is None else ByReference(one) for one in made]
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
            for array in (*room.scratch.held, room.scratch.half, room.contacts.mobility):
                array[...] = 0
            feet = [*range(self._points.others.feet), -1]
            room.scratch.held.peak[feet] = known.held.peak[feet]
            if room.flow is not None and before.flow is not None:
                carry_over(before.flow, room.flow)
        room.points = room.points._replace(others=with_places(self._points.others, size))
        room.scratch = room.scratch._replace(signals=known.signals, back=known.back, clock=known.clock)
        room.conditions = run

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


def live_arrays(points: Points, contacts: Contacts, room: Room) -> dict[str, np.ndarray]:
    """All arrays that one step passes to the next, and a few more, by name."""
    constraints, conditions = room.conditions.constraints, room.conditions
    parts: dict[str, Any] = {
        "points": points,
        "contacts": contacts,
        "joints": constraints.joints,
        "held": room.scratch.held,
    }
    if room.flow is not None:
        parts["flow"] = room.flow
    found = {f"{part}.{name}": value for part, values in parts.items() for name, value in values._asdict().items()}
    found |= {f"others.{name}": getattr(points.others, name) for name in CHANGING}
    found |= {f"shared.{name}": getattr(constraints.shared, name) for name in REMEMBERED}
    # They decide whether an event-driven period is one macro step.
    found |= {f"clearance.{name}": getattr(conditions.clearance, name) for name in LEARNT}
    found["signals"] = room.scratch.signals
    return {name: one for name, one in found.items() if isinstance(one, np.ndarray) and one.flags.writeable}


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
