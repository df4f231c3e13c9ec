"""Motions of the humanoids: joint angles over time, followed by joint PD with the torques that carry the weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.control.tracking import Tracking
from footfall.gait.reference import PeriodicMotion

SAMPLE = 0.01  # s, of the tables

#: Joint angles (rad) by name at a time (s); joints that are not named stay as in the home pose.
Angles = Callable[[float], dict[str, float]]


@dataclass(frozen=True)
class JointMotion:
    """Follow joint angles for ``duration`` s."""

    angles: Angles
    duration: float
    stiffness: float = 1.0  # times that of the posture controller
    carry: bool = True  # add the torques that carry the weight; else joint PD alone

    @staticmethod
    def pointer() -> Any:
        return Tracking.pointer()

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
        kp, kd = ff.control.Posture().gains(robot, ground, dt).reshape(robot.model.nu, -1)[:, 3:5].T
        return Tracking(_wanted(self, robot), tuple(self.stiffness * kp), tuple(kd)).gains(robot, ground, dt)


@lru_cache(maxsize=8)
def _wanted(motion: JointMotion, robot: ff.Robot) -> PeriodicMotion:
    """Poses, velocities of the joints and the forces given beside the joint PD: found once for runs that repeat."""
    poses, model = motion.poses(robot), robot.model
    velocities = np.zeros((len(poses), model.nv))
    for joint in map(model.joint, robot.actuated):
        velocities[:, joint.dofadr[0]] = np.gradient(poses[:, joint.qposadr[0]], SAMPLE)
    torques = standing_torques(robot, poses) if motion.carry else np.zeros_like(velocities)
    return PeriodicMotion(SAMPLE * len(poses), np.zeros(model.nq), poses, velocities, torques)


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
