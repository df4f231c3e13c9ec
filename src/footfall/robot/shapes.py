"""Shapes of geoms that can touch the ground: convex hulls, as MuJoCo computes them, wheels, and the soles of feet.

A wheel is a cylinder, or a mesh whose rim is a circle about its hinge. In a mesh, the rim of a wheel is a polygon of 12
to some hundred corners. A mesh is taken for a wheel only if it turns on a hinge through its middle and is no longer
than wide; cans, limbs and round soles keep their corners. A sole is found from the collision geometry of a foot: what
of it can touch, what of that is the sole, and its outline. All in the world frame with z up, m, in the pose of the
given ``MjData``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError

KIND = mujoco.mjtGeom
#: Kinds of geoms that can touch the ground.
_SOLID = "SPHERE", "CAPSULE", "BOX", "MESH", "CYLINDER", "ELLIPSOID"
SOLID = tuple(int(getattr(KIND, f"mjGEOM_{kind}")) for kind in _SOLID)
#: The eight corners of a box of half sizes 1.
CUBE = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
#: Smallest cross product of two edges, as a share of the squared size of all points; with less, three points are
#: collinear.
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
    """The convex hull of points (N, 3), m; None if all lie in a plane."""
    return _hull(np.ascontiguousarray(points, dtype=float).tobytes())


@lru_cache(maxsize=256)
def _hull(numbers: bytes) -> Hull | None:
    """Cached for robots that are loaded again."""
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
    # Layout: numbers of corners and triangles; start of the edges of each corner; index of each corner; edges;
    # triangles.
    corners, faces = int(graph[0]), int(graph[1])
    triangles = graph[2 + 3 * corners + 3 * faces :][: 3 * faces]
    return np.sort(graph[2 + corners : 2 + 2 * corners]).astype(int), triangles.reshape(-1, 3).astype(int)


def hull_vertices(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """(N, 3) vertices of the hull of a mesh, its own frame, m: MuJoCo's collision hull, if there is one."""
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
    """Half of a hull, from the first of sorted points to the last, which is left out (Andrew's monotone chain)."""
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
    """The wheel of a geom, whatever its pose; ``None`` if it is no wheel."""
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
    """The wheel about an axis with these corners of its hull (N, 3), world frame; ``None`` if it is no wheel."""
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
    """Centres (N, 3) and semi-axes (N, 3, 3) of a wheel's rims, world frame, m: flat ellipsoids; one if narrow."""
    ends = np.array([[-1.0], [1.0]] if wheel.half_width > 0.0 else [[0.0]]) * wheel.half_width
    axes = wheel.turn * [wheel.radius, wheel.radius, 0.0]
    return wheel.centre + ends * wheel.turn[:, 2], np.repeat(axes[None], len(ends), axis=0)


UP = np.array([0.0, 0.0, 1.0])
SOLE_DEPTH = 0.05  # largest height of the sole's vertices above its plane, as a share of the foot's thickness ...
SOLE_DEPTH_RANGE = (1e-5, 5e-3)  # ... but within these limits, m
LEAN = np.sin(np.radians(30.0))  # largest lean at which both ends of a capsule, or a ball alone, are the foot
FACING = np.cos(np.radians(45.0))  # largest tilt of a sole's face from horizontal
#: Largest tilt of a sole, unless its ankle is above it, at least OVER of its length from both ends. The side of a limb,
#: in contrast, ends at the joint.
LEVEL, OVER = np.cos(np.radians(15.0)), 0.2
RIM = 16  # vertices in place of a cylinder's rim
OUTLINE_DETAIL = 2e-3  # least area that a vertex of the outline must add, as a share of the sole's area
FEW = 8  # most contact points of a sole made of a mesh or of many geoms
NEAR = 1e-3  # distance below which two points count as one, as a share of the sole's length and width
BALL_VERTICES = 8  # fewest vertices of a mesh to which a ball is fitted
ROUND = 0.05  # largest error of the fit of a ball, as a share of its radius ...
BARREL = 0.3  # ... the same for an end without a flat face to stand on
FLAT_SHARE = 0.3  # least area of a flat face that is a sole, as a share of the area seen from below
FLAT = 1e-2  # largest distance of a vertex of a given polygon from its plane, as a share of its size


