"""Where bodies other than feet can touch the ground: points on the collision geometry of every body.

Spheres and capsules give round points, boxes their corners, cylinders both rims, meshes a reduced convex hull, and
ellipsoids their support point, which moves over the surface as the body turns. Bodies that are fixed to each other
count as one. Points in the sole of a foot, or equal to one of its contact points, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.robot.feet import Foot, sole_frame
from footfall.robot.pose import posed
from footfall.robot.shapes import (
    CUBE,
    KIND,
    SOLE_DEPTH,
    SOLE_DEPTH_RANGE,
    UP,
    Wheel,
    hull,
    hull_vertices,
    is_solid,
    rims_of,
    wheel_of,
)

RIM = 8  # fixed points on each face of a cylinder, which carry it when it stands on that face; rolling, its rims do
INSIDE_RIM = 0.98  # their distance from the axis, as a share of the radius: inside the rim, so that it rolls smoothly
MOST = 14  # most corners of a body: the extreme ones along the 6 axes and 8 diagonals of its box
SOLE_SHARE = 0.05  # height above the sole, as a share of its size, up to which points belong to it on soft ground
SAME = 1e-6  # m, distance below which two points count as one


@dataclass(frozen=True, eq=False)
class BodyPoints:
    """Q points on B bodies, grouped by body, without those of the feet; bodies that are fixed to a foot come first."""

    body: np.ndarray  # (B,) MuJoCo's id of the body whose frame the points are in
    foot: np.ndarray  # (B,) index of the foot that is rigidly fixed to that body, -1 if there is none
    begin: np.ndarray  # (B + 1,) first point of each body
    points: np.ndarray  # (Q, 3) m, body frame; the centre of round ones
    radius: np.ndarray  # (Q,) m, 0 for sharp points
    axes: np.ndarray  # (Q, 3, 3) semi-axes of ellipsoids as columns, body frame, m; zero for all others
    geom: np.ndarray  # (Q,) MuJoCo's id of the geom that the point belongs to

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def of_body(self) -> np.ndarray:
        """(Q,) MuJoCo's id of each point's body."""
        return np.repeat(self.body, np.diff(self.begin))


class Parts(NamedTuple):
    """Parts of geoms that can touch the ground, world frame, m."""

    centre: np.ndarray  # (N, 3)
    radius: np.ndarray  # (N,)
    axes: np.ndarray  # (N, 3, 3) semi-axes of ellipsoids as columns, zero for all others
    geom: np.ndarray  # (N,) ids

    def where(self, kept: np.ndarray) -> Parts:
        return Parts(*(values[kept] for values in self))


def body_points(model: mujoco.MjModel, home: np.ndarray, feet: tuple[Foot, ...]) -> BodyPoints:
    """Contact points of a robot's bodies outside its soles; ``home`` (nq,) is a pose in which the soles lie flat."""
    data = posed(model, home)
    foot_body = [model.body(foot.body).id for foot in feet]
    groups: dict[int, list[int]] = {}
    for geom in range(model.ngeom):
        weld = int(model.body_weldid[model.geom_bodyid[geom]])
        if weld and is_solid(model, geom):
            groups.setdefault(weld, []).append(geom)
    found: list[tuple[int, int, Parts]] = []
    for weld, geoms in groups.items():
        own = [i for i, body in enumerate(foot_body) if model.body_weldid[body] == weld]
        body = foot_body[own[0]] if own else weld
        parts = _joined([_touching(model, data, geom) for geom in geoms])
        for i in own:
            parts = parts.where(_is_apart(data, feet[i], foot_body[i], parts))
        parts = parts.where(_needed(parts))
        if len(parts.geom):
            rotation, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
            local = parts._replace(centre=(parts.centre - origin) @ rotation, axes=rotation.T @ parts.axes)
            found.append((body, own[0] if own else -1, local))
    found.sort(key=lambda one: one[1] < 0)
    every = _joined([parts for _, _, parts in found])
    return BodyPoints(
        body=np.array([body for body, _, _ in found], dtype=int),
        foot=np.array([foot for _, foot, _ in found], dtype=int),
        begin=np.cumsum([0, *(len(parts.geom) for _, _, parts in found)]),
        points=every.centre,
        radius=every.radius,
        axes=every.axes,
        geom=every.geom,
    )


def _joined(several: Sequence[Parts]) -> Parts:
    none = Parts(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3, 3)), np.zeros(0, dtype=int))
    return Parts(*map(np.concatenate, zip(none, *several, strict=True)))


