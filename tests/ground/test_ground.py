"""The ground: closed forms, a brute-force distance, and its behaviour as a value."""

from __future__ import annotations

import json
import math
import pickle
import sys
import types

import numpy as np
import pytest
from grounds import ANGLE, EXACT, HEADING, every_ground, grounds, points_around, rolling

from footfall.compiled import kernel_stamp
from footfall.ground import Ground, surface
from footfall.ground.ground import KINDS

RNG = np.random.default_rng(7)


def rolling_gradient(x, y):
    return 0.2 * np.cos(2.0 * x), -0.15 * np.sin(3.0 * y)


# ---- every kind ----------------------------------------------------------------------------------------------


@every_ground
def test_normals_are_unit_and_the_gap_has_the_sign_of_the_height_over_the_surface(name):
    ground, points = grounds()[name], points_around()
    gap, normal = ground.gap(points)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-14)
    np.testing.assert_array_equal(np.sign(gap), np.sign(points[:, 2] - ground.height(points[:, 0], points[:, 1])))


@every_ground
def test_a_point_on_the_surface_has_no_gap(name):
    ground, points = grounds()[name], points_around()
    points[:, 2] = ground.height(points[:, 0], points[:, 1])
    np.testing.assert_allclose(ground.gap(points)[0], 0.0, atol=EXACT)


@every_ground
def test_gap_keeps_the_shape_of_what_it_is_asked(name):
    ground, points = grounds()[name], points_around(6)
    gap, normal = ground.gap(points.reshape(2, 3, 3))
    assert gap.shape == (2, 3) and normal.shape == (2, 3, 3)
    assert ground.gap(points[4])[0] == gap[1, 1]
    assert ground.gap(np.zeros((0, 3)))[0].shape == (0,)
    assert ground.gap(np.asfortranarray(points))[0].tolist() == gap.ravel().tolist()
    assert ground.height(0.1, [[0.2], [0.3]]).shape == (2, 1)


@every_ground
def test_nothing_rises_above_the_highest(name):
    ground = grounds()[name]
    x, y = RNG.uniform(-4, 4, (2, 1000))
    assert ground.height(x, y).max() <= ground.highest


@every_ground
def test_a_nan_position_gives_a_nan_gap(name):
    ground = grounds()[name]
    assert np.isnan(ground.gap([0.0, 0.0, math.nan])[0])
    if name != "plane":  # where x decides nothing
        assert np.isnan(ground.gap([math.nan, 0.0, 0.0])[0])


@every_ground
def test_the_frame_is_right_handed_with_the_normal_last(name):
    ground = grounds()[name]
    for point in points_around(10):
        frame = ground.frame(point)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(frame) > 0.0
        np.testing.assert_array_equal(frame[2], ground.gap(point)[1])


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0.9, 0, math.sqrt(0.19)), (0, 1, 0)])
def test_the_first_tangent_is_world_x_unless_the_normal_is(normal):
    frame = np.empty((3, 3))
    surface.tangent_frame(*map(float, normal), frame)
    axis = [0, 1, 0] if abs(normal[0]) > 0.9 else [1, 0, 0]
    projected = np.array(axis) - np.dot(axis, normal) * np.array(normal)
    np.testing.assert_allclose(frame[0], projected / np.linalg.norm(projected), atol=1e-14)
    np.testing.assert_allclose(frame[1], np.cross(normal, frame[0]), atol=1e-14)


@pytest.mark.parametrize("name", ["plane", "slope", "stairs", "stairs down", "heightfield"])
def test_the_compiled_surface_does_what_its_python_does(name):
    ground, points = grounds()[name], points_around(50)
    _, parameters, table = ground.compiled()
    plain = [KINDS[ground.kind].surface(*point, parameters, table) for point in points.tolist()]
    gap, normal = ground.gap(points)
    # Compiled code may contract a * b + c, which rounds once less.
    np.testing.assert_allclose(np.column_stack([gap, normal]), plain, atol=EXACT)


# ---- slope ---------------------------------------------------------------------------------------------------


def test_a_point_d_off_a_slope_along_its_normal_has_gap_d():
    ground = Ground.slope(ANGLE, heading=HEADING)
    x, y, d = RNG.uniform(-3, 3, (3, 100))
    feet = np.stack([x, y, math.tan(ANGLE) * (x * math.cos(HEADING) + y * math.sin(HEADING))], axis=-1)
    normal = ground.gap(feet)[1]
    np.testing.assert_allclose(ground.gap(feet + d[:, None] * normal)[0], d, atol=EXACT)