def is_solid(model: mujoco.MjModel, geom: int) -> bool:
    """Whether a geom can touch anything."""
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom]) and model.geom_type[geom] in SOLID


def corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """The parts of a geom that can touch: (N, 3) vertices or sphere centres, world frame, and (N,) radii, m."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    rotation, origin = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
    axis = rotation[:, 2]
    wheel = upright_wheel(model, data, geom)
    if wheel is not None:
        down = wheel.turn[:, :2] @ (wheel.turn[:, :2].T @ -UP)
        ends, _ = rims_of(wheel)
        return ends + wheel.radius * down / np.linalg.norm(down), np.zeros(len(ends))
    if kind == KIND.mjGEOM_SPHERE:
        return origin[None].copy(), size[:1].copy()
    if kind == KIND.mjGEOM_CAPSULE:
        ends = origin + size[1] * np.array([axis, -axis])
        if abs(axis @ UP) > LEAN:
            ends = ends[[np.argmin(ends @ UP)]]
        return ends, np.full(len(ends), size[0])
    if kind == KIND.mjGEOM_BOX:
        local = CUBE * size
    elif kind == KIND.mjGEOM_CYLINDER:
        down = rotation.T @ -UP
        lowest = np.arctan2(down[1], down[0])  # so that the lowest point of the rim is among its vertices
        angles = lowest + 2 * np.pi / RIM * np.arange(RIM)
        rim = size[0] * np.column_stack([np.cos(angles), np.sin(angles)])
        local = np.vstack([np.column_stack([rim, np.full(len(rim), z)]) for z in (-size[1], size[1])])
    elif kind == KIND.mjGEOM_ELLIPSOID:
        # The lowest point of the surface, as a sharp point; `rolling_parts` follows it as it rolls.
        down = size * (rotation.T @ -UP)
        local = (size * down / np.linalg.norm(down))[None]
    else:
        local = hull_vertices(model, model.geom_dataid[geom])
    return local @ rotation.T + origin, np.zeros(len(local))


def upright_wheel(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Wheel | None:
    """The wheel of a geom if its axis is level enough for it to roll; None otherwise."""
    wheel = wheel_of(model, data, geom)
    return wheel if wheel is not None and abs(wheel.turn[2, 2]) <= FACING else None


def rolling_parts(
    model: mujoco.MjModel, data: mujoco.MjData, geoms: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """For a foot that is an ellipsoid or stands on wheels alone: its outline on the ground, and centres (N, 3) and
    semi-axes (N, 3, 3) of its rolling ellipsoids, world frame, m; a rim is an ellipsoid without thickness.
    """
    parts = [corners(model, data, g) for g in geoms]
    if len(geoms) == 1 and model.geom_type[geoms[0]] == KIND.mjGEOM_ELLIPSOID:
        return parts[0][0], data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3) * model.geom_size[geoms[0]]
    low = np.array([np.min(place[:, 2] - radius) for place, radius in parts])
    touching = np.flatnonzero(low <= low.min() + SOLE_DEPTH_RANGE[1])
    wheels = [upright_wheel(model, data, geoms[i]) for i in touching]
    rims = [rims_of(wheel) for wheel in wheels if wheel is not None]
    if len(rims) < len(wheels):
        return None
    bottom = np.vstack([parts[i][0] for i in touching])
    centre, axes = np.vstack([one[0] for one in rims]), np.concatenate([one[1] for one in rims])
    return bottom[outline(bottom, UP, detail=OUTLINE_DETAIL)], centre, axes


class Sole(NamedTuple):
    """The corners that make a sole, and its plane."""

    corners: np.ndarray  # indices
    normal: np.ndarray  # (3,) unit, upward
    flat: bool  # whether it is a flat face; otherwise it is the lowest corners


def sole_of(centre: np.ndarray, radius: np.ndarray, joint: np.ndarray, *, wide: bool = False) -> Sole:
    """The sole of a foot: its corners (N, 3) with their radii (N,), and the joint (3,) that carries it.

    The sole is the largest face of the hull that faces the ground and reaches the lowest corner: a foot that is tilted
    in the standing pose keeps its whole sole, and the side of a limb is no sole (``_sole_face``). Its corners are those
    up to 5 % of the foot's thickness above it, at most 5 mm; if these are only the tip of a round end, or if ``wide``,
    those up to 5 mm. Without such a face (a line, an edge) the sole is the lowest corner, with sharp corners less than
    5 mm above it, and with round ones that rise from it by less than 30 degrees.
    """
    bottom = centre - radius[:, None] * UP
    solid = np.vstack([bottom, (centre + radius[:, None] * UP)[radius > 0]])
    face = _sole_face(solid, joint) if len(solid) >= 4 else None
    if face is not None:
        normal = face[0]
        depth = bottom @ normal - float((bottom @ normal).min())
        thickness = float(np.ptp(solid @ normal))
        near = np.flatnonzero(depth <= np.clip(SOLE_DEPTH * thickness, *SOLE_DEPTH_RANGE))
        far = np.flatnonzero(depth <= min(SOLE_DEPTH_RANGE[1], 0.5 * thickness))
        if wide or sole_area(bottom[near], normal) < FLAT_SHARE * sole_area(bottom[far], normal):
            near = far
        return Sole(near, normal, flat=True)
    lowest = int(np.argmin(bottom @ UP))
    rise, away = (bottom - bottom[lowest]) @ UP, np.linalg.norm((bottom - bottom[lowest])[:, :2], axis=1)
    leaning = (radius > 0.0) | (radius[lowest] > 0.0)
    sharp = np.clip(SOLE_DEPTH * float(np.ptp(solid @ UP)), *SOLE_DEPTH_RANGE)
    allowed = np.where(leaning, SOLE_DEPTH_RANGE[0] + LEAN * away, sharp)
    return Sole(np.flatnonzero(rise <= allowed), UP, flat=False)


def _sole_face(solid: np.ndarray, joint: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Upward unit normal and area (m2, seen from below) of the largest nearly flat downward face of the hull that
    reaches the lowest corner. A tilted face must lie under the ``joint``, where the side of a limb ends.
    """
    found = hull(solid)
    if found is None:
        return None
    area = found.area * np.clip(-found.normal @ UP, 0, None)
    down = np.flatnonzero(-found.normal @ UP > FACING)
    if down.size == 0:
        return None
    normals, offsets = found.normal[down], found.offset[down]
    largest = np.argsort(-area[down], kind="stable")[:200]  # bounds the cost of fine meshes; no sole has more faces
    same = (normals[largest] @ normals.T > np.cos(np.radians(5.0))) & (
        np.abs(offsets[largest, None] - offsets) < SOLE_DEPTH_RANGE[1]
    )
    lowest = float(solid[:, 2].min()) + SOLE_DEPTH_RANGE[1]
    for group in same[np.argsort(-(same @ area[down]), kind="stable")]:
        normal = -(normals * (area[down] * group)[:, None]).sum(axis=0)
        normal /= np.linalg.norm(normal)
        corners, up = solid[np.unique(found.triangle[down[group]])], UP - normal[2] * normal
        uphill = corners @ up
        under = OVER <= (joint @ up - uphill.min()) / max(np.ptp(uphill), 1e-12) <= 1.0 - OVER
        if corners[:, 2].min() <= lowest and (normal @ UP >= LEVEL or under):
            return normal, float((area[down] * group).sum())
    return None


