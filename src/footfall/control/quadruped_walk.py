"""Walk on four legs: contact forces of the standing feet carry and steer the trunk, the other feet swing.

Torques come from the whole-body problem of the contact points (:mod:`footfall.control.whole_body`); a schedule says
which feet stand. A swinging foot goes to where the trunk will be, half a stance ahead, plus a correction for the error
of the speed (Raibert 1986). Feet are counted front left, front right, rear left, rear right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.control.base import derived, described
from footfall.control.body.stance import check_torques, check_weight, size_of
from footfall.control.contact_forces import ContactPlaces, contact_places, place_contacts
from footfall.control.inside import EpisodeLog, Inside, empty_log, limit_torques, see_fall
from footfall.control.senses import (
    Senses,
    Tree,
    critical_gains,
    is_carried,
    no_senses,
    rotation_between,
    tree_of,
    turned,
    write_flat_on,
)
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
from footfall.gait.footsteps import (
    ACCELERATION,
    POSITION,
    SCHEDULES,
    VELOCITY,
    Swing,
    advance_swing,
    begin_swing,
    stumble,
)
from footfall.given_numbers import Count, Finite, Positive
from footfall.ground import Ground
from footfall.kinds import Bool, Float, Int, IntMatrix, Ints, Matrix, Unit, Vector, zeros
from footfall.robot import Robot
from footfall.robot.motors import Drives, drives, write_controls
from footfall.robot.pose import set_down
from footfall.solve.contacts import OPEN
from footfall.solve.dense import copy
from footfall.solve.quadratic_program import UNBOUNDED
from footfall.standing import at_home, in_pose, jacobian_at, place, point_jacobian, point_positions


class FourLegs(NamedTuple):
    """The robot, standing at home."""

    height: float  # m, of the centre of mass over the feet
    rate: float  # 1/s2, at which an inverted pendulum of this height falls: g/h
    point: Ints  # (4,) contact point of each foot
    leg: IntMatrix  # (4, 3) degrees of freedom with motors that move it
    offset: Matrix  # (4, 3) m ahead, to the left and up from the centre of mass
    axes: Matrix  # (3, 3) rows: axes of the root that point forward, left and up at home, in its frame


class QuadrupedGait(NamedTuple):
    """The gait that was asked for, see :class:`footfall.gait.footsteps.Schedule`."""

    speed: float  # m/s, forward
    sideways: float  # m/s, to the left
    turn: float  # rad/s, to the left
    begin: float  # s, at which the first foot lifts
    period: float  # s, of a cycle
    cycles: float
    duty: float  # part of a cycle that a foot stands
    lift: Vector  # (4,) part of a cycle at which it lifts
    step_height: float  # m
    dt: float  # s, between two calls


class Now(NamedTuple):
    """Where the walk is."""

    begun: Annotated[Ints, 1]
    fallen: Annotated[Ints, 1]
    heading: Annotated[Vector, 1]  # rad
    way: Annotated[Vector, 2]  # m, where the centre of mass should be
    wanted: Annotated[Vector, 2]  # m/s, the velocity it should have
    swings: Annotated[Ints, 4]  # 1 while a foot swings
    swing: Swing  # of all four, each array with one row per foot


class QuadrupedSignals(NamedTuple):
    """What is recorded."""

    com: Annotated[Vector, 3, Unit("m")]
    com_velocity: Annotated[Vector, 3, Unit("m/s")]
    commanded_force: Annotated[Matrix, 4, 3, Unit("N")]
    phase: Annotated[Vector, 1]  # cycles


class QuadrupedWalker(NamedTuple):
    """All that a walk on four legs works with."""

    senses: Senses
    signals: QuadrupedSignals
    robot: FourLegs
    body: WholeBody
    drives: Drives
    contacts: ContactPlaces
    gait: QuadrupedGait
    now: Now
    axes: Annotated[Matrix, 3, 3]  # scratch: wanted orientation of the trunk
    trunk: Annotated[Matrix, 3, 3]  # columns: its axes that point forward, left and up at home, world frame
    motors: Ints  # (nd,) those of joints
    torque: Annotated[Vector, "nu"]  # scratch: N m
    log: EpisodeLog


#: Stiffness in g/h and damping in sqrt(g/h) of the horizontal motion, the height and the attitude.
ALONG, UPWARD, ATTITUDE = (0.5, 1.4), (4.0, 3.0), (4.0, 3.0)
#: Rate at which a swinging foot follows, critically damped, in sqrt(g/h).
FOOT_RATE = 5.3
#: Shift of a foothold per error of velocity, in sqrt(h/g); and the largest step, in legs.
CAPTURE, FARTHEST = 0.5, 0.45
#: Largest distance of the reference of the centre of mass ahead of the robot, in heights of the centre of mass.
AHEAD = 0.15
#: Share of the swing after which a contact may be a landing.
SOONEST = 0.6
#: Default speed, in sqrt(g h), which makes Froude's number 0.03; and speed at which a foot descends to find the ground:
#: the same, so that it keeps up with ground that falls by 45 degrees.
SPEED = DESCENT = 0.172
#: Height, as a share of the step's, above which a contact of a swinging foot is an obstacle; and the additional height,
#: as a share of the step's, to which the foot is then lifted.
OBSTACLE, HIGHER = 0.3, 1.0
#: Cycles in which the speed rises at the start and falls at the end.
RAMP = 1.0
#: Weights of accelerations, of which only the ratios matter: of the feet, which come first; of the centre of mass and,
#: at an arm of its height, of the trunk's rotation; and of joints, in squares of the height, to make the solution of a
#: straight leg unique.
FEET, CENTRE, JOINTS = 1000.0, 30.0, 0.003
#: Damping of feet that stand, in sqrt(g/h).
STANCE_DAMPING = 5.9


@inlined
def quadruped_tick(walk: QuadrupedWalker, time: Float, ctrl: Vector) -> Int:
    """Write the controls for this instant; returns 0."""
    senses, gait, now, body, signals = walk.senses, walk.gait, walk.now, walk.body, walk.signals
    see_trunk(walk)
    cycles = (time - gait.begin) / gait.period
    walking = 0.0 <= cycles < gait.cycles
    lead_way(walk, cycles, walking)
    change_feet(walk, cycles, walking)
    height = height_of_feet(walk)
    tilt = math.acos(min(1.0, max(-1.0, walk.trunk[2, 2])))
    see_fall(walk.log, now.fallen, time, body.com[2] - height, walk.robot.height, tilt)
    if now.fallen[0]:
        walk.torque[:] = 0.0
        body.force[:] = 0.0
    else:
        lead_trunk(walk, height)
        for foot in range(4):
            lead_foot(walk, foot)
        solve_body(body, walk.contacts.frames)
        for k in range(walk.motors.size):
            walk.torque[walk.motors[k]] = body.torque[k]
        limit_torques(walk.drives, walk.torque, senses, walk.log, time)
    write_controls(walk.drives, walk.torque, senses.qpos, senses.qvel, ctrl)
    copy(signals.com, body.com)
    copy(signals.com_velocity, body.com_velocity)
    write_forces(body, walk.contacts.frames, signals.commanded_force)
    signals.phase[0] = min(max(cycles, 0.0), gait.cycles)
    return 0


@inlined
def see_trunk(walk: QuadrupedWalker) -> None:
    """Read the state; at the first call the direction of the trunk becomes the heading."""
    senses, now, trunk, root = walk.senses, walk.now, walk.trunk, walk.body.tree.root
    place_contacts(senses, walk.contacts)
    see_points(senses, walk.contacts.position, walk.body)
    for k in range(3):
        trunk[0, k], trunk[1, k], trunk[2, k] = turned(senses.xmat[root], walk.robot.axes[k])
    if not now.begun[0]:
        now.begun[0] = 1
        now.heading[0] = math.atan2(trunk[1, 0], trunk[0, 0])
        now.way[0], now.way[1] = walk.body.com[0], walk.body.com[1]


@inlined
def lead_way(walk: QuadrupedWalker, cycles: Float, walking: Bool) -> None:
    """Advance the reference of the centre of mass, which waits if the robot does not keep up."""
    gait, now, com = walk.gait, walk.now, walk.body.com
    share = 0.0
    if walking:
        share = min(1.0, max(0.0, cycles / RAMP), max(0.0, (gait.cycles - cycles) / RAMP))
    c, s = math.cos(now.heading[0]), math.sin(now.heading[0])
    now.wanted[0] = share * (c * gait.speed - s * gait.sideways)
    now.wanted[1] = share * (s * gait.speed + c * gait.sideways)
    now.heading[0] += share * gait.turn * gait.dt
    x = now.way[0] + gait.dt * now.wanted[0] - com[0]
    y = now.way[1] + gait.dt * now.wanted[1] - com[1]
    far, most = math.hypot(x, y), AHEAD * walk.robot.height
    held = most / far if far > most else 1.0
    now.way[0], now.way[1] = com[0] + held * x, com[1] + held * y


@inlined
def swing_of(swings: Swing, foot: Int) -> Swing:
    """The swing of one foot."""
    return Swing(
        swings.motion[foot],
        swings.goal[foot],
        swings.time[foot],
        swings.duration[foot],
        swings.top[foot],
        swings.clearance[foot],
        swings.start_height[foot],
        swings.descent[foot],
    )


@inlined
def change_feet(walk: QuadrupedWalker, cycles: Float, walking: Bool) -> None:
    """Lift and set down feet by the schedule; a foot lands on what carries it, which a wall does not."""
    senses, gait, now, height = walk.senses, walk.gait, walk.now, walk.robot.height
    free = 1.0 - gait.duty
    lasts = free * gait.period
    for foot in range(4):
        swing, p = swing_of(now.swing, foot), walk.robot.point[foot]
        part = (cycles - gait.lift[foot]) % 1.0 / free  # of its swing
        if not now.swings[foot]:
            if walking and part < 0.5:
                speed = DESCENT * height * math.sqrt(walk.robot.rate)
                begin_swing(swing, walk.contacts.position[p], lasts, gait.step_height, speed)
                now.swings[foot] = 1
        elif is_carried(senses, p) and swing.time[0] > SOONEST * lasts:
            now.swings[foot] = 0
        elif senses.mode[p] != OPEN and swing.motion[2, POSITION] - swing.start_height[0] > OBSTACLE * gait.step_height:
            stumble(swing, HIGHER * gait.step_height)  # over what it met


@inlined
def height_of_feet(walk: QuadrupedWalker) -> Float:
    """m, the mean of those that stand, or of all where none does."""
    total, every, standing = 0.0, 0.0, 0
    for foot in range(4):
        height = walk.contacts.position[walk.robot.point[foot], 2]
        every += height
        if not walk.now.swings[foot]:
            total += height
            standing += 1
    return total / standing if standing else every / 4.0


@inlined
def lead_trunk(walk: QuadrupedWalker, height: Float) -> None:
    """Write the accelerations that lead the centre of mass and the trunk."""
    robot, now, body, trunk = walk.robot, walk.now, walk.body, walk.trunk
    com, v, wanted, w = body.com, body.com_velocity, body.wanted, math.sqrt(robot.rate)
    for c in range(2):
        wanted[COM + c] = ALONG[0] * robot.rate * (now.way[c] - com[c]) + ALONG[1] * w * (now.wanted[c] - v[c])
    wanted[COM + 2] = UPWARD[0] * robot.rate * (height + robot.height - com[2]) - UPWARD[1] * w * v[2]
    write_flat_on((0.0, 0.0), now.heading[0], walk.axes)
    x, y, z = rotation_between(walk.axes, trunk)
    xmat, spin = walk.senses.xmat[body.tree.root], walk.senses.qvel
    for k in range(3):  # about the axes of the root
        off = xmat[k] * x + xmat[3 + k] * y + xmat[6 + k] * z
        wanted[TURN + k] = ATTITUDE[0] * robot.rate * off - ATTITUDE[1] * w * spin[3 + k]


@inlined
def lead_foot(walk: QuadrupedWalker, foot: Int) -> None:
    """Write the acceleration that keeps a standing foot at rest, or leads a swinging one to where the trunk will be,
    half a stance ahead.
    """
    robot, gait, now, body = walk.robot, walk.gait, walk.now, walk.body
    p, rate = robot.point[foot], math.sqrt(robot.rate)
    at, speed, first = walk.contacts.position[p], body.velocity[p], CONTACTS + 3 * p
    swings = now.swings[foot]
    body.bearing[p] = 0 if swings else 1
    for c in range(3):
        body.wanted[first + c] = -STANCE_DAMPING * rate * speed[c]
    if not swings:
        if not is_carried(walk.senses, p):  # down to the ground again
            body.wanted[first + 2] -= STANCE_DAMPING * rate * DESCENT * robot.height * rate
        return
    swing, com, v = swing_of(now.swing, foot), body.com, body.com_velocity
    left = max(0.0, swing.duration[0] - swing.time[0])
    stance, capture = 0.5 * gait.duty * gait.period, CAPTURE / rate
    x = stance * now.wanted[0] + capture * (v[0] - now.wanted[0])
    y = stance * now.wanted[1] + capture * (v[1] - now.wanted[1])
    share = min(1.0, FARTHEST * robot.height / max(math.hypot(x, y), 1e-9))
    turns = now.heading[0] + gait.turn * left
    ahead, aside, hip = math.cos(turns), math.sin(turns), robot.offset[foot]
    x = com[0] + v[0] * left + ahead * hip[0] - aside * hip[1] + share * x
    y = com[1] + v[1] * left + aside * hip[0] + ahead * hip[1] + share * y
    advance_swing(swing, (x, y, swing.start_height[0]), gait.dt)
    stiff, damp = critical_gains(FOOT_RATE * rate)
    for k in range(3):
        one = swing.motion[k]
        off, slow = one[POSITION] - at[k], one[VELOCITY] - speed[k]
        body.wanted[first + k] = one[ACCELERATION] + stiff * off + damp * slow


#: Default duration of a step in sqrt(h / g), and its height in h, h being the height of the centre of mass.
STEP_DURATION, STEP_HEIGHT = 1.4, 0.194
#: Default duration of a step, s, before the robot is known.
UNKNOWN_DURATION = 0.25
#: Share of the ground's friction that is used; and least load of a standing foot, as a share of the weight.
FRICTION_USED, LEAST_LOAD = 0.8, 0.01
#: Weight of forces, per (body weight)^2.
FORCE_WEIGHT = 0.003
#: Capacity of the log, episodes.
ROOM = 256


@public
@dataclass(frozen=True)
class QuadrupedWalk:
    """Walk on four legs, from standing to standing, by a ``gait`` of :data:`footfall.gait.footsteps.SCHEDULES`.

    Defaults follow from the height of the centre of mass by Froude's number: speed and duration with its square root,
    the step's height in proportion. For robots with a free base on four point feet, each on a leg of three motors or
    servos. The robot feels the ground and does not see it.

    Records ``com``, ``com_velocity``, ``commanded_force`` and ``phase`` (cycles). Warnings: ``fallen``, after which the
    motors are off, and ``saturated``.

    Attributes:
        speed: m/s, forward.
        sideways: m/s, to the left.
        turn: rad/s, to the left.
        gait: trot or crawl.
        steps: swings, one after the other.
        step_duration: s, from one swing's start to the next.
        step_height: m.
        start_time: s, on all feet.
        stop_time: s, on all feet.
    """

    speed: Finite | None = None
    sideways: Finite = 0.0
    turn: Finite = 0.0
    gait: Literal["trot", "crawl"] = "trot"
    steps: Count = 20
    step_duration: Positive | None = None
    step_height: Positive | None = None
    start_time: Positive = 0.5
    stop_time: Positive = 0.8

    def __str__(self) -> str:
        return described(self, "quadruped-walk", ("gait", "steps"))

    @property
    def duration(self) -> float:
        """s, until the robot stands again; where a step's is left out, that of the built-in quadruped."""
        step = UNKNOWN_DURATION if self.step_duration is None else self.step_duration
        return self.start_time + self.steps * step + self.stop_time

    def scaled(self, robot: Robot) -> QuadrupedWalk:
        """The same walk with a number for the speed, if that was left out, from the height of the robot."""
        if self.speed is not None:
            return self
        ready = ready_to_walk(robot) if len(robot.feet) == 4 else robot
        size = size_of(ready, robot.point_count)
        return replace(self, speed=derived(SPEED * size.height * math.sqrt(size.rate)))

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray | None, None]:
        """Where a run starts: with bent knees and the feet under the mass, where those of the home pose are not."""
        ready = ready_to_walk(robot)
        same = bool((ready.home == robot.home).all())
        return (None if same else place(ready, ground, (0.0, 0.0), align=False)), None

    def start(self, robot: Robot, ground: Ground, dt: float) -> Inside:
        ready = ready_to_walk(robot)
        return Inside(quadruped_tick, _walker(self, ready, ground, dt), ready)