def test_a_slope_rises_along_its_heading_and_is_level_across():
    ground = Ground.slope(ANGLE, heading=HEADING)
    along, across = (math.cos(HEADING), math.sin(HEADING)), (-math.sin(HEADING), math.cos(HEADING))
    assert ground.height(*along) == pytest.approx(math.tan(ANGLE))
    assert ground.height(*across) == pytest.approx(0.0, abs=1e-15)


# ---- stairs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("point", "gap", "normal"),
    [
        ((0.10, 0.02), 0.02, (0, 1)),  # over the ground before the stairs
        ((0.45, 0.15), 0.0, (0, 1)),  # on the first tread
        ((0.45, 0.149), -0.001, (0, 1)),
        ((0.295, 0.08), 0.005, (-1, 0)),  # a toe about to touch the first riser
        ((0.301, 0.08), -0.001, (-1, 0)),  # and 1 mm inside it: not a step deep
        ((0.601, 0.16), -0.001, (-1, 0)),  # the second riser, just above the first tread
        ((0.297, 0.154), 0.005, (-0.6, 0.8)),  # off a nosing: its distance
        ((0.303, -0.004), -0.005, (-0.6, 0.8)),  # behind an inner corner: out through it
        ((0.302, 0.149), -0.001, (0, 1)),  # inside a nosing: out the shorter way
        ((0.301, 0.148), -0.001, (-1, 0)),
        ((9.0, 0.80), 0.05, (0, 1)),  # past the end
        ((9.0, 0.74), -0.01, (0, 1)),
    ],
)
@pytest.mark.parametrize("heading", [0.0, 2.2])
def test_stairs_know_treads_risers_nosings_and_corners(point, gap, normal, heading):
    c, s = math.cos(heading), math.sin(heading)
    found, direction = Ground.stairs(0.15, 0.3, 5, start=0.3, heading=heading).gap(
        [point[0] * c - 0.7 * s, point[0] * s + 0.7 * c, point[1]]  # 0.7 m to the left
    )
    assert found == pytest.approx(gap, abs=EXACT)
    np.testing.assert_allclose(direction, [normal[0] * c, normal[0] * s, normal[1]], atol=1e-10)


def test_a_foot_flat_on_the_treads_has_no_gap_and_stands_on_upward_normals():
    ground = Ground.stairs(0.15, 0.3, 5, start=0.3)
    for step in range(1, 6):
        x = 0.3 * step + np.array([0.0, 0.1, 0.2, 0.29])[:, None]
        sole = np.concatenate([x, 0 * x, 0 * x + 0.15 * step], axis=1)[1:]
        gap, normal = ground.gap(sole)
        np.testing.assert_allclose(gap, 0.0, atol=EXACT)
        np.testing.assert_array_equal(normal, np.tile([0, 0, 1], (3, 1)))


@pytest.mark.parametrize("rise", [0.15, -0.15, 0.4])
def test_the_gap_of_stairs_is_the_distance_to_the_nearest_segment_of_the_profile(rise):
    run, count, start = 0.25, 4, 0.2
    s = np.concatenate([[-50], np.repeat(start + run * np.arange(count), 2), [50]])
    profile = np.stack([s, np.repeat(rise * np.arange(count + 1), 2)], axis=-1)
    a, b = profile[:-1], profile[1:]
    ground = Ground.stairs(rise, run, count, start=start)
    low, high = sorted([0.0, count * rise])
    points = RNG.uniform([-1, 0, low - 0.5], [2.5, 0, high + 0.5], (2000, 3))
    p = points[:, None, [0, 2]]
    t = np.clip(np.sum((p - a) * (b - a), -1) / np.sum((b - a) ** 2, -1), 0, 1)
    brute = np.linalg.norm(a + t[..., None] * (b - a) - p, axis=-1).min(axis=1)
    gap, normal = ground.gap(points)
    np.testing.assert_allclose(np.abs(gap), brute, atol=EXACT)
    # and the normal leads to the surface
    np.testing.assert_allclose(ground.gap(points - gap[:, None] * normal)[0], 0.0, atol=EXACT)


