"""One foot of a robot, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np

from footfall.errors import RobotError

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
        ring, following = self.polygon, np.roll(self.polygon, -1, axis=0)
        edges = following - ring
        sizes = np.linalg.norm(edges, axis=1)
        if not sizes.any():
            return 0.0
        normal = np.cross(ring - ring[0], following - ring[0]).sum(axis=0)
        normal /= max(float(np.linalg.norm(normal)), 1e-12)
        edges = edges[sizes > 0.0] / sizes[sizes > 0.0, None]  # a side of that rectangle lies along one of them
        along, across = np.ptp(ring @ edges.T, axis=0), np.ptp(ring @ np.cross(normal, edges).T, axis=0)
        return float(np.maximum(along, across)[np.argmin(along * across)])

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
