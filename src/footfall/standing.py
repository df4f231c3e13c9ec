"""A robot on a ground: its standing pose, and positions and Jacobians of its contact points."""

from __future__ import annotations

import math
import threading
from functools import lru_cache

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.ground import Ground
from footfall.kinds import Bool, Float
from footfall.robot import Robot
from footfall.robot.model import FREE, height_of_root

#: Height of the centre of mass, or of the base, below which a robot has fallen, as a share of its standing height: legs
#: folded so far carry it no more.
FALLEN_HEIGHT = 0.5
#: Tilt of the trunk from its standing attitude, rad, beyond which a robot has fallen: its head is below its hips. From
#: less it may recover, as the biped of Ott 2011 does from 1.5 rad.
FALLEN_TILT = 0.5 * math.pi
#: Distance, m, beyond the radius of a robot's largest ball, up to which the nearest point of uneven ground is exact.
BEYOND = 0.02


@inlined
def fallen(height: Float, standing: Float, tilt: Float) -> Bool:
    """Whether a robot has fallen: the one definition for controllers, measures, worlds and learning.

    ``height`` (m) is that of its centre of mass, or of its base, over the ground, ``standing`` (m) what it is when the
    robot stands, ``tilt`` (rad) the angle of its trunk from the standing attitude; 0 where it has no trunk. Called as
    ``fallen.py_func`` it takes arrays.
    """
    return (height < FALLEN_HEIGHT * standing) | (tilt > FALLEN_TILT)


def point_jacobian(robot: Robot, data: mujoco.MjData, places: np.ndarray | None = None) -> np.ndarray:
    """(3P, nv) Jacobian of all contact points, of round ones at their lowest place, or at ``places`` (P, 3), world
    frame.
    """
    places = lowest_places(robot, data) if places is None else places
    model = data.model
    rows = np.zeros((len(places), 3, model.nv))
    for own, body, at in zip(rows, robot.point_body.tolist(), places, strict=True):
        mujoco.mj_jac(model, data, own, None, at, body)
    return rows.reshape(-1, model.nv)


def jacobian_at(data: mujoco.MjData, body: int, at: np.ndarray) -> np.ndarray:
    """(6, nv) Jacobian, translation and rotation, of the point of a body that is at a place (3,) in m, world frame."""
    rows = np.zeros((6, data.model.nv))
    mujoco.mj_jac(data.model, data, rows[:3], rows[3:], at, int(body))
    return rows


def place_on(data: mujoco.MjData, body: int, local: np.ndarray) -> np.ndarray:
    """(3,) m, world position of a point (3,) of a body, given in the body's frame."""
    place: np.ndarray = data.xpos[body] + data.xmat[body].reshape(3, 3) @ local
    return place


def inertia_of(data: mujoco.MjData) -> np.ndarray:
    """(nv, nv) inertia matrix in the state of ``data``."""
    inertia = np.zeros((data.model.nv, data.model.nv))
    mujoco.mj_fullM(data.model, data, inertia)
    return inertia


def loop_rows(data: mujoco.MjData) -> np.ndarray:
    """(E, nv) Jacobian of the equalities, whichever way MuJoCo keeps it."""
    model, count = data.model, data.ne
    if not mujoco.mj_isSparse(model):
        return data.efc_J.reshape(-1, model.nv)[:count].copy()
    rows = np.zeros((count, model.nv))
    mujoco.mju_sparse2dense(rows, data.efc_J, data.efc_J_rownnz[:count], data.efc_J_rowadr[:count], data.efc_J_colind)
    return rows


