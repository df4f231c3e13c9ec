"""The walking controller for a robot, by its number of feet."""

from __future__ import annotations

from footfall.control.quadruped.walk import QuadrupedWalk
from footfall.control.walk.walk import Walk
from footfall.errors import ControllerError
from footfall.robot import Robot


def walker(
    robot: Robot,
    *,
    speed: float | None = None,
    turn: float = 0.0,
    steps: int = 10,
    gait: str | None = None,
    heel_off: bool | None = None,
) -> Walk | QuadrupedWalk:
    """``Walk`` for two feet, ``QuadrupedWalk`` for four, with numbers for what follows from the robot.

    ``speed`` in m/s, ``turn`` in rad/s; ``gait``, "trot" or "crawl", is for four feet, ``heel_off`` for two.
    """
    if len(robot.feet) == 4:
        if heel_off is not None:
            raise ControllerError(f"heel_off is for two feet, and {robot.name} has 4")
        return QuadrupedWalk(speed=speed, turn=turn, steps=steps, gait=gait or "trot").scaled(robot)
    if gait is not None:
        raise ControllerError(f"the gait '{gait}' is for four feet, and {robot.name} has {len(robot.feet)}")
    return Walk(speed=speed, turn=turn, steps=steps, heel_off=heel_off).scaled(robot)
