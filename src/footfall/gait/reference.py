"""Reference motions for controllers: target joints and loads of feet; and periodic motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from footfall.errors import GaitError
from footfall.robot import Robot


class Target(NamedTuple):
    """The reference at one instant; one number per actuator, in the order of ``robot.actuated``."""

    q: np.ndarray  # rad or m
    qd: np.ndarray  # rad/s or m/s
    qdd: np.ndarray  # rad/s2 or m/s2
    load: np.ndarray  # (feet,) shares of the weight up to a common factor, 0 for a foot in the air


@runtime_checkable
class ReferenceMotion(Protocol):
    """A reference motion: phases 0, 1, 2, ... of support, each with a clock that starts at 0.

    A phase lasts ``duration(phase)`` s. If ``landing(phase)`` is the index of a foot, the touch-down of that foot ends
    the phase, early or late; ``target`` must then be defined a little beyond the duration.
    """

    def target(self, phase: int, t: float) -> Target: ...
    def duration(self, phase: int) -> float: ...
    def landing(self, phase: int) -> int | None: ...


def actuated_coordinates(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Addresses of the actuated joints in qpos and in qvel, in the order of ``robot.actuated``."""
    model = robot.model
    joints = [model.joint(name).id for name in robot.actuated]
    if len(joints) != model.nu:
        raise GaitError(f"{robot.name} has {model.nu} actuators on {len(joints)} joints: a motion needs one on each")
    return model.jnt_qposadr[joints], model.jnt_dofadr[joints]


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicMotion:
    """A periodic motion: N samples at equal steps of one period (s), the first not repeated at the end.

    Attributes:
        period: s.
        advance: (nq,) change of ``qpos`` over a period.
        qpos, qvel: (N, nq), (N, nv), MuJoCo's order.
        torque: (N, nv) generalised forces of the actuators that the motion requires under its expected ground forces.
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
