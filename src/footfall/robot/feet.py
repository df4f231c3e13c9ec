"""Feet: the value ``Foot``, the contact points of a sole, and the search for feet in a model.

Contact points are the vertices of the sole, a grid, a number of points on its outline, or the user's own. Feet are the
bodies at the ends of the legs (``find_feet``), by the collision geometry, or those that the user names
(``named_feet``). Both find the soles in the standing pose of the given ``MjData``, with z up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import RobotError, did_you_mean, warn
from footfall.given_numbers import Rotation
from footfall.robot.model import AT_JOINT, base_of, chain_of, moving_bodies, some
from footfall.robot.shapes import (
    FEW,
    KIND,
    LEVEL,
    OUTLINE_DETAIL,
    SOLID,
    UP,
    Sole,
    ball_of,
    check_polygon,
    corners,
    few,
    is_solid,
    largest_side,
    lone_ball,
    outline,
    rolling_parts,
    sole_area,
    sole_of,
)

#: Words in names of legs and feet: +1 for front and -1 for rear, +1 for left and -1 for right.
LEG_WORDS = {
    **dict.fromkeys(("front", "fore"), (1, 0)),
    **dict.fromkeys(("rear", "hind", "back"), (-1, 0)),
    **dict.fromkeys(("left", "l"), (0, 1)),
    **dict.fromkeys(("right", "r"), (0, -1)),
    **dict.fromkeys(("fl", "lf"), (1, 1)),
    **dict.fromkeys(("fr", "rf"), (1, -1)),
    **dict.fromkeys(("rl", "hl", "bl", "lh", "lb"), (-1, 1)),
    **dict.fromkeys(("rr", "hr", "br", "rh", "rb"), (-1, -1)),
}


@public
@dataclass(frozen=True, eq=False)
class Foot:
    """One foot: a sole outline and contact points, fixed to a body.

    Attributes:
        name: such as "left".
        body: name of the body it is fixed to.
        polygon: (K, 3) convex sole outline, body frame, m, counter-clockwise seen from above; K = 1 for a
            point foot, 2 for a line (a planar foot).
        points: (P, 3) contact points, body frame, m.
        radius: (P,) m; 0 for a sharp point. For spheres and capsule ends the point is the centre, and this
            the radius.
        axes: (P, 3, 3) semi-axes of ellipsoids as columns, body frame, m, zero for all other points: the point is
            the centre, and the surface point nearest to the ground touches.
    """

    name: str
    body: str
    polygon: np.ndarray
    points: np.ndarray
    radius: np.ndarray
    axes: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))

    def __post_init__(self) -> None:
        if not len(self.axes):
            object.__setattr__(self, "axes", np.zeros((np.size(self.radius), 3, 3)))
        for key, shape in (("polygon", (-1, 3)), ("points", (-1, 3)), ("radius", (-1,)), ("axes", (-1, 3, 3))):
            value = np.array(getattr(self, key), dtype=float).reshape(shape)
            value.setflags(write=False)
            object.__setattr__(self, key, value)

        if len(self.radius) != len(self.points) or not (self.radius >= 0.0).all():
            raise RobotError(f"foot '{self.name}' needs one radius >= 0 for each of its {len(self.points)} points")
        if not (np.isfinite(self.points).all() and np.isfinite(self.polygon).all()):
            raise RobotError(f"foot '{self.name}' has points or a polygon that are not finite")

    def lowest(self, turn: Rotation) -> np.ndarray:
        """(P,) m, height of the lowest surface point of each contact point above the body's origin, with the body
        turned by ``turn`` (3, 3).
        """
        down = np.linalg.norm(np.swapaxes(self.axes, 1, 2) @ turn[2], axis=1)
        return self.points @ turn[2] - self.radius - down

    @cached_property
    def length(self) -> float:
        """Longer side (m) of the smallest rectangle around the sole; 0 for a point."""
        if len(self.polygon) < 3:
            return float(np.linalg.norm(np.ptp(self.polygon, axis=0)))
        return float(np.ptp(sole_frame(self.polygon)[3][:, 0]))

    def to_dict(self) -> dict[str, Any]:
        """The arguments that construct it, as values for JSON."""
        arrays = {key: getattr(self, key).tolist() for key in ("polygon", "points", "radius")}
        axes = {"axes": self.axes.tolist()} if self.axes.any() else {}
        return {"name": self.name, "body": self.body, **arrays, **axes}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Foot):
            return NotImplemented
        return self.content() == other.content()

    def __hash__(self) -> int:
        return hash(self.content())

    def content(self) -> tuple[str, str, tuple[bytes, ...]]:
        """The values by which two feet are compared."""
        arrays = (self.polygon, self.points, self.radius, self.axes)
        return self.name, self.body, tuple(array.tobytes() for array in arrays)


def check_feet(model: mujoco.MjModel, feet: Sequence[Foot]) -> None:
    """Raise a ``RobotError`` unless each foot has a name of its own, points, and a body of the model."""
    bodies = {model.body(b).name for b in range(model.nbody)}
    for foot in feet:
        if foot.body not in bodies:
            raise RobotError(f"foot '{foot.name}' is on the body '{foot.body}', which the model does not have")
        if not len(foot.points):
            raise RobotError(f"foot '{foot.name}' has no contact points")
    names = [foot.name for foot in feet]
    for name in names:
        if names.count(name) > 1:
            raise RobotError(f"two feet are called '{name}': give each a name of its own, feet={{name: body}}")


BESIDE_SOLE = 0.02  # largest distance of a given point outside the sole's outline, as a share of the sole's size


#: Most contact points of a foot.
MOST_POINTS = 10_000


def choose_points(foot: Foot, points: Any) -> Foot:
    """The same foot with other contact points.

    ``points`` is one of:

    - "vertices": the vertices of the outline; round points (spheres, capsule ends) stay as they are.
    - (nx, ny): a grid over the sole's smallest bounding rectangle, edges included, nx along its longer side;
      points outside the sole are dropped. On a line foot nx points along it.
    - n: n points on the outline. If n is less than its number of vertices, n points at equal distances along the
      outline, from the middle of its front; otherwise all vertices, with the others spread over the edges so that the
      longest gap is shortest. On a line foot n points from end to end; n = 1 is the middle of the sole.
    - {foot name: (P, 3) array}: points in the body's frame, m, on the sole; feet that are not named stay as they are.

    A foot that touches in one point keeps it. All but "vertices" give sharp points (radius 0).
    """
    if isinstance(points, str):
        if points != "vertices":
            raise RobotError(f"points cannot be '{points}'; use 'vertices', (nx, ny), a number, or a dict by foot")
        if np.any(foot.radius > 0) or foot.axes.any():
            return foot
        return _sharp(foot, foot.polygon)
    if isinstance(points, Mapping):
        return _sharp(foot, _on_sole(foot, as_points(points[foot.name], foot.name))) if foot.name in points else foot
    numbers = np.asarray(points)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (2,)) or np.any(numbers < 1):
        raise RobotError(f"points must be 'vertices', (nx, ny), a number >= 1 or a dict by foot, got {points!r}")
    if np.prod(numbers.astype(float)) > MOST_POINTS:
        raise RobotError(f"points = {points!r} but a foot has at most {MOST_POINTS} points")
    if len(foot.polygon) == 1:
        return foot
    if numbers.shape == ():
        return _sharp(foot, _on_outline(foot.polygon, int(numbers)))
    return _sharp(foot, _grid_on_sole(foot.polygon, int(numbers[0]), int(numbers[1])))


def points_on_feet(feet: tuple[Foot, ...], points: Any) -> tuple[Foot, ...]:
    """All feet of a robot with other contact points, given as ``choose_points`` takes them."""
    if isinstance(points, Mapping):
        known = [foot.name for foot in feet]
        for key in points:
            if key not in known:
                raise RobotError(f"points given for a foot '{key}' that does not exist: {did_you_mean(key, known)}")
    return tuple(choose_points(foot, points) for foot in feet)


def as_points(points: Any, name: str) -> np.ndarray:
    """(P, 3) array of finite points, or an error that names the foot."""
    try:
        array = np.atleast_2d(np.asarray(points, dtype=float))
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0 or not np.all(np.isfinite(array)):
        raise RobotError(f"foot '{name}': points must be a (P, 3) array of numbers, m, in its body's frame")
    return array


def _on_sole(foot: Foot, points: np.ndarray) -> np.ndarray:
    """The same points, or an error if one lies outside the sole's outline, seen from above; a point foot has no
    outline.
    """
    polygon = foot.polygon
    if len(polygon) == 1:
        return points
    size = float(np.linalg.norm(np.ptp(polygon, axis=0)))
    if len(polygon) == 2:
        at = (points - polygon[0]) @ (polygon[1] - polygon[0]) / size
        beside = np.maximum(-at, at - size)
    else:
        origin, along, across, flat = sole_frame(polygon)
        beside = _beyond(flat, np.column_stack([(points - origin) @ along, (points - origin) @ across]))
    worst = int(np.argmax(beside))
    if beside[worst] > BESIDE_SOLE * size:
        where = ", ".join(f"{x:g}" for x in points[worst])
        raise RobotError(
            f"foot '{foot.name}': the point ({where}) lies {beside[worst]:.3g} m outside its sole; "
            f"points are in m, in the frame of body '{foot.body}'"
        )
    return points


def _beyond(flat: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(P,) m, signed distance of points (P, 2) to a convex outline (K, 2), to its edge lines; negative inside."""
    edge = np.roll(flat, -1, axis=0) - flat
    outward = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.linalg.norm(edge, axis=1, keepdims=True)
    return np.max(np.einsum("pki,ki->pk", at[:, None] - flat[None], outward), axis=1)


