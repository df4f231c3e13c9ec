"""A motion from a file, fitted to a robot: coordinates and positions at any time, and the points that stand.

Coordinates come from splines, positions from MuJoCo's kinematics, rates from differences.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import ByReference, inlined, kernel
from footfall.engine.bridge import mj_com_pos, mj_differentiate_pos, mj_kinematics, pointer_to
from footfall.errors import ControllerError, did_you_mean, optional_package, warn
from footfall.files.joint_motion import JointMotion
from footfall.files.stamps import evened, low_passed, stamps_of
from footfall.kinds import Float, IntMatrix, Ints, Matrix, Tensor, Vector, zeros
from footfall.robot import Robot
from footfall.robot.model import FREE, HINGE, SLIDE, height_of_root
from footfall.robot.rotations import matrix_of
from footfall.standing import at_home

#: Half the interval, s, of the central differences that give velocities and accelerations.
NEAR = 2e-3


class Moment(NamedTuple):
    """A motion at a time: coordinates, and positions with their velocities and accelerations (world frame)."""

    qpos: Annotated[Vector, "nq"]
    qvel: Annotated[Vector, "nv"]
    qacc: Annotated[Vector, "nv"]
    com: Annotated[Matrix, 3, 3]  # m, m/s, m/s2
    points: Annotated[Tensor, 3, "P", 3]  # of the contact points, the same
    trunk: Annotated[Matrix, 3, 3]  # axes of the root


class StanceTable(NamedTuple):
    """The planned stances: a row every ``every`` s, a column for each point."""

    every: float  # s
    stands: IntMatrix  # (K, P) 1 while a point shall stand
    since: Matrix  # (K, P) s since a standing point landed; inf from the start
    wait: Matrix  # (K, P) s until another point lands; inf for never
    left: Matrix  # (K, P) s until a standing point lifts off


class MotionTable(NamedTuple):
    """A motion as cubic splines, and the robot that makes it."""

    breaks: Vector  # (N,) s
    coefficients: Tensor  # (4, N - 1, nq) of falling powers of the time since a break
    turning: Ints  # (Q,) addresses of quaternions
    height: int  # coordinate that is up, or -1
    lift: Annotated[Vector, 1]  # m, that is added to it
    root: int  # body
    point_body: Ints  # (P,)
    point_position: Matrix  # (P, 3) m, body frame
    model: int  # MuJoCo's, an address
    data: int
    data_qpos: Vector  # (nq,) its arrays
    xpos: Matrix
    xmat: Matrix
    subtree_com: Matrix
    around: Annotated[Matrix, 3, "nq"]  # scratch: coordinates before, now and after
    places: Annotated[Tensor, 3, "P", 3]  # scratch: contact points then
    centres: Annotated[Matrix, 3, 3]  # scratch: centres of mass then
    rates: Annotated[Matrix, 2, "nv"]  # scratch: velocities before and after
    moment: Moment  # the last one computed


@inlined
def coordinates_at(table: MotionTable, time: Float, qpos: Vector) -> None:
    """Write the coordinates (nq,) at a time; before the start and after the end the motion rests there."""
    breaks, c = table.breaks, table.coefficients
    low, high = 0, breaks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if time < breaks[middle]:
            high = middle
        else:
            low = middle
    t = min(max(time, breaks[0]), breaks[breaks.size - 1]) - breaks[low]
    for i in range(qpos.size):
        qpos[i] = ((c[0, low, i] * t + c[1, low, i]) * t + c[2, low, i]) * t + c[3, low, i]
    for k in range(table.turning.size):
        first, square = table.turning[k], 0.0
        for i in range(first, first + 4):
            square += qpos[i] * qpos[i]
        for i in range(first, first + 4):
            qpos[i] /= math.sqrt(square)
    if table.height >= 0:
        qpos[table.height] += table.lift[0]


@inlined
def look_at(table: MotionTable, qpos: Vector, centre: Vector, places: Matrix) -> None:
    """Write centre of mass (3,) and contact points (P, 3) of the robot with these coordinates, m, world frame."""
    for i in range(qpos.size):
        table.data_qpos[i] = qpos[i]
    mj_kinematics(table.model, table.data)
    mj_com_pos(table.model, table.data)
    for c in range(3):
        centre[c] = table.subtree_com[table.root, c]
    for p in range(places.shape[0]):
        at, turned, local = table.xpos[table.point_body[p]], table.xmat[table.point_body[p]], table.point_position[p]
        for r in range(3):
            own = turned[3 * r] * local[0] + turned[3 * r + 1] * local[1] + turned[3 * r + 2] * local[2]
            places[p, r] = at[r] + own


@inlined
def moment_at(table: MotionTable, time: Float) -> None:
    """Write everything at a time (s) to ``table.moment``."""
    moment, around, rates = table.moment, table.around, table.rates
    for k in range(3):
        coordinates_at(table, time + (k - 1) * NEAR, around[k])
    for k in range(2):
        rate, before, after = pointer_to(rates[k]), pointer_to(around[k]), pointer_to(around[k + 1])
        mj_differentiate_pos(table.model, rate, NEAR, before, after)
    for j in range(moment.qvel.size):
        moment.qvel[j], moment.qacc[j] = 0.5 * (rates[0, j] + rates[1, j]), (rates[1, j] - rates[0, j]) / NEAR
    for i in range(moment.qpos.size):
        moment.qpos[i] = around[1, i]
    for k in (0, 2, 1):  # the present last, so that MuJoCo's data keep it
        look_at(table, around[k], table.centres[k], table.places[k])
    for c in range(3):
        write_rates(table.centres[0, c], table.centres[1, c], table.centres[2, c], moment.com[:, c])
        for k in range(3):
            moment.trunk[c, k] = table.xmat[table.root, 3 * c + k]
        for p in range(table.places.shape[1]):
            before, now, after = table.places[0, p, c], table.places[1, p, c], table.places[2, p, c]
            write_rates(before, now, after, moment.points[:, p, c])


@inlined
def write_rates(before: Float, now: Float, after: Float, out: Vector) -> None:
    """Write value, rate and second rate (3,), by differences."""
    out[0], out[1], out[2] = now, (after - before) / (2.0 * NEAR), (after - 2.0 * now + before) / (NEAR * NEAR)


#: Largest height, in heights h of the centre of mass, and largest speed, in sqrt(g h), of a standing point.
STANDS_BELOW, STANDS_SLOWER = 0.023, 0.086
#: Period of the samples in which stances are detected, s; and duration of the shortest stance or swing, sqrt(h / g).
EVERY, SHORTEST = 5e-3, 0.2
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

        self.robot, self.duration = robot, motion.duration
        model = robot.model
        self._data = mujoco.MjData(model)
        samples = _coordinates(robot, motion)
        for at in _quaternions(model):
            samples[:, at : at + 4] = _continuous(samples[:, at : at + 4])
        time, samples = _evened(motion, samples)
        smooth = low_passed(samples, 1.0 / float(np.median(np.diff(time))), cutoff)
        spline = CubicSpline(time, smooth, axis=0)
        self.table = _table(robot, self._data, spline.x, spline.c)
        self._place = ByReference(self.table)
        self.stances = self._find_stances()

    @property
    def lift(self) -> float:
        """How far the motion was moved up, m."""
        return float(self.table.lift[0])

    def at(self, time: float) -> Moment:
        """Everything at a time."""
        ask_moment(self._place, float(time))
        return Moment(*(value.copy() for value in self.table.moment))

    def _find_stances(self) -> StanceTable:
        """Set the motion on the ground, and find which points stand on it when."""
        times = np.arange(0.0, self.duration + EVERY, EVERY)
        places = np.array([self.at(t).points[0] for t in times])
        height = places[:, :, 2] - self.robot.point_radius
        h = max(_home_height(self.robot), 1e-3)
        fast = STANDS_SLOWER * math.sqrt(h * max(float(np.linalg.norm(self.robot.gravity)), 1e-9))
        speed = np.linalg.norm(np.gradient(places, EVERY, axis=0), axis=2)
        # The ground is at the median height of the lowest point while it rests: retargeted feet hover and sink in.
        lowest, slowness = height.min(axis=1), speed[np.arange(len(times)), height.argmin(axis=1)]
        resting = lowest[slowness < fast]
        low = float(np.median(resting)) if resting.size else float(lowest.min())
        if self.table.height >= 0:
            self.table.lift[0] = -low
        stands = (height - low < STANDS_BELOW * h) & (speed < fast)
        for p in range(stands.shape[1]):
            for wanted in (False, True):  # first fill short gaps, then drop short stances
                _drop_short(stands[:, p], wanted, round(SHORTEST * STANDS_SLOWER * h / fast / EVERY))
        since, wait, left = (np.full(stands.shape, np.inf) for _ in range(3))
        for k in range(1, len(stands)):
            since[k] = np.where(stands[k], np.where(stands[k - 1], since[k - 1] + EVERY, EVERY), 0.0)
        for k in range(len(stands) - 2, -1, -1):
            left[k] = np.where(stands[k], np.where(stands[k + 1], left[k + 1] + EVERY, EVERY), 0.0)
            wait[k] = np.where(stands[k], 0.0, np.where(stands[k + 1], EVERY, wait[k + 1] + EVERY))
        return StanceTable(EVERY, stands.astype(np.int64), since, wait, left)


@kernel
def ask_moment(table: MotionTable, time: Float) -> None:
    """The moment at a time, for Python."""
    moment_at(table, time)


def _home_height(robot: Robot) -> float:
    """m, of the centre of mass at home."""
    return float(at_home(robot).subtree_com[robot.model.body_rootid[robot.point_body[0]], 2])


def _table(robot: Robot, data: mujoco.MjData, breaks: np.ndarray, coefficients: np.ndarray) -> MotionTable:
    """A motion as splines of coordinates, for compiled code; ``data`` must outlive it."""
    model, root = robot.model, int(robot.model.body_rootid[robot.point_body[0]])
    sizes, rise = {"P": robot.point_count, "nq": model.nq, "nv": model.nv}, height_of_root(model, root)
    return zeros(
        MotionTable,
        sizes,
        breaks=np.array(breaks),
        coefficients=np.array(coefficients, order="C"),
        turning=np.array(_quaternions(model), dtype=np.int64),
        height=-1 if rise is None or rise[1] < 0.0 else rise[0],
        root=root,
        point_body=np.array(robot.point_body, dtype=np.int64),
        point_position=np.array(robot.point_position, dtype=float),
        model=model._address,
        data=data._address,
        data_qpos=data.qpos,
        xpos=data.xpos,
        xmat=data.xmat,
        subtree_com=data.subtree_com,
        moment=zeros(Moment, sizes),
    )


def _drop_short(stands: IntMatrix, wanted: bool, least: int) -> None:
    """Invert runs of ``wanted`` that are shorter than ``least`` samples, except at the start and the end."""
    edges = np.flatnonzero(np.diff(stands.astype(int))) + 1
    for first, last in pairwise(edges):
        if stands[first] == wanted and last - first < least:
            stands[first:last] = not wanted


def _evened(motion: JointMotion, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The times and samples (T, nq), resampled by their stamps if uneven, since the filter needs a fixed rate."""
    stamps = stamps_of(motion.time)
    if stamps.gaps or not stamps.even:
        warn(f"follow: {motion.source} has {stamps}; it is resampled by its stamps")
    return (motion.time, samples) if stamps.even else evened(motion.time, samples)