def in_pose(robot: Robot, qpos: np.ndarray) -> mujoco.MjData:
    """The robot at rest in a pose (nq,), with everything that MuJoCo computes of it."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(robot.model, data)
    return data


def lowest_places(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """(P, 3) lowest places of all contact points, where they touch level ground, world frame, m."""
    up = np.array([0.0, 0.0, 1.0])
    axes = data.xmat[robot.point_body].reshape(-1, 3, 3) @ robot.point_axes
    along = axes[:, 2]
    size = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    return point_positions(robot, data) - robot.point_radius[:, None] * up - np.einsum("pij,pj->pi", axes, along / size)


def reach(robot: Robot) -> float:
    """Distance up to which the nearest point of the ground must be exact, m: beyond the radii of points and balls."""
    return BEYOND + float(max(robot.point_radius.max(initial=0.0), robot.others.radius.max(initial=0.0)))


def point_gaps(robot: Robot, ground: Ground, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Gap (P,) m between each contact point and the ground, and the ground's normal (P, 3), at the state in ``data``.

    Round ones and ellipsoids are measured against the plane under their centres.
    """
    gap, normal = ground.gap(point_positions(robot, data), reach(robot))
    if robot.point_axes.any():
        axes = data.xmat[robot.point_body].reshape(-1, 3, 3) @ robot.point_axes
        gap = gap - np.linalg.norm(np.einsum("pji,pj->pi", axes, normal), axis=1)
    return gap - robot.point_radius, normal


def point_positions(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """(P, 3) contact points at the state in ``data``, world frame, m; the centres of round ones."""
    rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
    return data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)


def place(robot: Robot, ground: Ground, at: tuple[float, float], *, align: bool) -> np.ndarray:
    """The home pose set down on the ground at ``at``; see :meth:`footfall.Simulation.place`.

    Several robots in one model are each set down, and all are moved alike.
    """
    model = robot.model
    data = scratch_data(model)
    data.qpos[:] = robot.home
    roots = model.body_rootid[robot.point_body]
    rising: list[tuple[int, float, np.ndarray]] = []  # address of a root's height, its sign, which points it moves
    for root in dict.fromkeys(roots.tolist()):
        joints = range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root])
        free = next((model.jnt_qposadr[j] for j in joints if model.jnt_type[j] == FREE), None)
        if free is not None:
            data.qpos[free : free + 2] += at
            if align:
                _, normal = ground.gap(np.array([*at, float(ground.height(*at))]))
                turn = np.zeros(4)
                mujoco.mju_quatZ2Vec(turn, np.ascontiguousarray(normal, dtype=float))
                mujoco.mju_mulQuat(data.qpos[free + 3 : free + 7], turn, data.qpos[free + 3 : free + 7].copy())
        height = height_of_root(model, root)
        if height is not None:
            rising.append((*height, roots == root))
    for _ in range(50 if rising else 0):  # one pass on a plane; a few where the height changes under the feet
        mujoco.mj_kinematics(model, data)
        gap, normal = point_gaps(robot, ground, data)
        lifts = [-np.min((gap / np.maximum(normal[:, 2], 0.1))[own]) for _, _, own in rising]
        for (address, sign, _), lift in zip(rising, lifts, strict=True):
            data.qpos[address] += sign * lift
        if max(map(abs, lifts)) < 1e-12:
            break
    return data.qpos.copy()


@lru_cache(maxsize=8)
def unit_rise(robot: Robot) -> np.ndarray:
    """(nq,) change of the coordinates per m of height: the z of free bases, or the coordinate of a vertical slide."""
    low, high = (place(robot, Ground.plane(height=height), (0.0, 0.0), align=False) for height in (0.0, 1.0))
    return np.array(high - low)


def at_home(robot: Robot, data: mujoco.MjData | None = None) -> mujoco.MjData:
    """The robot in its home pose, with positions of bodies and centres of mass computed, in ``data`` or in data of its
    own.
    """
    data = mujoco.MjData(robot.model) if data is None else data
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(robot.model, data)
    mujoco.mj_comPos(robot.model, data)
    return data


_kept = threading.local()


def scratch_data(model: mujoco.MjModel) -> mujoco.MjData:
    """MuJoCo's data in its first state, valid until this thread asks again; making one takes longer than using it."""
    if getattr(_kept, "model", None) is model:
        mujoco.mj_resetData(model, _kept.data)
    else:
        _kept.model, _kept.data = model, mujoco.MjData(model)
    data: mujoco.MjData = _kept.data
    return data
