"""Ott 2011: the robot, its controller, and how it takes pushes, follows a sway, is struck and leaned on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, level, near, panel, seen, unlike
from footfall.robot.built_in.torque_biped import Parameters, build
from footfall.show.style import BLUE, VERMILION
from footfall.standing import at_home

ROBOT, TRUNK, LAW = "torque-biped", "trunk", "linearizing-penalty"
MASS = 50.0  # kg
DT = 1e-3  # s
FLOOR = 4.0  # N, least vertical force that is commanded
FORCE = 70.0  # N, sideways
LASTS = 0.05  # s
#: The paper's own gains and least force, which a robot of another size would get scaled.
BALANCE = ff.control.Balance(kh=900.0, kv=3000.0, damping_h=0.8, kr=100.0, dr=50.0, floor=FLOOR, hold_limbs=False)
HIP = -0.175  # m above the centre of mass of the trunk: the joints of the hips
CLOSE = 2e-3  # m, from the reference: the robot has recovered
IN_TIME = 3.0  # s, after a push


def sideways(start: float, force: float | None = None) -> ff.Push:
    """The paper's lateral push, to the left, at the hips."""
    force = FORCE if force is None else force
    return ff.Push(TRUNK, force=(0.0, force, 0.0), torque=(-HIP * force, 0.0, 0.0), start=start, duration=LASTS)


def biped(**pose: Any) -> ff.Robot:
    """The robot, of a mass that the paper does not print."""
    return ff.load_robot(ROBOT, mass=MASS, **pose)


def stand(
    duration: float,
    *pushes: ff.Push,
    robot: ff.Robot | None = None,
    ground: ff.Ground | None = None,
    controller: ff.control.Balance = BALANCE,
    **start: Any,
) -> ff.Recording:
    """The robot, or another one, under balance control."""
    sim = ff.Simulation(robot or biped(), ground=ground, law=LAW, dt=DT)
    return sim.run(duration, controller=controller, pushes=pushes, **start).check()


def recovery(rec: ff.Recording, after: float, base: ff.Recording | None = None, axes: int = 3) -> float:
    """How long after ``after`` (s) the centre of mass was last further than 2 mm from its reference, s.

    With ``base``, from where it was in that run; with two ``axes``, in the horizontal. inf if it was so at the end.
    """
    error = rec.signals["com_error"] - (0.0 if base is None else base.signals["com_error"])
    away = np.flatnonzero(np.linalg.norm(error[:, :axes], axis=1) > CLOSE)
    if not away.size:
        return 0.0
    return float("inf") if away[-1] == len(rec) - 1 else float(rec.time[away[-1] + 1]) - after


def draw_error(axis: Any, rec: ff.Recording) -> None:
    """How far the centre of mass of a recording is from its reference along x, y and z (mm)."""
    errors = zip(1e3 * rec.signals["com_error"].T, "xyz", strict=True)
    panel(axis, *((rec.time, error, name) for error, name in errors), xlabel="", title="com error (mm)")


def titled(axes: Any, titles: Mapping[tuple[int, int], str]) -> None:
    """Small titles for panels over one time axis."""
    for place, title in titles.items():
        axes[place].set_title(title)
    for axis in axes.ravel():
        axis.title.set_fontsize(7)
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")


def draw_components(axes: Any, rec: ff.Recording) -> None:
    """Commanded contact forces of a recording along x, y and z (N) on three axes, as the paper's figures have them."""
    force = rec.signals["commanded_force"]
    for c, axis in enumerate(axes):
        for side, color in (("right", BLUE), ("left", VERMILION)):
            lines = axis.plot(rec.time, force[:, rec.foot(side), c], color=color, linewidth=0.8)
            lines[0].set_label(f"{side} foot")
        axis.set_title(f"contact forces {'xyz'[c]} (N)")
    level(axes[2], FLOOR)
    axes[2].legend()


def draw_wrench(axes: Any, rec: ff.Recording) -> None:
    """The object force (in z less that of the start, the weight, N) and torque (N m) of a recording on two axes."""
    wrench = rec.signals["desired_wrench"] - np.eye(6)[2] * rec.signals["desired_wrench"][0, 2]
    for axis, part, title in zip(axes, np.split(wrench.T, 2), ("force less weight (N)", "torque (N m)"), strict=True):
        panel(axis, *((rec.time, one, "") for one in part), xlabel="", title=f"object {title}")


def commanded(rec: ff.Recording) -> np.ndarray:
    """(T, P) N, commanded vertical forces."""
    return rec.signals["commanded_force"][..., 2]


# ---- figures 6 to 8: 70 N sideways at the hip for 50 ms, and twice that ----------------------------------------------

LATERAL_START = 0.2  # s
LATERAL_DURATION = LATERAL_START + LASTS + IN_TIME + 0.25
HARDER = 2.0 * FORCE  # N


class Lateral(NamedTuple):
    paper: ff.Recording  # with the paper's push
    harder: ff.Recording  # twice as strong


