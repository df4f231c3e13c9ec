"""The two legs of a planar biped, as a gait needs them."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import GaitError
from footfall.gait.polynomial import planar_base
from footfall.robot import Robot

PARTS = 3  # hip, knee, ankle


class Legs(NamedTuple):
    """Of each foot of a robot, in its order."""

    joints: tuple[tuple[str, ...], tuple[str, ...]]  # from the hip down
    body: tuple[int, int]  # the foot's
    ends: tuple[np.ndarray, np.ndarray]  # (2, 3) m, heel and toe in the foot's frame

    @property
    def size(self) -> int:
        """Joints of a leg."""
        return len(self.joints[0])


def find_legs(robot: Robot) -> Legs:
    """The legs of a robot of seven links in the sagittal plane; an error for any other."""
    model = robot.model
    planar_base(robot)
    if len(robot.feet) != 2:
        raise GaitError(f"{robot.name} has {len(robot.feet)} feet: a gait is optimised for two")
    joints, ends, links = [], [], []
    for foot in robot.feet:
        body = model.body(foot.body).id
        chain: list[int] = []
        while model.body_parentid[body]:
            chain.insert(0, body)
            body = model.body_parentid[body]
        links.append(chain)
        joints.append(tuple(model.joint(int(j)).name for b in chain for j in np.flatnonzero(model.jnt_bodyid == b)))
        order = np.argsort(foot.points[:, 0])
        ends.append(foot.points[[order[0], order[-1]]])
    _check(robot, joints, links, ends)
    return Legs((joints[0], joints[1]), (links[0][-1], links[1][-1]), (ends[0], ends[1]))


def _check(robot: Robot, joints: list[tuple[str, ...]], links: list[list[int]], ends: list[np.ndarray]) -> None:
    model = robot.model
    if joints[0] + joints[1] != robot.actuated or len(joints[0]) != PARTS:
        raise GaitError(f"{robot.name} is not a planar biped with hip, knee and ankle motors in each leg")
    turning = [tuple(model.joint(name).axis) == (0.0, 1.0, 0.0) for leg in joints for name in leg]
    hinges = [model.joint(name).type[0] == int(mujoco.mjtJoint.mjJNT_HINGE) for leg in joints for name in leg]
    if not all(turning) or not all(hinges):
        raise GaitError(f"{robot.name}: every joint of its legs must be a hinge about y")
    left, right = links
    same = all(
        np.allclose(table[left], table[right], atol=1e-12)
        for table in (model.body_mass, model.body_inertia, model.body_ipos, np.abs(model.body_pos))
    )
    if not same or not np.allclose(ends[0], ends[1], atol=1e-12):
        raise GaitError(f"the legs of {robot.name} differ: a symmetric gait needs equal ones")
