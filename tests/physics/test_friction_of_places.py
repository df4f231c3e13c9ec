"""Friction that differs from place to place acts under every law, point by point."""

from __future__ import annotations

import numpy as np
import pytest
from physics.laws import DT, coulombs, every_law, expected, log, rest_depth

import footfall as ff

ICE, ROAD = 0.05, 0.3


def ice_on_the_left(x, y):
    return ICE if y > 0.0 else ROAD


def everywhere_the_same(x, y):
    return ROAD


def thrown(law, friction, duration):
    """A brick thrown along x at 0.2 m/s, as deep in level ground as it rests: slowly, for what slides fast under
    MuJoCo's convex contact rises from the ground, more so where friction is larger.
    """
    sim = ff.Simulation("brick", ground=ff.Ground.plane(friction), law=law, dt=DT)
    start = sim.place()
    start[2] -= rest_depth(sim.law, sim.robot)
    return sim.run(duration, qpos=start, qvel=[0.2, 0, 0, 0, 0, 0])


@every_law
@pytest.mark.parametrize("kind", ["function", "table"])
def test_a_sliding_point_has_the_friction_of_the_place_where_it_is(law, kind):
    """Before the brick has turned much (0.02 s), for then a pyramid's friction would depend on the direction."""
    table = ff.ground.FrictionTable([[ROAD], [ICE]], size=(4.0, 4.0))
    rec = thrown(coulombs(law), ice_on_the_left if kind == "function" else table, 0.02)
    load, friction = rec.force[-1, :, 2], np.hypot(rec.force[-1, :, 0], rec.force[-1, :, 1])
    left = rec.position[-1, :, 1] > 0.0
    found = [friction[side].sum() / load[side].sum() for side in (left, ~left)]
    log(law, ice=found[0], road=found[1])
    assert found == pytest.approx([ICE, ROAD], rel=expected(law).stopping)
    assert (rec.status == 0).all()
    assert rec.qvel[-1, 5] < -0.1  # the side that is braked stays behind


@every_law
def test_a_field_that_is_the_same_everywhere_is_a_number(law):
    one, other = (thrown(coulombs(law), friction, 0.05) for friction in (everywhere_the_same, ROAD))
    assert np.array_equal(one.qpos, other.qpos)
    assert np.array_equal(one.force, other.force)


@every_law
def test_ice_under_one_foot_lets_that_foot_alone_slide(law):
    """A biped on a ramp whose left half is ice: friction under the left foot never exceeds what ice gives.

    Of whole feet, for the distributed law decides of a foot and not of a point whether it slides.
    """
    ground = ff.Ground.slope(0.1, friction=ice_on_the_left)
    law = coulombs(law)
    if isinstance(law, ff.contact.Distributed):
        law = law.replace(t_slide=DT)  # it blends adherence into sliding, and the load may fall meanwhile
    sim = ff.Simulation("spatial-biped", ground=ground, law=law, dt=DT)
    rec = sim.run(0.3, controller="posture")
    normal = ground.frame([0, 0, 0])[2]
    load = rec.foot_force @ normal
    friction = np.linalg.norm(rec.foot_force - load[..., None] * normal, axis=2)
    left, right = 0, 1
    assert [foot.name for foot in sim.robot.feet] == ["left", "right"]
    held = np.ones(len(rec), dtype=bool)
    if isinstance(law, ff.contact.Distributed):  # a foot slides after the sample in which it left the cone
        slides = (rec.mode[:, sim.robot.point_foot == left] == 2).all(axis=1)
        held[1:] = ~(slides[1:] & ~slides[:-1])
        assert held.mean() > 0.9
    assert (friction[held, left] <= ICE * load[held, left] + 1e-6 * sim.robot.weight).all()
    assert (friction[:, right] > 1.5 * ICE * load[:, right] + 1e-3 * sim.robot.weight).any()