def run_lateral() -> Lateral:
    return Lateral(*(stand(LATERAL_DURATION, sideways(LATERAL_START, force)) for force in (FORCE, HARDER)))


def com_above(robot: ff.Robot) -> float:
    """Height (m) of the robot's centre of mass above that of its trunk."""
    data = at_home(robot)
    return float(data.subtree_com[1, 2] - data.body(TRUNK).xipos[2])


def judge_lateral(data: Lateral) -> Findings:
    """The centre of mass comes back, by a wrench that turns the robot back, and vertical forces have a floor."""
    rec = data.paper
    x, y, z = np.abs(rec.signals["desired_wrench"][:, 3:]).max(axis=0)
    own = FORCE * (HIP - com_above(rec.robot))
    away, time = float(np.abs(rec.signals["com_error"][:, 1]).max()), recovery(rec, LATERAL_START + LASTS)
    lowest, harder = commanded(rec), float(commanded(data.harder).min())
    found = f"{lowest.min():.3g} N at {rec.time[int(lowest.min(axis=1).argmin())]:.3f} s"
    yield seen("gives-way", f"{1e3 * away:.1f} mm, below 2 mm after {time:.2f} s", holds=time <= IN_TIME)
    yield seen("counter", f"{x:.2g}, {y:.2g}, {z:.2g} N m", holds=x > max(5.0 * y, 5.0 * z, 0.1 * own), own=own)
    yield unlike("floor-at-the-hip", found, least=harder)


def draw_lateral(figure: Any, data: Lateral) -> None:
    axes = figure.subplots(4, 3)
    for size, rec, top, bottom in ((FORCE, data.paper, *axes[:2]), (HARDER, data.harder, *axes[2:])):
        draw_error(top[0], rec)
        top[0].set_ylabel(f"{size:g} N")
        draw_wrench(top[1:], rec)
        draw_components(bottom, rec)
    titled(axes, {(0, 0): "fig. 6: com error (mm)", (0, 1): "fig. 7: object force less weight (N)"})
    titled(axes, {(1, 0): "fig. 8: contact forces x (N)"})
    for axis in axes.ravel():
        axis.set_xlim(0.1, 1.5)


# ---- figures 9 to 11: the centre of mass follows a reference, pushed at 5 s ------------------------------------------

AMPLITUDE = np.array([0.03, 0.05, 0.0])  # m
PERIOD = 4.0  # s
RISE = 2.0  # s, until the reference has its amplitude
PUSHED = 5.0  # s
TRACKING_DURATION = 9.0  # s


def reference(time: float) -> np.ndarray:
    """(3,) m, from the place at the start: a straight sway that begins softly."""
    part = min(1.0, max(0.0, time / RISE))
    return AMPLITUDE * (part * part * (3.0 - 2.0 * part)) * math.sin(2.0 * math.pi * time / PERIOD)


class Tracking(NamedTuple):
    free: ff.Recording
    pushed: ff.Recording


def run_tracking() -> Tracking:
    controller = replace(BALANCE, com=reference)
    pushes = ((), (sideways(PUSHED),))
    return Tracking(*(stand(TRACKING_DURATION, *push, controller=controller) for push in pushes))


def judge_tracking(data: Tracking) -> Findings:
    free, pushed = data.free, data.pushed
    most = np.linalg.norm(pushed.signals["com_error"] - free.signals["com_error"], axis=1).max()
    back = recovery(pushed, PUSHED + LASTS, free)
    told = f"{1e3 * most:.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("deviation", told, holds=back <= IN_TIME and most < AMPLITUDE[0])


def draw_tracking(figure: Any, data: Tracking) -> None:
    rec = data.pushed
    axes, wanted = figure.subplots(3, 3), 1e3 * np.array([reference(float(t)) for t in rec.time])
    found = wanted + 1e3 * rec.signals["com_error"]
    curves = ((found[:, 0], "x"), (found[:, 1], "y"), (wanted[:, 0], "x desired"), (wanted[:, 1], "y desired"))
    panel(axes[0, 0], *((rec.time, *one) for one in curves))
    draw_wrench(axes[0, 1:], rec)
    draw_components(axes[1], rec)
    draw_components(axes[2], rec.slice(PUSHED - 0.1, PUSHED + 0.6))
    titled(axes, {(0, 0): "fig. 9: com (mm)", (1, 0): "fig. 10: contact forces x (N)"})
    titled(axes, {(2, 0): "fig. 11, at the push: x (N)"})


# ---- figures 12 to 15: a pendulum of 5 kg and 7.3 m strikes the robot with 5.8 J -------------------------------------

BALL_MASS, LENGTH, ENERGY = 5.0, 7.3, 5.8  # kg, m, J: the paper's
SPEED = math.sqrt(2.0 * ENERGY / BALL_MASS)  # m/s, at the lowest point
RADIUS, AWAY = 0.08, 0.1  # m, of the ball, and its distance from the trunk at the start
HEIGHT = 1.02  # m, of the ball: that of the trunk's centre of mass
HALF = 0.14  # m, half the width of the trunk
SWING_DURATION = 4.5  # s
SWING_IN_TIME = 4.0  # s


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
        mass=BALL_MASS,
        contype=3,
        conaffinity=3,
    )
    home = [float(spec.keys[0].qpos[i]) for i in range(len(spec.keys[0].qpos))]
    spec.keys[0].qpos = [*home, 0.0]
    return ff.load_robot(spec, feet=feet, name=f"{ROBOT} and pendulum")


