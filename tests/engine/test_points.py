"""Contact points in motion, against MuJoCo's Jacobians."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from engine import reference
from plain_python import plainly

import footfall as ff
from footfall.engine import kinematics as points
from footfall.simulation.run import Run
from footfall.simulation.task import Task

EXACT = 1e-11  # rounding of sums over a chain of joints, of numbers of order one to ten
ROBOTS = {"spatial-biped": lambda: ff.load_robot("spatial-biped"), "menagerie": reference.menagerie}
everywhere = pytest.mark.parametrize(("robot", "seed"), [(name, seed) for name in ROBOTS for seed in range(3)])


def buried(robot: str, seed: int, **options) -> reference.Run:
    """A robot in a random state, with the ground so high that all its points touch."""
    sim = ff.Simulation(ROBOTS[robot](), ground=ff.Ground.slope(0.2, heading=0.5), body_contacts=False, **options)
    qpos, qvel = reference.random_state(sim.robot, seed)
    for joint in np.flatnonzero(sim.robot.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        qpos[sim.robot.model.jnt_qposadr[joint] + 2] -= 20.0
    if robot == "menagerie":
        qpos[sim.robot.model.joint("tower").qposadr] -= 20.0
    return reference.evaluated(sim, qpos, qvel)


@everywhere
def test_points_are_where_mujoco_has_their_bodies(robot, seed):
    run = buried(robot, seed)
    data, robot = reference.mujoco_data(run), run.simulation.robot
    rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
    expected = data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)
    np.testing.assert_allclose(run.points.position, expected, atol=EXACT)
    np.testing.assert_allclose(run.contacts.gap, run.simulation.ground.gap(expected)[0], atol=EXACT)
    assert run.contacts.number[0] == robot.point_count


@everywhere
def test_points_move_as_mujocos_jacobian_says(robot, seed):
    run = buried(robot, seed)
    data = reference.mujoco_data(run)
    expected = reference.point_jacobian(run, data) @ run.data.qvel
    np.testing.assert_allclose(reference.in_world(run, run.contacts.velocity), expected, atol=EXACT)
    np.testing.assert_allclose(run.tape.velocity[0], expected, atol=EXACT)


@everywhere
def test_the_bias_acceleration_is_jdot_qdot(robot, seed):
    run = buried(robot, seed)
    data = reference.mujoco_data(run)
    expected = reference.point_jacobian(run, data, rate=True) @ run.data.qvel
    np.testing.assert_allclose(reference.in_world(run, run.contacts.bias), expected, atol=EXACT * 10)


@everywhere
def test_the_bias_acceleration_is_the_change_of_velocity_of_a_point_that_coasts(robot, seed):
    """The same by finite differences of positions, with no formula for velocities in common."""
    run = buried(robot, seed)
    model, robot, h = run.model, run.simulation.robot, 1e-4
    data = mujoco.MjData(model)

    def positions(time: float) -> np.ndarray:
        data.qpos[:] = run.data.qpos
        mujoco.mj_integratePos(model, data.qpos, run.data.qvel, time)
        mujoco.mj_kinematics(model, data)
        rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
        return data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)

    expected = (positions(h) - 2.0 * positions(0.0) + positions(-h)) / h**2
    # Truncation h^2/12 times a fourth derivative of order 1e3; rounding 1e-15 * 20 m / h^2.
    np.testing.assert_allclose(reference.in_world(run, run.contacts.bias), expected, atol=1e-5)


@everywhere
def test_free_accelerations_are_those_without_contact(robot, seed):
    run = buried(robot, seed)
    data = reference.mujoco_data(run)
    qacc = np.linalg.solve(reference.inertia(run, data), reference.smooth_force(data))
    jacobian = reference.point_jacobian(run, data)
    expected = jacobian @ qacc + reference.point_jacobian(run, data, rate=True) @ run.data.qvel
    found = reference.in_world(run, run.contacts.acceleration)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.linalg.norm(jacobian @ qacc) + EXACT)


@everywhere
def test_contact_forces_act_as_j_transposed_f(robot, seed):
    """Of a point law, through qfrc_smooth, and of a coupled one, through half-solved forces."""
    for law in ("spring-damper", "linearizing-penalty"):
        run = buried(robot, seed, law=law)
        data = reference.mujoco_data(run)
        jacobian = reference.point_jacobian(run, data).reshape(-1, run.model.nv)
        force = reference.in_world(run, run.points.force).ravel()
        total = reference.smooth_force(data) + jacobian.T @ force
        residual = reference.inertia(run, data) @ run.data.qacc - total
        assert np.abs(residual).max() < 1e-10 * np.abs(jacobian.T @ force).max(), law


def test_the_velocity_of_a_rolling_ball_at_its_place_of_contact_is_zero():
    robot = ff.load_robot("ball", radius=0.1)
    run = reference.evaluated(ff.Simulation(robot), robot.home, [1.0, 0.0, 0.0, 0.0, 10.0, 0.0])
    np.testing.assert_allclose(run.points.position[0], [0.0, 0.0, 0.0], atol=EXACT)
    np.testing.assert_allclose(run.contacts.velocity[0], 0.0, atol=EXACT)


def test_the_kernels_run_as_plain_python_too():
    run = buried("spatial-biped", 0)
    ground = run.simulation.ground

    def surface(x, y, z, shape, table):
        gap, normal = ground.gap([x, y, z])
        return float(gap), *normal

    position, velocity = run.points.position.copy(), run.contacts.velocity.copy()
    run.points.position[:], run.contacts.velocity[:] = 0.0, 0.0
    none = np.zeros(0)
    world = run.workspace.world
    plainly(points.locate)(world, run.points, run.contacts, surface, none, none, 0.0)
    plainly(points.velocities)(world.cvel, world.subtree_com, run.points, run.contacts)
    np.testing.assert_allclose(run.points.position, position, atol=EXACT)
    np.testing.assert_allclose(run.contacts.velocity, velocity, atol=EXACT)


FLAP = """
<mujoco><worldbody><body name="base" pos="0 0 0.05"><freejoint/>
  <geom type="box" size="0.1 0.1 0.05" mass="10"/>
  <body name="flap" pos="0.1 0 -0.03"><joint name="hinge" axis="0 1 0" damping="0.01"/>
    <geom type="box" pos="0.11 0 0" size="0.1 0.05 0.005" mass="0.5"/>
  </body></body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>
"""


def test_a_body_that_hovers_beside_a_robot_at_rest_is_not_looked_at_until_it_moves(tmp_path):
    """From event to event a run made room for all points within two centimetres; they may not come so far in a period.

    Let go, it is seen before it lands: no point goes into the ground.
    """
    path = tmp_path / "flap.xml"
    path.write_text(FLAP)
    robot = ff.load_robot(path, feet=["base"])
    hold = -0.5 * 9.81 * 0.11
    sim = ff.Simulation(robot, law="acceleration-complementarity")
    run = Run(sim, 0.4, Task(controller=lambda t, state: [hold if t < 0.1 else 0.0]))
    run.advance(100)
    assert run.workspace.size == 0
    rec = run.finish()
    assert len(rec.other_points) > 0 and rec.mode[-1, robot.point_count :].any()
    assert rec.gap.min() > -1e-8
