"""Which geoms of a model can touch each other, as MuJoCo's filters say, and as which shapes a GPU sees them."""

from __future__ import annotations

import copy
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.engine import bridge
from footfall.engine.other_bodies.convex import Probe, Shapes, apart, put
from footfall.engine.other_bodies.points import friction_between
from footfall.errors import warn
from footfall.kinds import Ints, Matrix, Vector, zeros
from footfall.robot.shapes import CUBE, KIND, SOLID, hull_vertices

#: Most corners of a mesh, all of which are compared with a direction; the share of its size that it may lack without
#: more; and the directions in which it is looked at.
CORNERS, LACKING, DIRECTIONS = 64, 1e-3, 1000
#: Margin within which any two geoms are, m; contacts of any two for which MuJoCo gets memory.
ANYWHERE, ROOM = 1e4, 8


class Meetings(NamedTuple):
    """The N pairs of geoms that may touch, constant."""

    first: Ints  # (N,)
    second: Ints  # (N,)
    reach: Vector  # (N,) m, where a contact begins to be shown to the law
    rest: Vector  # (N,) m, by how much they overlap at home: there they touch without a gap
    near: Vector  # (N,) m, distance of their middles up to which balls around them touch
    friction: Vector  # (N,)


def few_corners(corners: np.ndarray) -> tuple[np.ndarray, float]:
    """Corners (N, 3) of a hull, or ``CORNERS`` of them, one after the other the farthest outside the hull of those
    before; and by how much (m) the rest is outside.
    """
    step = np.arange(DIRECTIONS) + 0.5
    z, turn = 1.0 - 2.0 * step / DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * step
    across = np.sqrt(1.0 - z * z)
    far = corners @ np.array([across * np.cos(turn), across * np.sin(turn), z])
    lacking, chosen = far.max(axis=0) - far.min(axis=0).min(), list[int]()
    enough = LACKING * float(lacking.max())
    if len(corners) <= CORNERS:
        return corners, 0.0
    while len(chosen) < CORNERS and lacking.max() > enough:
        chosen.append(int(far[:, np.argmax(lacking)].argmax()))
        lacking = far.max(axis=0) - far[chosen].max(axis=0)
    return corners[chosen], float(lacking.max())


