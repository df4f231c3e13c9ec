"""Ott 2011: the robot, its controller and the push, and what several figures show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import level, panel
from footfall.show.style import BLUE, VERMILION

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
