"""Ground reaction: forces and moments of the ground on the feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import cross, feet
from footfall.measure.pressure import cop

if TYPE_CHECKING:
    from footfall.record import Record


@dataclass(frozen=True, eq=False)
class GroundReaction:
    """What the ground does to a robot, world frame.

    Attributes:
        force: (T, feet, 3) N.
        moment: (T, feet, 3) N m, about the world's origin.
        moment_at_cop: (T, feet, 3) N m, about the foot's centre of pressure; NaN where it carries no load.
        total_force: (T, 3) N.
        total_moment: (T, 3) N m, about the world's origin.
    """

    force: np.ndarray
    moment: np.ndarray
    moment_at_cop: np.ndarray
    total_force: np.ndarray
    total_moment: np.ndarray


def grf(rec: Record) -> GroundReaction:
    """Ground reaction forces of each foot and of all, with their moments."""
    each = cross(rec.position, rec.force)
    moment = np.stack([each[:, points].sum(axis=1) for points in feet(rec)], axis=1)
    return GroundReaction(
        force=rec.foot_force,
        moment=moment,
        moment_at_cop=moment - cross(cop(rec), rec.foot_force),
        total_force=rec.total_force,
        total_moment=moment.sum(axis=1),
    )
