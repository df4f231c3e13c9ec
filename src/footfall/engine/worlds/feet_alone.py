"""Worlds on a GPU in which only feet touch the ground: replacements of the functions that look for other bodies."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.kinematics import locate, release_far, rolled_by, rolled_by_ball
from footfall.engine.other_bodies.near import (
    free_far_places,
    lacks_room,
    live,
    locate_all,
    release_all,
    too_small,
)
from footfall.engine.tape import add_step, add_step_of_all, begin_sample, begin_sample_of_all
from footfall.engine.worlds.lean_mobility import LEAN
from footfall.engine.worlds.one_world import one_world_on_feet
from footfall.engine.worlds.step import advance_world


@inlined
def advance_on_feet(robot, given, state, space, track, plan, functions, span):
    """As :func:`footfall.engine.worlds.step.advance_world`."""
    one = one_world_on_feet(robot, given, state, space, track.others)
    advance_world(one, given, state, track, plan, functions, span)


@inlined
def release_feet(points, contacts):
    """As :func:`footfall.engine.other_bodies.near.release_all`."""
    release_far(points, contacts, points.mode.size)


@inlined
def add_step_on_feet(world, points, contacts, held, tape, status, outcome):
    add_step(points, contacts, held, tape, status, outcome)


def all_of(points):
    return points.mode.size


def never(points):
    return False


def large_enough(points, found):
    return False


def nothing(points, contacts):
    return


STAND_INS = LEAN | {
    locate_all: locate,
    release_all: release_feet,
    rolled_by: rolled_by_ball,
    begin_sample_of_all: begin_sample,
    add_step_of_all: add_step_on_feet,
    live: all_of,
    lacks_room: never,
    too_small: large_enough,
    free_far_places: nothing,
}
