"""Centres of pressure, the zero moment point, and the support in which they should lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.compiled import kernel
from footfall.contact.setting import LEVEL
from footfall.errors import RecordingError, did_you_mean
from footfall.measure.common import feet, load_centre, normal_force, once, pierce, reference_plane, threshold
from footfall.measure.motion import com_height, momentum
from footfall.record import Record
from footfall.robot import Robot
from footfall.solve.contacts import OPEN
from footfall.solve.selection.soles import convex_outline
from footfall.standing import at_home, lowest_places, point_jacobian, point_positions, scratch_data


@public
def cop(rec: Record) -> np.ndarray:
    """(T, feet, 3) m, world frame: centre of pressure of each foot, NaN where the foot carries no load.

    The mean of the foot's contact points, weighted by the force on each along the ground's normal there. On a
    plane this is the point about which the foot's pressures have no moment; on uneven ground, where the
    points do not lie in one plane, it is their load centre.
    """
    return np.stack([load_centre(rec, points)[0] for points in feet(rec)], axis=1)


@public
def overall_cop(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: centre of pressure of all feet together, NaN in flight.

    The point of the reference plane (see ``reference_plane``: the ground where it is a plane) about which the contact
    forces have no moment component in that plane. It equals the zero moment point if only the ground and gravity act
    on the robot. It differs from the load-weighted mean of the feet's centres only where points lie off that plane: by
    penetration times friction on a plane, by more on stairs.
    """
    load = load_centre(rec, slice(None))[2]
    moment = np.cross(rec.position, rec.force).sum(axis=1)
    found = pierce(rec.total_force, moment, *reference_plane(rec))
    found[~(load > threshold(rec))] = np.nan
    return found


# ---- zero moment point, from the motion -----------------------------------------------------------------------------


#: Force of a motion below which its line of action is not meaningful, as a share of the robot's weight.
FLIGHT = 1e-3


@public
def zmp(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: zero moment point, NaN in flight.

    The point at which the ground would have to push, without any moment in the plane of the ground, to cause the
    robot's motion; it follows from accelerations and gravity alone, without contact forces. It lies in the ground where
    that is a plane, and otherwise in the plane through the loaded points (``reference_plane``).

    For semi-implicit Euler with every step recorded it equals ``overall_cop`` to rounding when nothing else acts from
    outside. Pushes are not subtracted: while one acts, the two differ.
    """
    motion = momentum(rec)
    normal, distance = reference_plane(rec)
    found = pierce(motion.force, motion.moment, normal, distance)
    pressing = np.einsum("ti,ti->t", motion.force, normal) > FLIGHT * (rec.robot.weight or 1.0)
    touching = (rec.mode > 0).any(axis=1) | (normal_force(rec) > 0).any(axis=1)
    found[~(pressing & touching)] = np.nan
    return found


# ---- support --------------------------------------------------------------------------------------------------------


@public
def capture_point(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: where on the ground the robot must step to come to rest.

    Of a linear inverted pendulum: com + velocity * sqrt(h / g), in x and y, with h the height of the centre
    of mass over the ground; z is that of the ground there. NaN where the centre of mass is below the ground.
    """
    motion = momentum(rec)
    gravity = float(np.linalg.norm(rec.robot.model.opt.gravity))
    if gravity == 0.0:
        return np.full((len(rec), 3), np.nan)
    height = com_height(rec)
    fall = np.sqrt(np.where(height >= 0.0, height, np.nan) / gravity)
    point = motion.com + motion.velocity * fall[:, None]
    point[:, 2] = rec.ground.height(point[:, 0], point[:, 1])
    return point


MARGIN_OF = {
    "cop": overall_cop,
    "zmp": zmp,
    "capture": capture_point,
    "com": lambda rec: momentum(rec).com,
}


@public
def support_polygon(rec: Record, k: int) -> np.ndarray:
    """(N, 3) m, world frame: corners of the support polygon in sample ``k``, counter-clockwise.

    The convex hull of the closed points seen from above: two corners on a line, one on a point, none in flight.
    """
    return corners_of(rec.position[k, rec.mode[k] != OPEN])


def corners_of(points: np.ndarray) -> np.ndarray:
    """(N, 3) corners of the convex hull of the points (P, 3) seen from above, counter-clockwise."""
    order, corners = np.arange(len(points) + 1), np.zeros(len(points) + 1, dtype=np.int64)
    count = convex_outline(np.ascontiguousarray(points[:, :2]), order, len(points), 0.0, corners)
    found = points[corners[:count]]
    return found[:1] if count == 2 and (found[0, :2] == found[1, :2]).all() else found


@once
def stance_width(robot: Robot) -> float:
    """The least width (m) of the support polygon at home, seen from above; 0 for a point or a line."""
    places = lowest_places(robot, at_home(robot, scratch_data(robot.model)))
    corners = corners_of(places[places[:, 2] <= places[:, 2].min() + LEVEL])[:, :2]
    if len(corners) < 3:
        return 0.0
    along = np.roll(corners, -1, axis=0) - corners
    across = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1, keepdims=True)
    return float(np.ptp(corners @ across.T, axis=0).min())