def shape_of(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The corners (N, 3) of a geom, the semi-axes (3,) of its ellipsoid and the radius of its ball, m."""
    kind, (a, b, c), nothing = model.geom_type[geom], model.geom_size[geom], np.zeros(3)
    if kind == KIND.mjGEOM_SPHERE:
        return np.zeros((1, 3)), nothing, a
    if kind == KIND.mjGEOM_ELLIPSOID:
        return np.zeros((1, 3)), np.array([a, b, c]), 0.0
    ends = np.array([[0.0, 0.0, -b], [0.0, 0.0, b]])
    if kind == KIND.mjGEOM_CAPSULE:
        return ends, nothing, a
    if kind == KIND.mjGEOM_CYLINDER:
        return ends, np.array([a, a, 0.0]), 0.0
    return CUBE * [a, b, c], nothing, 0.0


def make_shapes(model: mujoco.MjModel, geoms: np.ndarray) -> tuple[Shapes, float]:
    """The shapes of all geoms, those of ``geoms`` with corners; and how much (m) hulls of meshes lack at most."""
    count = model.ngeom
    begin, axes, ball = np.zeros(count + 1, dtype=np.int64), np.zeros((count, 3)), np.zeros(count)
    corners, most = [np.zeros((0, 3))], 0.0
    turn = np.zeros((count, 9))
    for g in range(count):
        mujoco.mju_quat2Mat(turn[g], model.geom_quat[g])
        if g in geoms and model.geom_type[g] == KIND.mjGEOM_MESH:
            own, lacking = few_corners(hull_vertices(model, model.geom_dataid[g]))
            most = max(most, lacking)
            corners.append(own)
        elif g in geoms:
            own, axes[g], ball[g] = shape_of(model, g)
            corners.append(own)
        begin[g + 1] = sum(map(len, corners))
    body = model.geom_bodyid.astype(np.int64)
    corner = np.concatenate(corners)
    size = np.zeros(count)
    for g in geoms:
        far = np.linalg.norm(np.abs(corner[begin[g] : begin[g + 1]]) + axes[g], axis=1)
        size[g] = far.max() + ball[g]
    return Shapes(body, model.geom_pos.copy(), turn, begin, corner, axes, ball, size), most


def colliding_pairs(model: mujoco.MjModel, home: np.ndarray) -> np.ndarray:
    """(N, 2) geoms that MuJoCo compares by its filters, in its order: with a wide margin all of them are contacts."""
    wide = copy.copy(model)
    for margins in (wide.geom_margin, wide.body_margin, wide.pair_margin):
        margins[:] = ANYWHERE
    bridge.counter(wide, "narena")[0] = max(model.narena, ROOM * model.ngeom**2 * bridge.CONTACT.itemsize)
    data = mujoco.MjData(wide)
    data.qpos[:] = home
    mujoco.mj_kinematics(wide, data)
    mujoco.mj_comPos(wide, data)
    mujoco.mj_collision(wide, data)
    return np.unique(data.contact.geom.astype(np.int64), axis=0)


@kernel
def distances(xpos: Matrix, xmat: Matrix, shapes: Shapes, first: Ints, second: Ints, probe: Probe, out: Vector) -> None:
    """Write the distance (m) of every pair."""
    for c in range(first.size):
        put(xpos, xmat, shapes, first[c], probe, 0)
        put(xpos, xmat, shapes, second[c], probe, 1)
        out[c], _ = apart(shapes, first[c], second[c], probe, 0.0)


def make_meetings(model: mujoco.MjModel, home: np.ndarray, wanted: bool) -> tuple[Shapes, Meetings]:
    """Shapes and pairs of a model, none if they are not ``wanted``; warns of geoms that are no shapes, or not quite."""
    pairs = colliding_pairs(model, home) if wanted else np.zeros((0, 2), dtype=np.int64)
    shaped = np.isin(model.geom_type, SOLID)
    left = np.unique(pairs[~shaped[pairs]])
    if left.size:
        kinds = sorted({KIND(int(kind)).name.removeprefix("mjGEOM_").lower() for kind in model.geom_type[left]})
        warn(f"in worlds on a GPU bodies do not touch a {' or a '.join(kinds)} of the model, as they do on a CPU")
    first, second = pairs[shaped[pairs].all(axis=1)].T.copy()
    shapes, lacking = make_shapes(model, np.unique([first, second]))
    if lacking > 0.0:
        warn(
            f"in worlds on a GPU bodies touch each other by hulls of {CORNERS} corners: meshes are up to "
            f"{1e3 * lacking:.2g} mm smaller there than on a CPU"
        )
    data = mujoco.MjData(model)
    data.qpos[:] = home
    mujoco.mj_kinematics(model, data)
    gap = np.zeros(len(first))
    distances(data.xpos, data.xmat, shapes, first, second, zeros(Probe, {}), gap)
    reach = model.geom_margin[first] + model.geom_margin[second]
    for pair in range(model.npair):  # named pairs have a margin of their own
        named = {int(model.pair_geom1[pair]), int(model.pair_geom2[pair])}
        reach[[{int(g), int(h)} == named for g, h in zip(first, second, strict=True)]] = model.pair_margin[pair]
    rest = np.maximum(0.0, -gap)
    return shapes, Meetings(
        first=first,
        second=second,
        reach=reach,
        rest=rest,
        near=shapes.size[first] + shapes.size[second] + reach - rest,
        friction=np.array([friction_between(model, int(g), int(h)) for g, h in zip(first, second, strict=True)]),
    )
