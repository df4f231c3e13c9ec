"""Loading: what a robot keeps of its model, where it stands, and what it says when it cannot be loaded."""

from __future__ import annotations

import struct

import mujoco
import numpy as np
import pytest
from robot_models import HOPPER, lowest_contact

from footfall.errors import FootfallWarning, RobotError
from footfall.robot import load_robot
from footfall.simulation import Simulation


def test_home_is_the_standing_keyframe_set_down_on_the_ground(hopper):
    assert lowest_contact(hopper) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(hopper.home[7:], [0.1, -0.1])
    np.testing.assert_allclose(hopper.home[3:7], [1, 0, 0, 0])


def test_home_controls_are_joint_angles_for_servos_and_zero_for_motors(hopper):
    np.testing.assert_allclose(hopper.home_ctrl, [0.1, 0.0])


def test_armature_damping_limits_and_equalities_survive_loading(hopper):
    model = hopper.model
    assert model.joint("hip").armature[0] == 0.02
    assert model.joint("hip").damping[0] == 0.3
    np.testing.assert_allclose(model.joint("hip").range, np.radians([-60, 60]), rtol=1e-12)
    assert model.neq == 1
    assert model.nkey == 2
    assert hopper.actuated == ("hip", "knee")


SOLID = HOPPER.replace('contype="0" conaffinity="0"', "")
UNTOUCHED = r"robot 'hopper': nothing touches what its model has fixed in the world \({}\); the ground takes its place"


def test_the_scene_stays_in_the_model_but_no_longer_collides():
    """Level floors become the ground without a word, stairs and terrain with one."""
    with pytest.warns(FootfallWarning, match=UNTOUCHED.format("step")):
        hopper = load_robot(mujoco.MjSpec.from_string(SOLID))
    assert hopper.model.geom("floor").contype[0] == hopper.model.geom("floor").conaffinity[0] == 0
    assert hopper.model.geom("step").contype[0] == 0
    assert hopper.model.npair == 0
    assert [foot.body for foot in hopper.feet] == ["spring_leg"]


def test_a_floor_that_is_a_slope_is_no_level_ground():
    slope = HOPPER.replace('<geom name="floor"', '<geom name="floor" euler="0 10 0"', 1)
    for made in (mujoco.MjSpec.from_string, mujoco.MjModel.from_xml_string):
        with pytest.warns(FootfallWarning, match=UNTOUCHED.format("floor")):
            load_robot(made(slope))


def test_the_scene_of_a_compiled_model_is_silenced_on_a_copy():
    model = mujoco.MjModel.from_xml_string(SOLID)
    with pytest.warns(FootfallWarning, match=UNTOUCHED.format("step")):
        robot = load_robot(model)
    assert robot.name == "hopper"
    assert robot.model.geom("floor").contype[0] == robot.model.geom("step").contype[0] == 0
    assert model.geom("floor").contype[0] == 1


def test_an_mjspec_loads_like_its_file(hopper):
    assert load_robot(mujoco.MjSpec.from_string(HOPPER)) == hopper


def test_a_nameless_foot_is_named_in_a_spec_and_refused_in_a_compiled_model():
    xml = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    assert load_robot(mujoco.MjSpec.from_string(xml)).feet[0].body == "body1"
    with pytest.raises(RobotError, match="has no name"):
        load_robot(mujoco.MjModel.from_xml_string(xml))


