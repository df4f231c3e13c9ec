"""Feet found at the ends of legs, or named by the user."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from robot_models import BOX, area, biped

from footfall.errors import RobotError
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
        f'<body name="{b}" pos="{i} 0 -0.5"><joint axis="0 1 0"/><geom type="sphere" size="0.05"/></body>'
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


def test_a_robot_without_collision_geometry_says_how_to_name_a_foot():
    ghost = biped('<geom type="box" size="0.1 0.05 0.02" contype="0" conaffinity="0"/>')
    for geom in ghost.geoms:
        geom.contype = geom.conaffinity = 0
    with pytest.raises(RobotError, match=r'no collision geometry.*feet=\{"left": "<body>"\}.*left_foot'):
        load_robot(ghost)
    assert area(load_robot(ghost, feet={"left": "left_foot"}).feet[0].polygon) == pytest.approx(0.02)


def test_a_named_body_without_any_geometry_asks_for_points():
    spec = biped('<body name="@_tip" pos="0 0 -0.1"/>' + BOX)
    with pytest.raises(RobotError, match="give its contact points"):
        load_robot(spec, feet={"left": "left_tip"})
