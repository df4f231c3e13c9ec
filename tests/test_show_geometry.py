"""What is drawn has the shape and the place that MuJoCo gives it."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from footfall import load_robot
from footfall.show.frames import Mesh, body_meshes, box, capsule, cylinder, ellipsoid, merged, simplified

HALF = np.array([0.1, 0.2, 0.3])
# A round shape of 24 corners has (pi / 24)^2 / 1.5 = 1.1 % less area in each section, a sphere also between them.
SHAPES = {
    "box": (box(HALF), 8 * HALF.prod(), 1e-12),
    "sphere": (capsule(0.2, 0.0), 4 / 3 * math.pi * 0.2**3, 0.03),
    "capsule": (capsule(0.1, 0.3), math.pi * 0.1**2 * (0.6 + 4 / 3 * 0.1), 0.03),
    "ellipsoid": (ellipsoid(HALF), 4 / 3 * math.pi * HALF.prod(), 0.03),
    "cylinder": (cylinder(0.1, 0.3), math.pi * 0.1**2 * 0.6, 0.015),
}
CUBE = "-1 -1 -1  1 -1 -1  -1 1 -1  1 1 -1  -1 -1 1  1 -1 1  -1 1 1  1 1 1"
ALL_GEOMS = f"""
<mujoco>
  <asset>
    <mesh name="cube" vertex="{CUBE}" scale="0.1 0.2 0.3"/>
    <material name="red" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="one" pos="0 0 1"><freejoint/>
      <geom type="box" size="0.1 0.2 0.3" pos="1 0 0" euler="30 20 10"/>
      <geom type="sphere" size="0.2" pos="2 0 0" material="red"/>
      <geom type="capsule" size="0.1 0.3" pos="3 0 0" euler="30 20 10"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" pos="4 0 0" euler="30 20 10"/>
      <geom type="cylinder" size="0.1 0.3" pos="5 0 0" euler="30 20 10"/>
      <geom type="mesh" mesh="cube" pos="6 0 0" euler="30 20 10"/>
      <geom type="sphere" size="5" group="3"/>
      <geom type="sphere" size="5" rgba="1 1 1 0"/>
    </body>
  </worldbody>
</mujoco>"""


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.einsum("fi,fi->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_look_outwards(name):
    (vertices, normals, faces), expected, tolerance = SHAPES[name]
    # By the divergence theorem: right only if no face is missing and all are counter-clockwise from outside.
    assert volume(vertices, faces) == pytest.approx(expected, rel=tolerance)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    facing = np.einsum("fi,fi->f", np.cross(b - a, c - a), normals[faces].mean(axis=1))
    assert (facing > -1e-15).all()


def test_all_geoms_of_a_body_make_one_mesh_where_mujoco_has_them():
    model = mujoco.MjModel.from_xml_string(ALL_GEOMS)
    meshes = body_meshes(model)
    assert list(meshes) == [model.body("one").id]  # the plane is not drawn, the world has nothing else
    mesh = meshes[model.body("one").id]
    total = sum(expected for _, expected, _ in SHAPES.values()) + 8 * HALF.prod()
    assert volume(mesh.vertices, mesh.faces) == pytest.approx(total, rel=0.02)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for x in range(1, 7):  # the hidden ones are not drawn: nothing reaches further than its neighbour
        near = np.abs(mesh.vertices[:, 0] - x) < 0.5
        assert mesh.vertices[near].mean(axis=0) == pytest.approx([x, 0, 0], abs=0.02)
    assert np.abs(mesh.vertices[:, 1:]).max() < 0.5
    red = np.abs(mesh.vertices[:, 0] - 2) < 0.5
    assert (mesh.colors[red] == [255, 0, 0, 255]).all()


def test_a_model_that_only_has_collision_geoms_shows_them():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom size="0.1" group="3"/></body>'
        "</worldbody></mujoco>"
    )
    assert len(body_meshes(model)) == 1


def test_simplifying_keeps_the_shape_and_the_budget():
    vertices, normals, faces = capsule(0.2, 0.3)
    many = Mesh(vertices, normals, faces, np.zeros((len(vertices), 4), np.uint8))
    few = simplified(many, len(faces) // 2)
    assert len(few.faces) <= len(faces) // 2
    assert np.ptp(few.vertices, axis=0) == pytest.approx(np.ptp(vertices, axis=0), rel=0.15)
    assert simplified(many, len(faces)) is many
    inside_each_other = merged([many] * 60)  # as the parts of a machine that a drawing program left together
    assert 0 < len(simplified(inside_each_other, 200).faces) <= 200


def test_visual_meshes_are_drawn_in_the_colours_of_the_model_and_collision_shapes_are_not():
    model = mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <asset>
            <material name="paint" rgba="1 0 0 1"/>
            <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
          </asset>
          <worldbody>
            <body name="link"><freejoint/>
              <geom type="mesh" mesh="wedge" material="paint" group="2" contype="0" conaffinity="0"/>
              <geom size="0.1" material="paint" rgba="0 0 1 1" group="1" contype="0" conaffinity="0"/>
              <geom type="box" size="0.4 0.4 0.4" group="3"/>
            </body>
          </worldbody>
        </mujoco>
        """
    )
    (mesh,) = body_meshes(model).values()
    assert {tuple(color) for color in mesh.colors} == {(255, 0, 0, 255), (0, 0, 255, 255)}
    assert len(mesh.faces) == 4 + len(capsule(0.1, 0.0)[2])


def test_of_a_urdf_the_visual_shapes_are_drawn(tmp_path):
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    (tmp_path / "egg.urdf").write_text(
        f"""
        <robot name="egg"><link name="egg"><inertial><mass value="1"/>{inertia}</inertial>
          <visual><geometry><sphere radius="0.2"/></geometry>
            <material name="red"><color rgba="1 0 0 1"/></material></visual>
          <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
        </link></robot>
        """
    )
    (mesh,) = body_meshes(load_robot(tmp_path / "egg.urdf").model).values()
    assert np.linalg.norm(mesh.vertices, axis=1) == pytest.approx(0.2)  # a sphere, and no box in it
    assert (mesh.colors == [255, 0, 0, 255]).all()
