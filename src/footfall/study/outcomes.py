"""Outcomes of a followed motion, of a walk, and of a robot that stands, is pushed and walks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import Law
from footfall.control import walker
from footfall.control.quadruped_walk import QuadrupedWalk
from footfall.control.walk.walk import Walk
from footfall.errors import FootfallError, without_warnings
from footfall.ground import FrictionTable, Ground
from footfall.measure import Assistance, assistance, audit, cost_of_transport, fall
from footfall.record import Push, Record
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.standing import at_home, point_positions
from footfall.study.largest_push import largest_pushes


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended."""

    audit: str  # verdict
    audit_summary: str  # with the failed rows
    fall: str  # when and why; empty if it did not fall


def _ended(rec: Record) -> dict[str, str]:
    fallen, audited = fall(rec), audit(rec)
    end = "" if fallen is None else str(fallen)
    return {"audit": audited.verdict, "audit_summary": audited.summary, "fall": end}


@dataclass(frozen=True, kw_only=True)
class FollowOutcome(Ended):
    """What became of a motion: errors are those of the state against the motion at the same time."""

    joint_rms: float  # rad, over all joints and samples
    joint_worst: float  # rad
    worst_joint: str
    root_rms: float  # m
    root_worst: float  # m
    tilt_worst: float  # rad
    help: Assistance  # of motors between world and root


def follow_outcome(rec: Record) -> FollowOutcome:
    """Judge the recording of a run under ``Follow``."""
    joints = np.abs(rec.signals["joint_error"])
    root = np.linalg.norm(rec.signals["root_error"], axis=1)
    worst = np.flatnonzero(~rec.robot.root_motors)[int(joints.max(axis=0).argmax())]
    return FollowOutcome(
        joint_rms=float(np.sqrt(np.mean(joints**2))),
        joint_worst=float(joints.max()),
        worst_joint=rec.robot.joint_names[int(rec.robot.model.actuator_trnid[worst, 0])],
        root_rms=float(np.sqrt(np.mean(root**2))),
        root_worst=float(root.max()),
        tilt_worst=float(rec.signals["tilt_error"].max()),
        help=assistance(rec),
        **_ended(rec),
    )


#: Shares of a walk's duration between which its speed is measured, without start and stop.
FROM, TO = 0.4, 0.8
#: Durations of standing and of a push, s; the first push tried, weights times seconds.
STANDING, PUSH, FIRST = 1.0, 0.1, 0.05
#: Time after a push at which a robot must stand again, s: a lifted foot has landed by then.
STANDING_AGAIN = 2.0


@dataclass(frozen=True, kw_only=True)
class WalkOutcome(Ended):
    """The outcome of a walk."""

    speed: float  # m/s, over ground in the middle of the walk
    way: float  # m, along the robot's forward direction at home
    drift: float  # m, to the left
    cost_of_transport: float


def walk_outcome(rec: Record) -> WalkOutcome:
    """Judge the recording of a walk under ``Walk`` or ``QuadrupedWalk``."""
    phase, com = rec.signals["phase"][:, 0], rec.signals["com"]
    first, last = (int(np.searchsorted(phase, part * phase.max())) for part in (FROM, TO))
    time = float(rec.time[last] - rec.time[first])
    speed = float(np.hypot(*(com[last] - com[first])[:2])) / time if time > 0.0 else math.nan
    went, ahead = com[-1] - com[0], rec.robot.forward
    way, drift = float(went @ ahead), float(ahead[0] * went[1] - ahead[1] * went[0])
    cost = float(cost_of_transport(rec))
    return WalkOutcome(speed=speed, way=way, drift=drift, cost_of_transport=cost, **_ended(rec))


def walked(
    robot: Robot, controller: Walk | QuadrupedWalk, law: Law | str, ground: Ground | None = None
) -> tuple[Recording, WalkOutcome]:
    """Let a robot walk, and judge the recording."""
    with without_warnings():
        rec = Simulation(robot, ground=ground, law=law).run(controller.duration, controller=controller)
    return rec, walk_outcome(rec)


def in_mid_step(robot: Robot) -> tuple[Recording, float]:
    """The beginning of a walk on level ground, and a time (s) at which a foot swings."""
    controller = walker(robot, steps=5)
    rec = Simulation(robot).run(controller.start_time + 0.4 * controller.duration, controller=controller)
    swings = rec.signals["phase"][:, 0] % 1.0
    return rec, float(rec.time[np.flatnonzero((swings > 0.2) & (swings < 0.8))[-20]])


@dataclass(frozen=True)
class RobotOutcome:
    """The outcome of a robot under a law with the defaults of its controllers."""

    robot: str
    law: str
    stands: str  # "yes", or why not
    push: float  # the largest sideways impulse survived, weights times seconds; inf if all were
    walks: str  # "yes", or why not
    asked: float  # m/s
    walk: WalkOutcome | None


def robot_outcome(robot: Robot, law: Law | str, *, steps: int = 10) -> RobotOutcome:
    """Let a robot stand under balance control, push it to the side until it falls, and let it walk ``steps`` steps."""
    sim = Simulation(robot, law=law)
    push = math.nan
    try:
        rec = sim.run(STANDING, controller="balance", record_dt=5e-3).check()
        fallen = fall(rec)
        stands = "yes" if fallen is None else fallen.cause
        if fallen is None:
            push = _largest(sim)
    except FootfallError as error:
        stands = str(error)
    asked, walk = math.nan, None
    try:
        controller = walker(robot, steps=steps)
        rec, walk = walked(robot, controller, sim.law)
        asked = math.nan if controller.speed is None else float(controller.speed)
        walks = rec.failure.message if rec.failure is not None else walk.fall or "yes"
    except FootfallError as error:
        walks = str(error)
    return RobotOutcome(robot.name, sim.law.name, stands, push, walks, asked, walk)