def _sharp(foot: Foot, points: np.ndarray) -> Foot:
    return replace(foot, points=points, radius=np.zeros(len(points)), axes=np.zeros((len(points), 3, 3)))


def sole_frame(polygon: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Origin, longer and shorter axis of the smallest bounding rectangle, (K, 2) outline in these."""
    origin = polygon.mean(axis=0)
    normal = np.cross(polygon - origin, np.roll(polygon, -1, axis=0) - origin).sum(axis=0)
    normal /= max(float(np.linalg.norm(normal)), 1e-12)
    edges = np.roll(polygon, -1, axis=0) - polygon
    edges -= (edges @ normal)[:, None] * normal
    edges /= np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-12)
    spans = [np.ptp((polygon - origin) @ np.column_stack([e, np.cross(normal, e)]), axis=0) for e in edges]
    areas = np.array([span[0] * span[1] for span in spans])
    best = int(np.flatnonzero(areas <= areas.min() * (1 + 1e-9))[0])
    along = edges[best] if spans[best][0] >= spans[best][1] else np.cross(normal, edges[best])
    along = along if along[np.argmax(np.abs(along))] > 0 else -along
    across = np.cross(normal, along)
    return origin, along, across, np.column_stack([(polygon - origin) @ along, (polygon - origin) @ across])


def _grid_on_sole(polygon: np.ndarray, nx: int, ny: int) -> np.ndarray:
    """(P, 3) points of a grid over the smallest rectangle around a sole, edges included, body frame, m; those outside
    are dropped.
    """
    if len(polygon) == 2:
        return np.linspace(polygon[0], polygon[1], nx) if nx > 1 else polygon.mean(axis=0)[None]
    origin, along, across, flat = sole_frame(polygon)
    middle, half = (flat.min(axis=0) + flat.max(axis=0)) / 2, np.ptp(flat, axis=0) / 2
    ends = zip(middle - half, middle + half, middle, (nx, ny), strict=True)
    x, y = (np.linspace(low, high, n) if n > 1 else np.array([centre]) for low, high, centre, n in ends)
    grid = np.column_stack([np.repeat(x, ny), np.tile(y, nx)])
    inside = _beyond(flat, grid) <= 1e-9 * np.linalg.norm(2 * half)
    if not inside.any():
        raise RobotError(f"no point of a {nx} x {ny} grid lies inside the sole; use a finer grid")
    return origin + grid[inside, :1] * along + grid[inside, 1:] * across


def _on_outline(polygon: np.ndarray, n: int) -> np.ndarray:
    if n == 1:
        return polygon.mean(axis=0)[None]
    if len(polygon) == 2:
        return np.linspace(polygon[0], polygon[1], n)
    following = np.roll(polygon, -1, axis=0)
    length = np.linalg.norm(following - polygon, axis=1)
    if n < len(polygon):
        _, _, _, flat = sole_frame(polygon)
        # The front: where the outline crosses the long axis ahead of the middle.
        ahead = np.roll(flat, -1, axis=0)
        crosses = (flat[:, 1] <= 0) & (ahead[:, 1] > 0)
        edge = int(np.flatnonzero(crosses)[0])
        share = -flat[edge, 1] / (ahead[edge, 1] - flat[edge, 1])
        around = np.concatenate([[0.0], np.cumsum(length)])
        start = around[edge] + share * length[edge]
        where = (start + around[-1] * np.arange(n) / n) % around[-1]
        closed = np.vstack([polygon, polygon[:1]])
        return np.column_stack([np.interp(where, around, closed[:, i]) for i in range(3)])
    pieces = np.ones(len(polygon), dtype=int)
    for _ in range(n - len(polygon)):
        pieces[np.argmax(length / pieces * (1 + 1e-9 * np.arange(len(pieces), 0, -1)))] += 1
    steps = [np.arange(k)[:, None] / k for k in pieces]
    return np.vstack([a + s * (b - a) for a, b, s in zip(polygon, following, steps, strict=True)])


LEAF_REACH = 0.03  # largest height of a foot above the robot's lowest point, as a share of the robot's height
BARE = 0.1  # least distance of visual geometry below all collision geometry to be legs, as a share of the height
CHAIN_REACH = 0.005  # LEAF_REACH for a body with a foot below it in the chain: a foot with toes, but no shank
TIP = np.tan(np.radians(5.0))  # largest tilt over the feet found at which further feet touch
ALIKE = 0.05  # largest difference between feet of the same shape, as a share of their size
AS_LONG = 0.2  # largest difference between the lengths of the soles of such feet, as a share of the length
ON_SIDE = 2.0  # ratio of the area of a foot's side to that of its sole above which the side may be the true sole
LINKS = 3  # most links of a foot: heel, ball and toes
#: How names of feet end: "lfoot", "LAnkleRoll", "toe_L".
FOOT_WORD = re.compile(r"(?i:foot|feet|toes?|ankle|paw|hoof)(?![a-z])")
SIDES = {"left": "left", "right": "right", "l": "left", "r": "right"}


def find_feet(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Foot, ...]:
    """The bodies at the ends of the legs that reach the ground in the pose of ``data`` (kinematics computed).

    A body is a foot if the lowest point of its collidable geoms lies no higher above the robot's lowest point than 3 %
    of the robot's height, and the same is true of no body further down its chain; a body with a foot below it (a foot
    with toes) must come within 0.5 %. A chain that lies on the ground with more than three links, such as a tail, has
    no foot where other bodies stand. If the centre of mass is not over these feet, bodies that touch when the robot
    tips by less than 5 degrees are feet too. Bodies rigidly fixed to each other make one foot. Legs without collidable
    geoms are searched in their visual ones, with a warning.
    """
    span = _touching(model, data)
    reaching, lowest, floor, top = _reaching(model, span)
    tails = _tails(model, reaching)
    if tails:
        span = {g: ends for g, ends in span.items() if model.geom_bodyid[g] not in tails}
        reaching, lowest, floor, top = _reaching(model, span)
    reaching |= _tipped_onto(model, data, list(span), reaching)
    above = {ancestor for b in reaching for ancestor in chain_of(model, b)[1:]}
    chosen = [b for b in sorted(reaching) if b not in above or lowest[b] <= floor + CHAIN_REACH * (top - floor)]

    groups: dict[int, list[int]] = {}
    for body in chosen:
        groups.setdefault(int(model.body_weldid[body]), []).append(body)
    bodies = [group[0] if len(group) == 1 else weld for weld, group in groups.items()]
    names = _foot_names([model.body(b).name for b in bodies])
    parts = [[g for g in span if model.geom_bodyid[g] in group] for group in groups.values()]
    found = _feet(model, data, [_Place(*place) for place in zip(names, bodies, parts, strict=True)])
    _warn_of_legs_to_the_side(model, data, found, floor)
    return found


def _reaching(
    model: mujoco.MjModel, span: Mapping[int, tuple[float, float]]
) -> tuple[set[int], dict[int, float], float, float]:
    """The bodies that reach the ground, by the span of each geom; the lowest point of each body, that of all, and the
    highest corner, m.
    """
    lowest: dict[int, float] = {}
    for g, (low, _) in span.items():
        body = int(model.geom_bodyid[g])
        lowest[body] = min(low, lowest.get(body, np.inf))
    floor, top = min(lowest.values()), max(high for _, high in span.values())
    return {b for b, low in lowest.items() if low <= floor + LEAF_REACH * (top - floor)}, lowest, floor, top


def _tails(model: mujoco.MjModel, reaching: set[int]) -> set[int]:
    """Bodies of chains with more than ``LINKS`` links of their own on the ground, if others stand there, too."""
    chains = {body: chain_of(model, body) for body in reaching}
    ends = {body for body in reaching if not any(body in chains[b][1:] for b in reaching)}
    tails: set[int] = set()
    legs: set[int] = set()
    for end in ends:
        shared = {body for other in ends - {end} for body in chains[other]}
        lying = {int(model.body_weldid[body]) for body in chains[end] if body in reaching - shared}
        (tails if len(lying) > LINKS else legs).update(chains[end])
    return tails - legs if legs else set()


def _warn_of_legs_to_the_side(model: mujoco.MjModel, data: mujoco.MjData, feet: Sequence[Foot], floor: float) -> None:
    """Warn of a robot that stands on none of the bodies that its names call feet, or whose legs point to the side, as
    in a model made with y up.
    """
    bodies = [int(model.body(foot.body).id) for foot in feet]
    robot = [b for b in _bodies_of_robot(model) if model.body_rootid[b] == model.body_rootid[bodies[0]]]
    called = [b for b in sorted(robot) if FOOT_WORD.search(model.body(b).name)]
    weld, parent = model.body_weldid, model.body_parentid
    if any(weld[parent[b]] == weld[one] or weld[b] in weld[chain_of(model, one)] for b in called for one in bodies):
        called = []
    stands = f"it stands on {some([foot.body for foot in feet])}"
    if called:
        stands += f", and on none of {some([model.body(b).name for b in called])}"
        away = data.xpos[called].mean(axis=0) - data.xpos[base_of(model, called)]
    else:
        chains = [chain_of(model, body) for body in bodies]
        base = base_of(model, bodies)
        legs = [chain[: chain.index(base)] for chain in chains if base in chain]
        if len({leg[-1] for leg in legs if model.body_jntnum[leg].sum() > 1}) < 2:  # an arm, or rigid legs
            return
        soles = [foot.polygon.mean(axis=0) @ data.xmat[b].reshape(3, 3).T for foot, b in zip(feet, bodies, strict=True)]
        away = (data.xpos[bodies] + soles).mean(axis=0) - data.xpos[[leg[-1] for leg in legs]].mean(axis=0)
    axis = int(np.abs(away).argmax())
    if axis < 2:
        sign = float(np.sign(away[axis]))
        turn = np.cross(sign * np.eye(3)[axis], -UP)  # by a right angle about this axis
        quat, rpy = (
            " ".join(f"{x + 0.0:.5g}" for x in values) for values in ((0.70711, *0.70711 * turn), 1.5708 * turn)
        )
        warn(
            f"its limbs point along {'+' if sign > 0.0 else '-'}{'xy'[axis]}, not down: {stands}; pose= or --pose sets "
            f'another pose, and a model in which z is not up is turned by quat="{quat}" of its root in MJCF, or by '
            f'rpy="{rpy}" of a fixed joint above it in a URDF'
        )
    elif called and data.xpos[called, 2].min() > floor:  # others were told of before
        warn(f"{stands}: pose= or --pose sets another pose, feet= other feet")


def named_feet(model: mujoco.MjModel, data: mujoco.MjData, feet: Mapping[str, Any] | Iterable[str]) -> tuple[Foot, ...]:
    """The feet the user named: ``{"left": body}``, ``{"left": (body, points)}`` or ``[body, ...]``.

    A geom may be named instead of a body: then the sole is that geom's alone. Points are (P, 3) in the body's frame, m;
    the sole is their hull. ``{"left": {"body": body, "polygon": ring}}`` gives the vertices of the sole in order
    instead, which must make a flat convex polygon.
    """
    if isinstance(feet, str):
        feet = [feet]
    if not isinstance(feet, Mapping):
        if not isinstance(feet, Iterable):
            raise RobotError(f'feet are bodies or geoms by name, feet={{"left": "<body>"}} or ["<body>"], not {feet!r}')
        listed = list(feet)
        feet = dict(zip(_foot_names(listed), listed, strict=True))
    if not feet:
        raise RobotError('feet is empty; leave it out to find them, or name bodies: feet={"left": "<body>"}')
    return _feet(model, data, [_named_foot(model, data, name, place) for name, place in feet.items()])


def _touching(model: mujoco.MjModel, data: mujoco.MjData) -> dict[int, tuple[float, float]]:
    """Geoms among which feet are searched: those that collide, and those of visual-only bodies far below these; with
    the lowest point and the highest corner of each, m.
    """
    robot = _bodies_of_robot(model)
    if not robot:
        tops = [model.body(b).name for b in range(1, model.nbody) if model.body_parentid[b] == 0]
        hint = f"; a <freejoint/> in body '{tops[0]}' lets it move" if len(tops) == 1 else ""
        raise RobotError(f"nothing in the model moves: it is a scene, or a part of a model, and no robot{hint}")
    solid = [g for g in range(model.ngeom) if model.geom_type[g] in SOLID and model.geom_bodyid[g] in robot]
    geoms = [g for g in solid if is_solid(model, g)]
    welds = {int(model.body_weldid[model.geom_bodyid[g]]) for g in geoms}
    bare = [g for g in solid if int(model.body_weldid[model.geom_bodyid[g]]) not in welds]
    if not geoms and not bare:
        raise RobotError(
            "the robot has no collision geometry to find feet in, nor any that shows; give their contact points, "
            f'feet={{"left": ("<body>", points)}}, points (P, 3) in the body\'s frame, of: {some(_body_names(model))}'
        )
    span = {}
    for g in geoms + bare:
        centre, radius = corners(model, data, g)
        span[g] = float(np.min(centre @ UP - radius)), float(np.max(centre @ UP + radius))
    if geoms:
        floor, top = min(span[g][0] for g in geoms), max(span[g][1] for g in geoms)
        lowest = min((span[g][0] for g in bare), default=floor)
        if lowest >= floor - BARE * (top - lowest):
            _warn_of_bodies_below(model, data, robot, floor, top)
            return {g: span[g] for g in geoms}
    names = dict.fromkeys(model.body(model.geom_bodyid[g]).name for g in bare)
    lacking = f"{len(names)} of its bodies have" if geoms else "it has"
    warn(
        f"{lacking} no collision geometry ({some(list(names))}): feet are found in what the robot shows, and nothing "
        "else of it touches the ground"
    )
    return span


def _tipped_onto(model: mujoco.MjModel, data: mujoco.MjData, geoms: list[int], reaching: set[int]) -> set[int]:
    """Bodies beyond the centre of mass that touch when the robot tips slightly over the feet found so far."""
    bottom = {}
    for g in geoms:
        centre, radius = corners(model, data, g)
        bottom[g] = centre - radius[:, None] * UP
    stands = np.vstack([bottom[g] for g in geoms if int(model.geom_bodyid[g]) in reaching])
    bodies = [b for b in range(model.nbody) if model.body_rootid[b] == model.body_rootid[min(reaching)]]
    mass = model.body_mass[bodies]
    if not mass.any():
        return set()
    away = (mass @ data.xipos[bodies] / mass.sum() - stands.mean(axis=0))[:2]
    far = float(np.hypot(*away))
    along = away / max(far, 1e-9)
    edge = float(((stands - stands.mean(axis=0))[:, :2] @ along).max())
    if far <= edge:
        return set()
    found = set()
    for g, points in bottom.items():
        ahead = (points - stands.mean(axis=0))[:, :2] @ along
        if ((ahead > far) & (points[:, 2] - stands[:, 2].min() < TIP * (ahead - edge))).any():
            found.add(int(model.geom_bodyid[g]))
    return found


def _warn_of_bodies_below(
    model: mujoco.MjModel, data: mujoco.MjData, robot: set[int], floor: float, top: float
) -> None:
    """Warn of bodies with mass far below all geometry, which may be legs without shapes."""
    heavy = [b for b in sorted(robot) if model.body_mass[b] > 0]
    lowest = min((float(data.xipos[b, 2]) for b in heavy), default=floor)
    below = [model.body(b).name for b in heavy if data.xipos[b, 2] < floor - BARE * (top - lowest)]
    if below:
        warn(
            f"bodies lie below all geometry that could touch the ground ({some(below)}): if these are its legs, give "
            f'their contact points, feet={{"left": ("{below[-1]}", points)}}'
        )


def _named_foot(model: mujoco.MjModel, data: mujoco.MjData, name: str, place: Any) -> Foot | _Place:
    """The foot that a user named: made of the given points, or to be found in the geometry of its body or geom."""
    polygon = isinstance(place, Mapping)
    try:
        if isinstance(place, Mapping):
            target, points = place["body"], place["polygon"]
        else:
            target, points = (place, None) if isinstance(place, str) else place
    except (KeyError, TypeError, ValueError):
        raise RobotError(
            f"foot '{name}' must be a body name or (body name, points), "
            f'or {{"body": name, "polygon": vertices}}, got {place!r}'
        ) from None
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, target)
    geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, target)
    if body <= 0 and geom < 0:
        raise RobotError(f"foot '{name}': no body or geom '{target}'; {did_you_mean(target, _body_names(model))}")
    on_geom = body <= 0
    if on_geom:
        body = int(model.geom_bodyid[geom])
    if points is not None:
        points = as_points(points, name)
        if polygon:
            check_polygon(points, name)
        world = points @ data.xmat[body].reshape(3, 3).T + data.xpos[body]
        ring = outline(world, UP, detail=1e-9)  # the given points are kept, except those on an edge
        return Foot(name, model.body(body).name, points[ring], points, np.zeros(len(points)))
    geoms = [geom] if on_geom else _geoms_of(model, body)
    if not geoms:
        raise RobotError(
            f"foot '{name}': body '{target}' has no geometry to find a sole in; "
            f'give its contact points, feet={{"{name}": ("{target}", points)}}, points (P, 3) in its frame'
        )
    return _Place(name, body, geoms)


def _bodies_of_robot(model: mujoco.MjModel) -> set[int]:
    """Bodies that move; if any has an actuator, only those on a root with actuators, without loose objects of the
    scene.
    """
    driven = {
        int(model.body_rootid[model.jnt_bodyid[model.actuator_trnid[i, 0]]])
        for i in range(model.nu)
        if model.actuator_trntype[i] in AT_JOINT
    }
    moving = np.flatnonzero(moving_bodies(model)).tolist()
    return {b for b in moving if not driven or int(model.body_rootid[b]) in driven}


def _geoms_of(model: mujoco.MjModel, body: int) -> list[int]:
    """Collidable geoms of a body, or else of bodies fixed below it, or else its visual ones, or else theirs."""
    below = [b for b in range(body, model.nbody) if body in chain_of(model, b)]
    fixed = [b for b in below if model.body_weldid[b] == model.body_weldid[body]]
    solid = [g for g in range(model.ngeom) if model.geom_type[g] in SOLID]
    for bodies, visual in (([body], False), (fixed, False), ([body], True), (fixed, True)):
        found = [g for g in solid if model.geom_bodyid[g] in bodies and (visual or is_solid(model, g))]
        if found:
            return found
    return []


class _Place(NamedTuple):
    """Name, body and geoms of a foot whose sole is to be found."""

    name: str
    body: int
    geoms: list[int]


class _Found(NamedTuple):
    """A foot, with notes for warnings."""

    foot: Foot
    extent: np.ndarray  # (3,) m, of all corners, along the axes of the body
    reduced: str = ""  # how its points were reduced, in words
    doubt: str = ""  # why its sole may be wrong, in words


def _feet(model: mujoco.MjModel, data: mujoco.MjData, places: Sequence[Foot | _Place]) -> tuple[Foot, ...]:
    """The feet in these places, with one warning of reduced points and one of doubtful soles.

    Feet of the same shape should have the same sole: where the soles of two of them differ, both are found again with
    all corners within 5 mm of the lowest face.
    """
    found = [_foot(model, data, place) if isinstance(place, _Place) else _Found(place, np.zeros(3)) for place in places]
    for twins in _of_one_shape(found):
        if not all(_agree(found[i].foot, found[twins[0]].foot) for i in twins):
            for i in twins:
                found[i] = _foot(model, data, places[i], wide=True)  # type: ignore[arg-type]
    reduced = [f"'{one.foot.name}' {one.reduced}" for one in found if one.reduced]
    if reduced:
        warn(f"contact points of soles reduced: {', '.join(reduced)}; points= or --points chooses others")
    doubts = [f"'{one.foot.name}' {one.doubt}" for one in found if one.doubt]
    for first, *twins in _of_one_shape(found):
        other = [found[i].foot.name for i in twins if not _agree(found[i].foot, found[first].foot)]
        if other:
            doubts.append(f"'{other[0]}' has another sole than '{found[first].foot.name}', a foot of the same shape")
    if doubts:
        warn(
            f"look at the soles: {'; '.join(doubts)}. footfall robots FILE --soles soles.png draws them; "
            "pose= and feet= set others"
        )
    return tuple(one.foot for one in found)


def _of_one_shape(found: Sequence[_Found]) -> list[list[int]]:
    """Groups of indices of feet with the same extents, in any orientation, without feet of given points."""
    groups: list[list[int]] = []
    for i, one in enumerate(found):
        size = np.sort(one.extent)
        for group in groups:
            if np.abs(np.sort(found[group[0]].extent) - size).max() <= ALIKE * size.max():
                group.append(i)
                break
        else:
            groups += [[i]] if size.any() else []
    return groups


def _agree(one: Foot, other: Foot) -> bool:
    """Whether the soles of two feet are both points, lines or areas, both sharp or round, and of the same length."""
    kinds = [(len(foot.polygon) if len(foot.polygon) < 3 else 3, bool(foot.radius.any())) for foot in (one, other)]
    sizes = [foot.length for foot in (one, other)]
    return kinds[0] == kinds[1] and abs(sizes[0] - sizes[1]) <= AS_LONG * max(sizes)


def _foot(model: mujoco.MjModel, data: mujoco.MjData, place: _Place, *, wide: bool = False) -> _Found:
    """The foot made of geoms, in the frame of their body; ``wide`` as in ``sole_of``."""
    name, body, geoms = place
    if not model.body(body).name:
        raise RobotError(f"the body (id {body}) of foot '{name}' has no name; name it, or load the robot's MjSpec")
    rotation, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
    parts = [corners(model, data, g) for g in geoms]
    centre, radius = np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    extent = np.ptp(centre @ rotation, axis=0) + 2.0 * radius.max()
    round_parts = rolling_parts(model, data, geoms)
    if round_parts is not None:
        lowest, middle, axes = round_parts
        polygon, points = ((place - origin) @ rotation for place in (lowest, middle))
        reduced = ""
        if any(model.geom_type[g] == KIND.mjGEOM_MESH for g in geoms):
            reduced = f"from a mesh to the rim of a wheel of radius {np.linalg.norm(axes, axis=1).max():.3g} m"
        foot = Foot(name, model.body(body).name, polygon, points, np.zeros(len(points)), rotation.T @ axes)
        return _Found(foot, extent, reduced)
    weld = int(model.body_weldid[body])
    joint = data.xanchor[model.body_jntadr[weld]] if model.body_jntnum[weld] else data.xpos[weld]
    # A primitive has few points; the points of a mesh, or of many geoms, are reduced.
    simple = len(geoms) == 1 and model.geom_type[geoms[0]] != KIND.mjGEOM_MESH
    ball = None if simple or radius.any() or wide else ball_of(centre, joint)
    if ball is not None:
        centre, radius = ball[0][None], np.array([ball[1]])
    lone = lone_ball(centre, radius)
    sole = sole_of(centre, radius, joint, wide=wide) if lone is None else Sole(np.array([lone]), UP, flat=False)
    doubt = _doubt(centre, radius, joint, sole)
    centre, radius = centre[sole.corners], radius[sole.corners]
    bottom = centre - radius[:, None] * UP
    ring = outline(bottom, sole.normal, detail=OUTLINE_DETAIL)
    # All spheres are kept, but only those sharp corners that are on the outline.
    kept = [*ring, *(i for i in range(len(centre)) if radius[i] > 0 and i not in ring)]
    reduced = ""
    if len(kept) > FEW and not simple:
        kept = few(bottom, sole.normal)
        ring = [kept[i] for i in outline(bottom[kept], sole.normal, detail=1e-9)]
        kept = [*ring, *(i for i in kept if i not in ring)]
        reduced = f"from {len(bottom)} to {len(kept)}"
    polygon, points = (bottom[ring] - origin) @ rotation, (centre[kept] - origin) @ rotation
    return _Found(Foot(name, model.body(body).name, polygon, points, radius[kept]), extent, reduced, doubt)


def _doubt(centre: np.ndarray, radius: np.ndarray, joint: np.ndarray, sole: Sole) -> str:
    """Why a sole is doubtful, or "": it is tilted, a tip or an edge, or the foot stands on its side."""
    if sole.normal @ UP < LEVEL:
        return f"is turned by {np.degrees(np.arccos(sole.normal @ UP)):.0f} degrees from the ground in the home pose"
    if not sole.flat:
        return "" if radius[sole.corners].any() else "has neither a flat nor a round end: its lowest corners are taken"
    solid = np.vstack([centre - radius[:, None] * UP, (centre + radius[:, None] * UP)[radius > 0]])
    side = largest_side(solid)
    length = float(np.ptp(solid, axis=0).max())
    above = float(joint @ sole.normal - (solid @ sole.normal).min())
    on_side = side > ON_SIDE * sole_area(solid[sole.corners], sole.normal) and above < 0.5 * length
    return "may stand on its side, which is larger than what it stands on" if on_side else ""


def _body_names(model: mujoco.MjModel) -> list[str]:
    return [model.body(b).name for b in range(1, model.nbody) if model.body(b).name]


def _foot_names(bodies: list[str]) -> list[str]:
    """Short unique names: "left" for "left_ankle_roll_link", "FL" for "FL_foot"; else the body's name."""

    def short(body: str) -> str:
        words = [w for w in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", body) if w]
        for word in words:
            if all(LEG_WORDS.get(word.lower(), (0, 0))):
                return word
        for word in words:
            if word.lower() in SIDES:
                return SIDES[word.lower()]
        return body

    names = [short(body) for body in bodies]
    return [name if names.count(name) == 1 else body for name, body in zip(names, bodies, strict=True)]