def _walker(options: QuadrupedWalk, robot: Robot, ground: Ground, dt: float) -> QuadrupedWalker:
    """All that the walk of a robot that stands ready works with, without senses."""
    driving = drives(robot, "quadruped-walk")
    body = body_on_points(robot, driving, FRICTION_USED * ground.dynamic_friction, "quadruped-walk")
    legs = _four_legs(robot, driving.dof, body.tree)
    check_strength(robot, driving, legs.leg, legs.point)
    size = size_of(robot, 4)
    body.weight[:] = FEET
    body.weight[COM:TURN] = CENTRE
    body.weight[TURN:CONTACTS] = CENTRE * (size.inertia / (size.mass * size.height)) ** 2
    body.joint_weight[:] = JOINTS * size.height**2
    body.force_weight[:] = FORCE_WEIGHT / robot.weight**2
    body.help_weight[:] = 1.0  # no motor on the root is used
    body.least_torque[:], body.most_torque[:] = -UNBOUNDED, UNBOUNDED
    return zeros(
        QuadrupedWalker,
        {"nu": robot.model.nu},
        senses=no_senses(),
        signals=zeros(QuadrupedSignals, {}),
        robot=legs,
        body=body._replace(least_load=LEAST_LOAD * robot.weight),
        drives=driving,
        contacts=contact_places(robot, ground),
        gait=_gait(options, robot, legs, dt),
        now=zeros(Now, {}, swing=Swing(np.zeros((4, 3, 3)), np.zeros((4, 3)), *np.zeros((6, 4, 1)))),
        motors=np.flatnonzero(~robot.root_motors),
        log=empty_log(ROOM),
    )


