"""Robots from MJCF and URDF files: their meshes are found, travel along, and are named when missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from robot_models import lowest_contact, tetrahedron_stl, write_urdf

from footfall.errors import FootfallWarning, RobotError
from footfall.robot import Robot, load_robot


def test_a_urdf_with_meshes_floats_and_gets_motors_and_finds_its_feet(tmp_path):
    robot = load_robot(write_urdf(tmp_path))
    assert (robot.model.nv, robot.model.nu) == (8, 2)
    assert robot.dof_name(0) == "base x"
    assert robot.actuated == ("left_hip", "right_hip")
    np.testing.assert_allclose(robot.model.actuator_ctrlrange, [[-40, 40]] * 2)
    assert {foot.name: foot.body for foot in robot.feet} == {
        "left": "left_foot_link",
        "right": "right_foot_link",
    }
    corners = np.sort(robot.feet[0].polygon, axis=0)
    np.testing.assert_allclose(corners, np.sort([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0]], axis=0), atol=1e-6)
    assert lowest_contact(robot) == pytest.approx(0.0, abs=1e-12)
    assert robot.mass == pytest.approx(7.0)


def test_a_urdf_with_meshes_survives_to_dict_when_its_files_are_gone(tmp_path):
    path = write_urdf(tmp_path)
    robot = load_robot(path)
    assert set(robot.assets) == {"foot.stl"}
    description = json.dumps(robot.to_dict())
    (tmp_path / "two_legs" / "meshes" / "foot.stl").unlink()
    again = Robot.from_dict(json.loads(description))
    assert again == robot
    np.testing.assert_array_equal(again.model.mesh_vert, robot.model.mesh_vert)


def test_a_urdf_link_called_world_keeps_the_robot_fixed(tmp_path):
    fixed = '<joint name="fix" type="fixed"><parent link="world"/><child link="pelvis"/></joint>'
    robot = load_robot(write_urdf(tmp_path, extra='<link name="world"/>' + fixed))
    assert robot.model.nv == 2


def test_an_unreadable_visual_mesh_of_a_urdf_is_left_out_with_a_warning(tmp_path):
    path = Path(write_urdf(tmp_path))
    path.write_text(path.read_text().replace("foot.stl", "foot.dae", 1))
    with pytest.warns(FootfallWarning, match=r"foot\.dae"):
        robot = load_robot(path)
    assert len(robot.feet) == 2


def test_meshes_of_an_mjcf_with_includes_and_meshdir_travel_with_the_robot(tmp_path):
    (tmp_path / "assets" / "left").mkdir(parents=True)
    (tmp_path / "assets" / "left" / "foot.stl").write_bytes(tetrahedron_stl(0.1))
    (tmp_path / "assets" / "foot.stl").write_bytes(tetrahedron_stl(0.2))
    (tmp_path / "assets.xml").write_text(
        '<mujoco><asset><mesh name="small" file="left/foot.stl"/><mesh file="foot.stl"/></asset></mujoco>'
    )
    (tmp_path / "robot.xml").write_text("""
        <mujoco><compiler meshdir="assets"/><include file="assets.xml"/><worldbody>
          <body name="trunk"><freejoint/><geom type="box" size="0.1 0.1 0.1" pos="0 0 1"/>
            <body name="left_foot" pos="0 0.2 0"><joint/><geom type="mesh" mesh="small"/></body>
            <body name="right_foot" pos="0 -0.2 0"><joint/><geom type="mesh" mesh="foot"/></body>
          </body></worldbody></mujoco>""")
    robot = load_robot(tmp_path / "robot.xml")
    assert len(robot.assets) == 2
    sizes = {foot.name: np.ptp(foot.polygon[:, 0]) for foot in robot.feet}
    assert sizes == pytest.approx({"left": 0.1, "right": 0.2}, abs=1e-6)
    assert Robot.from_dict(robot.to_dict()) == robot


def test_meshes_of_an_attached_model_are_found_in_its_own_folder(tmp_path):
    (tmp_path / "leg" / "meshes").mkdir(parents=True)
    (tmp_path / "leg" / "meshes" / "f.stl").write_bytes(tetrahedron_stl(0.1))
    (tmp_path / "leg" / "leg.xml").write_text("""
        <mujoco><compiler meshdir="meshes"/><asset><mesh name="f" file="f.stl"/></asset><worldbody>
          <body name="foot"><joint name="knee"/><geom type="mesh" mesh="f"/></body></worldbody></mujoco>""")
    (tmp_path / "robot.xml").write_text("""
        <mujoco><asset><model name="leg" file="leg/leg.xml"/></asset><worldbody>
          <body name="trunk"><freejoint/><geom size="0.1" pos="0 0 1"/>
            <frame pos="0 0.2 0"><attach model="leg" body="foot" prefix="left_"/></frame>
            <frame pos="0 -0.2 0"><attach model="leg" body="foot" prefix="right_"/></frame>
          </body></worldbody></mujoco>""")
    robot = load_robot(tmp_path / "robot.xml")
    assert [foot.body for foot in robot.feet] == ["left_foot", "right_foot"]
    assert set(robot.assets) == {"f.stl"}
    assert Robot.from_dict(robot.to_dict()) == robot


def test_a_urdf_link_without_inertial_weighs_nothing(tmp_path):
    sole = '<link name="sole"><collision><geometry><box size="1 1 1"/></geometry></collision></link>'
    fixed = '<joint name="glue" type="fixed"><parent link="left_foot_link"/><child link="sole"/></joint>'
    assert load_robot(write_urdf(tmp_path, extra=sole + fixed)).mass == pytest.approx(7.0)


def test_a_urdf_link_that_moves_without_mass_is_refused(tmp_path):
    hip = '<joint name="j" type="continuous"><parent link="pelvis"/><child link="ghost"/></joint>'
    with pytest.raises(RobotError, match=r"mass and inertia.*ghost"):
        load_robot(write_urdf(tmp_path, extra='<link name="ghost"/>' + hip))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<mujoco><worldbody>", "MuJoCo cannot read"),
        ("a.xml", "<mujoco><nonsense/></mujoco>", "nonsense"),
        ("a.xml", '<mujoco><worldbody><body name="x"><freejoint/></body></worldbody></mujoco>', "mass"),
        ("a.urdf", "<robot><link", "not well-formed"),
        ("a.urdf", "<sdf/>", "no URDF"),
        ("a.urdf", "<robot name='a'><joint name='j' type='revolute'/></robot>", "MuJoCo cannot read"),
    ],
)
def test_a_malformed_file_is_reported_in_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(RobotError, match=message) as caught:
        load_robot(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_missing_mesh_is_named(tmp_path):
    with pytest.raises(RobotError, match=r"other\.stl.*left_foot_link"):
        load_robot(write_urdf(tmp_path, mesh="other.stl"))
    (tmp_path / "a.xml").write_text(
        '<mujoco><asset><mesh name="m" file="gone.stl"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    with pytest.raises(RobotError, match=r"gone\.stl"):
        load_robot(tmp_path / "a.xml")
