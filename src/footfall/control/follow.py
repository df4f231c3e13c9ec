"""Follow a motion: whole-body control along joint trajectories, with forces that the ground can give.

At every call a quadratic program (:mod:`footfall.control.whole_body`) finds the torques that come nearest to
the accelerations of the motion, corrected by the errors of the state. Points that stand in the motion and touch the
ground bear forces inside the friction cone; all others follow the motion. The centre of mass has a larger weight than
the posture, because it decides whether the robot falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.control.contact_forces import ContactPlaces, contact_places, place_contacts
from footfall.control.follow_reference import MotionReference, MotionTable, moment_at
from footfall.control.inside import UNSOLVED, EpisodeLog, Inside, empty_log, see_episode, see_fall
from footfall.control.senses import Senses, critical_gains, no_senses, rotation_between
from footfall.control.whole_body import (
    COM,
    CONTACTS,
    TURN,
    WholeBody,
    body_on_points,
    see_points,
    solve_body,
    write_forces,
)
from footfall.errors import ControllerError
from footfall.files.joint_motion import JointMotion, load_joint_motion
from footfall.given_numbers import NotNegative, Positive
from footfall.ground import Ground
from footfall.kinds import Float, Int, Ints, Matrix, Unit, Vector, zeros
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.robot.motors import Drives, drives, torque_range, write_controls
from footfall.solve.quadratic_program import UNBOUNDED
from footfall.standing import place


class Sizes(NamedTuple):
    """Of the robot and its ground. Constant."""

    height: float  # m, of the centre of mass
    omega: float  # 1/s, sqrt(g / height)
    weight: float  # N
    lift: float  # m, of the ground where it starts
    free_root: int  # 1 where the first joint is free


class FollowSignals(NamedTuple):
    """What is recorded: errors against the motion, and forces."""

    joint_error: Annotated[Vector, "nd", Unit("rad")]
    root_error: Annotated[Vector, 3, Unit("m")]
    tilt_error: Annotated[Vector, 1, Unit("rad")]
    com_error: Annotated[Vector, 3, Unit("m")]
    commanded_force: Annotated[Matrix, "P", 3, Unit("N")]


class Follower(NamedTuple):
    """All that following a motion works with."""

    senses: Senses
    signals: FollowSignals
    body: WholeBody
    contacts: ContactPlaces
    table: MotionTable
    sizes: Sizes
    drives: Drives
    own: Ints  # (nd,) motors of joints
    helping: Ints  # (nh,) motors on the root
    foot: Ints  # (P,) the foot of each point
    point_radius: Vector  # (P,) m
    begun: Annotated[Ints, 1]
    fallen: Annotated[Ints, 1]
    standing: Annotated[Ints, "P"]  # 1 where a point shall rest on the ground or come down to it
    touching: Annotated[Ints, "P"]  # 1 where it does
    foot_touches: Annotated[Ints, "F"]  # 1 where any point of a foot does
    axes: Annotated[Matrix, 3, 3]  # scratch
    motor_torque: Annotated[Vector, "nu"]  # N m
    log: EpisodeLog


#: Weights of the accelerations of points that stand and that swing, 1/(m/s2)^2.
STANCE_WEIGHT, SWING_WEIGHT = 1000.0, 30.0
# Lengths are in heights h of the centre of mass, rates in sqrt(g / h), times in sqrt(h / g): so they hold for any
# robot.
#: Rates at which trunk, joints, swinging points and the height of the centre of mass follow, critically damped: points
#: are light and move fastest.
TRUNK_RATE, JOINT_RATE, POINT_RATE, HEIGHT_RATE = 4.2, 3.6, 7.3, 3.0
#: Rate at which an error of the divergent component of motion decays, and damping of points that stand.
DCM_DECAY, STANCE_DAMPING = 1.2, 5.9
#: Duration of the load ramps after landing and before lift-off; and the longest time by which a landing may be early.
LOADING, EARLY = 0.2, 0.34
#: Load limit of a point that has just landed, as a share of its full limit.
FIRST_LOAD = 0.05
#: Load limit of a point, and least sum of the limits of all points, in body weights.
MOST_LOAD, LEAST_SUM = 2.0, 1.5
#: Largest gap of a point that touches the ground before the first step of a run.
TOUCHES = 2.3e-3
#: Speed at which a point that should stand comes down to find the ground, in sqrt(g h).
DESCENT = 0.034
#: Damping of the motors of a fallen robot, in weight times h times sqrt(h / g).
BRAKE = 0.04


@inlined
def follow_tick(follow: Follower, time: Float, ctrl: Vector) -> Int:
    """Write the controls for this instant; returns 0."""
    senses, body, contacts = follow.senses, follow.body, follow.contacts
    place_contacts(senses, contacts)
    see_points(senses, contacts.position, body)
    moment_at(follow.table, time)
    find_stances(follow, time)
    lead_com(follow)
    lead_joints_and_trunk(follow)
    lead_points(follow)
    for k in range(follow.own.size):
        body.least_torque[k], body.most_torque[k] = torque_range(follow.drives, follow.own[k], senses.qpos, senses.qvel)
    if not solve_body(body, contacts.frames):
        see_episode(follow.log, time, UNSOLVED, 1.0)
    report(follow)
    height = follow.table.moment.com[0, 2]
    tall = height + follow.signals.com_error[2]
    see_fall(follow.log, follow.fallen, time, tall, height, follow.signals.tilt_error[0])
    torque = follow.motor_torque
    for k in range(follow.helping.size):
        torque[follow.helping[k]] = 0.0
    brake = BRAKE * follow.sizes.weight * follow.sizes.height / follow.sizes.omega
    for k in range(follow.own.size):
        value = body.torque[k]
        if follow.fallen[0]:
            value = -brake * senses.qvel[body.driven[k]]
        torque[follow.own[k]] = min(max(value, body.least_torque[k]), body.most_torque[k])
    write_controls(follow.drives, torque, senses.qpos, senses.qvel, ctrl)
    for k in range(follow.helping.size):
        if follow.fallen[0]:
            body.help[k] = 0.0
        ctrl[follow.helping[k]] = body.help[k]
    return 0


@inlined
def find_stances(follow: Follower, time: Float) -> None:
    """Write the points that shall rest on the ground or come down to it, those that touch, and their load limits."""
    senses, body, table, sizes = follow.senses, follow.body, follow.table, follow.sizes
    row = min(max(math.floor(time / table.every + 0.5), 0), table.stands.shape[0] - 1)
    for f in range(follow.foot_touches.size):
        follow.foot_touches[f] = 0
    for p in range(follow.touching.size):
        # Modes are those of the last step; before the first one, points near the ground touch it.
        touches = senses.mode[p] > 0 if follow.begun[0] else senses.gap[p] < TOUCHES * sizes.height
        follow.touching[p] = 1 if touches else 0
        if touches:
            follow.foot_touches[follow.foot[p]] = 1
    follow.begun[0] = 1
    total, ramp = 0.0, LOADING / sizes.omega
    for p in range(follow.touching.size):
        stands = table.stands[row, p]
        early = table.wait[row, p] < EARLY / sizes.omega and follow.touching[p]
        bears = early or (stands and follow.foot_touches[follow.foot[p]])
        body.bearing[p] = 1 if bears else 0
        follow.standing[p] = 1 if stands or early else 0
        share = min(FIRST_LOAD + table.since[row, p] / ramp, table.left[row, p] / ramp if stands else FIRST_LOAD)
        body.load[p] = MOST_LOAD * sizes.weight * min(max(share, 0.0), 1.0)
        if bears:
            total += body.load[p]
    # Where feet land as others lift off, as in a trot, the limits must still add up to the weight.
    more = max(1.0, LEAST_SUM * sizes.weight / max(total, 1e-9))
    for p in range(body.load.size):
        full = body.load[p] >= MOST_LOAD * sizes.weight
        body.load[p] = UNBOUNDED if full else more * body.load[p]


@inlined
def lead_com(follow: Follower) -> None:
    """Lead the centre of mass: the error of its divergent component decays, and a spring and damper lead its height."""
    body, sizes, com = follow.body, follow.sizes, follow.table.moment.com
    w, k = sizes.omega, DCM_DECAY * sizes.omega
    for c in range(3):
        off = com[0, c] - body.com[c] + (sizes.lift if c == 2 else 0.0)
        rate = com[1, c] - body.com_velocity[c]
        stiff, damp = w * k, w + k
        if c == 2:
            stiff, damp = critical_gains(HEIGHT_RATE * w)
        body.wanted[COM + c] = com[2, c] + stiff * off + damp * rate


@inlined
def lead_joints_and_trunk(follow: Follower) -> None:
    """Lead joints and the root's attitude as in the motion."""
    body, sizes, senses, moment = follow.body, follow.sizes, follow.senses, follow.table.moment
    stiff, damp = critical_gains(JOINT_RATE * sizes.omega)
    for k in range(body.driven.size):
        d, at = body.driven[k], follow.drives.place[follow.own[k]]
        off, rate = moment.qpos[at] - senses.qpos[at], moment.qvel[d] - senses.qvel[d]
        body.joint_wanted[k] = moment.qacc[d] + stiff * off + damp * rate
    if not follow.sizes.free_root:
        return
    R, wanted = follow.axes, moment.trunk
    for r in range(3):
        for c in range(3):
            R[r, c] = senses.xmat[body.tree.root, 3 * r + c]
    x, y, z = rotation_between(wanted, R)
    stiff, damp = critical_gains(TRUNK_RATE * sizes.omega)
    for k in range(3):
        off = R[0, k] * x + R[1, k] * y + R[2, k] * z
        rate, push = 0.0, 0.0
        for i in range(3):  # the motion's velocity and acceleration are in its own trunk's frame, close to this one
            turn = R[0, k] * wanted[0, i] + R[1, k] * wanted[1, i] + R[2, k] * wanted[2, i]
            rate += turn * moment.qvel[3 + i]
            push += turn * moment.qacc[3 + i]
        body.wanted[TURN + k] = push + stiff * off + damp * (rate - senses.qvel[3 + k])


