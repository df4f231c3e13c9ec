"""No law that dissipates adds energy: bricks and balls dropped with tilt and spin."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from bounds import below, near
from physics.laws import every_law, expected, log, mechanical_energy

import footfall as ff

DT = 1e-4  # s
HEIGHT = 0.1  # m
# Attitude (axis, angle rad) and spin (rad/s, body frame) of what is dropped.
THROWS = {
    "flat": ([1, 0, 0], 0.0, [0, 0, 0]),
    "on an edge": ([0, 1, 0], 0.3, [0, 0, 0]),
    "on a corner": ([1, 2, 0], 0.4, [0, 0, 0]),
    "spinning": ([0, 0, 1], 0.3, [0, 0, 10]),
    "tumbling": ([1, 2, 0], 0.2, [2, -3, 4]),
}
#: Throws that differ for a ball.
SPINS = ("flat", "spinning", "tumbling")


def dropped(robot: str, law: str, throw: str, dt: float = DT, duration: float = 0.4) -> ff.Recording:
    axis, angle, spin = THROWS[throw]
    sim = ff.Simulation(robot, law=law, dt=dt)
    qpos = sim.place()
    mujoco.mju_axisAngle2Quat(qpos[3:7], np.array(axis) / np.linalg.norm(axis), angle)
    qpos[2] += HEIGHT
    return sim.run(duration, qpos=qpos, qvel=[0.3, 0.1, 0, *spin])


@every_law
@pytest.mark.parametrize(
    ("robot", "throw"), [*(("brick", throw) for throw in THROWS), *(("ball", throw) for throw in SPINS)]
)
def test_mechanical_energy_never_rises_above_the_start(robot, law, throw):
    """Kinetic and potential; what the law stores in its springs is on top of it, so that this is the weaker claim."""
    rec = dropped(robot, law, throw)
    energy = mechanical_energy(rec) + rec.robot.weight * HEIGHT
    share = float((energy.max() - energy[0]) / energy[0])
    log(law, rise=share, left=float(energy[-1] / energy[0]))
    assert rec.failure is None
    below(share, expected(law).energy)


@every_law
def test_a_ball_never_rebounds_higher_than_it_was_dropped(law):
    rec = dropped("ball", law, "flat", duration=0.6)
    touched = int(np.flatnonzero(rec.mode[:, 0])[0])
    height = float(rec.gap[touched:, 0].max())
    log(law, height=height / HEIGHT)
    assert height <= HEIGHT * (1.0 + 1e-3)


@every_law
def test_every_bounce_is_lower_than_the_one_before(law):
    rec = dropped("ball", law, "flat", duration=2.0)
    gap = rec.gap[:, 0]
    peaks = [gap[k] for k in range(1, len(gap) - 1) if gap[k - 1] < gap[k] >= gap[k + 1] and gap[k] > 1e-4]
    assert (np.diff([HEIGHT, *peaks]) < 1e-5).all()


@every_law
def test_contact_takes_what_the_body_loses(law):
    """Work of the contact forces is the change of mechanical energy: forces and motion on record belong together."""
    rec = dropped("brick", law, "on a corner")
    energy = ff.measure.energy(rec)
    lost = energy.mechanical[0] - energy.mechanical[-1]
    near(-energy.contact_work[-1], lost, rel=2e-2, abs=1e-3)  # Euler's error in flight is in lost


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley"])
def test_with_neither_damping_nor_friction_energy_comes_back(law):
    options = {"c": 0.0} | ({"ct": 0.0} if law == "spring-damper" else {})
    sim = ff.Simulation("ball", law=ff.law(law, **options), ground=ff.Ground.plane(0.0), dt=1e-5)
    rec = sim.run(0.4, qpos=sim.place() + HEIGHT * np.eye(7)[2])
    touched = int(np.flatnonzero(rec.mode[:, 0])[0])
    near(float(rec.gap[touched:, 0].max()), HEIGHT, rel=1e-3)  # of the order of dt omega
