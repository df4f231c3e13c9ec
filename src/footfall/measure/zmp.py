"""The zero moment point, from the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import normal_force, pierce, reference_plane
from footfall.measure.motion import momentum

if TYPE_CHECKING:
    from footfall.record import Record

#: Share of the robot's weight below which the force of a motion has no meaningful line of action.
FLIGHT = 1e-3


def zmp(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: zero moment point, NaN in flight.

    The point at which the ground would have to push, without any moment in the plane of the ground, to cause the
    robot's motion; it follows from accelerations and gravity alone, without contact forces. It lies in the ground where
    that is a plane, and otherwise in the plane through the loaded points (``reference_plane``).

    For semi-implicit Euler with every step recorded it equals ``overall_cop`` to rounding when nothing else acts from
    outside. Pushes are not subtracted: while one acts, the two differ.
    """
    motion = momentum(rec)
    normal, distance = reference_plane(rec)
    found = pierce(motion.force, motion.moment, normal, distance)
    pressing = np.einsum("ti,ti->t", motion.force, normal) > FLIGHT * (rec.robot.weight or 1.0)
    touching = (rec.mode > 0).any(axis=1) | (normal_force(rec) > 0).any(axis=1)
    found[~(pressing & touching)] = np.nan
    return found
