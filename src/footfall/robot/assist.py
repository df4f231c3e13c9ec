"""Virtual motors between the world and a robot's root: help from outside, to be measured."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.model import FREE, compiled, written
from footfall.robot.robot import Robot

#: Names of the six motors, after ``assist_``.
PARTS = ("x", "y", "z", "roll", "pitch", "yaw")


def assisted(robot: Robot) -> Robot:
    """The same robot with six unlimited motors on its free root: three forces (world frame) and three moments (the
    root's frame). They follow its own actuators; ``footfall.measure.assistance`` measures what they do.
    """
    if robot.root_motors.any():
        return robot
    model = robot.model
    if not model.njnt or model.jnt_type[0] != FREE:
        raise RobotError(f"{robot.name} has no free root that motors could push and turn")
    if robot.mjcf is None:
        raise RobotError(f"{robot.name} was made from an MjModel, which takes no more motors: load its XML or MjSpec")
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    root = spec.body(model.body(int(model.jnt_bodyid[0])).name).joints[0]
    root.name = root.name or "root"
    for i, part in enumerate(PARTS):
        motor = spec.add_actuator(name=f"assist_{part}", target=root.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        motor.gear = [float(k == i) for k in range(6)]
    for key in spec.keys:
        key.ctrl = np.concatenate([key.ctrl, np.zeros(len(PARTS))]) if len(key.ctrl) else key.ctrl
    mjcf = written(spec, robot.name)
    return replace(
        robot,
        model=compiled(mjcf, robot.assets, robot.name),
        mjcf=mjcf,
        home_ctrl=np.concatenate([robot.home_ctrl, np.zeros(len(PARTS))]),
    )
