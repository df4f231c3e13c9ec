"""Falls: whether, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from footfall.measure.motion import com_height, momentum
from footfall.measure.slip import slip_distance
from footfall.measure.support import support_margin

if TYPE_CHECKING:
    from footfall.record import Record

#: A way that a foot slid before the fall and that is reported with it, m.
SLID = 0.01


@dataclass(frozen=True)
class Fall:
    """When a robot had fallen (s), and what led there, in words."""

    time: float
    cause: str


def fall(rec: Record, below: float = 0.5) -> Fall | None:
    """The first time the centre of mass is below ``below`` times its height over ground in the home pose, if ever.

    The cause says when the centre of mass left the support for good and on which side (the robot faces along world
    x), or that it sank between its feet; and how far a foot had slid by then.
    """
    low = np.flatnonzero(com_height(rec) < below * standing_height(rec))
    if not low.size:
        return None
    until = int(low[0])
    inside = np.flatnonzero(support_margin(rec, "com")[: until + 1] >= 0.0)
    left = int(inside[-1]) + 1 if inside.size else 0
    way = float(slip_distance(rec)[min(left, until)].max(initial=0.0))
    slid = f", after a point of a foot slid {100.0 * way:.2g} cm" if way > SLID else ""
    if left > until:
        return Fall(float(rec.time[until]), f"its legs gave way: the mass sank between its feet{slid}")
    com = momentum(rec).com[:, :2]
    step = com[until] - com[left]
    sides = ("forwards", "backwards") if abs(step[0]) >= abs(step[1]) else ("to its left", "to its right")
    side = sides[0] if step[np.argmax(np.abs(step))] > 0.0 else sides[1]
    when = f"its centre of mass left the support at {rec.time[left]:.4g} s"
    return Fall(float(rec.time[until]), f"tipped {side}: {when}{slid}")


def has_fallen(rec: Record, below: float = 0.5) -> bool:
    """Whether the centre of mass ever sank below ``below`` times its height over ground in the home pose."""
    return bool((com_height(rec) < below * standing_height(rec)).any())


def standing_height(rec: Record) -> float:
    """Height of the centre of mass in the home pose, m."""
    data = mujoco.MjData(rec.robot.model)
    data.qpos[:] = rec.robot.home
    mujoco.mj_kinematics(rec.robot.model, data)
    moving = rec.robot.model.body_weldid != 0
    return float(rec.robot.model.body_mass[moving] @ data.xipos[moving, 2] / rec.robot.mass)
