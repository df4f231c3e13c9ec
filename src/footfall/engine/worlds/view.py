"""One of many worlds as a controller sees it.

Worlds share the scratch space of their thread, so a controller that reads inertia, Jacobians and contact frames gets a
copy of its own, which MuJoCo fills.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.bridge import mj_com_vel, mj_passive, mj_rne, pointer_to
from footfall.engine.kinematics import locate
from footfall.engine.other_bodies.points import Points
from footfall.engine.stages import add_damping, position_stage
from footfall.engine.world import MjWorld, make_contacts, make_points, make_world
from footfall.ground import Ground
from footfall.kinds import Vector
from footfall.robot import Robot
from footfall.solve.contacts import Contacts
from footfall.solve.dense import copy
from footfall.standing import reach


class View(NamedTuple):
    """The robot of one world, and the ground under its contact points."""

    world: MjWorld
    points: Points
    contacts: Contacts
    surface: Any
    shape: Any
    table: Any
    margin: float  # m
    dt: float  # s, of a step


class Felt(NamedTuple):
    """The law's results of the last step; live."""

    mode: np.ndarray  # (P,)
    force: np.ndarray  # (P, 3) N, contact frame


def make_view(
    model: mujoco.MjModel, robot: Robot, ground: Ground, felt: Felt, times: tuple[float, float]
) -> tuple[View, mujoco.MjData]:
    """A view of one world, and the data that it must keep alive; ``times`` are the law's margin (m) and the
    step (s).
    """
    data = mujoco.MjData(model)
    points = make_points(model, robot, 1)._replace(mode=felt.mode, force=felt.force)
    contacts = make_contacts(points, ground.static_friction, ground.dynamic_friction)
    surface, shape, table = ground.compiled(reach(robot))
    margin, dt = times
    ground_arrays = np.array(shape), np.array(table)
    return View(make_world(model, data), points, contacts, surface, *ground_arrays, float(margin), float(dt)), data


@inlined
def look(view: View, qpos: Vector, qvel: Vector) -> None:
    """Compute all quantities that a controller may read in this state, as the loop of a single world does."""
    world = view.world
    copy(world.qpos, qpos)
    copy(world.qvel, qvel)
    position_stage(world, 0)
    add_damping(world, view.dt)
    locate(world, view.points, view.contacts, view.surface, view.shape, view.table, view.margin)
    mj_com_vel(world.model, world.data)
    mj_passive(world.model, world.data)
    mj_rne(world.model, world.data, 0, pointer_to(world.qfrc_bias))
