"""The state of the event-driven integration, besides the world."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.contact.event_law import EventLaw
from footfall.engine.events.dormand_prince import ERROR, STAGES, WEIGHTS, WITHIN
from footfall.engine.events.evaluation import FEWEST
from footfall.engine.events.joint_events import ForceLimits, force_limits
from footfall.engine.events.macro_step import INTEGRAL, ORDER, extension_weights, predictor_weights
from footfall.engine.other_bodies.points import FAR
from footfall.engine.stages import damping_servos
from footfall.ground import Ground
from footfall.kinds import IntMatrix, Ints, Matrix, Tensor, Vector, zeros
from footfall.record import RunWarning
from footfall.solve.minimum_norm import LeastScratch, least_scratch

#: Warnings that are kept of a run.
MOST_WARNINGS = 16


class Flow(NamedTuple):
    """The state of the integration: P points, n numbers in positions, velocities and activations together."""

    scalar: Annotated[Ints, "nv"]  # address in qpos, -1 for the dofs of rotations
    turn: Annotated[IntMatrix, "Q", 2]  # addresses in qpos and qvel of quaternions
    added: Annotated[Vector, "nv"]  # inertia that slows damped joints down, see slow_down, or none
    motors: ForceLimits
    # The period.
    opening: Annotated[Vector, "n"]  # state at its beginning
    impulse: Annotated[Matrix, "P", 3]  # N s, world frame
    loaded: Annotated[Ints, "P"]  # mode in which the point last had a force, OPEN if it had none
    struck: Annotated[Vector, 1]  # N s, normal impulses of impacts
    evaluations: Annotated[Ints, 1]
    events: Annotated[Ints, 1]
    impacts: Annotated[Ints, 1]
    bounces: Annotated[Ints, 1]  # impacts from which a point that struck rebounds
    unsolved: Annotated[Ints, 1]  # not 0 if a law found no forces
    fresh: Annotated[Ints, 1]  # 1 until forces at its beginning are on record
    acts: Annotated[Ints, 1]  # 1 until the controller has acted, if it acts in this period
    time_step: Annotated[Ints, 1]  # 1 if the period is one time step
    saved: Annotated[Vector, 1]  # evaluations that it may take without those of bounces
    needed: Annotated[Vector, 1]  # how many of them, per millisecond, it must have to go from event to event
    ahead: Annotated[Vector, 1]  # share of it that is left
    loosened: Annotated[Vector, 1]  # factor on the tolerance of its steps
    # Contacts.
    touching: Annotated[Ints, "P"]  # 1 for points in contact
    arriving: Annotated[Ints, "P"]  # 1 for points that have just reached the ground; after a time step, their modes
    depth: Annotated[Vector, "P"]  # m, gap at which a point in contact is held: 0, or what it began with
    gap_before: Annotated[Vector, "P"]  # m, at the last instant before an event, like the following
    rate_before: Annotated[Vector, "P"]  # m/s, of the gap
    slip_before: Annotated[Vector, "P"]  # m/s, along its direction
    sorted: Annotated[Ints, 1]  # 0 until it is known which points are in contact: at first and after a time step
    warnings: Annotated[Ints, 1]  # times in the run that no forces obeyed the law
    warning: Annotated[Vector, "MOST_WARNINGS"]  # s, when
    # A step of Dormand and Prince's method.
    start: Annotated[Vector, "n"]  # state at its beginning
    slope: Annotated[Matrix, "STAGES + 1", "n"]  # rates of the state at each stage, the last at an instant within
    force: Annotated[Tensor, "STAGES + 1", "P", 3]  # N, world frame, likewise
    length: Annotated[Vector, 1]  # s, of the next step
    weights: Matrix
    within: Matrix
    error: Vector
    # The history of the motion, see ``macro_step``.
    known: Annotated[Ints, 1]  # number of backward differences of accelerations that are known
    spacing: Annotated[Vector, 1]  # s, between the instants at which the motion is known
    accelerations: Annotated[Matrix, "ORDER + 2", "nv"]  # at the last instant, and their differences
    forces: Annotated[Tensor, "ORDER", "P", 3]  # N, world frame, likewise
    speed: Annotated[Vector, "nv"]  # velocities then, and what projections have changed of them since
    changes: Annotated[Matrix, "ORDER", "nv"]  # change of velocities up to that instant, and its differences
    impulses: Annotated[Tensor, "ORDER", "P", 3]  # N s, world frame, likewise
    ctrl: Annotated[Vector, "nu"]  # controls then
    extension: Annotated[Tensor, 2, "ORDER + 1", "STAGES"]  # see extension_weights
    integral: Annotated[Vector, "ORDER + 2"]  # weights of the differences at its end in the integral over a macro step
    # A macro step, see ``macro_step``.
    largest: Annotated[Vector, "ORDER + 2"]  # m/s2, largest of each difference of accelerations
    change: Annotated[Vector, "nv"]  # of velocities
    macro_impulse: Annotated[Matrix, "P", 3]  # N s, world frame
    end_force: Annotated[Matrix, "P", 3]  # N, world frame, at its end
    correction: Annotated[Vector, 1]  # m/s, largest change of a velocity by the last correction
    contraction: Annotated[Vector, 1]  # 1/s, ratio of successive corrections over the length of the macro step
    predictor: Annotated[Tensor, "ORDER + 1", 2, "ORDER"]  # see predictor_weights
    # Scratch.
    values: Annotated[Vector, "ORDER + 2"]
    mean: Annotated[Vector, "nv"]
    kind: Annotated[Ints, "P"]  # how a point is held where it is projected; 1 if it strikes in an impact
    least: LeastScratch
    # The law and the ground.
    tolerance: float
    flat: int  # the ground is a plane
    margin: float  # m, within which points are shown to the law of time steps


def make_flow(model: mujoco.MjModel, points: int, bodies: int, dt: float, law: EventLaw, ground: Ground) -> Flow:
    """Scratch arrays for the integration of a model with this many contact points and bodies."""
    scalar, turns = np.full(model.nv, -1, dtype=np.int64), []
    for kind, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        free, ball = kind == int(mujoco.mjtJoint.mjJNT_FREE), kind == int(mujoco.mjtJoint.mjJNT_BALL)
        if free:
            scalar[v : v + 3] = np.arange(q, q + 3)
        elif not ball:
            scalar[v] = q
        if free or ball:
            turns.append((q + 3, v + 3) if free else (q, v))
    sizes = {"P": points, "n": model.nq + model.nv + model.na, "nv": model.nv}
    return zeros(
        Flow,
        sizes | {"ORDER": ORDER, "STAGES": STAGES, "MOST_WARNINGS": MOST_WARNINGS},
        scalar=scalar,
        turn=np.array(turns, dtype=np.int64).reshape(-1, 2),
        added=slow_down(model, dt),
        motors=force_limits(model),
        saved=np.full(1, np.inf),  # as many as there may be
        needed=np.full(1, FEWEST, dtype=float),
        loosened=np.ones(1),
        gap_before=np.full(points, FAR),
        length=np.full(1, dt),
        weights=WEIGHTS.copy(),
        within=WITHIN.copy(),
        error=ERROR.copy(),
        spacing=np.full(1, dt),
        ctrl=np.full(model.nu, np.inf),
        extension=extension_weights(),
        integral=INTEGRAL.copy(),
        contraction=np.full(1, 1.0 / dt),
        predictor=predictor_weights(),
        least=least_scratch(bodies),
        tolerance=law.tolerance,
        flat=int(ground.flat),
        margin=law.in_steps().near(dt),
    )


def slow_down(model: mujoco.MjModel, dt: float) -> np.ndarray:
    """Inertia of each dof, kg m2 or kg, with which no damping D ends a motion sooner than in one period; (0,) if none.

    A joint of small inertia m and large damping loses its velocity within m/D, which an explicit method would have to
    resolve. With the inertia D dt it takes one period: that is never more than semi-implicit Euler adds, dt D.
    """
    inertia = _inertia(model)
    damping, servos = model.dof_damping.reshape(model.nv, -1)[:, 0].copy(), damping_servos(model)
    np.add.at(damping, servos.dof, servos.damping)
    added = np.maximum(0.0, dt * damping - inertia)
    return added if added.any() else np.zeros(0)


def _inertia(model: mujoco.MjModel) -> np.ndarray:
    """(nv,) What each dof moves in the pose of reference, kg m2 or kg; MuJoCo's dof_invweight0 has one of a ball."""
    data, answer, unit = mujoco.MjData(model), np.zeros((model.nv, model.nv)), np.eye(model.nv)
    mujoco.mj_forward(model, data)
    mujoco.mj_solveM(model, data, answer, unit)
    return np.asarray(1.0 / np.maximum(np.diag(answer), 1e-300))


def carry_over(known: Flow, flow: Flow) -> None:
    """Copy what is known of points that both have room for, and all that belongs to no point; others are as new."""
    both = min(len(known.touching), len(flow.touching))
    for name in flow._fields:
        old, new = getattr(known, name), getattr(flow, name)
        if not isinstance(new, np.ndarray):
            continue
        if old.shape == new.shape:
            new[...] = old
        elif name in ("force", "forces", "impulses"):
            new[:, :both], new[:, both:] = old[:, :both], 0
        else:
            new[:both], new[both:] = old[:both], FAR if name == "gap_before" else 0


def painleve_warnings(flow: Flow) -> list[RunWarning]:
    """Warnings of the times at which no forces satisfied the law and an impulse ended the slip."""
    count = int(flow.warnings[0])
    sentence = (
        "no forces obey the law for a sliding point (Painleve's paradox): an impulse without a collision ends its slip"
    )
    warnings = [RunWarning(float(time), "inconsistent", sentence) for time in flow.warning[: min(count, MOST_WARNINGS)]]
    if count > MOST_WARNINGS:
        last = warnings[-1]
        warnings[-1] = last._replace(message=f"{last.message}; the last of {count} times")
    return warnings
