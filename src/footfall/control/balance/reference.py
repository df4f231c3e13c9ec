"""Where the centre of mass and the trunk shall be, as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import ControllerError


class Wanted(NamedTuple):
    """A reference at one time, world frame."""

    com: np.ndarray  # (3,) m
    velocity: np.ndarray  # (3,) m/s
    orientation: np.ndarray  # (3, 3) of the trunk
    spin: np.ndarray  # (3,) rad/s


class Reference:
    """A motion from the place and orientation at the start: ``com`` (m) and ``orientation`` (rotation vector, rad).

    Either may be None, then nothing moves. Velocities are differences over two steps ``dt`` (s).
    """

    def __init__(
        self, com: Callable[[float], Any] | None, orientation: Callable[[float], Any] | None, dt: float
    ) -> None:
        self._moves, self._turns, self._dt = com, orientation, dt
        self._still = Wanted(np.zeros(3), np.zeros(3), np.eye(3), np.zeros(3))

    def begin(self, com: np.ndarray, trunk: np.ndarray) -> None:
        """Take the place where everything is now as the origin of the motion."""
        self._still = Wanted(com.copy(), np.zeros(3), trunk.copy(), np.zeros(3))

    def at(self, time: float) -> Wanted:
        wanted, dt = self._still, self._dt
        if self._moves is not None:
            before, now, after = (_three("com", self._moves, t) for t in (time - dt, time, time + dt))
            wanted = wanted._replace(com=wanted.com + now, velocity=(after - before) / (2.0 * dt))
        if self._turns is not None:
            before, now, after = (_three("orientation", self._turns, t) for t in (time - dt, time, time + dt))
            spin = _vector(_rotation(after) @ _rotation(before).T) / (2.0 * dt)
            wanted = wanted._replace(orientation=_rotation(now) @ wanted.orientation, spin=spin)
        return wanted


def _three(name: str, function: Callable[[float], Any], time: float) -> np.ndarray:
    values = np.asarray(function(time), dtype=float)
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ControllerError(f"the reference {name} gave {values} at t = {time:.6g} s, not three finite numbers")
    return values


def _rotation(vector: np.ndarray) -> np.ndarray:
    quaternion, matrix = np.zeros(4), np.zeros(9)
    angle = float(np.linalg.norm(vector))
    mujoco.mju_axisAngle2Quat(quaternion, vector / angle if angle else np.array([0.0, 0.0, 1.0]), angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def _vector(rotation: np.ndarray) -> np.ndarray:
    quaternion, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector
