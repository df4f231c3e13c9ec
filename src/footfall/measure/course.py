"""The course of a robot under a velocity command: the displacement commanded and the displacement made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from footfall.arguments import public
from footfall.errors import RecordingError
from footfall.record import Record


@dataclass(frozen=True)
class Course:
    """The way of a robot over the ground, world frame.

    Attributes:
        asked: (2,) m, the displacement that was commanded.
        went: (2,) m, the displacement that was made.
        length: m, of the commanded path; for a robot that is to stand, the height of its base at the start.
        turned: rad, final heading relative to the commanded one, positive to the left.
    """

    asked: np.ndarray
    went: np.ndarray
    length: float
    turned: float

    @property
    def error(self) -> float:
        """Distance from the commanded position over the length of the path: 0 on course, 1 if it stood still."""
        return float(np.linalg.norm(self.went - self.asked)) / self.length


@public
def course(rec: Record) -> Course:
    """The course of a run whose controller records a command of forward and left (m/s) and turn (rad/s)."""
    if "command" not in rec.signals or rec.signals["command"].shape[1:] != (3,) or len(rec) < 2:
        raise RecordingError("a course needs a recording with the signal 'command': forward, left (m/s), turn (rad/s)")
    command, steps = rec.signals["command"][:-1], np.diff(rec.time)
    yaw = np.unwrap(headings(rec))
    asked_yaw = yaw[0] + np.concatenate([[0.0], np.cumsum(command[:, 2] * steps)])
    c, s = np.cos(asked_yaw[:-1]), np.sin(asked_yaw[:-1])
    ahead, left = command[:, 0], command[:, 1]
    asked = np.array([((c * ahead - s * left) * steps).sum(), ((s * ahead + c * left) * steps).sum()])
    length = float((np.hypot(ahead, left) * steps).sum())
    went = rec.qpos[-1, :2] - rec.qpos[0, :2]
    return Course(asked, went, length or float(rec.qpos[0, 2]), float(yaw[-1] - asked_yaw[-1]))


def headings(rec: Record) -> np.ndarray:
    """(T,) rad, yaw of the free base."""
    w, x, y, z = rec.qpos[:, 3:7].T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
