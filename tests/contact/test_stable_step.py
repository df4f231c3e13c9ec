"""The longest step that a law's springs and dampers allow."""

from __future__ import annotations

import re
import warnings

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.contact.setting import carried_loads, standing_loads
from footfall.contact.springs.stable_step import gains_at_rest, longest_stable_step
from footfall.control import Walk
from footfall.errors import FootfallWarning
from footfall.measure import fall
from footfall.standing import point_jacobian


def test_a_robot_rests_in_the_step_that_is_named_and_rings_in_a_longer_one():
    """The bound is that of the stiffest motion of all points at once; half as much again feeds it."""
    robot = ff.load_robot("spatial-biped")
    law = ff.law("spring-damper", k=robot.weight / 8 / 1e-5, c=5.0)
    longest = longest_stable_step(law, ff.Simulation(robot, law=law, dt=0.01).setting)
    start = np.zeros(robot.model.nv)
    start[2] = -1e-3
    speed = []
    for share in (0.95, 1.5):
        sim = ff.Simulation(robot, law=law, dt=share * longest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rec = sim.run(2000 * sim.dt, controller="posture", qpos=sim.place(), qvel=start)
        speed.append(np.abs(rec.qvel[-200:]).max())
    assert speed[0] < 0.5e-3  # it came to rest: at first it fell with 1e-3
    assert speed[1] > 0.05


def test_a_run_in_too_long_steps_is_warned_of_with_the_step_that_would_do():
    law = ff.law("spring-damper", k=1e7, c=100.0)
    with pytest.warns(FootfallWarning, match=r"unstable in steps of 0.001 s.*dt <= \de-\d s would do"):
        ff.Simulation("spatial-biped", law=law).run(0.001, controller=None)


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley", "distributed"])
@pytest.mark.parametrize("robot", ff.robots())
def test_the_defaults_of_every_law_suit_every_robot_in_steps_of_a_millisecond(robot, law):
    sim = ff.Simulation(robot, law=law)
    assert longest_stable_step(sim.law, sim.setting) == sim.dt == 1e-3


def on_light_feet() -> ff.Robot:
    """The biped with feet of 0.2 kg and without rotors: as in descriptions that give a robot's links alone."""
    spec = mujoco.MjSpec.from_string(ff.load_robot("spatial-biped").mjcf)
    for joint in spec.joints:
        joint.armature = 0.0
    for foot in (body for body in spec.bodies if "foot" in body.name):
        foot.inertia, foot.mass = 0.2 / foot.mass * np.array(foot.inertia), 0.2
    return ff.load_robot(spec, name="light")


@pytest.mark.parametrize("law", ff.laws())
def test_a_robot_on_light_feet_walks_in_the_step_that_is_chosen_for_it(law):
    """In steps of 1 ms springs of light feet get next to no damping: under spring-damper and hunt-crossley it falls."""
    sim = ff.Simulation(on_light_feet(), law=law)
    springs = law in ("spring-damper", "hunt-crossley", "distributed")
    assert (sim.dt < 1e-3) == springs
    rec = sim.run(2.0, controller=Walk(steps=2), record_dt=0.01)
    assert rec.failure is None and fall(rec) is None


def test_whoever_chooses_gains_chooses_the_step():
    sim = ff.Simulation(on_light_feet(), law=ff.law("spring-damper", rest_penetration=2e-3))
    assert sim.dt == 1e-3
    assert ff.Simulation(on_light_feet(), law="spring-damper", dt=5e-4).dt == 5e-4


def test_laws_without_springs_have_no_longest_step():
    sim = ff.Simulation("ball", law="time-stepping")
    assert longest_stable_step(sim.law, sim.setting) is None


def test_loads_are_even_balance_the_weight_and_never_pull():
    corners = np.array([[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]])
    np.testing.assert_allclose(standing_loads(corners), 0.25, rtol=1e-12)
    for shift in ([0.03, 0.0], [0.08, 0.04], [0.099, -0.049]):
        shares = standing_loads(corners - shift)
        assert shares.min() >= 0.0
        np.testing.assert_allclose([shares.sum(), *(shares @ (corners - shift))], [1.0, 0.0, 0.0], atol=1e-9)
    assert standing_loads(corners - [1.0, 0.0]) is None  # nothing carries a robot beside its feet


SPRINGS = ["spring-damper", "hunt-crossley", "distributed"]


def test_a_robot_settles_on_the_points_that_balance_it():
    """Under legs of unlike length the lowest points are not those that carry it."""
    corners = np.array([[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]])
    heights = np.array([0.0, 4e-3, 4e-3, 4e-3])
    loads, touching = carried_loads(corners, heights)
    assert touching.all()
    np.testing.assert_allclose(loads, 0.25, rtol=1e-12)
    loads, touching = carried_loads(corners - [1.0, 0.0], heights)  # beside its feet: the lowest bears what there is
    assert touching.tolist() == [True, False, False, False]
    assert loads.tolist() == [1.0]


@pytest.mark.parametrize("law", SPRINGS)
def test_a_quadruped_with_one_longer_leg_stands_without_ringing(law):
    """Defaults are for legs that share the weight, not for the longest one alone, whose springs would be too stiff."""
    spec = mujoco.MjSpec.from_string(ff.load_robot("quadruped").mjcf)
    feet = [geom for geom in spec.geoms if "foot" in geom.parent.name or "foot" in geom.name]
    feet[0].size[0] += 4e-3
    sim = ff.Simulation(ff.load_robot(spec, name="uneven"), law=law, dt=1e-3)
    assert sim.setting.carriers > 3.0
    rec = sim.run(1.5, controller="posture")
    assert rec.audit().passed
    assert np.abs(rec.qvel[-200:]).max() < 0.02  # it settles slowly on its servos; ringing is some 10 rad/s


def with_stiff_servos() -> ff.Robot:
    """The biped with light feet and servos that damp at the beginning of a step, with 0.4 of what a step bears."""
    spec = mujoco.MjSpec.from_string(on_light_feet().mjcf)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    answer = np.zeros((model.nv, model.nv))
    mujoco.mj_solveM(model, data, answer, np.eye(model.nv))
    for actuator in spec.actuators:
        moved = 1.0 / answer[np.ix_(*2 * [model.joint(actuator.target).dofadr])].item()  # kg m2
        actuator.set_to_position(kp=200.0, kv=0.8 * moved / 1e-3)
    return ff.load_robot(spec, name="servos")


@pytest.mark.parametrize("law", SPRINGS)
def test_springs_of_the_ground_and_servos_together_are_stable_in_the_longest_step(law):
    """4 M - dt^2 K - 2 dt D is positive definite with all springs K and dampers D of joints and points."""
    robot = with_stiff_servos()
    sim = ff.Simulation(robot, law=law, dt=1e-3)
    bare = ff.Simulation(on_light_feet(), law=law, dt=1e-3)
    assert sim.setting.mobility > 1.2 * bare.setting.mobility
    dt = longest_stable_step(sim.law, sim.setting)
    setting = ff.Simulation(robot, law=law, dt=dt).setting
    k, c = gains_at_rest(sim.law, setting)
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(model, data)
    left = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, left)
    left *= 4.0
    jacobian = point_jacobian(robot, data)
    left -= (dt * dt * k + 2.0 * dt * c) * jacobian.T @ jacobian
    dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]
    left[dofs, dofs] += dt * dt * model.actuator_biasprm[:, 1] + 2.0 * dt * model.actuator_biasprm[:, 2]
    assert np.linalg.eigvalsh(left)[0] > 0.0


