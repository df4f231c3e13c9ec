"""Follow a periodic motion: its torques as feed-forward, and joint PD around it.

Motors on the root of the robot (``hanavan`` with ``assist``) hold it on its path like springs and dampers. Their
controls are recorded like all others; :func:`footfall.measure.assistance` measures how much they help.

:class:`HumanWalk` repeats the recorded walk of a man so, with robot ``hanavan``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.control.base import control_pointer
from footfall.control.posture import joint_inertias
from footfall.errors import ControllerError
from footfall.gait.human.data import load_walk
from footfall.gait.human.walk import human_walk
from footfall.gait.reference import PeriodicMotion
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.motors import motor_scale
from footfall.standing import in_pose

HEAD, ROW = 5, 6  # numbers in front of the table, and per actuator
SCALAR, TURN = 0, 1  # what an actuator of a row moves: a coordinate, or one axis of a free body's attitude


def _tracking(time, qpos, qvel, ctrl, gains):
    """gains: period, samples, nq, nv, 0; rows of (kind, address in qpos, in qvel, kp, kd, gear); advance; the table."""
    period, samples, nq, nv = gains[0], int(gains[1]), int(gains[2]), int(gains[3])
    advance = HEAD + ROW * ctrl.size
    width = nq + nv + ctrl.size
    turns = time // period
    place = (time - turns * period) / period * samples
    first = min(int(place), samples - 1)
    late = place - first
    # One row more than a period: the first one again, advanced.
    a = advance + nq + first * width
    b = a + width
    for i in range(ctrl.size):
        row = HEAD + ROW * i
        j, v = int(gains[row + 1]), int(gains[row + 2])
        if gains[row] == SCALAR:
            want = gains[a + j] + late * (gains[b + j] - gains[a + j]) + turns * gains[advance + j]
            error = want - qpos[j]
        else:
            # Twice the vector part of conj(q) q_ref, about the body's own axis.
            axis, at = v - int(gains[row + 1]), int(gains[row + 1]) + 3
            w, x, y, z = qpos[at], qpos[at + 1], qpos[at + 2], qpos[at + 3]
            rw = gains[a + at] + late * (gains[b + at] - gains[a + at])
            rx = gains[a + at + 1] + late * (gains[b + at + 1] - gains[a + at + 1])
            ry = gains[a + at + 2] + late * (gains[b + at + 2] - gains[a + at + 2])
            rz = gains[a + at + 3] + late * (gains[b + at + 3] - gains[a + at + 3])
            sign = 2.0 if w * rw + x * rx + y * ry + z * rz >= 0.0 else -2.0
            if axis == 3:
                error = sign * (w * rx - x * rw - y * rz + z * ry)
            elif axis == 4:
                error = sign * (w * ry + x * rz - y * rw - z * rx)
            else:
                error = sign * (w * rz - x * ry + y * rx - z * rw)
        rate = gains[a + nq + v] + late * (gains[b + nq + v] - gains[a + nq + v]) - qvel[v]
        feed = gains[a + nq + nv + i] + late * (gains[b + nq + nv + i] - gains[a + nq + nv + i])
        ctrl[i] = (gains[row + 3] * error + gains[row + 4] * rate + feed) / gains[row + 5]
    return 0


@dataclass(frozen=True)
class Tracking:
    """Follow a reference motion by joint PD, helped by motors on the root where the robot has them.

    Attributes:
        reference: a :class:`~footfall.gait.reference.PeriodicMotion`, or a function of the robot that returns one.
        kp: N m/rad, stiffness of the joints, one number or one per joint motor.
        kd: N m s/rad, their damping; left out, critical for the inertia of each joint, or less where the step is too
            long.
        assist: N/m and N s/m, stiffness and damping of the level pushes on the root.
        assist_turn: N m/rad and N m s/rad, of the turns.
        assist_lift: N/m and N s/m, of the vertical push.
    """

    reference: PeriodicMotion | Callable[[Robot], PeriodicMotion]
    kp: float | Sequence[float] = 1000.0
    kd: float | Sequence[float] | None = None
    assist: tuple[float, float] = (0.0, 200.0)
    assist_turn: tuple[float, float] = (1000.0, 100.0)
    assist_lift: tuple[float, float] = (0.0, 0.0)

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_tracking)

    def motion(self, robot: Robot) -> PeriodicMotion:
        """The motion that this robot is to follow."""
        return self.reference if isinstance(self.reference, PeriodicMotion) else self.reference(robot)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """Where a run starts if nothing else is said: the first sample of the motion."""
        motion = self.motion(robot)
        return motion.qpos[0].copy(), motion.qvel[0].copy()

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        model, motion = robot.model, self.motion(robot)
        for name, array, size in (("qpos", motion.qpos, model.nq), ("qvel", motion.qvel, model.nv)):
            if array.shape[1] != size:
                raise ControllerError(
                    f"tracking: {name} of the motion has {array.shape[1]} columns, {robot.name} needs {size}"
                )
        rows = np.zeros((model.nu, ROW))
        joint = model.actuator_trnid[:, 0]
        helping = robot.root_motors
        rows[:, 1], rows[:, 2] = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        rows[:, 5] = motor_scale(robot, "tracking")
        for i in np.flatnonzero(helping):
            part = int(np.flatnonzero(model.actuator_gear[i])[0])
            free = model.jnt_type[joint[i]] == mujoco.mjtJoint.mjJNT_FREE
            turns = part >= 3 if free else model.jnt_type[joint[i]] == mujoco.mjtJoint.mjJNT_HINGE
            lifts = part == 2 if free else abs(model.jnt_axis[joint[i], 2]) > 0.5
            rows[i, 0] = TURN if free and turns else SCALAR
            rows[i, 1] += 0 if turns else part
            rows[i, 2] += part
            rows[i, 3:5] = self.assist_turn if turns else self.assist_lift if lifts else self.assist
            rows[i, 5] = model.actuator_gear[i, part] * model.actuator_gainprm[i, 0]
        inertia = joint_inertias(model, in_pose(robot, motion.qpos[0]))[model.jnt_dofadr[joint[~helping]]]
        kp = np.asarray(self.kp, dtype=float)
        rows[~helping, 3] = kp
        critical = np.minimum(2.0 * np.sqrt(kp * inertia), 0.5 * inertia / dt)
        rows[~helping, 4] = critical if self.kd is None else self.kd
        feed = np.where(helping, 0.0, motion.torque[:, model.jnt_dofadr[joint]])
        table = np.hstack([motion.qpos, motion.qvel, feed])
        again = table[:1] + np.concatenate([motion.advance, np.zeros(model.nv + model.nu)])
        head = [motion.period, len(motion), model.nq, model.nv, 0.0]
        return np.concatenate([head, rows.ravel(), motion.advance, table.ravel(), again.ravel()])


@public
@dataclass(frozen=True)
class HumanWalk:
    """The measured human walk, on a robot ``hanavan`` with ``assist``, in space or in the plane.

    :func:`footfall.measure.assistance` measures how much the motors on the pelvis helped.

    Limitations: made for level ground; on stones of a centimetre or so it stays up.

    Attributes:
        law: a spring law, into which the feet sink under their load; if left out, hard ground.
        dt: s, step of the simulation, for defaults of the law.
        kp: N m/rad, stiffness of the joints.
        push_damping: N s/m, of the push on the pelvis against wrong speed.
        forces: fit the motion to the measured ground forces too, or to the markers alone.
        data: another person's walk: a table of ``footfall human-walk``, or a recording's folder.
    """

    law: Law | None = None
    dt: float = 1e-4
    kp: float = 1000.0
    push_damping: float = 200.0
    forces: bool = True
    data: str | None = None

    @staticmethod
    def pointer() -> Any:
        return Tracking.pointer()

    def motion(self, robot: Robot) -> PeriodicMotion:
        """What this robot follows."""
        data = None if self.data is None else load_walk(self.data)
        return human_walk(robot, self.law, self.dt, forces=self.forces, data=data)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """Heel strike of the left foot."""
        return self._tracking(robot).initial_state(robot, ground)

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        return self._tracking(robot).gains(robot, ground, dt)

    def _tracking(self, robot: Robot) -> Tracking:
        motion = self.motion(robot)
        if not robot.root_motors.any():
            raise ControllerError(
                "human-walk does not balance by itself: load the robot with assist=True, on the command line "
                "--robot.assist"
            )
        return Tracking(
            motion,
            kp=self.kp,
            assist=(0.0, self.push_damping),
        )
