"""Loading: what a robot keeps of its model, where it stands, and what it says when it cannot be loaded."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from robot_models import HOPPER, lowest_contact

from footfall.errors import RobotError
from footfall.robot import load_robot


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


def test_the_scene_stays_in_the_model_but_no_longer_collides(hopper):
    assert hopper.model.geom("floor").contype[0] == hopper.model.geom("floor").conaffinity[0] == 0
    assert hopper.model.geom("step").contype[0] == 0
    assert hopper.model.npair == 0
    assert [foot.body for foot in hopper.feet] == ["spring_leg"]


def test_the_scene_of_a_compiled_model_is_silenced_on_a_copy():
    model = mujoco.MjModel.from_xml_string(HOPPER)
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
    with pytest.raises(RobotError, match="'mass' is no option"):
        load_robot(tmp_path / "hopper.xml", mass=3)