def test_stairs_down_are_stairs_up_from_the_other_end():
    up = Ground.stairs(0.1, 0.3, 3, start=-0.3)
    down = Ground.stairs(-0.1, 0.3, 3, start=-0.3, heading=math.pi)
    points = points_around()
    gap, normal = up.gap(points)
    lowered, same_normal = down.gap(points - [0, 0, 0.3])
    np.testing.assert_allclose(lowered, gap, atol=EXACT)
    np.testing.assert_allclose(same_normal, normal, atol=1e-9)


# ---- height field and function -------------------------------------------------------------------------------


def test_a_linear_height_field_is_a_slope():
    a, b = math.tan(ANGLE) * math.cos(HEADING), math.tan(ANGLE) * math.sin(HEADING)
    x, y = np.meshgrid(np.linspace(-1, 5, 13), np.linspace(-2, 3, 7))
    field = Ground.heightfield(a * x + b * y, size=(6, 5), center=(2, 0.5))
    points = RNG.uniform([-1, -2, -1], [5, 3, 1], (100, 3))
    for ours, theirs in zip(field.gap(points), Ground.slope(ANGLE, heading=HEADING).gap(points), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=EXACT)


def test_a_height_field_of_needles_is_as_high_as_its_table():
    heights = np.random.default_rng(0).uniform(0.0, 3.0, (50, 50))  # m, 2 cm apart
    x, y = np.meshgrid(np.linspace(-0.49, 0.49, 50), np.linspace(-0.49, 0.49, 50))
    np.testing.assert_allclose(Ground.heightfield(heights, size=(0.98, 0.98)).height(x, y), heights, atol=1e-9)


def test_a_height_field_has_rows_along_y_and_continues_its_edges():
    field = Ground.heightfield([[0.0, 1.0], [2.0, 3.0]], size=(2.0, 4.0))
    assert field.height([-1, 1, -1, 1, 0], [-2, -2, 2, 2, 0]).tolist() == [0, 1, 2, 3, 1.5]
    assert field.height([9, -9, 0], [9, -9, 9]).tolist() == [3, 0, 2.5]
    np.testing.assert_array_equal(field.gap([9, -9, 0])[1], [0, 0, 1])


@pytest.mark.parametrize("off", [0.0, 0.02, 0.2, -0.05])
def test_a_point_off_a_function_along_its_normal_is_that_far_from_it(off):
    """As long as it is nearer than the surface is narrow: here hollows have a radius of 2 m."""
    x, y = points_around()[:, :2].T
    slope_x, slope_y = rolling_gradient(x, y)
    nz = 1 / np.sqrt(1 + slope_x**2 + slope_y**2)
    upright = np.stack([-slope_x * nz, -slope_y * nz, nz], -1)
    height = 0.1 * np.sin(2 * x) + 0.05 * np.cos(3 * y)
    gap, normal = grounds()["function"].gap(np.stack([x, y, height], -1) + off * upright)
    # Central differences with h = 1e-5: h^2 f'''/6 ~ 1e-11 and rounding eps f/h ~ 1e-12. Ten micrometres beside the
    # foot the surface is turned by as much times 0.45 / m, and higher by the square.
    np.testing.assert_allclose(normal, upright, atol=1e-10 if off == 0.0 else 1e-5)
    np.testing.assert_allclose(gap, off, atol=1e-9)


def test_a_ball_on_a_height_field_of_a_hill_is_as_far_from_it_as_from_the_hill():
    x, _ = np.meshgrid(np.linspace(-2, 2, 201), np.linspace(-1, 1, 5))
    field = Ground.heightfield(-0.5 * x**2, size=(4, 2))
    at = np.linspace(-0.7, 0.7, 57)
    upright = np.stack([at, np.zeros(57), np.ones(57)], -1) / np.hypot(at, 1.0)[:, None]
    gap, normal = field.gap(np.stack([at, np.zeros(57), -0.5 * at**2], -1) + 0.1 * upright)
    # Cells of 2 cm lie up to h^2 f'' / 8 = 0.05 mm under the hill, and are turned from it by up to h f'' / 2.
    np.testing.assert_allclose(gap, 0.1, atol=6e-5)
    np.testing.assert_allclose(normal, upright, atol=0.012)


