"""A biped that stands and one that sways: where the forces act is where the motion says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import footfall as ff
from footfall.control import Posture


@pytest.mark.parametrize("angle", [0.0, math.radians(10.0)])
@pytest.mark.parametrize("sway", [0.0, 0.02])
def test_pressure_centre_and_zmp_of_a_swaying_biped_agree_within_a_millimetre(angle, sway):
    robot = ff.load_robot("spatial-biped")
    sim = ff.Simulation(robot, ground=ff.Ground.slope(angle, friction=0.8), law="time-stepping")
    home = robot.home.copy()
    ankles = [robot.model.joint(f"{side}_ankle_pitch").qposadr[0] for side in ("left", "right")]
    home[ankles] -= angle  # feet along the slope, body upright
    flat = ff.load_robot("spatial-biped")
    start = sim.place()
    home[2] = start[2] + 0.02
    gains = Posture(target=tuple(home)).gains(flat, sim.ground, sim.dt).reshape(-1, 9)
    places, dofs = gains[:, :2].T.astype(int)
    target, stiffness, damping, rest, scale = gains[:, 2:7].T
    leaning = np.isin(places, ankles)

    def controller(t, state):
        lean = sway * math.sin(2.0 * math.pi * 0.5 * t)
        error = target + lean * leaning - state.qpos[places]
        return (stiffness * error - damping * state.qvel[dofs] + rest) / scale

    rec = sim.run(6.0, controller=controller, qpos=home)
    late = (rec.time > 4.0) & (rec.time < 5.99)  # the landing has died away
    cop, zmp = ff.measure.overall_cop(rec)[late], rec.zmp[late]
    assert not rec.summary()["fell"]
    assert (rec.mode[late] != 0).any(axis=1).all()
    assert np.abs(cop - zmp).max() < 1e-3
    moved = np.ptp(cop[:, 0])
    assert moved > 0.005 if sway else moved < 1e-3
