"""Replay a robot's log: its recorded torques, targets or motion as a controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from footfall.arguments import public
from footfall.control.base import control_pointer
from footfall.control.posture import Posture
from footfall.control.tracking import between
from footfall.errors import ControllerError
from footfall.given_numbers import Finite, NotNegative
from footfall.ground import Ground
from footfall.kinds import Float, Int, Vector
from footfall.logs.log import Log, shortened
from footfall.robot import Robot
from footfall.robot.motors import drives

HEAD, ROW = 3, 11  # numbers in front of the table, and per actuator


def _replay(time: Float, qpos: Vector, qvel: Vector, ctrl: Vector, gains: Vector) -> Int:
    """gains: step, samples, delay; rows of (direct, place in qpos, in qvel, scale, offset, per angle, per speed, kp,
    kd, least, most); the table: torque, target and speed of every actuator, sample by sample.
    """
    samples, nu = int(gains[1]), ctrl.size
    place = min(max((time - gains[2]) / gains[0], 0.0), samples - 1.0)
    first = min(int(place), samples - 2)
    late, a = place - first, HEAD + ROW * nu + first * 3 * nu
    for i in range(nu):
        row = gains[HEAD + ROW * i : HEAD + ROW * (i + 1)]
        feed, target, speed = (
            between(gains, a + i, 3 * nu, late),
            between(gains, a + nu + i, 3 * nu, late),
            between(gains, a + 2 * nu + i, 3 * nu, late),
        )
        q, v = qpos[int(row[1])], qvel[int(row[2])]
        torque = feed + row[7] * (target - q) + row[8] * (speed - v)
        own = row[4] + row[5] * q + row[6] * v
        ctrl[i] = target if row[0] > 0.0 else min(max((torque - own) / row[3], row[9]), row[10])
    return 0


Use = Literal["control", "position", "torque", "track"]


@public
@dataclass(frozen=True)
class Replay:
    """Do what a log says that the motors did, from where it begins.

    ``use`` is what of the log: "control", what actuators were commanded, as it is; "position", commanded angles, to
    which joints are drawn by ``kp`` and ``kd`` (a position servo of the model gets them as they are, where these are
    left out); "torque", torques as they were measured or commanded; "track", the measured motion, joints drawn to it on
    top of the torques, if there are any. Left out, the first of these that the log has. Torques alone leave a robot
    free to fall: a simulation leaves the log within a second or so, and how soon tells how good it is.

    Attributes:
        log: see ``footfall.load_log``; one whose base has no velocity begins at rest, ``Estimate.completed`` has it.
        use: see above.
        kp: N m/rad, stiffness of the joints, one number or one per actuator; that of posture control if left out.
        kd: N m s/rad, their damping.
        delay: s, by which commands act later than they were logged.
    """

    log: Log
    use: Use | None = None
    kp: NotNegative | None = None
    kd: NotNegative | None = None
    delay: Finite = 0.0

    def __str__(self) -> str:
        return f"replay({self.log.source}, {self._use})"

    @property
    def duration(self) -> float:
        """s, of the log."""
        return float(self.log.time[-1])

    @property
    def _use(self) -> Use:
        log = self.log
        if self.use is not None:
            return self.use
        if log.control is not None:
            known: dict[str, Use] = {"control": "control", "torque": "torque"}
            return known.get(log.control_kind, "position")
        return "torque" if np.isfinite(log.torque).any() else "track"

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_replay)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """The first sample of the log."""
        self._check(robot)
        return self.log.qpos[0].copy(), self.log.qvel[0].copy()

    def _check(self, robot: Robot) -> None:
        log = self.log
        if robot.model.nq != log.qpos.shape[1] or robot.model.nu != log.robot.model.nu:
            raise ControllerError(f"replay: {log.source} is a log of {log.robot.name}, and not of {robot.name}")

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        self._check(robot)
        log, model, use = self.log, robot.model, self._use
        own = drives(robot, "replay")
        driven, servos = own.dof, (own.per_angle != 0.0) & (use == "position") & (self.kp is None)
        direct = servos | (use == "control")
        torque, target, speed = (np.zeros((len(log), model.nu)) for _ in range(3))
        gains = np.zeros((2, model.nu))
        if use in ("control", "position"):
            if log.control is None:
                raise ControllerError(f"replay: {log.source} has no commands to use as {use}")
            target = log.control
        elif use == "torque":
            torque = log.control if log.control is not None and log.control_kind == "torque" else log.torque[:, driven]
        else:
            target, speed = log.qpos[:, own.place], log.qvel[:, driven]
            torque = np.nan_to_num(log.torque[:, driven])
        if use in ("position", "track"):
            gains = Posture().gains(robot, ground, dt).reshape(model.nu, -1)[:, 3:5].T.copy()
            for usual, given in zip(gains, (self.kp, self.kd), strict=True):
                usual[:] = usual if given is None else given
        table = np.concatenate([torque, target, speed], axis=1)
        lacking = ~np.isfinite(table).all(axis=0).reshape(3, model.nu).all(axis=0)
        if lacking.any():
            names = [robot.actuator_names[i] for i in np.flatnonzero(lacking)]
            raise ControllerError(f"replay: {log.source} has no {use} of {shortened(names)}: use='track' needs none")
        numbers = (own.place, own.dof, own.scale, own.offset, own.per_angle, own.per_speed, *gains)
        low, high = (np.clip(one, -1e300, 1e300) for one in (own.low, own.high))
        rows = np.column_stack([direct, *numbers, low, high])
        return np.concatenate([[1.0 / log.rate, len(log), self.delay], rows.ravel(), table.ravel()]).astype(float)
