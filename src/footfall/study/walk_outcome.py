"""The outcome of a walk, and of a robot that stands, is pushed and walks: one row of a table of robots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.control import walker
from footfall.control.quadruped_walk import QuadrupedWalk
from footfall.control.walk.walk import Walk
from footfall.errors import FootfallError, without_warnings
from footfall.ground import Ground
from footfall.measure import audit, cost_of_transport, fall
from footfall.record import Push, Record
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.study.largest_push import largest_pushes

#: Parts of a walk between which its speed is taken: neither getting under way nor stopping.
FROM, TO = 0.4, 0.8
#: s of standing, and of a push; the first push that is tried, weights times seconds.
STANDING, PUSH, FIRST = 1.0, 0.1, 0.05
#: s after a push at which a robot must stand again: a foot that was lifted is down by then.
STANDING_AGAIN = 2.0


@dataclass(frozen=True)
class WalkOutcome:
    """What became of a walk."""

    speed: float  # m/s, over ground in the middle of the walk
    way: float  # m, forward
    drift: float  # m, to the left
    cost_of_transport: float
    audit: str  # verdict
    audit_summary: str  # with the rows that are not as they should be
    fall: str  # when and why; empty where it did not fall


def walk_outcome(rec: Record) -> WalkOutcome:
    """Judge the recording of a walk under ``Walk`` or ``QuadrupedWalk``."""
    phase, com = rec.signals["phase"][:, 0], rec.signals["com"]
    first, last = (int(np.searchsorted(phase, part * phase.max())) for part in (FROM, TO))
    time = float(rec.time[last] - rec.time[first])
    speed = float(np.hypot(*(com[last] - com[first])[:2])) / time if time > 0.0 else math.nan
    fallen, audited = fall(rec), audit(rec)
    return WalkOutcome(
        speed=speed,
        way=float(com[-1, 0] - com[0, 0]),
        drift=float(com[-1, 1] - com[0, 1]),
        cost_of_transport=float(cost_of_transport(rec)),
        audit=audited.verdict,
        audit_summary=audited.summary,
        fall="" if fallen is None else str(fallen),
    )


def walked(
    robot: Robot, controller: Walk | QuadrupedWalk, law: Law | str, ground: Ground | None = None
) -> tuple[Recording, WalkOutcome]:
    """Let a robot walk, and judge that."""
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
    """What a robot does under a law with the defaults of its controllers."""

    robot: str
    law: str
    stands: str  # "yes", or why not
    push: float  # the largest sideways impulse that is survived, weights times seconds; inf if every one is
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
    return RobotOutcome(
        robot=robot.name, law=sim.law.name, stands=stands, push=push, walks=walks, asked=asked, walk=walk
    )


def _largest(sim: Simulation) -> float:
    """The largest sideways push of 0.1 s that is survived, weights times seconds, to an eighth; inf in a plane."""
    robot = sim.robot
    push = Push(robot.root, (0.0, FIRST * robot.weight / PUSH, 0.0), start=0.2, duration=PUSH)
    options: Any = {"laws": [sim.law], "controller": "balance", "wait": STANDING_AGAIN, "within": 0.125}
    ((found,),) = largest_pushes(robot, [push], **options)
    return math.inf if math.isinf(found.failed) else found.survived * PUSH / robot.weight
