"""A robot as a value: what it says of itself, its contact points, equality, and the way to JSON and back."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest
from robot_models import HOPPER, lowest_contact

import footfall as ff
from footfall.errors import FootfallWarning, RobotError
from footfall.robot import Robot, load_robot, robots


def test_a_robot_is_a_value(hopper):
    assert hopper == load_robot(mujoco.MjSpec.from_string(HOPPER))
    assert hopper != load_robot("ball")
    assert "2 actuators, 1 contact point on feet: spring_leg (1)" in repr(hopper)
    assert len({hopper, load_robot(mujoco.MjSpec.from_string(HOPPER))}) == 1
    for array in (hopper.home, hopper.home_ctrl, hopper.point_position, hopper.feet[0].points):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_mass_counts_moving_bodies_only(hopper):
    assert hopper.mass == pytest.approx(5.0)
    assert hopper.weight == pytest.approx(5.0 * 9.81)


def test_degrees_of_freedom_have_names_a_reader_understands(hopper):
    names = [hopper.dof_name(i) for i in range(hopper.model.nv)]
    assert names == ["base x", "base y", "base z", "base roll", "base pitch", "base yaw", "hip", "knee"]


def test_with_points_keeps_the_robot_and_stands_it_on_the_new_points():
    robot = load_robot("brick")
    grid = robot.with_points((3, 2))
    assert (grid.point_count, robot.point_count) == (6, 4)
    assert grid == load_robot("brick", points=(3, 2))
    assert grid.with_points("vertices") == robot
    pin = robot.with_points({"brick": [[0, 0, -0.1]]})
    assert pin.home[2] == pytest.approx(0.1)
    assert lowest_contact(pin) == pytest.approx(0.0, abs=1e-12)


def test_point_arrays_list_the_feet_one_after_the_other():
    robot = load_robot("spatial-biped", points={"left": [[0, 0, -0.05]]})
    np.testing.assert_array_equal(robot.point_foot, [0, 1, 1, 1, 1])
    assert robot.point_body[0] == robot.model.body("left_foot").id
    assert robot.point_position.shape == (5, 3)


@pytest.mark.parametrize("name", robots())
def test_to_dict_and_back_through_json_gives_an_equal_robot(name):
    robot = load_robot(name)
    again = Robot.from_dict(json.loads(json.dumps(robot.to_dict())))
    assert again == robot
    assert hash(again) == hash(robot)
    np.testing.assert_array_equal(again.model.body_inertia, robot.model.body_inertia)
    np.testing.assert_array_equal(again.home_ctrl, robot.home_ctrl)
    assert again.parameters == robot.parameters


def test_a_robot_from_a_compiled_model_survives_to_dict_too():
    robot = load_robot(mujoco.MjModel.from_xml_string(HOPPER))
    assert robot.mjcf is None
    again = Robot.from_dict(json.loads(json.dumps(robot.to_dict())))
    assert again == robot
    assert again != load_robot(mujoco.MjModel.from_xml_string(HOPPER.replace('mass="3"', 'mass="4"')))


def test_a_description_that_is_none_is_refused():
    with pytest.raises(RobotError, match="not a description of a robot"):
        Robot.from_dict({"name": "x"})


def test_a_mocap_body_weighs_nothing_in_a_robot():
    ball = "<body name='{0}' {1} pos='0 0 1'>{2}<geom size='.1' mass='3'/></body>"
    bodies = ball.format("ball", "", "<freejoint/>") + ball.format("target", "mocap='true'", "")
    model = f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"
    for source in (mujoco.MjSpec.from_string(model), mujoco.MjModel.from_xml_string(model)):
        with pytest.warns(FootfallWarning, match=r"nothing touches .* fixed in the world \(a sphere\)"):
            robot = load_robot(source)
        assert robot.mass == 3.0 and [foot.body for foot in robot.feet] == ["ball"]
        assert not robot.model.geom_contype[robot.model.geom_bodyid == robot.model.body("target").id].any()


SCENERY = (
    "<body name='table' pos='0 3 5'><geom type='box' size='.5 .5 .5' mass='40' contype='0' conaffinity='0'/></body>"
)
BLOCK = """<mujoco><worldbody>{0}<body name='block' pos='0 0 .2'><freejoint/>
  <geom type='box' size='.1 .1 .2' mass='3'/></body></worldbody></mujoco>"""


def test_what_is_fixed_in_the_world_does_not_move_the_centre_of_mass():
    """A table beside a robot changes neither where a controller sees its mass nor what a law derives from it."""
    seen = {}

    def look(t, state):
        seen.setdefault(scenery, state.com.copy())
        return []

    settings, stiff = [], []
    for scenery in ("", SCENERY, SCENERY.replace("<body", "<body mocap='true'")):
        robot = load_robot(mujoco.MjSpec.from_string(BLOCK.format(scenery)))
        sim = ff.Simulation(robot, law="distributed")
        sim.run(0.002, controller=look)
        settings.append((sim.setting.height, sim.setting.carriers, sim.setting.tipping))
        stiff.append(sim.law.resolve(sim.setting).kn)
    for com in seen.values():
        np.testing.assert_allclose(com, [0.0, 0.0, 0.2], atol=1e-12)
    np.testing.assert_allclose(settings[1:], settings[:1] * 2, rtol=1e-12)
    np.testing.assert_allclose(stiff, stiff[0], rtol=1e-12)


TIED = """
<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint/><geom size="0.1"/>
  {legs}