TOWER = """<mujoco><worldbody><body name="tower" pos="0 0 .5"><freejoint/>
  <inertial pos="0 0 0" mass="10" diaginertia=".8 .8 .02"/>
  <geom name="foot" type="box" pos="0 0 -.45" size=".02 .03 .05" mass="0"/></body></worldbody></mujoco>"""


def tower() -> ff.Robot:
    return ff.load_robot(mujoco.MjSpec.from_string(TOWER), name="tower")


def tilt_of(law: ff.Law | str) -> float:
    """Of a tower that begins to fall over its narrow side, after 4 s, rad."""
    sim = ff.Simulation(tower(), law=law, dt=1e-3)
    assert sim.setting.tipping == pytest.approx(0.02**2 / 0.5)  # 0.8 mm
    rec = sim.run(4.0, qvel=[0, 0, 0, 0, 1e-2, 0])
    return float(2.0 * np.arccos(min(1.0, abs(rec.qpos[-1, 3]))))


@pytest.mark.parametrize("law", SPRINGS)
def test_a_tower_does_not_tip_on_the_springs_of_its_narrow_foot(law):
    """At 1 mm it would: springs that give way by more than 0.8 mm lose against gravity."""
    assert tilt_of(law) < 1e-2


def test_a_tower_tips_where_it_is_said_to():
    assert tilt_of(ff.law("spring-damper", rest_penetration=0.6e-3)) < 1e-2
    assert tilt_of(ff.law("spring-damper", rest_penetration=1e-3)) > 0.1  # asked for, it is what it would be left out


