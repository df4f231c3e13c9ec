"""The standing pose: which one it is, and setting it down on the ground."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.robot.foot import Foot
from footfall.robot.model import AT_JOINT, FREE, HINGE, SLIDE

STANDING_KEYS = ("home", "stand", "standing")


def standing_pose(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Pose and controls of the standing keyframe, or what takes their place."""
    keys = [model.key(k).name for k in range(model.nkey)]
    key = next((keys.index(wanted) for wanted in STANDING_KEYS if wanted in keys), 0)
    pose = model.key_qpos[key].copy() if model.nkey else model.qpos0.copy()
    ctrl = model.key_ctrl[key].copy() if model.nkey else np.zeros(model.nu)
    if not ctrl.any():
        for i in range(model.nu):
            joint = int(model.actuator_trnid[i, 0])
            servo = model.actuator_biasprm[i, 1] != 0 and model.actuator_trntype[i] in AT_JOINT
            if servo and model.jnt_type[joint] in (HINGE, SLIDE):
                ctrl[i] = pose[model.jnt_qposadr[joint]] * model.actuator_gear[i, 0]
    return pose, ctrl


def set_down(model: mujoco.MjModel, pose: np.ndarray, feet: tuple[Foot, ...]) -> np.ndarray:
    """The pose moved vertically, where the root can, so that the lowest contact point is at z = 0."""
    pose = np.array(pose)
    root = int(model.body_rootid[model.body(feet[0].body).id])
    joints = range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root])
    for joint in joints:
        address, kind = model.jnt_qposadr[joint], model.jnt_type[joint]
        vertical = abs(model.jnt_axis[joint, 2]) > 1 - 1e-9 and abs(model.body_quat[root, 0]) > 1 - 1e-9
        if kind == FREE or (kind == SLIDE and vertical):
            index, sign = (address + 2, 1.0) if kind == FREE else (address, np.sign(model.jnt_axis[joint, 2]))
            for _ in range(2):  # twice, to the last digit
                data = posed(model, pose)
                pose[index] -= sign * min(
                    np.min((data.body(f.body).xmat.reshape(3, 3) @ f.points.T)[2] - f.radius)
                    + data.body(f.body).xpos[2]
                    for f in feet
                )
            break
    return pose


def posed(model: mujoco.MjModel, pose: np.ndarray) -> mujoco.MjData:
    """The model in that pose, with its kinematics computed."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    return data
