"""MuJoCo's quantities in recorded states, computed in a compiled loop, which is five times as fast as one in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.engine.bridge import (
    mj_com_pos,
    mj_com_vel,
    mj_energy_pos,
    mj_energy_vel,
    mj_fwd_actuation,
    mj_fwd_velocity,
    mj_kinematics,
    mj_make_m,
    mj_rne_post_constraint,
    mj_subtree_vel,
    mj_tendon,
    mj_transmission,
)
from footfall.ground import Ground
from footfall.kinds import Int, Matrix, Vector
from footfall.robot import Robot
from footfall.standing import reach, scratch_data

#: Stages of computation: poses of bodies; also velocities; also momenta and inverse dynamics; actuators and energies.
PLACES, SPEEDS, MOTION, ACTUATION = 0, 1, 2, 3
FIELDS = 5  # most fields per replay, so that one compiled function serves all


class States(NamedTuple):
    """T states with accelerations or controls; one of them, without T, in MuJoCo's data."""

    qpos: np.ndarray  # (T, nq)
    qvel: np.ndarray  # (T, nv)
    input: np.ndarray  # (T, nv) accelerations for MOTION, (T, nu) controls for ACTUATION


class Activations(NamedTuple):
    """Steps and limits for integrating the activations of actuators from sample to sample."""

    step: Vector  # (T,) s
    low: Vector  # (na,)
    high: Vector  # (na,)


def replay(
    data: mujoco.MjData,
    stage: int,
    states: States,
    fields: Sequence[np.ndarray],
    activations: Activations | None = None,
) -> list[np.ndarray]:
    """(T, size) each: ``fields``, arrays of ``data`` or parts of them in one piece, in every state."""
    count, empty = len(states.qpos), np.zeros(0)
    sources = [field.reshape(-1) for field in fields]
    assert all(np.shares_memory(a, b) for a, b in zip(sources, fields, strict=True) if a.size)
    found = [np.zeros((count, source.size)) for source in sources]
    spare = FIELDS - len(fields)
    _replay(
        (data.model._address, data._address, stage),
        States(*(np.array(one, dtype=float, order="C") for one in states)),
        States(data.qpos, data.qvel, data.qacc if stage == MOTION else data.ctrl),
        (*sources, *[empty] * spare),
        (*found, *[np.zeros((count, 0))] * spare),
        activations or Activations(np.zeros(count), empty, empty),
        (data.act, data.act_dot) if activations is not None else (empty, empty),
    )
    return found


def replay_places(data: mujoco.MjData, qpos: np.ndarray, fields: Sequence[np.ndarray]) -> list[np.ndarray]:
    """As :func:`replay`, for poses (T, nq) and fields that depend on them alone."""
    model, count = data.model, len(qpos)
    return replay(data, PLACES, States(qpos, np.zeros((count, model.nv)), np.zeros((count, model.nu))), fields)


@kernel
def _replay(
    which: tuple[Int, Int, Int],
    states: States,
    own: States,
    sources: tuple[Vector, Vector, Vector, Vector, Vector],
    found: tuple[Matrix, Matrix, Matrix, Matrix, Matrix],
    activations: Activations,
    act: tuple[Vector, Vector],
) -> None:
    """Let MuJoCo compute each state up to a stage, and write the fields of ``sources`` (F,) to ``found``."""
    model, data, stage = which
    for k in range(len(states.qpos)):
        for i in range(own.qpos.size):
            own.qpos[i] = states.qpos[k, i]
        for i in range(own.qvel.size):
            own.qvel[i] = states.qvel[k, i]
        for i in range(own.input.size):
            own.input[i] = states.input[k, i]
        mj_kinematics(model, data)
        if stage != PLACES:
            mj_com_pos(model, data)
        if stage in (SPEEDS, MOTION):
            mj_com_vel(model, data)
        if stage == MOTION:
            mj_subtree_vel(model, data)
            mj_rne_post_constraint(model, data)
        elif stage == ACTUATION:
            mj_tendon(model, data)
            mj_make_m(model, data)
            mj_transmission(model, data)
            mj_fwd_velocity(model, data)
            mj_fwd_actuation(model, data)
            mj_energy_pos(model, data)
            mj_energy_vel(model, data)
        for f in range(FIELDS):
            source, target = sources[f], found[f]
            for i in range(source.size):
                target[k, i] = source[i]
        for i in range(activations.low.size):
            value = act[0][i] + activations.step[k] * act[1][i]
            act[0][i] = min(max(value, activations.low[i]), activations.high[i])


#: Samples whose contact positions are computed at once: some megabytes for a robot of a hundred points.
AT_ONCE = 500


def other_places(
    robot: Robot, ground: Ground, qpos: np.ndarray, qvel: np.ndarray, which: np.ndarray
) -> dict[str, np.ndarray]:
    """Potential contacts of points of ``robot.others`` in each of S states (S, nq), (S, nv), world frame.

    "position" (S, C, 3) m, "velocity" of the material points there (S, C, 3) m/s, "normal" (S, C, 3) of the ground, and
    "gap" (S, C) m, infinite without ground.
    """
    others, model, data = robot.others, robot.model, scratch_data(robot.model)
    body, radius = others.of_body[which], others.radius[which, None]
    states = States(qpos, qvel, np.zeros((len(qpos), model.nu)))
    fields = (data.xmat, data.xpos, data.cvel, data.subtree_com)
    turns, origin, spin, com = (one.reshape(len(qpos), model.nbody, -1) for one in replay(data, SPEEDS, states, fields))
    turns, origin, spin, com = turns[:, body], origin[:, body], spin[:, body], com[:, model.body_rootid[body]]
    turn = turns.reshape(*turns.shape[:2], 3, 3)
    centre = origin + np.einsum("spij,pj->spi", turn, others.points[which])
    at = centre.copy()
    curved = np.flatnonzero(others.axes[which].any(axis=(1, 2)))  # ellipsoids
    axes = turn[:, curved] @ others.axes[which[curved]]
    for _ in range(2 if curved.size else 0):
        _, normal = ground.gap(at[:, curved], reach(robot))
        along = np.einsum("spji,spj->spi", axes, normal)
        size = np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
        at[:, curved] = centre[:, curved] - np.einsum("spij,spj->spi", axes, along) / size
    gap, normal = ground.gap(at, reach(robot))
    at = at - radius * normal
    velocity = spin[..., 3:] + np.cross(spin[..., :3], at - com)
    gap = np.nan_to_num(gap - radius[:, 0], nan=np.inf)
    return {"position": at, "velocity": velocity, "normal": normal, "gap": gap}
