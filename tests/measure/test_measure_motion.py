"""Momentum, zero-moment point and falls, against closed forms and MuJoCo stepped by hand."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from blank_recordings import DT, at_rest, blank, stepped

from footfall import measure
from footfall.errors import FootfallWarning
from footfall.ground import Ground
from footfall.robot import load_robot

TIGHT = 1e-9  # rounding of a few hundred N and m of order 1, with room

GROUNDS = {
    "plane": Ground.plane(height=0.05),
    "slope": Ground.slope(0.2, heading=0.7),
    "uneven": Ground.function(lambda x, y: 0.05 * math.sin(3.0 * x) + 0.1 * y),
    "stairs": Ground.stairs(rise=0.1, run=0.3, start=0.05),
}


def test_a_ball_in_flight_keeps_its_momentum_but_for_gravity(ball):
    t = DT * np.arange(100)
    velocity = np.column_stack([np.full(100, 2.0), np.zeros(100), 3.0 - 9.81 * t])
    qvel = np.column_stack([velocity, np.tile([4.0, 0.0, 1.0], (100, 1))])
    qpos = np.column_stack([2.0 * t, 0 * t, 1 + 3.0 * t - 4.905 * t**2, np.ones(100), np.zeros((100, 3))])
    rec = blank(ball, 100, qpos=qpos, qvel=qvel)
    motion = measure.momentum(rec)
    assert motion.com == pytest.approx(qpos[:, :3])
    assert motion.velocity == pytest.approx(velocity)
    assert motion.momentum == pytest.approx(1.0 * velocity)
    inertia = 0.4 * 1.0 * 0.1**2
    assert motion.angular_momentum == pytest.approx(np.tile([4 * inertia, 0, inertia], (100, 1)))
    # Nothing but gravity acts. 1e-9: rounding of velocities of 3 m/s, over a step of 1 ms.
    assert motion.force == pytest.approx(np.zeros((100, 3)), abs=1e-9)
    assert motion.moment == pytest.approx(np.zeros((100, 3)), abs=1e-9)
    assert np.isnan(rec.zmp).all()
    assert np.isnan(measure.overall_cop(rec)).all()


@pytest.mark.parametrize("name", ["ball", "brick", "spatial-biped"])
def test_a_robot_at_rest_has_its_zmp_below_its_centre_of_mass(name):
    rec = at_rest(load_robot(name))
    motion = measure.momentum(rec)
    assert rec.zmp[:, :2] == pytest.approx(motion.com[:, :2], abs=TIGHT)
    assert rec.zmp[:, 2] == pytest.approx(0.0, abs=TIGHT)
    assert motion.force[:, 2] == pytest.approx(rec.robot.weight)


@pytest.mark.parametrize("where", GROUNDS)
@pytest.mark.parametrize("name", ["brick", "spatial-biped"])
def test_zmp_from_the_motion_is_the_cop_of_the_forces(name, where):
    rec = stepped(load_robot(name), GROUNDS[where], flight=range(20, 25))
    cop = measure.overall_cop(rec)
    # The last row has no step after it. 1e-8: velocities of 1 m/s lose 1e-16 / 1e-3 in the difference, times
    # an arm and over a load that is at times small.
    assert rec.zmp[:-1] == pytest.approx(cop[:-1], abs=1e-8, nan_ok=True)
    assert np.isnan(rec.zmp[20:25]).all()
    assert not np.isnan(rec.zmp[:20]).any()
    if where in ("plane", "slope"):
        assert rec.ground.gap(rec.zmp[:20])[0] == pytest.approx(0.0, abs=TIGHT)
    motion = measure.momentum(rec)
    assert motion.force[:-1] == pytest.approx(rec.total_force[:-1], abs=1e-7)
    assert motion.moment[:-1] == pytest.approx(measure.grf(rec).moment.sum(axis=1)[:-1], abs=1e-7)


def test_momentum_in_flight_changes_by_gravity_alone(biped):
    """To first order in dt, as the pose changes within a step: a tenth of the step, a tenth of the error."""
    errors = []
    for dt in (1e-3, 1e-4):
        rec = stepped(biped, Ground.plane(), samples=round(0.05 / dt), dt=dt, effort=0.0, flight=range(1000))
        motion = measure.momentum(rec)
        gained = np.outer(rec.time, biped.mass * biped.model.opt.gravity)
        linear = np.abs(motion.momentum - motion.momentum[0] - gained).max()
        angular = np.abs(motion.angular_momentum - motion.angular_momentum[0]).max()
        errors.append([linear / np.abs(motion.momentum[0]).max(), angular / np.abs(motion.angular_momentum[0]).max()])
    assert np.divide(*errors) == pytest.approx([10.0, 10.0], rel=0.3)
    assert max(errors[1]) < 1e-3


def test_a_push_parts_zmp_and_cop(brick):
    """A horizontal push F at height h moves the zmp by F h / W against it, and not the cop."""
    qvel = np.zeros((5, 6))
    qvel[:, 0] = 2.0 * DT * np.arange(5)  # 2 m/s2, frictionless
    rec = at_rest(brick, qvel=qvel)
    height = measure.momentum(rec).com[0, 2]
    shift = rec.zmp[:, 0] - measure.overall_cop(rec)[:, 0]
    assert shift == pytest.approx(-height * 2.0 / 9.81)


def test_what_is_fixed_in_the_world_is_no_part_of_the_motion():
    spec = mujoco.MjSpec()
    wall = spec.worldbody.add_body(name="wall", pos=[5, 0, 1])
    wall.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 1])
    box = spec.worldbody.add_body(name="box", pos=[0, 0, 0.1])
    box.add_freejoint()
    box.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
    with pytest.warns(FootfallWarning, match="nothing touches"):
        robot = load_robot(spec)
    rec = at_rest(robot)
    motion = measure.momentum(rec)
    assert motion.com[0] == pytest.approx([0, 0, 0.1])
    assert motion.force[0] == pytest.approx([0, 0, robot.weight])


def test_a_fall_is_a_base_below_half_of_its_height(biped):
    rec = at_rest(biped)
    assert not measure.has_fallen(rec)
    assert measure.fall(rec) is None
    for share, falls in ((0.52, False), (0.48, True)):
        low = np.array(rec.qpos)
        low[3, 2] *= share  # the base's origin is the body's, so this is its height
        # The feet go under the ground here: only the base is looked at.
        fallen = measure.fall(at_rest(biped, qpos=low))
        assert measure.has_fallen(at_rest(biped, qpos=low)) == falls == (fallen is not None)
    assert fallen is not None and fallen.time == rec.time[3]
    assert fallen.cause.startswith("its legs gave way: the mass sank between its feet; its base sank to 0.376 m")


def test_a_fall_is_a_base_that_tilts_by_more_than_a_right_angle(biped):
    rec = at_rest(biped)
    for angle, falls in ((1.52, False), (1.62, True)):
        tilted = np.array(rec.qpos)
        tilted[3, 3:7] = np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0
        tilted[3, 2] += 2.0  # in the air, so that nothing else touches
        fallen = measure.fall(at_rest(biped, qpos=tilted))
        assert falls == (fallen is not None)
    assert fallen is not None and fallen.time == rec.time[3] and "its base tilted by 1.62 rad" in fallen.cause


REACHING = """<mujoco><worldbody><body name="trunk" pos="0 0 .5"><freejoint/>
  <geom type="box" size=".1 .1 .05" mass="5"/>
  <geom name="leg" type="capsule" size=".02" fromto="0 0 0 0 0 -.4" mass="1" contype="0" conaffinity="0"/>
  <body name="foot" pos="0 0 -.42"><joint axis="0 1 0"/><geom type="box" size=".1 .05 .02" mass="1"/></body>
  <body name="arm" pos=".2 0 0"><joint axis="0 1 0"/>
    <geom type="%s" size="%s" pos=".25 0 0" euler="0 90 0" mass=".2"/></body>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("kind", "size"),
    [("capsule", ".02 .25"), ("cylinder", ".02 .25"), ("box", ".02 .02 .25"), ("ellipsoid", ".02 .02 .25")],
)
def test_a_body_that_is_no_foot_on_the_ground_is_a_fall(kind, size):
    robot = load_robot(mujoco.MjSpec.from_string(REACHING % (kind, size)))
    rec = at_rest(robot, samples=60)
    # The arm, 0.5 m from its joint to its tip and the joint 0.44 m high, is turned down.
    qpos = np.array(rec.qpos)
    qpos[:, -1] = np.radians(np.linspace(40.0, 85.0, len(qpos)))
    low = 0.44 - 0.5 * np.sin(qpos[:, -1]) - 0.02 < 0.0
    fallen = measure.fall(at_rest(robot, samples=60, qpos=qpos))
    assert fallen is not None and fallen.cause.endswith("body 'arm' is on the ground")
    # 2 degrees for the shapes of its tip, and 5 ms between two looks.
    at = int(np.flatnonzero(rec.time == fallen.time)[0])
    assert abs(at - int(np.flatnonzero(low)[0])) <= 2.0 / (45.0 / 59) + 5e-3 / (rec.time[1] - rec.time[0])


