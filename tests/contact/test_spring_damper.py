"""The spring and damper at a single point: its force law, and what it derives."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.contact.spring_damper import spring_damper
from footfall.solve.contacts import SLIDE, STICK


def resolved(ground: ff.Ground | None = None, **options):
    """The numbers of the law for a ball, and the simulation they are of."""
    given = {"k": 1e4, "c": 100.0, "kt": 2e3, "ct": 50.0} | options
    sim = ff.Simulation("ball", law=ff.law("spring-damper", **given), ground=ground or ff.Ground.plane((0.8, 0.5)))
    return sim.law.resolve(sim.setting)


def asked(depth=1e-3, rate=0.0, slip=(0.0, 0.0), speed=(0.0, 0.0), mode=STICK, **options):
    """Force and mode of the law as plain Python, and the slip it leaves."""
    slip, memory = np.array(slip), np.zeros(ff.contact.SpringDamper.memory_size)
    memory[0] = mode
    answer = spring_damper(depth, rate, slip, np.array(speed), memory, resolved(**options))
    return np.array(answer[:3]), answer[3], slip


def test_normal_force_is_spring_and_damper():
    force, mode, _ = asked(depth=2e-3, rate=0.1)
    assert force.tolist() == pytest.approx([30.0, 0.0, 0.0])
    assert mode == STICK


def test_the_ground_pulls_only_where_eq_2_is_wanted_as_printed():
    assert asked(rate=-1.0)[0][0] == 0.0
    assert asked(rate=-1.0, adhesive=True)[0][0] == pytest.approx(-90.0)
    assert np.hypot(*asked(rate=-1.0, speed=(1.0, 0.0), adhesive=True)[0][1:]) == 0.0  # no friction without load


def test_a_point_is_held_to_its_anchor_until_the_cone():
    force, mode, slip = asked(slip=(1e-3, 0.0), speed=(0.0, 0.02))
    assert force[1:].tolist() == pytest.approx([-2.0, -1.0])
    assert mode == STICK and slip.tolist() == [1e-3, 0.0]


@pytest.mark.parametrize("speed", [(0.0, 0.0), (0.3, -0.1)])
def test_beyond_the_cone_force_stays_on_it_and_the_anchor_follows(speed):
    force, mode, slip = asked(slip=(0.05, 0.02), speed=speed)
    assert np.hypot(*force[1:]) == pytest.approx(0.5 * force[0])
    assert mode == SLIDE
    again, mode, _ = asked(slip=slip, speed=speed, mode=SLIDE)
    np.testing.assert_allclose(again, force)  # the anchor is where the force is just on the cone


def test_static_friction_is_for_points_that_do_not_slide():
    slip = (3.25e-3, 0.0)  # 0.65 of the load
    assert asked(slip=slip, mode=STICK)[1] == STICK
    assert asked(slip=slip, mode=SLIDE)[1] == SLIDE


def test_defaults_carry_the_robot_at_the_depth_asked_for():
    for robot in ("ball", "brick", "spatial-biped"):
        sim = ff.Simulation(robot, law="spring-damper")
        p = sim.law.resolve(sim.setting)
        assert p.k * 1e-3 * sim.setting.carriers == pytest.approx(sim.robot.weight)
        assert (p.kt, p.ct) == (p.k, p.c)
        # Damping must be stable in explicit steps: dt c / m_effective < 2.
        assert sim.dt * p.c * sim.setting.mobility < 1.0


def test_given_numbers_are_taken_as_they_are():
    p = resolved(k=5e3, c=7.0, kt=3e3, ct=2.0)
    assert (p.k, p.c, p.kt, p.ct) == (5e3, 7.0, 3e3, 2.0)
