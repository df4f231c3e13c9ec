"""What the integration from event to event keeps beside the world, and Dormand and Prince's method."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.events.motor_limits import MotorLimits, motor_limits
from footfall.engine.other_bodies.points import FAR
from footfall.engine.servos import damping_servos
from footfall.ground import Ground
from footfall.record import RunWarning
from footfall.robot.model import moving_bodies
from footfall.solve.dense import copy
from footfall.solve.effort import FLAT, OF_A_FUNCTION, UNEVEN
from footfall.solve.steady_feet import LeastScratch, least_scratch

#: Stages of the method of fifth order, the last at the end of the step.
STAGES = 7
# Dormand and Prince 1980, table 2: stages, and the difference to the embedded method of fourth order. The last row is
# for an instant within a step, see set_part.
WEIGHTS = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]
)
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# Shampine 1986: weights of the stages at any part of a step, as polynomials of it without a constant, of fourth order.
WITHIN = np.array(
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)
# Where numbers stand in `Flow.clock` and `Flow.tally`.
LENGTH = 0  # s, of the next step
TAKEN, FAILED = 1, 3  # s, length of the last step that was accurate enough, or was not since; then its error
INSTEAD, KEPT = 5, 6  # what the last period's time step cost, 0 if it was none; what one may cost now
EVENTS, IMPACTS, UNSOLVED, WARNINGS, SORTED, SOFT, KNOWN, VAIN = 0, 1, 2, 3, 4, 5, 6, 7
#: How many counts there are.
COUNTS = 8
#: Share of the length with which a step would be just accurate enough, so that few are taken in vain; and how many
#: times as long, or short, as the last one it may be.
SAFETY, LONGER, SHORTER = 0.8, 50.0, 0.1
#: Error of a step over what is allowed that may be where accelerations bend.
BEND = 10.0
#: Longest and shortest step, s.
LONGEST, SHORTEST = 0.01, 1e-9
#: By how much more steps may grow from one to the next than the last one says, where the end of a period is foreseen.
HOPEFUL = 2.0
#: Highest order of a period with one evaluation, see engine/creep.py.
ORDER = 5
# Of each k from 0 on: the sum of 1, 1/2, ... 1/k; what the mean velocity of a period takes of the k-th difference of
# its change (Adams and Moulton); and the error of order k over many periods, of the first difference left out.
DIFFERENCES = np.array(
    [
        [0, 1 / 2, 0],
        [1, 1 / 12, 1 / 2],
        [3 / 2, 1 / 24, 1],
        [11 / 6, 19 / 720, 1],
        [25 / 12, 3 / 160, 1],
        [137 / 60, 0, 1],
        [49 / 20, 0, 1],
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
    began: np.ndarray  # (ORDER, P, 3) N, world frame, forces at its beginning, and their differences
    given: np.ndarray  # (ORDER, P, 3) N s, world frame, impulses of the last period, and their differences
    differences: np.ndarray  # (ORDER + 2, 3) see engine/events/creep.py
    roams: np.ndarray  # (nv,) 1 for dofs of a root that is the only one: no body is nearer to another for their motion
    ctrl: np.ndarray  # (nu,) controls of the last period
    motors: MotorLimits
    added: np.ndarray  # (nv,) inertia that slows damped joints down, see slow_down, or none
    struck: np.ndarray  # (1,) N s, normal impulses of impacts since then
    clock: np.ndarray  # (7,)
    tally: np.ndarray  # (COUNTS,)
    warning: np.ndarray  # (MOST_WARNINGS,) s, when the forces were inconsistent
    kind: np.ndarray  # (P,) scratch: how a point is held where it is put back
    least: LeastScratch
    weights: np.ndarray
    within: np.ndarray
    error: np.ndarray
    tolerance: float
    flat: int  # the ground is a plane
    price: float  # what it costs to find a distance from it, see footfall.solve.effort
    reach: float  # m, at most from a joint to a point
    margin: float  # m, within which points are shown to the law of time steps


def make_flow(
    model: mujoco.MjModel, points: int, bodies: int, dt: float, *, tolerance: float, ground: Ground, margin: float
) -> Flow:
    """Room for the integration of a model with so many contact points on so many bodies."""
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
        began=np.zeros((ORDER, points, 3)),
        given=np.zeros((ORDER, points, 3)),
        differences=DIFFERENCES.copy(),
        roams=_only_root(model),
        ctrl=np.full(model.nu, np.inf),
        motors=motor_limits(model),
        added=slow_down(model, dt),
        struck=np.zeros(1),
        clock=np.array([dt, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
        tally=np.zeros(COUNTS, dtype=np.int64),
        warning=np.zeros(MOST_WARNINGS),
        kind=np.zeros(points, dtype=np.int64),
        least=least_scratch(bodies),
        weights=WEIGHTS.copy(),
        within=WITHIN.copy(),
        error=ERROR.copy(),
        tolerance=tolerance,
        flat=int(ground.flat),
        price=FLAT if ground.flat else OF_A_FUNCTION if ground.height_function is not None else UNEVEN,
        reach=2.0 * float(model.stat.extent),
        margin=margin,
    )


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

    A joint of little inertia m and much damping forgets its velocity within m/D, and an explicit method would have to
    follow that. With D dt it takes one period: never more than what semi-implicit Euler adds, dt D.
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
        elif name in ("force", "began", "given"):
            new[:, :both], new[:, both:] = old[:, :both], 0
        else:
            new[:both], new[both:] = old[:both], FAR if name == "before" else 0


def painleve_warnings(flow: Flow) -> list[RunWarning]:
    """When no forces obeyed the law and an impulse ended the slip."""
    count = int(flow.tally[WARNINGS])
    sentence = (
        "no forces obey the law for a sliding point (Painleve's paradox): an impulse without a collision ends its slip"
    )
    warnings = [RunWarning(float(time), "inconsistent", sentence) for time in flow.warning[: min(count, MOST_WARNINGS)]]
    if count > MOST_WARNINGS:
        last = warnings[-1]
        warnings[-1] = last._replace(message=f"{last.message}; the last of {count} times")
    return warnings


@inlined
def read_state(world, state):
    nq, nv = world.qpos.size, world.qvel.size
    copy(state[:nq], world.qpos)
    copy(state[nq : nq + nv], world.qvel)
    copy(state[nq + nv :], world.act)


@inlined
def write_state(world, state):
    nq, nv = world.qpos.size, world.qvel.size
    copy(world.qpos, state[:nq])
    copy(world.qvel, state[nq : nq + nv])
    copy(world.act, state[nq + nv :])


@inlined
def read_slope(world, flow, slope):
    """Rates of positions, velocities and activations. Angular velocities are in the body's frame, as MuJoCo's."""
    nq, nv = world.qpos.size, world.qvel.size
    q, w = world.qpos, world.qvel
    for j in range(nv):
        if flow.scalar[j] >= 0:
            slope[flow.scalar[j]] = w[j]
        slope[nq + j] = world.qacc[j]
    for i in range(flow.turn.shape[0]):
        a, b = flow.turn[i, 0], flow.turn[i, 1]
        slope[a] = 0.5 * (-q[a + 1] * w[b] - q[a + 2] * w[b + 1] - q[a + 3] * w[b + 2])
        slope[a + 1] = 0.5 * (q[a] * w[b] + q[a + 2] * w[b + 2] - q[a + 3] * w[b + 1])
        slope[a + 2] = 0.5 * (q[a] * w[b + 1] + q[a + 3] * w[b] - q[a + 1] * w[b + 2])
        slope[a + 3] = 0.5 * (q[a] * w[b + 2] + q[a + 1] * w[b + 1] - q[a + 2] * w[b])
    for i in range(world.act.size):
        slope[nq + nv + i] = world.act_dot[i]


@inlined
def weight_within(flow, j, part):
    """Weight of stage ``j`` where so much of a step, 0 to 1, is over."""
    a = flow.within[j]
    return part * (a[0] + part * (a[1] + part * (a[2] + part * a[3])))


@inlined
def rate_within(flow, j, part):
    """The derivative of that weight."""
    a = flow.within[j]
    return a[0] + part * (2.0 * a[1] + part * (3.0 * a[2] + part * 4.0 * a[3]))


@inlined
def set_part(flow, part):
    """Let stage ``STAGES`` be where so much of a step, 0 to 1, is over."""
    for j in range(STAGES):
        flow.weights[STAGES, j] = weight_within(flow, j, part)


@inlined
def set_stage(world, flow, stage, h):
    """Put the world into the state of a stage of a step of ``h`` seconds."""
    nq, nv = world.qpos.size, world.qvel.size
    for i in range(flow.start.size):
        value = 0.0
        for j in range(stage):
            value += flow.weights[stage, j] * flow.slope[j, i]
        value = flow.start[i] + h * value
        if i < nq:
            world.qpos[i] = value
        elif i < nq + nv:
            world.qvel[i - nq] = value
        else:
            k = i - nq - nv
            world.act[k] = min(max(value, world.act_range[k, 0]), world.act_range[k, 1])
    if stage >= STAGES - 1:
        for i in range(flow.turn.shape[0]):
            a = flow.turn[i, 0]
            size = (
                world.qpos[a] ** 2 + world.qpos[a + 1] ** 2 + world.qpos[a + 2] ** 2 + world.qpos[a + 3] ** 2
            ) ** 0.5
            for k in range(4):
                world.qpos[a + k] /= size


@inlined
def step_error(world, flow, h):
    """Estimated error of a step over what is allowed."""
    nq, nv = world.qpos.size, world.qvel.size
    worst = 0.0
    for i in range(nq + nv):
        value = 0.0
        for j in range(STAGES):
            value += flow.error[j] * flow.slope[j, i]
        now = world.qpos[i] if i < nq else world.qvel[i - nq]
        miss = abs(h * value) / (flow.tolerance * (1.0 + max(abs(now), abs(flow.start[i]))))
        worst = miss if not miss <= worst else worst
    return worst


@inlined
def falls_slowly(flow, error, h):
    """Whether the error of a step did not fall with the order from that of a longer one: accelerations jump or bend."""
    return h < flow.clock[FAILED] and error > flow.clock[FAILED + 1] * (h / flow.clock[FAILED]) ** 2


@inlined
def is_accurate(flow, error, h):
    """Whether a step is accurate enough: where accelerations bend, as a limit of a joint lets go, it may err more, or
    many steps would be taken to find out when.
    """
    return error <= (BEND if falls_slowly(flow, error, h) else 1.0)


@inlined
def next_scale(flow, error, h, changes):
    """How many times as long as ``h`` (s) the next step may be, after one whose error is so many times what is allowed.

    By the order of the method. Where errors grow from step to step, as at the end of a slip, they are taken to go on
    growing (Gustafsson 1994); where they did not fall with the order, accelerations jump, and errors fall with the
    length alone. If contacts are about to change in a step that is to be taken again, that may be why: half of it.
    """
    kept, now = flow.clock, max(error, 1e-10)
    scale = SAFETY * now**-0.2
    if is_accurate(flow, error, h):
        if kept[TAKEN] > 0.0:
            scale *= min(1.0, h / kept[TAKEN] * (kept[TAKEN + 1] / now) ** 0.2)
        kept[TAKEN], kept[TAKEN + 1], kept[FAILED] = h, max(now, 1e-2), 0.0
        return min(LONGER, max(0.2, scale))
    least = SHORTER
    if falls_slowly(flow, error, h):
        scale, least = min(scale, SAFETY / now), SHORTER * SHORTER
    kept[FAILED], kept[FAILED + 1], kept[TAKEN] = h, error, 0.0
    return 0.5 if changes else max(least, scale)


@inlined
def reach(scale, h, most):
    """How far the next ``most`` steps may come, s, if each is longer than the last, ``h``, as the next one will be by
    its ``scale``, and a little more.
    """
    growth, length, far = max(1.0, scale) * HOPEFUL, h, 0.0
    for _ in range(int(most)):
        length = min(growth * length, LONGEST)
        far += length
    return far
