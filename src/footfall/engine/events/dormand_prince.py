"""Dormand and Prince's method: a step of fifth order, its error, and how long the next one may be."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.events.flow import FAILED, LOOSENED, TAKEN
from footfall.engine.events.tableau import STAGES
from footfall.solve.dense import copy

#: Safety factor on the length of a step, so that few are rejected; and the largest and smallest ratio to the last one.
SAFETY, LONGER, SHORTER = 0.8, 50.0, 0.1
#: Error of a step, relative to the tolerance, that is accepted where accelerations have a kink.
BEND = 10.0
#: Longest and shortest step, s.
LONGEST, SHORTEST = 0.01, 1e-9
#: Factor on the growth of steps that is hoped for before a period is given up.
HOPEFUL = 2.0
#: Share of the predicted progress of steps that is relied on, and steps reserved for events.
SURE, SPARED = 0.6, 1.0
#: Largest tolerance, whatever a period costs: beyond it a time step is as good.
LOOSEST = 1e-5


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
    """Weight of stage ``j`` after this fraction (0 to 1) of a step."""
    a = flow.within[j]
    return part * (a[0] + part * (a[1] + part * (a[2] + part * a[3])))


@inlined
def rate_within(flow, j, part):
    """The derivative of that weight."""
    a = flow.within[j]
    return a[0] + part * (2.0 * a[1] + part * (3.0 * a[2] + part * 4.0 * a[3]))


@inlined
def set_part(flow, part):
    """Let stage ``STAGES`` be the state after this fraction (0 to 1) of a step."""
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
    worst, allowed = 0.0, flow.clock[LOOSENED] * flow.tolerance
    for i in range(nq + nv):
        value = 0.0
        for j in range(STAGES):
            value += flow.error[j] * flow.slope[j, i]
        now = world.qpos[i] if i < nq else world.qvel[i - nq]
        miss = abs(h * value) / (allowed * (1.0 + max(abs(now), abs(flow.start[i]))))
        worst = miss if not miss <= worst else worst
    return worst


@inlined
def falls_slowly(flow, error, h):
    """Whether the error of a step fell less than the order of the method promises: accelerations have a
    jump or kink.
    """
    return h < flow.clock[FAILED] and error > flow.clock[FAILED + 1] * (h / flow.clock[FAILED]) ** 2


@inlined
def is_accurate(flow, error, h):
    """Whether a step is accurate enough. At a kink of accelerations, for instance where a joint leaves its limit, more
    error is allowed, or many steps would be spent on locating it.
    """
    return error <= (BEND if falls_slowly(flow, error, h) else 1.0)


@inlined
def next_scale(flow, error, h, changes):
    """Ratio of the next step's length to ``h`` (s), after a step with this error relative to the tolerance.

    It follows from the order of the method. Errors that grow from step to step, as at the end of a slip, are
    extrapolated (Gustafsson 1994). If they fell less than the order promises, accelerations jump, and errors are
    proportional to the length. If contacts are about to change in a rejected step, that may be the cause, and the step
    is halved.
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
def loosen(flow, error, h, left, most):
    """The error of a step of ``h`` seconds relative to the tolerance, which is loosened if ``most`` further steps would
    not reach the end of the period, ``left`` seconds away.
    """
    scale = min(LONGER, SAFETY * max(error, 1e-10) ** -0.2)
    far = SURE * reach(scale, h, max(1.0, most - SPARED), 1.0)
    if far >= left - h:
        return error
    times = min(((left - h) / far) ** 5, max(1.0, LOOSEST / (flow.clock[LOOSENED] * flow.tolerance)))
    flow.clock[LOOSENED] *= times
    return error / times


@inlined
def reach(scale, h, most, hopeful):
    """How far the next ``most`` steps may come, s, if each is ``scale`` times ``hopeful`` as long as the one before,
    from ``h`` on.
    """
    growth, length, far = max(1.0, scale) * hopeful, min(1.0, scale) * h, 0.0
    for _ in range(int(most)):
        length = min(growth * length, LONGEST)
        far += length
    return far
