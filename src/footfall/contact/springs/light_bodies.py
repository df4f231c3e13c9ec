"""Loose bodies beside a robot, such as a ball or a box, that are too light for springs made for the robot's feet."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import LEVEL, Setting
from footfall.contact.springs.stable_step import longest_stable_step, round_down
from footfall.errors import warn
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.standing import at_home


def warn_of_light_bodies(law: Law, setting: Setting) -> None:
    """Warn where a law's springs throw loose bodies off the ground in steps of this length."""
    mobilities = loose_mobilities(setting.robot)
    longest = {name: longest_stable_step(law, setting, mobility) for name, mobility in mobilities.items()}
    thrown = {name: step for name, step in longest.items() if step is not None and step < setting.dt}
    if thrown:
        names = " and ".join(f"'{name}'" for name in thrown)
        warn(
            f"springs of {law.name} for the weight of {setting.robot.name} are too stiff in steps of {setting.dt:g} s "
            f"for what is light beside it, and may throw {names} off the ground: "
            f"dt <= {round_down(min(thrown.values()))} s would do, or law='time-stepping'"
        )


def loose_mobilities(robot: Robot) -> dict[str, float]:
    """1/kg, of each free body without feet: the largest eigenvalue of the Delassus matrix of its lowest points."""
    model, others = robot.model, robot.others
    of_feet = {int(model.body_rootid[model.body(foot.body).id]) for foot in robot.feet}
    found: dict[str, float] = {}
    data: mujoco.MjData | None = None
    for i, body in enumerate(others.body):
        joints = model.body_jntadr[body], model.body_jntnum[body]
        if body in of_feet or model.body_parentid[body] or joints[1] != 1 or model.jnt_type[joints[0]] != FREE:
            continue
        data = at_home(robot) if data is None else data
        own = slice(others.begin[i], others.begin[i + 1])
        places = data.xpos[body] + others.points[own] @ data.xmat[body].reshape(3, 3).T
        heights = places[:, 2] - others.radius[own]
        arms = places[heights <= heights.min() + LEVEL] - data.xipos[body]
        turned = data.ximat[body].reshape(3, 3)
        inertia = turned @ np.diag(model.body_inertia[body]) @ turned.T
        cross = np.cross(np.eye(3), arms[:, None])  # (N, 3, 3) rows are unit velocities of the point by unit rotations
        jacobian = np.concatenate([np.broadcast_to(np.eye(3), cross.shape), cross], axis=2).reshape(-1, 6)
        weights = np.zeros((6, 6))
        weights[:3, :3], weights[3:, 3:] = np.eye(3) * model.body_mass[body], inertia
        together = np.linalg.solve(weights, jacobian.T @ jacobian)
        found[model.body(body).name] = float(np.abs(np.linalg.eigvals(together)).max())
    return found