def test_functions_from_a_prompt_and_with_closures_are_told_apart():
    low, high = (lambda x, y: 0.1 * x), (lambda x, y: 0.2 * x)
    made = [(lambda x, y, k=k: k * y) for k in (0.3, 0.4)]
    namespace: dict = {}
    exec("k = 0.5\ndef typed(x, y):\n    return k * x", namespace)
    first = Ground.function(namespace["typed"])
    namespace["k"] = 0.6
    second = Ground.function(namespace["typed"])
    found = [Ground.function(f) for f in (low, high, *made)] + [first, second]
    assert [float(g.height(1.0, 1.0)) for g in found] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert len(set(found)) == 6
    assert Ground.function(low) == found[0]


def test_a_function_on_a_users_object_compiles_without_being_filed(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "settings", {"k": 1}, raising=False)
    assert kernel_stamp(lambda x, y: settings["k"] * x) is None  # noqa: F821
    theirs = types.ModuleType("theirs")  # a module: known to Numba, while its numbers may change
    theirs.length = 0.3
    ground = Ground.function(lambda x, y: theirs.length * x)
    assert ground.height(1.0, 0.0) == pytest.approx(0.3) and ground == ground
    assert ground != Ground.function(ground.height_function.function)


def test_nan_of_a_function_is_passed_on():
    ground = Ground.function(lambda x, y: math.sqrt(4.0 - x * x))
    assert np.isnan(ground.gap([3.0, 0.0, 0.0])[0])


# ---- as a value ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plane", "slope", "stairs", "stairs down", "heightfield"])
def test_a_ground_survives_json_and_pickle(name):
    ground = grounds()[name]
    again = Ground.from_dict(json.loads(json.dumps(ground.to_dict())))
    assert again == ground and hash(again) == hash(ground) and repr(again) == repr(ground)
    assert pickle.loads(pickle.dumps(ground)) == ground


def test_a_function_ground_comes_back_as_the_height_field_it_was_sampled_to():
    ground = grounds()["function"]
    again = Ground.from_dict(json.loads(json.dumps(ground.to_dict())))
    assert again.kind == "heightfield" and "sampled" in again.description and "def rolling" in again.description
    assert Ground.from_dict(again.to_dict()).description == again.description
    x, y = RNG.uniform(-9, 9, (2, 100))
    # Linear interpolation: h^2 (fxx + fyy) / 8 = 0.05^2 * 0.85 / 8
    np.testing.assert_allclose(again.height(x, y), ground.height(x, y), atol=2.7e-4)
    assert pickle.loads(pickle.dumps(ground)) == ground


def test_what_differs_is_not_equal():
    same = Ground.heightfield([[0, 1], [2, 3]], size=(1, 1))
    assert same == Ground.heightfield(np.array([[0.0, 1.0], [2.0, 3.0]]), size=[1, 1])
    different = [
        same,
        Ground.heightfield([[0, 1], [2, 4]], size=(1, 1)),
        *grounds().values(),
        Ground.plane(0.6),
    ]
    assert len(set(different)) == len(different)
    assert Ground.plane() != "plane"


def test_a_ground_cannot_be_changed():
    ground = Ground.heightfield(np.zeros((2, 2)), size=(1, 1))
    with pytest.raises(AttributeError):
        ground.kind = "plane"
    with pytest.raises(ValueError, match="read-only"):
        ground.heights[0, 0] = 1.0


def test_grounds_print_on_one_line():
    assert repr(Ground.slope(0.349, friction=0.5)) == "Ground.slope(angle=0.349 rad, friction=0.5)"
    assert repr(Ground.plane((0.8, 0.6))) == "Ground.plane(friction=(0.8, 0.6))"
    assert repr(Ground.function(rolling)) == "Ground.function(rolling, friction=0.7)"
    assert "\n" not in repr(Ground.from_dict(grounds()["function"].to_dict()))


def test_friction_is_one_number_two_or_a_pair():
    for ground, expected in [
        (Ground.plane(0.5), (0.5, 0.5)),
        (Ground.stairs(friction=0.5, static_friction=0.6), (0.6, 0.5)),
        (Ground.slope(0.1, friction=(0.9, 0.4)), (0.9, 0.4)),
        (Ground.from_dict({"kind": "plane", "friction": [0.9, 0.4]}), (0.9, 0.4)),
    ]:
        assert (ground.static_friction, ground.dynamic_friction) == expected