BAD = {
    "missing file": (("nowhere/robot.xml",), {}, "no file 'nowhere/robot.xml'"),
    "unknown name": (("spatial-bipet",), {}, r"did you mean 'spatial-biped'.*\.urdf"),
    "unknown parameter": (("ball",), {"radios": 1}, "did you mean 'radius'"),
    "negative mass": (("brick",), {"mass": -1}, "mass of robot 'brick' must be a number > 0, got -1"),
    "no number": (("brick",), {"mass": "heavy"}, "got 'heavy'"),
    "wrong actuators": (("spatial-biped",), {"actuators": "motors"}, "did you mean 'motor'"),
    "straight knee": (("spatial-biped",), {"knee": 0.001}, "knee"),
    "wrong type": ((3,), {}, "cannot load a robot from a int"),
    "unknown body": (("ball",), {"feet": {"left": "bal"}}, "did you mean 'ball'"),
    "points of no foot": (("ball",), {"points": {"bal": [[0, 0, 0]]}}, "did you mean 'ball'"),
    "points as text": (("ball",), {"points": "corners"}, "vertices"),
    "points below one": (("brick",), {"points": 0}, "a number >= 1"),
    "misshapen points": (("brick",), {"feet": {"a": ("brick", [[0, 0]])}}, "must be a \\(P, 3\\) array"),
    "feet of no form": (("brick",), {"feet": {"a": 3}}, "body name or"),
    "no feet named": (("brick",), {"feet": {}}, "feet is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_with_a_sentence_that_helps(case):
    args, options, message = BAD[case]
    with pytest.raises(RobotError, match=message):
        load_robot(*args, **options)


def test_a_parameter_for_a_file_is_refused(tmp_path):
    (tmp_path / "hopper.xml").write_text(HOPPER)
    with pytest.raises(RobotError, match="'mass' is not an option"):
        load_robot(tmp_path / "hopper.xml", mass=3)


def servo_robot(**options):
    """A base on two hinges, one servo of each kind, with two keyframes and limits."""
    xml = """
    <mujoco model="servos"><worldbody><body name="base"><freejoint/><geom size="0.1"/>
      <body name="thigh"><joint name="hip" axis="0 1 0" range="-30 30"/>
        <geom type="capsule" size="0.02 0.1" pos="0 0 -0.2"/>
        <body name="foot" pos="0 0 -0.4"><joint name="knee" axis="0 1 0" actuatorfrcrange="-60 60"/>
          <geom size="0.03"/></body></body></body></worldbody>
      <actuator><position name="a" joint="hip" kp="50" kv="1" forcerange="-20 30" timeconst="0.1"/>
        <velocity name="b" joint="knee" kv="5" gear="3"/><motor name="c" joint="knee" ctrlrange="-4 4"/></actuator>
      <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2" ctrl="0.1 0 2"/>
        <key name="crouch" qpos="0 0 1 1 0 0 0 0.4 -0.8" ctrl="0.4 0 0"/></keyframe></mujoco>"""
    return load_robot(mujoco.MjSpec.from_string(xml), **options)


def test_a_pose_is_a_keyframe_numbers_or_joints():
    np.testing.assert_allclose(servo_robot().home[7:], [0.1, 0.2])
    np.testing.assert_allclose(servo_robot(pose="crouch").home[7:], [0.4, -0.8])
    np.testing.assert_allclose(servo_robot(pose="crouch").home_ctrl, [0.4, 0, 0])
    given = servo_robot(pose=[1, 2, 3, 2, 0, 0, 0, 0.3, 0.5])
    np.testing.assert_allclose(given.home[[0, 1, 3, 7, 8]], [1, 2, 1, 0.3, 0.5])  # the quaternion is a unit one
    np.testing.assert_allclose(given.home_ctrl, [0.3, 0, 0])
    np.testing.assert_allclose(servo_robot(pose={"knee": 0.7}).home[7:], [0.1, 0.7])
    for robot in (given, servo_robot(pose="crouch")):
        assert lowest_contact(robot) == pytest.approx(0.0, abs=1e-12)


def test_a_pose_that_is_only_the_first_of_several_keyframes_is_told():
    keys = '<key name="squat" qpos="0 0 1 1 0 0 0"/><key name="lie" qpos="0 0 .2 1 0 0 0"/>'
    body = '<body><freejoint/><geom size="0.1"/></body>'
    model = f'<mujoco model="agile"><worldbody>{body}</worldbody><keyframe>{keys}</keyframe></mujoco>'
    with pytest.warns(FootfallWarning, match=r"begins in the first of its 2 keyframes, 'squat'.*another \('lie'\)"):
        load_robot(mujoco.MjSpec.from_string(model))
    load_robot(mujoco.MjSpec.from_string(model), pose="squat")  # without a warning
    load_robot(mujoco.MjSpec.from_string(model.replace("squat", "home")))


def test_a_robot_that_begins_in_the_ground_and_cannot_be_raised_is_told():
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    body = f'<body name="fish" pos="0 0 %s">{slides}<geom size="0.1"/></body>'
    model = f'<mujoco model="fish"><worldbody>{body}</worldbody></mujoco>'
    with pytest.warns(FootfallWarning, match="no joint of robot 'fish' can lift it: 'fish' begins 40 mm deep in"):
        load_robot(mujoco.MjSpec.from_string(model % "0.06"))
    load_robot(mujoco.MjSpec.from_string(model % "0.1"))  # without a warning
    held = model.replace(slides, '<joint axis="0 1 0"/>') % "0.06"
    with pytest.warns(FootfallWarning, match="held in the world.* set down; 'fish' begins 40 mm deep in the ground"):
        load_robot(mujoco.MjSpec.from_string(held))


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ("hom", "did you mean 'home'"),
        ([1, 2], "9 numbers.*got 2"),
        ({"kne": 1}, "did you mean 'knee'"),
        ({"knee": "x"}, "must be a number"),
    ],
)
def test_a_pose_that_is_none_is_refused(pose, message):
    with pytest.raises(RobotError, match=message):
        servo_robot(pose=pose)


