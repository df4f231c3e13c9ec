"""What is made once for all runs of a simulation, and for all simulations of a robot that differ in little.

Laying out the arrays of a run takes as long as some hundred steps. A study makes thousands of simulations of one robot
that differ in friction, the ground's shape or a law's options: they share everything that does not depend on these, and
the workspaces that no run is using.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mujoco
import numba
import numpy as np

from footfall.compiled import ByReference, function_pointer
from footfall.contact.base import CoupledLaw, Law, PointLaw, point_signature
from footfall.contact.event_law import EventLaw
from footfall.contact.springs.light_bodies import warn_of_light_bodies
from footfall.contact.springs.stable_step import longest_stable_step
from footfall.contact.trial import is_foreign, try_out
from footfall.engine import step
from footfall.engine.clearance import make_clearance
from footfall.engine.constraints.shared_rows import make_made_rows, make_shared_rows, most_shared_rows
from footfall.engine.events import integration
from footfall.engine.events.flow import Flow, carry_over, make_flow
from footfall.engine.other_bodies.points import (
    CHANGING,
    SIZES,
    Around,
    Others,
    Points,
    own_copy,
    with_places,
    with_tape,
)
from footfall.engine.stages import damping_servos
from footfall.engine.tape import OUTCOME_SIZE, Tape, make_tape, sample_bytes
from footfall.engine.world import (
    Guard,
    Pushes,
    Scratch,
    make_constraints,
    make_contacts,
    make_guard,
    make_points,
    make_scratch,
    make_world,
    with_size,
    with_slots,
)
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.simulation.controls import no_control
from footfall.simulation.setup import RunModel, Setup
from footfall.simulation.state import FirstValues
from footfall.simulation.task import no_pushes
from footfall.solve.contacts import coupled_signature
from footfall.solve.effort import FLAT, OF_A_FUNCTION, UNEVEN
from footfall.standing import reach

#: How fast the gap to uneven ground may change per metre travelled: as on a slope of 60 degrees.
STEEP = 2.0
#: Most entries kept: models with their points, kinds of simulation with workspaces, workspaces of each kind.
MODELS, KINDS, IDLE = 8, 8, 16


class Prepared(NamedTuple):
    """What all runs of a simulation share and never change, and the workspaces that no run is using."""

    points: Points  # as at the beginning, to be copied
    guard: Guard
    plan: step.Plan  # its numbers of steps are those of no run
    ground: step.Surface
    laws: step.Laws | integration.EventLaws
    longest: float | None  # s, see :func:`longest_stable_step`; None also where the law does not mind
    law_signals: int
    sample_bytes: int  # that a sample without signals takes
    shared_rows: int  # room for constraints of several dofs
    spare: deque[Any]  # each a :class:`footfall.simulation.workspace.Workspace`


_prepared: WeakKeyDictionary[Setup, Prepared] = WeakKeyDictionary()
_lock = threading.Lock()


def prepared(sim: Setup) -> Prepared:
    """What the runs of a simulation share; made by the first."""
    with _lock:
        found = _prepared.get(sim)
    if found is None:
        made = _prepare(sim)
        with _lock:
            found = _prepared.setdefault(sim, made)
    return found


def _prepare(sim: Setup) -> Prepared:
    law, longest = sim.law, None
    laws = compiled_laws(sim)
    if not (law.native or law.event_driven) and sim.integrator == "euler":
        longest = longest_stable_step(law, sim.setting)
        warn_of_light_bodies(law, sim.setting)
    return prepared_with(sim, laws, longest)


def prepared_with(sim: Setup, laws: step.Laws | integration.EventLaws, longest: float | None) -> Prepared:
    """What the runs of a simulation share if the loop uses these laws."""
    robot, law, ground, model = sim.robot, sim.law, sim.ground, sim.scene.model
    euler = sim.integrator == "euler" and not law.event_driven
    of_model = _of_model(sim.scene)
    plan = step.Plan(
        dt=sim.dt,
        margin=law.near(sim.dt),
        loops=of_model.loops,
        price=_price(ground),
        standing_steps=law.standing_steps() if isinstance(law, CoupledLaw) else math.inf,
        coupled=int(law.coupled),
        operator=int(isinstance(law, CoupledLaw) and law.operator),
        native=int(law.native),
        folded=int(not law.native or sim.scene.native.soft.folded),
        rich=int(of_model.rich),
        damped=int(euler and of_model.damped),
        stages=1 if euler else 4,
        total=0,
        control=0,
        control_every=1,
        record_every=1,
    )
    kind = (law.memory_size, around(sim, [ground]))
    room = _room(law, robot.point_count, len(robot.feet))
    return Prepared(
        points=_points(sim.scene, robot, *kind),
        guard=of_model.guard,
        plan=plan,
        ground=step.Surface(*ground.compiled(reach(robot)), ground.compiled_friction),
        laws=laws,
        longest=longest,
        law_signals=len(law.signals) + len(robot.feet) * len(law.foot_signals),
        sample_bytes=sample_bytes(model, robot.point_count),
        shared_rows=of_model.shared_rows,
        spare=_spare(sim.scene, (*kind, type(law), room)),
    )


class _OfModel(NamedTuple):
    """What follows from a model alone."""

    rich: bool  # tendons, flexes: MuJoCo does all of its velocity stage
    damped: bool  # whether joints or servos damp
    shared_rows: int
    loops: float  # constraint rows that close loops
    guard: Guard


@lru_cache(maxsize=MODELS)
def _of_model(scene: RunModel) -> _OfModel:
    model, equal = scene.model, list(scene.model.eq_type)
    return _OfModel(
        rich=bool(model.ntendon or model.nflex or (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any()),
        damped=bool((model.dof_damping > 0).any() or damping_servos(model).dof.size),
        shared_rows=most_shared_rows(scene.rows, contacts=not scene.widened.never),
        loops=3.0 * equal.count(int(mujoco.mjtEq.mjEQ_CONNECT)) + 6.0 * equal.count(int(mujoco.mjtEq.mjEQ_WELD)),
        guard=make_guard(scene.rows),
    )


def _price(ground: Ground) -> float:
    """What a look at a ground costs."""
    return FLAT if ground.flat else OF_A_FUNCTION if ground.height_function is not None else UNEVEN


@lru_cache(maxsize=MODELS)
def _points(scene: RunModel, robot: Robot, memory_size: int, surroundings: Around) -> Points:
    return make_points(scene.model, robot, memory_size, surroundings)


@lru_cache(maxsize=KINDS)
def _spare(scene: RunModel, kind: Any) -> deque[Any]:
    """Where runs of such simulations return their workspaces; kept while one of them lives or it was recently used."""
    return deque(maxlen=IDLE)


def _room(law: Law, points: int, bodies: int) -> Any:
    """Those of a law's options on which the arrays of a workspace depend."""
    asked = with_time_stepping_law(law)
    made = [_sizes(one.scratch(points, bodies)) if isinstance(one, CoupledLaw) else None for one in asked]
    return (*made, law.tolerance, asked[1].margin) if isinstance(law, EventLaw) else tuple(made)


