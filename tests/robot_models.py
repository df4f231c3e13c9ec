"""Robots the tests of several files load, and what they measure on them."""

from __future__ import annotations

import struct

import mujoco
import numpy as np

from footfall.robot import Robot, load_robot
from footfall.standing import at_home, point_positions

HOPPER = """
<mujoco model="hopper">
  <asset><texture name="grid" type="2d" builtin="checker" width="8" height="8"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="steps" pos="2 0 0"><geom name="step" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="sphere" size="0.1" mass="3"/>
      <body name="leg" pos="0 0 -0.1">
        <joint name="hip" axis="0 1 0" range="-60 60" armature="0.02" damping="0.3"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/>
        <body name="spring_leg" pos="0 0 -0.3">
          <joint name="knee" axis="0 1 0" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position name="hip" joint="hip" kp="100"/><motor name="knee" joint="knee"/></actuator>
  <equality><joint joint1="hip" joint2="knee"/></equality>
  <contact><pair geom1="floor" geom2="step"/></contact>
  <keyframe><key name="lie"/><key name="stand" qpos="0 0 3 1 0 0 0 0.1 -0.1"/></keyframe>
</mujoco>
"""


def stl(triangles: list) -> bytes:
    """A binary STL of triangles, each of three corners (3,)."""
    faces = [struct.pack("<12fH", 0, 0, 0, *np.concatenate(triangle), 0) for triangle in triangles]
    return b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(faces)


def tetrahedron_stl(size: float) -> bytes:
    """A binary STL of a tetrahedron that stands on a right triangle with legs ``size``."""
    a, b, c, d = np.array([[0, 0, 0], [size, 0, 0], [0, size, 0], [0, 0, size]])
    return stl([(a, c, b), (a, b, d), (a, d, c), (b, c, d)])


URDF = """
<robot name="two_legs">
  <link name="pelvis">
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  {legs}
</robot>
"""


LEG = """
  <link name="{side}_foot_link">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://two_legs/meshes/{mesh}"/></geometry></visual>
    <collision><geometry><mesh filename="package://two_legs/meshes/{mesh}"/></geometry></collision>
  </link>
  <joint name="{side}_hip" type="revolute">
    <parent link="pelvis"/><child link="{side}_foot_link"/><origin xyz="0 {y} -0.5"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="40" velocity="5"/>
  </joint>
"""


def write_urdf(folder, mesh: str = "foot.stl", extra: str = "") -> str:
    """A URDF with two mesh feet, in the folders ROS uses; returns its path."""
    (folder / "two_legs" / "meshes").mkdir(parents=True)
    (folder / "two_legs" / "urdf").mkdir()
    (folder / "two_legs" / "meshes" / "foot.stl").write_bytes(tetrahedron_stl(0.2))
    legs = "".join(LEG.format(side=s, y=y, mesh=mesh) for s, y in (("left", 0.2), ("right", -0.2)))
    path = folder / "two_legs" / "urdf" / "robot.urdf"
    path.write_text(URDF.format(legs=legs + extra))
    return str(path)


def biped(foot: str, *, trunk: str = '<geom type="box" size="0.1 0.2 0.2" pos="0 0 0.3"/>', ankle: str = "0 0 0"):
    """A robot of a trunk and two legs that end in the given geoms (and bodies)."""
    legs = "".join(
        f'<body name="{side}_shank" pos="0 {y} 0"><joint axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02"/>'
        f'<body name="{side}_foot" pos="0 0 -0.45" euler="{ankle}"><joint axis="0 1 0"/>'
        f"{foot.replace('@', side)}</body></body>"
        for side, y in (("left", 0.1), ("right", -0.1))
    )
    xml = f"<mujoco><worldbody><body name='trunk'><freejoint/>{trunk}{legs}</body></worldbody></mujoco>"
    return mujoco.MjSpec.from_string(xml)


BOX = '<geom name="@_sole" type="box" size="0.1 0.05 0.02" pos="0.03 0 -0.03"/>'


def area(polygon: np.ndarray) -> float:
    """Signed area seen from above, m2: positive if counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def posed(robot: Robot, pose: np.ndarray) -> mujoco.MjData:
    """MuJoCo's data of a robot in a pose (nq,), at rest."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = pose
    mujoco.mj_forward(robot.model, data)
    return data


def lowest_contact(robot: Robot) -> float:
    """Height of the lowest contact point in the home pose, m."""
    return float(np.min(point_positions(robot, at_home(robot))[:, 2] - robot.point_radius))


def three_legged_stool() -> Robot:
    """A body on a ring of six round points, every other one 0.2 mm lower: its sole is not flat."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="foot", pos=[0, 0, 0.1])
    body.add_freejoint()
    body.mass, body.inertia, body.ipos, body.explicitinertial = 5.0, [0.02] * 3, [0, 0, 0], True
    for k in range(6):
        x, y = 0.1 * np.cos(k * np.pi / 3), 0.1 * np.sin(k * np.pi / 3)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.005, 0, 0], pos=[x, y, 2e-4 * (k % 2) - 0.05])
    return load_robot(spec, name="stool")