@public
def support_margin(rec: Record, of: str = "cop") -> np.ndarray:
    """(T,) m: how far inside the support polygon a point lies, negative outside, NaN where undefined.

    ``of`` is "cop" (``overall_cop``), "zmp", "capture" or "com". The distance is the horizontal one to the
    polygon's nearest edge. A robot that moves in a plane only (a planar biped) has a line to stand on: there
    it is the distance along that line to the nearer end.
    """
    if of not in MARGIN_OF:
        raise RecordingError(f"no support margin of '{of}': {did_you_mean(of, MARGIN_OF)}")
    query = MARGIN_OF[of](rec)
    closed = rec.mode != OPEN
    line = _line_of_motion(rec.robot)
    if line is not None:
        along = rec.position[..., :2] @ line
        first = np.where(closed, along, np.inf).min(axis=1)
        last = np.where(closed, along, -np.inf).max(axis=1)
        at = query[:, :2] @ line
        return np.where(closed.any(axis=1), np.minimum(at - first, last - at), np.nan)
    return margins(rec.position, closed, query)


def margins(points: np.ndarray, closed: np.ndarray, query: np.ndarray) -> np.ndarray:
    """(T,) m, signed distance of ``query`` (T, 3) to the hull of the closed ones of ``points`` (T, P, 3), seen from
    above.
    """
    margin, count = np.empty(len(points)), points.shape[1]
    corner, order = np.zeros((count, 2)), np.zeros((2, count + 1), dtype=np.int64)
    flat, at = (np.ascontiguousarray(one[..., :2]) for one in (points, query))
    _margins(flat, closed, at, corner, order, margin)
    return margin


@once
def _line_of_motion(robot: Robot) -> np.ndarray | None:
    """(2,) the single horizontal direction in which contact points can move; None if there are more."""
    data = at_home(robot, scratch_data(robot.model))
    rows = point_jacobian(robot, data, point_positions(robot, data)).reshape(-1, 3, robot.model.nv)
    directions, size, _ = np.linalg.svd(np.hstack(list(rows[:, :2])), full_matrices=False)
    return directions[:, 0] if size[1] < 1e-9 * size[0] else None


@kernel
def _margins(points: Any, closed: Any, query: Any, corner: Any, order: Any, margin: Any) -> None:
    """See :func:`margins`, of points (T, P, 2) and a query (T, 2)."""
    for t in range(margin.size):
        count = 0
        for p in range(closed.shape[1]):
            if closed[t, p]:
                corner[count, 0], corner[count, 1], order[0, count] = points[t, p, 0], points[t, p, 1], count
                count += 1
        x, y = query[t, 0], query[t, 1]
        if count == 0 or x != x or y != y:
            margin[t] = float("nan")
            continue
        size = convex_outline(corner, order[0], count, 0.0, order[1])
        inside = size > 2
        nearest = float("inf")
        for i in range(size):
            a, b = order[1, i], order[1, i + 1 if i + 1 < size else 0]
            ex, ey = corner[b, 0] - corner[a, 0], corner[b, 1] - corner[a, 1]
            dx, dy = x - corner[a, 0], y - corner[a, 1]
            square = ex * ex + ey * ey
            part = (dx * ex + dy * ey) / square if square > 0.0 else 0.0
            part = min(1.0, max(0.0, part))
            if ex * dy - ey * dx < 0.0:
                inside = False
            nearest = min(nearest, ((dx - part * ex) ** 2 + (dy - part * ey) ** 2) ** 0.5)
        margin[t] = nearest if inside else -nearest
