"""The ground in other forms: as MuJoCo's geoms, whose collision is a second opinion on the gap, and as triangles."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from grounds import EXACT, HEADING, every_ground, grounds, points_around

from footfall.errors import GroundError
from footfall.ground import Ground

# ---- the same ground in MuJoCo -----------------------------------------------------------------------------

RADIUS = 0.02  # m, of the spheres that feel for the ground
RNG = np.random.default_rng(7)


def mujoco_gap(
    ground: Ground, points: np.ndarray, *, margin: float = 0.3, extent: float = 20.0, radius: float = RADIUS
) -> np.ndarray:
    """Distance of each point to the ground, from MuJoCo's contact with a small sphere around it."""
    spec = mujoco.MjSpec()
    ground.add_to(spec, extent=extent)
    for point in points:
        body = spec.worldbody.add_body(pos=point)
        body.add_freejoint()
        body.add_geom(size=[radius, 0, 0], contype=1, conaffinity=0, margin=margin)  # blind to each other
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    gap = np.full(len(points), np.inf)
    for contact in data.contact:
        sphere = model.geom_bodyid[contact.geom].max() - 1
        gap[sphere] = min(gap[sphere], contact.dist + radius)
        assert contact.friction[0] == ground.dynamic_friction
    return gap


def test_mujoco_finds_the_same_gap_over_plane_and_slope():
    for ground in (grounds()["plane"], grounds()["slope"]):
        points = points_around(30)
        gap, normal = ground.gap(points)
        points += (RNG.uniform(-0.05, 0.2, 30) - gap)[:, None] * normal
        np.testing.assert_allclose(mujoco_gap(ground, points), ground.gap(points)[0], atol=1e-9)


@pytest.mark.parametrize("rise", [0.15, -0.15])
def test_mujoco_finds_the_same_gap_over_stairs(rise):
    ground = Ground.stairs(rise, heading=HEADING)
    s, side = RNG.uniform(-0.3, 2.2, 60), RNG.uniform(-1, 1, 60)
    x, y = s * math.cos(HEADING) - side * math.sin(HEADING), s * math.sin(HEADING) + side * math.cos(HEADING)
    # Down to 3 mm inside only: deeper, MuJoCo also sees faces where one box touches the next.
    points = np.stack([x, y, ground.height(x, y) + RNG.uniform(-0.003, 0.2, 60)], axis=-1)
    gap = ground.gap(points)[0]
    hidden_corner = (gap < 0) & (np.abs(np.mod(s - 0.3, 0.3) - 0.15) > 0.145)
    assert hidden_corner.sum() < 5
    shown = points[~hidden_corner]
    np.testing.assert_allclose(mujoco_gap(ground, shown), ground.gap(shown)[0], atol=1e-9)


def test_mujoco_finds_the_same_gap_over_a_height_field():
    a, b = 0.3, -0.2
    x, y = np.meshgrid(np.linspace(-2, 2, 21), np.linspace(-1, 1, 9))
    ground = Ground.heightfield(0.5 + a * x + b * y, size=(4, 2), center=(1, 0))
    points = RNG.uniform([-0.5, -0.5, 0], [2.5, 0.5, 0], (30, 3))
    gap, normal = ground.gap(points)
    points += (RNG.uniform(0.0, 0.04, 30) - gap)[:, None] * normal
    # MuJoCo keeps the table in float32 and finds the distance by iteration to 1e-6.
    np.testing.assert_allclose(mujoco_gap(ground, points), ground.gap(points)[0], atol=5e-6)


@pytest.mark.parametrize("cells", [1.0, 4.0, 20.0])
def test_mujoco_finds_the_same_gap_of_balls_on_cells_as_small_or_far_smaller(cells):
    """Of heights that are sums of one by row and one by column, so that cells are flat, as MuJoCo's triangles are."""
    rng = np.random.default_rng(2)
    ground = Ground.heightfield(rng.uniform(0, 0.01, (61, 1)) + rng.uniform(0, 0.01, 61), size=(0.6, 0.6))
    points = rng.uniform([-0.05, -0.05, 0.02], [0.05, 0.05, 0.02], (20, 3))
    points[:, 2] += 0.01 * cells
    for _ in range(9):  # down until it touches
        gap, normal = ground.gap(points)
        points[:, 2] -= (gap - 0.01 * cells) / normal[:, 2]
    points[:, 2] -= 1e-4
    found = mujoco_gap(ground, points, margin=0.0, radius=0.01 * cells)
    np.testing.assert_allclose(found, ground.gap(points)[0], atol=5e-6)


def test_mujoco_finds_a_function_as_sampled():
    ground = grounds()["function"]
    points = RNG.uniform([-1, -1, 0], [1, 1, 0], (20, 3))
    points[:, 2] = ground.height(points[:, 0], points[:, 1]) + 0.02
    # Flat triangles of 5 cm under a curvature of at most 0.45 / m: h^2 f'' / 8 ~ 0.15 mm each way; and the
    # nearest point of a bowl is not straight under the centre: gap^2 f'' / 2 ~ 0.1 mm. The margin is small
    # because MuJoCo keeps at most 50 contacts of a pair, and a large one meets more triangles than that.
    np.testing.assert_allclose(mujoco_gap(ground, points, margin=0.03, extent=4.0), ground.gap(points)[0], atol=5e-4)


def test_a_flat_height_field_and_a_second_ground_in_one_process_compile():
    flat = Ground.heightfield(np.full((3, 3), 0.4), size=(2, 2))
    np.testing.assert_allclose(mujoco_gap(flat, np.array([[0.1, 0.2, 0.45]])), [0.05], atol=5e-6)


# ---- drawing -----------------------------------------------------------------------------------------------


@every_ground
def test_the_mesh_lies_on_the_surface_and_looks_out_of_it(name):
    ground = grounds()[name]
    vertices, faces = ground.mesh(extent=3.0)
    assert faces.min() == 0 and faces.max() == len(vertices) - 1
    np.testing.assert_allclose(ground.gap(vertices)[0], 0.0, atol=EXACT)
    corners = vertices[faces]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.linalg.norm(outward, axis=1) > 0).all()
    centre = corners.mean(axis=1) + 1e-3 * outward / np.linalg.norm(outward, axis=1, keepdims=True)
    if name.startswith("stairs"):  # elsewhere chords of a bowl lie outside it
        np.testing.assert_allclose(ground.gap(centre)[0], 1e-3, atol=EXACT)
    assert (outward[:, 2] > -1e-15).all()


def test_a_function_that_ends_within_the_extent_cannot_be_sampled():
    ground = Ground.function(lambda x, y: math.sqrt(4.0 - x * x))
    with pytest.raises(GroundError, match="smaller extent"):
        ground.add_to(mujoco.MjSpec())
