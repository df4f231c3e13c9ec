"""The sole each kind of collision geometry makes: the answers are plain geometry."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from robot_models import BOX, area, biped
from scipy.spatial import ConvexHull

from footfall.cli import main
from footfall.errors import FootfallWarning
from footfall.robot import Robot, load_robot


def test_a_box_foot_has_the_four_corners_of_its_underside():
    left, right = load_robot(biped(BOX)).feet
    assert (left.name, right.name) == ("left", "right")
    assert left.body == "left_foot"
    np.testing.assert_allclose(left.polygon[:, 2], -0.05)
    assert area(left.polygon) == pytest.approx(0.2 * 0.1)
    np.testing.assert_array_equal(left.points, left.polygon)
    np.testing.assert_array_equal(left.radius, np.zeros(4))
    np.testing.assert_allclose(left.polygon[0], [0.13, 0.05, -0.05])  # the outline starts front left


@pytest.mark.parametrize("angle", [-25, -5, 10, 30])
def test_a_foot_that_is_tilted_in_the_standing_pose_still_gets_its_whole_sole(angle):
    tilted = pytest.warns(FootfallWarning, match=f"'left' is turned by {abs(angle)} degrees")
    with tilted if abs(angle) > 15 else contextlib.nullcontext():
        left = load_robot(biped(BOX, ankle=f"0 {angle} 0")).feet[0]
    np.testing.assert_allclose(left.polygon[:, 2], -0.05, atol=1e-12)
    assert area(left.polygon) == pytest.approx(0.02)


def shank(lean: float, tip: np.ndarray) -> np.ndarray:
    """(N, 3) m: a limb from a square knee at the origin down to the corners of its ``tip``, which leans forward."""
    knee = np.array([(x, y, z) for x in (-0.02, 0.02) for y in (-0.02, 0.02) for z in (-0.02, 0.02)])
    return np.vstack([knee, tip + 0.25 * np.array([np.sin(lean), 0.0, -np.cos(lean)])])


BALL_TIP = 0.015 * np.array(
    [
        (np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b))
        for a in np.arange(0, 6.28, 0.4)
        for b in np.arange(-1.5, 1.6, 0.3)
    ]
)
CUBE_TIP = 0.012 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
PRISM_TIP = np.array([(0.0, 0.01, 0.0), (0.0, -0.01, 0.0), (0.02, 0.0, 0.01)])


@pytest.mark.parametrize("lean", [0, 20, 35, 50, 60])
@pytest.mark.parametrize("tip", [BALL_TIP, CUBE_TIP, PRISM_TIP], ids=["ball", "cube", "wedge"])
def test_the_sole_of_a_limb_is_its_end_however_it_leans(tmp_path, tip, lean):
    """The lower side of a limb that leans by 50 degrees is turned by 40 from the ground, and larger than its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FootfallWarning)
        feet = with_mesh(tmp_path, "limb", shank(np.radians(lean), tip)).feet
    for foot in feet:
        lowest = foot.lowest(np.eye(3))
        assert np.ptp(lowest) < 6e-3  # "within 5 mm", and the cube's own lean
        assert foot.length < 0.03
    assert len(feet[0].points) == len(feet[1].points)


def test_a_flat_that_is_one_facet_of_a_rounded_sole_is_not_all_of_it(tmp_path):
    """A rocker whose lowest triangle is a tenth of what is within 5 mm of it."""
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 9), np.linspace(-0.04, 0.04, 5))
    bottom = np.column_stack([x.ravel(), y.ravel(), (0.2 * x**2 + 0.5 * y**2).ravel() - 0.05])
    top = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, -0.038)])
    left, right = with_mesh(tmp_path, "rocker", np.vstack([bottom, top])).feet
    assert area(left.polygon) > 0.75 * 0.2 * 0.08
    assert np.ptp(left.points[:, 2]) < 5e-3
    assert len(left.points) == len(right.points)


