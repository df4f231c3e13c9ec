"""Requirements of a walk on four legs, and its pose: home, or bent knees and feet under the mass.

Models without a keyframe stand at zero angles: with straight legs, which are singular, or with knees at the end of
their range and the feet far from the hips.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import mujoco
import numpy as np

from footfall.control.body.stance import check_torques, check_weight
from footfall.control.senses import Tree, tree_of
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.motors import Drives, drives
from footfall.robot.pose import set_down

#: Motors of a leg.
LEG_JOINTS = 3
#: A leg stretched to more than this part of its length counts as straight; a bent one is stretched to this.
STRAIGHT, BENT = 0.95, 0.85
#: m per m of leg, from below the centre of mass to the middle of the feet: farther, the feet are set under it, for a
#: trot stands on the line between two.
ASIDE = 0.06
#: Times that they are: the legs that are bent so move the centre of mass.
PASSES = 3
#: Iterations of the inverse kinematics, the longest of them in rad, and how near a foot must come, m.
ITERATIONS, LONGEST, NEAR = 100, 0.3, 1e-3
#: rad of a knee that the search begins with.
FIRST = 0.9


@lru_cache(maxsize=8)
def _walking_home(robot: Robot, legs: tuple[tuple[int, int, int], ...], points: tuple[int, ...]) -> Robot:
    """The robot with a home it can walk from: ``legs`` are the dofs of hip, thigh and knee, ``points`` their feet.

    The same robot where its home is one, and where joints do not reach a better pose.
    """
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(model, data)
    feet = np.array([_foot(robot, data, point) for point in points])
    thighs, knees = (data.xanchor[[model.dof_jntid[leg[i]] for leg in legs]] for i in (1, 2))
    length = np.linalg.norm(knees - thighs, axis=1) + np.linalg.norm(feet - knees, axis=1)
    stretched = np.linalg.norm(feet - thighs, axis=1) / length
    com = data.subtree_com[model.body_rootid[robot.point_body[points[0]]]]
    ahead = robot.forward
    aside = abs(float((feet.mean(axis=0) - com) @ ahead)) / float(length.mean())
    if stretched.max() <= STRAIGHT and aside <= ASIDE:
        return robot
    goals = feet.copy()
    goals[:, 2] = thighs[:, 2] - BENT * length.min()
    for _ in range(PASSES):
        under = thighs @ ahead + (com - thighs.mean(axis=0)) @ ahead  # com is a view of what the kinematics make
        goals += np.outer(under - goals @ ahead, ahead)
        for leg, point, goal in zip(legs, points, goals, strict=True):
            if not _bend(robot, data, leg, point, goal):
                return robot
    return replace(robot, home=set_down(model, data.qpos, robot.feet))


def _foot(robot: Robot, data: mujoco.MjData, point: int) -> np.ndarray:
    body = robot.point_body[point]
    place: np.ndarray = data.xpos[body] + data.xmat[body].reshape(3, 3) @ robot.point_position[point]
    return place


def _bend(robot: Robot, data: mujoco.MjData, leg: tuple[int, int, int], point: int, goal: np.ndarray) -> bool:
    """Bring a foot to its goal, with the knee to the rear where joints allow both ways. False if they allow none."""
    model = robot.model
    joints = model.dof_jntid[list(leg)]
    at = model.jnt_qposadr[joints]
    low = np.where(model.jnt_limited[joints] != 0, model.jnt_range[joints, 0], -np.inf)
    high = np.where(model.jnt_limited[joints] != 0, model.jnt_range[joints, 1], np.inf)
    home, found = data.qpos[at].copy(), []
    for knee in (FIRST, -FIRST):
        data.qpos[at] = np.clip(home + np.array([0.0, -0.5 * knee, knee]), low, high)
        for _ in range(ITERATIONS):
            mujoco.mj_forward(model, data)
            off = goal - _foot(robot, data, point)
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, _foot(robot, data, point), int(robot.point_body[point]))
            own = jacobian[:, list(leg)]
            change = own.T @ np.linalg.solve(own @ own.T + 1e-6 * np.eye(3), off)
            change *= min(1.0, LONGEST / max(float(np.abs(change).max()), 1e-12))
            data.qpos[at] = np.clip(data.qpos[at] + change, low, high)
        mujoco.mj_forward(model, data)
        if np.linalg.norm(goal - _foot(robot, data, point)) < NEAR:
            found.append((float(data.xanchor[joints[2]] @ robot.forward), tuple(data.qpos[at])))
    data.qpos[at] = min(found)[1] if found else home
    mujoco.mj_forward(model, data)
    return bool(found)


def leg_of(robot: Robot, driven: np.ndarray, tree: Tree, point: int) -> np.ndarray:
    """Degrees of freedom with motors that move a foot."""
    moved = np.flatnonzero(tree.moves[point])
    leg = moved[np.isin(moved, driven)]
    if len(leg) != LEG_JOINTS:
        foot = robot.feet[int(robot.point_foot[point])].name
        raise ControllerError(
            f"quadruped-walk needs {LEG_JOINTS} motors in a leg; {robot.name} has {len(leg)} at foot '{foot}'"
        )
    return leg


def ready_to_walk(robot: Robot) -> Robot:
    """The robot with a home that it can walk from."""
    driven = drives(robot, "quadruped-walk").dof
    check_shape(robot)
    model = robot.model
    tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), list(robot.point_body))
    legs = [leg_of(robot, driven, tree, point) for point in range(4)]
    return _walking_home(robot, tuple((int(a), int(b), int(c)) for a, b, c in legs), tuple(range(4)))


def check_shape(robot: Robot) -> None:
    """Refuse a robot without four point feet or a free base, in a sentence."""
    if len(robot.feet) != 4 or any(len(foot.points) != 1 for foot in robot.feet):
        points = ", ".join(str(len(foot.points)) for foot in robot.feet)
        instead = "; points=(1, 1), or --points 1x1, sets each foot on its middle" if len(robot.feet) == 4 else ""
        raise ControllerError(
            f"quadruped-walk needs four feet of one point each; {robot.name} has feet of {points} points{instead}"
        )
    model = robot.model
    if model.njnt == 0 or model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
        raise ControllerError(f"quadruped-walk needs a free base, and {robot.name} has none")
    check_weight(robot, "quadruped-walk")


def check_strength(robot: Robot, driving: Drives, legs: np.ndarray, points: np.ndarray) -> None:
    """Refuse a robot that cannot stand at home on two of its ``legs`` (4, 3), dofs of motors, with feet ``points``."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(model, data)
    half = -0.5 * robot.mass * robot.gravity
    for leg, point in zip(legs, points, strict=True):
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, _foot(robot, data, point), int(robot.point_body[point]))
        motors = np.flatnonzero(np.isin(driving.dof, leg))
        check_torques(
            robot, driving, motors, data.qfrc_bias - jacobian.T @ half, "quadruped-walk", "on two legs", robot.home
        )


def corner_points(robot: Robot, offset: np.ndarray) -> list[int]:
    """The points front left, front right, rear left, rear right of the centre of mass."""
    found = []
    for ahead, aside in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        here = [k for k in range(4) if offset[k, 0] * ahead > 0 and offset[k, 1] * aside > 0]
        if len(here) != 1:
            raise ControllerError(
                f"quadruped-walk needs one foot at each corner around the centre of mass, which {robot.name} has not"
            )
        found.append(here[0])
    return found
