"""Pictures of a robot without a run: one step of a gait, and the feet on which it stands."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from footfall.gait.polynomial import Legs, PolynomialGait, find_legs
from footfall.gait.step_check import GaitConstraints, Step, examine
from footfall.robot import Robot
from footfall.robot.shapes import is_solid
from footfall.show.frames import shape_of
from footfall.show.style import BLUE, GREY, VERMILION, Figure, new_figure
from footfall.standing import at_home

STICKS = 9  # postures drawn


def plot_step(robot: Robot, gait: PolynomialGait, constraints: GaitConstraints) -> Figure:
    """One step: angles, torques, zero moment point, friction, swing foot, and the robot as sticks."""
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


#: Inches, of the panels of a foot.
HEIGHT = 2.6


def draw_soles(robot: Robot) -> Figure:
    """A row for each foot: from below, forward up, and from its right side with the ground; mm."""
    from matplotlib.collections import PolyCollection

    data = at_home(robot)
    left = np.array([-robot.forward[1], robot.forward[0], 0.0])
    views = {  # across the page, up the page, towards the reader
        "from below": (left, robot.forward, np.array([0.0, 0.0, -1.0])),
        "from the right": (robot.forward, np.array([0.0, 0.0, 1.0]), -left),
    }
    with new_figure(HEIGHT * len(robot.feet)) as figure:
        panels = figure.subplots(len(robot.feet), len(views), squeeze=False)
        for foot, row in zip(robot.feet, panels, strict=True):
            body = data.body(foot.body)
            turn, origin = body.xmat.reshape(3, 3), body.xpos
            middle = (foot.polygon @ turn.T + origin).mean(axis=0) * [1.0, 1.0, 0.0]
            triangles = _triangles(robot.model, data, body.id)
            normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
            joint = data.xanchor[robot.model.body_jntadr[robot.model.body_weldid[body.id]]]
            for panel, (name, (across, up, towards)) in zip(row, views.items(), strict=True):

                def flat(places: np.ndarray, axes: tuple[np.ndarray, ...] = (across, up)) -> np.ndarray:
                    return 1e3 * np.stack([(places - middle) @ axis for axis in axes], axis=-1)  # noqa: B023

                seen = np.flatnonzero(normal @ towards > 0.0)
                seen = seen[np.argsort(triangles[seen].mean(axis=1) @ towards)]
                shade = np.abs(normal[seen] @ towards) / np.maximum(np.linalg.norm(normal[seen], axis=1), 1e-30)
                colors = np.repeat(0.5 + 0.35 * shade[:, None], 3, axis=1)
                panel.add_collection(PolyCollection(list(flat(triangles[seen])), facecolors=colors, edgecolors="none"))
                ring = flat(np.vstack([foot.polygon, foot.polygon[:1]]) @ turn.T + origin)
                panel.plot(*ring.T, color=VERMILION, marker="." if len(foot.polygon) == 1 else "")
                points = flat(foot.points @ turn.T + origin)
                panel.plot(*points.T, "o", color=BLUE, markersize=3.5)
                angle = np.linspace(0.0, 2.0 * np.pi, 60)
                for place, radius in zip(points, 1e3 * foot.radius, strict=True):
                    if radius > 0.0:
                        panel.plot(place[0] + radius * np.cos(angle), place[1] + radius * np.sin(angle), color=BLUE)
                panel.plot(*flat(joint), "x", color=GREY)
                if name != "from below":
                    panel.axhline(0.0, color="black", linewidth=0.8)
                panel.set_aspect("equal", adjustable="datalim")
                panel.autoscale_view()
                panel.margins(0.08)
                panel.set_title(f"{foot.name}, body {foot.body}, {name}")
                panel.set_xlabel("to the left, mm" if name == "from below" else "forward, mm")
                panel.set_ylabel("forward, mm" if name == "from below" else "height, mm")
        figure.suptitle(
            f"Soles of {robot.name}: outline (red), contact points (blue), joint of the foot (x)", x=0.01, ha="left"
        )
    return figure


def _triangles(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> np.ndarray:
    """(F, 3, 3) m, world frame: what can touch of a body and of those fixed to it, or what shows if nothing can."""
    own = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == model.body_weldid[body]]
    found = []
    for geom in [g for g in own if is_solid(model, g)] or own:
        shape = shape_of(model, geom)
        if shape is not None:
            vertices = shape[0] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            found.append(vertices[shape[2]])
    return np.concatenate([np.zeros((0, 3, 3)), *found])