@inlined
def lead_points(follow: Follower) -> None:
    """Lead the points: standing ones rest, or come down to the ground; the others follow the motion."""
    body, sizes, points, place = follow.body, follow.sizes, follow.table.moment.points, follow.contacts.position
    stiff, damp = critical_gains(POINT_RATE * sizes.omega)
    rest = STANCE_DAMPING * sizes.omega
    for p in range(place.shape[0]):
        for c in range(3):
            if follow.standing[p]:
                wanted = -rest * body.velocity[p, c]
                if c == 2 and not body.bearing[p]:
                    wanted -= rest * DESCENT * sizes.height * sizes.omega
            else:
                goal = points[0, p, c] + (sizes.lift - follow.point_radius[p] if c == 2 else 0.0)
                wanted = points[2, p, c] + stiff * (goal - place[p, c])
                wanted += damp * (points[1, p, c] - body.velocity[p, c])
            row = CONTACTS + 3 * p + c
            body.wanted[row] = wanted
            body.weight[row] = STANCE_WEIGHT if follow.standing[p] else SWING_WEIGHT


@inlined
def report(follow: Follower) -> None:
    """Write the signals."""
    body, senses, moment, signals = follow.body, follow.senses, follow.table.moment, follow.signals
    lift = follow.sizes.lift
    for k in range(body.driven.size):
        at = follow.drives.place[follow.own[k]]
        signals.joint_error[k] = senses.qpos[at] - moment.qpos[at]
    for c in range(3):
        up = lift if c == 2 else 0.0
        signals.com_error[c] = body.com[c] - moment.com[0, c] - up
        if follow.sizes.free_root:
            signals.root_error[c] = senses.qpos[c] - moment.qpos[c] - up
    if follow.sizes.free_root:
        x, y, z = rotation_between(moment.trunk, follow.axes)
        signals.tilt_error[0] = math.sqrt(x * x + y * y + z * z)
    write_forces(body, follow.contacts.frames, signals.commanded_force)