@pytest.mark.parametrize("noise", [1e-5, 1e-4, 5e-4])
@pytest.mark.parametrize("thick", [0.012, 0.03])
def test_feet_of_one_shape_agree_though_their_meshes_are_off(tmp_path, noise, thick):
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 9), np.linspace(-0.04, 0.04, 5))
    bottom = np.column_stack([x.ravel(), y.ravel(), (0.2 * x**2 + 0.5 * y**2).ravel() - 0.05])
    top = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, thick - 0.05)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "contact points of soles reduced")
        left, right = with_mesh(tmp_path, "rocker", np.vstack([bottom, top]), noise).feet
    assert right.length == pytest.approx(left.length, rel=0.2)
    assert area(right.polygon) == pytest.approx(area(left.polygon), rel=0.2)


def test_a_foot_that_stands_on_its_side_or_on_a_tip_is_told_of():
    with pytest.warns(FootfallWarning, match="'left' may stand on its side.*--soles soles.png draws them"):
        load_robot(biped('<geom type="box" size="0.1 0.02 0.06" pos="0.03 0 0"/>'))
    with pytest.warns(FootfallWarning, match="'left' has neither a flat nor a round end"):
        load_robot(biped('<geom type="box" size="0.05 0.05 0.05" euler="0 45 0"/>'))


def test_four_spheres_under_a_foot_are_four_round_points():
    spheres = "".join(
        f'<geom type="sphere" size="0.01" pos="{x} {y} -0.04"/>' for x in (-0.05, 0.15) for y in (-0.04, 0.04)
    )
    foot = load_robot(biped(BOX.replace("-0.03", "-0.02") + spheres)).feet[0]
    assert len(foot.points) == 4
    np.testing.assert_allclose(foot.radius, 0.01)
    np.testing.assert_allclose(foot.points[:, 2], -0.04)
    np.testing.assert_allclose(foot.polygon[:, 2], -0.05)
    assert area(foot.polygon) == pytest.approx(0.2 * 0.08)


@pytest.mark.parametrize(("half", "alone"), [(0.04, True), (0.08, False)])
def test_a_ball_is_the_foot_alone_where_the_end_of_the_shank_stays_above_it(half, alone):
    """A square shank that ends at the ball's centre comes down with a lean of 30 degrees if sqrt(2) half > 2 radius."""
    shank = f'<geom type="box" size="{half} {half} 0.1" pos="0 0 0.1"/>'
    foot = load_robot(biped(shank + '<geom type="sphere" size="0.036"/>')).feet[0]
    assert (len(foot.points) == 1) == alone
    lowest = foot.points[foot.radius > 0]
    np.testing.assert_allclose(lowest, [[0, 0, 0]], atol=1e-12)


def test_a_sphere_inside_the_outline_of_the_others_is_kept():
    places = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05), (0, 0)]
    spheres = "".join(f'<geom type="sphere" size="0.02" pos="{x} {y} -0.05"/>' for x, y in places)
    foot = load_robot(biped(spheres)).feet[0]
    assert (len(foot.polygon), len(foot.points)) == (4, 5)


