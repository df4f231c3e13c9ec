"""Where points not on feet would touch the ground, in states of a recording."""

from __future__ import annotations

import numpy as np

from footfall.engine.replay import SPEEDS, States, replay
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.standing import reach, scratch_data


def other_places(
    robot: Robot, ground: Ground, qpos: np.ndarray, qvel: np.ndarray, which: np.ndarray
) -> dict[str, np.ndarray]:
    """Where points of ``robot.others`` would touch in each of S states (S, nq), (S, nv), world frame.

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
