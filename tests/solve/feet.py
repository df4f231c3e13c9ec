"""Contact problems of rigid feet that meet the ground: Delassus matrices of rank 6 for 12 and more unknowns."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np


class Feet(NamedTuple):
    W: np.ndarray  # (3P, 3P)
    free: np.ndarray  # (P, 3)
    friction: float


def feet(rng: np.random.Generator, counts: tuple[int, ...], friction: float, spin: float = 1.0) -> Feet:
    """Flat feet with so many points each, that move each other, fall, slide and turn."""
    size = 6 * len(counts)
    root = rng.normal(size=(size, size))
    scale = np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], len(counts))  # a foot of 0.1 m turns more easily than it moves
    mobility = scale[:, None] * (root @ root.T) / size * scale
    rows = []
    for foot, count in enumerate(counts):
        for _ in range(count):
            (x, y), z = rng.uniform(-0.1, 0.1, 2), -0.05
            own = np.zeros((3, size))
            own[:, 6 * foot : 6 * foot + 3] = np.eye(3)
            own[:, 6 * foot + 3 : 6 * foot + 6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]  # arm times axis
            rows.append(own)
    jacobian = np.concatenate(rows)
    fall = rng.normal(size=size) * np.tile([0.5, 0.5, 0.2, spin, spin, spin], len(counts))
    fall[2::6] -= 0.3
    return Feet(jacobian @ mobility @ jacobian.T, (jacobian @ fall).reshape(-1, 3), friction)


SHAPES = ((1,), (2, 1), (4,), (4, 4), (9,), (6, 6))
FRICTIONS = (0.0, 0.3, 0.7, 1.0)


@cache
def many(number: int, seed: int = 0) -> tuple[Feet, ...]:
    """So many problems, of all shapes and coefficients, not to be changed."""
    rng = np.random.default_rng(seed)
    return tuple(feet(rng, SHAPES[i % len(SHAPES)], rng.choice(FRICTIONS)) for i in range(number))