@pytest.mark.parametrize(("share", "falls"), [(0.3, False), (0.7, True)])
def test_a_body_that_brushes_the_ground_in_each_stride_is_no_fall(share, falls):
    robot = load_robot(mujoco.MjSpec.from_string(REACHING % ("box", ".02 .02 .25")))
    qpos = np.array(at_rest(robot, samples=1000).qpos)
    stride = 60  # samples of 1 ms, of the 300 ms of a free fall from 0.44 m
    qpos[np.arange(len(qpos)) % stride < share * stride, -1] = np.radians(85.0)
    assert measure.has_fallen(at_rest(robot, samples=1000, qpos=qpos)) == falls


def test_a_cart_whose_frame_lies_on_the_ground_has_fallen_only_when_it_sinks():
    legs = "".join(f'<geom type="sphere" size="0.02" pos="{x} {y} 0.02"/>' for x in (-0.2, 0.2) for y in (-0.1, 0.1))
    frame = f'<body name="cart"><freejoint/><geom type="box" size="0.2 0.1 0.05" pos="0 0 0.3"/>{legs}</body>'
    robot = load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{frame}</worldbody></mujoco>"))
    assert measure.fall(at_rest(robot)) is None
    low = np.tile(robot.home, (len(at_rest(robot)), 1))
    low[:, 2:7] = [0.1, np.cos(0.9), np.sin(0.9), 0.0, 0.0]  # it lies on its side
    low[0] = robot.home
    assert measure.fall(at_rest(robot, qpos=low)) is not None


