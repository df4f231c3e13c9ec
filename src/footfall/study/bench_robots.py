"""The speed of every law on robots of your own, against MuJoCo's own step of the same model.

A robot is measured as it is driven: servos hold its home pose; motors are replaced by servos with the gains of posture
control, since MuJoCo alone must hold it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.control import Posture
from footfall.errors import ControllerError, FootfallError
from footfall.ground import Ground
from footfall.robot import Robot, load_robot
from footfall.robot.model import compiled, written
from footfall.robot.motors import motor_scale
from footfall.study.bench import (
    DT,
    MUJOCO,
    Effort,
    Figure,
    LawSpeed,
    Stepper,
    interleaved,
    mujoco_scene,
    mujoco_stepper,
    settled,
)

#: Share of the height of the centre of mass above which a robot counts as standing.
STANDING = 0.8


def robot_speeds(
    robots: Sequence[Robot | str],
    effort: Effort,
    say: Callable[[str], None] = lambda sentence: None,
    laws: Sequence[Law | str] | None = None,
) -> Iterator[LawSpeed | Figure]:
    """Of each robot the time per step of every law, and what MuJoCo's own step took and touched."""
    for given in robots:
        robot = held(load_robot(given) if isinstance(given, str) else given)
        say(f"bench: {robot.name}, {robot.model.nv} degrees of freedom, {robot.point_count} contact points")
        model, data = mujoco_scene(robot)
        steppers: dict[str, Stepper] = {}
        for law in laws or all_laws():
            try:
                steppers[str(law)] = settled(robot, law, effort)
            except FootfallError as error:
                say(f"bench: {robot.name} under {law} is left out: {error}")
        mujoco.mj_step(model, data, nstep=effort.settle)
        steppers[MUJOCO] = mujoco_stepper(model, data)
        best = interleaved(steppers, effort.rounds, effort.steps)
        reference = best.pop(MUJOCO)
        yield Figure(f"{robot.name}: MuJoCo's own step", 1e6 * reference, "us")
        yield Figure(f"{robot.name}: contacts of MuJoCo's own step", data.ncon, "points")
        yield Figure(f"{robot.name}: stands on its servos", float(_stands(robot, model, data)), "1 yes, 0 no")
        for law, seconds in best.items():
            yield LawSpeed(law, 1e6 * seconds, reference / seconds, robot.name)


def held(robot: Robot) -> Robot:
    """The robot with position servos in the place of motors; itself if it has none or drives itself otherwise."""
    try:
        motor_scale(robot, "bench")
        rows = Posture().gains(robot, Ground.plane(), DT).reshape(-1, 7)
    except ControllerError:  # it has servos already
        return robot
    if robot.mjcf is None or not len(rows):
        return robot
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
        ctrl[i] = row[2] * gear
    mjcf = written(spec, robot.name)
    return replace(robot, mjcf=mjcf, model=compiled(mjcf, robot.assets, robot.name), home_ctrl=ctrl)


def _stands(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    home = mujoco.MjData(model)
    home.qpos[:] = robot.home
    mujoco.mj_forward(model, home)
    return bool(data.subtree_com[0, 2] > STANDING * home.subtree_com[0, 2])