def largest_side(solid: np.ndarray) -> float:
    """Area (m2) of the largest nearly flat face of the hull of corners (N, 3) that looks sideways."""
    found = hull(solid)
    if found is None:
        return 0.0
    sides = np.flatnonzero(np.abs(found.normal @ UP) < FACING)
    same = found.normal[sides] @ found.normal[sides].T > np.cos(np.radians(5.0))
    return float((same @ found.area[sides]).max(initial=0.0))


def sole_area(points: np.ndarray, normal: np.ndarray) -> float:
    """Area (m2) of the convex outline of points (N, 3), seen along a normal."""
    flat = np.column_stack([points @ axis for axis in sole_axes(normal)])
    return polygon_area(flat[hull_ring(flat)]) if len(flat) > 2 else 0.0


def outline(points: np.ndarray, normal: np.ndarray, *, detail: float = OUTLINE_DETAIL) -> list[int]:
    """Indices of the convex outline of points seen along ``normal``, counter-clockwise from above.

    It starts at the foremost vertex (the left one of two), and leaves out vertices that add less than ``detail`` of the
    area. Collinear points have two, the rear end first; coinciding points have one.
    """
    forward, sideward = sole_axes(normal)
    flat = np.column_stack([points @ forward, points @ sideward])
    size = np.ptp(flat, axis=0).max()
    if size < 1e-9:
        return [0]
    values, vectors = np.linalg.eigh(np.cov((flat - flat.mean(axis=0)).T, bias=True))
    if len(flat) < 3 or values[0] < 1e-12 * values[1]:
        along = vectors[:, 1] * (1 if vectors[0, 1] + 1e-3 * vectors[1, 1] >= 0 else -1)
        return [int(np.argmin(flat @ along)), int(np.argmax(flat @ along))]
    ring = hull_ring(flat)
    area = polygon_area(flat[ring])
    while len(ring) > 3:
        corner = [polygon_area(flat[[ring[i - 1], ring[i], ring[(i + 1) % len(ring)]]]) for i in range(len(ring))]
        least = int(np.argmin(corner))
        if corner[least] > detail * area:
            break
        ring.pop(least)
    first = int(np.argmax(flat[ring] @ [1.0, 1e-3]))
    return [int(i) for i in ring[first:] + ring[:first]]


