"""Support polygons, margins and capture points, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from blank_recordings import OPEN, STICK, at_rest

from footfall import measure
from footfall.errors import RecordingError
from footfall.ground import Ground
from footfall.measure import pressure
from footfall.robot import load_robot

TIGHT = 1e-9  # rounding of a few hundred N and m of order 1, with room


def test_support_polygon_is_the_hull_of_the_closed_points(biped):
    rec = at_rest(biped)
    polygon = measure.support_polygon(rec, 0)
    assert polygon.shape == (4, 3)  # two feet side by side: their outer corners, and no point along an edge
    x, y = polygon[:, 0], polygon[:, 1]
    area = 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert area == pytest.approx(np.ptp(rec.position[0, :, 0]) * np.ptp(rec.position[0, :, 1]))  # and counter-clockwise
    mode = np.array(rec.mode)
    mode[1, 1:], mode[2, 2:], mode[3] = OPEN, OPEN, OPEN
    rec = at_rest(biped, mode=mode)
    assert [len(measure.support_polygon(rec, k)) for k in range(5)] == [4, 1, 2, 0, 4]


def test_hull_agrees_with_qhull():
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(0)
    for count in (3, 5, 20):
        for _ in range(20):
            points = rng.normal(size=(count, 3))
            found = pressure.corners_of(points)
            assert {*map(tuple, found)} == {*map(tuple, points[ConvexHull(points[:, :2]).vertices])}


@pytest.mark.parametrize(
    ("x", "y", "margin"),
    [(0.0, 0.0, 0.5), (0.9, 0.2, 0.1), (1.3, 0.0, -0.3), (1.3, 0.9, -0.5), (1.0, 0.0, 0.0)],
)
def test_support_margin_is_the_distance_to_the_edge(brick, x, y, margin):
    corners = np.array([[1, 0.5, 0], [-1, 0.5, 0], [-1, -0.5, 0], [1, -0.5, 0]])
    qpos = np.tile(brick.home, (5, 1))
    qpos[:, 0], qpos[:, 1] = x, y
    rec = at_rest(brick, position=np.tile(corners, (5, 1, 1)), qpos=qpos)
    for of in ("com", "capture", "zmp"):  # at rest they all are below the brick's middle
        assert measure.support_margin(rec, of)[:-1] == pytest.approx(margin, abs=TIGHT)
    assert measure.support_margin(rec, "cop") == pytest.approx(0.5)


def test_support_margin_is_a_distance_to_a_line_or_a_point_where_the_support_is_one(brick):
    corners = np.array([[0.1, 0.0, 0], [-0.1, 0.0, 0], [0.0, 0.0, 0], [0.0, 0.3, 0]])
    mode = np.tile([STICK, STICK, STICK, OPEN], (5, 1))
    mode[1] = [STICK, OPEN, OPEN, OPEN]
    mode[2] = OPEN
    force = np.zeros((5, 4, 3))
    force[:, 0, 2] = force[:, 1, 2] = 5.0
    rec = at_rest(brick, position=np.tile(corners, (5, 1, 1)), mode=mode, force=force)
    assert measure.support_margin(rec) == pytest.approx([0.0, -0.1, math.nan, 0.0, 0.0], nan_ok=True, abs=TIGHT)


def test_a_planar_robot_stands_on_a_line():
    rec = at_rest(load_robot("planar-biped"))
    # The ankle stands over the middle of a sole of 0.2 m; the legs' distance in the drawing does not count.
    assert measure.support_margin(rec, "cop") == pytest.approx(0.1, abs=TIGHT)
    com = measure.momentum(rec).com[0, 0]
    assert measure.support_margin(rec, "com") == pytest.approx(0.1 - abs(com - rec.position[0, :, 0].mean()), abs=TIGHT)


def test_an_unknown_margin_is_answered_with_the_known_ones(brick):
    with pytest.raises(RecordingError, match="no support margin of 'zpm': did you mean 'zmp'"):
        measure.support_margin(at_rest(brick), "zpm")


def test_capture_point_leads_the_centre_of_mass_by_its_speed(biped):
    qvel = np.zeros((5, 20))
    qvel[:, 0] = 0.4
    for ground, height in ((Ground.plane(), 0.0), (Ground.plane(height=-0.2), -0.2)):
        rec = at_rest(biped, qvel=qvel, ground=ground)
        com = measure.momentum(rec).com[0]
        lead = 0.4 * math.sqrt((com[2] - height) / 9.81)
        assert measure.capture_point(rec)[0] == pytest.approx([com[0] + lead, com[1], height])
