"""One foot of a robot, as a value, and the contact points of its sole: vertices, a grid, a number of points on its
outline, or the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import RobotError, did_you_mean

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
            the centre, and what touches is the place of the surface that is nearest to the ground.
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

    def lowest(self, turn: np.ndarray) -> np.ndarray:
        """(P,) m, height of the lowest place of each point above its body's origin, with the body turned by ``turn``
        (3, 3).
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
        """The arguments that make it again, as JSON can hold them."""
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
        """What two feet must share to be equal."""
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


BESIDE_SOLE = 0.02  # of the sole's size: how far outside its outline a point may lie


#: Most contact points of a foot.
MOST_POINTS = 10_000


def choose_points(foot: Foot, points: Any) -> Foot:
    """The same foot with other contact points.

    ``points`` is one of:

    - "vertices": the vertices of the outline; round points (spheres, capsule ends) stay as they are.
    - (nx, ny): a grid over the sole's smallest bounding rectangle, edges included, nx along its longer side;
      points outside the sole are dropped. On a line foot nx points along it.
    - n: n points on the outline. With fewer than it has vertices, n points at equal distances along the
      outline, from the middle of its front; otherwise all vertices, and the others spread over the edges so
      that the longest gap is as short as can be. On a line foot n points from end to end, and n = 1 is the
      middle of the sole.
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
    return _sharp(foot, grid_on_sole(foot, int(numbers[0]), int(numbers[1])))


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
    """The same points, if they lie within the sole's outline, at any height; a foot that is a point has none."""
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


def grid_on_sole(foot: Foot, nx: int, ny: int, *, layout: str = "edges") -> np.ndarray:
    """(P, 3) points of a grid over the smallest rectangle around a sole, body frame, m; those outside are dropped.

    ``layout`` is "edges", edges included, or "even": the middles of nx x ny equal cells, drawn apart by
    n / sqrt(n^2 - 1), so that n points of equal weight have the second moment of the side they cover.
    """
    polygon, even = foot.polygon, layout == "even"
    if len(polygon) == 2:
        return np.linspace(polygon[0], polygon[1], nx) if nx > 1 else polygon.mean(axis=0)[None]
    origin, along, across, flat = sole_frame(polygon)
    low, high = flat.min(axis=0), flat.max(axis=0)
    reach = [np.sqrt((n - 1) / (n + 1)) if even else 1.0 for n in (nx, ny)]
    (x0, y0), (x1, y1) = (low + high) / 2 - reach * (high - low) / 2, (low + high) / 2 + reach * (high - low) / 2
    x = np.linspace(x0, x1, nx) if nx > 1 else [(x0 + x1) / 2]
    y = np.linspace(y0, y1, ny) if ny > 1 else [(y0 + y1) / 2]
    grid = np.column_stack([np.repeat(x, len(y)), np.tile(y, len(x))])
    inside = _beyond(flat, grid) <= 1e-9 * np.linalg.norm(high - low)
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
