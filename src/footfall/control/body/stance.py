"""A standing robot: its size, the forces that carry it, the stability of its stance, and its pose on a slope.

At rest contact forces, equalities (loops, mimic joints), springs of joints without a motor (which deflect until they
carry their part), and motors balance the generalised forces of gravity.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import AT_JOINT, HINGE, SLIDE, centre_of_mass, moving_bodies
from footfall.robot.motors import Drives
from footfall.standing import (
    at_home,
    in_pose,
    inertia_of,
    loop_rows,
    lowest_places,
    place,
    point_gaps,
    point_jacobian,
    point_positions,
)


class Size(NamedTuple):
    """The quantities that gains scale with."""

    mass: float  # kg
    inertia: float  # kg m2, about a horizontal axis through the centre of mass, standing
    height: float  # m, of the centre of mass
    gravity: np.ndarray  # (3,) m/s2
    points: int  # contact points

    @property
    def rate(self) -> float:
        """1/s2, at which an inverted pendulum of this height falls: g/h."""
        return float(np.linalg.norm(self.gravity)) / self.height


def size_of(robot: Robot, points: int) -> Size:
    """Mass, inertia and height of a robot that stands at home, without other moving bodies of its scene."""
    model = robot.model
    data = at_home(robot)
    moving = moving_bodies(model) & (model.body_rootid == model.body_rootid[robot.point_body[0]])
    mass, places = model.body_mass[moving], data.xipos[moving]
    com = mass @ places / mass.sum()
    inertia = 0.0
    for body in np.flatnonzero(moving):
        axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - com
        own = axes**2 @ model.body_inertia[body]  # the diagonal, in the world's axes
        inertia += 0.5 * (own[0] + own[1] + model.body_mass[body] * (arm @ arm + arm[2] ** 2))
    height = max(float(com[2]), 1e-3)
    return Size(float(mass.sum()), float(inertia), height, robot.gravity, points)


#: Weight of contact forces over those of loops and springs in the norm that is minimised.
CHEAP = 1e3
#: Singular values below this share of the largest count as zero.
RANK = 1e-9
#: Iteration limit of the deflection of springs, and the change of the pose (m or rad) at which it has converged.
SPRING_ITERATIONS, SPRINGS_SETTLED = 30, 1e-10
#: Step of the differences that give the stiffness of a stance, m or rad.
DIFFERENCE = 1e-5


class Rest(NamedTuple):
    """The forces that hold a robot at rest in a pose, and their Jacobians."""

    torque: np.ndarray  # (nv,) N m or N, of motors
    force: np.ndarray  # (P, 3) N, world frame, of contact points
    loop: np.ndarray  # (E,) of equality rows
    spring: np.ndarray  # (nv,) N m, of deflecting springs
    contact_rows: np.ndarray  # (3P, nv) Jacobian of the points
    loop_rows: np.ndarray  # (E, nv) Jacobian of the equalities
    loop_error: np.ndarray  # (E,) m or rad


def check_weight(robot: Robot, purpose: str) -> None:
    """Refuse a robot without weight: nothing would press its feet down."""
    if not robot.weight > 0.0:
        raise ControllerError(
            f'{purpose} needs gravity, and the model of {robot.name} has none: add <option gravity="0 0 -9.81"/>'
        )


def check_torques(
    robot: Robot, driving: Drives, motors: np.ndarray, load: np.ndarray, purpose: str, how: str, qpos: np.ndarray
) -> None:
    """Refuse a robot whose ``motors`` (numbers) cannot give their part of ``load`` (nv,), N m, at rest at ``qpos``.

    ``how`` completes the sentence "is too weak to stand".
    """
    worst, needed, given = most_lacking(driving, motors, load, qpos)
    if given != needed:
        sign = 1.0 if needed > given else -1.0
        raise ControllerError(
            f"{purpose}: {robot.name} is too weak to stand {how}: motor '{robot.actuator_names[worst]}' gives "
            f"{sign * given:.3g} N m and {sign * needed:.3g} N m are needed"
        )


def most_lacking(driving: Drives, motors: np.ndarray, load: np.ndarray, qpos: np.ndarray) -> tuple[int, float, float]:
    """Of these ``motors`` (numbers), the one that lacks most of its part of ``load`` (nv,) at rest at ``qpos``; that
    part, and what it gives of it, N m.
    """
    least, most = driving.range_at(qpos)
    needed = load[driving.dof]
    given = np.clip(needed, least, most)
    worst = int(motors[np.abs(needed - given)[motors].argmax()])
    return worst, float(needed[worst]), float(given[worst])


def actuated_dofs(robot: Robot) -> np.ndarray:
    """(nv,) where motors act on joints."""
    model = robot.model
    actuated = np.zeros(model.nv, dtype=bool)
    joints = model.actuator_trnid[np.isin(model.actuator_trntype, AT_JOINT) & ~robot.root_motors, 0]
    actuated[model.jnt_dofadr[joints]] = True
    return actuated


def giving_springs(robot: Robot) -> np.ndarray:
    """Joints of one dof with a spring and without a motor."""
    model = robot.model
    single = np.isin(model.jnt_type, (SLIDE, HINGE))
    return np.flatnonzero(single & (model.jnt_stiffness > 0) & ~actuated_dofs(robot)[model.jnt_dofadr])


def settled(robot: Robot, qpos: np.ndarray) -> np.ndarray:
    """(nq,) the pose with deflected springs: root and contact points stay, loops close, joints with motors adapt.

    ``qpos`` itself if no spring deflects, or if no such pose is found.
    """
    model, joints = robot.model, giving_springs(robot)
    if not joints.size:
        return qpos
    data = in_pose(robot, qpos)
    places = point_positions(robot, data)
    address, dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    identity = np.eye(model.nv)
    root = identity[np.flatnonzero(model.body_parentid[model.dof_bodyid] == 0)]
    for _ in range(SPRING_ITERATIONS):
        now = rest(robot, data)
        wanted = model.qpos_spring[address] - now.spring[dofs] / model.jnt_stiffness[joints]
        rows = np.concatenate([now.contact_rows, now.loop_rows, identity[dofs], root])
        gaps = (places - point_positions(robot, data)).ravel()
        errors = np.concatenate([gaps, -now.loop_error, wanted - data.qpos[address], np.zeros(len(root))])
        change = np.linalg.lstsq(rows, errors, rcond=RANK)[0]
        mujoco.mj_integratePos(model, data.qpos, change, 1.0)
        mujoco.mj_forward(model, data)
        if np.abs(change).max() < SPRINGS_SETTLED:
            return data.qpos.copy()
    return qpos


def stiffness(robot: Robot, qpos: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Eigenvalues (1/s2), least first, of a stance held by proportional ``gains`` (nv,); a negative one is a fall.

    Points in contact do not move and loops stay closed; the remaining motions are under gravity, springs and gains,
    with constant contact forces.
    """
    data = in_pose(robot, qpos)
    now, inertia = rest(robot, data), inertia_of(data)
    rows = np.concatenate([now.contact_rows, now.loop_rows])
    _, sizes, ways = np.linalg.svd(rows, full_matrices=len(rows) < rows.shape[1])  # all of the second basis
    free = ways[(sizes > 1e-6 * sizes.max()).sum() :].T  # the motions that the rows do not see
    if not free.size:
        return np.zeros(0)
    total = free.T @ (load_slope(robot, qpos, now.force, now.loop) + np.diag(gains)) @ free
    half = np.linalg.inv(np.linalg.cholesky(free.T @ inertia @ free))
    return np.linalg.eigvalsh(half @ total @ half.T)


