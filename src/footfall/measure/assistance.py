"""Assistance: what virtual motors between the world and a robot's root do for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

if TYPE_CHECKING:
    from footfall.record import Record


class Assistance(NamedTuple):
    """Help from outside: root mean square and peak, in body weights and N m."""

    force_rms: float
    force_peak: float
    moment_rms: float
    moment_peak: float

    def __str__(self) -> str:
        return (
            f"{self.force_rms:.3g} body weights (rms; at most {self.force_peak:.3g}) and "
            f"{self.moment_rms:.3g} N m (rms; at most {self.moment_peak:.3g})"
        )


def assistance(rec: Record) -> Assistance:
    """The wrench of the motors on the root (``robot.root_motors``) over a recording; zero without any."""
    model = rec.robot.model
    own = np.flatnonzero(rec.robot.root_motors)
    gear = model.actuator_gear[own]
    kind = model.jnt_type[model.actuator_trnid[own, 0]]
    free = kind == mujoco.mjtJoint.mjJNT_FREE
    turns = np.where(free, np.abs(gear[:, 3:]).any(axis=1), kind == mujoco.mjtJoint.mjJNT_HINGE)
    size = rec.ctrl[:, own] * np.abs(gear).max(axis=1, initial=0.0) * model.actuator_gainprm[own, 0]
    force = np.linalg.norm(size[:, ~turns], axis=1) / rec.robot.weight
    moment = np.linalg.norm(size[:, turns], axis=1)
    sizes = [(float(np.sqrt(np.mean(v**2))) if len(v) else 0.0, float(v.max(initial=0.0))) for v in (force, moment)]
    return Assistance(*sizes[0], *sizes[1])