def _four_legs(robot: Robot, driven: np.ndarray, tree: Tree) -> FourLegs:
    """The robot as it stands at home."""
    data = at_home(robot)
    points, com = point_positions(robot, data), data.subtree_com[tree.root]
    facing = np.column_stack([robot.forward, np.cross((0.0, 0.0, 1.0), robot.forward), (0.0, 0.0, 1.0)])
    offset = (points - com) @ facing
    feet = corner_points(robot, offset)
    return FourLegs(
        height=float(com[2] - (points[:, 2] - robot.point_radius).mean()),
        rate=size_of(robot, 4).rate,
        point=np.array(feet, dtype=np.int64),
        leg=np.array([leg_of(robot, driven, tree, point) for point in feet], dtype=np.int64),
        offset=offset[feet],
        axes=facing.T @ data.xmat[tree.root].reshape(3, 3),
    )


def _gait(options: QuadrupedWalk, robot: Robot, legs: FourLegs, dt: float) -> QuadrupedGait:
    """The gait with numbers for what was left out; an error where feet do not reach as far as it asks."""
    schedule, speed = SCHEDULES[options.gait], options.scaled(robot).speed
    assert speed is not None
    fast, longest = math.hypot(speed, options.sideways), FARTHEST * legs.height
    step = options.step_duration
    if step is None:  # by Froude's number, and no longer than feet reach at this speed
        reach = 2.0 * longest / max(schedule.duty * schedule.steps * fast, 1e-9)
        step = min(STEP_DURATION / math.sqrt(legs.rate), 0.9 * reach)
    period = step * schedule.steps
    stance = 0.5 * schedule.duty * period * fast
    if stance > longest:
        raise ControllerError(
            f"quadruped-walk: at {fast:.3g} m/s the feet of {robot.name} would go {stance:.2g} m ahead of the hips, "
            f"and {longest:.2g} m is in reach; shorten step_duration"
        )
    height = STEP_HEIGHT * size_of(robot, 4).height if options.step_height is None else options.step_height
    return QuadrupedGait(
        speed=float(speed),
        sideways=float(options.sideways),
        turn=float(options.turn),
        begin=float(options.start_time),
        period=float(period),
        cycles=options.steps / schedule.steps,
        duty=schedule.duty,
        lift=np.array(schedule.offset),
        step_height=float(height),
        dt=float(dt),
    )


