"""Ott 2011, figures 12 to 15: a pendulum of 5 kg and 7.3 m strikes the robot with 5.8 J."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, legend_below, near, seen
from footfall.papers.ott2011 import setup
from footfall.robot.built_in.torque_biped import Parameters, build
from footfall.show.style import COLORS

MASS, LENGTH, ENERGY = 5.0, 7.3, 5.8  # kg, m, J: the paper's
SPEED = math.sqrt(2.0 * ENERGY / MASS)  # m/s, at the lowest point
RADIUS, AWAY = 0.08, 0.1  # m, of the ball, and its distance from the trunk at the start
HEIGHT = 1.02  # m, of the ball: that of the trunk's centre of mass
HALF = 0.14  # m, half the width of the trunk
RESTITUTIONS = (0.0, 0.5, 1.0)
BLOW = 0.02  # s, of the impulses
START, DURATION = 0.2, 4.5  # s
IN_TIME = 4.0  # s
ALONG = {"x": (1.0, 0.0), "y": (0.0, 1.0)}


class Pendulum(NamedTuple):
    struck: ff.Recording  # by the body in the scene, from the right
    blows: dict[tuple[str, float], ff.Recording]  # by direction and restitution: impulses at the trunk


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


def run_pendulum() -> Pendulum:
    robot = with_pendulum()
    speed = np.zeros(robot.model.nv)
    speed[-1] = SPEED / LENGTH
    struck = (
        ff.Simulation(robot, law=setup.LAW, dt=setup.DT).run(DURATION, controller=setup.BALANCE, qvel=speed).check()
    )
    return Pendulum(
        struck,
        {
            (name, e): setup.stand(DURATION, blow(name, e), controller=setup.BALANCE)
            for name in ALONG
            for e in RESTITUTIONS
        },
    )


def impulse(restitution: float) -> float:
    """N s, that the pendulum gives a robot which hardly moves in the blow."""
    return MASS * SPEED * (1.0 + restitution)


def blow(name: str, restitution: float) -> ff.Push:
    x, y = ALONG[name]
    force = impulse(restitution) / BLOW
    return ff.Push(setup.TRUNK, force=(force * x, force * y, 0.0), start=START, duration=BLOW)


def given(rec: ff.Recording) -> float:
    """The impulse that the pendulum gave, N s, but for what gravity changed meanwhile."""
    speed = LENGTH * rec.qvel[:, -1]
    return MASS * float(speed[0] - speed[int(np.argmax(rec.time > 0.2))])


def expected(name: str, restitution: float) -> float:
    """Largest error of the centre of mass along the blow (m) by the springs and dampers of (20) and (22)."""
    return float(setup.stance().replies([blow(name, restitution)])[0]["xy".index(name), 0])


def judge_pendulum(data: Pendulum) -> Findings:
    rec = data.struck
    error = np.linalg.norm(rec.signals["com_error"], axis=1)
    at = int(np.argmax(LENGTH * rec.qvel[:, -1] < 0.9 * SPEED))
    force = setup.commanded(rec)
    rest = force[0]
    swing = float((force.max(axis=0) - force.min(axis=0)).max() / rest.max())
    worst = {key: setup.recovery(one, START + BLOW, axes=2) for key, one in data.blows.items()}
    fell = [key for key, one in data.blows.items() if ff.measure.has_fallen(one)]
    slowest = max(worst, key=lambda key: worst[key])
    yield near("momentum", impulse(0.0), given(rec))
    back = setup.recovery(rec, float(rec.time[at]))
    told = f"{1e3 * error.max():.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("small", told, holds=error.max() < 0.05 and back <= IN_TIME)
    yield seen("considerably", swing, holds=swing > 0.5)
    yield seen("limit-struck", force.min(), should=setup.FLOOR, holds=force.min() >= setup.FLOOR - 1e-6)
    told = f"{worst[slowest]:.2f} s, {impulse(slowest[1]):.3g} N s in {slowest[0]}"
    yield seen("impulses", told, holds=worst[slowest] <= IN_TIME and not fell)
    for axis, name in enumerate(ALONG):
        largest = np.abs(data.blows[name, 0.0].signals["com_error"][:, axis]).max()
        yield near("blow", 1e3 * expected(name, 0.0), 1e3 * largest, impulse=impulse(0.0), name=name)


def draw_pendulum(figure: Any, data: Pendulum) -> None:
    axes = figure.subplots(3, 3)
    rec = data.struck
    for c, (name, color) in enumerate(zip("xyz", ("#0072B2", "#222222", "#D55E00"), strict=True)):
        axes[0, 0].plot(rec.time, 1e3 * rec.signals["com_error"][:, c], color=color, label=name)
    axes[0, 0].set_title("fig. 13, struck: com error (mm)")
    axes[0, 0].legend()
    setup.draw_wrench(axes[0, 1:], rec)
    axes[0, 1].set_title("fig. 14: object force less weight (N)")
    setup.draw_components(axes[1], rec)
    axes[1, 0].set_title("fig. 15: contact forces x (N)")
    axes[1, 2].legend()
    for c, name in enumerate(ALONG):
        for e, color in zip(RESTITUTIONS, COLORS, strict=False):
            one = data.blows[name, e]
            label = f"{impulse(e):.3g} N s"
            axes[2, c].plot(one.time, 1e3 * one.signals["com_error"][:, c], color=color, label=label)
        axes[2, c].set_title(f"impulses in {name}: com error (mm)")
    axes[2, 2].plot(rec.time, LENGTH * rec.qvel[:, -1], color="#222222")
    axes[2, 2].set_title("speed of the ball (m/s)")
    for axis in axes.ravel():
        axis.set_xlim(0.0, 1.5)
        axis.title.set_fontsize(7)
    for axis in axes[2]:
        axis.set_xlabel("time (s)")
    legend_below(figure, axes[2, 0], columns=3)
