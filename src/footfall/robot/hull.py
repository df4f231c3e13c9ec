"""Convex hulls: of few points by trying every plane through them, of many by SciPy's Qhull.

The feet of most robots have few corners, and importing SciPy's hulls takes longer than the rest of loading a robot.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import mujoco
import numpy as np

#: Most points for which every plane is tried: 19600 planes.
FEW = 50
#: Share of the size of the body: points nearer to a plane or a line than this lie on it.
THIN = 1e-9


class Faces(NamedTuple):
    """The F faces of a convex body, or triangles of them."""

    normal: np.ndarray  # (F, 3) unit, outward
    offset: np.ndarray  # (F,) m; normal . x + offset = 0 on the face
    area: np.ndarray  # (F,) m2


def hull_faces(points: np.ndarray) -> Faces | None:
    """The faces of the hull of points (N, 3), m; None if they are all in a plane."""
    return _faces_of_few(points) if len(points) <= FEW else _faces_by_qhull(points)


def hull_corners(points: np.ndarray) -> np.ndarray | None:
    """Indices of the corners of the hull of points (N, 3), in order; None if they are all in a plane."""
    if len(points) > FEW:
        hull = qhull(points)
        return None if hull is None else np.sort(hull.vertices)
    return _corners_of_few(np.ascontiguousarray(points, dtype=float).tobytes())


@lru_cache(maxsize=256)
def _corners_of_few(numbers: bytes) -> np.ndarray | None:
    """The corners of a hull, cached: a robot that is loaded again has the same points."""
    points = np.frombuffer(numbers).reshape(-1, 3)
    planes = _planes_of_few(points) if len(points) > 3 else None
    if planes is None:
        return None
    normals, _, on = planes
    rings = [np.flatnonzero(row)[_ring_in_plane(points[row], normal)] for row, normal in zip(on, normals, strict=True)]
    corners = np.unique(np.concatenate(rings))
    corners.setflags(write=False)
    return corners


def hull_ring(flat: np.ndarray) -> list[int]:
    """Indices of the corners of the hull of points (N, 2) in a plane that are not all on a line, counter-clockwise."""
    if len(flat) > FEW:
        return list(qhull(flat).vertices)
    order = sorted(range(len(flat)), key=lambda i: (flat[i, 0], flat[i, 1]))
    thin = THIN * float(np.ptp(flat, axis=0).max()) ** 2
    return _lower_ring(flat, order, thin) + _lower_ring(flat, order[::-1], thin)


def polygon_area(ring: np.ndarray) -> float:
    """Area of a polygon (N, 2), m2."""
    x, y = (ring - ring[0]).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def qhull(points: np.ndarray) -> Any:
    """SciPy's ``ConvexHull``; None of points that are all in a plane, or on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points)
    except QhullError:
        return None


def _lower_ring(flat: np.ndarray, order: list[int], thin: float) -> list[int]:
    """Half of a ring, from the first of sorted points up to the last, which is left out (Andrew's monotone chain)."""
    ring: list[int] = []
    for i in order:
        while len(ring) > 1:
            (ax, ay), (bx, by) = flat[ring[-1]] - flat[ring[-2]], flat[i] - flat[ring[-2]]
            if ax * by - ay * bx > thin:
                break
            ring.pop()
        ring.append(i)
    return ring[:-1]


def _planes_of_few(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The planes of the F faces of a hull: outward normals (F, 3), offsets (F,), and the points on each (F, N)."""
    size = float(np.ptp(points, axis=0).max())
    triples = np.array(list(combinations(range(len(points)), 3)))
    a, b, c = (points[triples[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    largest_first = np.argsort(-length, kind="stable")  # their normals are the most accurate
    largest_first = largest_first[length[largest_first] > THIN * size**2]
    normal = cross[largest_first] / length[largest_first, None]
    offset = -(normal * a[largest_first]).sum(axis=1)
    above = points @ normal.T + offset  # (N, planes)
    flip = (above > -THIN * size).all(axis=0)
    sign = np.where(flip, -1.0, 1.0)
    normal, offset, above = sign[:, None] * normal, sign * offset, sign * above
    outer = (above < THIN * size).all(axis=0)
    on = np.abs(above) < THIN * size
    if not outer.any() or on.all(axis=0).any():
        return None
    seen: dict[bytes, int] = {}
    for plane in np.flatnonzero(outer):
        seen.setdefault(on[:, plane].tobytes(), int(plane))
    chosen = list(seen.values())
    return normal[chosen], offset[chosen], on[:, chosen].T


def _faces_of_few(points: np.ndarray) -> Faces | None:
    planes = _planes_of_few(points)
    if planes is None:
        return None
    normals, offsets, on = planes
    areas = [_area_in_plane(points[row], normal) for row, normal in zip(on, normals, strict=True)]
    return Faces(normals, offsets, np.array(areas))


def _flattened(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Points (N, 3) of a plane in two coordinates."""
    across = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(normal, across)
    first /= np.linalg.norm(first)
    return np.column_stack([points @ first, points @ np.cross(normal, first)])


def _ring_in_plane(points: np.ndarray, normal: np.ndarray) -> list[int]:
    return hull_ring(_flattened(points, normal))


def _area_in_plane(points: np.ndarray, normal: np.ndarray) -> float:
    flat = _flattened(points, normal)
    return polygon_area(flat[hull_ring(flat)])


def _faces_by_qhull(points: np.ndarray) -> Faces | None:
    hull = qhull(points)
    if hull is None:
        return None
    a, b, c = (hull.points[hull.simplices[:, i]] for i in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return Faces(hull.equations[:, :3], hull.equations[:, 3], area)


def hull_vertices(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """(N, 3) vertices of the hull of a mesh, its own frame, m: MuJoCo's, if it has one for collisions."""
    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    vertices = model.mesh_vert[start : start + count].astype(float)
    graph = model.mesh_graphadr[mesh]
    if graph >= 0:  # number of vertices and of faces, then for each vertex where its edges begin, then its index
        on_hull = model.mesh_graph[graph]
        return vertices[np.sort(model.mesh_graph[graph + 2 + on_hull : graph + 2 + 2 * on_hull])]
    hull = hull_corners(vertices)
    return np.unique(vertices, axis=0) if hull is None else vertices[hull]  # a flat mesh is its own hull