# ---- requirements on the robot, and its initial pose: home, or bent knees and feet under the mass -------------------
# Models without a keyframe stand at zero angles: with straight legs, which are singular, or with knees at the end of
# their range and the feet far from the hips.

#: Motors of a leg.
LEG_JOINTS = 3
#: Extension, as a share of its length, above which a leg is straight; and extension to which such a leg is bent.
STRAIGHT, BENT = 0.95, 0.85
#: Largest horizontal distance of the middle of the feet from the centre of mass, in legs. Beyond it the feet are moved
#: under the mass, since a trot stands on the line between two feet.
ASIDE = 0.06
#: Number of times that they are moved, since bending the legs shifts the centre of mass.
PASSES = 3
#: Iteration limit of the inverse kinematics, its longest step in rad, and its tolerance, in distances of hip and foot.
ITERATIONS, LONGEST, NEAR = 100, 0.3, 3e-3
#: Initial angle of the knee, rad.
FIRST = 0.9


@lru_cache(maxsize=8)
def ready_to_walk(robot: Robot) -> Robot:
    """The robot with a home that it can walk from; itself where its own is one, or joints reach no better pose."""
    check_shape(robot)
    driven = drives(robot, "quadruped-walk").dof
    model, data = robot.model, in_pose(robot, robot.home)
    root = int(model.body_rootid[robot.point_body[0]])
    tree = tree_of(model, root, list(robot.point_body))
    legs = np.array([leg_of(robot, driven, tree, point) for point in range(4)])  # hip, thigh and knee
    feet = point_positions(robot, data)
    thighs, knees = (data.xanchor[model.dof_jntid[legs[:, i]]] for i in (1, 2))
    length = np.linalg.norm(knees - thighs, axis=1) + np.linalg.norm(feet - knees, axis=1)
    stretched = np.linalg.norm(feet - thighs, axis=1) / length
    com, ahead = data.subtree_com[root], robot.forward
    aside = abs(float((feet.mean(axis=0) - com) @ ahead)) / float(length.mean())
    if stretched.max() <= STRAIGHT and aside <= ASIDE:
        return robot
    goals = feet.copy()
    goals[:, 2] = thighs[:, 2] - BENT * length.min()
    for _ in range(PASSES):
        under = thighs @ ahead + (com - thighs.mean(axis=0)) @ ahead  # com is a view of what the kinematics make
        goals += np.outer(under - goals @ ahead, ahead)
        if not all(_bend(robot, data, leg, point, goals[point]) for point, leg in enumerate(legs)):
            return robot
    return replace(robot, home=set_down(model, data.qpos, robot.feet))


