"""A motion from a file, fitted to a robot: coordinates and positions at any time, and the points that stand.

Coordinates come from splines, positions from MuJoCo's kinematics, rates from differences, all in samples.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.errors import ControllerError, did_you_mean, optional_package, warn
from footfall.files.joint_motion import JointMotion
from footfall.files.stamps import evened, low_passed, stamps_of
from footfall.kinds import Float, IntMatrix, Matrix, Tensor, Vector
from footfall.logs.log import shortened
from footfall.logs.meaning import scalar_joints
from footfall.robot import Robot
from footfall.robot.model import FREE, height_of_root
from footfall.robot.rotations import matrix_of
from footfall.standing import at_home, point_positions

#: Longest period, s, of the samples whose central differences are velocities and accelerations.
LONGEST = 4e-3


class Moment(NamedTuple):
    """A motion at a time: coordinates, and positions with their velocities and accelerations (world frame)."""

    qpos: Annotated[Vector, "nq"]
    qvel: Annotated[Vector, "nv"]
    qacc: Annotated[Vector, "nv"]
    com: Annotated[Matrix, 3, 3]  # m, m/s, m/s2
    points: Annotated[Tensor, 3, "P", 3]  # of the contact points, the same
    trunk: Annotated[Matrix, 3, 3]  # axes of the root


class MotionTable(NamedTuple):
    """The samples of a motion, K rows, and the planned stances, a column for each point."""

    every: float  # s, from one row to the next
    moments: Matrix  # (K, N) the numbers of a moment
    row: Vector  # (N,) those of the last one asked for
    moment: Moment  # the same, by name
    stands: IntMatrix  # (K, P) 1 while a point shall stand
    since: Matrix  # (K, P) s since a standing point landed; inf from the start
    wait: Matrix  # (K, P) s until another point lands; inf for never
    left: Matrix  # (K, P) s until a standing point lifts off


@inlined
def moment_at(table: MotionTable, time: Float) -> None:
    """Write everything at a time (s) to ``table.moment``: between samples it changes linearly."""
    moments, row = table.moments, table.row
    last = moments.shape[0] - 1
    place = min(max(time / table.every, 0.0), 1.0 * last)
    first = min(int(place), last - 1)
    part = place - first
    for i in range(row.size):
        row[i] = moments[first, i] + part * (moments[first + 1, i] - moments[first, i])


#: Largest height, in heights h of the centre of mass, and largest speed, in sqrt(g h), of a standing point.
STANDS_BELOW, STANDS_SLOWER = 0.023, 0.086
#: Duration of the shortest stance or swing, sqrt(h / g).
SHORTEST = 0.2
#: Largest excess of a motion over the limit of a joint that is not reported, rad.
BEYOND = 0.02
#: Tilt of the root at the start, rad, above which another order of its quaternion is assumed if that is nearer upright.
UPRIGHT = 0.8
#: Suffixes of joint names that are ignored when names are compared.
_DECORATION = re.compile(r"(_joint|_dof|_angle|\.position|/position)$")


class MotionReference:
    """The motion of a robot over time (s); before its start and after its end it rests there.

    Samples are resampled by their stamps where these are uneven, smoothed by a filter of second order, forwards and
    backwards, at ``cutoff`` (Hz), and joined by cubic splines. The motion is moved vertically until its
    resting points are on z = 0.
    """

    def __init__(self, robot: Robot, motion: JointMotion, cutoff: float) -> None:
        CubicSpline = optional_package("scipy.interpolate").CubicSpline

        samples, stamps = _coordinates(robot, motion), stamps_of(motion.time)
        turning = [slice(at, at + 4) for at in _quaternions(robot.model)]
        for own in turning:
            samples[:, own] = _continuous(samples[:, own])
        if stamps.gaps or not stamps.even:
            warn(f"follow: {motion.source} has {stamps}; it is resampled by its stamps")
        time, samples = (motion.time, samples) if stamps.even else evened(motion.time, samples)
        period = float(time[-1] - time[0]) / (len(time) - 1)
        spline = CubicSpline(time, low_passed(samples, 1.0 / period, cutoff), axis=0)
        every = period / math.ceil(period / LONGEST)  # so that each sample of the file is one here
        count = math.ceil(motion.duration / every) + 1
        qpos = spline(np.clip(every * np.arange(-1.0, count + 2.0), time[0], time[-1]))  # one more at both ends
        for own in turning:
            qpos[:, own] /= np.linalg.norm(qpos[:, own], axis=1, keepdims=True)
        root = int(robot.model.body_rootid[robot.point_body[0]])
        com, places, trunk = _kinematics(robot, qpos, root)
        stands, low = _stands(robot, places[1:-1], every)
        rise = height_of_root(robot.model, root)
        self.lift = 0.0
        if rise is not None and rise[1] > 0.0:
            self.lift = -low
            qpos[:, rise[0]] += self.lift
            com[:, 2] += self.lift
            places[:, :, 2] += self.lift
        rate, between = np.zeros((len(qpos) - 1, robot.model.nv)), pairwise(qpos)
        for own, (before, after) in zip(rate, between, strict=True):
            mujoco.mj_differentiatePos(robot.model, own, every, before, after)
        parts = (
            qpos[1:-1],
            0.5 * (rate[1:] + rate[:-1]),
            np.diff(rate, axis=0) / every,
            _with_rates(com, every),
            _with_rates(places, every),
            trunk[1:-1],
        )
        moments = np.concatenate([part.reshape(len(stands), -1) for part in parts], axis=1)
        row = moments[0].copy()
        views = np.split(row, np.cumsum([part[0].size for part in parts])[:-1])
        moment = Moment(*(view.reshape(part.shape[1:]) for view, part in zip(views, parts, strict=True)))
        #: What compiled code reads.
        self.table = MotionTable(every, moments, row, moment, stands.astype(np.int64), *_durations(stands, every))

    def at(self, time: float) -> Moment:
        """Everything at a time."""
        moment_at.py_func(self.table, time)
        return Moment(*(value.copy() for value in self.table.moment))


def _kinematics(robot: Robot, poses: np.ndarray, root: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre of mass (K, 3) and contact points (K, P, 3), m, and the axes (K, 3, 3) of the root, in the world."""
    data = mujoco.MjData(robot.model)
    com, places, trunk = (np.zeros((len(poses), *shape)) for shape in ((3,), (robot.point_count, 3), (3, 3)))
    for k, pose in enumerate(poses):
        data.qpos[:] = pose
        mujoco.mj_kinematics(robot.model, data)
        mujoco.mj_comPos(robot.model, data)
        com[k], places[k] = data.subtree_com[root], point_positions(robot, data)
        trunk[k] = data.xmat[root].reshape(3, 3)
    return com, places, trunk


