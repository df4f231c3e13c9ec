"""Which robots walk, and what is in the way of the others: legs, feet, waists, masses and motors."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control import QuadrupedWalk, Walk
from footfall.control.body.biped import Biped, Sole
from footfall.control.walk.soles import wrench_rows
from footfall.control.walk.stature import BEHIND, standing_pose, stature
from footfall.errors import ControllerError


def changed(change) -> ff.Robot:
    """A spatial biped of which something is otherwise."""
    whole = ff.load_robot("spatial-biped")
    spec = mujoco.MjSpec.from_string(whole.mjcf)
    for key in list(spec.keys):
        spec.delete(key)
    gone = change(whole, spec)
    return ff.load_robot(spec, pose=np.delete(whole.home, gone), name="changed")


def wide_without_ankle_roll(whole: ff.Robot, spec: mujoco.MjSpec) -> list[int]:
    """Hips 0.4 m apart over feet that cannot roll, but by turning two yaws round and round."""
    for actuator in [one for one in spec.actuators if "ankle_roll" in one.target]:
        spec.delete(actuator)
    for joint in [one for one in spec.joints if "ankle_roll" in one.name]:
        spec.delete(joint)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        spec.body(f"{side}_thigh").pos[1] = 0.2 * sign
    return [int(whole.model.joint(f"{side}_ankle_roll").qposadr[0]) for side in ("left", "right")]


def test_a_waist_between_trunk_and_legs_is_no_part_of_the_legs():
    """It would count as leg in their length, and move both feet."""
    whole = ff.load_robot("spatial-biped")
    tree = ElementTree.fromstring(whole.mjcf)
    for frame in tree.findall("keyframe"):
        tree.remove(frame)
    trunk = tree.find("worldbody/body[@name='trunk']")
    legs = [one for one in trunk.findall("body") if "thigh" in one.get("name")]
    pelvis = ElementTree.SubElement(trunk, "body", name="pelvis")
    ElementTree.SubElement(pelvis, "inertial", pos="0 0 0.1", mass="1", diaginertia="0.01 0.01 0.01")
    for name, axis in (("waist_roll", "1 0 0"), ("waist_yaw", "0 0 1")):
        ElementTree.SubElement(pelvis, "joint", name=name, axis=axis, pos="0 0 0.2", range="-1 1", limited="true")
        ElementTree.SubElement(tree.find("actuator"), "motor", name=name, joint=name, gear="1")
    for leg in legs:
        trunk.remove(leg)
        pelvis.append(leg)
    robot = ff.load_robot(
        mujoco.MjSpec.from_string(ElementTree.tostring(tree, encoding="unicode")),
        pose=dict(zip(whole.joint_names[1:], whole.home[7:], strict=True)),
        name="with-a-waist",
    )
    biped, before = Biped.of(robot, "walk"), Biped.of(whole, "walk")
    assert biped.soles[0].leg == pytest.approx(before.soles[0].leg)
    assert [robot.model.actuator(int(i)).name for i in np.flatnonzero(biped.spare)][-2:] == ["waist_roll", "waist_yaw"]
    walk = Walk(steps=4).scaled(robot)
    rec = ff.Simulation(robot).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None and not rec.info["warnings"]


def heavy_behind(whole: ff.Robot, spec: mujoco.MjSpec) -> list[int]:
    """The centre of mass is over the heels, three quarters of half a sole behind the middle."""
    spec.body("trunk").ipos[0] -= 0.12
    return []


@pytest.mark.parametrize("name", ["time-stepping", "hunt-crossley", "mujoco"])
def test_feet_that_tip_walk_with_hips_wider_than_their_reach(name):
    robot = changed(wide_without_ankle_roll)
    assert Biped.of(robot, "walk").tips
    walk = Walk(steps=4).scaled(robot)
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    way = rec.signals["com"][-1] - rec.signals["com"][0]
    planned = sum(step.length for step in walk.plan(0.4).steps)
    assert way[0] > 0.4 * planned  # feet that tip slip back
    assert abs(way[1]) < 0.1


def test_a_robot_whose_mass_is_over_its_heels_starts_with_it_over_its_feet():
    robot = changed(heavy_behind)
    walk = Walk(steps=4).scaled(robot)
    rec = ff.Simulation(robot).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None and not rec.info["warnings"]
    sole = Biped.of(robot, "walk").soles[0]
    middle = rec.position[0, : robot.point_count, 0].mean()
    assert abs(rec.signals["com"][0, 0] - middle) < 0.51 * sole.half_length


def hips_turn_about_axes_behind(whole: ff.Robot, spec: mujoco.MjSpec) -> list[int]:
    """The first joint of each leg is 0.2 m behind the others, so that it makes no longer leg."""
    for side in ("left", "right"):
        spec.joint(f"{side}_hip_yaw").pos = [-0.2, 0.0, 0.0]
    return []


@pytest.mark.parametrize("name", ["time-stepping", "spring-damper", "hunt-crossley"])
def test_hips_are_as_low_as_the_foot_behind_needs_when_it_is_left(name):
    """By the length from the first joint they would be 3 cm too high, and the walk on springs fall."""
    robot = changed(hips_turn_about_axes_behind)
    biped, walk = Biped.of(robot, "walk"), Walk(steps=10).scaled(robot)
    lower = biped.com_height - stature(walk.steps_of(biped), biped, walk.step_height).height
    leg = min(sole.leg for sole in biped.soles)
    assert standing_pose(biped, lower, walk.speed * walk.period, forward=BEHIND * leg).reached
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None


def ankles_that_bend_little(whole: ff.Robot, spec: mujoco.MjSpec) -> list[int]:
    for side in ("left", "right"):
        spec.joint(f"{side}_ankle_pitch").range[0] = -0.5
    return []


@pytest.mark.parametrize("name", ["time-stepping", "spring-damper", "hunt-crossley"])
def test_a_speed_that_is_left_out_keeps_joints_from_their_limits(name):
    robot = changed(ankles_that_bend_little)
    with pytest.warns(ff.FootfallWarning, match="too fast for the joints of changed: it walks at 0.16 m/s"):
        walk = Walk(steps=10).scaled(robot)
    assert walk.speed < 0.5 * Walk().scaled(ff.load_robot("spatial-biped")).speed
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    for foot in robot.feet:  # that carry; a foot that swings is led back
        ankle = int(robot.model.joint(f"{foot.name}_ankle_pitch").qposadr[0])
        carries = rec.force[:, rec.foot(foot.name), 2].sum(axis=1) > 0.1 * robot.weight
        assert rec.qpos[carries, ankle].min() > -0.5
    with pytest.raises(ControllerError, match=r"need joint '\w+_ankle_pitch' of changed at .* beyond its limit"):
        ff.Simulation(robot).run(0.1, controller=Walk(speed=0.4))


def test_the_pressure_centre_reaches_into_the_point_of_a_pointed_sole():
    """Inside by a fifth of half the width at the broad end, and by a fifth of the way to the middle at the point."""
    outline = np.array([[-0.09, 0.0], [0.09, -0.03], [0.09, 0.03]])
    sole = Sole("foot", 1, np.zeros(3), np.eye(3), outline, slice(0, 3), 0.8)
    rows = wrench_rows(sole, 0.7, 0.006)

    def allowed(x: float) -> bool:
        return bool((rows @ np.array([0.0, 0.0, 1.0, 0.0, -x, 0.0]) >= -1e-12).all())

    assert allowed(-0.07) and not allowed(-0.08) and allowed(0.083) and not allowed(0.085)


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("quadruped", "walk needs two feet, quadruped has 4"),
        ("planar-biped", "walk needs one free base, and planar-biped has none"),
    ],
)
def test_robots_that_cannot_are_told_why(robot, message):
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(robot).run(0.1, controller=Walk())


def test_what_lies_about_beside_a_robot_is_named_where_it_cannot_walk_for_it():
    spec = mujoco.MjSpec.from_string(ff.load_robot("spatial-biped").mjcf)
    crate = spec.worldbody.add_body(name="crate", pos=[2.0, 0.0, 0.2])
    crate.add_freejoint()
    crate.add_geom(size=[0.1, 0.0, 0.0])
    with pytest.raises(ControllerError, match="has 2 free bodies: trunk, crate"):
        ff.Simulation(ff.load_robot(spec)).run(0.1, controller=Walk())


@pytest.mark.parametrize(("name", "controller"), [("spatial-biped", Walk()), ("quadruped", QuadrupedWalk())])
def test_a_robot_without_weight_is_refused(name, controller):
    spec = mujoco.MjSpec.from_string(ff.load_robot(name).mjcf)
    spec.option.gravity = [0.0, 0.0, 0.0]
    with pytest.raises(ControllerError, match="needs gravity, and the model of afloat has none"):
        ff.Simulation(ff.load_robot(spec, name="afloat")).run(0.1, controller=controller)


def test_feet_on_lines_across_are_refused():
    robot = ff.load_robot("spatial-biped").with_points((1, 2))
    with pytest.raises(ControllerError, match=r"the contact points of foot '\w+' of .* lie on a line across the walk"):
        ff.Simulation(robot).run(0.1, controller=Walk())


@pytest.mark.parametrize("name", ["time-stepping", "hunt-crossley", "mujoco"])
def test_feet_on_lines_along_the_walk_are_steered_by_where_and_when_they_step(name):
    """No moment about the line holds the robot: without the next foothold it falls to the side in half a second."""
    robot = ff.load_robot("full-humanoid").with_points((2, 1))
    walk = Walk(steps=8).scaled(robot)
    assert walk.double_support == 0.05 and Walk(double_support=0.1).scaled(robot).double_support == 0.1
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    way = rec.signals["com"][-1] - rec.signals["com"][0]
    planned = sum(step.length for step in walk.plan(0.2).steps)
    assert way[0] > 0.7 * planned and abs(way[1]) < 0.3


def test_a_usual_speed_that_joints_do_not_reach_is_slowed_down_and_said():
    """Hips and ankles that turn by 0.25 rad from home leave room for short steps only."""
    robot = ff.load_robot("spatial-biped")
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    for joint in spec.joints:
        if joint.name.endswith(("hip_pitch", "ankle_pitch")):
            at = robot.home[robot.model.joint(joint.name).qposadr[0]]
            joint.range, joint.limited = (at - 0.25, at + 0.25), mujoco.mjtLimited.mjLIMITED_TRUE
    tight = ff.load_robot(spec, pose=robot.home, name="tight")
    with pytest.warns(ff.FootfallWarning, match="0.4 m/s, .* too fast for the joints of tight: it walks at 0.04"):
        walk = Walk(steps=6).scaled(tight)
    rec = ff.Simulation(tight).run(walk.duration, controller=walk)
    assert ff.measure.fall(rec) is None
    assert rec.signals["com"][-1, 0] - rec.signals["com"][0, 0] == pytest.approx(
        4.5 * walk.speed * walk.period, rel=0.1
    )
    with pytest.raises(ControllerError, match="beyond its limit"):
        Walk(speed=0.4, steps=6).initial_state(tight, ff.Ground.plane())


def test_feet_one_before_the_other_are_refused():
    robot = ff.load_robot("spatial-biped", forward="y")
    with pytest.raises(ControllerError, match=r"walk needs feet beside each other; those of .* apart along the way it"):
        ff.Simulation(robot).run(0.1, controller=Walk())


def changed_biped(change) -> ff.Robot:
    spec = mujoco.MjSpec.from_string(ff.load_robot("torque-biped").mjcf)
    change(spec)
    return ff.load_robot(spec, name="changed")


def drop_motors(spec, *parts: str) -> None:
    for motor in list(spec.actuators):
        if any(part in motor.name for part in parts):
            spec.delete(spec.joint(motor.target))  # rigid, not limp
            spec.delete(motor)
    for key in list(spec.keys):
        spec.delete(key)


def limp_ankles(spec) -> None:
    for motor in list(spec.actuators):
        if "ankle_roll" in motor.name:
            spec.delete(motor)
    for key in list(spec.keys):
        spec.delete(key)


def tie_knees(spec) -> None:
    for joint in spec.joints:
        if "knee" in joint.name:
            joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_TRUE, [-0.1, 0.75]


def weaken_knees(spec) -> None:
    for motor in spec.actuators:
        if "knee" in motor.name:
            motor.ctrllimited, motor.ctrlrange = 1, [-5.0, 5.0]


def weaken_hips(spec) -> None:
    for motor in spec.actuators:
        if "hip_roll" in motor.name:
            motor.ctrllimited, motor.ctrlrange = 1, [-40.0, 40.0]


def stick_knees(spec) -> None:
    for joint in spec.joints:
        if "knee" in joint.name:
            joint.damping = 1e3 if np.isscalar(joint.damping) else [1e3, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda spec: drop_motors(spec, "ankle"), r"walk needs an ankle: the last motor .* is at 'left_knee_pitch'"),
        (
            limp_ankles,
            r"changed has 5, and none at 'left_ankle_roll'",
        ),
        (tie_knees, r"walk: steps of .* need joint '(left|right)_knee_pitch' .* beyond its limit of"),
        (weaken_knees, r"walk: changed is too weak to stand on one leg: motor '(left|right)_knee_pitch' gives 5 N m"),
        # What is above a hip, about 0.11 m aside of it, must not sink on the other side: 54 N m.
        (weaken_hips, r"is too weak to stand on one leg: motor '(left|right)_hip_roll' gives 40 N m and 5\d N m"),
        (stick_knees, r"m/s is too fast for changed: motor '(left|right)_knee_pitch' gives"),
    ],
)
def test_what_is_in_the_way_is_named_before_the_first_step(change, message):
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(changed_biped(change)).run(0.1, controller=Walk(speed=0.4))
