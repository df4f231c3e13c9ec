"""Hunt and Crossley's law at a single point: its force law, restitution, and what it derives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import footfall as ff
from footfall.contact.hunt_crossley import hunt_crossley
from footfall.solve.contacts import SLIDE, STICK


def asked(depth=1e-3, rate=0.0, speed=(0.0, 0.0)):
    """Force and mode of the law as plain Python."""
    law = ff.law("hunt-crossley", k=1e6, c=1.5e6, v_s=0.01)
    sim = ff.Simulation("ball", law=law, ground=ff.Ground.plane(0.6))
    memory = np.zeros(law.memory_size)
    answer = hunt_crossley(depth, rate, np.zeros(2), np.array(speed), memory, sim.law.resolve(sim.setting))
    return np.array(answer[:3]), answer[3]


def test_normal_force_is_eq_15_and_never_pulls():
    assert asked(rate=0.2)[0][0] == pytest.approx(1e6 * 1e-3**1.5 * 1.3)
    assert asked(rate=-10.0)[0][0] == 0.0
    assert asked(depth=0.0, rate=5.0)[0][0] == 0.0  # an impact begins without a jump


def test_friction_is_linear_below_v_s_and_coulombs_above():
    load = asked()[0][0]
    assert asked(speed=(0.005, 0.0))[0][1] == pytest.approx(-0.3 * load)
    assert asked(speed=(0.03, 0.04))[0][1:] == pytest.approx([-0.36 * load, -0.48 * load])
    assert asked(speed=(0.005, 0.0))[1] == STICK and asked(speed=(0.05, 0.0))[1] == SLIDE


@pytest.mark.parametrize("speed", [0.1, 0.3])
def test_restitution_is_that_of_the_equation_of_motion(speed):
    """The equation m d'' = m g - k d^a (1 + 1.5 s/m d') by an integrator of order 8, to 1e-11."""
    sim = ff.Simulation("ball", law=ff.law("hunt-crossley"), dt=1e-5)
    p, mass = sim.law.resolve(sim.setting), sim.robot.mass

    def motion(_, y):
        depth, rate = max(0.0, y[0]), y[1]
        return [rate, 9.81 - max(0.0, depth**p.alpha * (p.k + p.c * rate)) / mass]

    def leaves(_, y):
        return y[0] if y[1] < 0 else 1.0

    leaves.terminal = True
    exact = solve_ivp(motion, (0.0, 0.5), [0.0, speed], "DOP853", rtol=1e-11, atol=1e-13, events=leaves, max_step=1e-3)
    rec = sim.run(exact.t[-1] + 2e-3, qvel=[0, 0, -speed, 0, 0, 0])
    assert rec.qvel[:, 2].max() == pytest.approx(-exact.y[1].min(), rel=1e-3)
    assert -rec.gap.min() == pytest.approx(exact.y[0].max(), rel=1e-3)


def test_the_creep_stated_is_v_s_times_the_share_of_the_sliding_load():
    sim = ff.Simulation("brick", law=ff.law("hunt-crossley", v_s=2e-3))
    assert sim.law.creep(0.5, sim.setting) == pytest.approx(1e-3)


def test_friction_is_stable_in_steps_of_any_length():
    """The speed of a point that friction stops must not swing: dt mu f_n / v_s times the mobility stays at one."""
    for robot in ("ball", "brick", "spatial-biped"):
        for dt in (1e-3, 1e-4):
            sim = ff.Simulation(robot, law="hunt-crossley", dt=dt)
            p = sim.law.resolve(sim.setting)
            assert dt * p.dynamic_friction * sim.setting.load / p.v_s * sim.setting.mobility <= 1.0 + 1e-9


def test_alpha_is_an_exponent_of_hertz_kind():
    for alpha in (0.5, 4.0, math.nan):
        with pytest.raises(ff.errors.LawError, match="alpha"):
            ff.law("hunt-crossley", alpha=alpha)
