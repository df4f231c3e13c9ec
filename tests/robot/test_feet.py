"""Feet found at the ends of legs, or named by the user."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
from robot_models import BOX, area, biped, lowest_contact

import footfall as ff
from footfall.errors import FootfallWarning, RobotError
from footfall.robot import load_robot


def test_a_foot_with_toes_makes_two_feet():
    box = '<geom type="box" size="0.02 0.05 0.02" pos="0.02 0 0"/>'
    toe = f'<body name="@_toe" pos="0.13 0 -0.03"><joint axis="0 1 0"/>{box}</body>'
    feet = load_robot(biped(BOX + toe)).feet
    assert [foot.body for foot in feet] == ["left_foot", "left_toe", "right_foot", "right_toe"]
    assert [foot.name for foot in feet] == ["left_foot", "left_toe", "right_foot", "right_toe"]


def test_a_shank_that_almost_reaches_the_ground_is_no_foot():
    # The shank ends 1 cm above the soles, 1.1 % of the robot's height.
    sole = '<geom type="box" size="0.1 0.05 0.005" pos="0 0 0.015"/>'
    assert [foot.body for foot in load_robot(biped(sole)).feet] == ["left_foot", "right_foot"]


def test_parts_fixed_to_each_other_make_one_foot():
    pads = "".join(
        f'<body name="@_pad{i}" pos="{x} 0 -0.05"><geom type="box" size="0.02 0.05 0.01"/></body>'
        for i, x in enumerate((-0.08, 0.12))
    )
    left = load_robot(biped('<geom type="sphere" size="0.01"/>' + pads)).feet[0]
    assert left.body == "left_foot"
    assert area(left.polygon) == pytest.approx(0.24 * 0.1)


@pytest.mark.parametrize(
    ("bodies", "names"),
    [
        (["FL_foot", "FR_foot", "RL_foot", "RR_foot"], ["FL", "FR", "RL", "RR"]),
        (["l_sole", "r_sole"], ["left", "right"]),
        (["leftFoot", "rightFoot"], ["left", "right"]),
        (["left_ankle_roll_link", "right_ankle_roll_link"], ["left", "right"]),
        (["paw", "hoof"], ["paw", "hoof"]),
        (["left_a", "left_b"], ["left_a", "left_b"]),
    ],
)
def test_feet_are_named_after_their_side(bodies, names):
    legs = "".join(
        f'<body name="{b}" pos="0 {i} -0.5"><joint axis="0 1 0"/><geom type="sphere" size="0.05"/></body>'
        for i, b in enumerate(bodies)
    )
    xml = f'<mujoco><worldbody><body><freejoint/><geom size="0.1"/>{legs}</body></worldbody></mujoco>'
    assert [foot.name for foot in load_robot(mujoco.MjSpec.from_string(xml)).feet] == names


def test_feet_can_be_named_by_body_geom_or_list():
    spec = biped(BOX)
    found = load_robot(spec).feet
    assert load_robot(spec, feet={"left": "left_foot", "right": "right_foot"}).feet == found
    assert load_robot(spec, feet=["left_foot", "right_foot"]).feet == found
    assert load_robot(spec, feet={"left": "left_sole", "right": "right_sole"}).feet == found
    one = load_robot(spec, feet={"only": "right_foot"}).feet
    assert [foot.name for foot in one] == ["only"]


def test_a_foot_can_be_given_by_its_points():
    points = np.array([[0, 0, -0.05], [0.1, 0.05, -0.05], [0.1, -0.05, -0.05], [0.05, 0, -0.05]])
    foot = load_robot(biped(BOX), feet={"left": ("left_foot", points)}).feet[0]
    np.testing.assert_array_equal(foot.points, points)
    assert len(foot.polygon) == 3
    assert area(foot.polygon) == pytest.approx(0.005)


def sprinter(front: float) -> mujoco.MjSpec:
    """A trunk of 1 m on two legs, of 0.5 m behind and ``front`` (m) ahead, which moves in a plane."""
    legs = "".join(
        f'<body name="{name}" pos="{x} 0 0"><joint axis="0 1 0"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 {0.03 - length}" size="0.03"/></body>'
        for name, x, length in (("rear_leg", -0.5, 0.5), ("front_leg", 0.5, front))
    )
    rails = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'
    trunk = '<geom type="capsule" fromto="-0.5 0 0 0.5 0 0" size="0.05" mass="10"/>'
    xml = f"<mujoco><worldbody><body name='trunk' pos='0 0 1'>{rails}{trunk}{legs}</body></worldbody></mujoco>"
    return mujoco.MjSpec.from_string(xml)


@pytest.mark.parametrize(("front", "feet"), [(0.46, ["rear_leg", "front_leg"]), (0.3, ["rear_leg"])])
def test_a_leg_that_comes_down_as_the_robot_tips_onto_it_is_a_foot(front, feet):
    # By 2.3 degrees in the first case, though it ends 7 % of the height above the ground; by 11 in the second.
    assert [foot.body for foot in load_robot(sprinter(front)).feet] == feet


def bare(spec: mujoco.MjSpec, *bodies: str) -> mujoco.MjSpec:
    """The same with bodies that only show; all of them if none is named."""
    for geom in spec.geoms:
        if not bodies or geom.parent.name in bodies:
            geom.contype = geom.conaffinity = 0
    return spec


LEGS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("shank", "foot"))


@pytest.mark.parametrize(
    ("bodies", "lacking"), [((), "it has no collision"), (LEGS, "4 of its bodies have no collision")]
)
def test_feet_of_legs_without_collision_geometry_are_found_in_what_shows(bodies, lacking):
    with pytest.warns(FootfallWarning, match=f"{lacking} geometry.*left_foot.*nothing else of it touches"):
        robot = load_robot(bare(biped(BOX), *bodies))
    assert [foot.body for foot in robot.feet] == ["left_foot", "right_foot"]
    assert [area(foot.polygon) for foot in robot.feet] == pytest.approx([0.02, 0.02])
    assert lowest_contact(robot) == pytest.approx(0.0, abs=1e-12)


def test_what_only_shows_and_reaches_no_lower_is_no_foot():
    plate = '<geom type="box" size="0.1 0.05 0.001" mass="1"/>'
    pad = f'<body name="@_pad" pos="0 0 -0.052"><joint axis="0 1 0"/>{plate}</body>'
    robot = load_robot(bare(biped(BOX + pad), "left_pad", "right_pad"))
    assert [foot.body for foot in robot.feet] == ["left_foot", "right_foot"]


@pytest.mark.parametrize("law", ff.laws())
def test_the_ground_carries_a_robot_on_feet_that_only_show(law):
    with pytest.warns(FootfallWarning, match="no collision geometry"):
        robot = load_robot(bare(biped(BOX, trunk='<geom type="box" size="0.1 0.2 0.2" mass="5"/>')))
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    for joint in [joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE]:
        spec.delete(joint)  # one stiff body, which nothing must hold
    with pytest.warns(FootfallWarning, match="no collision geometry"):
        stiff = load_robot(spec)
    rec = ff.Simulation(stiff, law=law, dt=1e-3).run(1.0)
    assert rec.slice(0.8).total_force[:, 2].mean() == pytest.approx(stiff.weight, rel=5e-3)
    assert np.count_nonzero(rec.status) == 0


def test_a_robot_without_any_geometry_says_how_to_name_a_foot():
    inertial = "<inertial pos='0 0 0' mass='1' diaginertia='.1 .1 .1'/>"
    leg = f"<body name='left_foot' pos='0 0 -.5'><joint axis='0 1 0'/>{inertial}</body>"
    xml = f"<mujoco><worldbody><body name='trunk'><freejoint/>{inertial}{leg}</body></worldbody></mujoco>"
    with pytest.raises(RobotError, match=r'no collision geometry.*feet=\{"left": \("<body>", points\)\}.*left_foot'):
        load_robot(mujoco.MjSpec.from_string(xml))


def test_legs_without_any_shape_are_warned_of():
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'
    leg = f'<body name="@_stilt" pos="0 0 -0.4"><joint axis="0 1 0"/>{inertial}</body>'
    with pytest.warns(FootfallWarning, match=r"bodies lie below all geometry.*left_stilt, right_stilt.*feet="):
        load_robot(biped(BOX + leg))


def test_a_scene_is_no_robot():
    floor = "<mujoco><worldbody><geom type='plane' size='1 1 .1'/><body><geom size='.1'/></body></worldbody></mujoco>"
    with pytest.raises(RobotError, match="nothing in the model moves"):
        load_robot(mujoco.MjSpec.from_string(floor))
    drone = "<mujoco><worldbody><body name='drone'><geom size='0.1'/></body></worldbody></mujoco>"
    with pytest.raises(RobotError, match="no robot; a <freejoint/> in body 'drone' lets it move"):
        load_robot(mujoco.MjSpec.from_string(drone))


def test_a_robot_that_is_held_in_the_world_is_warned_of():
    body = "<body name='arm' pos='0 0 1'><joint axis='0 1 0'/><geom size='.1'/></body>"
    arm = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    with pytest.warns(
        FootfallWarning, match=r"body 'arm', which robot '.*' hangs on, is held in the world.*<freejoint/>"
    ):
        load_robot(mujoco.MjSpec.from_string(arm))


def test_a_default_of_joints_that_drags_the_base_is_warned_of():
    joints = "<default><joint damping='1' armature='.1'/></default>"
    body = "<body name='base'><{} name='root'/><geom size='.1'/></body>"
    model = f"<mujoco>{joints}<worldbody>{body}</worldbody></mujoco>"
    with pytest.warns(FootfallWarning, match="free joint of robot '.*' has damping and armature.*<freejoint/>"):
        load_robot(mujoco.MjSpec.from_string(model.format("joint type='free'")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_robot(mujoco.MjSpec.from_string(model.format("freejoint")))


def test_a_named_body_without_any_geometry_asks_for_points():
    spec = biped('<body name="@_tip" pos="0 0 -0.1"/>' + BOX)
    with pytest.raises(RobotError, match="give its contact points"):
        load_robot(spec, feet={"left": "left_tip"})


def test_a_tail_on_the_ground_is_no_foot():
    """It is as low as the soles, but more of its links lie there than a foot has."""
    link = '<body name="tail{0}" pos="-0.1 0 0"><joint axis="0 1 0"/><geom size="0.02"/>{1}</body>'
    tail = ""
    for i in reversed(range(5)):
        tail = link.format(i, tail)
    hung = f'<body pos="-0.1 0 -0.47"><joint axis="0 1 0"/><geom size="0.02"/>{tail}</body>'
    legs = "".join(
        f'<body name="{name}" pos="{x} {y} -0.4"><joint axis="0 1 0"/><geom size="0.05" pos="0 0 -0.05"/></body>'
        for name, x, y in (("FL", 0.2, 0.1), ("FR", 0.2, -0.1), ("RL", -0.1, 0.1), ("RR", -0.1, -0.1))
    )

    def robot(parts):
        xml = f'<mujoco><worldbody><body><freejoint/><geom size="0.1"/>{parts}</body></worldbody></mujoco>'
        return load_robot(mujoco.MjSpec.from_string(xml))

    assert [foot.body for foot in robot(legs + hung).feet] == ["FL", "FR", "RL", "RR"]
    assert [foot.body for foot in robot(hung).feet] == ["body2", *(f"tail{i}" for i in range(5))]  # a snake


@pytest.mark.parametrize("foot", ["foot", "end"])
def test_a_model_with_y_up_is_told_how_to_turn_it(foot):
    """Whether names call its feet feet, or what it lies on shows that its legs do not point down."""
    bone = '<joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>'
    legs = "".join(
        f'<body pos="{x} {y} 0">{bone}<body name="{foot}_{x}_{y}" pos="0 0 -0.2">{bone}</body></body>'
        for x in (0.2, -0.2)
        for y in (0.1, -0.1)
    )
    trunk = '<freejoint/><geom type="box" size="0.2 0.05 0.05"/>'
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody><body>{trunk}{legs}</body></worldbody></mujoco>")
    root = spec.worldbody.first_body()
    root.quat = [0.70711, -0.70711, 0.0, 0.0]  # y up, as its author drew it
    with pytest.warns(
        FootfallWarning, match=r'point along -y, not .* turned by quat="0.70711 0.70711 0 0" of its root'
    ):
        load_robot(spec, name="lies")
    root.quat = [1.0, 0.0, 0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load_robot(spec, name="stands").feet) == 4
