"""Hulls against Qhull."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from footfall.robot.shapes import hull, hull_ring, polygon_area

BOX = np.array(np.meshgrid([0.0, 2.0], [0.0, 3.0], [0.0, 5.0])).reshape(3, -1).T
TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]


@pytest.mark.parametrize("count", [4, 5, 9, 50])
@pytest.mark.parametrize("seed", range(5))
def test_few_points_have_the_surface_that_qhull_finds(count, seed):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    faces, theirs = hull(points), ConvexHull(points)
    assert faces.corners.tolist() == sorted(theirs.vertices)
    assert faces.area.sum() == pytest.approx(theirs.area, rel=1e-9)
    assert (points @ faces.normal.T + faces.offset).max() < 1e-12
    # The areas of a closed surface cancel, and their cones from inside fill the body.
    np.testing.assert_allclose(faces.area @ faces.normal, 0.0, atol=1e-9)
    middle = points.mean(axis=0)
    heights = -(faces.normal @ middle + faces.offset)
    assert heights @ faces.area / 3.0 == pytest.approx(theirs.volume, rel=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_box_has_twelve_triangles_however_it_is_turned_and_whatever_its_size(size):
    faces = hull(size * (BOX @ TURN.T + 7.0))
    assert sorted(faces.area / size**2) == pytest.approx([3.0] * 4 + [5.0] * 4 + [7.5] * 4, rel=1e-6)


def test_points_in_a_plane_have_no_faces_but_those_of_the_plane():
    flat = np.column_stack([np.random.default_rng(2).normal(size=(7, 2)), np.zeros(7)])
    found = hull(flat @ TURN.T)
    assert found is None or found.area @ np.abs(found.normal @ TURN[:, 2]) == pytest.approx(found.area.sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_ring_of_few_points_is_qhulls(seed):
    flat = np.random.default_rng(seed).normal(size=(20, 2))
    ring, theirs = hull_ring(flat), list(ConvexHull(flat).vertices)
    first = theirs.index(ring[0])
    assert ring == theirs[first:] + theirs[:first]
    assert polygon_area(flat[ring]) == pytest.approx(ConvexHull(flat).volume, rel=1e-12)


def test_a_ring_leaves_out_points_on_its_sides_and_doubles():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    flat = np.vstack([corners, [[0.5, 0.0], [1.0, 0.5], [0.5, 0.5]], corners[1:3]])
    assert len(hull_ring(flat)) == 4
    assert polygon_area(flat[hull_ring(flat)]) == 1.0