def test_a_home_outside_the_limits_is_warned_of_and_moved_in():
    with pytest.warns(FootfallWarning, match=r"1 joint .*hip from 0\.9 to 0\.5236"):
        robot = servo_robot(pose={"hip": 0.9})
    assert robot.home[7] == pytest.approx(np.radians(30))
    assert robot.home_ctrl[0] == pytest.approx(np.radians(30))


@pytest.mark.parametrize("compiled", [False, True])
def test_servos_become_motors_of_their_force_range(compiled):
    robot = servo_robot(actuators="motor")
    if compiled:
        source = servo_robot().model
        source.actuator_actnum[0] = 0  # a compiled model cannot lose a servo's filter
        robot = load_robot(source, actuators="motor")
    model = robot.model
    np.testing.assert_allclose(model.actuator_ctrlrange, [[-20, 30], [-20, 20], [-4, 4]])
    assert model.actuator_ctrllimited.all()
    np.testing.assert_allclose(robot.home_ctrl, [0, 0, 2])
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = robot.home, [7, 5, 1]
    data.qvel[:] = 0.3
    if not compiled:
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.qfrc_actuator[6:], [7, 3 * 5 + 1])


def test_actuators_are_as_is_by_default_and_other_words_are_refused():
    assert servo_robot().model.na == 1
    with pytest.raises(RobotError, match="did you mean 'motor'"):
        servo_robot(actuators="motors")
    with pytest.raises(RobotError, match="has a state"):
        load_robot(servo_robot().model, actuators="motor")
    assert load_robot("spatial-biped", actuators="motor") == load_robot("spatial-biped")


PAIRED = """
<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="trunk" pos="0 0 1"><freejoint/>
  <geom size="0.1" contype="0" conaffinity="0"/>
  <body name="left_foot" pos="0 0.1 -0.5"><joint/>
    <geom name="l" type="box" size="0.1 0.04 0.02" contype="0" conaffinity="0"/></body>
  <body name="right_foot" pos="0 -0.1 -0.5"><joint/>
    <geom name="r" type="box" size="0.1 0.04 0.02" contype="0" conaffinity="0"/></body>
  </body></worldbody>
  <contact><pair geom1="l" geom2="floor"/><pair geom1="floor" geom2="r"/><pair geom1="l" geom2="r"/></contact>
</mujoco>"""


@pytest.mark.parametrize("source", [mujoco.MjSpec.from_string, mujoco.MjModel.from_xml_string])
def test_feet_of_a_model_that_collides_by_pairs_are_found_and_its_floor_is_gone(source):
    robot = load_robot(source(PAIRED))
    assert [foot.body for foot in robot.feet] == ["left_foot", "right_foot"]
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    data.qpos[2] -= 0.05
    mujoco.mj_forward(robot.model, data)
    assert data.ncon == 0
    data.qpos[:] = robot.home  # the pair of both feet is the robot's own, and stays
    robot.model.body("right_foot").pos[1] = 0.1
    mujoco.mj_forward(robot.model, data)
    assert data.ncon > 0


def test_a_built_in_robot_is_the_same_for_the_same_options():
    """Whoever asks for the same gets the same, but for a model of one's own."""
    first, second = load_robot("brick", mass=2.0), load_robot("brick", mass=2.0)
    assert second == first and second.model is not first.model
    assert load_robot("brick", mass=2.5).mass == pytest.approx(2.5)
    assert load_robot("brick", mass=2.0, name="stone").name == "stone"
    soles = [load_robot("brick", mass=2.0, points=[2, 2]) for _ in range(2)]  # which has no hash: made anew
    assert soles[0].others is not soles[1].others


