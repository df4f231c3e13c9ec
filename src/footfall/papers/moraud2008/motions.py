"""Motions of the humanoids: joint angles over time, followed by joint PD with the torques that carry the weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import footfall as ff
from footfall.control.base import control_pointer
from footfall.control.posture import standing_torques
from footfall.standing import in_pose

SAMPLE = 0.01  # s, of the tables

#: Joint angles (rad) by name at a time (s); joints that are not named stay as in the home pose.
Angles = Callable[[float], dict[str, float]]


def _follow(time, qpos, qvel, ctrl, gains):
    """gains: samples, their distance; rows of (address in qpos, in qvel, kp, kd, gear); rows of targets and torques."""
    samples, step, nu = int(gains[0]), gains[1], ctrl.size
    place = min(time / step, samples - 1.000001)
    first = int(place)
    late = place - first
    table = 2 + 5 * nu + 2 * nu * first
    for i in range(nu):
        row = 2 + 5 * i
        a, b = gains[table + i], gains[table + 2 * nu + i]
        torque = gains[row + 2] * (a + late * (b - a) - qpos[int(gains[row])])
        torque += gains[row + 3] * ((b - a) / step - qvel[int(gains[row + 1])])
        a, b = gains[table + nu + i], gains[table + 3 * nu + i]
        ctrl[i] = (torque + a + late * (b - a)) / gains[row + 4]
    return 0


@dataclass(frozen=True)
class JointMotion:
    """Follow joint angles for ``duration`` s."""

    angles: Angles
    duration: float
    stiffness: float = 1.0  # times that of the posture controller
    carry: bool = True  # add the torques that carry the weight; else joint PD alone

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_follow)

    def poses(self, robot: ff.Robot) -> np.ndarray:
        """(T, nq) the home pose with the joints as they are wanted, every 10 ms."""
        times = SAMPLE * np.arange(round(self.duration / SAMPLE) + 2)
        poses = np.tile(robot.home, (len(times), 1))
        for pose, time in zip(poses, times, strict=True):
            for name, angle in self.angles(float(time)).items():
                pose[robot.model.joint(name).qposadr] = angle
        return poses

    def gains(self, robot: ff.Robot, ground: ff.Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        rows = ff.control.Posture().gains(robot, ground, dt).reshape(robot.model.nu, -1)[:, [0, 1, 3, 4, 6]]
        rows[:, 2] *= self.stiffness
        poses, torques = _wanted(self, robot)
        table = np.zeros((len(poses), 2, robot.model.nu))
        table[:, 0] = poses[:, rows[:, 0].astype(int)]
        table[:, 1] = torques[:, rows[:, 1].astype(int)]
        return np.concatenate([[len(poses), SAMPLE], rows.ravel(), table.ravel()])


@lru_cache(maxsize=8)
def _wanted(motion: JointMotion, robot: ff.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Poses (T, nq) and the generalised forces (T, nv) given beside the joint PD: found once for runs that repeat."""
    poses = motion.poses(robot)
    return poses, standing_torques(robot, poses) if motion.carry else np.zeros((len(poses), robot.model.nv))


def smooth(time: float, start: float, duration: float) -> float:
    """From 0 to 1 within a time, with accelerations that begin and end at zero."""
    s = min(1.0, max(0.0, (time - start) / duration))
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def bent_legs(robot: ff.Robot, knee: float) -> dict[str, float]:
    """Both knees bent by this angle (rad); hips and ankles compensate for the change from home, so that soles stay
    level.
    """
    model, home = robot.model, robot.home
    more = knee - float(home[model.joint("left_knee_pitch").qposadr[0]])
    shares = {"hip_pitch": -0.5, "knee_pitch": 1.0, "ankle_pitch": -0.5}
    return {
        f"{side}_{joint}": float(home[model.joint(f"{side}_{joint}").qposadr[0]]) + share * more
        for side in ("left", "right")
        for joint, share in shares.items()
    }


def com_heights(robot: ff.Robot, poses: np.ndarray) -> np.ndarray:
    """(T,) m, height of the centre of mass over the left foot in given poses."""
    foot = robot.model.body(robot.feet[0].body).id
    return np.array([data.subtree_com[0, 2] - data.xpos[foot, 2] for data in (in_pose(robot, one) for one in poses)])