def run_pendulum() -> ff.Recording:
    """Struck by a body in the scene, from the right."""
    robot = with_pendulum()
    speed = np.zeros(robot.model.nv)
    speed[-1] = SPEED / LENGTH
    return stand(SWING_DURATION, robot=robot, qvel=speed)


def judge_pendulum(rec: ff.Recording) -> Findings:
    error, ball = np.linalg.norm(rec.signals["com_error"], axis=1), LENGTH * rec.qvel[:, -1]
    struck = float(rec.time[int(np.argmax(ball < 0.9 * SPEED))])
    force = commanded(rec)
    swing, back = float(np.ptp(force, axis=0).max() / force[0].max()), recovery(rec, struck)
    told = f"{1e3 * error.max():.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("small", told, holds=error.max() < 0.05 and back <= SWING_IN_TIME)
    yield seen("considerably", swing, holds=swing > 0.5)


def draw_pendulum(figure: Any, rec: ff.Recording) -> None:
    axes = figure.subplots(2, 3)
    draw_error(axes[0, 0], rec)
    draw_wrench(axes[0, 1:], rec)
    draw_components(axes[1], rec)
    titled(axes, {(0, 0): "fig. 13, struck: com error (mm)", (0, 1): "fig. 14: object force less weight (N)"})
    titled(axes, {(1, 0): "fig. 15: contact forces x (N)"})
    for axis in axes.ravel():
        axis.set_xlim(0.0, 1.5)


# ---- figures 16 to 18: a hand leans on the trunk in six directions and lets go ---------------------------------------

LEAN_START, HOLD = 0.5, 6.0  # s
LEAN_DURATION = LEAN_START + HOLD + 6.5
FORWARD, LEFT, DOWN, YAW, TILT = 20.0, 25.0, 60.0, 10.0, 5.0  # N, N m; the last in roll and pitch


def run_directions() -> dict[str, ff.Recording]:
    """By direction: leaned on by a force or a torque at the trunk, and let go."""
    loads = {"x": FORWARD, "y": LEFT, "z": -DOWN, "roll": TILT, "pitch": TILT, "yaw": YAW}
    found = {}
    for (name, size), along in zip(loads.items(), np.eye(6), strict=True):
        force, torque = size * along[:3], size * along[3:]
        lean = ff.Push(TRUNK, force=tuple(force), torque=tuple(torque), start=LEAN_START, duration=HOLD)
        found[name] = stand(LEAN_DURATION, lean)
    return found


def turned(rec: ff.Recording) -> np.ndarray:
    """(T, 3) rad, rotation vector of the trunk from its orientation at the start, world frame."""
    first, turn, out = np.zeros(4), np.zeros(4), np.zeros((len(rec), 3))
    mujoco.mju_negQuat(first, rec.qpos[0, 3:7])
    for row, quat in zip(out, rec.qpos[:, 3:7], strict=True):
        mujoco.mju_mulQuat(turn, quat, first)
        mujoco.mju_quat2Vel(row, turn, 1.0)
    return out


def feet_turned(rec: ff.Recording) -> np.ndarray:
    """(T,) rad, by which the line from the right to the left foot has turned about the vertical."""
    left, right = (rec.position[:, rec.foot(side), :2].mean(axis=1) for side in ("left", "right"))
    line = left - right
    return np.unwrap(np.arctan2(line[:, 1], line[:, 0])) - np.arctan2(line[0, 1], line[0, 0])


def judge_directions(data: dict[str, ff.Recording]) -> Findings:
    baseline, yaw = (np.degrees(np.abs(one).max()) for one in (feet_turned(data["yaw"]), turned(data["yaw"])[:, 2]))
    yield near("yaw", 0.0, baseline, yaw=yaw)
    at_floor = float((commanded(data["y"]).min(axis=1) < FLOOR + 1e-3).mean() * data["y"].duration)
    yield seen("longer", at_floor, holds=at_floor > 1.0)


def draw_directions(figure: Any, data: dict[str, ff.Recording]) -> None:
    axes = figure.subplots(2, 3)
    curves = []
    for c, (name, rec) in enumerate(data.items()):
        moved = 1e3 * rec.signals["com_error"][:, c] if c < 3 else np.degrees(turned(rec)[:, c - 3])
        curves.append((rec.time, moved, name))
    panel(axes[0, 0], *curves[:3], xlabel="")
    panel(axes[0, 1], *curves[3:], xlabel="")
    axes[0, 2].remove()
    draw_components(axes[1], data["y"])
    titled(axes, {(0, 0): "fig. 17: com error (mm)", (0, 1): "trunk turned (°)"})
    titled(axes, {(1, 0): "fig. 18, in y: contact forces x (N)"})