def _largest(sim: Simulation) -> float:
    """The largest sideways push of 0.1 s that is survived, weights times seconds, to an eighth; inf in a plane."""
    robot = sim.robot
    push = Push(robot.root, (0.0, FIRST * robot.weight / PUSH, 0.0), start=0.2, duration=PUSH)
    options: Any = {"laws": [sim.law], "controller": "balance", "wait": STANDING_AGAIN, "within": 0.125}
    ((found,),) = largest_pushes(robot, [push], **options)
    return math.inf if math.isinf(found.failed) else found.survived * PUSH / robot.weight


#: rad of the slopes; m, of the bumps and of the steps; the friction of the ice and elsewhere.
SLOPE, BUMP, RISE, ICE, FRICTION = math.radians(5.0), 0.03, 0.05, 0.15, 0.7
#: Least speed of a walking robot, as a share of the commanded one; below it the robot is held up.
HELD_UP = 0.5
#: m, how wide a bump is (one over e of its height), and between two on average.
BUMP_RADIUS, BUMP_SPACING = 0.1, 0.2
#: m, of a cell of the table of heights.
CELL = 0.02


@dataclass(frozen=True)
class GroundOutcome:
    """The outcome of a walk on a ground under a law."""

    robot: str
    ground: str
    law: str
    outcome: str  # "walks", that it is held up, or when and why it fell
    asked: float = math.nan  # m/s, commanded
    speed: float = math.nan  # m/s, reached
    drift: float = math.nan  # m, to the left


def ground_outcomes(robot: Robot, law: Law | str, *, steps: int = 10) -> Iterator[GroundOutcome]:
    """Let a robot walk ``steps`` steps with defaults alone on each of :func:`walk_grounds`."""
    try:
        controller = walker(robot, steps=steps)
    except FootfallError as error:
        name = law if isinstance(law, str) else law.name
        yield GroundOutcome(robot.name, "any", name, str(error))
        return
    for name, make in walk_grounds(robot, controller).items():
        rec, found = walked(robot, controller, law, make())
        asked = math.nan if controller.speed is None else float(controller.speed)
        upright = "stays upright, held up" if found.speed < HELD_UP * asked else "walks"
        end = rec.failure.message if rec.failure is not None else found.fall.partition(";")[0] or upright
        yield GroundOutcome(robot.name, name, rec.law.name, end, asked, found.speed, found.drift)


def walk_grounds(robot: Robot, walk: Walk | QuadrupedWalk) -> dict[str, Callable[[], Ground]]:
    """The grounds by name, made when they are asked for; ``walk`` has numbers for speed and duration."""
    toe, leg = _toe_and_leg(robot)
    speed = float(walk.speed or 0.0)
    step = speed * (walk.period if isinstance(walk, Walk) else 0.25)
    ahead = toe + 1.5 * step  # m, in front of the toes
    way = speed * walk.duration
    return {
        "flat": Ground.plane,
        "5 deg up": lambda: Ground.slope(SLOPE),
        "5 deg down": lambda: Ground.slope(-SLOPE),
        "3 cm bumps": lambda: bumps(ahead, ahead + way + 1.0),
        "5 cm steps": lambda: Ground.stairs(rise=RISE, run=0.8 * leg, count=3, start=ahead),
        "ice": lambda: Ground.plane(friction=ice(ahead, ahead + 3.0 * step)),
    }


def bumps(start: float, end: float) -> Ground:
    """Round bumps up to 3 cm high, strewn over level ground between x = ``start`` and ``end`` (m)."""
    rng = np.random.default_rng(1)
    left, right = -1.0, end + 0.5
    x = np.linspace(left, right, round((right - left) / CELL) + 1)
    y = np.linspace(-1.0, 1.0, round(2.0 / CELL) + 1)
    heights = np.zeros((len(y), len(x)))
    count = round((end - start) * 2.0 / BUMP_SPACING**2)
    low = start + 1.5 * BUMP_RADIUS
    for cx, cy, share in rng.uniform((low, -1.0, 0.5), (max(end, low + 0.1), 1.0, 1.0), size=(count, 3)):
        bump = share * BUMP * np.exp(-((x[None, :] - cx) ** 2 + (y[:, None] - cy) ** 2) / BUMP_RADIUS**2)
        heights = np.maximum(heights, bump)
    return Ground.heightfield(heights, size=(right - left, 2.0), center=(0.5 * (left + right), 0.0))


def ice(start: float, end: float) -> FrictionTable:
    """Ice across the way between x = ``start`` and ``end`` (m)."""
    size, center = (3.0 * max(end - start, 0.01), 1.0), (0.5 * (start + end), 0.0)
    return FrictionTable(np.array([[FRICTION, ICE, FRICTION]]), size=size, center=center)


def _toe_and_leg(robot: Robot) -> tuple[float, float]:
    """m, how far ahead of the root's origin the feet reach at home, and how long the legs are there.

    A leg reaches from its uppermost joint to the lowest point of its foot, wherever the frame of the base is.
    """
    data, model = at_home(robot), robot.model
    places = point_positions(robot, data)
    moved = model.jnt_type != int(mujoco.mjtJoint.mjJNT_FREE)
    joints = [0.0]
    for body in {int(one) for one in robot.point_body}:
        while body:
            joints += [float(data.xanchor[j, 2]) for j in np.flatnonzero((model.jnt_bodyid == body) & moved)]
            body = int(model.body_parentid[body])
    return float(places[:, 0].max()), max(joints) - float(places[:, 2].min())
