"""Wheels: cylinders, and meshes whose rim is a circle about their hinge.

In a mesh, the rim of a wheel is a polygon of 12 to some hundred corners. A mesh is taken for a wheel only if it turns
on a hinge through its middle and is no longer than wide; cans, limbs and round soles keep their corners.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.robot.hull import hull_vertices

KIND = mujoco.mjtGeom
#: Largest deviation of a rim's corners from a circle, relative to its radius.
ROUND = 5e-3
#: Largest angle between neighbouring corners of a rim: that of a dodecagon, plus rounding.
WIDEST_ANGLE = 2.0 * np.pi / 12.0 * 1.01
#: Largest distance of a mesh's centre of mass (MuJoCo's origin of the geom) from the hinge, relative to the mesh's
#: size.
BALANCED = 0.05
#: Width of a rim below which it counts as one circle, like a tyre's, relative to the radius.
NARROW = 0.02


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
            hull = hull_vertices(model, model.geom_dataid[geom])
            found = _rim(hull @ turn.T + origin, data.xanchor[joint], axis)
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
    outer = far >= (1.0 - ROUND) * radius
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
