"""The same motion as MuJoCo's own step, wherever contact laws play no part."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from engine import reference
from pairs import paired
from physics.laws import every_law, expected

import footfall as ff

DT, STEPS = 2e-3, 250
# Rounding differs, and a double pendulum multiplies a difference by some tens in half a second.
SAME = 1e-10

# A trunk in the air with a leg of two hinges, an arm on a ball joint, a hand on a slide.
FLIER = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 50">
      <freejoint/><geom type="box" size=".1 .1 .2" mass="5" contype="0" conaffinity="0"/>
      <body name="thigh" pos="0 0 -.2">
        <joint name="hip" axis="0 1 0" {hip}/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1" contype="0" conaffinity="0"/>
        <body name="shank" pos="0 0 -.3">
          <joint name="knee" axis="0 1 0" {knee}/><site name="tip" pos="0 0 -.3"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1" contype="0" conaffinity="0"/>
        </body>
      </body>
      <body name="arm" pos="0 .1 .1">
        <joint name="shoulder" type="ball" {shoulder}/>
        <geom type="capsule" fromto="0 0 0 0 .3 0" size=".02" mass=".5" contype="0" conaffinity="0"/>
        <body name="hand" pos="0 .3 0">
          <joint name="reach" type="slide" axis="0 1 0" {reach}/><site name="palm"/>
          <geom type="sphere" size=".04" mass=".3" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  {extra}
</mujoco>
"""
FIXED_TENDON = '<joint joint="hip" coef="1"/><joint joint="knee" coef="-.6"/>'
FEATURES = {
    "nothing": {},
    "armature": dict(hip='armature=".05"', reach='armature=".2"'),
    "damping": dict(hip='damping="2"', knee='damping=".5"', shoulder='damping=".3"', reach='damping="1"'),
    "springs": dict(hip='stiffness="30" springref="10"', shoulder='stiffness="3"'),
    "limits": dict(hip='range="-10 10"', knee='range="-5 40"', reach='range="-.02 .02"', shoulder='range="0 15"'),
    "dry friction": dict(hip='frictionloss=".4"', reach='frictionloss=".5"'),
    "connect": dict(extra='<equality><connect body1="hand" body2="thigh" anchor="0 0 0"/></equality>'),
    "weld": dict(extra='<equality><weld body1="hand" body2="shank"/></equality>'),
    "coupled joints": dict(extra='<equality><joint joint1="hip" joint2="knee" polycoef="0 .5 0 0 0"/></equality>'),
    "fixed tendon": dict(
        extra='<tendon><fixed stiffness="20" damping=".3" range="-.1 .1" frictionloss=".1">'
        f"{FIXED_TENDON}</fixed></tendon>"
        f'<tendon><fixed name="t">{FIXED_TENDON}</fixed></tendon><actuator><motor tendon="t"/></actuator>'
    ),
    "spatial tendon": dict(
        extra='<tendon><spatial stiffness="50" armature=".3"><site site="tip"/><site site="palm"/></spatial></tendon>'
    ),
    "servos": dict(extra='<actuator><position joint="hip" kp="60" kv="2"/><velocity joint="knee" kv="3"/></actuator>'),
    "motors": dict(extra='<actuator><motor joint="hip" gear="3"/><general site="tip" gear="0 0 1 0 1 0"/></actuator>'),
    "activations": dict(
        extra="""<actuator>
          <motor joint="knee"/>
          <general joint="hip" dyntype="filter" dynprm=".05" gainprm="20"/>
          <general joint="knee" dyntype="integrator" actlimited="true" actrange="-.3 .01" actearly="true"/>
          <muscle joint="hip" force="30" range=".7 1.1" lengthrange="-1 1"/>
        </actuator>"""
    ),
    "exactly filtered servo": dict(extra='<actuator><position joint="hip" kp="60" timeconst=".03"/></actuator>'),
    # Damping that would end a motion within a step: explicit steps of 2 ms would have to be stable beyond 2 kv h / I.
    "implicit servos": dict(
        hip='actuatorfrcrange="-3 3"',
        knee='damping=".2"',
        extra='<option integrator="implicitfast"/><actuator><position joint="hip" kp="60" kv="40" gear="1.5"/>'
        '<position joint="knee" kp="40" kv="60"/><velocity joint="reach" kv="900" forcerange="-30 30"/></actuator>',
    ),
    "air": dict(extra='<option density="1.2" viscosity=".1"/>'),
}

DIFFERENT = {
    "coupled and damped joints": dict(hip='damping="2"', **FEATURES["coupled joints"]),
}


def flier(feature: str) -> ff.Robot:
    blanks = dict.fromkeys(("hip", "knee", "shoulder", "reach", "extra"), "")
    spec = mujoco.MjSpec.from_string(FLIER.format(**blanks | (FEATURES | DIFFERENT)[feature]))
    return ff.load_robot(spec, feet={"foot": ("shank", np.array([[0.0, 0.0, -0.3]]))})


def stepped(model: mujoco.MjModel, dt: float, steps: int, qpos, qvel, ctrl=0.0) -> np.ndarray:
    """(steps + 1, nq) poses by MuJoCo's own step."""
    model.opt.timestep = dt
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
    poses = [data.qpos.copy()]
    for _ in range(steps):
        mujoco.mj_step(model, data)
        poses.append(data.qpos.copy())
    return np.array(poses)


