"""Whether the centre of mass of a robot is over its soles in the home pose, without which it falls under every law; and
the nearest pose in which it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import warn
from footfall.robot.model import AT_JOINT, FREE, HINGE, SLIDE, chain_of, overlapping
from footfall.robot.pose import posed, set_down
from footfall.robot.robot import Robot
from footfall.robot.shapes import hull_ring

#: m or rad: distances below ROUNDING are rounding errors; changes of joints below TOLD are left out of the warning.
ROUNDING, TOLD = 1e-6, 1e-3
#: Targets for the centre of mass, as shares of the distance from the edge of the soles to their middle, tried in this
#: order until the joints allow one.
INWARD = (1.0, 0.5, 0.25)
ITERATIONS = 50
#: Smallest singular value of the Jacobian that counts, as a share of the largest.
RANK = 1e-6


class Toppling(NamedTuple):
    """How a robot falls from its home pose, and a pose near by in which it stands."""

    beyond: np.ndarray  # (2,) m, world frame, from the nearest point of the soles to the projected centre of mass
    pose: np.ndarray | None  # (nq,) near home, in which it stands; None where none was found


def toppling(robot: Robot) -> Toppling | None:
    """How a robot with a free base and motors falls from its home pose on level ground; None if it may stand.

    The support polygon is the hull of the contact points of its feet, and of other bodies that are as low. Robots on
    points or on a line, which no pose balances, are not judged.
    """
    model, down, root = robot.model, robot.gravity, _root(robot)
    free = model.body_jntnum[root] and model.jnt_type[model.body_jntadr[root]] == FREE
    carries_all = (model.body_rootid[robot.point_body] == root).all()
    if not (free and model.nu and carries_all and down[2] < 0.0 and not down[:2].any()):
        return None
    data = posed(model, robot.home)
    soles, under = _places(data, robot.point_body, robot.point_position), _under(robot, data)
    if len(hull_ring(soles[:, :2])) < 3 or not _beyond(soles[:, :2], under).any():
        return None
    others = _places(data, robot.others.of_body, robot.others.points)
    low = others[:, 2] - robot.others.radius <= (soles[:, 2] - robot.point_radius).max() + ROUNDING
    beyond = _beyond(np.vstack([soles, others[low]])[:, :2], under)
    return Toppling(beyond, next(_standing_poses(robot, soles, beyond), None)) if beyond.any() else None


def warn_of_toppling(robot: Robot) -> None:
    """Warn of a robot that falls from its home pose: how far and where its centre of mass is off, and a pose to stand
    in.
    """
    found = toppling(robot)
    if found is None:
        return
    model, (x, y) = robot.model, robot.forward[:2]
    ahead, left = 1e3 * (found.beyond @ (x, y)), 1e3 * (found.beyond @ (-y, x))
    ways = [(ahead, "ahead of", "behind"), (left, "to the left of", "to the right of")]
    out = " and ".join(
        f"{abs(mm):.1f} mm {one if mm > 0.0 else other}"
        for mm, one, other in ways
        if abs(mm) > 0.1 * np.hypot(ahead, left)
    )
    message = f"robot '{robot.name}' falls from its standing pose under any law: its centre of mass is {out} its soles"
    if found.pose is None:
        warn(f"{message}, and no pose near by that its joints allow brings it over them; pose= or --pose sets another")
        return
    single = [joint for joint in range(model.njnt) if model.jnt_type[joint] in (HINGE, SLIDE)]
    now, home = ((pose[model.jnt_qposadr[single]]).tolist() for pose in (found.pose, robot.home))
    moved = {
        robot.joint_names[joint]: round(new, 3)
        for joint, new, old in zip(single, now, home, strict=True)
        if abs(new - old) > TOLD
    }
    warn(f"{message}; with pose={moved} (rad or m) it is over them, and posture control begins there")


def _root(robot: Robot) -> int:
    """Root body of the first foot; bodies on other roots belong to other objects of the scene."""
    return int(robot.model.body_rootid[robot.point_body[0]])


def _places(data: mujoco.MjData, body: np.ndarray, local: np.ndarray) -> np.ndarray:
    """(P, 3) m, points of bodies in the world."""
    found: np.ndarray = data.xpos[body] + np.einsum("pij,pj->pi", data.xmat[body].reshape(-1, 3, 3), local)
    return found


def _under(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """(2,) m, x and y of the centre of mass."""
    mujoco.mj_comPos(robot.model, data)
    found: np.ndarray = data.subtree_com[_root(robot), :2].copy()
    return found


def _beyond(points: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(2,) m, from the nearest point of the hull of ``points`` (N, 2) to ``place`` (2,); 0 inside the hull."""
    ring = points[hull_ring(points)]
    along = np.roll(ring, -1, axis=0) - ring
    away = place - ring
    if (along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0] >= -ROUNDING * np.linalg.norm(along, axis=1)).all():
        return np.zeros(2)
    part = np.clip(np.einsum("ij,ij->i", away, along) / np.einsum("ij,ij->i", along, along), 0.0, 1.0)
    gaps = away - part[:, None] * along
    nearest: np.ndarray = gaps[np.einsum("ij,ij->i", gaps, gaps).argmin()]
    return nearest