def _with_rates(values: np.ndarray, every: float) -> np.ndarray:
    """(K, 3, ...) value, rate and second rate of samples (K + 2, ...), by central differences."""
    before, now, after = values[:-2], values[1:-1], values[2:]
    return np.stack([now, (after - before) / (2.0 * every), (after - 2.0 * now + before) / every**2], axis=1)


def _stands(robot: Robot, places: np.ndarray, every: float) -> tuple[np.ndarray, float]:
    """(K, P) whether points at ``places`` (K, P, 3) stand, and the height of the ground (m) under the motion."""
    height = places[:, :, 2] - robot.point_radius
    h = max(float(at_home(robot).subtree_com[robot.model.body_rootid[robot.point_body[0]], 2]), 1e-3)  # m, at home
    fast = STANDS_SLOWER * math.sqrt(h * max(float(np.linalg.norm(robot.gravity)), 1e-9))
    speed = np.linalg.norm(np.gradient(places, every, axis=0), axis=2)
    # The ground is at the median height of the lowest point while it rests: retargeted feet hover and sink in.
    lowest, slowness = height.min(axis=1), speed[np.arange(len(places)), height.argmin(axis=1)]
    resting = lowest[slowness < fast]
    low = float(np.median(resting)) if resting.size else float(lowest.min())
    stands = (height - low < STANDS_BELOW * h) & (speed < fast)
    for p in range(stands.shape[1]):
        for wanted in (False, True):  # first fill short gaps, then drop short stances
            _drop_short(stands[:, p], wanted, round(SHORTEST * STANDS_SLOWER * h / fast / every))
    return stands, low


def _durations(stands: np.ndarray, every: float) -> list[np.ndarray]:
    """(K, P) s each: since a standing point landed, until another one lands, until a standing one lifts off."""
    since, wait, left = (np.full(stands.shape, np.inf) for _ in range(3))
    for k in range(1, len(stands)):
        since[k] = np.where(stands[k], np.where(stands[k - 1], since[k - 1] + every, every), 0.0)
    for k in range(len(stands) - 2, -1, -1):
        left[k] = np.where(stands[k], np.where(stands[k + 1], left[k + 1] + every, every), 0.0)
        wait[k] = np.where(stands[k], 0.0, np.where(stands[k + 1], every, wait[k + 1] + every))
    return [since, wait, left]


def _drop_short(stands: IntMatrix, wanted: bool, least: int) -> None:
    """Invert runs of ``wanted`` that are shorter than ``least`` samples, except at the start and the end."""
    edges = np.flatnonzero(np.diff(stands.astype(int))) + 1
    for first, last in pairwise(edges):
        if stands[first] == wanted and last - first < least:
            stands[first:last] = not wanted


def _quaternions(model: mujoco.MjModel) -> list[int]:
    """Where quaternions begin in qpos."""
    starts = {FREE: 3, int(mujoco.mjtJoint.mjJNT_BALL): 0}
    return [int(model.jnt_qposadr[j]) + starts[int(k)] for j, k in enumerate(model.jnt_type) if int(k) in starts]


