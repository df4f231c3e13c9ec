"""The derivative of the step of one world among many, by the kernels of :mod:`footfall.engine.derivatives`.

A copy of the world takes the step. Its lane then has the accelerations, forces and contact frames of the step in its
scratch space, and the world itself the state at the beginning.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from footfall.compiled import inlined
from footfall.engine.derivatives.cone import hold_contacts, miss_values, press_by_parameters
from footfall.engine.derivatives.contact_motions import place_on_body, turn_with_ground
from footfall.engine.derivatives.point_laws import add_point_forces, by_slope, keep_force
from footfall.engine.derivatives.sole import add_missed_parameters
from footfall.engine.derivatives.space import BESIDE, BETWEEN, BOUNCES, EXACT, FAILED, OF_POINTS, ROLLS, UNSOLVED, Taken
from footfall.engine.derivatives.space import Space as Slopes
from footfall.engine.derivatives.transition import answer_contacts, clear_forces, differentiate, write_forces
from footfall.engine.dynamics.inertia import joint_inertia
from footfall.engine.dynamics.joint_forces import actuator_forces, damp_servos
from footfall.engine.dynamics.kinematics import body_inertias
from footfall.engine.dynamics.tree import Bodies
from footfall.engine.other_bodies.pairs import ground_slots
from footfall.engine.step import DONE, Laws
from footfall.engine.world import Pushes
from footfall.engine.worlds.arrays import Given, Space, WorldState
from footfall.engine.worlds.one_world import OneWorld, bodies_of
from footfall.kinds import Function, Int, Matrix, Vector
from footfall.solve.gather import gather


class Before(NamedTuple):
    """The state of a world at the beginning of a step."""

    qpos: Any
    qvel: Any
    ctrl: Any
    memory: Any
    anchor: Any
    mode: Any
    step: Any


class Shared(NamedTuple):
    """What the derivatives of all worlds share, constant. See :class:`footfall.engine.derivatives.space.Taken`."""

    dt: float  # s
    kind: int
    carried: int
    by: Any  # Parameters
    soft: Any  # (2,)
    dof_parentid: Any
    last_dof: Any
    ball: Any
    group: Any
    held: int  # points whose motion the law may prescribe, those of feet; all under a law of points
    bounces: int  # 1 if points rebound


class Own(NamedTuple):
    """What a lane computes in."""

    slopes: Slopes
    actuator_force: Annotated[Vector, "nu"]  # N or N m
    qfrc_actuator: Annotated[Vector, "nv"]


#: Inputs of the kernels of derivatives.
taken_of = gather(
    Taken,
    {"tree": None, "shared": Shared, "bodies": None, "before": Before, "own": Own, "pushes": None},
    M="bodies.qLD",
    body_rootid="tree.body_tree",
    **{name: f"bodies.{name}" for name in Taken._fields if name in Bodies._fields and name not in Before._fields},
)
#: The same scratch with the derivative itself elsewhere.
with_answer = gather(Slopes, {"slopes": Slopes, "out": None})


@inlined
def reason_against(one: OneWorld, state: WorldState, shared: Shared) -> Int:
    """Why the step that ``state`` is the end of has no exact derivative."""
    points, contacts = one.points, one.contacts
    if state.end[0] != DONE:
        return FAILED
    if contacts.number[0] > contacts.near[ground_slots(points)]:
        return BETWEEN
    if state.status[0] != 0:
        return UNSOLVED
    for k in range(ground_slots(points)):
        pressing = 0
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            if p >= shared.held:
                return BESIDE
            if points.force[p, 2] > 0.0:
                pressing += 1
                if points.smooth[p] == 1:
                    return ROLLS
        if shared.bounces == 1 and pressing > 1:
            return BOUNCES
    return EXACT


@inlined
def differentiate_world(
    one: OneWorld, given: Given, before: Before, space: Space, shared: Shared, own: Own, out: Matrix, law: Function
) -> None:
    """Write the derivative of a step that the copy ``one`` of a world has taken to ``out`` (R, C)."""
    tree, bodies = one.tree, bodies_of(given, before, space)
    joint_inertia(tree, bodies, shared.dt)
    damp_servos(tree, bodies, shared.dt)
    body_inertias(tree, bodies)  # those of subtrees were in their place
    actuator_forces(tree, bodies, own.actuator_force, own.qfrc_actuator)
    pushes = Pushes(given.push_body, given.push_time[:, 0], given.push_time[:, 1], given.push_wrench)
    taken, laws = taken_of(tree, shared, bodies, before, own, pushes), Laws(law, law, given.values, 0, 0, 0.0)
    differentiate(taken, with_answer(own.slopes, out), one.points, one.contacts, one.joints, laws)


@inlined
def deny(out: Matrix) -> None:
    """Write NaN where there is no derivative."""
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[r, c] = math.nan


def stand_ins(kind: int) -> dict[Any, Any]:
    """What is left out on a GPU under a law of this kind: parameters, the forces of points, and the other kinds."""
    left = {
        clear_forces: lambda slopes, contacts: None,
        keep_force: lambda slopes, p, column: None,
        write_forces: lambda taken, slopes, points, contacts: None,
        turn_with_ground: lambda taken, slopes, points, k: None,
        place_on_body: lambda taken, slopes, points, k: None,
    }
    if kind == OF_POINTS:
        return left | {
            by_slope: lambda taken, slopes, points, contacts, k, p: None,
            hold_contacts: lambda taken, slopes, points, contacts, values: None,
            answer_contacts: lambda taken, slopes, points, contacts: None,
        }
    return left | {
        add_point_forces: lambda taken, slopes, points, contacts, law, values: None,
        miss_values: lambda taken, slopes, points, contacts, k, p, values: None,
        press_by_parameters: lambda taken, slopes, points, contacts, k, p, values: None,
        add_missed_parameters: lambda taken, slopes, points, k, p, u, held: None,
    }
