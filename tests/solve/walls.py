"""Walls of bricks: contact problems of hundreds of points whose Delassus matrix is made of few blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LENGTH, HEIGHT, DEPTH = 1.0, 0.5, 0.5  # m, of a brick
MASS = 250.0  # kg
STEP = 0.01  # s
GRAVITY = 9.81  # m/s2


class Wall(NamedTuple):
    W: np.ndarray  # (3P, 3P)
    free: np.ndarray  # (P, 3) m/s
    friction: float
    jacobian: np.ndarray  # (3P, 6 bricks), about their centres
    on_ground: np.ndarray  # (P,) whether a point is one of the lowest course


def wall(courses: int, bricks: int, friction: float, shake: float = 0.0, seed: int = 0) -> Wall:
    """A wall in running bond, four points to every overlap, let go for a step and shaken (m/s2 and rad/s2)."""
    centre = [(c + 0.5 * (r % 2), HEIGHT * (r + 0.5)) for r in range(courses) for c in range(bricks)]
    points = []  # upper brick, lower brick or -1, place
    for r in range(courses):
        for upper in range(r * bricks, (r + 1) * bricks):
            lowers = [-1] if r == 0 else range((r - 1) * bricks, r * bricks)
            for lower in lowers:
                x = centre[upper][0]
                other = x if lower < 0 else centre[lower][0]
                left, right = max(x, other) - 0.5 * LENGTH, min(x, other) + 0.5 * LENGTH
                if right - left > 1e-9:
                    at = [(x, y) for x in (left, right) for y in (-0.5 * DEPTH, 0.5 * DEPTH)]
                    points += [(upper, lower, np.array([x, y, HEIGHT * r])) for x, y in at]
    jacobian = np.zeros((3 * len(points), 6 * len(centre)))
    for i, (upper, lower, at) in enumerate(points):
        for brick, sign in ((upper, 1.0), (lower, -1.0)):
            if brick >= 0:
                arm = at - [centre[brick][0], 0.0, centre[brick][1]]
                for k, axis in enumerate(np.eye(3)):
                    jacobian[3 * i + k, 6 * brick : 6 * brick + 6] = sign * np.r_[axis, np.cross(arm, axis)]
    size = np.array([HEIGHT**2 + DEPTH**2, LENGTH**2 + HEIGHT**2, LENGTH**2 + DEPTH**2])
    inverse = np.tile(np.r_[np.ones(3), 12.0 / size] / MASS, len(centre))
    velocity = STEP * shake * np.random.default_rng(seed).normal(size=jacobian.shape[1])
    velocity[2::6] -= STEP * GRAVITY
    free = (jacobian @ velocity).reshape(-1, 3)
    return Wall((jacobian * inverse) @ jacobian.T, free, friction, jacobian, np.array([p[1] < 0 for p in points]))
