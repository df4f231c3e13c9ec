"""Slip, penetration and impacts of recordings made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from blank_recordings import DT, SLIDE, STICK, blank

import footfall as ff
from footfall import measure


def sliding(brick):
    """Point 0 slows from 1 m/s in mode slide, then sticks; point 1 creeps in mode stick; others are open."""
    samples = 101
    t = DT * np.arange(samples)
    velocity = np.zeros((samples, 4, 3))
    velocity[:, 0, 0] = np.maximum(1.0 - t / 0.05, 0.0)
    velocity[:, 0, 2] = 3.0  # along the normal: no slip
    velocity[:, 1, 1] = 0.01
    velocity[:, 2:] = 7.0
    mode = np.zeros((samples, 4))
    mode[:, 0] = np.where(t < 0.05 - 1e-9, SLIDE, STICK)
    mode[:, 1] = STICK
    return blank(brick, samples, velocity=velocity, mode=mode)


def test_slip_distance_is_the_path_while_sliding(brick):
    distance = measure.slip_distance(sliding(brick))
    assert distance[-1] == pytest.approx([0.5 * 1.0 * 0.05, 0.0, 0.0, 0.0])
    assert distance[0] == pytest.approx(np.zeros(4))
    assert (np.diff(distance, axis=0) >= 0.0).all()


def test_creep_distance_is_the_path_while_sticking(brick):
    distance = measure.creep_distance(sliding(brick))
    assert distance[-1] == pytest.approx([0.0, 0.01 * 0.1, 0.0, 0.0], abs=1e-12)


def test_a_brick_creeps_down_a_ramp_at_its_share_of_the_load_at_which_it_slides():
    """Regularised friction is a damper that reaches the cone at v_s, so the speed is v_s tan(angle) / friction. At the
    start it falls onto its springs, which lasts a tenth of the second; a point that sticks slides nowhere.
    """
    ground = ff.Ground.slope(0.1, friction=0.7)
    sim = ff.Simulation("brick", law=ff.law("hunt-crossley", v_s=0.02), ground=ground)
    found = sim.run(1.0, qpos=sim.place(align=True)).slice(0.2, 1.0).summary()
    assert found["slip_distance_m"] == 0.0
    assert found["creep_distance_m"] == pytest.approx(0.8 * 0.02 * np.tan(0.1) / 0.7, rel=0.01)


def test_slip_speed_is_tangential_and_of_closed_points(brick):
    speed = measure.slip_speed(sliding(brick))
    assert speed[0] == pytest.approx([1.0, 0.01, 0.0, 0.0])
    assert speed[-1] == pytest.approx([0.0, 0.01, 0.0, 0.0])


def test_penetration_counts_only_inside(brick):
    assert measure.penetration(blank(brick, gap=np.tile([-0.002, 0.0, 0.003, -1e-6], (5, 1))))[0] == pytest.approx(
        [0.002, 0.0, 0.0, 1e-6]
    )


def test_impacts_have_peak_impulse_and_loading_rate(ball):
    samples = 400
    force = np.zeros((samples, 1, 3))
    force[0:10, 0, 2] = 5.0  # loaded from the start: no landing
    force[100:110, 0, 2] = np.interp(np.arange(10), [0, 4, 9], [20.0, 100.0, 50.0])
    force[112, 0, 2] = 80.0  # a bounce within the window
    force[300, 0, 2] = 3000.0  # a step of a time-stepping law
    first, second = measure.impacts(blank(ball, samples, force=force))
    assert (first.foot, first.time, first.peak_force) == ("ball", pytest.approx(0.1), pytest.approx(100.0))
    assert first.impulse == pytest.approx(DT * force[100:113, 0, 2].sum())
    assert first.loading_rate == pytest.approx(100.0 / 0.005)
    assert (second.time, second.impulse) == (pytest.approx(0.3), pytest.approx(3.0))
