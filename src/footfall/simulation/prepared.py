"""What is made once for all runs of a simulation, and for all simulations of a robot that differ in little.

Laying out the arrays of a run takes as long as some hundred steps. A study makes thousands of simulations of one robot
that differ in friction, the ground's shape or a law's options: they share everything that does not depend on these, and
the workspaces that no run is using.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from footfall.contact.base import CoupledLaw, Law
from footfall.contact.event_law import EventLaw
from footfall.contact.springs.light_bodies import warn_of_light_bodies
from footfall.contact.springs.stable_step import longest_stable_step
from footfall.engine import step
from footfall.engine.constraints.shared_rows import most_shared_rows
from footfall.engine.events import integration
from footfall.engine.other_bodies.points import Around, Points
from footfall.engine.stages import damping_servos
from footfall.engine.tape import sample_bytes
from footfall.engine.world import Guard, make_guard, make_points
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.simulation.compiled_laws import compiled_laws
from footfall.simulation.scene import RunModel
from footfall.simulation.setup import Setup
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
