"""Robots from MJCF and URDF files: their meshes are found, travel along, and are named when missing."""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_models import HOPPER, lowest_contact, tetrahedron_stl, write_urdf
from shared_files import shared_file

from footfall.errors import FootfallWarning, RobotError
from footfall.robot import Robot, load_robot

#: Fixes link 'mark' to the pelvis of a URDF.
MARK = "<joint name='mark' type='fixed'><parent link='pelvis'/><child link='mark'/></joint>"


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


def test_a_urdf_is_one_by_what_is_in_it_and_a_template_is_none(tmp_path):
    """Some are called .xml: MuJoCo alone would hold them in the world, without motors."""
    path = Path(write_urdf(tmp_path))
    called = path.with_name("called.xml")
    called.write_text(path.read_text())
    assert load_robot(called).model.nv == load_robot(path).model.nv == 8 and load_robot(called).model.nu == 2
    called.write_text(path.read_text().replace('mass value="5"', 'mass value="${weight / 2}"'))
    with pytest.raises(RobotError, match=r"is a template: expand it first, as in xacro called.xml > robot.urdf"):
        load_robot(called)
    macro = '<xacro:property xmlns:xacro="http://ros.org/wiki/xacro" name="weight" value="5"/></robot>'
    called.write_text(path.read_text().replace("</robot>", macro))
    with pytest.raises(RobotError, match="is a template"):
        load_robot(called)


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
    with pytest.warns(FootfallWarning, match="body 'pelvis', which robot 'two_legs' hangs on, is held in the world"):
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
    sole = '<link name="sole"><collision><geometry><box size=".1 .1 .1"/></geometry></collision></link>'
    fixed = '<joint name="glue" type="fixed"><parent link="left_foot_link"/><child link="sole"/></joint>'
    with pytest.warns(FootfallWarning, match="150.0 mm to the right of its soles"):  # it now stands on the left foot
        assert load_robot(write_urdf(tmp_path, extra=sole + fixed)).mass == pytest.approx(7.0)


def test_a_urdf_link_that_moves_without_mass_gets_a_gram_with_a_warning(tmp_path):
    hip = '<joint name="j" type="continuous"><parent link="pelvis"/><child link="ghost"/></joint>'
    with pytest.warns(FootfallWarning, match=r"1 g given to 1 link \(ghost\)"):
        robot = load_robot(write_urdf(tmp_path, extra='<link name="ghost"/>' + hip))
    assert robot.mass == pytest.approx(7.001)


def test_fingers_without_mass_and_motor_are_held_and_what_carries_mass_is_not(tmp_path):
    """One gram on them would diverge on the springs of contacts that carry the robot."""

    def joint(name, parent, child, effort, more=""):
        limit = f'<limit effort="{effort}" lower="0" upper="1" velocity="0"/>'
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        return (
            f'<link name="{child}"/><joint name="{name}" type="revolute"><axis xyz="0 1 0"/>{ends}{limit}{more}</joint>'
        )

    hand = joint("grip", "pelvis", "palm", 0) + joint("bend", "palm", "tip", 0, '<mimic joint="grip"/>')
    with pytest.warns(FootfallWarning, match=r"2 joints \(grip, bend\) held .*; 1 g given to 1 link \(eye\)"):
        robot = load_robot(write_urdf(tmp_path, extra=hand + joint("look", "pelvis", "eye", 1)))
    assert "look" in robot.joint_names and not {"grip", "bend"} & set(robot.joint_names)
    assert robot.mass == pytest.approx(7.001)


