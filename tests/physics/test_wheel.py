"""What rolls: a wheel, a cylinder on its side, as the foot of a machine; a stone that rattles."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from bounds import near
from physics.laws import GRAVITY, every_law, log

import footfall as ff

RADIUS, HALF_WIDTH = 0.1, 0.03  # m


def wheel(beside: str = "") -> ff.Robot:
    """A free cylinder of 1 kg whose axis is y, with more geoms if given."""
    xml = f"""<mujoco model="wheel"><worldbody><body name="wheel"><freejoint/>
      <geom type="cylinder" size="{RADIUS} {HALF_WIDTH}" zaxis="0 1 0" mass="1"/>{beside}</body></worldbody></mujoco>"""
    return ff.load_robot(mujoco.MjSpec.from_string(xml))


@every_law
def test_a_wheel_rolls_down_a_slope_as_a_solid_disc_does(law):
    """Its centre goes with 2/3 of g sin(slope), and its rim does not slip."""
    slope, duration = 0.1, 0.8
    sim = ff.Simulation(wheel(), law=law, ground=ff.Ground.slope(-slope, friction=0.8))
    rec = sim.run(duration, qpos=sim.place(align=True))
    way = float(np.hypot(*(rec.qpos[-1] - rec.qpos[0])[[0, 2]]))
    rolled = float(np.trapezoid(rec.qvel[:, 4], rec.time)) * RADIUS
    log(sim.law.name, way=way, rolled=rolled)
    # Springs sink in by a millimetre as it comes to rest on them, which is a tenth of that down the slope; friction
    # that is a function of slip creeps.
    near(way, 0.5 * 2.0 / 3.0 * GRAVITY * math.sin(slope) * duration**2, rel=0.02)
    near(rolled, way, rel=0.03)


@every_law
def test_a_wheel_that_topples_comes_to_rest_on_its_face(law):
    sim = ff.Simulation(wheel(), law=law)
    lean = math.radians(70.0)
    low = RADIUS * math.cos(lean) + HALF_WIDTH * math.sin(lean)
    rec = sim.run(1.0, qpos=[0.0, 0.0, low, math.cos(lean / 2), math.sin(lean / 2), 0.0, 0.0])
    # A law of springs rests at most a millimetre deep, which is what they are made for.
    near(rec.qpos[-1, 2], HALF_WIDTH, abs=1e-3)
    near(rec.total_force[-1, 2], GRAVITY, rel=1e-2)


def test_a_hub_beside_the_rim_does_not_keep_a_wheel_from_rolling():
    hub = '<geom type="cylinder" size="0.05 0.05" zaxis="0 1 0" mass="0"/>'
    plain, with_hub = wheel().feet[0], wheel(hub).feet[0]
    assert plain == with_hub
    np.testing.assert_allclose(plain.points, [[0, -HALF_WIDTH, 0], [0, HALF_WIDTH, 0]], atol=1e-12)


RATTLEBACK = """<mujoco><worldbody><body name="stone"><freejoint/>
  <inertial pos="0 0 -0.002" mass="1" fullinertia="2e-3 1.6e-2 1.7e-2 2.5e-3 0 0"/>
  <geom type="ellipsoid" size="0.2 0.05 0.04"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("law", ["time-stepping", "linearizing-penalty", "acceleration-complementarity"])
def test_a_rattleback_turns_round_one_way_only(law):
    """Its inertia lies askew to its belly: one spin is unstable, rattles and turns round, the other one stays."""
    sim = ff.Simulation(ff.load_robot(mujoco.MjSpec.from_string(RATTLEBACK)), law=law)
    ends = [sim.run(3.5, qvel=[0, 0, 0, 0.05, 0.05, spin], record_dt=0.5).qvel[-1, 5] for spin in (5.0, -5.0)]
    # It keeps its energy but for the errors of steps of 1 ms, which on the finer steps of 0.1 ms are a tenth of these.
    near(ends[0], -5.0, rel=0.1)
    near(ends[1], -5.0, rel=0.01)
