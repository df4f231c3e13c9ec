"""Follow a periodic motion: its torques as feed-forward, and joint PD around it.

Motors on the root of the robot (``hanavan`` with ``assist``) hold it on its path like springs and dampers. Their
controls are recorded like all others; :func:`footfall.measure.assistance` measures how much they help.

:class:`HumanWalk` repeats the recorded walk of a man so, with robot ``hanavan``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.contact.base import Law
from footfall.control.base import control_pointer
from footfall.control.posture import mobility_of
from footfall.errors import ControllerError
from footfall.gait.human.data import load_walk
from footfall.gait.human.walk import human_walk
from footfall.gait.reference import PeriodicMotion
from footfall.ground import Ground
from footfall.kinds import Float, Int, Vector
from footfall.robot import Robot
from footfall.robot.model import FREE, HINGE
from footfall.robot.motors import motor_scale
from footfall.standing import in_pose

HEAD, ROW = 4, 7  # numbers in front of the table, and per actuator


@inlined
def between(gains: Vector, at: Int, width: Int, part: Float) -> Float:
    """A number of a table between its row, where it is ``at``, and the next."""
    return gains[at] + part * (gains[at + width] - gains[at])


def _tracking(time: Float, qpos: Vector, qvel: Vector, ctrl: Vector, gains: Vector) -> Int:
    """gains: period, samples, nq, nv; rows of (address in qpos, in qvel, kp, kd, gear, advance in a period, axis of a
    free body that it turns or -1); the table of qpos, qvel and feed-forward, one row more than a period.
    """
    period, samples, nq, nv = gains[0], int(gains[1]), int(gains[2]), int(gains[3])
    width = nq + nv + ctrl.size
    turns = time // period
    place = (time - turns * period) / period * samples
    first = min(int(place), samples - 1)
    late, a = place - first, HEAD + ROW * ctrl.size + first * width
    for i in range(ctrl.size):
        row = gains[HEAD + ROW * i : HEAD + ROW * (i + 1)]
        at, v, axis = int(row[0]), int(row[1]), int(row[6])
        error = between(gains, a + at, width, late) + turns * row[5] - qpos[at]
        if axis >= 0:  # twice the vector part of conj(q) q_ref, about the body's own axis
            same, w = 0.0, between(gains, a + at, width, late)
            for c in range(4):
                same += qpos[at + c] * between(gains, a + at + c, width, late)
            j, k, own = at + 1 + (axis + 1) % 3, at + 1 + (axis + 2) % 3, at + 1 + axis
            error = qpos[at] * between(gains, a + own, width, late) - qpos[own] * w
            error += qpos[k] * between(gains, a + j, width, late) - qpos[j] * between(gains, a + k, width, late)
            error *= 2.0 if same >= 0.0 else -2.0
        rate = between(gains, a + nq + v, width, late) - qvel[v]
        feed = between(gains, a + nq + nv + i, width, late)
        ctrl[i] = (row[2] * error + row[3] * rate + feed) / row[4]
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
        if motion.qpos.shape[1] != model.nq:
            raise ControllerError(
                f"tracking: qpos of the motion has {motion.qpos.shape[1]} columns, {robot.name} needs {model.nq}"
            )
        rows, helping = np.zeros((model.nu, ROW)), robot.root_motors
        joint = model.actuator_trnid[:, 0]
        rows[:, 0], rows[:, 1] = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        rows[:, 4], rows[:, 6] = motor_scale(robot, "tracking"), -1.0
        for i in np.flatnonzero(helping):
            part = int(np.flatnonzero(model.actuator_gear[i])[0])
            free = model.jnt_type[joint[i]] == FREE
            turns = part >= 3 if free else model.jnt_type[joint[i]] == HINGE
            lifts = part == 2 if free else abs(model.jnt_axis[joint[i], 2]) > 0.5
            rows[i, :2] += min(part, 3), part
            rows[i, 2:4] = self.assist_turn if turns else self.assist_lift if lifts else self.assist
            rows[i, 4] = model.actuator_gear[i, part] * model.actuator_gainprm[i, 0]
            rows[i, 6] = part - 3 if free and turns else -1
        rows[:, 5] = motion.advance[rows[:, 0].astype(int)]
        inertia = 1.0 / np.diag(mobility_of(model, in_pose(robot, motion.qpos[0])))[model.jnt_dofadr[joint[~helping]]]
        kp = np.asarray(self.kp, dtype=float)
        rows[~helping, 2] = kp
        critical = np.minimum(2.0 * np.sqrt(kp * inertia), 0.5 * inertia / dt)
        rows[~helping, 3] = critical if self.kd is None else self.kd
        feed = np.where(helping, 0.0, motion.torque[:, model.jnt_dofadr[joint]])
        table = np.hstack([motion.qpos, motion.qvel, feed])
        again = table[0] + np.concatenate([motion.advance, np.zeros(model.nv + model.nu)])
        return np.concatenate(
            [[motion.period, len(motion), model.nq, model.nv], rows.ravel(), table.ravel(), again]
        ).astype(float)


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
        return Tracking(motion, kp=self.kp, assist=(0.0, self.push_damping))