def test_a_urdf_without_any_mass_is_refused(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot name="a"><link name="b"/></robot>')
    with pytest.raises(RobotError, match=r"no link of .* has a mass"):
        load_robot(tmp_path / "a.urdf")


BROKEN = {
    "negative moment": ("0.01", "0.01", "0.01", "0.02"),
    "triangle inequality": ("0.01", "0.01", "0.05", "0"),
    "none at all": ("0", "0", "0", "0"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_inertia_that_no_body_can_have_is_mended_with_a_warning(tmp_path, case):
    xx, yy, zz, xy = BROKEN[case]
    link = (
        f'<link name="odd"><inertial><mass value="0.5"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="0" '
        'iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="pelvis"/><child link="odd"/></joint>'
    )
    with pytest.warns(FootfallWarning, match=r"repaired 1 inertia \(odd\)"):
        robot = load_robot(write_urdf(tmp_path, extra=link))
    moments = np.sort(robot.model.body("odd").inertia)
    assert robot.mass == pytest.approx(7.5)
    assert moments[0] > 0 and moments[0] + moments[1] >= moments[2]
    assert case != "triangle inequality" or moments == pytest.approx([0.01, 0.01, 0.02])  # but for the largest as given


def test_a_massless_root_that_carries_a_floating_joint_is_the_world(tmp_path):
    joint = '<joint name="float" type="floating"><parent link="ground"/><child link="pelvis"/></joint>'
    robot = load_robot(write_urdf(tmp_path, extra='<link name="ground"/>' + joint))
    assert (robot.model.nv, robot.mass) == (8, pytest.approx(7.0))


def test_a_dae_or_ascii_stl_collision_mesh_is_read_in_metres(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    path = Path(write_urdf(tmp_path))
    stl = tmp_path / "two_legs" / "meshes" / "foot.stl"
    corner = trimesh.load_mesh(stl)
    same = load_robot(path).feet
    stl.write_text(corner.export(file_type="stl_ascii"))
    ascii_feet = load_robot(path).feet
    millimetres = corner.copy()
    millimetres.apply_scale(1000.0)
    text = millimetres.export(file_type="dae").decode()
    assert 'meter="1' in text or "<unit" not in text
    unit = '<unit name="millimeter" meter="0.001"/>'
    text = re.sub(r"<unit[^>]*/>", unit, text) if "<unit" in text else text.replace("<asset>", f"<asset>{unit}", 1)
    stl.with_suffix(".dae").write_text(text)
    path.write_text(path.read_text().replace("foot.stl", "foot.dae"))
    with pytest.warns(FootfallWarning, match=r"foot\.dae"):  # the visual one
        dae_feet = load_robot(path).feet
    for feet in (ascii_feet, dae_feet):
        for foot, known in zip(feet, same, strict=True):
            np.testing.assert_allclose(foot.points, known.points, atol=1e-6)


def test_a_missing_mesh_is_never_replaced_by_a_file_of_the_same_name_elsewhere(tmp_path):
    (tmp_path / "assets" / "simple").mkdir(parents=True)
    (tmp_path / "assets" / "simple" / "body.stl").write_bytes(tetrahedron_stl(0.1))
    xml = """
        <mujoco model="op"><compiler meshdir="assets"/><asset>
          <mesh name="shown" file="body.stl"/><mesh name="solid" file="simple/body.stl"/>
          <mesh name="gone" file="other.stl"/></asset><worldbody>
          <body name="trunk"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
            <geom type="mesh" mesh="shown" contype="0" conaffinity="0"/><geom type="mesh" mesh="solid"/>
            <geom name="skin" type="mesh" mesh="gone" contype="{bits}" conaffinity="{bits}"/>
          </body></worldbody></mujoco>"""
    (tmp_path / "robot.xml").write_text(xml.format(bits=0))
    with pytest.warns(FootfallWarning, match=r"2 files missing .* pictures: body\.stl, other\.stl") as told:
        robot = load_robot(tmp_path / "robot.xml")
    assert len(told) == 1
    assert (robot.model.ngeom, len(robot.assets)) == (1, 1)
    (tmp_path / "robot.xml").write_text(xml.format(bits=1))
    with pytest.raises(RobotError, match=r"other\.stl.*geom 'skin' of body 'trunk' needs it"):
        load_robot(tmp_path / "robot.xml")


def test_a_mesh_of_another_package_is_not_looked_for_in_the_own_one(tmp_path):
    path = Path(write_urdf(tmp_path))
    path.write_text(path.read_text().replace("package://two_legs/", "package://other/", 1))
    with pytest.warns(FootfallWarning, match="1 visual mesh"):  # the first one named
        load_robot(path)


def test_a_robot_from_a_scene_has_its_models_name(tmp_path):
    (tmp_path / "hopper.xml").write_text(HOPPER)
    for model, name in (("", "hopper"), ('model="g1 scene"', "g1"), ('model="walker"', "walker")):
        (tmp_path / "scene_flat.xml").write_text(f'<mujoco {model}><include file="hopper.xml"/></mujoco>')
        assert load_robot(tmp_path / "scene_flat.xml").name == name


FOUND = {  # robot: number of feet, points of each
    "unitree_g1/g1.xml": (2, 4),
    "unitree_go1/go1.xml": (4, 1),
    "pal_talos/talos_motor.xml": (2, 4),
    "robotis_op3/op3.xml": (2, 8),
    "agility_cassie/cassie.xml": (2, 2),
}


@pytest.mark.filterwarnings("ignore:the standing pose of robot 'talos_motor'")  # two of its joints begin outside
@pytest.mark.parametrize("file", FOUND)
def test_the_feet_of_real_robots_are_found_and_mirrored(file):
    robot = load_robot(shared_file(f"robots/{file}"))
    feet, points = FOUND[file]
    assert [len(foot.points) for foot in robot.feet] == [points] * feet
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(robot.model, data)
    at = np.vstack([f.points @ data.body(f.body).xmat.reshape(3, 3).T + data.body(f.body).xpos for f in robot.feet])
    mirrored = at * [1, -1, 1]
    # The home poses of Go1 and Cassie are given to four digits.
    assert max(np.min(np.linalg.norm(at - one, axis=1)) for one in mirrored) < 2e-3


@pytest.mark.slow
def test_the_robots_of_example_robot_data_load_or_the_file_is_said_to_lack_something():
    """23 folders of robots that no one here wrote; five files have no collision geometry or no mass at all."""
    files = []
    for place in map(Path, sys.path):
        files += place.glob("cmeel.prefix/share/example-robot-data/robots/*/*/*.urdf")
    if not files:
        pytest.skip("needs the package example-robot-data, which is not installed")
    lacking = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FootfallWarning)
        for file in files:
            try:
                load_robot(file)
            except RobotError as error:
                lacking[file.name] = str(error)
    assert len(lacking) <= 0.1 * len(files)
    for message in lacking.values():
        assert "no collision geometry" in message or "has a mass" in message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<mujoco><worldbody>", "not well-formed XML"),
        ("a.xml", "<mujoco><nonsense/></mujoco>", "nonsense"),
        ("a.xml", '<mujoco><worldbody><body name="x"><freejoint/></body></worldbody></mujoco>', "mass"),
        (
            "a.xml",
            "<mujocoinclude><body/></mujocoinclude>",
            "at most a part of one: its root element is <mujocoinclude>",
        ),
        ("a.urdf.xacro", "<robot/>", "expand it first, as in xacro a.urdf.xacro > robot.urdf"),
        ("a.urdf", "<robot><link", "not well-formed"),
        (
            "a.urdf",
            "<robot><link name='a'/><joint name='j'><parent link='b'/></joint></robot>",
            "link 'b', which the file",
        ),
        (
            "a.urdf",
            "<robot><link name='a'><inertial><mass value='1'/></inertial><collision><geometry><cone/></geometry>"
            "</collision></link></robot>",
            "shape of link 'a' in .* is <cone>: known are box",
        ),
        ("a.urdf", "<sdf/>", "is not a URDF"),
        ("a.urdf", "<robot name='a'><joint name='j' type='revolute'/></robot>", "no link"),
        ("a.urdf", "<robot><link name='b'><inertial><mass value='x'/></inertial></link></robot>", "of link 'b'"),
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


def test_a_robot_in_a_file_called_model_or_robot_has_its_models_name(tmp_path):
    assert load_robot(write_urdf(tmp_path)).name == "two_legs"  # of robot.urdf


def test_shapes_of_a_urdf_that_have_no_size_are_left_out_with_a_warning(tmp_path):
    nothing = "<visual><geometry><sphere radius='0.0'/></geometry></visual>"
    nothing += "<collision><geometry><box size='0 0 0'/></geometry></collision>"
    path = Path(write_urdf(tmp_path, extra=f"<link name='mark'>{nothing}</link>" + MARK))
    with pytest.warns(FootfallWarning, match=r"1 link \(mark\) without shapes whose size is 0"):
        robot = load_robot(path)
    assert robot.model.ngeom == load_robot(write_urdf(tmp_path / "plain")).model.ngeom


def test_terrain_and_scenery_may_be_missing_but_what_touches_may_not(tmp_path):
    path = tmp_path / "hopper.xml"
    assets = "<asset><hfield name='hills' file='hills.png' size='1 1 1 1'/><mesh name='goal' file='goal.stl'/>"
    terrain = "<worldbody><geom name='hills' type='hfield' hfield='hills'/><geom type='mesh' mesh='goal'/>"
    sensor = "<sensor><contact name='felt' geom1='hills' body2='trunk'/></sensor></mujoco>"
    scene = HOPPER.replace("<asset>", assets, 1).replace("<worldbody>", terrain, 1).replace("</mujoco>", sensor)
    path.write_text(scene)
    with (
        pytest.warns(FootfallWarning, match=r"2 files missing that only show in pictures: goal.stl, hills.png"),
        pytest.warns(FootfallWarning, match=r"nothing touches .* fixed in the world \(hills, a mesh\)"),
    ):
        robot = load_robot(path)
    assert [foot.body for foot in robot.feet] == ["spring_leg"]
    path.write_text(scene.replace("<freejoint", "<geom type='mesh' mesh='goal'/><freejoint"))
    with pytest.raises(RobotError, match=r"asset 'goal' of robot 'hopper'.*body 'trunk' needs it"):
        load_robot(path)


def test_a_pair_with_a_floor_that_only_the_scene_has_is_one_with_the_ground(tmp_path):
    path = tmp_path / "walker.xml"
    body = "<body name='shank'><freejoint/><geom name='sole' size='.1' contype='0' conaffinity='0'/></body>"
    path.write_text(
        f"<mujoco><worldbody>{body}</worldbody><contact><pair geom1='lawn' geom2='sole'/></contact></mujoco>"
    )
    with pytest.warns(
        FootfallWarning, match="robot 'walker': a <pair> names lawn, no geom of it: taken for the ground"
    ):
        robot = load_robot(path)
    assert [foot.body for foot in robot.feet] == ["shank"]


def test_bodies_of_a_urdf_that_overlap_where_it_stands_no_longer_collide(tmp_path):
    """A URDF cannot name pairs that shall not collide; MuJoCo leaves out parents and children alone."""
    motor = (
        '<link name="motor"><inertial><mass value="0.5"/>'
        '<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><origin xyz="0 -0.2 0.6"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>'
        '<joint name="toe" type="revolute"><parent link="left_foot_link"/><child link="motor"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="5"/></joint>'
    )
    with pytest.warns(FootfallWarning, match="two bodies overlap where it stands.*: pelvis and motor by"):
        robot = load_robot(write_urdf(tmp_path, extra=motor))
    assert [tuple(sorted((robot.model.body(s >> 16).name, robot.model.body(s & 0xFFFF).name)))
            for s in robot.model.exclude_signature] == [("motor", "pelvis")]  # fmt: skip
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(robot.model, data)
    assert data.ncon == 0
    assert robot == robot.from_dict(robot.to_dict())


def test_neighbours_in_a_leg_of_a_urdf_that_meet_as_it_bends_no_longer_collide(tmp_path):
    """Hulls are coarser than bodies: a bent leg would be pressed off the pelvis. One leg still meets the other."""
    inertial = '<inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
    box = '<collision><origin xyz="0 0 {}"/><geometry><box size="{}"/></geometry></collision>'
    joint = (
        '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><origin xyz="0 {} 0"/><axis xyz="{}"/>'
    )
    limit = '<limit lower="-1" upper="1" effort="40" velocity="5"/></joint>'
    legs = "".join(
        f'<link name="{side}_hip">{inertial}</link>'
        f'<link name="{side}_leg">{inertial}{box.format(-0.4, "0.1 0.1 0.8")}</link>'
        + joint.format(f"{side}_roll", "pelvis", f"{side}_hip", y, "1 0 0") + limit
        + joint.format(f"{side}_pitch", f"{side}_hip", f"{side}_leg", 0, "0 1 0") + limit
        for side, y in (("left", 0.1), ("right", -0.1))
    )  # fmt: skip
    pelvis = f'<link name="pelvis">{inertial}{box.format(0.06, "0.2 0.4 0.1")}</link>'
    path = tmp_path / "bends.urdf"
    path.write_text(f'<robot name="bends">{pelvis}{legs}</robot>')
    with pytest.warns(
        FootfallWarning, match="2 pairs of bodies overlap where it stands, or bends its legs, and no lon"
    ):
        model = load_robot(path).model
    pairs = {tuple(sorted((model.body(s >> 16).name, model.body(s & 0xFFFF).name))) for s in model.exclude_signature}
    assert pairs == {("left_leg", "pelvis"), ("pelvis", "right_leg")}


def test_bodies_of_a_urdf_that_do_not_overlap_still_collide(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FootfallWarning)
        assert load_robot(write_urdf(tmp_path)).model.nexclude == 0


@pytest.mark.parametrize(("mass", "moment"), [(1e-3, 1e-15), (1e-6, 1e-15), (2.0, 1e-12), (1.0, 0.0)])
def test_an_inertia_that_is_too_small_for_any_part_is_made_one_that_mujoco_takes(tmp_path, mass, moment):
    leg = f"""<link name="tip"><inertial><mass value="{mass}"/>
      <inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="tip" type="continuous"><parent link="pelvis"/><child link="tip"/><axis xyz="1 0 0"/></joint>"""
    with pytest.warns(FootfallWarning, match=r"repaired 1 inertia \(tip\)"):
        robot = load_robot(write_urdf(tmp_path, extra=leg))
    assert robot.model.body("tip").inertia == pytest.approx(max(1e-6 * mass, 1e-12))


def lying_dae(axis: str) -> str:
    """The tetrahedron of ``write_urdf`` as a Collada file whose up axis is ``axis``."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    import io

    corner = trimesh.load_mesh(io.BytesIO(tetrahedron_stl(0.2)), file_type="stl")
    x, y, z = corner.vertices.T
    corner.vertices = np.column_stack({"Y_UP": [x, z, -y], "X_UP": [z, -x, -y], "Z_UP": [x, y, z]}[axis])
    text = corner.export(file_type="dae").decode()
    return re.sub(r"<up_axis>.*?</up_axis>", "", text).replace("<asset>", f"<asset><up_axis>{axis}</up_axis>", 1)


COM = '<inertial><origin xyz="{}"/><mass value="1"/>'


@pytest.mark.parametrize("axis", ["X_UP", "Y_UP", "Z_UP"])
def test_the_up_axis_of_a_collada_file_is_z(tmp_path, axis):
    path = Path(write_urdf(tmp_path))
    path.write_text(path.read_text().replace('<inertial><mass value="1"/>', COM.format("0.05 0.05 0.05")))
    same = load_robot(path).feet
    (tmp_path / "two_legs" / "meshes" / "foot.dae").write_text(lying_dae(axis))
    path.write_text(path.read_text().replace("foot.stl", "foot.dae"))
    told = "left out" if axis == "Z_UP" else "1 Collada mesh .foot.dae. turned so that their up axis is z"
    with pytest.warns(FootfallWarning, match=told):
        feet = load_robot(path).feet
    for foot, known in zip(feet, same, strict=True):
        np.testing.assert_allclose(np.sort(foot.points, axis=0), np.sort(known.points, axis=0), atol=1e-6)


def test_a_collada_file_that_was_made_for_readers_without_up_axes_is_left_as_it_is(tmp_path):
    """RViz ignores the up axis, and many files were made to look right there: centres of mass tell which."""
    path = Path(write_urdf(tmp_path))
    same = load_robot(path).feet
    dae = lying_dae("Z_UP").replace("Z_UP", "Y_UP")
    (tmp_path / "two_legs" / "meshes" / "foot.dae").write_text(dae)
    inertial = '<inertial><mass value="1"/>'
    path.write_text(path.read_text().replace("foot.stl", "foot.dae").replace(inertial, COM.format("0.05 0.05 0.05")))
    with pytest.warns(FootfallWarning, match="left as they are, whatever their up axis"):
        feet = load_robot(path).feet
    for foot, known in zip(feet, same, strict=True):
        np.testing.assert_allclose(foot.points, known.points, atol=1e-6)


def test_bodies_of_a_model_that_overlap_where_it_stands_are_told_of(tmp_path):
    legs = "".join(
        f'<body name="{side}" pos="0 {y} 0"><joint axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body>'
        for side, y in (("left", 0.03), ("right", -0.03))
    )
    path = tmp_path / "close.xml"
    trunk = '<geom type="box" size="0.1 0.1 0.05" pos="0 0 0.3"/>'
    path.write_text(f"<mujoco><worldbody><body name='trunk'><freejoint/>{trunk}{legs}</body></worldbody></mujoco>")
    with pytest.warns(
        FootfallWarning, match="two bodies overlap where it stands, and MuJoCo pushes them apart.*by 40 mm"
    ):
        load_robot(path)


def test_more_overlaps_than_mujoco_has_memory_for_are_refused():
    legs = "".join(
        f'<body pos="{1e-4 * k} 0 0"><joint axis="0 1 0"/><geom type="box" size="0.05 0.03 0.2"/></body>'
        for k in range(150)
    )
    xml = f"<mujoco><worldbody><body name='trunk'><freejoint/><geom size='0.1'/>{legs}</body></worldbody></mujoco>"
    with pytest.raises(RobotError, match="overlap in more places than MuJoCo has memory for"):
        load_robot(mujoco.MjSpec.from_string(xml))


def test_actuators_without_a_name_are_called_after_the_joint_that_they_alone_drive():
    ball = '<geom size="0.1" mass="1"/>'
    leg = f'<body pos="0 0 -0.3"><joint name="{{0}}" axis="0 1 0"/>{ball}</body>'
    hinge = f'<body pos="{{1}} 0 1"><freejoint/>{ball}{leg}</body>'
    drives = '<motor joint="a"/><motor joint="b"/><motor joint="b"/><motor name="named" joint="a"/><motor joint="c"/>'
    bodies = "".join(hinge.format(name, place) for place, name in enumerate("abc"))
    text = f"<mujoco><worldbody>{bodies}</worldbody><actuator>{drives}</actuator></mujoco>"
    names = load_robot(mujoco.MjSpec.from_string(text)).actuator_names
    assert names == ("actuator0", "actuator1", "actuator2", "named", "c")
