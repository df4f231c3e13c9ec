"""The nearest place of uneven ground: no other is nearer, of balls smaller than cells or twenty times as large."""

from __future__ import annotations

import math

import numpy as np
import pytest

import footfall as ff
from footfall.ground import Ground

CELL = 0.01  # m
EXACT = 1e-9  # m, to which a place is found in a cell


def terrain(roughness: float, cells: int = 60) -> Ground:
    """A height field of independent heights, ``roughness`` cells between the highest and the lowest."""
    heights = np.random.default_rng(4).uniform(-0.5, 0.5, (cells + 1, cells + 1)) * roughness * CELL
    return Ground.heightfield(heights, size=(cells * CELL, cells * CELL))


def places(ground: Ground, each: int = 4) -> np.ndarray:
    """(N, 3) places of a height field, ``each`` along the side of a cell."""
    count = each * (ground.heights.shape[0] - 1) + 1
    half = ground.options[0][1][0] / 2.0
    x, y = (grid.ravel() for grid in np.meshgrid(*[np.linspace(-half, half, count)] * 2))
    return np.stack([x, y, ground.height(x, y)], axis=-1)


@pytest.mark.parametrize("roughness", [0.1, 1.0, 5.0])
def test_no_place_of_a_rough_field_is_nearer_than_the_one_found(roughness):
    ground = terrain(roughness)
    known, rng = places(ground), np.random.default_rng(5)
    for radius in (0.3, 1.0, 3.0, 8.0, 20.0):
        at = rng.uniform(-0.1, 0.1, (12, 3))
        side = np.where(np.arange(12) % 3 < 2, 1.0, -1.0)  # a third of them below the ground
        at[:, 2] = ground.height(at[:, 0], at[:, 1]) + side * radius * CELL
        gap, normal = ground.gap(at)
        foot = at - gap[:, None] * normal
        np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-12)
        np.testing.assert_allclose(ground.height(foot[:, 0], foot[:, 1]), foot[:, 2], atol=EXACT)
        nearest = np.linalg.norm(known - at[:, None], axis=-1).min(axis=1)
        assert (np.sign(gap) == side).all()
        assert (np.abs(gap) < nearest + EXACT).all()


def test_a_ball_over_a_pit_narrower_than_itself_rests_on_the_rim():
    heights = np.zeros((41, 41))
    heights[20, 20] = -1.0
    ground = Ground.heightfield(heights, size=(0.4, 0.4))
    # The four corners around are a cell away, and the sides of the pit are edges between them.
    gap, normal = ground.gap([0.0, 0.0, 0.05])
    assert gap == pytest.approx(math.hypot(CELL / math.sqrt(2.0), 0.05), rel=0.02)
    assert normal[2] > 0.95


def test_beyond_the_edge_of_a_field_its_heights_go_on():
    heights = np.zeros((5, 5))
    heights[:, 4] = 0.1  # along x = 0.2
    ground = Ground.heightfield(heights, size=(0.4, 0.4))
    gap, normal = ground.gap([[0.5, 0.0, 0.3], [0.5, 0.9, 0.05], [-3.0, 0.0, 0.2], [0.5, 0.9, 0.12]])
    np.testing.assert_allclose(gap, [0.2, -0.05, 0.2, 0.02], atol=EXACT)
    np.testing.assert_allclose(normal, np.tile([0.0, 0.0, 1.0], (4, 1)), atol=EXACT)


def test_a_ball_rolls_over_a_ridge_with_a_normal_that_turns_about_it():
    x = np.linspace(-1.0, 1.0, 11)
    ground = Ground.heightfield(np.tile(-0.3 * np.abs(x), (11, 1)), size=(2.0, 2.0))
    at = np.linspace(-0.02, 0.02, 41)  # the normals of both sides are 0.1 / sqrt(1 + 0.09) * 0.3 = 0.0287 m away
    gap, normal = ground.gap(np.stack([at, np.zeros(41), np.full(41, 0.1)], axis=-1))
    np.testing.assert_allclose(gap, np.hypot(at, 0.1), atol=1e-12)
    np.testing.assert_allclose(normal[:, 0], at / np.hypot(at, 0.1), atol=1e-12)


def test_a_ball_in_a_valley_narrower_than_itself_rests_on_its_sides():
    """The square of the distance of (0, z) from the parabola a x^2 is z / a - 1 / (2 a)^2, where z > 1 / (2 a)."""
    ground = Ground.function(lambda x, y: 5.0 * x * x)
    at = np.array([[0.0, 0.3, 0.2], [0.0, 0.0, 0.3], [1e-9, 0.0, 0.15]])
    gap, normal = ground.gap(at, reach=0.5)
    np.testing.assert_allclose(gap, np.sqrt(at[:, 2] / 5.0 - 0.01), atol=1e-9)
    np.testing.assert_allclose(normal[:, 2], 0.1 / gap, atol=1e-6)


@pytest.mark.parametrize("kind", ["heightfield", "function"])
def test_a_ball_wider_than_a_quarter_metre_feels_the_hill_under_it(kind):
    """At rest on the flank of a parabola it touches where the normal is, not straight under its centre."""
    if kind == "function":
        ground = Ground.function(lambda x, y: -0.5 * x * x)
    else:
        x = np.linspace(-2.0, 2.0, 401)
        ground = Ground.heightfield(np.tile(-0.5 * x**2, (3, 1)), size=(4.0, 4.0))
    sim = ff.Simulation(ff.load_robot("ball", radius=0.6), ground=ground, law="time-stepping")
    centre = np.array([0.5, -0.125]) + 0.6 * np.array([0.5, 1.0]) / math.hypot(0.5, 1.0)
    rec = sim.run(0.0, qpos=[centre[0], 0.0, centre[1], 1.0, 0.0, 0.0, 0.0])
    # Cells of 1 cm lie up to h^2 f'' / 8 = 0.0125 mm under the hill.
    assert rec.gap[0, 0] == pytest.approx(0.0, abs=2e-5 if kind == "heightfield" else 1e-9)
    assert rec.position[0, 0, 0] == pytest.approx(0.5, abs=0.01)
