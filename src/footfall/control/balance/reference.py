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

    Either may be None, then nothing moves. Velocities are differences over two steps ``dt`` (s), over one at the start:
    neither is asked for times before it, nor twice for the same.
    """

    def __init__(
        self, com: Callable[[float], Any] | None, orientation: Callable[[float], Any] | None, dt: float
    ) -> None:
        self._moves, self._turns, self._dt = com, orientation, dt
        self._still = Wanted(np.zeros(3), np.zeros(3), np.eye(3), np.zeros(3))
        self._known: dict[str, dict[float, np.ndarray]] = {"com": {}, "orientation": {}}

    def begin(self, com: np.ndarray, trunk: np.ndarray) -> None:
        """Take the place where everything is now as the origin of the motion."""
        self._still = Wanted(com.copy(), np.zeros(3), trunk.copy(), np.zeros(3))

    def at(self, time: float) -> Wanted:
        wanted, dt = self._still, self._dt
        times = (max(time - dt, 0.0), time, time + dt)
        between = times[2] - times[0]
        if self._moves is not None:
            before, now, after = self._around("com", self._moves, times)
            wanted = wanted._replace(com=wanted.com + now, velocity=(after - before) / between)
        if self._turns is not None:
            before, now, after = self._around("orientation", self._turns, times)
            spin = _vector(_rotation(after) @ _rotation(before).T) / between
            wanted = wanted._replace(orientation=_rotation(now) @ wanted.orientation, spin=spin)
        return wanted

    def _around(self, name: str, function: Callable[[float], Any], times: tuple[float, ...]) -> list[np.ndarray]:
        """Values of a function at three times, s; what it said of the last three is known."""
        known, found = self._known[name], {}
        steps = [round(time / self._dt, 6) for time in times]
        for step, time in zip(steps, times, strict=True):
            if step not in found:
                found[step] = known[step] if step in known else _three(name, function, time)
        self._known[name] = found
        return [found[step] for step in steps]


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
