"""What a motion is at a time: coordinates from splines, places from MuJoCo's kinematics, rates by differences."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.engine.bridge import mj_com_pos, mj_differentiate_pos, mj_kinematics, pointer_to

#: s on both sides of a moment over which velocities and accelerations are differences.
NEAR = 2e-3


class Moment(NamedTuple):
    """A motion at a time: coordinates, and places with their velocities and accelerations (world frame)."""

    qpos: np.ndarray  # (nq,)
    qvel: np.ndarray  # (nv,)
    qacc: np.ndarray  # (nv,)
    com: np.ndarray  # (3, 3) m, m/s, m/s2
    points: np.ndarray  # (3, P, 3) of the contact points, the same
    trunk: np.ndarray  # (3, 3) axes of the root


class StanceTable(NamedTuple):
    """Which points shall stand when: rows of ``every`` s, a column for each point."""

    every: float  # s
    stands: np.ndarray  # (K, P) 1 where it shall
    since: np.ndarray  # (K, P) s since a point that stands came; inf from the start
    wait: np.ndarray  # (K, P) s until a point that does not stand comes; inf for never
    left: np.ndarray  # (K, P) s until a point that stands goes


class MotionTable(NamedTuple):
    """A motion as cubic splines, and the robot that makes it."""

    breaks: np.ndarray  # (N,) s
    coefficients: np.ndarray  # (4, N - 1, nq) of falling powers of the time since a break
    turning: np.ndarray  # (Q,) addresses of quaternions
    height: int  # coordinate that is up, or -1
    lift: np.ndarray  # (1,) m, that is added to it
    root: int  # body
    point_body: np.ndarray  # (P,)
    point_position: np.ndarray  # (P, 3) m, body frame
    model: int  # MuJoCo's, an address
    data: int
    data_qpos: np.ndarray  # (nq,) its arrays
    xpos: np.ndarray
    xmat: np.ndarray
    subtree_com: np.ndarray
    around: np.ndarray  # (3, nq) scratch: coordinates before, now and after
    places: np.ndarray  # (3, P, 3) scratch: contact points then
    centres: np.ndarray  # (3, 3) scratch: centres of mass then
    rates: np.ndarray  # (2, nv) scratch: velocities before and after
    moment: Moment  # what was asked for last


@inlined
def coordinates_at(table, time, qpos):
    """Write the coordinates (nq,) at a time; before the start and after the end the motion rests there."""
    breaks, c = table.breaks, table.coefficients
    low, high = 0, breaks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if time < breaks[middle]:
            high = middle
        else:
            low = middle
    t = min(max(time, breaks[0]), breaks[breaks.size - 1]) - breaks[low]
    for i in range(qpos.size):
        qpos[i] = ((c[0, low, i] * t + c[1, low, i]) * t + c[2, low, i]) * t + c[3, low, i]
    for k in range(table.turning.size):
        first, square = table.turning[k], 0.0
        for i in range(first, first + 4):
            square += qpos[i] * qpos[i]
        for i in range(first, first + 4):
            qpos[i] /= math.sqrt(square)
    if table.height >= 0:
        qpos[table.height] += table.lift[0]


@inlined
def look_at(table, qpos, centre, places):
    """Write centre of mass (3,) and contact points (P, 3) of the robot with these coordinates, m, world frame."""
    for i in range(qpos.size):
        table.data_qpos[i] = qpos[i]
    mj_kinematics(table.model, table.data)
    mj_com_pos(table.model, table.data)
    for c in range(3):
        centre[c] = table.subtree_com[table.root, c]
    for p in range(places.shape[0]):
        at, turned, local = table.xpos[table.point_body[p]], table.xmat[table.point_body[p]], table.point_position[p]
        for r in range(3):
            own = turned[3 * r] * local[0] + turned[3 * r + 1] * local[1] + turned[3 * r + 2] * local[2]
            places[p, r] = at[r] + own


@inlined
def moment_at(table, time):
    """Write everything at a time (s) to ``table.moment``."""
    moment, around, rates = table.moment, table.around, table.rates
    for k in range(3):
        coordinates_at(table, time + (k - 1) * NEAR, around[k])
    for k in range(2):
        rate, before, after = pointer_to(rates[k]), pointer_to(around[k]), pointer_to(around[k + 1])
        mj_differentiate_pos(table.model, rate, NEAR, before, after)
    for j in range(moment.qvel.size):
        moment.qvel[j], moment.qacc[j] = 0.5 * (rates[0, j] + rates[1, j]), (rates[1, j] - rates[0, j]) / NEAR
    for i in range(moment.qpos.size):
        moment.qpos[i] = around[1, i]
    for k in (0, 2, 1):  # now comes last: the robot stays there
        look_at(table, around[k], table.centres[k], table.places[k])
    for c in range(3):
        write_rates(table.centres[0, c], table.centres[1, c], table.centres[2, c], moment.com[:, c])
        for k in range(3):
            moment.trunk[c, k] = table.xmat[table.root, 3 * c + k]
        for p in range(table.places.shape[1]):
            before, now, after = table.places[0, p, c], table.places[1, p, c], table.places[2, p, c]
            write_rates(before, now, after, moment.points[:, p, c])


@inlined
def write_rates(before, now, after, out):
    """Write value, rate and second rate (3,), by differences."""
    out[0], out[1], out[2] = now, (after - before) / (2.0 * NEAR), (after - 2.0 * now + before) / (NEAR * NEAR)
