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


CART = """<mujoco model="cart"><asset><mesh name="wheel" vertex="{}"/></asset><worldbody><body name="frame"><freejoint/>
  <geom type="box" size=".2 .08 .02" mass="2" contype="0" conaffinity="0"/>{}</body></worldbody></mujoco>"""


def cart(corners: int, joint: str = '<joint axis="0 1 0"/>') -> ff.Robot:
    """A frame on four wheels that are meshes with so many corners."""
    angle = 2.0 * np.pi / corners * np.arange(corners)
    sides = [
        np.stack([RADIUS * np.cos(angle), np.full(corners, y), RADIUS * np.sin(angle)]).T
        for y in (-HALF_WIDTH, HALF_WIDTH)
    ]
    wheels = "".join(
        f'<body name="{name}" pos="{at} 0">{joint}<geom type="mesh" mesh="wheel" mass="0.5"/></body>'
        for name, at in {"fl": "0.2 0.15", "fr": "0.2 -0.15", "rl": "-0.2 0.15", "rr": "-0.2 -0.15"}.items()
    )
    vertices = " ".join(f"{value:.9g}" for value in np.vstack(sides).ravel())
    return ff.load_robot(mujoco.MjSpec.from_string(CART.format(vertices, wheels)))


@pytest.mark.parametrize("law", ["time-stepping", "spring-damper"])
@pytest.mark.parametrize("corners", [12, 32])
@pytest.mark.filterwarnings("ignore:contact points of soles reduced")
def test_wheels_that_are_meshes_roll_as_round_ones_do(law, corners):
    """A cart of mass m on wheels of inertias I goes with g sin(slope) m / (m + sum I / r^2), and does not bump."""
    robot, slope, duration = cart(corners), 0.1, 0.8
    sim = ff.Simulation(robot, law=law, ground=ff.Ground.slope(-slope, friction=0.8))
    rec = sim.run(duration, qpos=sim.place(align=True))
    way = float(np.hypot(*(rec.qpos[-1] - rec.qpos[0])[[0, 2]]))
    inertia = sum(robot.model.body_inertia[robot.model.body(foot.body).id].max() for foot in robot.feet)
    share = robot.mass / (robot.mass + inertia / RADIUS**2)
    near(way, 0.5 * share * GRAVITY * math.sin(slope) * duration**2, rel=0.01)
    near(float(rec.total_force[100:, 2].max()), robot.weight * (1.0 - share * math.sin(slope) ** 2), rel=0.02)


@pytest.mark.filterwarnings("ignore:look at the soles")  # which are sides of polygons that stand on a corner
def test_meshes_with_fewer_corners_or_on_no_hinge_keep_them():
    with pytest.warns(ff.FootfallWarning, match="from a mesh to the rim of a wheel of radius 0.1 m"):
        assert cart(12).point_axes.any()
    assert not cart(8).point_axes.any() and not cart(8).others.axes.any()
    assert not cart(12, '<joint axis="0 0 1"/>').others.axes.any()


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