def _quaternions(model: mujoco.MjModel) -> list[int]:
    """Where quaternions begin in qpos."""
    ball = int(mujoco.mjtJoint.mjJNT_BALL)
    starts = {FREE: 3, ball: 0}
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
    model = robot.model
    scalar = [j for j in range(model.njnt) if model.jnt_type[j] in (HINGE, SLIDE)]
    if motion.names is None:
        count = motion.joints.shape[1]
        driven = [j for j in scalar if robot.joint_names[j] in robot.actuated]
        for order in (scalar, driven):
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
    strange = [name for name in motion.names if _plain(name) not in own]
    still = [robot.joint_names[j] for j in scalar if j not in found]
    for names, sentence in (
        (strange, f"{robot.name} has no joint {{}} of {motion.source}, which are left out"),
        (still, f"{motion.source} has no joint {{}} of {robot.name}, which stay as at home"),
    ):
        if names:
            shown = ", ".join(f"'{name}'" for name in names[:4]) + (" ..." if len(names) > 4 else "")
            warn(f"follow: {sentence.format(shown)}")
    return found


def _plain(name: str) -> str:
    plain = name.strip().lower()
    while _DECORATION.search(plain):
        plain = _DECORATION.sub("", plain)
    return plain


def _within(robot: Robot, joint: int, values: np.ndarray) -> np.ndarray:
    """The values inside the limits of the joint, with a warning where they are not."""
    model = robot.model
    if not model.jnt_limited[joint]:
        return values
    low, high = model.jnt_range[joint]
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