def _standing_poses(robot: Robot, soles: np.ndarray, beyond: np.ndarray) -> Iterator[np.ndarray]:
    """Poses near home with the centre of mass over the soles, whose points (P, 3; m) keep their relative positions.

    The joints with motors in the legs move the centre of mass back along ``beyond`` (2,). The base keeps its attitude,
    joints keep within their limits, loops stay closed, no other body touches the ground, and no new pair overlaps.
    """
    model, home = robot.model, posed(robot.model, robot.home)
    legs = {body for foot in robot.point_body for body in chain_of(model, int(foot))[:-1]}
    driven = model.actuator_trnid[np.isin(model.actuator_trntype, AT_JOINT), 0]
    joints = np.array(
        [j for j in np.unique(driven) if model.jnt_bodyid[j] in legs and model.jnt_type[j] in (HINGE, SLIDE)]
    )
    if not joints.size:
        return
    mujoco.mj_fwdPosition(model, home)
    edge, way = _under(robot, home) - beyond, beyond / np.linalg.norm(beyond)
    back = (soles[:, :2].mean(axis=0) - edge) @ way * way
    lowest = _lowest_other(robot, home) - ROUNDING
    overlaps = overlapping(model, robot.home, robot.name).keys()
    for inward in INWARD:
        data = mujoco.MjData(model)
        data.qpos[:] = set_down(model, _brought_over(robot, joints, soles, edge + inward * back), robot.feet)
        mujoco.mj_fwdPosition(model, data)
        places = _places(data, robot.point_body, robot.point_position)
        same = np.ptp(places - soles, axis=0).max() < ROUNDING and _opening(data) < _opening(home) + ROUNDING
        stands = not _beyond(places[:, :2], _under(robot, data)).any() and _lowest_other(robot, data) > min(lowest, 0.0)
        if same and stands and overlapping(model, data.qpos, robot.name).keys() <= overlaps:
            yield data.qpos.copy()


def _lowest_other(robot: Robot, data: mujoco.MjData) -> float:
    """m, height of the lowest point of bodies other than the feet."""
    heights = _places(data, robot.others.of_body, robot.others.points)[:, 2] - robot.others.radius
    return float(heights.min(initial=np.inf))


def _opening(data: mujoco.MjData) -> float:
    """The largest error of an equality, m or rad."""
    return float(np.abs(data.efc_pos[: data.ne]).max(initial=0.0))


def _brought_over(robot: Robot, joints: np.ndarray, soles: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """(nq,) the pose, by Newton's method with least-norm steps in ``joints`` within their limits, in which the centre
    of mass is over ``goal`` (2,) of the soles, whose points (P, 3) keep their relative positions.
    """
    model, data = robot.model, posed(robot.model, robot.home)
    dofs, at = model.jnt_dofadr[joints], model.jnt_qposadr[joints]
    low, high = np.where(model.jnt_limited[joints, None], model.jnt_range[joints], (-np.inf, np.inf)).T
    rows, com = np.zeros((len(soles), 3, model.nv)), np.zeros((3, model.nv))
    for _ in range(ITERATIONS):
        mujoco.mj_kinematics(model, data)
        under, places = _under(robot, data), _places(data, robot.point_body, robot.point_position)
        for row, place, body in zip(rows, places, robot.point_body, strict=True):
            mujoco.mj_jac(model, data, row, None, place, int(body))
        mujoco.mj_jacSubtreeCom(model, data, com, _root(robot))
        moved, middle = places - soles, rows.mean(axis=0)
        jacobian = np.concatenate([(rows - middle).reshape(-1, model.nv), (com - middle)[:2]])
        errors = np.concatenate([(moved - moved.mean(axis=0)).ravel(), under - goal - moved.mean(axis=0)[:2]])
        change = np.linalg.lstsq(jacobian[:, dofs], -errors, rcond=RANK)[0]
        data.qpos[at] = np.clip(data.qpos[at] + change, low, high)
        if np.abs(change).max() < 1e-3 * ROUNDING:
            break
    return data.qpos.copy()