def _continuous(quaternions: np.ndarray) -> np.ndarray:
    """Unit quaternions, each with the sign that is nearer to the one before."""
    unit = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    signs = np.where((unit[1:] * unit[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    unit[1:] *= np.cumprod(signs)[:, None]
    return unit


# ---- from the columns of a file to the coordinates of a robot ------------------------------------------------------


def _coordinates(robot: Robot, motion: JointMotion) -> np.ndarray:
    """(T, nq) of the robot; joints that the motion does not have stay as at home."""
    model = robot.model
    if motion.names is None and motion.position is None:
        if motion.joints.shape[1] != model.nq:
            raise ControllerError(
                f"follow: qpos of {motion.source} has {motion.joints.shape[1]} columns, and {robot.name} {model.nq}"
            )
        return motion.joints.copy()
    values = np.tile(robot.home, (len(motion), 1))
    if motion.position is not None and motion.rotation is not None:
        if not model.njnt or model.jnt_type[0] != FREE:
            raise ControllerError(f"follow: {motion.source} moves a free root, and {robot.name} has none")
        _check_order(robot, motion.rotation[0], motion.source)
        values[:, :3], values[:, 3:7] = motion.position, motion.rotation
    elif model.njnt and model.jnt_type[0] == FREE:
        raise ControllerError(
            f"follow: {motion.source} does not have the pose of the root, which {robot.name} needs: root_x, root_y, "
            "root_z, root_qx, root_qy, root_qz, root_qw"
        )
    for joint, column in _matched(robot, motion).items():
        values[:, model.jnt_qposadr[joint]] = _within(robot, joint, motion.joints[:, column])
    return values


def _matched(robot: Robot, motion: JointMotion) -> dict[int, int]:
    """The column of each joint that the motion has."""
    scalar = scalar_joints(robot)
    if motion.names is None:
        count = motion.joints.shape[1]
        for order in (scalar, [j for j in scalar if robot.joint_names[j] in robot.actuated]):
            if len(order) == count:
                return {joint: column for column, joint in enumerate(order)}
        raise ControllerError(
            f"follow: {motion.source} has {count} joints without names, and {robot.name} {len(scalar)}; give their "
            "names (joints)"
        )
    columns = {_plain(name): k for k, name in enumerate(motion.names)}
    own = {_plain(robot.joint_names[j]): j for j in scalar}
    found = {own[name]: column for name, column in columns.items() if name in own}
    if not found:
        hint = did_you_mean(_plain(motion.names[0]), own)
        raise ControllerError(
            f"follow: no joint of {motion.source} is one of {robot.name}; '{motion.names[0]}' for one: {hint}"
        )
    if strange := [name for name in motion.names if _plain(name) not in own]:
        warn(f"follow: {robot.name} has no joint {shortened(strange)} of {motion.source}, which are left out")
    if still := [robot.joint_names[j] for j in scalar if j not in found]:
        warn(f"follow: {motion.source} has no joint {shortened(still)} of {robot.name}, which stay as at home")
    return found


def _plain(name: str) -> str:
    plain = name.strip().lower()
    while _DECORATION.search(plain):
        plain = _DECORATION.sub("", plain)
    return plain


def _within(robot: Robot, joint: int, values: np.ndarray) -> np.ndarray:
    """The values inside the limits of the joint, with a warning where they are not."""
    low, high = robot.model.jnt_range[joint] if robot.model.jnt_limited[joint] else (-np.inf, np.inf)
    over = max(low - values.min(), values.max() - high)
    if over > BEYOND:
        warn(
            f"follow: the motion takes joint '{robot.joint_names[joint]}' of {robot.name} {over:.2f} beyond its "
            "limits; it stays within"
        )
    return np.clip(values, low, high)


def _check_order(robot: Robot, first: np.ndarray, source: str) -> None:
    """Refuse a root that lies down with its quaternion read in one order and stands with the other."""
    tilts = []
    for quaternion in (first, np.roll(first, 1), np.roll(first, -1)):
        up, home = (matrix_of(one)[2] for one in (quaternion / np.linalg.norm(quaternion), robot.home[3:7]))
        tilts.append(float(np.arccos(np.clip(up @ home, -1.0, 1.0))))
    if tilts[0] > UPRIGHT and min(tilts[1:]) < 0.5 * UPRIGHT:
        # If the roll by one is upright, the file's order is x, y, z, w; if the roll back is, it is w, x, y, z.
        order = "xyzw" if tilts[1] < tilts[2] else "wxyz"
        raise ControllerError(
            f"follow: the root of {source} begins {tilts[0]:.2f} rad from upright, and upright with its quaternion in "
            f"the order {', '.join(order)}: give quaternion='{order}' (--quaternion {order})"
        )
