"""One step of a gait, drawn: angles, torques, zero moment point, friction, swing foot, and the robot as sticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from footfall.gait.polynomial import Legs, PolynomialGait, find_legs
from footfall.gait.step_check import GaitConstraints, Step, examine
from footfall.robot import Robot
from footfall.show.style import BLUE, GREY, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STICKS = 9  # postures drawn


def plot_step(robot: Robot, gait: PolynomialGait, constraints: GaitConstraints) -> Figure:
    """A matplotlib figure of one step."""
    legs, step = find_legs(robot), examine(robot, gait)
    heel, toe = constraints.sole(legs)
    with new_figure(6.4) as figure:
        axes = figure.subplots(3, 2)
        draw_sticks(axes[0, 0], robot, legs, step)
        for i, name in enumerate((*legs.joints[0], *legs.joints[1])):
            part, stance = name.split("_", 1)[-1], i < legs.size
            style = {"color": f"C{i % legs.size}", "linestyle": "-" if stance else "--"}
            label = f"{part}, {'stance' if stance else 'swing'}"
            axes[0, 1].plot(step.time, np.degrees(step.qpos[:, 3 + i]), **style, label=label)
            axes[1, 0].plot(step.time, step.torque[:, i], **style)
        axes[0, 1].set(ylabel="angle (°)", title="Joints")
        axes[0, 1].legend(fontsize=6, ncols=2)
        axes[1, 0].set(ylabel="torque (N m)", title=f"Torques, J = {step.cost:.4g} N²m²s")
        axes[1, 1].plot(step.time, 1e3 * step.zmp, color=BLUE)
        for edge in (heel, toe):
            axes[1, 1].axhline(1e3 * edge, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
        axes[1, 1].set(ylabel="zero moment point (mm)", title="Zero moment point; dashed: its bounds")
        axes[2, 0].plot(step.time, step.force[:, 0], color=VERMILION, label="Ft")
        for sign in (-1.0, 1.0):
            cone = sign * constraints.friction * step.force[:, 1]
            axes[2, 0].plot(step.time, cone, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
        axes[2, 0].set(ylabel="force (N)", xlabel="time (s)", title="Tangential force; dashed: ± µ Fn")
        for k, name in enumerate(("heel", "toe")):
            axes[2, 1].plot(step.time, 1e3 * step.height[:, k], color=(BLUE, VERMILION)[k], label=name)
        least = [1e3 * constraints.least_height(s) for s in step.time / gait.step_duration]
        axes[2, 1].plot(step.time, least, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
        axes[2, 1].set(ylabel="height (mm)", xlabel="time (s)", title="Swing foot; dashed: at least")
        axes[2, 1].legend(fontsize=6)
    return figure


def draw_sticks(axes: Any, robot: Robot, legs: Legs, step: Step) -> None:
    """The robot as sticks through a step, the stance leg dark, the swing leg red."""
    model = robot.model
    data = mujoco.MjData(model)
    for k, row in enumerate(np.linspace(0, len(step.time) - 1, STICKS).astype(int)):
        data.qpos[:] = step.qpos[row]
        mujoco.mj_kinematics(model, data)
        shade = 0.25 + 0.75 * k / (STICKS - 1)
        trunk = int(model.jnt_bodyid[2])
        top = data.xpos[trunk] + 2.0 * (data.xipos[trunk] - data.xpos[trunk])
        axes.plot(*_line([data.xpos[trunk], top]), color="#333333", alpha=shade, linewidth=1.2)
        for foot, color in ((0, "#333333"), (1, VERMILION)):
            chain = [legs.body[foot]]
            while model.body_parentid[chain[0]] != trunk:
                chain.insert(0, int(model.body_parentid[chain[0]]))
            ends = data.xpos[legs.body[foot]] + legs.ends[foot] @ data.xmat[legs.body[foot]].reshape(3, 3).T
            path = [data.xpos[trunk], *(data.xpos[b] for b in chain), ends[0], ends[1], data.xpos[chain[-1]]]
            axes.plot(*_line(path), color=color, alpha=shade, linewidth=1.2)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set_aspect("equal")
    axes.locator_params(axis="x", nbins=3)
    axes.set(xlabel="x (m)", ylabel="z (m)", title="One step")


def _line(points: list[np.ndarray]) -> tuple[list[float], list[float]]:
    return [float(p[0]) for p in points], [float(p[2]) for p in points]