#: Share of the ground's friction that is used.
FRICTION_USED = 0.8
#: Weights of accelerations: 1/(m/s2)^2, rotations times the square of the height of the centre of mass.
COM_WEIGHT, TRUNK_WEIGHT, JOINT_WEIGHT = 30.0, 13.4, 0.4
#: Weights of forces, per (body weight)^2, of the ground and of motors on the root; moments of the latter are taken as
#: forces at HELP_ARM heights of the centre of mass.
FORCE_WEIGHT, HELP_WEIGHT, HELP_ARM = 0.01, 1000.0, 0.35
#: Capacity of the log, episodes.
ROOM = 1024


@public
@dataclass(frozen=True)
class Follow:
    """Follow a motion of root and joints by whole-body control.

    A run starts in the first sample and lasts as long as the motion. It is for robots with a motor or servo at every
    joint, on any number of feet. Motors between the world and the root (``footfall.robot.assisted``), if there are any,
    help the less the larger ``help_weight`` is; :func:`footfall.measure.assistance` measures how much.

    Records ``joint_error`` (rad), ``root_error`` (m), ``tilt_error`` (rad), ``com_error`` (m) and ``commanded_force``.
    Warnings: ``unsolved``, ``fallen``, after which the motors only brake.

    Limitations: made for level ground; it steps where the motion steps, not where a step could prevent a fall.

    Attributes:
        motion: a file (see :mod:`footfall.files.joint_motion`) or a ``JointMotion``.
        speed: factor on the speed of the motion: 0.5 takes twice as long.
        cutoff: Hz, of the low-pass filter on the samples.
        friction: coefficient that limits the forces, 0.8 of the ground's if left out.
        help_weight: cost of help on the root.
    """

    motion: str | Path | JointMotion
    speed: Positive = 1.0
    cutoff: Positive = 6.0
    friction: NotNegative | None = None
    help_weight: Positive = HELP_WEIGHT

    #: s between two calls, where a run does not say otherwise.
    control_dt = 0.002

    def __str__(self) -> str:
        return f"follow({self._samples.source}, speed={self.speed:g})"

    @property
    def duration(self) -> float:
        """s, of the motion."""
        return self._samples.duration / self.speed

    @property
    def _samples(self) -> JointMotion:
        if isinstance(self.motion, JointMotion):
            return self.motion
        path = Path(self.motion)
        state = path.stat() if path.is_file() else None
        return _loaded(str(path), state and (state.st_mtime_ns, state.st_size))

    def reference(self, robot: Robot) -> MotionReference:
        """The motion fitted to a robot."""
        motion = self._samples
        return MotionReference(robot, replace(motion, time=motion.time / self.speed), self.cutoff)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """The first sample of the motion, on the ground."""
        return _start(self.reference(robot), robot, ground)[:2]

    def start(self, robot: Robot, ground: Ground, dt: float) -> Inside:
        if not robot.model.nu:
            raise ControllerError(f"follow needs motors, and {robot.name} has none")
        return Inside(follow_tick, _follower(self, robot, ground), robot)


