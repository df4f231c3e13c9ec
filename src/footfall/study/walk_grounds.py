"""Walks on other grounds than a level one: slopes, bumps, steps and ice, which begin a step ahead of the toes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from footfall.contact.base import Law
from footfall.control import walker
from footfall.control.quadruped_walk import QuadrupedWalk
from footfall.control.walk.walk import Walk
from footfall.errors import FootfallError
from footfall.ground import FrictionTable, Ground
from footfall.robot import Robot
from footfall.standing import at_home, point_positions
from footfall.study.walk_outcome import walked

#: rad of the slopes; m, of the bumps and of the steps; the friction of the ice and elsewhere.
SLOPE, BUMP, RISE, ICE, FRICTION = math.radians(5.0), 0.03, 0.05, 0.15, 0.7
#: Share of the speed asked for below which a robot is held up.
HELD_UP = 0.5
#: m, how wide a bump is (one over e of its height), and between two on average.
BUMP_RADIUS, BUMP_SPACING = 0.1, 0.2
#: m, of a cell of the table of heights.
CELL = 0.02


@dataclass(frozen=True)
class GroundOutcome:
    """What became of a walk on a ground under a law."""

    robot: str
    ground: str
    law: str
    outcome: str  # "walks", that it is held up, or when and why it fell
    asked: float  # m/s
    speed: float  # m/s, that was reached
    drift: float  # m, to the left


def ground_outcomes(robot: Robot, law: Law | str, *, steps: int = 10) -> Iterator[GroundOutcome]:
    """Let a robot walk ``steps`` steps with defaults alone on each of :func:`walk_grounds`."""
    try:
        controller = walker(robot, steps=steps)
    except FootfallError as error:
        name = law if isinstance(law, str) else law.name
        yield GroundOutcome(
            robot=robot.name, ground="any", law=name, outcome=str(error), asked=math.nan, speed=math.nan, drift=math.nan
        )
        return
    for name, make in walk_grounds(robot, controller).items():
        rec, found = walked(robot, controller, law, make())
        asked = math.nan if controller.speed is None else float(controller.speed)
        upright = "stays upright, held up" if found.speed < HELD_UP * asked else "walks"
        end = rec.failure.message if rec.failure is not None else found.fall.partition(";")[0] or upright
        yield GroundOutcome(
            robot=robot.name,
            ground=name,
            law=rec.law.name,
            outcome=end,
            asked=asked,
            speed=found.speed,
            drift=found.drift,
        )


def walk_grounds(robot: Robot, walk: Walk | QuadrupedWalk) -> dict[str, Callable[[], Ground]]:
    """The grounds by name, made when they are asked for; ``walk`` has numbers for speed and duration."""
    toe, leg = _toe_and_height(robot)
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


def _toe_and_height(robot: Robot) -> tuple[float, float]:
    """m, how far ahead of the root the feet reach at home, and how high the root is over them."""
    data = at_home(robot)
    places = point_positions(robot, data)
    root = data.xpos[int(robot.model.body_rootid[robot.point_body[0]])]
    return float(places[:, 0].max()), float(root[2] - places[:, 2].min())
