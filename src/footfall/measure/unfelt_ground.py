"""Ground that reaches into soles between their contact points, where no law of contact points feels it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.engine.replay import PLACES, States, replay
from footfall.standing import scratch_data

if TYPE_CHECKING:
    from footfall.record import Record
    from footfall.robot.foot import Foot

#: Parts into which a triangle of a sole is divided along each side.
PARTS = 4


def ground_in_soles(rec: Record) -> np.ndarray:
    """(T,) m, how much deeper than its contact points a sole is in the ground anywhere between them.

    A ridge or the edge of a step is felt only where a contact point touches it.
    """
    robot, ground = rec.robot, rec.ground
    deepest = np.zeros(len(rec.time))
    soles = [i for i, foot in enumerate(robot.feet) if len(foot.polygon) >= 3 and not foot.axes.any()]
    if ground.flat or not soles:
        return deepest
    data, model = scratch_data(robot.model), robot.model
    states = States(rec.qpos, rec.qvel, np.zeros((len(deepest), model.nu)))
    turns, origins = replay(data, PLACES, states, (data.xmat, data.xpos))
    for i in soles:
        foot = robot.feet[i]
        body = model.body(foot.body).id
        turn = turns.reshape(-1, model.nbody, 3, 3)[:, body]
        places = np.einsum("tij,pj->tpi", turn, _spread_over(foot)) + origins.reshape(-1, model.nbody, 3)[:, None, body]
        felt = np.maximum(0.0, -rec.gap[:, np.flatnonzero(robot.point_foot == i)]).max(axis=1)
        deepest = np.maximum(deepest, np.nan_to_num(-ground.gap(places)[0], nan=0.0).max(axis=1) - felt)
    return deepest


def _spread_over(foot: Foot) -> np.ndarray:
    """(N, 3) places of a sole, body frame, m: a lattice over the triangles between its middle and its sides."""
    ring = foot.polygon
    middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
    i, j = (one.ravel() for one in np.meshgrid(*[np.arange(PARTS + 1)] * 2))
    inside = i + j <= PARTS
    weights = np.stack([PARTS - i - j, i, j], axis=1)[inside] / PARTS
    triangles = np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)
    return np.unique(np.einsum("nk,vkc->vnc", weights, triangles).reshape(-1, 3), axis=0)