def test_a_sphere_foot_is_one_round_point():
    foot = load_robot(biped('<geom type="sphere" size="0.03"/>')).feet[0]
    np.testing.assert_allclose(foot.points, [[0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(foot.radius, [0.03])
    np.testing.assert_allclose(foot.polygon, [[0, 0, -0.03]], atol=1e-12)


def test_a_lying_capsule_touches_with_both_ends_and_a_standing_one_with_the_lower():
    lying = load_robot(biped('<geom type="capsule" fromto="-0.1 0 -0.02 0.1 0 0" size="0.02"/>')).feet[0]
    np.testing.assert_allclose(lying.points, [[-0.1, 0, -0.02], [0.1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(lying.radius, 0.02)
    assert len(lying.polygon) == 2
    standing = load_robot(biped('<geom type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.02"/>')).feet[0]
    np.testing.assert_allclose(standing.points, [[0.05, 0, -0.2]], atol=1e-12)


def test_two_capsules_side_by_side_span_a_sole():
    pair = "".join(f'<geom type="capsule" fromto="-0.1 {y} 0 0.1 {y} 0" size="0.02"/>' for y in (-0.03, 0.03))
    foot = load_robot(biped(pair)).feet[0]
    assert len(foot.points) == 4
    assert area(foot.polygon) == pytest.approx(0.2 * 0.06)


def test_cylinders_stand_on_their_disc_and_lie_on_a_line():
    standing = load_robot(biped('<geom type="cylinder" size="0.05 0.02"/>')).feet[0]
    np.testing.assert_allclose(np.hypot(*standing.polygon[:, :2].T), 0.05)
    np.testing.assert_allclose(standing.polygon[:, 2], -0.02)
    # A regular 16-gon in the circle: 8 sin(22.5 degrees) r2.
    assert area(standing.polygon) == pytest.approx(8 * np.sin(np.radians(22.5)) * 0.05**2)
    lying = load_robot(biped('<geom type="cylinder" size="0.05 0.02" zaxis="0 1 0"/>')).feet[0]
    np.testing.assert_allclose(lying.polygon[:, [0, 2]], [[0, -0.05]] * 2, atol=1e-12)
    assert np.ptp(lying.polygon[:, 1]) == pytest.approx(0.04)


def test_an_ellipsoid_touches_with_the_point_that_is_lowest_however_it_is_turned():
    foot = load_robot(biped('<geom type="ellipsoid" size="0.1 0.05 0.02"/>')).feet[0]
    np.testing.assert_allclose(foot.points, [[0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(foot.axes, [np.diag([0.1, 0.05, 0.02])], atol=1e-12)
    for angle in (0.0, 0.3, 1.2):
        turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
        lowest = -np.hypot(0.05 * np.sin(angle), 0.02 * np.cos(angle))
        np.testing.assert_allclose(foot.lowest(turn), [lowest], atol=1e-12)


def write_sole_obj(path, bevel: float = 0.01) -> None:
    """A sole of 0.2 x 0.1 m, 0.04 m thick, whose lower edges are bevelled, so that it flares upward."""
    corners = [(x, y) for x in (-1, 1) for y in (-1, 1)]
    lines = [f"v {x * 0.1} {y * 0.05} -0.05" for x, y in corners]
    lines += [f"v {x * (0.1 + bevel)} {y * (0.05 + bevel)} {z}" for z in (-0.04, -0.01) for x, y in corners]
    points = np.array([[float(w) for w in line.split()[1:]] for line in lines])
    hull = ConvexHull(points)
    for simplex, plane in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = points[simplex]
        turned = np.cross(b - a, c - a) @ plane[:3] < 0
        order = simplex[::-1] if turned else simplex
        lines.append("f " + " ".join(str(i + 1) for i in order))
    path.write_text("\n".join(lines))


def test_a_mesh_foot_has_the_flat_part_of_its_underside(tmp_path):
    write_sole_obj(tmp_path / "sole.obj")
    xml = biped('<geom type="box" size="0.1 0.1 0.1"/>').to_xml()
    xml = xml.replace("<worldbody>", '<asset><mesh name="sole" file="sole.obj"/></asset><worldbody>')
    xml = xml.replace('<geom size="0.1 0.1 0.1" type="box"/>', '<geom type="mesh" mesh="sole"/>')
    (tmp_path / "robot.xml").write_text(xml)
    foot = load_robot(tmp_path / "robot.xml").feet[0]
    assert len(foot.polygon) == 4
    np.testing.assert_allclose(foot.polygon[:, 2], -0.05, atol=1e-6)  # meshes are kept in single precision
    assert area(foot.polygon) == pytest.approx(0.02, abs=1e-6)


def with_mesh(tmp_path, name: str, vertices: np.ndarray, noise: float = 0.0) -> Robot:
    """A biped whose feet are the convex hull of these vertices, mirrored for the right foot, off by up to
    ``noise`` (m).
    """
    for side, mirror in (("left", 1), ("right", -1)):
        points = vertices * [1, mirror, 1]
        if side == "right":
            points = points + noise * np.random.default_rng(0).uniform(-1.0, 1.0, points.shape)
        hull = ConvexHull(points)
        lines = [f"v {x} {y} {z}" for x, y, z in points]
        for simplex, plane in zip(hull.simplices, hull.equations, strict=True):
            a, b, c = points[simplex]
            order = simplex[::-1] if np.cross(b - a, c - a) @ plane[:3] < 0 else simplex
            lines.append("f " + " ".join(str(i + 1) for i in order))
        (tmp_path / f"{side}.obj").write_text("\n".join(lines))
    xml = biped('<geom name="@" type="box" size="1 1 1"/>').to_xml()
    meshes = "".join(f'<mesh name="{side}" file="{tmp_path / side}.obj"/>' for side in ("left", "right"))
    xml = xml.replace("<worldbody>", f"<asset>{meshes}</asset><worldbody>")
    for side in ("left", "right"):
        xml = xml.replace(f'name="{side}" size="1 1 1" type="box"', f'type="mesh" mesh="{side}"')
    (tmp_path / f"{name}.xml").write_text(xml)
    return load_robot(tmp_path / f"{name}.xml")


def test_a_sole_of_many_vertices_is_reduced_to_eight_mirrored_ones_and_reported(tmp_path):
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([0.12 * np.cos(angle) + 0.02 * np.sin(angle), 0.05 * np.sin(angle)])
    solid = np.vstack([np.column_stack([ring, np.full(40, z)]) for z in (-0.05, -0.02)])
    with pytest.warns(FootfallWarning, match="'left' from 40 to 8, 'right' from 40 to 8; points="):
        left, right = with_mesh(tmp_path, "oval", solid).feet
    assert len(left.points) == len(right.points) == 8
    distance = np.linalg.norm(left.points[:, None] * [1, -1, 1] - right.points[None], axis=2)
    assert distance.min(axis=1).max() < 1e-6
    np.testing.assert_allclose(left.points[:, 2], -0.05, atol=1e-6)
    # An ellipse's inscribed octagon has 90 % of its area; which vertices of the mesh are taken costs little.
    assert area(left.polygon) > 0.85 * np.pi * 0.12 * 0.05


def test_a_ball_of_a_mesh_is_one_round_point(tmp_path):
    i = np.arange(200)  # on a spiral, evenly spread
    z, turn = 1 - (2 * i + 1) / 200, np.pi * (1 + 5**0.5) * i
    sphere = np.column_stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z])
    left, right = with_mesh(tmp_path, "ball", 0.03 * sphere).feet
    for foot in (left, right):
        assert foot.radius == pytest.approx([0.03], rel=0.02)
        np.testing.assert_allclose(foot.points, [[0, 0, 0]], atol=1e-3)


def test_many_spheres_under_a_foot_are_reduced_and_points_overrides_it():
    grid = [(x, y) for x in np.linspace(-0.1, 0.1, 7) for y in np.linspace(-0.04, 0.04, 5)]
    spheres = "".join(f'<geom type="sphere" size="0.01" pos="{x} {y} -0.04"/>' for x, y in grid)
    with pytest.warns(FootfallWarning, match="'left' from 35 to 4"):
        foot = load_robot(biped(spheres)).feet[0]
    np.testing.assert_allclose(np.abs(foot.points), [[0.1, 0.04, 0.04]] * 4, atol=1e-9)
    np.testing.assert_allclose(foot.radius, 0.01)
    with pytest.warns(FootfallWarning):
        assert len(load_robot(biped(spheres), points=(4, 3)).feet[0].points) == 12


def test_the_command_draws_the_soles(tmp_path, capsys):
    picture = tmp_path / "soles.svg"
    assert main(["robots", "spatial-biped", "--soles", str(picture)]) == 0
    drawn = picture.read_text()
    assert all(f"{foot.name}, body {foot.body}, from below" in drawn for foot in load_robot("spatial-biped").feet)
