"""Shapes of geoms: convex hulls, as MuJoCo computes them, and wheels.

A wheel is a cylinder, or a mesh whose rim is a circle about its hinge. In a mesh, the rim of a wheel is a polygon of 12
to some hundred corners. A mesh is taken for a wheel only if it turns on a hinge through its middle and is no longer
than wide; cans, limbs and round soles keep their corners.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

KIND = mujoco.mjtGeom
#: Kinds of geoms that can touch the ground.
SOLID = tuple(
    int(kind)
    for kind in (
        KIND.mjGEOM_SPHERE,
        KIND.mjGEOM_CAPSULE,
        KIND.mjGEOM_BOX,
        KIND.mjGEOM_MESH,
        KIND.mjGEOM_CYLINDER,
        KIND.mjGEOM_ELLIPSOID,
    )
)
#: The eight corners of a box of half sizes 1.
CUBE = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
#: Share of the square of a ring's size: three points whose triangle is smaller lie on a line.
THIN = 1e-9
#: Largest deviation of a rim's corners from a circle, relative to its radius.
ROUND_RIM = 5e-3
#: Largest angle between neighbouring corners of a rim: that of a dodecagon, plus rounding.
WIDEST_ANGLE = 2.0 * np.pi / 12.0 * 1.01
#: Largest distance of a mesh's centre of mass (MuJoCo's origin of the geom) from the hinge, relative to the mesh's
#: size.
BALANCED = 0.05
#: Width of a rim below which it counts as one circle, like a tyre's, relative to the radius.
NARROW = 0.02


class Hull(NamedTuple):
    """The corners and the F triangles of a convex hull."""

    corners: np.ndarray  # indices of its corners, in order
    triangle: np.ndarray  # (F, 3) indices of theirs
    normal: np.ndarray  # (F, 3) unit, outward
    offset: np.ndarray  # (F,) m; normal . x + offset = 0 on the triangle
    area: np.ndarray  # (F,) m2


def hull(points: np.ndarray) -> Hull | None:
    """The hull of points (N, 3), m; None if they are all in a plane."""
    return _hull(np.ascontiguousarray(points, dtype=float).tobytes())


@lru_cache(maxsize=256)
def _hull(numbers: bytes) -> Hull | None:
    """Cached: a robot that is loaded again has the same points."""
    points = np.frombuffer(numbers).reshape(-1, 3)
    spec = mujoco.MjSpec()
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0  # MuJoCo refuses meshes that are very small
    middle = points.mean(axis=0) if len(points) else 0.0
    mesh = spec.add_mesh(name="hull", uservert=((points - middle) / size).ravel())
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    spec.worldbody.add_geom(type=KIND.mjGEOM_MESH, meshname="hull")
    try:
        model = spec.compile()
    except ValueError:
        return None
    corners, triangle = _graph(model, 0)
    a, b, c = (points[triangle[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    kept = length > THIN * size**2
    normal = cross[kept] / length[kept, None]
    inward = (normal * (a[kept] - middle)).sum(axis=1) < 0.0
    normal[inward] *= -1.0
    return Hull(corners, triangle[kept], normal, -(normal * a[kept]).sum(axis=1), 0.5 * length[kept])


def _graph(model: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the corners of a mesh's hull, in order, and of its triangles (F, 3)."""
    graph = model.mesh_graph[model.mesh_graphadr[mesh] :]
    # Numbers of corners and of triangles; for each corner where its edges begin, then its index; edges; triangles.
    corners, faces = int(graph[0]), int(graph[1])
    triangles = graph[2 + 3 * corners + 3 * faces :][: 3 * faces]
    return np.sort(graph[2 + corners : 2 + 2 * corners]).astype(int), triangles.reshape(-1, 3).astype(int)


