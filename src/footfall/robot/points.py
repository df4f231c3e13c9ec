"""Contact points of a sole: its vertices, a grid, a number of points on its outline, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from footfall.errors import RobotError, did_you_mean
from footfall.robot.foot import Foot


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
    - {foot name: (P, 3) array}: points in the body's frame, m; feet that are not named stay as they are.

    A foot that touches in one point keeps it. All but "vertices" give sharp points (radius 0).
    """
    if isinstance(points, str):
        if points != "vertices":
            raise RobotError(f"points cannot be '{points}'; use 'vertices', (nx, ny), a number, or a dict by foot")
        if np.any(foot.radius > 0):
            return foot
        return _sharp(foot, foot.polygon)
    if isinstance(points, Mapping):
        return _sharp(foot, as_points(points[foot.name], foot.name)) if foot.name in points else foot
    numbers = np.asarray(points)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (2,)) or np.any(numbers < 1):
        raise RobotError(f"points must be 'vertices', (nx, ny), a number >= 1 or a dict by foot, got {points!r}")
    if len(foot.polygon) == 1:
        return foot
    if numbers.shape == ():
        return _sharp(foot, _on_outline(foot.polygon, int(numbers)))
    return _sharp(foot, _grid(foot.polygon, int(numbers[0]), int(numbers[1])))


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


def _sharp(foot: Foot, points: np.ndarray) -> Foot:
    return replace(foot, points=points, radius=np.zeros(len(points)))


def _frame(polygon: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Origin, longer and shorter axis of the smallest bounding rectangle, (K, 2) outline in these."""
    origin = polygon.mean(axis=0)
    normal = np.cross(polygon - origin, np.roll(polygon, -1, axis=0) - origin).sum(axis=0)
    normal /= np.linalg.norm(normal)
    edges = np.roll(polygon, -1, axis=0) - polygon
    edges -= (edges @ normal)[:, None] * normal
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    spans = [np.ptp((polygon - origin) @ np.column_stack([e, np.cross(normal, e)]), axis=0) for e in edges]
    areas = np.array([span[0] * span[1] for span in spans])
    best = int(np.flatnonzero(areas <= areas.min() * (1 + 1e-9))[0])
    along = edges[best] if spans[best][0] >= spans[best][1] else np.cross(normal, edges[best])
    along = along if along[np.argmax(np.abs(along))] > 0 else -along
    across = np.cross(normal, along)
    return origin, along, across, np.column_stack([(polygon - origin) @ along, (polygon - origin) @ across])


def _grid(polygon: np.ndarray, nx: int, ny: int) -> np.ndarray:
    if len(polygon) == 2:
        return np.linspace(polygon[0], polygon[1], nx) if nx > 1 else polygon.mean(axis=0)[None]
    origin, along, across, flat = _frame(polygon)
    low, high = flat.min(axis=0), flat.max(axis=0)
    x = np.linspace(low[0], high[0], nx) if nx > 1 else [(low[0] + high[0]) / 2]
    y = np.linspace(low[1], high[1], ny) if ny > 1 else [(low[1] + high[1]) / 2]
    grid = np.array([(a, b) for a in x for b in y])
    edge = np.roll(flat, -1, axis=0) - flat
    to_point = grid[:, None] - flat[None]
    left = edge[None, :, 0] * to_point[..., 1] - edge[None, :, 1] * to_point[..., 0]
    inside = np.all(left >= -1e-9 * np.linalg.norm(high - low) ** 2, axis=1)
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
        _, _, _, flat = _frame(polygon)
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
