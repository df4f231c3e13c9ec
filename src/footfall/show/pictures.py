"""A picture of the feet on which a robot stands."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.robot import Robot
from footfall.robot.shapes import is_solid
from footfall.show.frames import shape_of
from footfall.show.style import BLUE, GREY, VERMILION, Figure, new_figure
from footfall.standing import at_home

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