def hull_vertices(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """(N, 3) vertices of the hull of a mesh, its own frame, m: MuJoCo's, if it has one for collisions."""
    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    vertices = model.mesh_vert[start : start + count].astype(float)
    if model.mesh_graphadr[mesh] >= 0:
        return vertices[_graph(model, mesh)[0]]
    found = hull(vertices)
    return np.unique(vertices, axis=0) if found is None else vertices[found.corners]  # a flat mesh is its own hull


def hull_ring(flat: np.ndarray) -> list[int]:
    """Indices of the corners of the hull of points (N, 2) in a plane that are not all on a line, counter-clockwise."""
    order = sorted(range(len(flat)), key=lambda i: (flat[i, 0], flat[i, 1]))
    thin = THIN * float(np.ptp(flat, axis=0).max()) ** 2
    return _lower_ring(flat, order, thin) + _lower_ring(flat, order[::-1], thin)


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


def polygon_area(ring: np.ndarray) -> float:
    """Area of a polygon (N, 2), m2."""
    x, y = (ring - ring[0]).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


class Wheel(NamedTuple):
    """A wheel in the world frame, m."""

    centre: np.ndarray  # (3,)
    turn: np.ndarray  # (3, 3) columns: two directions across the axis, and the axis
    radius: float
    half_width: float


def wheel_of(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Wheel | None:
    """The wheel that a geom is, in whatever pose; ``None`` if it is no wheel."""
    turn, origin = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
    if model.geom_type[geom] == KIND.mjGEOM_CYLINDER:
        return Wheel(origin, turn, float(model.geom_size[geom, 0]), float(model.geom_size[geom, 1]))
    if model.geom_type[geom] != KIND.mjGEOM_MESH:
        return None
    body = model.body_weldid[model.geom_bodyid[geom]]
    for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
        if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
            continue
        arm, axis = origin - data.xanchor[joint], data.xaxis[joint]
        away = arm - (arm @ axis) * axis
        if away @ away <= (BALANCED * model.geom_aabb[geom, 3:].max()) ** 2:
            corners = hull_vertices(model, model.geom_dataid[geom]) @ turn.T + origin
            found = _rim(corners, data.xanchor[joint], axis)
            if found is not None:
                return found
    return None


def _rim(corners: np.ndarray, anchor: np.ndarray, axis: np.ndarray) -> Wheel | None:
    """The wheel about an axis whose hull has these corners (N, 3), world frame; ``None`` if they are no wheel's."""
    across = np.linalg.svd(axis[None])[2][1:]
    along, flat = (corners - anchor) @ axis, (corners - anchor) @ across.T
    far = np.linalg.norm(flat, axis=1)
    radius = float(far.max())
    if np.ptp(along) > 2.0 * radius:  # a limb that turns about its own length
        return None
    outer = far >= (1.0 - ROUND_RIM) * radius
    low, high = float(along[outer].min()), float(along[outer].max())
    one = high - low <= NARROW * radius
    for edge in (low, high):
        ring = flat[outer & (np.abs(along - edge) <= NARROW * radius)]
        angles = np.sort(np.arctan2(ring[:, 1], ring[:, 0]))
        if len(angles) < 2 or np.diff(angles, append=angles[0] + 2.0 * np.pi).max() > WIDEST_ANGLE:
            return None
    turn = np.column_stack([*across, np.cross(*across)])
    centre = anchor + 0.5 * (low + high) * axis
    return Wheel(centre, turn, radius, 0.0 if one else 0.5 * (high - low))


def rims_of(wheel: Wheel) -> tuple[np.ndarray, np.ndarray]:
    """Centres (N, 3) and semi-axes (N, 3, 3) of its rims, two or one if narrow: flat ellipsoids, world frame, m."""
    ends = np.array([[-1.0], [1.0]] if wheel.half_width > 0.0 else [[0.0]]) * wheel.half_width
    axes = wheel.turn * [wheel.radius, wheel.radius, 0.0]
    return wheel.centre + ends * wheel.turn[:, 2], np.repeat(axes[None], len(ends), axis=0)