def with_time_stepping_law(law: Law) -> list[Law]:
    """A law, and the time-stepping law that an event-driven one falls back on."""
    return [law, law.in_steps()] if isinstance(law, EventLaw) else [law]


def _sizes(value: Any) -> Any:
    """Sizes and types of the arrays in a tuple of tuples, and its numbers."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str
    return tuple(map(_sizes, value)) if isinstance(value, tuple) else value


def around(sim: Setup, grounds: Sequence[Ground]) -> Around:
    """What points of bodies other than feet need to know about runs on these grounds."""
    flat = all(ground.flat for ground in grounds)
    return Around(
        dt=sim.dt,
        flat=flat,
        lipschitz=1.0 if flat else STEEP,
        highest=max(ground.highest for ground in grounds),
        patient=sim.law.event_driven,
        wanted=sim.body_contacts,
    )


def compiled_laws(sim: Setup) -> step.Laws | integration.EventLaws:
    """What the loop takes of the law."""
    law, laws = sim.law, idle_laws()
    bends, lag = int(not sim.ground.flat), 0.5 * sim.dt
    if isinstance(law, PointLaw):
        laws = laws._replace(point=law.pointer())
    elif isinstance(law, CoupledLaw):
        laws = laws._replace(coupled=law.pointer())
    if law.native:
        return laws
    resolved = law.resolve(sim.setting)
    laws = laws._replace(values=_numbers(resolved))
    if isinstance(law, PointLaw) and is_foreign(law.kernel):
        try_out(law.kernel, law.name, law.memory_size, resolved)
    if not isinstance(law, EventLaw):
        return laws._replace(bends=bends, lag=lag if sim.integrator == "euler" else 0.0)
    rough = law.in_steps()
    in_steps = idle_laws()._replace(
        coupled=rough.pointer(), values=_numbers(rough.resolve(sim.setting)), bends=bends, lag=lag
    )
    return integration.EventLaws(laws, law.impact_pointer(), in_steps)


def _numbers(resolved: Any) -> np.ndarray:
    return np.array([float(value) for value in resolved])


def idle_laws() -> step.Laws:
    """A law without forces."""
    return step.Laws(idle_point_law(), idle_coupled_law(), np.zeros(1), 0)


@cache
def idle_point_law() -> Any:
    """A point law for runs that have none."""

    def idle(depth, depth_rate, slip, slip_velocity, memory, static, dynamic, values):
        return 0.0, 0.0, 0.0, 0

    return function_pointer(point_signature(), idle)


@cache
def idle_coupled_law() -> Any:
    """A coupled law for runs that have none."""

    def idle(contacts, dt, memory, force, mode, scratch, signals, values):
        return 0

    return function_pointer(coupled_signature(), idle)


#: Samples up to which copying a record takes less time than allocating new arrays for it.
FEW_SAMPLES = 64
#: The parts that a workspace lays out again when it first makes room for more points.
LAID_OUT = ("size", "_all_points", "points", "contacts", "scratch", "of_law", "conditions", "flow", "parts")


class Workspace:
    """MuJoCo's data and all arrays of one run; it grows as points of bodies other than feet come near the ground."""

    def __init__(self, sim: Setup, shared: Prepared) -> None:
        model, ground, feet = sim.scene.model, sim.ground, len(sim.robot.feet)
        self.model, self.data = model, mujoco.MjData(model)
        self.world = make_world(model, self.data)
        self._all_points = own_copy(shared.points)
        self._all_contacts = make_contacts(self._all_points, ground.static_friction, ground.dynamic_friction)
        self._laws = shared.laws
        self.conditions = step.Conditions(
            plan=shared.plan,
            guard=shared.guard,
            clearance=make_clearance(sim.scene.widened, self.data),
            constraints=make_constraints(
                make_made_rows(sim.scene.rows, self.data),
                sim.scene.joints,
                make_shared_rows(model, feet, shared.shared_rows),
            ),
            native=sim.scene.native.copy(),
            pushes=no_pushes(),
            ground=shared.ground,
            control=no_control().control,
        )
        self.flow: Flow | None = None
        self._lay_out(sim, 0, None, shared.law_signals)
        self._first_layout = self._layout()
        self._layouts = {0: self._first_layout}
        self._first_values = FirstValues(self._remembered())
        self._first_values.put_back()  # so that it is compiled at the first start, and not for the second run
        self.warned: np.ndarray = self.data.warning.number  # (kinds,) how often MuJoCo warned, live
        self.outcome = np.zeros(OUTCOME_SIZE, dtype=np.int64)
        self._few = make_tape(model, 0, sim.robot.point_count, 0)
        self._tape = ByReference(self._few)
        self._laid_out: tuple[Any, ...] = ()

    def _lay_out(self, sim: Setup, size: int, before: Scratch | None, signals: int) -> None:
        """Lay out everything that depends on the number of points and bodies there is room for; ``before`` is the old
        layout.
        """
        self.size = size
        self.points, self.contacts = with_size(self._all_points, self._all_contacts, size)
        law, count, slots = sim.law, len(self.points.local), len(self.points.body)
        known = self.flow
        scratch = make_scratch(self.model, self.points, signals)
        if before is not None:
            feet = [*range(self.points.others.feet), -1]
            scratch.held.peak[feet] = before.held.peak[feet]
            scratch = scratch._replace(signals=before.signals, back=before.back, clock=before.clock)
            constraints = with_slots(self.conditions.constraints, slots)
            self.conditions = self.conditions._replace(constraints=constraints)
        self.scratch: Scratch = scratch
        if isinstance(law, EventLaw):
            ground, margin, precise = sim.ground, law.in_steps().near(sim.dt), law.tolerance
            self.flow = make_flow(self.model, count, slots, sim.dt, tolerance=precise, ground=ground, margin=margin)
            if known is not None:
                carry_over(known, self.flow)
        of_points = tuple(map(ByReference, (self.points, self.contacts, self.scratch)))
        laws = ByReference(self._with_scratch(law, count, slots))
        if before is None:
            world, conditions = ByReference(self.world), ByReference(self.conditions)
        else:
            world, conditions = self.parts[0], self.parts[4].replace(constraints=self.conditions.constraints)
        flow = None if self.flow is None else ByReference(self.flow)
        self.parts: tuple[Any, ...] = (world, *of_points, conditions, laws, flow)

    def _with_scratch(self, law: Law, points: int, bodies: int) -> step.Laws | integration.EventLaws:
        """The law with its scratch arrays, which this workspace keeps."""
        made = [
            one.scratch(points, bodies) if isinstance(one, CoupledLaw) else None for one in with_time_stepping_law(law)
        ]
        self.of_law = [None if one is None else ByReference(one) for one in made]
        return self._computing_in_scratch()

    def _computing_in_scratch(self) -> step.Laws | integration.EventLaws:
        own, *in_steps = [0 if one is None else one.address for one in self.of_law]
        laws = self._laws
        if isinstance(laws, step.Laws):
            return laws._replace(scratch=own)
        return laws._replace(
            between=laws.between._replace(scratch=own), in_steps=laws.in_steps._replace(scratch=in_steps[0])
        )

    def serve(self, sim: Setup, shared: Prepared) -> None:
        """Serve a simulation from whose ``shared.spare`` it was taken, in its first state."""
        if self._laws is not shared.laws:  # another simulation
            self._laws = shared.laws
            self.conditions = self.conditions._replace(ground=shared.ground)
            self._set_part(4, self.parts[4].replace(ground=shared.ground))
            self._set_part(5, ByReference(self._computing_in_scratch()))
            self._first_layout |= {"conditions": self.conditions, "parts": self.parts}
            self._layouts = {0: self._first_layout}  # larger ones have another ground and law
        mujoco.mj_resetData(self.model, self.data)
        self._first_values.put_back()
        self._all_contacts.static_friction[:] = sim.ground.static_friction
        self._all_contacts.dynamic_friction[:] = sim.ground.dynamic_friction
        self.outcome[:] = 0

    def sizes(self) -> list[int]:
        """Each size's number of places for points of bodies other than feet."""
        return [min(places, len(self._all_points.others.who)) for places, _ in SIZES]

    @property
    def roomiest(self) -> int:
        """The largest size that any run of the same simulation needed."""
        return max(self._layouts)

    def resize(self, sim: Setup, size: int, samples: int) -> None:
        """Make room, in the loop and in the record, for ``SIZES[size]`` points of bodies other than feet."""
        self._all_points = self._all_points._replace(others=with_tape(self._all_points.others, size, samples))
        self._all_points.others.who[self.sizes()[size] :] = -1  # a smaller size is for points of feet alone
        if size in self._layouts:
            self._return_to_layout(size)
        else:
            self._lay_out(sim, size, self.scratch, 0)
            self._layouts[size] = self._layout()

    def _layout(self) -> dict[str, Any]:
        """What is laid out now."""
        return {name: getattr(self, name) for name in LAID_OUT}

    def _set(self, layout: dict[str, Any]) -> None:
        for name, value in layout.items():
            setattr(self, name, value)

    def _return_to_layout(self, size: int) -> None:
        """Return to an earlier layout of this size: a fraction of the work of a new one.

        What a step leaves to the next is carried over; the rest is reset, except the laws' scratch arrays.
        """
        before, known, run, all_points = self.scratch, self.flow, self.conditions, self._all_points
        self._set(self._layouts[size])
        self._all_points = all_points
        self._set_others(with_places(all_points.others, size))
        if self.scratch.held is not before.held:  # another size than now
            for array in _arrays((self.scratch.held, self.scratch.half, self.contacts.mobility)):
                array[...] = 0
            feet = [*range(all_points.others.feet), -1]
            self.scratch.held.peak[feet] = before.held.peak[feet]
        own: dict[str, Any] = {"signals": before.signals, "back": before.back, "clock": before.clock}
        self.scratch = self.scratch._replace(**own)
        self._set_part(3, self.parts[3].replace(**own))
        self._set_conditions(run)
        if self.flow is not None and known is not None and known is not self.flow:
            carry_over(known, self.flow)

    def _set_others(self, others: Others) -> None:
        self.points = self.points._replace(others=others)
        self._set_part(1, self.parts[1].replace(others=others))

    def _set_conditions(self, of: step.Conditions) -> None:
        """Take plan, pushes and controller from other conditions."""
        own: dict[str, Any] = {"plan": of.plan, "pushes": of.pushes, "control": of.control}
        self.conditions = self.conditions._replace(**own)
        self._set_part(4, self.parts[4].replace(**own))

    def _remembered(self) -> Iterator[np.ndarray]:
        """All arrays that one step leaves to the next, and the small scratch arrays.

        Of constraints over several dofs only their number: each step writes the rows before it reads them.
        """
        constraints, clearance = self.conditions.constraints, self.conditions.clearance
        looked = (clearance.place, clearance.room, clearance.looks)
        few = constraints._replace(shared=constraints.shared.number, made=())
        places = tuple(getattr(self._all_points.others, name) for name in CHANGING)
        points = tuple(value for name, value in self._all_points._asdict().items() if name != "others")
        operators = (self.points.shared, self.contacts.mobility)
        of_law = tuple(one.named for one in self.of_law if one is not None)
        rest = (self.scratch, of_law, few, looked, self.conditions.native, self.flow or ())
        contacts = tuple(value for name, value in self._all_contacts._asdict().items() if "friction" not in name)
        return _arrays((points, places, contacts, operators, rest))

    def release(self) -> None:
        """Forget what a run brought, such as its controller, and return to the first size."""
        bare = self._first_layout["_all_points"].others.tape
        for size, layout in self._layouts.items():
            if layout["_all_points"].others.tape is not bare:  # this run was the first to need so much
                self._set(layout)
                self._all_points = self._first_layout["_all_points"]
                self._set_others(self.points.others._replace(tape=bare))
                self._set_conditions(self._first_layout["conditions"])
                self._layouts[size] = self._layout()
        self._set(self._first_layout)
        if self._laid_out and self._laid_out[0].named[: len(self.parts) - 1] != self.parts[:-1]:
            self._laid_out = ()
        if self._tape.named is not self._few:
            self._tape, self._laid_out = ByReference(self._few), ()

    def for_run(self, plan: step.Plan, pushes: Pushes, control: step.Control, signals: int) -> None:
        """Lay out the parts of the loop for a run with this plan and number of signals.

        Plan and pushes stay for the next run, which is often of the same kind. A controller is not kept.
        """
        known = self.conditions
        if plan != known.plan or pushes is not known.pushes:
            self.conditions = known._replace(plan=plan, pushes=pushes)
            self._set_part(4, self.parts[4].replace(plan=plan, pushes=pushes))
            self._first_layout |= {"conditions": self.conditions, "parts": self.parts}
        if control is not known.control:
            self.conditions = self.conditions._replace(control=control)
            self._set_part(4, self.parts[4].replace(control=control))
        if signals != len(self.scratch.signals):
            self.scratch = self.scratch._replace(signals=np.zeros(signals))
            self._set_part(3, self.parts[3].replace(signals=self.scratch.signals))

    def _set_part(self, number: int, part: ByReference) -> None:
        self.parts = (*self.parts[:number], part, *self.parts[number + 1 :])

    def make_tape(self, samples: int, points: int, signals: int) -> Tape:
        """Arrays for this many samples; :meth:`keeps` says who owns them."""
        if samples > FEW_SAMPLES:
            return make_tape(self.model, samples, points, signals)
        if self._few.signals.shape != (FEW_SAMPLES, signals):
            self._few = make_tape(self.model, FEW_SAMPLES, points, signals)
        return self._few

    def keeps(self, tape: Tape) -> bool:
        """Whether the next run will record into the same arrays."""
        return tape is self._few

    def laid_out(self, tape: Tape) -> tuple[Any, ...]:
        """The arguments of the loop other than the steps, recording into these arrays."""
        if self._tape.named is not tape:
            self._tape, self._laid_out = ByReference(tape), ()
        parts, flow = self.parts[:-1], self.parts[-1]
        if not self._laid_out or self._laid_out[0].named[: len(parts)] != parts:
            loop = ByReference(step.Loop._make((*parts, self._tape, self.outcome)))
            self._laid_out = (loop,) if flow is None else (loop, flow)
        return self._laid_out


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a tuple of tuples that may change."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _arrays(one)


def take_workspace(sim: Setup, shared: Prepared) -> Workspace:
    """A workspace in its first state, for one run; return it to ``shared.spare`` when nothing refers to its arrays."""
    try:
        found = shared.spare.pop()
    except IndexError:
        return Workspace(sim, shared)
    found.serve(sim, shared)
    return found


def loop_types(sim: Setup) -> list[Any]:
    """The types of the parts of a loop: they are known before the law is compiled."""
    idle = idle_laws()
    laws = integration.EventLaws(idle, idle.coupled, idle) if sim.law.event_driven else idle
    return [numba.typeof(part) for part in Workspace(sim, prepared_with(sim, laws, None)).parts if part is not None]