def _bend(robot: Robot, data: mujoco.MjData, leg: np.ndarray, point: int, goal: np.ndarray) -> bool:
    """Bring a foot to its goal, with the knee to the rear where joints allow both ways. False if they allow none."""
    model = robot.model
    joints = model.dof_jntid[leg]
    at = model.jnt_qposadr[joints]
    low = np.where(model.jnt_limited[joints] != 0, model.jnt_range[joints, 0], -np.inf)
    high = np.where(model.jnt_limited[joints] != 0, model.jnt_range[joints, 1], np.inf)
    home, found = data.qpos[at].copy(), []
    for knee in (FIRST, -FIRST):
        data.qpos[at] = np.clip(home + np.array([0.0, -0.5 * knee, knee]), low, high)
        for _ in range(ITERATIONS):
            mujoco.mj_forward(model, data)
            missing = goal - point_positions(robot, data)[point]
            own = jacobian_at(data, robot.point_body[point], goal - missing)[:3, leg]
            change = own.T @ np.linalg.solve(own @ own.T + 1e-6 * np.eye(3), missing)
            change *= min(1.0, LONGEST / max(float(np.abs(change).max()), 1e-12))
            data.qpos[at] = np.clip(data.qpos[at] + change, low, high)
        mujoco.mj_forward(model, data)
        near = NEAR * np.linalg.norm(goal - data.xanchor[joints[0]])
        if np.linalg.norm(goal - point_positions(robot, data)[point]) < near:
            found.append((float(data.xanchor[joints[2]] @ robot.forward), tuple(data.qpos[at])))
    data.qpos[at] = min(found)[1] if found else home
    mujoco.mj_forward(model, data)
    return bool(found)


