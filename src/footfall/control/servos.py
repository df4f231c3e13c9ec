"""Position servos in place of a robot's motors, for callers that set angles, or that set nothing at all."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from footfall.control.posture import Posture
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import compiled, written

#: s, of the runs that gains are found for.
STEP = 1e-3


def with_servos(robot: Robot) -> Robot:
    """The robot with position servos in the place of motors; itself if it has servos, or no motors.

    They have the gains and the torques of posture control, so that :attr:`Robot.home_ctrl` holds it up.
    """
    model = robot.model
    if robot.mjcf is None or model.nu == 0 or (model.actuator_biastype != mujoco.mjtBias.mjBIAS_NONE).any():
        return robot
    posture, plane = Posture(), Ground.plane()
    rows = posture.gains(robot, plane, STEP).reshape(-1, 7)
    pose = posture.initial_state(robot, plane)[0]
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    ctrl = np.zeros(len(rows))
    for i, (actuator, row) in enumerate(zip(spec.actuators, rows, strict=True)):
        limits, gear = np.array(actuator.ctrlrange), float(actuator.gear[0])
        limited = limits[0] < limits[1] and actuator.forcelimited != mujoco.mjtLimited.mjLIMITED_TRUE
        # A servo measures the joint's angle times the gear, and its force acts times the gear.
        actuator.set_to_position(kp=row[3] / gear**2, kv=row[4] / gear**2)
        actuator.gear[0] = gear
        actuator.ctrllimited, actuator.ctrlrange = mujoco.mjtLimited.mjLIMITED_FALSE, (0.0, 0.0)
        if limited:
            actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, limits
        # Its target is offset from the pose so that it carries the weight there.
        ctrl[i] = gear * (row[2] + (row[5] / row[3] if row[3] > 0.0 else 0.0))
    mjcf = written(spec, robot.name)
    home = robot.home if pose is None else pose
    return replace(robot, mjcf=mjcf, model=compiled(mjcf, robot.assets, robot.name), home=home, home_ctrl=ctrl)
