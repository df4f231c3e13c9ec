"""The state of the event-driven integration, besides the world."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.polynomial import Polynomial

from footfall.engine.events.motor_limits import MotorLimits, motor_limits
from footfall.engine.events.tableau import ERROR, STAGES, WEIGHTS, WITHIN
from footfall.engine.other_bodies.points import FAR
from footfall.engine.stages import damping_servos
from footfall.ground import Ground
from footfall.record import RunWarning
from footfall.robot.model import moving_bodies
from footfall.solve.steady_feet import LeastScratch, least_scratch

# Where numbers stand in `Flow.clock` and `Flow.tally`.
LENGTH = 0  # s, of the next step
TAKEN, FAILED = 1, 3  # s, length of the last step that was accurate enough, or was not since; then its error
INSTEAD, KEPT = 5, 6  # what the last period's time step cost, 0 if it was none; what one may cost now
MISSED = 7  # m/s, least error of a method with one evaluation over the period
# m/s, by how much an evaluation of its end changed a stride; and the share of it left off, over the stride, 1/s.
CHANGED, SHARE = 8, 9
PART = 10  # where in a stride the last kink was, 0 to 1
STRIDE = 11  # s, from one instant at which the motion is known to the next, see ``strides``
LOOSENED = 12  # times the tolerance that steps of a period may err by which would cost more than it may
EVENTS, IMPACTS = 0, 1  # in the period
UNSOLVED = 2  # not 0 if a law found no forces in it
WARNINGS = 3  # times in the run that no forces obeyed the law
SORTED = 4  # 1 since it was found out which points are in contact, as after a time step it must be
SOFT = 5  # 1 if the period is one time step
KNOWN = 6  # periods in a row whose differences are known, see ``creep``
VAIN = 7  # periods in a row that became time steps
DEGREE = 8  # of the polynomial of accelerations within a stride
# Kinks of a stride, evaluations since the last one, its row of joint friction, and the state of that before.
KINKS, EVALUATED, ROW, DID = 9, 10, 11, 12
AFTER = 13  # 1 in the stride after one with kinks
SECANT, PAIRS = 14, 15  # what is known of the corrected end of the last stride, and of corrections, see ``secant``
PUSHED = 16  # 1 if a body was pushed in the last period
COUNTS = 17  # how many there are
#: Error of a method that is not known, m/s.
UNKNOWN = 1e300
#: Highest order of a period with one evaluation, see ``creep``; and differences of velocities that it takes at most.
ORDER, OF_VELOCITIES = 7, 6
# Of each k from 0 on: what the mean velocity of a period takes of the k-th difference of its change (Adams and
# Moulton); and the error of order k over many periods, of the first difference left out.
DIFFERENCES = np.array(
    [
        [1 / 2, 0],
        [1 / 12, 1 / 2],
        [1 / 24, 1],
        [19 / 720, 1],
        [3 / 160, 1],
        [863 / 60480, 1],
        [275 / 24192, 1],
        [33953 / 3628800, 1],
        [0, 1],
    ]
)
#: Warnings that are kept of a run.
MOST_WARNINGS = 16


class Flow(NamedTuple):
    """The state of the integration: P points, n numbers in positions, velocities and activations together."""

    scalar: np.ndarray  # (nv,) address in qpos, -1 for the dofs of rotations
    turn: np.ndarray  # (Q, 2) addresses in qpos and qvel of quaternions
    opening: np.ndarray  # (n,) state at the beginning of the period
    start: np.ndarray  # (n,) state at the beginning of the step
    ended: np.ndarray  # (n,) state at the end of the last stride whose end was evaluated
    slope: np.ndarray  # (STAGES + 1, n) rates of the state, the last at an instant within the step
    force: np.ndarray  # (STAGES + 1, P, 3) N, world frame
    impulse: np.ndarray  # (P, 3) N s, world frame, since the last record
    correction: np.ndarray  # (P, 3) N s, the part of it that put points back
    worked: np.ndarray  # (P,) mode in which the point was last pushed since then
    touching: np.ndarray  # (P,) 1 for points in contact
    arriving: np.ndarray  # (P,) 1 for points that have just reached the ground
    depth: np.ndarray  # (P,) m, gap at which a point in contact is held: 0, or what it began with
    before: np.ndarray  # (P, 5) gap, its rate, slip along its direction then and hold where no event had happened
    # yet, and the hold at the instant before that
    after: np.ndarray  # (P, 2) below zero where an event has happened: now, and at the end of the search
    pace: np.ndarray  # (ORDER + 2, nv) accelerations at the beginning of the last period, and their differences
    speed: np.ndarray  # (nv,) velocities then, and what points that were put back changed of them since
    gained: np.ndarray  # (ORDER, nv) by how much velocities changed in the last period, and differences of that
    pushed: np.ndarray  # (P, 3) N s, world frame, impulses of the stride
    began: np.ndarray  # (ORDER, P, 3) N, world frame, forces at its beginning, and their differences
    given: np.ndarray  # (ORDER, P, 3) N s, world frame, impulses of the last period, and their differences
    differences: np.ndarray  # (ORDER + 2, 2) see ``creep``
    ahead: np.ndarray  # (ORDER + 1, 2, ORDER) see ``creep``
    course: np.ndarray  # (2, ORDER + 1, ORDER + 2) see ``course``
    told: np.ndarray  # (2, ORDER + 1, STAGES) see ``restart``
    part: np.ndarray  # (ORDER + 2,) what the integral over a stride takes of the differences at its end
    scaling: np.ndarray  # (ORDER + 2, ORDER + 2) scratch of ``strides`` and ``course``
    values: np.ndarray  # (ORDER + 2,) scratch
    kink: np.ndarray  # (3, ORDER + 2) differences of what changes since a kink, of its integral and of twice that
    moved: np.ndarray  # (3, nv) the last correction of velocities, and those of two pairs, see ``secant``
    answer: np.ndarray  # (3, nv) accelerations at the evaluation before it, and by how much those of both pairs changed
    answer_force: np.ndarray  # (3, P, 3) N, contact frames, the same of forces
    acting: np.ndarray  # (nbody, 6) N and N m, by which bodies were pushed in the last period
    roams: np.ndarray  # (nv,) 1 for dofs of a root that is the only one: no body is nearer to another for their motion
    ctrl: np.ndarray  # (nu,) controls of the last period
    motors: MotorLimits
    added: np.ndarray  # (nv,) inertia that slows damped joints down, see slow_down, or none
    struck: np.ndarray  # (1,) N s, normal impulses of impacts since then
    clock: np.ndarray  # (13,)
    tally: np.ndarray  # (COUNTS,)
    warning: np.ndarray  # (MOST_WARNINGS,) s, when the forces were inconsistent
    kind: np.ndarray  # (P,) scratch: how a point is held where it is put back
    least: LeastScratch
    weights: np.ndarray
    within: np.ndarray
    error: np.ndarray
    tolerance: float
    flat: int  # the ground is a plane
    reach: float  # m, at most from a joint to a point
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
    size = model.nq + model.nv + model.na
    return Flow(
        scalar=scalar,
        turn=np.array(turns, dtype=np.int64).reshape(-1, 2),
        opening=np.zeros(size),
        start=np.zeros(size),
        ended=np.zeros(size),
        slope=np.zeros((STAGES + 1, size)),
        force=np.zeros((STAGES + 1, points, 3)),
        impulse=np.zeros((points, 3)),
        correction=np.zeros((points, 3)),
        worked=np.zeros(points, dtype=np.int64),
        touching=np.zeros(points, dtype=np.int64),
        arriving=np.zeros(points, dtype=np.int64),
        depth=np.zeros(points),
        before=np.full((points, 5), FAR),
        after=np.zeros((points, 2)),
        pace=np.zeros((ORDER + 2, model.nv)),
        speed=np.zeros(model.nv),
        gained=np.zeros((ORDER, model.nv)),
        pushed=np.zeros((points, 3)),
        began=np.zeros((ORDER, points, 3)),
        given=np.zeros((ORDER, points, 3)),
        differences=DIFFERENCES.copy(),
        ahead=_ahead(),
        course=_course(),
        told=_told(),
        part=np.concatenate([[1.0], -DIFFERENCES[: ORDER + 1, 0]]),
        scaling=np.zeros((ORDER + 2, ORDER + 2)),
        values=np.zeros(ORDER + 2),
        kink=np.zeros((3, ORDER + 2)),
        moved=np.zeros((3, model.nv)),
        answer=np.zeros((3, model.nv)),
        answer_force=np.zeros((3, points, 3)),
        acting=np.zeros((model.nbody, 6)),
        roams=_only_root(model),
        ctrl=np.full(model.nu, np.inf),
        motors=motor_limits(model),
        added=slow_down(model, dt),
        struck=np.zeros(1),
        clock=np.array([dt, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0 / dt, 0.0, dt, 1.0]),
        tally=np.zeros(COUNTS, dtype=np.int64),
        warning=np.zeros(MOST_WARNINGS),
        kind=np.zeros(points, dtype=np.int64),
        least=least_scratch(bodies),
        weights=WEIGHTS.copy(),
        within=WITHIN.copy(),
        error=ERROR.copy(),
        tolerance=tolerance,
        flat=int(ground.flat),
        reach=2.0 * float(model.stat.extent),
        margin=margin,
    )


def _ahead() -> np.ndarray:
    """(ORDER + 1, 2, ORDER) Of each order, what the change of velocities in a period takes of the differences of
    accelerations at its beginning, times dt, and of those of the change in the period before.
    """
    ahead, before = np.zeros((ORDER + 1, 2, ORDER)), np.concatenate([[1.0], -DIFFERENCES[: ORDER - 1, 0]])
    for order in range(1, ORDER + 1):
        taken = min(order + 1, OF_VELOCITIES) if order > 1 else 1
        sums = np.cumsum(1.0 / np.arange(1, taken + 1))
        ahead[order, 1, : taken - 1] = 1.0 - sums[:-1] / sums[-1]
        exact = np.cumsum(before) - np.convolve(ahead[order, 1], before)[:ORDER]  # Adams and Bashforth's, less that
        ahead[order, 0, :order] = exact[:order]
    return ahead


def _course() -> np.ndarray:
    """(2, ORDER + 1, ORDER + 2) Polynomials of the part of a stride that is over, which the backward differences at its
    end are multiplied by, by powers; then their integrals.
    """
    course, value = np.zeros((2, ORDER + 1, ORDER + 2)), Polynomial([1.0])
    for m in range(ORDER + 1):
        for k in range(2):
            row = value.integ(k) if k else value
            course[k, m, : row.coef.size] = row.coef
        value *= Polynomial([m - 1.0, 1.0]) / (m + 1)  # Newton's interpolation
    return course


def _told() -> np.ndarray:
    """(2, ORDER + 1, STAGES) Weights of the stages of a step at its end and at instants before, one step apart: of the
    rate of what it integrates, and of the integral from its beginning.
    """
    part, powers = 1.0 - np.arange(ORDER + 1.0)[:, None], np.arange(1, WITHIN.shape[1] + 1)
    return np.array([(powers * part ** (powers - 1)) @ WITHIN.T, part**powers @ WITHIN.T])


def _only_root(model: mujoco.MjModel) -> np.ndarray:
    """(nv,) 1 for the dofs of a free joint that all bodies that move hang on."""
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
        elif name in ("force", "began", "given", "answer_force"):
            new[:, :both], new[:, both:] = old[:, :both], 0
        else:
            new[:both], new[both:] = old[:both], FAR if name == "before" else 0


def painleve_warnings(flow: Flow) -> list[RunWarning]:
    """Warnings of the times at which no forces satisfied the law and an impulse ended the slip."""
    count = int(flow.tally[WARNINGS])
    sentence = (
        "no forces obey the law for a sliding point (Painleve's paradox): an impulse without a collision ends its slip"
    )
    warnings = [RunWarning(float(time), "inconsistent", sentence) for time in flow.warning[: min(count, MOST_WARNINGS)]]
    if count > MOST_WARNINGS:
        last = warnings[-1]
        warnings[-1] = last._replace(message=f"{last.message}; the last of {count} times")
    return warnings
