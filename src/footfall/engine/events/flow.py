"""The state of the event-driven integration, besides the world."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.engine.events.dormand_prince import ERROR, STAGES, WEIGHTS, WITHIN
from footfall.engine.events.history import INTEGRAL, ORDER, extension_weights
from footfall.engine.events.joint_events import MotorLimits, motor_limits
from footfall.engine.events.macro_step import halfway_weights, predictor_weights
from footfall.engine.other_bodies.points import FAR
from footfall.engine.stages import damping_servos
from footfall.ground import Ground
from footfall.record import RunWarning
from footfall.robot.model import moving_bodies
from footfall.solve.minimum_norm import LeastScratch, least_scratch

#: Warnings that are kept of a run.
MOST_WARNINGS = 16


class Flow(NamedTuple):
    """The state of the integration: P points, n numbers in positions, velocities and activations together."""

    scalar: np.ndarray  # (nv,) address in qpos, -1 for the dofs of rotations
    turn: np.ndarray  # (Q, 2) addresses in qpos and qvel of quaternions
    only_root: np.ndarray  # (nv,) 1 for dofs of a root that is the only one: they bring no body nearer to another
    added: np.ndarray  # (nv,) inertia that slows damped joints down, see slow_down, or none
    motors: MotorLimits
    # The period.
    opening: np.ndarray  # (n,) state at its beginning
    impulse: np.ndarray  # (P, 3) N s, world frame
    loaded: np.ndarray  # (P,) mode in which the point last had a force, OPEN if it had none
    struck: np.ndarray  # (1,) N s, normal impulses of impacts
    evaluations: np.ndarray  # (1,)
    events: np.ndarray  # (1,)
    impacts: np.ndarray  # (1,)
    bounces: np.ndarray  # (1,) impacts from which a point that struck rebounds
    unsolved: np.ndarray  # (1,) not 0 if a law found no forces
    fresh: np.ndarray  # (1,) 1 until forces at its beginning are on record
    acts: np.ndarray  # (1,) 1 until the controller has acted, if it acts in this period
    time_step: np.ndarray  # (1,) 1 if the period is one time step
    loosened: np.ndarray  # (1,) factor on the tolerance of its steps
    # Contacts.
    touching: np.ndarray  # (P,) 1 for points in contact
    arriving: np.ndarray  # (P,) 1 for points that have just reached the ground; after a time step, the point's mode
    depth: np.ndarray  # (P,) m, gap at which a point in contact is held: 0, or what it began with
    gap_before: np.ndarray  # (P,) m, at the last instant before an event, like the following
    rate_before: np.ndarray  # (P,) m/s, of the gap
    slip_before: np.ndarray  # (P,) m/s, along its direction
    hold_before: np.ndarray  # (P,) N, force that the point can lose before it lifts off or slips
    hold_earlier: np.ndarray  # (P,) N, at the instant before that
    value_now: np.ndarray  # (P,) negative where an event has happened now
    value_high: np.ndarray  # (P,) the same at the end of the bracket in which it is sought
    sorted: np.ndarray  # (1,) 0 until it is known which points are in contact, at the beginning and after a time step
    wait: np.ndarray  # (1,) periods that are time steps from the outset, before the next is tried from event to event
    next_wait: np.ndarray  # (1,) how many there will be after the next that fails
    warnings: np.ndarray  # (1,) times in the run that no forces obeyed the law
    warning: np.ndarray  # (MOST_WARNINGS,) s, when
    # A step of Dormand and Prince's method.
    start: np.ndarray  # (n,) state at its beginning
    slope: np.ndarray  # (STAGES + 1, n) rates of the state at each stage, the last at an instant within the step
    force: np.ndarray  # (STAGES + 1, P, 3) N, world frame, likewise
    length: np.ndarray  # (1,) s, of the next step
    taken: np.ndarray  # (2,) length (s) and relative error of the last step if it was accurate, else zero length
    failed: np.ndarray  # (2,) the same if it was not
    weights: np.ndarray
    within: np.ndarray
    error: np.ndarray
    # The history of the motion, see ``history``.
    known: np.ndarray  # (1,) number of backward differences of accelerations that are known
    spacing: np.ndarray  # (1,) s, between the instants at which the motion is known
    accelerations: np.ndarray  # (ORDER + 2, nv) at the last instant, and their differences
    forces: np.ndarray  # (ORDER, P, 3) N, world frame, likewise
    speed: np.ndarray  # (nv,) velocities then, and what projections have changed of them since
    changes: np.ndarray  # (ORDER, nv) change of velocities up to that instant, and its differences
    impulses: np.ndarray  # (ORDER, P, 3) N s, world frame, likewise
    ctrl: np.ndarray  # (nu,) controls then
    extension: np.ndarray  # (2, ORDER + 1, STAGES) see extension_weights
    integral: np.ndarray  # (ORDER + 2,) weights of the differences at its end in the integral over a macro step
    # A macro step, see ``macro_step``.
    largest: np.ndarray  # (ORDER + 2,) m/s2, largest of each difference of accelerations
    change: np.ndarray  # (nv,) of velocities
    macro_impulse: np.ndarray  # (P, 3) N s, world frame
    end_force: np.ndarray  # (P, 3) N, world frame, at its end
    correction: np.ndarray  # (1,) m/s, largest change of a velocity by the last correction
    contraction: np.ndarray  # (1,) 1/s, ratio of successive corrections over the length of the macro step
    predictor: np.ndarray  # (ORDER + 1, 2, ORDER) see predictor_weights
    halfway: np.ndarray  # (2, ORDER + 2) see halfway_weights
    # Scratch.
    scaling: np.ndarray  # (ORDER + 2, ORDER + 2)
    values: np.ndarray  # (ORDER + 2,)
    mean: np.ndarray  # (nv,)
    kind: np.ndarray  # (P,) how a point is held where it is projected; 1 if it strikes in an impact
    least: LeastScratch
    # The law and the ground.
    tolerance: float
    flat: int  # the ground is a plane
    margin: float  # m, within which points are shown to the law of time steps


def make_flow(
    model: mujoco.MjModel, points: int, bodies: int, dt: float, *, tolerance: float, ground: Ground, margin: float
) -> Flow:
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
    size, nv = model.nq + model.nv + model.na, model.nv

    def count() -> np.ndarray:
        return np.zeros(1, dtype=np.int64)

    return Flow(
        scalar=scalar,
        turn=np.array(turns, dtype=np.int64).reshape(-1, 2),
        only_root=_only_root(model),
        added=slow_down(model, dt),
        motors=motor_limits(model),
        opening=np.zeros(size),
        impulse=np.zeros((points, 3)),
        loaded=np.zeros(points, dtype=np.int64),
        struck=np.zeros(1),
        evaluations=count(),
        events=count(),
        impacts=count(),
        bounces=count(),
        unsolved=count(),
        fresh=count(),
        acts=count(),
        time_step=count(),
        loosened=np.ones(1),
        touching=np.zeros(points, dtype=np.int64),
        arriving=np.zeros(points, dtype=np.int64),
        depth=np.zeros(points),
        gap_before=np.full(points, FAR),
        rate_before=np.zeros(points),
        slip_before=np.zeros(points),
        hold_before=np.zeros(points),
        hold_earlier=np.zeros(points),
        value_now=np.zeros(points),
        value_high=np.zeros(points),
        sorted=count(),
        wait=count(),
        next_wait=count(),
        warnings=count(),
        warning=np.zeros(MOST_WARNINGS),
        start=np.zeros(size),
        slope=np.zeros((STAGES + 1, size)),
        force=np.zeros((STAGES + 1, points, 3)),
        length=np.full(1, dt),
        taken=np.array([0.0, 1.0]),
        failed=np.array([0.0, 1.0]),
        weights=WEIGHTS.copy(),
        within=WITHIN.copy(),
        error=ERROR.copy(),
        known=count(),
        spacing=np.full(1, dt),
        accelerations=np.zeros((ORDER + 2, nv)),
        forces=np.zeros((ORDER, points, 3)),
        speed=np.zeros(nv),
        changes=np.zeros((ORDER, nv)),
        impulses=np.zeros((ORDER, points, 3)),
        ctrl=np.full(model.nu, np.inf),
        extension=extension_weights(),
        integral=INTEGRAL.copy(),
        largest=np.zeros(ORDER + 2),
        change=np.zeros(nv),
        macro_impulse=np.zeros((points, 3)),
        end_force=np.zeros((points, 3)),
        correction=np.zeros(1),
        contraction=np.full(1, 1.0 / dt),
        predictor=predictor_weights(),
        halfway=halfway_weights(),
        scaling=np.zeros((ORDER + 2, ORDER + 2)),
        values=np.zeros(ORDER + 2),
        mean=np.zeros(nv),
        kind=np.zeros(points, dtype=np.int64),
        least=least_scratch(bodies),
        tolerance=tolerance,
        flat=int(ground.flat),
        margin=margin,
    )


def _only_root(model: mujoco.MjModel) -> np.ndarray:
    """(nv,) 1 for the dofs of a free joint that all moving bodies hang on."""
    only = np.zeros(model.nv, dtype=np.int64)
    if model.njnt and model.jnt_type[0] == int(mujoco.mjtJoint.mjJNT_FREE):
        moves = moving_bodies(model)
        if (model.body_rootid[moves] == model.body_rootid[model.jnt_bodyid[0]]).all():
            only[:6] = 1
    return only


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
    """(nv,) What each dof moves in the pose of reference, kg m2 or kg: of balls about each axis, unlike MuJoCo's own
    ``dof_invweight0``.
    """
    data, answer, unit = mujoco.MjData(model), np.zeros((model.nv, model.nv)), np.eye(model.nv)
    mujoco.mj_forward(model, data)
    mujoco.mj_solveM(model, data, answer, unit)
    return np.asarray(1.0 / np.maximum(np.diag(answer), 1e-300))


def carry_over(known: Flow, flow: Flow) -> None:
    """Copy what is known of the points that both have room for, and all that does not belong to points.

    Points that are not known are as new.
    """
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
