"""Posture control on slopes: the pose is adapted to the ground, so that robots stand where they stood on the level."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from pairs import paired
from physics.laws import every_law

import footfall as ff
from footfall.control import Walk
from footfall.control.body.stance import stance

#: Robots that can stand: two points, as of point-biped, are no area.
MOTORISED = [name for name in ff.robots() if (one := ff.load_robot(name)).model.nu and one.point_count > 2]
SLOPES = [(0.05, 0.0), (-0.1, 0.0), (0.1, math.pi / 2), (0.2, 0.7)]


def looked_at(robot, qpos):
    data = mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(robot.model, data)
    mujoco.mj_comPos(robot.model, data)
    rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
    return data, data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)


@pytest.mark.parametrize("name", MOTORISED)
@pytest.mark.parametrize(("angle", "heading"), SLOPES)
def test_soles_touch_the_slope_and_the_weight_is_over_the_feet_as_at_home(name, angle, heading):
    robot, ground = ff.load_robot(name), ff.Ground.slope(angle, heading=heading)
    home, places = looked_at(robot, robot.home)
    standing = places[:, 2] - robot.point_radius < 1e-6
    posed, touching = looked_at(robot, stance(robot, ground))
    gap, _ = ground.gap(touching[standing])
    assert gap == pytest.approx(robot.point_radius[standing], abs=1e-9)
    over, before = (
        data.subtree_com[0, :2] - at[standing, :2].mean(axis=0) for data, at in ((posed, touching), (home, places))
    )
    assert over == pytest.approx(before, abs=1e-9)  # m


def test_soles_that_are_not_flat_lie_on_a_slope_as_on_level_ground():
    """Soles of scanned feet are uneven by millimetres: on the few lowest points a robot would stand on tiptoe."""
    flat = ff.load_robot("spatial-biped")
    heels = {foot.name: (foot.body, foot.points + 2e-3 * (foot.points[:, :1] < 0.0) * [0, 0, 1]) for foot in flat.feet}
    robot, ground = ff.load_robot("spatial-biped", feet=heels), ff.Ground.slope(0.1)
    _, level = looked_at(robot, robot.home)
    assert np.ptp(level[:, 2]) == pytest.approx(2e-3)
    for start in (stance(robot, ground), Walk().initial_state(robot, ground)[0]):
        assert ground.gap(looked_at(robot, start)[1])[0] == pytest.approx(level[:, 2], abs=1e-9)


@pytest.mark.parametrize(("name", "slope"), [*paired(MOTORISED, SLOPES), *paired(MOTORISED, SLOPES, shift=2)])
def test_every_robot_stands_on_slopes(name, slope):
    angle, heading = slope
    sim = ff.Simulation(name, ground=ff.Ground.slope(angle, heading=heading))
    rec = sim.run(2.0, controller="posture", record_dt=5e-3)
    assert not ff.measure.has_fallen(rec)
    # At rest the ground carries the weight and nothing else; what is left of the start decays below a thousandth. This
    # holds where the robot can move: across the plane of a planar one a guide bears what the ground pushes, which may
    # be all of friction, for while it settles by nanometres per second it can only slide along a slope across.
    data, jacobian = mujoco.MjData(rec.robot.model), np.zeros((3, rec.robot.model.nv))
    data.qpos[:] = rec.qpos[-1]
    mujoco.mj_fwdPosition(rec.robot.model, data)
    mujoco.mj_jacSubtreeCom(rec.robot.model, data, jacobian, 0)
    moves = np.abs(jacobian).max(axis=1) > 1e-9
    assert moves[1] == (name != "planar-biped") and moves[[0, 2]].all()
    carried = rec.slice(1.9).total_force.mean(axis=0) / rec.robot.weight
    assert carried[moves] == pytest.approx(np.array([0.0, 0.0, 1.0])[moves], abs=1e-3)


@every_law
def test_a_biped_stands_on_a_slope_under_every_law(law):
    sim = ff.Simulation("spatial-biped", ground=ff.Ground.slope(math.radians(5)), law=law)
    rec = sim.run(2.0, controller="posture", record_dt=5e-3)
    assert not ff.measure.has_fallen(rec)
    assert rec.slice(1.8).total_force[:, 2].mean() == pytest.approx(rec.robot.weight, rel=1e-3)


def test_on_level_ground_it_is_home_to_the_last_bit():
    for ground in (ff.Ground.plane(), ff.Ground.plane(height=0.3), ff.Ground.stairs()):
        sim = ff.Simulation("spatial-biped", ground=ground)
        assert np.array_equal(stance(sim.robot, ground), sim.place())


def test_a_target_of_ones_own_is_kept_and_a_robot_that_cannot_reach_stays_at_home():
    robot, ground = ff.load_robot("spatial-biped"), ff.Ground.slope(0.1)
    own = ff.control.Posture(target=tuple(robot.home))
    rows = own.gains(robot, ground, 1e-3).reshape(-1, 9)
    assert np.array_equal(rows[:, 2], robot.home[rows[:, 0].astype(int)])
    assert own.initial_state(robot, ground) == (None, None)
    steep = ff.Ground.slope(1.2)  # beyond what its ankles turn, if they are limited
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    for joint in spec.joints:
        if joint.name and "ankle" in joint.name:
            joint.range, joint.limited = (-0.3, 0.3), mujoco.mjtLimited.mjLIMITED_TRUE
    stiff = ff.load_robot(spec)
    sim = ff.Simulation(stiff, ground=steep)
    found = stance(stiff, steep)
    gap, _ = steep.gap(looked_at(stiff, found)[1])
    assert np.array_equal(found, sim.place()) or gap == pytest.approx(0.0, abs=1e-9)
