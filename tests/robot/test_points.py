"""Contact points chosen on soles: the answers are plain geometry."""

from __future__ import annotations

import numpy as np
import pytest

from footfall.robot import Foot
from footfall.robot.feet import choose_points


def rectangle(length: float = 0.2, width: float = 0.1) -> Foot:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [length / 2, width / 2]
    polygon = np.column_stack([corners, np.full(4, -0.05)])
    return Foot("left", "foot", polygon, polygon, np.zeros(4))


def inside(foot: Foot, points: np.ndarray) -> bool:
    a, b = foot.polygon, np.roll(foot.polygon, -1, axis=0)
    d, e = (b - a)[None], points[:, None] - a[None]
    return bool(np.all(d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0] >= -1e-12))


@pytest.mark.parametrize(("nx", "ny"), [(1, 1), (2, 2), (5, 3), (7, 1)])
def test_a_grid_covers_a_rectangular_sole_edges_included(nx, ny):
    points = choose_points(rectangle(), (nx, ny)).points
    assert len(points) == nx * ny
    assert len(np.unique(points[:, 0].round(12))) == nx
    assert np.ptp(points[:, 0]) == pytest.approx(0.2 if nx > 1 else 0)
    assert np.ptp(points[:, 1]) == pytest.approx(0.1 if ny > 1 else 0)
    np.testing.assert_allclose(points[:, 2], -0.05)


def test_rows_of_a_grid_run_along_the_longer_side():
    points = choose_points(rectangle(0.1, 0.3), (5, 2)).points
    assert len(np.unique(points[:, 1].round(12))) == 5


def test_a_grid_on_a_sole_that_is_no_rectangle_stays_inside_it():
    angle = 2 * np.pi * np.arange(12) / 12
    disc = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    foot = choose_points(Foot("a", "b", disc, disc, np.zeros(12)), (9, 9))
    assert 40 < len(foot.points) < 81  # pi / 4 of 81 is 64
    assert inside(foot, foot.points)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 8, 13, 64])
def test_any_number_of_points_lies_on_the_outline(n):
    foot = choose_points(rectangle(), n)
    assert len(foot.points) == n
    assert len(np.unique(foot.points.round(12), axis=0)) == n
    assert inside(foot, foot.points)
    if n > 1:
        x, y = np.abs(foot.points[:, 0]), np.abs(foot.points[:, 1])
        on_edge = np.isclose(x, 0.1) | np.isclose(y, 0.05)
        assert on_edge.all()
    if n >= 4:
        corners = {tuple(p) for p in rectangle().polygon.round(9)}
        assert corners <= {tuple(p) for p in foot.points.round(9)}


def test_three_points_on_a_rectangle_are_symmetric():
    points = choose_points(rectangle(), 3).points
    assert points[:, 1].sum() == pytest.approx(0, abs=1e-12)
    assert points[0] == pytest.approx([0.1, 0, -0.05])


def test_a_line_foot_takes_points_along_the_line_and_a_point_foot_stays():
    line = np.array([[-0.1, 0, 0], [0.1, 0, 0]])
    foot = Foot("a", "b", line, line, np.zeros(2))
    np.testing.assert_allclose(choose_points(foot, 5).points[:, 0], np.linspace(-0.1, 0.1, 5))
    np.testing.assert_allclose(choose_points(foot, (3, 4)).points[:, 0], [-0.1, 0, 0.1])
    ball = Foot("a", "b", [[0, 0, -1]], [[0, 0, 0]], [1.0])
    assert choose_points(ball, (3, 4)) == ball
    assert choose_points(ball, "vertices") == ball
