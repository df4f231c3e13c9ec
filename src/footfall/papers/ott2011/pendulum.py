"""Ott 2011, figures 12 to 15: a pendulum of 5 kg and 7.3 m strikes the robot with 5.8 J."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, seen
from footfall.papers.ott2011 import setup
from footfall.robot.built_in.torque_biped import Parameters, build

MASS, LENGTH, ENERGY = 5.0, 7.3, 5.8  # kg, m, J: the paper's
SPEED = math.sqrt(2.0 * ENERGY / MASS)  # m/s, at the lowest point
RADIUS, AWAY = 0.08, 0.1  # m, of the ball, and its distance from the trunk at the start
HEIGHT = 1.02  # m, of the ball: that of the trunk's centre of mass
HALF = 0.14  # m, half the width of the trunk
DURATION = 4.5  # s
IN_TIME = 4.0  # s


def with_pendulum() -> ff.Robot:
    """The robot and, on its right, a ball of 5 kg on a hinge 7.3 m above, which collides with the trunk."""
    spec, feet = build(Parameters())
    arm = spec.worldbody.add_body(name="pendulum", pos=[0.0, -(HALF + RADIUS + AWAY), HEIGHT + LENGTH])
    arm.add_joint(name="swing", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1, 0, 0])
    arm.add_geom(
        name="ball",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[RADIUS, 0, 0],
        pos=[0, 0, -LENGTH],
        mass=MASS,
        contype=3,
        conaffinity=3,
    )
    home = [float(spec.keys[0].qpos[i]) for i in range(len(spec.keys[0].qpos))]
    spec.keys[0].qpos = [*home, 0.0]
    return ff.load_robot(spec, feet=feet, name=f"{setup.ROBOT} and pendulum")


def run_pendulum() -> ff.Recording:
    """Struck by a body in the scene, from the right."""
    robot = with_pendulum()
    speed = np.zeros(robot.model.nv)
    speed[-1] = SPEED / LENGTH
    return setup.stand(DURATION, robot=robot, qvel=speed)


def judge_pendulum(rec: ff.Recording) -> Findings:
    error, ball = np.linalg.norm(rec.signals["com_error"], axis=1), LENGTH * rec.qvel[:, -1]
    struck = float(rec.time[int(np.argmax(ball < 0.9 * SPEED))])
    force = setup.commanded(rec)
    swing, back = float(np.ptp(force, axis=0).max() / force[0].max()), setup.recovery(rec, struck)
    told = f"{1e3 * error.max():.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("small", told, holds=error.max() < 0.05 and back <= IN_TIME)
    yield seen("considerably", swing, holds=swing > 0.5)


def draw_pendulum(figure: Any, rec: ff.Recording) -> None:
    axes = figure.subplots(2, 3)
    setup.draw_error(axes[0, 0], rec)
    setup.draw_wrench(axes[0, 1:], rec)
    setup.draw_components(axes[1], rec)
    setup.titled(axes, {(0, 0): "fig. 13, struck: com error (mm)", (0, 1): "fig. 14: object force less weight (N)"})
    setup.titled(axes, {(1, 0): "fig. 15: contact forces x (N)"})
    for axis in axes.ravel():
        axis.set_xlim(0.0, 1.5)