@pytest.mark.parametrize("side", [1e-3, 1e-2])
@pytest.mark.parametrize("law", SPRINGS)
def test_a_cube_of_a_millimetre_stands_on_springs_as_a_large_one_does(law, side):
    """1 mm, the depth at rest of larger robots, would drown it: a soft sole may take 5 % of its length."""
    cube = (
        f'<body name="cube"><freejoint/><geom type="box" size="{side / 2} {side / 2} {side / 2}" mass="1e-3"/></body>'
    )
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{cube}</worldbody></mujoco>")
    rec = ff.Simulation(ff.load_robot(spec, name="cube"), law=law).run(0.1)
    assert not rec.summary()["fell"] and "penetration" not in rec.audit().failed
    assert rec.summary()["max_penetration_m"] < 0.8 * 0.05 * side


TURNTABLE = """<mujoco><worldbody><body name="plate" pos="0 0 .1"><joint axis="0 0 1"/><geom size=".1" mass="2"/>
  <body name="arm" pos=".3 0 .3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/>
</body></body></worldbody></mujoco>"""


@pytest.mark.filterwarnings("ignore:body 'plate'")
@pytest.mark.parametrize("law", [*SPRINGS, "mujoco"])
def test_a_foot_on_the_axis_of_its_hinge_is_as_heavy_as_the_robot(law):
    """No force at its point moves it: there was nothing to divide by."""
    robot = ff.load_robot(mujoco.MjSpec.from_string(TURNTABLE))
    assert [foot.body for foot in robot.feet] == ["plate"]
    sim = ff.Simulation(robot, law=law)
    assert sim.setting.mobility == pytest.approx(1.0 / 3.0)
    assert np.isfinite(sim.run(0.05).force).all()


def test_springs_for_a_robot_that_throw_a_light_box_beside_it_are_warned_of():
    """A box of 50 g beside a biped of 45 kg: in 1 ms it flies, in the step that the warning names it rests."""
    spec = mujoco.MjSpec.from_string(ff.load_robot("spatial-biped").mjcf)
    box = spec.worldbody.add_body(name="box", pos=[1.0, 0.0, 0.021])
    box.add_freejoint()
    box.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.02, 0.02, 0.02], mass=0.05)
    robot = ff.load_robot(spec)
    ff.Simulation(robot, law="time-stepping").run(0.0, controller=None)  # which has no springs, and no warning
    with pytest.warns(FootfallWarning, match="may throw 'box' off the ground: dt <= .* s would do") as told:
        thrown = ff.Simulation(robot, law="spring-damper").run(0.3, controller=None)
    assert thrown.qpos[-1, -5] > 0.04  # more than its size off the ground
    dt = float(re.search(r"dt <= (\S+) s", str(told[0].message))[1])
    assert ff.Simulation(robot, law="spring-damper", dt=dt).run(0.1).qpos[-1, -5] == pytest.approx(0.02, abs=1e-4)