def test_a_model_that_was_changed_is_not_that_of_the_next_robot():
    changed, mass = load_robot("brick"), load_robot("brick").mass
    changed.model.body_mass[:] *= 3.0
    assert load_robot("brick").mass == mass
    np.testing.assert_allclose(load_robot("brick").model.body_mass.sum(), mass)


def test_what_cannot_act_under_a_law_is_told():
    """Adhesion pulls at MuJoCo's own contacts, and flexes have no contact points: both did nothing without a word."""
    body = "<body name='trunk' pos='0 0 1'><freejoint/><geom size='.1'/></body>"
    adhesion = "<actuator><adhesion body='trunk' ctrlrange='0 1'/></actuator>"
    gecko = f"<mujoco><worldbody>{body}</worldbody>{adhesion}</mujoco>"
    robot = load_robot(mujoco.MjSpec.from_string(gecko), name="gecko")
    with pytest.warns(FootfallWarning, match="actuators of gecko adhere .* nothing under time-stepping"):
        Simulation(robot, law="time-stepping")
    Simulation(robot, law="mujoco")
    jelly = "<flexcomp name='jelly' type='grid' count='2 2 2' spacing='.1 .1 .1' pos='0 0 3' dim='3'>"
    jelly += "<edge equality='true'/></flexcomp>"
    with pytest.warns(FootfallWarning, match=r"flexes have no contact points and fall through the ground \(jelly\)"):
        load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{body}{jelly}</worldbody></mujoco>"))


@pytest.mark.parametrize(
    "many",
    [
        '<replicate count="100000000" offset="1 0 0"><geom size=".1"/></replicate>',
        '<composite type="cable" count="1000000 1 1" size="1"/>',
        '<replicate count="9000"><replicate count="9000"><body/></replicate></replicate>',
    ],
)
def test_a_model_that_asks_for_too_many_parts_is_refused_before_mujoco_makes_them(tmp_path, many):
    path = tmp_path / "many.xml"
    body = "<body name='trunk'><freejoint/><geom size='.1'/></body>"
    (tmp_path / "part.xml").write_text(f"<mujoco><worldbody>{many}</worldbody></mujoco>")
    path.write_text(f"<mujoco><worldbody>{body}</worldbody><include file='part.xml'/></mujoco>")
    with pytest.raises(RobotError, match=r"part.xml' has more than 100000 elements with its replicas"):
        load_robot(path)


def test_a_texture_or_field_or_memory_beyond_any_machine_is_refused(tmp_path):
    asset = '<texture name="a" type="2d" builtin="checker" width="60000" height="60000"/>'
    model = "<mujoco>{}<worldbody><body name='trunk'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    path = tmp_path / "large.xml"
    path.write_text(model.format(f"<asset>{asset}</asset>"))
    for source in (path, mujoco.MjSpec.from_string(path.read_text())):
        with pytest.raises(RobotError, match="has a texture of 60000 x 60000 entries"):
            load_robot(source)
    for asked, said in {
        '<size memory="900T"/>': "asks for a memory of 900T",
        '<size nkey="2000000000"/>': "asks for a nkey of 2000000000",
        '<sensor><user dim="2000000000"/></sensor>': "asks for a dim of 2000000000",
        '<asset><texture name="a" builtin="flat" width="60000"/></asset>': "has a texture of 60000 x 60000 entries",
        '<asset><mesh name="a" builtin="supersphere" params="1e5 1 1"/></asset>': "has a mesh of 100000 x 100000",
        '<custom><text name="a" data="&nbsp;"/></custom>': "is not well-formed XML: undefined entity",
    }.items():
        path.write_text(model.format(asked))
        with pytest.raises(RobotError, match=said):
            load_robot(path)
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 60000, 60000)
    (tmp_path / "bomb.png").write_bytes(header + b"\0" * 40)
    path.write_text(model.format('<asset><texture name="a" type="2d" file="bomb.png"/></asset>'))
    with pytest.raises(RobotError, match=r"has a picture 'bomb.png' of 60000 x 60000 entries"):
        load_robot(path)


def test_a_long_chain_of_bodies_is_no_absurd_model(tmp_path):
    links = 400
    path = tmp_path / "chain.xml"
    chain = "<body pos='0.01 0 0'>" * links + "<geom size='.1'/>" + "</body>" * links
    path.write_text(f"<mujoco><worldbody><body name='trunk'><freejoint/>{chain}</body></worldbody></mujoco>")
    assert load_robot(path).model.nbody == links + 2
