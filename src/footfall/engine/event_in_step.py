"""Events within a step of integration, found on its continuous extension by the motion of the points alone."""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import INCONSISTENT
from footfall.engine.bridge import mj_com_pos, mj_com_vel, mj_kinematics
from footfall.engine.dormand_prince import STAGES, set_part, set_stage
from footfall.engine.event_search import Bracket, about_to_change, seek_event
from footfall.engine.kinematics import velocities
from footfall.engine.near_bodies import locate_all
from footfall.solve.effort import look_cost


@inlined
def goes_on(points, contacts, status):
    """Whether the forces of a step go on smoothly to its end, as if nothing had happened."""
    return status != INCONSISTENT and not about_to_change(points, contacts)


@inlined
def look(world, points, contacts, conditions):
    """Where the points are, and their velocities."""
    ground, margin = conditions.ground, conditions.plan.margin
    mj_kinematics(world.model, world.data)
    mj_com_pos(world.model, world.data)
    mj_com_vel(world.model, world.data)
    locate_all(world, points, contacts, ground.surface, ground.shape, ground.table, margin)
    velocities(world.cvel, world.subtree_com, points, contacts)


@cold(types.float64, soon=True)
def end_within(world, points, contacts, conditions, flow, low, h):
    """Go to the first event within a step of ``h`` seconds, after the first ``low`` (s): how long it is until there, s.

    Looking takes its cost off ``contacts.effort[0]``.
    """
    high, sides, turns, earlier = 0.0, 0, 0, -1.0
    cost, length, again = look_cost(world.qvel.size), 0.0, h
    while again > 0.0:
        length = again
        if length < h:
            set_part(flow, length / h)
            set_stage(world, flow, STAGES, h)
            look(world, points, contacts, conditions)
            contacts.effort[0] -= cost
        bracket = Bracket(low, high, sides, turns, earlier)
        again, _, (low, high, sides, turns, earlier) = seek_event(points, contacts, flow, bracket, length, 0)
    return length