@lru_cache(maxsize=4)
def _loaded(path: str, state: tuple[int, int] | None) -> JointMotion:
    """The motion of a file, read again when its ``state`` (time of its last change, size) is another."""
    return load_joint_motion(path)


def _start(reference: MotionReference, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray, float]:
    """The initial qpos and qvel on this ground, and the height of the ground there (m).

    A robot that stands in the motion is put on the ground, even if its feet hover in the motion.
    """
    moment = reference.at(0.0)
    placed = place(replace(robot, home=moment.qpos), ground, (0.0, 0.0), align=False)
    lowest = float((moment.points[0, :, 2] - robot.point_radius).min())
    moved = np.flatnonzero(placed - moment.qpos)
    lift = float((placed - moment.qpos).sum()) + lowest
    if not reference.table.stands[0].any():
        placed[moved] += lowest
    return placed, moment.qvel.copy(), lift


def _follower(options: Follow, robot: Robot, ground: Ground) -> Follower:
    """All that following the motion works with, without senses."""
    reference, driving = options.reference(robot), drives(robot, "follow")
    friction = FRICTION_USED * ground.dynamic_friction if options.friction is None else options.friction
    body, sizes = body_on_points(robot, driving, friction, "follow"), _sizes(reference, robot, ground)
    helping = np.array([1.0, 1.0, 1.0, *[(HELP_ARM * sizes.height) ** -2] * 3])
    body.force_weight[:] = FORCE_WEIGHT / sizes.weight**2
    body.help_weight[:] = options.help_weight / sizes.weight**2 * helping
    body.weight[COM:TURN] = COM_WEIGHT
    body.weight[TURN:CONTACTS] = TRUNK_WEIGHT * sizes.height**2 if sizes.free_root else 0.0
    body.joint_weight[:] = JOINT_WEIGHT * sizes.height**2
    lengths = {"P": robot.point_count, "F": len(robot.feet), "nd": len(body.driven), "nu": robot.model.nu}
    return zeros(
        Follower,
        lengths,
        senses=no_senses(),
        signals=zeros(FollowSignals, lengths),
        body=body,
        contacts=contact_places(robot, ground),
        table=reference.table,
        sizes=sizes,
        drives=driving,
        own=np.flatnonzero(~robot.root_motors),
        helping=np.flatnonzero(robot.root_motors),
        foot=np.array(robot.point_foot, dtype=np.int64),
        point_radius=np.array(robot.point_radius, dtype=float),
        log=empty_log(ROOM),
    )


def _sizes(reference: MotionReference, robot: Robot, ground: Ground) -> Sizes:
    height = max(float(reference.at(0.0).com[0, 2]), 1e-3)
    g = max(float(np.linalg.norm(robot.gravity)), 1e-9)
    return Sizes(
        height=height,
        omega=math.sqrt(g / height),
        weight=max(float(robot.weight), 1e-9),
        lift=float(_start(reference, robot, ground)[2]),
        free_root=int(robot.model.njnt > 0 and robot.model.jnt_type[0] == FREE),
    )
