"""The zero moment point, from the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import normal_force, pierce, reference_plane
from footfall.measure.motion import momentum

if TYPE_CHECKING:
    from footfall.record import Record

#: Below this part of the robot's weight the force that a motion takes has no line of action worth the name.
FLIGHT = 1e-3


def zmp(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: zero moment point, NaN in flight.

    Where the ground would have to push, through one point and without any moment in the plane of the ground,
    to give the robot the motion it has: from its accelerations and gravity alone, contact forces are not
    used. It lies in the ground where that is a plane, and in the plane through the loaded points where it is
    not (``reference_plane``).

    It equals ``overall_cop`` to rounding when nothing else acts from outside, for semi-implicit Euler with
    every step recorded. Pushes are not taken out: while one acts, the distance of the two shows it.
    """
    motion = momentum(rec)
    normal, distance = reference_plane(rec)
    found = pierce(motion.force, motion.moment, normal, distance)
    pressing = np.einsum("ti,ti->t", motion.force, normal) > FLIGHT * (rec.robot.weight or 1.0)
    touching = (rec.mode > 0).any(axis=1) | (normal_force(rec) > 0).any(axis=1)
    found[~(pressing & touching)] = np.nan
    return found