def load_slope(robot: Robot, qpos: np.ndarray, force: np.ndarray, loop: np.ndarray) -> np.ndarray:
    """(nv, nv) derivative, made symmetric, of the generalised forces that keep a robot at rest at ``qpos`` beside
    constant contact forces ``force`` (P, 3) and ``loop`` (E,) of equalities.
    """
    model, data = robot.model, in_pose(robot, qpos)
    slope = np.zeros((model.nv, model.nv))
    for j in range(model.nv):
        for sign in (-1.0, 1.0):
            data.qpos[:] = qpos
            mujoco.mj_integratePos(model, data.qpos, sign * DIFFERENCE * np.eye(model.nv)[j], 1.0)
            mujoco.mj_forward(model, data)
            held = data.qfrc_bias - data.qfrc_passive
            held -= point_jacobian(robot, data, point_positions(robot, data)).T @ force.ravel()
            slope[:, j] += sign / (2.0 * DIFFERENCE) * (held - loop_rows(data).T @ loop)
    return 0.5 * (slope + slope.T)


def rest(robot: Robot, data: mujoco.MjData) -> Rest:
    """The forces that hold a robot at rest in the pose of ``data``, with contact forces of least norm."""
    model, giving = robot.model, robot.model.jnt_dofadr[giving_springs(robot)]
    held = data.qfrc_bias - data.qfrc_passive
    held[giving] += data.qfrc_spring[giving]
    contact, loop = point_jacobian(robot, data, point_positions(robot, data)), loop_rows(data)
    rows = np.concatenate([contact, CHEAP * loop, CHEAP * np.eye(model.nv)[giving]])
    free = ~actuated_dofs(robot)
    force = np.linalg.lstsq(rows[:, free].T, held[free], rcond=RANK)[0]
    torque = held - rows.T @ force
    torque[free] = 0.0
    first, second = len(contact), len(contact) + len(loop)
    spring = np.zeros(model.nv)
    spring[giving] = CHEAP * force[second:]
    return Rest(
        torque=torque,
        force=force[:first].reshape(-1, 3),
        loop=CHEAP * force[first:second],
        spring=spring,
        contact_rows=contact,
        loop_rows=loop,
        loop_error=data.efc_pos[: data.ne].copy(),
    )