</body></worldbody>
<tendon><fixed name="both"><joint joint="c" coef="2"/><joint joint="d" coef="-1"/></fixed>
  <fixed name="three"><joint joint="a" coef="1"/><joint joint="b" coef="1"/><joint joint="c" coef="1"/></fixed></tendon>
<equality>
  <joint joint1="b" joint2="a" polycoef="0.1 -0.5 0 0 0"/>
  <joint joint1="e" polycoef="0.2 0 0 0 0"/>
  <tendon tendon1="both" polycoef="0.3 0 0 0 0"/>
  <joint name="curved" joint1="d" joint2="e" polycoef="0 1 0.2 0 0"/>
  <tendon name="many" tendon1="three"/>
  <connect name="loop" body1="a" body2="b" anchor="0 0 0"/>
  <joint joint1="a" joint2="e" active="false"/>
</equality></mujoco>
"""


def test_linear_equalities_of_one_or_two_joints_are_ties_and_the_others_are_told_of():
    legs = "".join(
        f'<body name="{name}" pos="{0.3 * k} 0 0"><joint name="{name}" axis="0 1 0" ref="{ref}"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/></body>'
        for k, (name, ref) in enumerate({"a": 10, "b": 0, "c": 0, "d": 0, "e": 0}.items())
    )
    robot = load_robot(mujoco.MjSpec.from_string(TIED.format(legs=legs)))
    assert [(tie.dof, tie.leader) for tie in robot.ties] == [(7, 6), (10, -1), (8, 9)]
    # The equality holds for the state that MuJoCo's constraint leaves.
    data = mujoco.MjData(robot.model)
    for tie in robot.ties:
        for leader in (-0.3, 0.4):
            data.qpos[:] = robot.model.qpos0
            if tie.leader >= 0:
                data.qpos[tie.leader + 1] = leader
            data.qpos[tie.dof + 1] = tie.offset + tie.ratio * leader
            mujoco.mj_fwdPosition(robot.model, data)
            own = list(robot.ties).index(tie)
            assert abs(data.efc_pos[data.efc_id == own][0]) < 1e-12
    assert robot.tie_name(robot.ties[0]).startswith("b = -0.5 * a + ")
    told = " ".join(robot.other_equalities)
    assert "'curved' (joint) is not linear" in told and "'many' ties 3 joints" in told
    assert "'loop' (connect) is no tie of joints" in told
    assert load_robot("brick").ties == ()


def test_variations_of_a_robot_without_xml_are_told_apart_by_their_hash():
    robot = ff.load_robot(ff.load_robot("brick").model)
    heavier = ff.load_robot(ff.load_robot("brick").model)
    heavier.model.body_mass[:] *= 1.1
    assert robot == ff.load_robot(ff.load_robot("brick").model)
    assert robot != heavier and hash(robot) != hash(heavier)