def leg_of(robot: Robot, driven: np.ndarray, tree: Tree, point: int) -> np.ndarray:
    """Degrees of freedom with motors that move a foot."""
    moved = np.flatnonzero(tree.moves[point])
    leg = moved[np.isin(moved, driven)]
    if len(leg) != LEG_JOINTS:
        foot = robot.feet[int(robot.point_foot[point])].name
        raise ControllerError(
            f"quadruped-walk needs {LEG_JOINTS} motors in a leg; {robot.name} has {len(leg)} at foot '{foot}'"
        )
    return leg


def check_shape(robot: Robot) -> None:
    """Refuse a robot without four point feet or a free base, in a sentence."""
    if len(robot.feet) != 4 or any(len(foot.points) != 1 for foot in robot.feet):
        points = ", ".join(str(len(foot.points)) for foot in robot.feet)
        instead = "; points=(1, 1), or --points 1x1, sets each foot on its middle" if len(robot.feet) == 4 else ""
        raise ControllerError(
            f"quadruped-walk needs four feet of one point each; {robot.name} has feet of {points} points{instead}"
        )
    model = robot.model
    if model.njnt == 0 or model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
        raise ControllerError(f"quadruped-walk needs a free base, and {robot.name} has none")
    check_weight(robot, "quadruped-walk")


def check_strength(robot: Robot, driving: Drives, legs: np.ndarray, points: np.ndarray) -> None:
    """Refuse a robot that cannot stand at home on two of its ``legs`` (4, 3), dofs of motors, with feet ``points``."""
    data = in_pose(robot, robot.home)
    half = -0.5 * robot.mass * robot.gravity
    jacobian = point_jacobian(robot, data, point_positions(robot, data)).reshape(4, 3, -1)
    for leg, point in zip(legs, points, strict=True):
        motors, load = np.flatnonzero(np.isin(driving.dof, leg)), data.qfrc_bias - jacobian[point].T @ half
        check_torques(robot, driving, motors, load, "quadruped-walk", "on two legs", robot.home)


def corner_points(robot: Robot, offset: np.ndarray) -> list[int]:
    """The points front left, front right, rear left, rear right of the centre of mass."""
    corner = (offset[:, :2] < 0.0) @ (2, 1)  # 0 to 3 in that order
    if sorted(corner) != [0, 1, 2, 3]:
        raise ControllerError(
            f"quadruped-walk needs one foot at each corner around the centre of mass, which {robot.name} has not"
        )
    return [int(k) for k in np.argsort(corner)]
