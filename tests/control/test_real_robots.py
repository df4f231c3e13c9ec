"""Robots of others stand with defaults alone: of 3 kg and of 94 kg, on four legs, with servos, with loops."""

from __future__ import annotations

import math
from functools import cache

import mujoco
import numpy as np
import pytest
from pairs import paired
from real_robots import FILES, real_robot, root_of

import footfall as ff
from footfall.control import Balance, Walk
from footfall.engine.stages import damping_servos
from footfall.errors import ControllerError
from footfall.study.outcomes import walk_outcome

OTHER_LAWS = [law for law in ff.laws() if law != "time-stepping"]


def stands(robot: ff.Robot, law: str, duration: float, controller: object = "balance") -> ff.Recording:
    rec = ff.Simulation(robot, law=law).run(duration, controller=controller, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    np.testing.assert_allclose(rec.total_force[-1, 2], robot.weight, rtol=0.02)
    return rec


@pytest.mark.parametrize("name", FILES)
def test_it_stands_with_the_defaults_of_balance(name):
    rec = stands(real_robot(name), "time-stepping", 2.0)
    # A millimetre is what a soft orientation lets gravity move it. Cassie's leaf springs are unloaded at the start.
    assert np.linalg.norm(rec.signals["com_error"][-1]) < 1e-3
    assert not rec.info["warnings"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law"), paired(list(FILES), OTHER_LAWS, shift=2))
def test_it_stands_under_every_other_law(name, law):
    """All robots under all laws stand, are pushed and land in the tests of constraints."""
    stands(real_robot(name), law, 2.0)


@pytest.mark.parametrize("name", ["g1", "op3", "go1"])
@pytest.mark.parametrize("controller", ["balance", "posture"])
def test_through_its_servos_it_moves_as_with_motors(name, controller):
    """The target of a servo is the one that gives the wanted torque, so nothing tells the two apart.

    They are the same numbers but for rounding, which grows for a fifth of a second. G1's model wants the damping of its
    servos on the velocity at the end of a step, that of motors is on the one before: one step of the motion apart.
    """
    motors, servos = (stands(real_robot(name, kind), "time-stepping", 0.2, controller) for kind in ("motor", "as-is"))
    apart = servos.dt * np.abs(motors.qvel).max() if damping_servos(servos.robot.model).dof.size else 0.0
    np.testing.assert_allclose(servos.qpos, motors.qpos, rtol=0.0, atol=1e-7 + 0.8 * apart)


@pytest.mark.parametrize("name", ["op3", "talos", "go1"])
def test_it_takes_a_sideways_push_of_a_twentieth_of_its_weight_for_a_second(name):
    robot = real_robot(name)
    push = ff.Push(root_of(robot), (0.0, 0.5 * robot.weight, 0.0), start=0.1, duration=0.1)
    # Balance knows nothing of thighs that meet: with contacts between bodies they throw Talos over, after 2.6 s.
    sim = ff.Simulation(robot, law="time-stepping", body_contacts=False)
    rec = sim.run(3.0, controller="balance", pushes=push, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert ff.measure.support_margin(rec, "capture")[-1] > 0.0


def test_motors_and_loops_of_cassie_carry_it_at_rest():
    """At rest the motors' torques are those of statics, found from all coordinates at once."""
    from footfall.control.posture import standing_torques

    robot = real_robot("cassie")
    rec = ff.Simulation(robot).run(0.0, controller=Balance())
    sagittal = [i for i in range(robot.model.nu) if not robot.model.actuator(i).name.endswith(("roll", "yaw"))]
    wanted = standing_torques(robot, robot.home)[robot.model.jnt_dofadr[robot.model.actuator_trnid[sagittal, 0]]]
    given = (rec.ctrl[0] * robot.model.actuator_gear[:, 0])[sagittal]
    # Of the knees' 39 N m. Forces between the feet that cancel may differ: roll and yaw of the hips are left out.
    np.testing.assert_allclose(given, wanted, atol=0.3)


def walks(name: str, law: str, steps: int, **options) -> ff.Recording:
    robot = real_robot(name)
    walk = Walk(steps=steps, **options).scaled(robot)
    rec = ff.Simulation(robot, law=law).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert rec.signals["phase"][-1, 0] == steps
    way = rec.signals["com"][-1] - rec.signals["com"][0]
    planned = sum(step.length for step in walk.plan(0.2).steps)
    # The centre of mass also goes over the middle of the feet, some 3 cm on a robot of 0.7 m legs.
    assert way[0] == pytest.approx(planned, rel=0.1, abs=0.03)
    return rec


def test_the_smallest_walks_with_defaults_alone():
    rec = walks("op3", "time-stepping", 3, stop_time=0.5)
    assert abs(rec.signals["com"][-1, 1]) < 0.01


#: Laws under which a robot keeps its step length and heading for ten steps. Under others feet creep: OP3 and Talos walk
#: 10 to 20 % short under one spring law each, and Talos under distributed.
WALKED = [
    *(("op3", law) for law in ("constraint-selection", "linearizing-penalty", "hunt-crossley")),
    *(("talos", law) for law in ("time-stepping", "spring-damper")),
    *(("g1", law) for law in ("mujoco", "time-stepping", "hunt-crossley")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law"), WALKED)
def test_it_walks_ten_steps_with_defaults_alone(name, law):
    rec = walks(name, law, 10)
    assert abs(rec.signals["com"][-1, 1]) < 0.04  # of G1's 0.24 m once
    if name == "g1":
        takes_no_tilt_for_a_slope(rec)


LIMP = """<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint/><geom size=".1" mass="5"/>
<body name="thigh"><joint name="hip" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="1"/>
<body name="shin" pos="0 0 -.4"><joint name="knee" axis="0 1 0"/>
<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="1"/>
<geom name="foot" type="box" size=".1 .05 .02" pos="0 0 -.42" mass=".5"/></body></body></body></worldbody>
<actuator><motor joint="hip"/></actuator></mujoco>"""


def takes_no_tilt_for_a_slope(rec: ff.Recording) -> None:
    """A sole of G1 is 6 cm wide: pressed at its edge it tilts by 3 degrees on springs of 1 mm, and not on rigid ground.
    Taken for the ground's, the tilt cost a seventh of the speed.
    """
    walk = Walk(steps=10).scaled(rec.robot)
    assert walk_outcome(rec).speed == pytest.approx(walk.speed, rel=0.1)  # a step more or less in ten


@pytest.mark.slow
@pytest.mark.parametrize("law", [law for law in ff.laws() if ("g1", law) not in WALKED])
def test_narrow_soles_that_tilt_on_springs_are_no_slope(law):
    """Under the other laws than those of ten steps, whose walks are asked the same.

    Six steps tell a seventh of the speed: getting under way costs a twentieth.
    """
    robot = real_robot("g1")
    walk = Walk(steps=6).scaled(robot)
    takes_no_tilt_for_a_slope(ff.Simulation(robot, law=law).run(walk.duration, controller=walk, record_dt=0.01))


def test_a_leg_with_a_limp_joint_is_refused_by_name():
    robot = ff.load_robot(mujoco.MjSpec.from_string(LIMP))
    with pytest.raises(ControllerError, match=r"joint 'knee' .* has no motor, loop or spring"):
        ff.Simulation(robot).run(0.1, controller="balance")


@cache
def without_ankle_roll(name: str, joints: tuple[str, str]) -> ff.Robot:
    """A robot like Unitree's H1, whose legs of five motors cannot roll their feet; not to be changed."""
    whole = real_robot(name)
    assert whole.mjcf is not None
    spec = mujoco.MjSpec.from_string(whole.mjcf, assets=dict(whole.assets))
    gone = [int(whole.model.joint(joint).qposadr[0]) for joint in joints]
    for key in list(spec.keys):
        spec.delete(key)
    for actuator in list(spec.actuators):
        if actuator.target in joints:
            spec.delete(actuator)
    for joint in list(spec.joints):
        if joint.name in joints:
            spec.delete(joint)
    return ff.load_robot(spec, pose=np.delete(whole.home, gone), name=f"{name}-without-ankle-roll")


ANKLE_ROLLS = {
    "talos": ("leg_left_6_joint", "leg_right_6_joint"),
    "op3": ("l_ank_roll", "r_ank_roll"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law"),
    [("talos", "hunt-crossley"), ("op3", "mujoco"), ("op3", "time-stepping")],
)
def test_legs_of_five_motors_walk_straight_on(name, law):
    robot = without_ankle_roll(name, ANKLE_ROLLS[name])
    walk = Walk(steps=6).scaled(robot)
    rec = ff.Simulation(robot, law=law).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    planned = sum(step.length for step in walk.plan(0.2).steps)
    # On the edges of their feet they slip back by a tenth of a step.
    assert rec.signals["com"][-1, 0] - rec.signals["com"][0, 0] > 0.6 * planned
    with pytest.raises(ControllerError, match="cannot roll its feet"):
        ff.Simulation(robot).run(0.1, controller=Walk(steps=4, turn=0.2))


def test_legs_of_five_motors_walk_the_same_in_every_direction():
    """Feet that tip roll about the way that the robot walks, which need not be an axis of the world."""
    robot, joints = without_ankle_roll("op3", ANKLE_ROLLS["op3"]), []
    for angle in (0.0, 0.65):
        home = robot.home.copy()
        home[3:7] = math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)
        turned = ff.load_robot(robot.spec(), pose=home, name=robot.name)
        rec = ff.Simulation(turned, law="time-stepping").run(0.8, controller=Walk(steps=2))
        joints.append(rec.qpos[:, 7:])
    assert np.abs(joints[0] - joints[1]).max() < 1e-5  # rounding, which a step multiplies