#: Iteration limit of the pose on a slope; longest change in one, and change at which it has converged, rad or m.
ITERATIONS, LONGEST, SETTLED = 60, 0.2, 1e-7
#: Largest error of a point's height over the ground, m.
TOUCHING = 1e-9
#: Singular values below this share of a task's largest are directions that tasks of higher priority determine.
TASK_RANK = 1e-6
#: Weight of metres of the feet in the last task, relative to radians of the joints.
FEET_STAY = 10.0


@lru_cache(maxsize=8)  # a run asks twice, for its start and for its target
def stance(robot: Robot, ground: Ground) -> np.ndarray:
    """(nq,) the pose to stand in at the origin of a plane or a slope, world frame, read-only.

    In order of priority: the points of the feet are as high over the ground as at home over a level one, where soles
    need not be flat; the centre of mass keeps its horizontal place over them; the trunk keeps its attitude; feet and
    joints stay near their home values. On level ground, and where no such pose is found (on ground that is not a plane,
    or beyond the joints' limits), it is the home pose set down on the ground.
    """
    start = place(robot, ground, (0.0, 0.0), align=False)
    start.setflags(write=False)
    if ground.kind != "slope":
        return start
    model, data = robot.model, in_pose(robot, start)
    low = lowest_places(robot, data)[:, 2]
    height, home = low - low.min(), _stood(robot, data)
    limited = np.flatnonzero(np.isin(model.jnt_type, (HINGE, SLIDE)) & (model.jnt_limited != 0))
    at, (least, most) = model.jnt_qposadr[limited], model.jnt_range[limited].T
    change = math.inf
    for _ in range(ITERATIONS):
        gaps, normals = point_gaps(robot, ground, data)
        errors = gaps - height  # (P,) m, how much farther from the ground than they shall
        if change < SETTLED and np.abs(errors).max() < TOUCHING:
            start = data.qpos.copy()
            start.setflags(write=False)
            break
        step = _by_priority(model.nv, _tasks(robot, data, home, errors, normals))
        step *= min(1.0, LONGEST / max(np.abs(step).max(), LONGEST))
        before = data.qpos.copy()
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)
        data.qpos[at] = np.clip(data.qpos[at], least, most)
        change = float(np.abs(data.qpos - before).max())
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
    return start


class _Stood(NamedTuple):
    """How a robot stands."""

    qpos: np.ndarray  # (nq,)
    places: np.ndarray  # (P, 2) m, of its contact points
    com: np.ndarray  # (2,) m, of the centre of mass over their middle
    attitude: np.ndarray  # (4,) quaternion of the trunk


def _stood(robot: Robot, data: mujoco.MjData) -> _Stood:
    places = point_positions(robot, data)[:, :2]
    com = centre_of_mass(robot.model, data)[:2] - places.mean(axis=0)
    return _Stood(data.qpos.copy(), places, com, data.xquat[robot.model.body_rootid[robot.point_body[0]]].copy())


def _by_priority(nv: int, tasks: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(nv,) a step of Gauss and Newton on tasks (rows, errors), each in the null space of those before it."""
    step, free = np.zeros(nv), np.eye(nv)
    for rows, errors in tasks:
        left = rows @ free
        outer, sizes, inner = np.linalg.svd(left, full_matrices=False)
        kept = sizes > TASK_RANK * np.linalg.norm(rows, 2)
        inverse = (inner[kept].T / sizes[kept]) @ outer[:, kept].T
        step = step - free @ (inverse @ (errors + rows @ step))
        free = free @ (np.eye(nv) - inverse @ left)
    return step


def _tasks(
    robot: Robot, data: mujoco.MjData, home: _Stood, errors: np.ndarray, normals: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Jacobian and error of each task, those of higher rank first: touch, weight, trunk, and to stay as at ``home``."""
    model, now = robot.model, _stood(robot, data)
    trunk = int(model.body_rootid[robot.point_body[0]])
    jacobian = point_jacobian(robot, data).reshape(-1, 3, model.nv)
    over, turn, tilt, away = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros(3), np.zeros(model.nv)
    mujoco.mj_jacSubtreeCom(model, data, over, 0)
    over *= model.body_subtreemass[0] / robot.mass  # without bodies fixed in the world
    mujoco.mj_jacBody(model, data, None, turn, trunk)
    mujoco.mju_subQuat(tilt, now.attitude, home.attitude)  # in the body's frame
    mujoco.mj_differentiatePos(model, away, 1.0, home.qpos, now.qpos)
    level, moved = jacobian[:, :2], (now.places - home.places).ravel()
    stay = np.vstack([FEET_STAY * level.reshape(-1, model.nv), np.eye(model.nv)])
    return [
        (np.einsum("pi,pij->pj", normals, jacobian), errors),
        (over[:2] - level.mean(axis=0), now.com - home.com),
        (turn, data.xmat[trunk].reshape(3, 3) @ tilt),
        (stay, np.concatenate([FEET_STAY * moved, away])),
    ]
