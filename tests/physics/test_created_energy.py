"""A run that creates energy beyond all reason has failed, and says so; one that is pushed, driven or falls has not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff


def test_a_law_that_throws_a_ball_ever_higher_fails_the_run():
    @ff.point_law("trampoline", k=2e4)
    def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth * (4.0 if depth_rate < 0.0 else 1.0)

    sim = ff.Simulation("ball", law="trampoline")
    qpos = sim.robot.home.copy()
    qpos[2] += 0.1
    with pytest.warns(ff.FootfallWarning, match=r"energy from nowhere: at t = .* s ball moves with .* J, and all"):
        rec = sim.run(3.0, qpos=qpos)
    assert rec.failure.cause == "energy" and rec.duration == pytest.approx(3.0)
    kinetic = ff.measure.energy(rec).kinetic
    assert kinetic[rec.time < rec.failure.time].max() < kinetic.max()


@pytest.mark.parametrize("law", ["distributed", "time-stepping", "mujoco"])
def test_falls_pushes_and_motors_are_reasons(law):
    sim = ff.Simulation("ball", law=law)
    qpos = sim.robot.home.copy()
    qpos[2] += 5.0  # fifty times its size
    assert sim.run(1.2, qpos=qpos).failure is None
    hard = ff.Push(mujoco.mj_id2name(sim.robot.model, mujoco.mjtObj.mjOBJ_BODY, 1), force=(500.0, 0.0, 0.0))
    rec = sim.run(0.5, pushes=hard)
    assert np.abs(rec.qvel).max() > 5.0 and rec.failure is None


def test_more_steps_than_a_record_can_hold_are_refused():
    with pytest.raises(ff.FootfallError, match=r"1e\+12 samples of \d+ bytes"):
        ff.Simulation("ball").start().step(n=10**12)