def both(robot: ff.Robot, law: str, dt: float = DT, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """The flight of a robot from a lively state, by Footfall and by MuJoCo."""
    qvel = np.random.default_rng(0).normal(size=robot.model.nv)
    start = robot.home + 50.0 * (np.arange(robot.model.nq) == 2)
    ctrl = np.full(robot.model.nu, 0.3)
    rec = ff.Simulation(robot, law=law, dt=dt).run(steps * dt, qpos=start, qvel=qvel, controller=lambda t, state: ctrl)
    return rec.qpos, stepped(mujoco.MjModel.from_xml_string(robot.mjcf), dt, steps, start, qvel, ctrl)


@pytest.mark.parametrize("law", ["spring-damper", "linearizing-penalty", "mujoco"])  # one of each kind
@pytest.mark.parametrize("feature", FEATURES)
def test_in_flight_every_feature_of_a_model_moves_as_in_mujoco(feature, law):
    found, expected = both(flier(feature), law)
    assert np.abs(expected[-1] - expected[0]).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=SAME)


def test_damping_beside_constraints_differs_from_mujoco_by_the_order_of_the_step():
    """Constraints are solved with the inertia that moves, damping in it; MuJoCo adds damping afterwards."""
    robot = flier("coupled and damped joints")
    miss = []
    for dt in (1e-3, 2.5e-4):
        found, expected = both(robot, "spring-damper", dt, round(0.5 / dt))
        miss.append(np.abs(found - expected).max())
    assert miss[1] < 0.4 * miss[0]  # first order says 0.25


def test_a_ball_bounces_under_law_mujoco_as_under_mujocos_own_step():
    robot = ff.load_robot("ball")
    law = ff.law("mujoco", solref=(0.02, 0.1))
    sim = ff.Simulation(robot, law=law, ground=ff.Ground.plane(0.5))
    start, speed = robot.home + 0.05 * np.eye(7)[2], [0.5, 0.2, -0.5, 1.0, 2.0, 0.0]
    rec = sim.run(0.5, qpos=start, qvel=speed)
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    for geom in sim.ground.add_to(spec):
        geom.solref, geom.condim = law.solref, 3
    expected = stepped(spec.compile(), 1e-3, 500, start, speed)
    assert rec.force[:, 0, 2].max() > 2.0 * robot.weight
    assert expected[200:, 2].max() > 0.102  # it came back up
    # MuJoCo's solver stops when it gains less than 1e-8; both stop at the same iterate.
    np.testing.assert_allclose(rec.qpos, expected, atol=1e-9)


@pytest.mark.parametrize("heading", [0.0, 1.0])
def test_a_brick_on_a_slope_creeps_under_law_mujoco_as_under_mujocos_own_step(heading):
    """Four points against MuJoCo's own collision of a box with a plane."""
    robot = ff.load_robot("brick")
    ground = ff.Ground.slope(0.3, friction=0.6, heading=heading)
    sim = ff.Simulation(robot, law="mujoco", ground=ground)
    start = sim.place(align=True)
    rec = sim.run(1.0, qpos=start)
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    ground.add_to(spec)
    expected = stepped(spec.compile(), 1e-3, 1000, start, np.zeros(6))
    creep = np.linalg.norm(expected[-1, :3] - expected[0, :3])
    assert creep > 1e-4
    # Tangent axes of the friction pyramid differ between the two, and the creep with them.
    np.testing.assert_allclose(rec.qpos[:, :3], expected[:, :3], atol=0.5 * creep)


@every_law
def test_a_limp_biped_falls_down_and_lies_on_the_ground(law):
    sim = ff.Simulation("spatial-biped", law=law)
    rec = sim.run(2.5, controller=None, qvel=np.eye(20)[0] * 0.3)
    data = mujoco.MjData(sim.robot.model)
    data.qpos[:] = rec.qpos[-1]
    mujoco.mj_kinematics(sim.robot.model, data)
    assert rec.failure is None
    assert np.mean(rec.status != 0) <= expected(law).unsolved_lying
    assert np.mean(rec.slice(0.0, 1.5).status != 0) <= expected(law).unsolved_in_falls
    assert 0.0 < data.body("trunk").xpos[2] < 0.6 * rec.qpos[0, 2]
    assert data.geom_xpos[:, 2].min() > -0.02


def test_without_body_contacts_only_the_feet_meet_the_ground():
    sim = ff.Simulation("spatial-biped", body_contacts=False)
    rec = sim.run(3.0, controller=None, qvel=np.eye(20)[0] * 0.3)
    trunk = reference.evaluated(sim, rec.qpos[-1]).data.body("trunk").xpos[2]
    assert trunk < -0.05
    assert rec.gap[-1].min() > -0.02


@pytest.mark.parametrize(("law", "push"), paired(ff.laws(), [(0.0, 0.3), (0.3, 0.3)]))
def test_every_step_of_a_fall_is_solved(law, push):
    """Feet that slide and tip, knees and ankles at their limits, thighs on the ground: the law finds its forces.

    As in the fall straight ahead above, to the side or askew.
    """
    rec = ff.Simulation("spatial-biped", law=law).run(1.5, controller=None, qvel=[*push, *np.zeros(18)])
    assert rec.failure is None
    assert np.mean(rec.status != 0) <= expected(law).unsolved_in_falls


def test_law_mujoco_solves_its_contacts_however_few_iterations_the_model_allows():
    quadruped = ff.load_robot("quadruped")
    spec = mujoco.MjSpec.from_string(quadruped.mjcf)
    spec.option.iterations, spec.option.ls_iterations = 1, 4  # as models for MJX have it
    hasty = ff.load_robot(spec, pose=quadruped.home)
    qpos = quadruped.home + 0.05 * (np.arange(quadruped.model.nq) == 2)
    runs = [
        ff.Simulation(robot, law="mujoco").run(0.4, controller=None, qpos=qpos) for robot in (quadruped, hasty)
    ]  # a heap in the end
    np.testing.assert_array_equal(runs[1].qpos, runs[0].qpos)