def ball_of(bottom: np.ndarray, joint: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Centre and radius of the ball at the lower end of a convex body with these vertices (N, 3), carried by ``joint``;
    None if the end is no ball.

    The ball is fitted by least squares to the cap of 60 degrees around its lowest point, which is updated with the fit.
    An end without a flat face may differ more from a ball, as a barrel does.
    """
    lowest = float(bottom[:, 2].min())
    radius = 0.5 * float(np.ptp(bottom[:, :2], axis=0).min())
    centre, cap = np.zeros(3), bottom
    for _ in range(10):
        cap = bottom[bottom[:, 2] <= lowest + 0.5 * radius]
        if len(cap) < BALL_VERTICES or np.ptp(cap[:, 2]) < 0.1 * radius:
            return None
        # |x|^2 = 2 c . x + (r^2 - |c|^2), linear in c and in the bracket.
        solution, _, rank, _ = np.linalg.lstsq(np.column_stack([2 * cap, np.ones(len(cap))]), (cap**2).sum(axis=1))
        if rank < 4:
            return None
        centre, before = solution[:3], radius
        radius = float(np.sqrt(max(0.0, solution[3] + centre @ centre)))
        if abs(radius - before) < 1e-3 * radius:
            break
    off = np.abs(np.linalg.norm(cap - centre, axis=1) - radius).max()
    short = abs(centre[2] - radius - lowest)
    face = _sole_face(bottom, joint)
    flat = 0.0 if face is None else face[1] / polygon_area(cap[hull_ring(cap[:, :2]), :2])
    allowed = (BARREL if flat < FLAT_SHARE else ROUND) * radius
    centre[2] = lowest + radius
    return (centre, radius) if off < allowed and short < allowed else None


def lone_ball(centre: np.ndarray, radius: np.ndarray) -> int | None:
    """Index of the only ball that touches for every lean of the foot up to 30 degrees, while the end of the shank, for
    example, stays above it; None if there is none.
    """
    lowest = int(np.argmin(centre @ UP - radius))
    away = centre - centre[lowest]
    # Height of each other corner above the ball's lowest point when the foot leans towards it.
    left = np.sqrt(1.0 - LEAN**2) * away[:, 2] - LEAN * np.hypot(away[:, 0], away[:, 1]) - radius + radius[lowest]
    left[lowest] = np.inf
    return lowest if radius[lowest] > 0 and left.min() > 0 else None


def few(points: np.ndarray, normal: np.ndarray) -> list[int]:
    """Indices of at most eight points that span a sole: the extreme ones in eight directions.

    The directions are symmetric about the world's forward and sideward axes, so that mirrored soles keep mirrored
    points; they are scaled by the length and width of the sole.
    """
    forward, sideward = sole_axes(normal)
    flat = np.column_stack([points @ forward, points @ sideward])
    size = np.maximum(np.ptp(flat, axis=0), 1e-9)
    angles = np.radians(22.5 + 45.0 * np.arange(8))
    reach = (flat / size) @ np.array([np.cos(angles), np.sin(angles)])
    middle = (flat.max(axis=0) + flat.min(axis=0)) / 2
    kept: list[int] = []
    for k in range(8):
        # The outermost of equally extreme points: vertices on one edge of a mesh differ by rounding.
        extreme = np.flatnonzero(reach[:, k] > reach[:, k].max() - 1e-4)
        best = int(extreme[np.argmax((((flat[extreme] - middle) / size) ** 2).sum(axis=1))])
        if not kept or np.min(np.linalg.norm((flat[kept] - flat[best]) / size, axis=1)) > NEAR:
            kept.append(best)
    return kept


def sole_axes(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors in the plane of a sole: the projected x axis of the world, and the direction to its left."""
    forward = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    if np.linalg.norm(forward) < 1e-6:
        forward = np.array([0.0, 1.0, 0.0])
    forward /= np.linalg.norm(forward)
    return forward, np.cross(normal, forward)


def check_polygon(ring: np.ndarray, foot: str) -> None:
    """Raise ``RobotError`` unless (K, 3) vertices in order make a flat, convex polygon, K from 3 on."""
    supported = "a sole is a flat convex polygon, its vertices in order, either way round"
    if len(ring) < 3:
        raise RobotError(f"foot '{foot}': its polygon has {len(ring)} vertices; {supported}, 3 at least")
    size = float(np.linalg.norm(np.ptp(ring, axis=0)))
    normal = np.linalg.svd(ring - ring.mean(axis=0))[2][2]
    off = np.abs((ring - ring.mean(axis=0)) @ normal)
    worst = int(np.argmax(off))
    if off[worst] > FLAT * size:
        raise RobotError(
            f"foot '{foot}': its polygon is not flat, vertex {worst} lies {off[worst]:.3g} m off the plane of all; "
            f"{supported}; for a curved sole give contact points, (body, points), or use spheres"
        )
    edge = np.roll(ring, -1, axis=0) - ring
    turn = np.cross(np.roll(edge, 1, axis=0), edge) @ normal / size**2
    heading = np.column_stack([edge @ axis for axis in sole_axes(normal)])
    angle = np.arctan2(heading[:, 1], heading[:, 0])
    around = np.angle(np.exp(1j * (angle - np.roll(angle, 1)))).sum()
    sense = np.sign(turn.sum())
    bent = np.flatnonzero(sense * turn < 1e-5 * np.abs(turn).max())
    if bent.size or abs(abs(around) - 2 * np.pi) > 1e-6:
        where = f"at vertex {bent[0]} it does not turn inwards" if bent.size else "its edges cross"
        raise RobotError(
            f"foot '{foot}': its polygon is not convex, {where}; {supported}; split the sole into several feet, "
            "or give contact points, (body, points), whose hull is then the sole"
        )
