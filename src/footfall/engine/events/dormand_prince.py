"""Dormand and Prince's method: a step of fifth order, its error estimate, its continuous extension, and step sizes."""

from __future__ import annotations

import numpy as np

from footfall.compiled import inlined
from footfall.engine.world import MjWorld
from footfall.kinds import Float, Int, Named, Vector
from footfall.solve.dense import copy

#: Stages of the method, the last at the end of the step; the state at an instant within the step is stage ``STAGES``.
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
#: Safety factor on the length of a step, so that few are rejected; and the largest and smallest ratio to the last one.
SAFETY, LONGER, SHORTER = 0.8, 50.0, 0.1
#: Longest and shortest step, s.
LONGEST, SHORTEST = 0.01, 1e-9


@inlined
def allowed(flow: Named) -> Float:
    """How far a step may err now, m/s or rad/s."""
    return flow.loosened[0] * flow.tolerance


@inlined
def read_state(world: MjWorld, state: Vector) -> None:
    """Copy positions, velocities and activations into ``state`` (n,)."""
    nq, nv = world.qpos.size, world.qvel.size
    copy(state[:nq], world.qpos)
    copy(state[nq : nq + nv], world.qvel)
    copy(state[nq + nv :], world.act)


@inlined
def write_state(world: MjWorld, state: Vector) -> None:
    """Put the world into a ``state`` (n,)."""
    nq, nv = world.qpos.size, world.qvel.size
    copy(world.qpos, state[:nq])
    copy(world.qvel, state[nq : nq + nv])
    copy(world.act, state[nq + nv :])


@inlined
def read_slope(world: MjWorld, flow: Named, slope: Vector) -> None:
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
def weight_within(flow: Named, j: Int, part: Float) -> Float:
    """Weight of stage ``j`` after this fraction (0 to 1) of a step."""
    a = flow.within[j]
    return part * (a[0] + part * (a[1] + part * (a[2] + part * a[3])))


@inlined
def rate_within(flow: Named, j: Int, part: Float) -> Float:
    """The derivative of that weight."""
    a = flow.within[j]
    return a[0] + part * (2.0 * a[1] + part * (3.0 * a[2] + part * 4.0 * a[3]))


@inlined
def value_within(flow: Named, i: Int, part: Float, h: Float) -> Float:
    """Number ``i`` of the state after this fraction (0 to 1) of a step of ``h`` seconds."""
    value = 0.0
    for j in range(STAGES):
        value += weight_within(flow, j, part) * flow.slope[j, i]
    return flow.start[i] + h * value


@inlined
def set_part(flow: Named, part: Float) -> None:
    """Let stage ``STAGES`` be the state after this fraction (0 to 1) of a step."""
    for j in range(STAGES):
        flow.weights[STAGES, j] = weight_within(flow, j, part)


@inlined
def set_stage(world: MjWorld, flow: Named, stage: Int, h: Float) -> None:
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
def step_error(world: MjWorld, flow: Named, h: Float) -> Float:
    """Estimated error of a step over what is allowed."""
    nq, nv = world.qpos.size, world.qvel.size
    worst, bound = 0.0, allowed(flow)
    for i in range(nq + nv):
        value = 0.0
        for j in range(STAGES):
            value += flow.error[j] * flow.slope[j, i]
        now = world.qpos[i] if i < nq else world.qvel[i - nq]
        miss = abs(h * value) / (bound * (1.0 + max(abs(now), abs(flow.start[i]))))
        worst = miss if not miss <= worst else worst
    return worst


@inlined
def next_scale(error: Float) -> Float:
    """Ratio of the next step's length to that of a step with this error relative to the tolerance."""
    return min(LONGER, max(SHORTER, SAFETY * max(error, 1e-10) ** -0.2))
