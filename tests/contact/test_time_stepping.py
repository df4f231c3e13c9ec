"""Time stepping: correction, impacts, and what it records."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff

GRAVITY = 9.81  # m/s2
DT = 1e-3  # s


@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.parametrize("robot", ["brick", "spatial-biped"])
def test_correction_leads_out_of_the_ground_and_throws_nothing(robot, share):
    """It rises with ``share g dt`` and stops at the surface: it never leaves, and moves no faster than that."""
    depth = 5e-4
    sim = ff.Simulation(robot, law=ff.law("time-stepping", correction=share), dt=DT)
    start = sim.place()
    start[2] -= depth
    duration = 2.0 * depth / (share * GRAVITY * DT)
    rec = sim.run(duration, qpos=start, controller=None if robot == "brick" else "posture")
    speed = share * GRAVITY * DT
    assert rec.gap[-1].min() == pytest.approx(0.0, abs=1e-8)
    assert rec.gap.max() < 1e-8
    if robot == "brick":
        assert np.abs(rec.qvel[:, 2]).max() <= speed * (1.0 + 1e-9)
        energy = ff.measure.energy(rec).mechanical
        lift = rec.robot.weight * depth
        kinetic = 0.5 * rec.robot.mass * speed**2
        assert energy.max() - energy[0] <= lift + kinetic + 1e-12
        assert energy[-1] - energy[0] == pytest.approx(lift, rel=1e-6)


def test_without_correction_a_brick_stays_as_deep_as_it_is():
    sim = ff.Simulation("brick", law="time-stepping", dt=DT)
    rec = sim.run(0.2, qpos=sim.place() - 1e-3 * np.eye(7)[2])
    np.testing.assert_allclose(rec.gap, -1e-3, atol=1e-9)


@pytest.mark.parametrize("law", [ff.law("time-stepping"), ff.law("constraint-selection", rules="landing")], ids=str)
def test_a_ball_that_falls_a_hand_in_a_step_stops_at_the_surface(law):
    """After 1 m it comes at 4.4 m/s, 44 mm in a step of 10 ms: farther than it was looked for over the ground."""
    sim = ff.Simulation("ball", law=law, dt=0.01)
    qpos = sim.place()
    qpos[2] += 1.0
    rec = sim.run(0.6, qpos=qpos)
    assert rec.gap.min() >= -1e-9 and abs(rec.gap[-1, 0]) < 1e-9
    assert rec.total_force[-1, 2] == pytest.approx(rec.robot.weight)


def test_friction_of_an_impact_is_its_share_of_the_grounds_and_that_of_sliding_the_whole():
    """A brick lands flat at 1 m/s while it slides: impulses by friction are mu p in both, with mu of its own each."""
    friction, share, speed, down = 0.2, 0.6, 2.0, 1.0
    for ground in (ff.Ground.plane(friction), ff.Ground.plane(friction=lambda x, y: friction)):
        law = ff.law("time-stepping", impact_friction=share)
        sim = ff.Simulation("brick", ground=ground, law=law, dt=DT)
        rec = sim.run(0.1, qvel=[speed, 0, -down, 0, 0, 0])
        landed = speed - share * friction * (down + GRAVITY * DT)
        assert rec.qvel[1, 0] == pytest.approx(landed, abs=1e-9)
        assert rec.qvel[-1, 0] == pytest.approx(landed - friction * GRAVITY * (rec.time[-1] - DT), abs=1e-9)


def test_an_impact_slower_than_impact_speed_is_sliding():
    whole = ff.law("time-stepping")
    weaker = ff.law("time-stepping", impact_friction=0.5, impact_speed=1.5)
    runs = [
        ff.Simulation("brick", law=law, dt=DT).run(0.05, qvel=[2.0, 0, -1.0, 0, 0, 0]).qvel for law in (whole, weaker)
    ]
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("option", [{"impact_friction": 1.2}, {"impact_friction": -0.1}, {"impact_speed": -1.0}])
def test_friction_of_impacts_is_a_share_and_their_speed_is_not_negative(option):
    with pytest.raises(ff.FootfallError, match=next(iter(option))):
        ff.law("time-stepping", **option)


@pytest.mark.parametrize("law", ["time-stepping", "linearizing-penalty"])
def test_the_steps_and_the_residual_of_the_solver_are_recorded(law):
    """A brick that slides, then rests: a search as long as it slides, then the closed form, without a residual."""
    rec = ff.Simulation("brick", ground=ff.Ground.plane(0.3), law=law, dt=DT).run(0.3, qvel=[0.5, 0, 0, 0, 0, 0])
    iterations, residual = rec.signals["iterations"], rec.signals["residual"]
    slides = (rec.mode == 2).any(axis=1)
    assert (rec.status == 0).all() and slides.any() and not slides[-50:].any()
    assert iterations[slides].max() >= 1 and residual[slides].max() > 0.0
    assert residual.max() <= 1e-10 and (iterations[-50:] == 0).all() and (residual[-50:] == 0).all()
