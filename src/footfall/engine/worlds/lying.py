"""Worlds on a GPU that lie: bodies other than feet are near the ground, under a law that solves a contact problem.

A world that stands is computed with its feet alone, after a check of the distance of its other bodies. When one of them
comes near the ground, the world gets a room, with a place for each point of each body (:mod:`.every_body`), and other
kernels take its steps there (:mod:`.lying_kernels`) until none is near any more. So only worlds that lie need rooms.
There are as many rooms as fit into a share of the memory; further worlds wait for one.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.constraint_selection import (
    beside_soles,
    find_at_once,
    find_states,
    leave_states,
    point_by_point,
)
from footfall.contact.time_stepping import free_velocities
from footfall.engine.kinematics import locate
from footfall.engine.other_bodies.near import (
    Below,
    is_far,
    kept_within,
    locate_all,
    too_small,
    touches_soon,
    touching_place,
)
from footfall.engine.other_bodies.points import FEET
from footfall.engine.worlds.arrays import Space
from footfall.engine.worlds.every_body import STAND_INS as EVERY_BODY
from footfall.engine.worlds.every_body import rest_of
from footfall.engine.worlds.feet_alone import STAND_INS as FEET_ALONE
from footfall.engine.worlds.gather import gather, tuple_of
from footfall.engine.worlds.one_world import FootPoints, one_world, points_of, set_friction
from footfall.engine.worlds.together import STANDS
from footfall.solve.contact_problem import solve_contacts
from footfall.solve.selection.soles import look

#: The result of ``locate_feet`` if other bodies are near, instead of the number of a bad point.
OTHERS_NEAR = -2


#: The contact points of feet, and the other bodies.
Feet = tuple_of("Feet", (*FEET, "roll", "others"), __name__)
feet_and_rest = gather(Feet, {"points": FootPoints, "roll": None, "others": None}, roll="roll", others="others")
#: The scratch space of a room, with the progress of the world that has it.
in_room = gather(Space, {"room": Space, "space": None}, progress="space.progress")


@inlined
def one_world_that_stands(robot, given, state, space, tape):
    """What kernels take of a world that stands and may lie down."""
    set_friction(given, space, space.gap.size)
    others = rest_of(robot.rest, state, space, tape)
    points = feet_and_rest(points_of(robot.soles, state, space), space.roll[0], others)
    return one_world(robot, given, state, space, points, robot.soles.foot)


@inlined
def comes_near(world, points, b, below):
    """Whether any point of a body other than a foot has come near the ground."""
    others, body = points.others, points.others.body[b]
    x, r, v, com = world.xpos[body], world.xmat[body], world.cvel[body], world.subtree_com[others.root[b]]
    for q in range(others.begin[b], others.begin[b + 1]):
        p, radius = others.first + q, others.radius[q]
        smooth, axes = others.smooth[p], others.axes[p]
        gap, px, py, pz, nx, ny, nz = touching_place(x, r, others.local[q], smooth, axes, points.roll, below)
        gap -= radius
        at = (px - radius * nx, py - radius * ny, pz - radius * nz)
        if gap <= below.margin and touches_soon(gap, at, v, com, others.dt):
            return True
    return False


@inlined
def place_of_point(x, r, u, smooth, axes, roll, below):
    """Replaces :func:`footfall.engine.other_bodies.near.touching_place` where nothing is an ellipsoid."""
    px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
    py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    gap, nx, ny, nz = below.surface(px, py, pz, below.shape, below.table)
    return gap, px, py, pz, nx, ny, nz


@inlined
def locate_feet(world, points, contacts, surface, shape, table, margin):
    """Replaces :func:`footfall.engine.other_bodies.near.locate_all`: gives ``OTHERS_NEAR`` where other bodies are
    near, unless it is known that none is.
    """
    bad, others = locate(world, points, contacts, surface, shape, table, margin), points.others
    if bad >= 0 or others.progress[STANDS] == 1:
        return bad
    below, far = Below(surface, shape, table, margin), others.highest + kept_within(others.dt)
    for b in range(others.body.size):
        if world.xpos[others.body[b], 2] - others.reach[b] > far:  # most bodies are
            continue
        if is_far(world, others, b, surface, shape, table, 0.0):
            continue
        if others.seated[b] > 0 or comes_near(world, points, b, below):
            return OTHERS_NEAR
    return -1


@inlined
def lies(points, found):
    """Whether a body other than a foot is near the ground."""
    return found == OTHERS_NEAR


@inlined
def stands(points, found):
    """Whether no body other than a foot is near any more, so that the world takes this step as one that stands."""
    seated = points.others.seated
    for b in range(seated.size):
        if seated[b] > 0:
            return False
    return True


@inlined
def take_over(feet, target, source):
    """Copy the largest forces since the last sample, of feet and of the robot, into a room or back."""
    for k in range(feet):
        target.held_peak[k] = source.held_peak[k]
    target.held_peak[target.held_peak.size - 1] = source.held_peak[source.held_peak.size - 1]


def always(contacts, points):
    return True


def nothing_to_see(contacts, dt, stabilisation, memory, desk):
    return True


def no_states(problem, desk, signals, rules):
    return 1


@inlined
def points_later(problem, feet, signals):
    """Replaces :func:`footfall.contact.constraint_selection.point_by_point`, whose problem a warp solves later."""
    free_velocities(problem, 0.0)
    status, tried = solve_contacts(problem)
    signals[0], signals[1] = tried, 0.0
    leave_states(problem, feet, signals)
    return status


#: Replacements in a world that stands and in one that lies. Where bodies other than feet touch the ground, constraint
#: selection clamps points one by one.
STANDING = FEET_ALONE | {locate_all: locate_feet, too_small: lies}
WITHOUT_ELLIPSOIDS = {touching_place: place_of_point}
ON_POINTS = {beside_soles: always, look: nothing_to_see, find_states: no_states, find_at_once: no_states}
LYING_DOWN = EVERY_BODY | {too_small: stands} | ON_POINTS | {point_by_point: points_later}
