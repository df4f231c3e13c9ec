"""A motion of a robot that repeats, as samples of one period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicMotion:
    """A motion that repeats: N samples at equal steps of one period (s), the first not repeated at the end.

    Attributes:
        period: s.
        advance: (nq,) what a period adds to ``qpos``.
        qpos, qvel: (N, nq), (N, nv), MuJoCo's order.
        torque: (N, nv) generalised forces of the actuators that the motion takes, with the ground forces it expects.
    """

    period: float
    advance: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    torque: np.ndarray

    def __len__(self) -> int:
        return len(self.qpos)

    def __repr__(self) -> str:
        return f"PeriodicMotion({len(self)} samples of {self.period:.4g} s)"
