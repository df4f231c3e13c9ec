"""Falls: whether, when and why.

A robot has fallen when its base has sunk or tilted too far (:func:`footfall.standing.fallen`), or when a body other
than a foot lies on the ground. A knee that brushes the ground in each stride does not lie there: a body lies on the
ground if it touches it for half of the time in which the base would fall to the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.engine.replay import AT_ONCE, SPEEDS, States, other_places, replay, replay_places
from footfall.ground import Ground
from footfall.measure.common import once
from footfall.measure.motion import momentum
from footfall.measure.pressure import support_margin
from footfall.measure.slip import slip_distance
from footfall.record import Record
from footfall.robot import Robot
from footfall.robot.model import chain_of
from footfall.standing import FALLEN_TILT, at_home, fallen, in_pose, scratch_data

# ---- heights of bodies above the ground -----------------------------------------------------------------------------


#: s between samples in which bodies are checked for lying on the ground: shorter than any such contact.
EVERY = 5e-3
#: Height of the origin of a base at home, as a share of that of the centre of mass of all that the base carries, below
#: which the latter is used.
LOW_ORIGIN = 0.5
#: m, height above the ground at home below which a body belongs to the feet.
AT_THE_FEET = 2e-3
#: Share of the standing height below which a body touches the ground: what lies on rigid ground may be just above it.
TOUCHING = 1e-3
#: Share of the time of a free fall of the base in which a body touches the ground, from which on it lies there.
LYING_SHARE = 0.5


def base_height(rec: Record) -> np.ndarray:
    """(T,) m, height of the base's origin above the ground below it; the base is the last body that carries all feet.

    Where the origin lies near the ground, as in carts and in models whose base is a footprint, the centre of mass of
    all that the base carries is used: a footprint has no mass of its own.
    """
    base = _base(rec)
    return base[:, 2] - rec.ground.height(base[:, 0], base[:, 1])


def base_tilt(rec: Record) -> np.ndarray:
    """(T,) rad, angle of the base from upright, as it stands at home; 0 for a base that is a foot, as of a ball."""
    robot = rec.robot
    if robot.base in robot.point_body:
        return np.zeros(len(rec))
    data = at_home(robot, scratch_data(robot.model))
    up = data.xmat[robot.base, 6:9].copy()  # the vertical in the frame of the base
    (axes,) = replay_places(data, rec.qpos, [data.xmat[robot.base]])
    tilt: np.ndarray = np.arccos(np.clip(axes.reshape(-1, 9)[:, 6:9] @ up, -1.0, 1.0))
    return tilt


def standing_base_height(rec: Record) -> float:
    """Height (m) of the base above the ground in the home pose, or at the start if that is lower."""
    return min(_at_home(rec.robot)[0], float(base_height(rec)[0]))


@once
def _at_home(robot: Robot) -> tuple[float, bool]:
    """Height (m) of the base at home, and whether its origin is less than half as high as the centre of mass of what it
    carries, which is the base then.
    """
    data = at_home(robot, scratch_data(robot.model))
    origin, centre = float(data.xpos[robot.base, 2]), float(data.subtree_com[robot.base, 2])
    low = origin < LOW_ORIGIN * centre
    return centre if low else origin, low


@once
def first_body_down(rec: Record) -> tuple[int, str] | None:
    """The sample in which the first body other than a foot that lies on the ground touches it, and its name; None where
    all stay clear of it or only brush it.

    Bodies that touch in the home pose, and those that hang on a foot, count as feet.
    """
    robot, watched = rec.robot, _watched(rec.robot)
    if not (watched.size and len(rec)):
        return None
    apart = float(np.diff(rec.time[:2]).sum()) if len(rec) > 1 else EVERY
    stride = max(1, round(EVERY / max(apart, 1e-9)))
    samples = np.unique(np.append(np.arange(0, len(rec), stride), len(rec) - 1))  # the last one too
    standing, _ = _at_home(robot)
    lowest = np.full(len(samples), -1)  # which of ``watched`` touches, the first of them
    for first in range(0, len(samples), AT_ONCE):
        some = samples[first : first + AT_ONCE]
        gap = other_places(robot, rec.ground, rec.qpos[some], rec.qvel[some], watched)["gap"]
        low = gap < TOUCHING * standing
        lowest[first : first + AT_ONCE] = np.where(low.any(axis=1), np.argmax(low, axis=1), -1)
    touching = lowest >= 0
    gravity = float(np.linalg.norm(robot.gravity))
    free_fall = np.sqrt(2.0 * standing / gravity) if gravity > 0.0 else np.inf
    window = int(min(max(free_fall / (stride * max(apart, 1e-9)), 1.0), len(samples)))
    count = np.concatenate([[0], np.cumsum(touching)])
    lying = np.flatnonzero(count[window:] - count[:-window] >= LYING_SHARE * window)
    if not lying.size:
        return None
    at = int(lying[0]) + int(np.argmax(touching[lying[0] :]))
    geom = robot.others.geom[watched[lowest[at]]]
    return int(samples[at]), robot.model.body(int(robot.model.geom_bodyid[geom])).name


@once
def _watched(robot: Robot) -> np.ndarray:
    """Indices of ``robot.others`` on bodies that belong to no foot and are clear of the ground at home."""
    model, others = robot.model, robot.others
    feet = {int(model.body_weldid[body]) for body in robot.point_body}
    own = [not feet & {int(model.body_weldid[b]) for b in chain_of(model, body)} for body in others.of_body]
    still, plane, body = np.zeros((1, model.nv)), Ground.plane(), model.geom_bodyid[others.geom]
    gap = other_places(robot, plane, robot.home[None], still, np.arange(len(others)))["gap"][0]
    return np.flatnonzero(np.array(own, dtype=bool) & ~np.isin(body, body[gap < AT_THE_FEET]))


@once
def _base(rec: Record) -> np.ndarray:
    """(T, 3) m, position of the base."""
    robot = rec.robot
    model, data, base = robot.model, scratch_data(robot.model), robot.base
    root, (_, low) = int(model.body_jntadr[base]), _at_home(robot)
    if low:
        still = States(rec.qpos, np.zeros((len(rec), model.nv)), np.zeros((len(rec), model.nu)))
        (bases,) = replay(data, SPEEDS, still, [data.subtree_com[base]])
        return bases
    if root >= 0 and model.jnt_type[root] == mujoco.mjtJoint.mjJNT_FREE:
        at = int(model.jnt_qposadr[root])  # the position of a free joint is part of qpos
        return np.array(rec.qpos[:, at : at + 3])
    (bases,) = replay_places(data, rec.qpos, [data.xpos[base]])
    return bases


#: m, slip of a foot before a fall from which on it is reported.
SLID = 0.01


@dataclass(frozen=True)
class Fall:
    """The time of a fall (s), and its cause in words."""

    time: float
    cause: str

    def __str__(self) -> str:
        return f"fell at {self.time:.3g} s: {self.cause}"


@public
def fall(rec: Record) -> Fall | None:
    """The first time the base is too low or too tilted (:func:`footfall.standing.fallen`), or another body than a foot
    lies on the ground, that is, touches it for half of the time of a free fall from the height of the base.

    The base is the last body that carries all legs, with one leg the root; its standing height above the ground is that
    of the home pose, or of the start of the run if that is lower. The cause says when the centre of mass left the
    support for good and to which side of the robot, or that it sank between the feet; how far a foot had slid by then;
    and by which sign the fall was detected. A robot that is fixed in the world does not fall.
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
    """The side of a robot in the pose ``qpos`` to which a displacement (2,) of its centre of mass leads."""
    data = in_pose(robot, qpos)
    x, y, _ = data.body(robot.root).xmat.reshape(3, 3) @ robot.forward_in_root
    ahead, left = x * step[0] + y * step[1], x * step[1] - y * step[0]
    if abs(ahead) >= abs(left):
        return "forwards" if ahead > 0.0 else "backwards"
    return "to its left" if left > 0.0 else "to its right"


@public
def has_fallen(rec: Record) -> bool:
    """Whether :func:`fall` finds a fall."""
    return _first_sign(rec) is not None


def _first_sign(rec: Record) -> tuple[int, str] | None:
    """The first sample in which a robot has fallen, and the sign by which that is detected."""
    if not len(rec) or rec.robot.held:
        return None
    height, standing, tilt = base_height(rec), standing_base_height(rec), base_tilt(rec)
    low = np.flatnonzero(fallen.py_func(height, standing, tilt))
    down = first_body_down(rec)
    if down is not None and (not low.size or down[0] < low[0]):
        return down[0], f"body '{down[1]}' is on the ground"
    if not low.size:
        return None
    at = int(low[0])
    if tilt[at] > FALLEN_TILT:
        return at, f"its base tilted by {tilt[at]:.2f} rad"
    return at, f"its base sank to {height[at]:.3g} m of {standing:.3g} m"