def _touching(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Parts:
    kind, size = model.geom_type[geom], model.geom_size[geom]
    turn, radius, axes = data.geom_xmat[geom].reshape(3, 3), 0.0, np.zeros((1, 3, 3))
    if kind == KIND.mjGEOM_SPHERE:
        local, radius = np.zeros((1, 3)), size[0]
    elif kind == KIND.mjGEOM_CAPSULE:
        local, radius = np.array([[0, 0, -size[1]], [0, 0, size[1]]]), size[0]
    elif kind == KIND.mjGEOM_BOX:
        local = CUBE * size
    elif kind == KIND.mjGEOM_ELLIPSOID:
        local, axes = np.zeros((1, 3)), (turn * size)[None]
    elif kind == KIND.mjGEOM_CYLINDER:
        angle = 2 * np.pi / RIM * np.arange(RIM)
        ring = INSIDE_RIM * size[0] * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(RIM)])
        ends = np.array([[0, 0, -size[1]], [0, 0, size[1]]])
        local = np.vstack([ends, *(ring + end for end in ends)])
        axes = np.zeros((len(local), 3, 3))
        axes[:2] = turn * [size[0], size[0], 0.0]  # a rim is an ellipsoid without thickness
    else:
        local = hull_vertices(model, model.geom_dataid[geom])
        wheel = wheel_of(model, data, geom)
        local = local[_extreme(local)]
        if wheel is not None:  # its corners lie inside the rims that roll, as those of a cylinder do
            ends, axes = rims_of(wheel)
            local = np.vstack([(ends - data.geom_xpos[geom]) @ turn, _inside_rim(local, wheel, data, geom)])
            axes = np.concatenate([axes, np.zeros((len(local) - len(ends), 3, 3))])
    many = len(local)
    centre = local @ turn.T + data.geom_xpos[geom]
    return Parts(centre, np.full(many, radius), np.broadcast_to(axes, (many, 3, 3)), np.full(many, geom))


def _inside_rim(local: np.ndarray, wheel: Wheel, data: mujoco.MjData, geom: int) -> np.ndarray:
    """Corners of a wheel (N, 3), the geom's frame, m, moved inside its rims, so that the rims roll smoothly."""
    turn = data.geom_xmat[geom].reshape(3, 3)
    axis = turn.T @ wheel.turn[:, 2]
    centre = turn.T @ (wheel.centre - data.geom_xpos[geom])
    along = ((local - centre) @ axis)[:, None] * axis
    across = local - centre - along
    share = INSIDE_RIM * wheel.radius / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), SAME)
    return np.asarray(centre + along + np.minimum(1.0, share) * across)


def _is_apart(data: mujoco.MjData, foot: Foot, body: int, parts: Parts) -> np.ndarray:
    """Which parts lie higher above a foot's sole than its thickness and differ from its contact points.

    Two points in one place would be twice as stiff.
    """
    turn, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
    polygon, own, normal = foot.polygon @ turn.T + origin, foot.points @ turn.T + origin, UP
    if len(polygon) >= 3:
        normal = np.cross(*sole_frame(polygon)[1:3])
        normal = normal if normal @ UP > 0 else -normal
    round_ = parts.radius + np.linalg.norm(np.swapaxes(parts.axes, 1, 2) @ normal, axis=1)
    low = (parts.centre - polygon[0]) @ normal - round_
    size = float(np.linalg.norm(np.ptp(polygon, axis=0)))
    thick = max(np.clip(SOLE_DEPTH * float(low.max(initial=0.0)), *SOLE_DEPTH_RANGE), SOLE_SHARE * size)
    away = np.linalg.norm(parts.centre[:, None] - own, axis=2) + np.abs(parts.radius[:, None] - foot.radius)
    same = (away <= SAME).any(axis=1) & ~parts.axes.any(axis=(1, 2))
    return (low > thick) & ~same


def _needed(parts: Parts) -> np.ndarray:
    """Which points of a body are kept: round points that lie inside no other, and the extreme ones of its corners."""
    centre, radius = parts.centre, parts.radius
    smooth = parts.axes.any(axis=(1, 2))
    keep = np.ones(len(centre), dtype=bool)
    sharp = np.flatnonzero((radius == 0) & ~smooth)
    if len(sharp) > MOST:
        found = hull(centre[sharp])
        outer = np.unique(centre[sharp], axis=0, return_index=True)[1] if found is None else found.corners
        keep[sharp] = False
        keep[sharp[outer[_extreme(centre[sharp[outer]])]]] = True
    for i in np.flatnonzero(keep & ~smooth):
        away = np.linalg.norm(centre - centre[i], axis=1)
        inside = away + radius[i] <= radius + SAME  # of equal ones the first stays
        inside &= keep & ~smooth & ((radius > radius[i]) | (np.arange(len(centre)) < i))
        keep[i] = not inside.any()
    return keep


def _extreme(corners: np.ndarray) -> np.ndarray:
    """Indices of corners of a convex body: all up to ``MOST``, else the extreme ones along the axes and diagonals."""
    if len(corners) <= MOST:
        return np.arange(len(corners))
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle, full_matrices=False)
    along = (corners - middle) @ axes.T
    along /= np.maximum(np.ptp(along, axis=0), 1e-9)
    directions = np.vstack([np.eye(3), -np.eye(3), CUBE])
    return np.unique(np.argmax(along @ directions.T, axis=0))
