"""A rod that slides on its tip (Painleve 1895): forces that grow without bound, that do not exist, and what then."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from bounds import below, near
from physics.laws import GRAVITY, log

import footfall as ff

LAWS = [law for law in ff.laws() if ff.law(law).event_driven]
ROD = """
<mujoco><worldbody><body name="rod">
  <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1e-3 0.0833333333333333 0.0833333333333333"/>
</body></worldbody></mujoco>
"""
LEAN = math.atan(2.0)  # the steepness at which the paradox needs least friction, 4/3


def rod() -> ff.Robot:
    """A uniform rod of 1 m and 1 kg in a plane, both of whose ends can touch."""
    ends = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    return ff.load_robot(mujoco.MjSpec.from_string(ROD), feet={"ends": ("rod", ends)}, name="rod")


def slid(law: str, friction: float, speed: float, *, lean: float = LEAN, dt=1e-3, duration=0.5) -> ff.Recording:
    """A rod whose lower end touches the ground, its centre to the right of it, and that moves to the right."""
    sim = ff.Simulation(rod(), law=law, ground=ff.Ground.plane(friction), dt=dt)
    return sim.run(duration, qpos=[0.0, 0.5 * math.sin(lean), -lean], qvel=[speed, 0.0, 0.0])


def mobility(lean: float) -> np.ndarray:
    """(2, 2) 1/kg of the tip, horizontal and vertical: I = m l^2 / 12."""
    s, c = math.sin(lean), math.cos(lean)
    return np.array([[1.0 + 3.0 * s * s, -3.0 * s * c], [-3.0 * s * c, 1.0 + 3.0 * c * c]])


def normal_force(friction: float, speed: float) -> float:
    """N, at the beginning of the slip, where the rod does not turn yet: the tip's height does not accelerate."""
    g = mobility(LEAN)
    return GRAVITY / (g[1, 1] - math.copysign(friction, speed) * g[1, 0])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("friction", "speed"), [(0.3, -1.0), (1.2, -1.0), (1.2, 1.0), (2.0, 1.0), (0.0, -1.0)])
def test_a_sliding_rod_is_pushed_by_the_force_that_keeps_its_tip_on_the_ground(law, friction, speed):
    rec = slid(law, friction, speed, dt=1e-6, duration=1e-6)
    closed = normal_force(friction, speed)
    near(rec.force[0, 0, 2], closed, rel=1e-4)
    near(rec.force[0, 0, 0], -math.copysign(friction, speed) * closed, rel=1e-4)
    assert not rec.info["warnings"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", [1.4, 2.0, 3.0])
def test_where_no_force_exists_an_impulse_ends_the_slip_and_the_recording_says_so(law, friction):
    """The impulse that stops the tip, -inv(G) v, lies in the cone: the tip sticks."""
    assert mobility(LEAN)[1, 1] < friction * -mobility(LEAN)[1, 0]  # the paradox
    rec = slid(law, friction, -1.0)
    impulse = -np.linalg.solve(mobility(LEAN), [-1.0, 0.0])
    inside = abs(impulse[0]) <= friction * impulse[1]
    warning = rec.info["warnings"][0]
    assert warning["time"] == 0.0 and warning["kind"] == "inconsistent" and "Painleve" in warning["message"]
    if inside:
        near(rec.signals["impulse"][0], impulse[1], rel=1e-6)
        below(abs(rec.velocity[1, 0, 0]), 2e-9)  # twice what the law takes for no slip
    energy = ff.measure.energy(rec).mechanical
    log(law, impulse=float(rec.signals["impulse"][0]), left=float((energy[-1] - energy.min()) / np.ptp(energy)))
    assert rec.failure is None and np.diff(energy).max() < 1e-9
    assert rec.gap.min() > -1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("lean", [40.0, 60.0, 75.0, 85.0])
@pytest.mark.parametrize("speed", [-3.0, -0.5, 2.0])
def test_a_rod_falls_and_slides_through_the_paradox_without_blowing_up(law, lean, speed):
    """Whatever comes, forces come to an end, the ground only pushes, and no energy is created."""
    rec = slid(law, 2.0, speed, lean=math.radians(lean), duration=0.8)
    energy = ff.measure.energy(rec).mechanical
    assert rec.failure is None
    below(np.diff(energy).max(), 1e-6)
    assert (rec.force[..., 2] >= 0.0).all() and rec.gap.min() > -1e-9
    assert (np.abs(rec.force[..., 0]) <= 2.0 * rec.force[..., 2] * (1.0 + 1e-9) + 1e-9).all()
    # No impulse is larger than what would turn all of the momentum there can be.
    below(rec.force.max() * rec.dt, 3.0 * (abs(speed) + math.sqrt(2.0 * GRAVITY)))
