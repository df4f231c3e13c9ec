"""Falls: whether, when and why.

A robot has fallen when its base has sunk or tilted too far (:func:`footfall.standing.fallen`), or when a body other
than a foot lies on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from footfall.measure.body_heights import base_height, base_tilt, first_body_down, standing_base_height
from footfall.measure.motion import momentum
from footfall.measure.slip import slip_distance
from footfall.measure.support import support_margin
from footfall.standing import FALLEN_TILT, fallen

if TYPE_CHECKING:
    from footfall.record import Record
    from footfall.robot import Robot

#: Least slip of a foot before the fall that is reported with it, m.
SLID = 0.01


@dataclass(frozen=True)
class Fall:
    """When a robot had fallen (s), and the cause in words."""

    time: float
    cause: str

    def __str__(self) -> str:
        return f"fell at {self.time:.3g} s: {self.cause}"


def fall(rec: Record) -> Fall | None:
    """The first time the base is too low or too tilted (:func:`footfall.standing.fallen`), or another body than a foot
    is on the ground.

    The base is the last body that carries all legs, with one leg the root; its standing height above the ground is that
    of the home pose, or of the start of the run if that is lower. The cause says when the centre of mass left the
    support for good and on which side (as the robot faced then), or that it sank between the feet; how far a foot
    had slid by then; and which sign of a fall was seen. A robot that is fixed in the world does not fall.
    """
    sign = _first_sign(rec)
    if sign is None:
        return None
    until, what = sign
    inside = np.flatnonzero(support_margin(rec, "com")[: until + 1] >= 0.0)
    left = int(inside[-1]) + 1 if inside.size else 0
    way = float(slip_distance(rec)[min(left, until), : rec.robot.point_count].max(initial=0.0))
    slid = f", after a point of a foot slid {100.0 * way:.2g} cm" if way > SLID else ""
    if left > until:
        how = f"its legs gave way: the mass sank between its feet{slid}"
    else:
        com = momentum(rec).com[:, :2]
        step = com[until] - com[left]
        side = _side(step, rec.robot, rec.qpos[left])
        how = f"tipped {side}: its centre of mass left the support at {rec.time[left]:.4g} s{slid}"
    return Fall(float(rec.time[until]), f"{how}; {what}")


def _side(step: np.ndarray, robot: Robot, qpos: np.ndarray) -> str:
    """The side of a robot, in the pose ``qpos``, to which a step (2,) leads."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(robot.model, data)
    x, y, _ = data.body(robot.root).xmat.reshape(3, 3) @ robot.forward_in_root
    ahead, left = x * step[0] + y * step[1], x * step[1] - y * step[0]
    if abs(ahead) >= abs(left):
        return "forwards" if ahead > 0.0 else "backwards"
    return "to its left" if left > 0.0 else "to its right"


def has_fallen(rec: Record) -> bool:
    """Whether :func:`fall` finds a fall."""
    return _first_sign(rec) is not None


def _first_sign(rec: Record) -> tuple[int, str] | None:
    """The sample in which a robot had fallen, and the sign of it."""
    if not len(rec) or rec.robot.held:
        return None
    height, standing, tilt = base_height(rec), standing_base_height(rec), base_tilt(rec)
    low = np.flatnonzero(fallen.py_func(height, standing, tilt))
    down = first_body_down(rec)
    if down is not None and (not low.size or down.sample < low[0]):
        return down.sample, f"body '{down.body}' is on the ground"
    if not low.size:
        return None
    at = int(low[0])
    if tilt[at] > FALLEN_TILT:
        return at, f"its base tilted by {tilt[at]:.2f} rad"
    return at, f"its base sank to {height[at]:.3g} m of {standing:.3g} m"
