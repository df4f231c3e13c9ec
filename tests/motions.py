"""Motions that are made here, with feet that stay where they are: a squat and a shift of weight."""

from __future__ import annotations

import mujoco
import numpy as np

import footfall as ff

FPS = 50.0


def swaying(robot: ff.Robot, bend: float, lean: float, duration: float) -> ff.files.JointMotion:
    """Knees bend by ``2 bend`` (rad) and stretch, while hips and ankles roll by ``lean`` to one side and the other.

    Legs are found by the endings of the names of their joints. The root is where the left foot stays in its place.
    """
    time = np.arange(0.0, duration + 1e-9, 1.0 / FPS)
    phase = time / duration
    # smooth, at rest at both ends
    ease = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
    deep, aside = bend * 0.5 * (1.0 - np.cos(2.0 * np.pi * ease)), lean * np.sin(2.0 * np.pi * ease)
    parts = {"hip_pitch": -deep, "knee": 2.0 * deep, "ank_pitch": -deep, "hip_roll": aside, "ank_roll": -aside}
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(model, data)
    axes = data.xaxis.copy()
    foot = int(robot.point_body[0])
    qpos = np.tile(robot.home, (len(time), 1))
    for j, name in enumerate(robot.joint_names):
        for part, values in parts.items():
            if part in name.replace("ankle", "ank"):
                qpos[:, model.jnt_qposadr[j]] += np.sign(axes[j, 0 if "roll" in part else 1]) * values
    for k in range(len(time)):
        data.qpos[:] = qpos[k]
        mujoco.mj_kinematics(model, data)
        if k == 0:
            stays = data.xpos[foot].copy()
        qpos[k, :3] += stays - data.xpos[foot]
    return ff.files.JointMotion(time, qpos[:, 7:], robot.joint_names[1:], qpos[:, :3], qpos[:, 3:7], "swaying")