@pytest.mark.parametrize("mass", ["", '<inertial pos="0 0 0" mass="0.001" diaginertia="1e-6 1e-6 1e-6"/>'])
def test_a_base_without_mass_on_the_ground_has_fallen_only_when_what_it_carries_sinks(mass):
    wheels = "".join(f'<geom type="sphere" size="0.05" pos="{x} {y} 0.05"/>' for x in (-0.2, 0.2) for y in (-0.1, 0.1))
    column = '<joint type="slide" axis="0 0 1" range="-.2 .2"/><geom type="box" size="0.1 0.1 0.2" pos="0 0 0.5"/>'
    cart = f'<body name="cart"><geom type="box" size="0.2 0.1 0.01" pos="0 0 0.1"/>{wheels}<body>{column}</body></body>'
    footprint = f'<body name="footprint"><freejoint/>{mass}{cart}</body>'
    robot = load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{footprint}</worldbody></mujoco>"))
    sunk = np.tile(robot.home, (30, 1))
    sunk[1:, 2] -= 1e-3  # soft feet and rounding sink by more than the footprint is high
    assert measure.fall(at_rest(robot, samples=30, qpos=sunk)) is None
    lying = np.tile(robot.home, (30, 1))
    lying[1:, 2:7] = [0.1, np.cos(0.8), np.sin(0.8), 0.0, 0.0]
    assert measure.fall(at_rest(robot, samples=30, qpos=lying)) is not None


def test_a_robot_that_is_held_in_the_world_does_not_fall():
    held = REACHING.replace("<freejoint/>", "") % ("box", ".02 .02 .25")
    with pytest.warns(FootfallWarning, match="held in the world"):
        robot = load_robot(mujoco.MjSpec.from_string(held))
    qpos = np.tile(robot.home, (60, 1))
    qpos[:, -1] = np.radians(85.0)  # the arm goes into the ground
    rec = at_rest(robot, samples=60, qpos=qpos)
    assert robot.held and measure.fall(rec) is None and not rec.summary()["fell"]
    assert not load_robot("spatial-biped").held
